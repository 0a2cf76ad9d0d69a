"""Is a history what it claims to be? Chain, undo, seed, then the rules run again.

Each check reports what it finds; the first event that differs is named with what is stored, what the rules
give, and the line of text that did it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from longbox.kernel import Event, LongboxError, Program, ReplayError, fold_history
from longbox.kernel.views import outcome_view

from .bodies import Sealed
from .session import commits, differs, resume
from .timeline import Step, Timeline


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong. `version` is the number of a stored event, `event` of an event of the game."""

    what: str
    version: int | None = None
    event: int | None = None
    expected: Event | None = None
    actual: Event | None = None
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return self.what if self.version is None else f"stored event {self.version}: {self.what}"


@dataclass
class Report:
    """What was found."""

    id: str
    problems: list[Problem] = field(default_factory=list)
    decisions: int = 0
    events: int = 0
    head: str = ""  # hash of the last stored event: publish it, and nobody can shorten or rewrite the history

    @property
    def ok(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        if self.ok:
            found = f"{self.decisions} decisions, {self.events} events"
            return f"{self.id}: {found}, all as the rules say; head {self.head}"
        return "\n".join(
            [f"{self.id}: {len(self.problems)} problem(s)", *(f"  {problem}" for problem in self.problems)]
        )

    def stored(self, version: int, what: str) -> None:
        """Something is wrong with a stored event."""
        self.problems.append(Problem(what, version=version))

    def add(self, what: str, **more: Any) -> None:
        self.problems.append(Problem(what, **more))


def check_seed(line: Timeline, sealed: Sealed | None, report: Report) -> int | None:
    """The seed, if it is the one that the game was committed to."""
    if line.played is not None:
        return int(line.played.seed)
    shown = line.revealed or sealed
    if shown is None:
        report.add("its seed is missing: the seal of a running game was removed")
        return None
    if commits(shown) != line.started.commitment:
        report.add("the seed is not the one that the game was committed to when it started")
    return int(shown.seed)


def check_fold(line: Timeline, report: Report) -> dict[str, Any] | None:
    """The table that the events lead to, without any rule; the outcome must be that of its events."""
    try:
        state = fold_history(line.events)
        found = outcome_view(state)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        report.add(f"its events cannot be folded: {error!r}")
        return None
    if found != line.outcome:
        report.add(f"the stored outcome is {line.outcome}, its events lead to {found}")
    return state.snapshot()


def check_rules(
    line: Timeline, program: Program, seed: int, table: dict[str, Any] | None, report: Report
) -> None:
    """Run the rules again, for every line of decisions that was ever taken."""
    lines: list[tuple[str, list[Step]]] = [
        ("", line.steps),
        *((" (in a line that was undone)", u) for u in line.undone),
    ]
    for which, steps in lines:
        try:
            game = resume(line, program, seed, steps)
        except ReplayError as error:
            event = error.actual or error.expected
            file, number = program.site(event[2]) if event else ("", 0)
            report.add(
                differs(program, error) + which,
                event=error.event,
                expected=error.expected,
                actual=error.actual,
                file=file,
                line=number,
            )
        except LongboxError as error:
            report.add(
                f"the rules cannot be run again: {error}{which}",
                file=getattr(error, "file", ""),
                line=getattr(error, "line", 0),
            )
        else:
            if steps is line.steps and table is not None:
                compare_tables(table, game.state.snapshot(), report)


def compare_tables(folded: dict[str, Any], live: dict[str, Any], report: Report) -> None:
    """fold(history) == live."""
    for slot in live:
        if folded.get(slot) != live[slot]:
            two = f"{folded.get(slot)!r:.100} and {live[slot]!r:.100}"
            report.add(f"the folded table and the live one differ in {slot}: {two}")


def check_all(line: Timeline, sealed: Sealed | None, find: Callable[[], Program], report: Report) -> None:
    """Everything but the chain, which was looked at when the history was read."""
    report.decisions, report.events, report.head = len(line.steps), line.total, line.head
    seed = check_seed(line, sealed, report)
    table = check_fold(line, report)
    try:
        program = find()
    except LongboxError as error:
        report.add(f"the rules were not run again: {error}")
        return
    if seed is not None:
        check_rules(line, program, seed, table, report)
