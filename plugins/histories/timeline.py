"""A history, read: which decisions count after all undos, and what is wrong with what is stored.

The library numbers stored events and refuses a number twice, but it does not notice a gap; that is looked at
here, with the chain of hashes. Strict readers raise at the first problem, `verify` collects them. Rows that
are missing at the end are noticed only by who knows the last hash; so `verify` gives it out (`Report.head`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from longbox.kernel import Event, Thing

from .bodies import Decided, Played, Repacked, Revealed, Started, Undone, split_decisions, unpack_events
from .errors import CorruptHistory
from .store import Entry, Row, read_row

Report = Callable[[int, str], None]  # (number of the stored event, what is wrong with it)


class Step(NamedTuple):
    """A decision that counts: the stored event it is in, the answer, and what followed."""

    version: int
    seat: Thing | None
    key: str
    facts: tuple[Event, ...]


@dataclass
class Timeline:
    """What the stored events of a game come to."""

    id: str
    started: Started
    opening: tuple[Event, ...]  # the events before the first answer
    steps: list[Step] = field(default_factory=list)
    undone: list[list[Step]] = field(default_factory=list)  # each line of decisions that was left by an undo
    packs: list[dict[str, Any]] = field(default_factory=list)  # the packs in force
    texts: dict[str, str] | None = None
    repacked: bool = False
    revealed: Revealed | None = None
    played: Played | None = None
    total: int = 0  # how many events count
    version: int = 0
    head: str = ""  # hash of the last stored event

    @property
    def events(self) -> list[Event]:
        """All events that count."""
        return self.events_of(self.steps)

    def add(self, step: Step) -> None:
        self.steps.append(step)
        self.total += len(step.facts)

    def go_back(self, to: int) -> None:
        """Only decisions up to the stored event `to` count from now on."""
        self.undone.append(self.steps)
        self.steps = [step for step in self.steps if step.version <= to]
        self.total = len(self.opening) + sum(len(step.facts) for step in self.steps)

    def events_of(self, steps: Iterable[Step]) -> list[Event]:
        return [*self.opening, *(event for step in steps for event in step.facts)]

    @property
    def answers(self) -> list[tuple[Thing | None, str]]:
        return [(step.seat, step.key) for step in self.steps]

    @property
    def bots(self) -> dict[str, str]:
        return self.played.bots if self.played else self.started.bots

    @property
    def over(self) -> bool:
        return self.revealed is not None or self.played is not None

    @property
    def outcome(self) -> dict[str, Any] | None:
        end = self.revealed or self.played
        return end.outcome if end else None


def strict(version: int, what: str) -> None:
    """The report of those who want a history whole or not at all."""
    raise CorruptHistory(f"stored event {version}: {what}", version)


def read_timeline(
    name: str, rows: Iterable[Row], box: Callable[[str], Entry], report: Report = strict
) -> Timeline | None:
    """A history from its rows. `box` finds the first body that simulated games share."""
    line: Timeline | None = None
    for number, row in enumerate(rows, 1):
        if row.originator_version != number:
            report(row.originator_version, f"number {number} is missing")
            return line
        try:
            entry = read_row(row)
            if line is None:
                line = _first(name, entry, box)
            else:
                _next(line, entry, report)
        except CorruptHistory as error:
            report(number, str(error))
            return line
        line.version, line.head = number, entry.hash
    return line


def _first(name: str, entry: Entry, box: Callable[[str], Entry]) -> Timeline:
    body = entry.body
    if isinstance(body, Started):
        line = Timeline(name, body, unpack_events(body.facts))
    elif isinstance(body, Played):
        line = _whole(name, body, box(body.box))
    else:
        raise CorruptHistory(f"a history does not begin with {entry.topic}")
    line.packs, line.texts = line.started.packs, line.started.texts
    line.total = len(line.opening) + sum(len(step.facts) for step in line.steps)
    return line


def _whole(name: str, played: Played, box: Entry) -> Timeline:
    """A simulated game, taken apart into its decisions."""
    if not isinstance(box.body, Started):
        raise CorruptHistory(f"{box.topic} does not say what game this is")
    opening, decisions = split_decisions([*unpack_events(box.body.facts), *unpack_events(played.facts)])
    line = Timeline(name, box.body, tuple(opening), played=played)
    for facts in decisions:
        seats, key = facts[0][3], facts[0][4]
        line.steps.append(Step(1, seats[0] if len(seats) == 1 else None, key, tuple(facts)))
    if len(line.steps) != played.decisions or sum(map(len, decisions)) + len(opening) != played.events:
        raise CorruptHistory(f"it holds {len(line.steps)} decisions, not {played.decisions}")
    return line


def _next(line: Timeline, entry: Entry, report: Report) -> None:
    """One more stored event."""
    body = entry.body
    if not isinstance(body, Decided | Undone | Repacked | Revealed) or line.over:
        return report(entry.version, f"{entry.topic} does not belong here")
    if body.prev != line.head:
        report(entry.version, f"the chain is broken: before it stood {body.prev}, now {line.head}")
    match body:
        case Decided():
            line.add(Step(entry.version, body.seat, body.key, unpack_events(body.facts)))
        case Undone():
            _undo(line, entry.version, body, report)
        case Repacked():
            line.packs, line.texts, line.repacked = body.packs, body.texts, True
        case Revealed():
            line.revealed = body
    _count(line, entry.version, body, report)


def _undo(line: Timeline, version: int, body: Undone, report: Report) -> None:
    kept = [step for step in line.steps if step.version <= body.to]
    if len(kept) == len(line.steps):
        report(version, f"it undoes what came after {body.to}, but nothing did")
    elif body.to != (kept[-1].version if kept else 1):
        report(version, f"it goes back to {body.to}, which is not a decision that counts")
    line.go_back(body.to)


def _count(
    line: Timeline, version: int, body: Decided | Undone | Repacked | Revealed, report: Report
) -> None:
    """Totals are stored for listings; they must be true."""
    if body.decisions < 0:
        return
    found = len(line.steps), line.total
    if found != (body.decisions, body.events):
        said = f"{body.decisions} decisions and {body.events} events"
        report(version, f"it counts {said}; there are {found[0]} and {found[1]}")
