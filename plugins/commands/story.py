"""A game told as lines: what happened as somebody may see it, and why it happened.

Everything is rendered from events. `Reading` holds what events speak of (names, phrases, files); it comes
from a program or, when the rules are gone, from the first stored event of a history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

from longbox.kernel import Event, Game, Program, State, Thing, fold_history
from longbox.kernel.fold import apply
from longbox.kernel.program import SITE_LINES, state_from_box
from longbox.kernel.text import (
    MANY,
    Names,
    fields_text,
    is_told,
    listed,
    outcome_text,
    printed_on,
    render_event,
    said,
    wrapped,
)
from longbox.kernel.views import LogView, can_see, view

from ..cli import WrongUse
from ..packs import near


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

    def show(self, numbered: bool = False) -> str:
        indent = "  " * self.depth
        return f"{self.number:>5}  {indent}{self.text}" if numbered else f"{indent}{self.text}"


class Story:
    """Follows a history as one seat may see it (`None`: everything), and tells each event once.

    For a seat nothing is indented: how things are nested would tell which hidden text ran.
    """

    def __init__(self, reading: Reading, seat: Thing | None) -> None:
        self.reading, self.seat = reading, seat
        self.lines: list[Line] = []
        self._view: LogView | None = None
        self._depths: list[int] = []

    def follow(self, events: Sequence[Event]) -> list[Line]:
        """Take in what is new in a history; returns the new lines."""
        if self._view is None:
            self._view = LogView(events[0], self.seat, self.reading.tables)
            self._depths = [0]
        new = [
            self._line(self._view, number, events[number]) for number in range(len(self._depths), len(events))
        ]
        self.lines += new
        return new

    def take_back(self, events: Sequence[Event]) -> None:
        """The history became shorter: forget what it no longer holds."""
        self.lines, self._view = [], None
        self.follow(events)

    def _line(self, view: LogView, number: int, event: Event) -> Line:
        told = is_told(event) and not self._is_so_already(view.state, event)
        seen = view.follow(event)
        above = self._depths[event[1]] if 0 <= event[1] < number else 0
        self._depths.append(above + is_told(event))
        text = render_event(self.reading.names(view.state), seen)
        hidden = self.seat is not None and text == f"({event[0]})"
        moved = None
        if event[0] == "moved":
            what = self.reading.names(view.state).thing(seen[3])
            moved = (what, text[len(what) + len(" moves ") :])
        return Line(number, above if self.seat is None else 0, text, told and not hidden, event, moved)

    def _is_so_already(self, state: State, event: Event) -> bool:
        """Does an event give a thing, or the game, a value that it has?"""
        match event:
            case ("set", _, _, thing, name, value):
                spec = self.reading.tables["fields"].get(name)
                return spec is not None and bool(getattr(state, spec["attr"])[thing] == value)
            case ("now", _, _, name, value):
                spec = self.reading.tables["values"].get(name)
                return spec is not None and bool(getattr(state, spec["attr"]) == value)
        return False


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


def as_printed(events: Sequence[Event], reading: Reading) -> frozenset[tuple[str, str, str]]:
    """What things have on them when they come into the game."""
    state = state_from_box(events[0])
    for event in events:
        if event[0] == "created":
            apply(state, event)
    return printed_on(_readable(state, reading))


# ---------------------------------------------------------------- looking at one thing
_UNREAD = re.compile(r'("[^"]*"?)|\s*#.*')


def block(text: str, number: int) -> list[str]:
    """A line of a text with all that is indented below it, without comments; before a row of a table its head."""
    lines = text.split("\n")
    first = lines[number - 1]
    if first.lstrip().startswith("|"):
        above = (_bare(line) for line in reversed(lines[:number]))
        head = next((line for line in above if line.strip() and _depth(line) < _depth(first)), "")
        return [head, first.rstrip()]
    found = [first]
    for line in lines[number:]:
        if line.strip() and not line.lstrip().startswith("#") and _depth(line) <= _depth(first):
            break
        found.append(line)
    return [line[_depth(first) :] for line in map(_bare, found) if line]


def _bare(line: str) -> str:
    """A line without its comment; a row of a table has none."""
    bare = line if line.lstrip().startswith("|") else _UNREAD.sub(lambda m: m[1] or "", line)
    return bare.rstrip()


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 10_000


def meant(typed: str, names: Iterable[str], what: str) -> str:
    """The one name that was typed, or whose beginning was; else the beginning of one of its words."""
    known, low = list(dict.fromkeys(names)), typed.strip().lower()
    ways = (
        lambda name: name == low,
        lambda name: name.startswith(low),
        lambda name: f" {low}" in name,
    )
    for fits in ways:
        close = [name for name in known if low and fits(name.lower())]
        if len(close) == 1:
            return close[0]
        if close:
            more = f" and {len(close) - MANY} more" if len(close) > MANY else ""
            raise WrongUse(f"{typed!r} may mean: {', '.join(close[:MANY])}{more}")
    lower = {name.lower(): name for name in known}
    hint = near(low, lower)
    for name in lower:
        hint = hint.replace(f"'{name}'", f"'{lower[name]}'")
    raise WrongUse(f"there is no {what} {typed!r}{'; ' + hint if hint else ''}")


class Looking:
    """One seat (nobody: the referee) looks at one thing.

    What is printed may be read by all, since the rules are; where a thing lies and what is on it is shown only to
    those who may see it. Nothing that is said depends on what is hidden.
    """

    def __init__(self, state: State, seat: Thing | None, program: Program | None) -> None:
        self.state, self.program = state, program
        self.shown = view(state, seat)
        seen = [t for t in range(len(state.kind)) if can_see(state, seat, t)]
        self._printed = {state.key[t]: state.name[t] for t in seen}
        self.designs = program.designs if program else []

    def names(self) -> list[str]:
        """What can be looked at: what was printed, and what is seen on the table."""
        on_table = (thing["name"] for thing in self.shown["things"])
        return list(dict.fromkeys([*(design["name"] for design in self.designs), *on_table]))

    def find(self, typed: str, more: Iterable[str] = (), what: str = "card or thing") -> str:
        """The name that is meant. Copies of one card count as one, unless one of them is named in full."""
        known = [*self.names(), *more]
        exact = [name for name in known if name.lower() == typed.strip().lower()]
        if exact:
            return exact[0]
        once = dict.fromkeys(self._printed.get(name, name) for name in known)
        return meant(re.sub(r" #\d+$", "", typed.strip()), once, what)

    def as_data(self, name: str) -> dict[str, Any]:
        texts = [
            {"kind": d["kind"], "copies": d["copies"], "text": self._text(d)} for d in self._designs_of(name)
        ]
        return {"name": name, "printed": texts, "things": self._seen(name)}

    def _designs_of(self, name: str) -> list[dict[str, Any]]:
        return [design for design in self.designs if design["name"] in (name, self._printed.get(name))]

    def _seen(self, name: str) -> list[dict[str, Any]]:
        """Things of that name; by the printed name, every copy that is seen."""
        return [
            thing
            for thing in self.shown["things"]
            if name in (thing["name"], self._printed.get(thing["name"]))
        ]

    def lines(self, name: str) -> list[str]:
        lines: list[str] = []
        for design in self._designs_of(name):
            copies = f", {design['copies']} copies" if design["copies"] > 1 else ""
            lines.append(f"{design['name']}: {design['kind']}{copies}, printed:")
            lines += [f"  {line}" for line in self._text(design)]
        seen = self._seen(name)
        told = [tuple(self._now(thing)) for thing in seen]
        for one in dict.fromkeys(told):
            lines += [f"{told.count(one)} x {one[0]}" if told.count(one) > 1 else one[0], *one[1:]]
        return [part for line in lines for part in wrapped(line)] + (
            [] if seen else ["None of it is to be seen on the table."]
        )

    def _text(self, design: dict[str, Any]) -> list[str]:
        texts = self.program.tables.get("texts", {}) if self.program else {}
        return block(texts[design["file"]], design["line"]) if design["file"] in texts else []

    def _now(self, thing: dict[str, Any]) -> Iterator[str]:
        parts = [thing["kind"]]
        parts += [f"{what} {thing[what]}" for what in ("place", "owner", "face") if thing.get(what)]
        yield f"{thing['name']}: {', '.join(parts)}"
        if now := self._values(thing):
            yield f"  now: {now}"
        if on_it := [x["name"] for x in self.shown["things"] if x.get("place") == thing["name"]]:
            yield f"  on it: {listed(on_it)}"

    def _values(self, thing: dict[str, Any]) -> str:
        printed = self._printed_values(thing)
        values = thing.get("printed", {}) | thing.get("fields", {})
        return ", ".join(
            text + (f" (printed {printed[name]})" if printed.get(name, said(value)) != said(value) else "")
            for name, value in values.items()
            if (text := fields_text({name: value}) or (f"{name} {said(value)}" if name in printed else ""))
        )

    def _printed_values(self, thing: dict[str, Any]) -> dict[str, str]:
        """What the face that is up says about fields whose values are no things."""
        name = self._printed.get(thing["name"])
        design = next((d for d in self.designs if d["name"] == name and d["kind"] == thing["kind"]), None)
        if design is None or self.program is None:
            return {}
        faces = [face["fields"] for face in design["faces"] if face["name"] == thing.get("face")]
        values = design["fields"] | (faces[0] if faces else {})
        return {
            name: said(values[spec["attr"]])
            for name, spec in self.program.fields.items()
            if spec["attr"] in values and not spec["thing"]
        }
