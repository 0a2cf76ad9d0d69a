"""A game told as lines: what happened as somebody may see it, and why it happened.

Everything is rendered from events. `Reading` holds what events speak of (names, phrases, files); it comes
from a program or, when the rules are gone, from the first stored event of a history.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

from longbox.kernel import Event, Game, Program, State, Thing, fold_history
from longbox.kernel.fold import apply
from longbox.kernel.program import SITE_LINES, state_from_box
from longbox.kernel.text import (
    MANY,
    Names,
    is_told,
    listed,
    outcome_text,
    printed_on,
    render_event,
)
from longbox.kernel.views import LogView, can_see, things_of


@dataclass(frozen=True)
class Reading:
    """What is needed to read events: tables (verbs, fields, values), files, and such texts as are known."""

    tables: dict[str, Any]
    files: Sequence[str]
    texts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, program: Program) -> Reading:
        return cls(program.tables, program.files, program.tables.get("texts", {}))

    def names(self, state: State) -> Names:
        return Names.of(state, self.tables)

    def place(self, event: Event) -> tuple[str, int]:
        """File and line of the text that an event comes from; no file for what the kernel does by itself."""
        file, line = divmod(event[2], SITE_LINES)
        return (self.files[file], line) if line and 0 <= file < len(self.files) else ("", 0)

    def text(self, file: str, line: int) -> str:
        """The line itself, if the text is at hand."""
        lines = self.texts.get(file, "").split("\n")
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""


@dataclass(frozen=True)
class Line:
    """One event as a line: its number in the history, how deep it is nested in its causes, and the words."""

    number: int
    depth: int
    text: str
    told: bool
    event: Event
    moved: tuple[str, str] | None = None  # what moved, and from where to where
    seen: Event = ()  # the event as the seat may see it
    whole: bool = True  # may the seat see all of it?
    cause: int = -1  # the nearest event above it that the seat may connect with it
    old: Any = None  # the value of a field or of the game, before

    def show(self, numbered: bool = False) -> str:
        indent = "  " * self.depth
        return f"{self.number:>5}  {indent}{self.text}" if numbered else f"{indent}{self.text}"


class Story:
    """Follows a history as one seat may see it (`None`: everything), and tells each event once.

    For a seat, something is told below what caused it only if all of that may be seen: else how things are nested
    would tell which hidden text ran. `open_answers`: what others answer may be told (see `LogView`).
    """

    def __init__(self, reading: Reading, seat: Thing | None, open_answers: bool = False) -> None:
        self.reading, self.seat, self.open_answers = reading, seat, open_answers
        self.lines: list[Line] = []
        self._view: LogView | None = None
        self._depths: list[int] = []  # how deep what follows from an event is told
        self._clear: list[
            int
        ] = []  # the event itself if it may be seen whole, else the nearest such one above it

    def follow(self, events: Sequence[Event]) -> list[Line]:
        """Take in what is new in a history; returns the new lines."""
        if self._view is None:
            self._view = LogView(events[0], self.seat, self.reading.tables, self.open_answers)
            self._depths, self._clear = [0], [-1]
        found = _Finds()
        new = [
            self._line(self._view, number, events[number], found)
            for number in range(len(self._depths), len(events))
        ]
        new = [self._placed(self._named(self._view, line, found)) for line in new]
        self.lines += new
        return new

    def take_back(self, events: Sequence[Event]) -> None:
        """The history became shorter: forget what it no longer holds."""
        self.lines, self._view = [], None
        self.follow(events)

    def names(self) -> Names:
        assert self._view is not None, "nothing was followed yet"
        return self.reading.names(self._view.state)

    def _line(self, view: LogView, number: int, event: Event, found: _Finds) -> Line:
        told, old = (
            is_told(event) and not self._is_so_already(view.state, event),
            self._value(view.state, event),
        )
        seen = view.follow(event)
        found.take(number, event, view)
        text = render_event(self.reading.names(view.state), seen)
        hidden = self.seat is not None and text == f"({event[0]})"
        whole = self._is_whole(view, event, seen)
        return Line(
            number, 0, text, told and not hidden, event, self._moved(view, seen), seen, whole=whole, old=old
        )

    def _placed(self, line: Line) -> Line:
        """The line below what the seat may connect it with."""
        above = line.event[1]
        cause = self._clear[above] if 0 <= above < line.number else -1
        depth = self._depths[cause] if cause >= 0 else 0
        self._clear.append(line.number if line.whole and cause == above else cause)
        self._depths.append(depth + is_told(line.event))
        return replace(line, depth=depth, cause=cause)

    def _moved(self, view: LogView, seen: Event) -> tuple[str, str] | None:
        if seen[0] != "moved":
            return None
        names = self.reading.names(view.state)
        what = names.thing(seen[3])
        return what, render_event(names, seen)[len(what) + len(" moves ") :]

    def _named(self, view: LogView, line: Line, found: _Finds) -> Line:
        """A hidden thing is named after all if what it led to, without any answer in between, showed it."""
        known = found.known.get(line.number)
        if not known or self.seat is None:
            return line
        seen = view.redacted(line.event, known)
        return replace(
            line,
            seen=seen,
            text=render_event(self.reading.names(view.state), seen),
            moved=self._moved(view, seen),
            whole=self._is_whole(view, line.event, seen),
        )

    def _is_whole(self, view: LogView, event: Event, seen: Event) -> bool:
        """May the seat see all that an event says, apart from orders of piles?"""
        match event:
            case ("moved", *_):
                return bool(seen[3] == event[3])
            case ("shuffled" | "answered", *_):  # what was answered may be hidden; that it was is not
                return True
            case ("used" | "edged", _, _, _, thing, *_) | ("lasts", _, _, _, _, thing, *_):
                return thing is None or can_see(view.state, view.seat, thing)
            case ("picked", *_):
                return True
            case ("queued" | "unqueued", _, _, entry):
                return entry[1] is None or can_see(view.state, view.seat, entry[1])
            case ("stepped", *_):
                return bool(seen[6:7] == event[6:7])
        return seen[3:] == event[3:]

    def _value(self, state: State, event: Event) -> Any:
        """What a field, or a value of the game, is before an event gives it another."""
        match event:
            case ("set", _, _, thing, name, _):
                spec = self.reading.tables["fields"].get(name)
                return None if spec is None else getattr(state, spec["attr"])[thing]
            case ("now", _, _, name, _):
                spec = self.reading.tables["values"].get(name)
                return None if spec is None else getattr(state, spec["attr"])
        return None

    def _is_so_already(self, state: State, event: Event) -> bool:
        """Does an event give a thing, or the game, a value that it has?"""
        table = {"set": "fields", "now": "values"}.get(event[0])
        known = table is not None and event[-2] in self.reading.tables[table]
        return known and bool(self._value(state, event) == event[-1])


class _Finds:
    """What was hidden in events, and is shown by what they led to before anybody answered."""

    def __init__(self) -> None:
        self.known: dict[int, set[Thing]] = {}  # number of an event -> its things that may be known
        self._hidden: dict[Thing, list[int]] = {}  # thing -> events in which it was hidden
        self._causes: dict[int, int] = {}
        self._before: dict[int, set[Thing]] = {}

    def take(self, number: int, event: Event, view: LogView) -> None:
        if view.seat is None:
            return
        if event[0] == "answered":
            self._hidden.clear()
        self._causes[number] = event[1]
        self._before[number] = view.known
        for thing in things_of(event, view.tables):
            if thing not in view.known:
                self._hidden.setdefault(thing, []).append(number)
            elif thing in self._hidden:
                self._show(thing, number)

    def _show(self, thing: Thing, number: int) -> None:
        above = set[int]()
        while (number := self._causes.get(number, -1)) >= 0:
            above.add(number)
        for earlier in self._hidden.pop(thing):
            if earlier in above:
                self.known.setdefault(earlier, set(self._before[earlier])).add(thing)


def told(lines: Sequence[Line]) -> list[Line]:
    """The lines of the story. A hidden answer is left out where the next line shows what came of it."""
    kept = [line for line in lines if line.told]
    return [
        line
        for line, after in zip(kept, [*kept[1:], None])
        if after is None or not _only_answers(line) or after.event[0] == "answered"
    ]


def merged(lines: Sequence[Line]) -> list[Line]:
    """The same again and again becomes one line: `13 hidden things move ...`, `... (3 times)`."""
    runs: list[list[Line]] = []
    for line in lines:
        if runs and _goes_on(runs[-1][-1], line):
            runs[-1].append(line)
        else:
            runs.append([line])
    return [run[0] if len(run) == 1 else replace(run[-1], text=_run_text(run)) for run in runs]


def _goes_on(line: Line, after: Line) -> bool:
    if line.depth != after.depth:
        return False
    if line.moved and after.moved:
        return line.moved[1] == after.moved[1]
    return line.text == after.text and line.event[0] != "answered"


def _run_text(run: Sequence[Line]) -> str:
    moves = [line.moved for line in run if line.moved]
    if not moves:
        return f"{run[0].text} ({len(run)} times)"
    names = [name for name, _ in moves]
    if len(set(names)) > MANY:
        return f"{', '.join(names[:MANY])} and {len(names) - MANY} more move {moves[0][1]}"
    return f"{listed(names)} move {moves[0][1]}"


def _only_answers(line: Line) -> bool:
    return line.event[0] == "answered" and line.text.endswith(" answers")


# ---------------------------------------------------------------- why
@dataclass(frozen=True)
class Cause:
    """One link of a chain of causes."""

    number: int
    name: str
    text: str
    file: str
    line: int
    rule: str  # the text of that line

    def lines(self) -> Iterator[str]:
        yield f"{self.number:>5}  {self.text}"
        if self.file:
            yield f"         {self.file}:{self.line}" + (f": {self.rule}" if self.rule else "")

    def as_data(self) -> dict[str, Any]:
        return {
            "event": self.number,
            "name": self.name,
            "text": self.text,
            "file": self.file,
            "line": self.line,
            "rule": self.rule,
        }


def chain(events: Sequence[Event], number: int) -> list[int]:
    """An event, what caused it, what caused that, and so on up to an answer or a step."""
    found = [number]
    while 0 <= (cause := events[found[-1]][1]) < found[-1]:
        found.append(cause)
    return found


def why(events: Sequence[Event], number: int, story: Story) -> list[Cause]:
    """The chain of causes, as the story's seat may see it.

    Which text something comes from is shown only where nothing above it is hidden: it might name what is.
    """
    full = Story(story.reading, None)
    full.follow(events)
    seen = {line.number: line.text for line in story.lines}
    found: list[Cause] = []
    clear = True
    for at in reversed(chain(events, number)):
        if at not in seen:
            continue
        clear = clear and seen[at] == full.lines[at - 1].text
        file, line = story.reading.place(events[at]) if clear else ("", 0)
        found.append(Cause(at, events[at][0], seen[at], file, line, story.reading.text(file, line)))
    return found[::-1]


def ending(game: Game) -> str:
    """How a game ended, in a few words."""
    return (
        outcome_text(Names.of(game.state, game.program.tables), game.outcome)
        if game.outcome
        else "the game goes on"
    )


def table_at(events: Sequence[Event], number: int, reading: Reading) -> State:
    """The table after an event, by folding. Needs no rules: the reading says which fields there are."""
    return _readable(fold_history(events[: number + 1]), reading)


def _readable(state: State, reading: Reading) -> State:
    fields = {
        name: {"fixed": spec["attr"] in state.FIXED} | spec for name, spec in reading.tables["fields"].items()
    }
    state.program = cast(Program, SimpleNamespace(fields=fields, values=reading.tables["values"]))
    return state


def pointers(fields: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The fields whose value is a zone: where a thing goes later, which nobody needs to be told."""
    return [name for name, spec in fields.items() if str(spec.get("type", "")).rstrip("?") == "zone"]


def as_printed(events: Sequence[Event], reading: Reading) -> frozenset[tuple[str, str, str]]:
    """What things have on them when they come into the game."""
    state = state_from_box(events[0])
    for event in events:
        if event[0] == "created":
            apply(state, event)
    return printed_on(_readable(state, reading))
