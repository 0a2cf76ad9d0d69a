"""The table: what exists and where, as plain columns.

A thing is a number. Each field is a list indexed by it, each place has a list of what lies in it, and each
value of the whole game is an attribute. Columns make reading as fast as Python can, and a copy of the whole
table (a fork) a matter of a few list copies. Only fold.py writes here.

A `State` class is made for each set of columns (`state_class`), so that attributes are slots. Columns that no
loaded text ever writes are shared between copies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

if TYPE_CHECKING:
    from .chance import Chance
    from .program import Program
    from .questions import Question

Thing: TypeAlias = int
Event: TypeAlias = tuple[Any, ...]
Policy: TypeAlias = "Callable[[Question], str]"

BUDGET = 2_000_000  # steps between two answers
EVENTS_MAX = 200_000  # events between two answers
THINGS_MAX = 20_000
NUMBER_MAX = 1_000_000_000
BOX, REMOVED = 0, 1  # the two places every game has


class State:
    """The columns every game has. A subclass adds one slot for each field and value of a game."""

    __slots__ = (
        "answers",
        "around",
        "awake",
        "began",
        "borrowed",
        "budget",
        "called",
        "chance",
        "design",
        "drawn",
        "draws",
        "edges",
        "face",
        "facedown",
        "frame",
        "in_play",
        "items",
        "key",
        "kind",
        "lasting",
        "lineage",
        "live",
        "lively",
        "log",
        "mark",
        "name",
        "of",
        "open",
        "outcome",
        "owner",
        "pc",
        "place",
        "program",
        "queue",
        "run",
        "shared",
        "shown",
        "sight",
        "trace",
        "tricks",
        "unique",
        "used",
    )

    # set by state_class()
    FIELDS: ClassVar[tuple[str, ...]] = ()
    GLOBALS: ClassVar[tuple[str, ...]] = ()
    ZONES: ClassVar[tuple[str, ...]] = ()
    FIXED: ClassVar[frozenset[str]] = frozenset()
    CHANGING: ClassVar[tuple[str, ...]] = ()  # the fields that are not fixed

    def changing(self) -> tuple[list[Any], ...]:
        """The columns of the fields that are not fixed."""
        raise NotImplementedError  # set by state_class()

    program: Program
    log: list[Event]  # every event so far
    chance: Chance
    run: Policy  # who answers

    kind: list[str]  # per thing, from here ...
    design: list[int]  # which printed card, or -1
    name: list[str]
    key: list[str]  # unique name, used in answers
    owner: list[Thing | None]
    place: list[Thing | None]
    face: list[str]
    facedown: list[bool]
    in_play: list[bool]
    lively: list[bool]  # whether what lies in it is in play; ... to here
    items: dict[Thing, list[Thing]]  # place -> what lies in it, bottom first
    of: dict[str, list[Thing]]  # kind -> things of that kind that were not removed, narrower kinds included
    lineage: dict[str, tuple[str, ...]]  # kind -> itself and all wider kinds
    around: dict[
        str, list[Thing]
    ]  # kind -> those in play, as far as somebody has asked since one entered or left
    unique: dict[str, Thing]  # what is the only thing of its name
    awake: dict[Thing, int]  # what has come into play since the start -> its place in the order of entering
    live: dict[int, list[Thing]]  # design -> those whose printed rules work now, in order of entering

    drawn: list[Any]  # boards as their author drew them: (name, [(space, place in half spaces, mark)])
    called: dict[str, list[Thing]]  # name -> zones of that name
    sight: dict[Thing, str]  # zone -> who may look into it: all, owner, nobody
    shown: dict[Thing, tuple[Thing, ...]]  # thing -> seats it was revealed to
    borrowed: dict[Thing, tuple[int, ...]]  # thing -> designs whose text it has for now
    used: dict[tuple[Any, ...], int]  # (rule, thing) -> event at which it was last used
    edges: dict[tuple[Any, ...], bool]  # (whenever rule, thing) -> its condition held when last tested
    began: dict[str, int]  # scope -> event at which it last began
    open: dict[str, int]  # scope -> how many are running
    lasting: list[tuple[Any, ...]]  # modifiers and rules with a duration
    queue: list[tuple[Any, ...]]  # triggered rules that wait
    tricks: int  # how many lasting ones there ever were
    draws: int  # how many times chance was asked
    answers: int
    pc: tuple[str, int]  # where the walk through the turn structure stands
    frame: tuple[Any, ...]  # its variables
    outcome: dict[str, Any] | None
    budget: int
    mark: int  # length of the log at the last answer
    shared: bool  # fixed columns are shared with another copy
    trace: (
        list[tuple[Any, ...]] | None
    )  # notes on what rules changed, if somebody wants to know: see `Game.retraced`

    def copy(self, log: list[Event] | None = None) -> State:
        """A copy that can go its own way, with a copy of the log or with the one given.

        Each class made by `state_class` has its own, written out slot by slot.
        """
        raise NotImplementedError

    def take_back(self, before: State, events: int) -> None:
        """Become again what a copy has kept; the log, which others hold, loses its end."""
        for slot in (*State.__slots__, *self.FIELDS, *self.GLOBALS, *self.ZONES):
            if slot not in ("log", "trace"):
                setattr(self, slot, getattr(before, slot))
        del self.log[events:]
        if self.trace is not None:
            self.trace[:] = before.trace or []

    def snapshot(self) -> dict[str, Any]:
        """Everything that events decide, for comparing two tables."""
        plain = {slot: getattr(self, slot) for slot in _COMPARED}
        plain |= {attr: getattr(self, attr) for attr in (*self.FIELDS, *self.GLOBALS, *self.ZONES)}
        return plain


_DICTS = ("awake", "shown", "borrowed", "used", "edges", "began", "open")
_COLUMNS = ("kind", "design", "name", "key", "lively", "owner", "place", "face", "facedown", "in_play")
_CHANGING = ("place", "face", "facedown", "in_play", "owner")
_COMPARED = (
    *_COLUMNS,
    "items",
    "of",
    "live",
    "awake",
    "sight",
    "shown",
    "borrowed",
    "used",
    "edges",
    "began",
    "open",
    "lasting",
    "queue",
    "tricks",
    "draws",
    "answers",
    "pc",
    "frame",
    "outcome",
)


@lru_cache(maxsize=256)
def state_class(
    fields: tuple[str, ...], values: tuple[str, ...], zones: tuple[str, ...], fixed: frozenset[str]
) -> type[State]:
    """The class for a set of columns, given as attribute names. `fixed` ones never change after the start."""
    body = {
        "__slots__": (*fields, *values, *zones),
        "FIELDS": fields,
        "GLOBALS": values,
        "ZONES": zones,
        "FIXED": fixed,
        "CHANGING": tuple(f for f in fields if f not in fixed),
        "changing": _columns_of([f for f in fields if f not in fixed]),
    }
    made: type[State] = type("State", (State,), body)
    copier = _copier(made, (*_CHANGING, *(f for f in fields if f not in fixed), "lasting", "queue"))
    setattr(made, "copy", copier)  # noqa: B010  (the class is made here; mypy rightly refuses an assignment)
    return made


def _columns_of(fields: Sequence[str]) -> Callable[[State], tuple[list[Any], ...]]:
    """A method that gives some columns, all at once: copies are compared in every question about them."""
    if len(fields) < 2:
        return lambda self: tuple(getattr(self, field) for field in fields)
    get = attrgetter(*fields)
    return lambda self: get(self)


def _copier(cls: type[State], lists: tuple[str, ...]) -> Callable[[State], State]:
    """A copy function without loops over slots: forks are what search is made of."""
    skip = {*lists, *_DICTS, "items", "live", "log", "program", "shared"}
    rest = [slot for slot in (*State.__slots__, *cls.FIELDS, *cls.GLOBALS, *cls.ZONES) if slot not in skip]
    lines = [
        "def copy(self, log=None):",
        "    self.shared = True",
        "    new = make(cls)",
        "    new.shared = True",
    ]
    lines += [f"    new.{slot} = self.{slot}" for slot in rest]
    lines += [f"    new.{slot} = self.{slot}[:]" for slot in lists]
    lines += ["    new.log = self.log[:] if log is None else log"]
    lines += [f"    new.{slot} = self.{slot}.copy()" for slot in _DICTS]
    lines += [  # most places are empty: nobody writes to an empty list, so those are shared
        f"    new.{slot} = {{k: v and v[:] for k, v in self.{slot}.items()}}" for slot in ("items", "live")
    ]
    lines += [
        "    try:",
        "        new.program = self.program",
        "    except AttributeError:",
        "        pass",
        "    return new",
    ]
    assert all(slot.isidentifier() for slot in (*rest, *lists))
    space: dict[str, Any] = {"make": object.__new__, "cls": cls}
    exec("\n".join(lines), space)
    copy: Callable[[State], State] = space["copy"]
    return copy


def attribute(prefix: str, name: str) -> str:
    """The attribute of a field (`f`), a value of the game (`g`) or a zone (`z`): a safe Python name."""
    safe = name.replace("_", "__").replace("-", "_h").replace(" ", "_s")
    return f"{prefix}_{safe}"
