"""A game told as lines: what happened as somebody may see it, and why it happened.

Everything is rendered from events. `Reading` holds what events speak of (names, phrases, files); it comes
from a program or, when the rules are gone, from the first stored event of a history.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from longbox.kernel import Event, Game, Program, State, Thing, fold_history
from longbox.kernel.program import SITE_LINES
from longbox.kernel.text import Names, is_told, outcome_text, render_event
from longbox.kernel.views import LogView


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
        seen = view.follow(event)
        told = is_told(event)
        above = self._depths[event[1]] if 0 <= event[1] < number else 0
        self._depths.append(above + told)
        text = render_event(self.reading.names(view.state), seen)
        hidden = self.seat is not None and text == f"({event[0]})"
        return Line(number, above if self.seat is None else 0, text, told and not hidden, event)


def told(lines: Sequence[Line]) -> list[Line]:
    """The lines of the story. A hidden answer is left out where the next line shows what came of it."""
    kept = [line for line in lines if line.told]
    return [
        line
        for line, after in zip(kept, [*kept[1:], None])
        if after is None or not _only_answers(line) or after.event[0] == "answered"
    ]


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
    state = fold_history(events[: number + 1])
    fields = {
        name: {"fixed": spec["attr"] in state.FIXED} | spec for name, spec in reading.tables["fields"].items()
    }
    state.program = cast(Program, SimpleNamespace(fields=fields, values=reading.tables["values"]))
    return state
