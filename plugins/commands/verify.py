"""longbox verify: is a stored game what it claims to be?"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from longbox.dsl.problems import TextError
from longbox.kernel import Event, LongboxError, Program, fold_history
from longbox.kernel.text import render_event

from ..cli import WrongUse
from ..histories import Histories, HistoryError, Problem, Report
from .common import (
    Stored,
    add_db,
    add_format,
    add_packs,
    example,
    folders_of,
    is_json,
    open_games,
    print_json,
    program_of,
)
from .progress import Progress

help = "check stored games: their chain, then every event against the rules"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "game_ids", metavar="GAME_ID", nargs="*", help="stored games (longbox list shows them)"
    )
    parser.add_argument("--all", action="store_true", help="every stored game")
    add_packs(parser)
    add_db(parser)
    add_format(parser)
    example(parser, "longbox verify my_game", "longbox verify --all --db games.sqlite")


def run(args: Namespace) -> int:
    if bool(args.game_ids) == args.all:
        raise WrongUse("name the games to verify, or say --all")
    reports: list[Report] = []
    with open_games(args) as histories:
        names = [game.id for game in histories.list()] if args.all else args.game_ids
        progress = Progress(len(names), "games")
        for name in names:
            reports.append(verified(histories, name, args))
            progress.tell(len(reports))
            if not is_json(args) and (not reports[-1].ok or len(names) == 1):
                show(histories, reports[-1], args)
    progress.done()
    return summed_up(reports, args)


def verified(histories: Histories, name: str, args: Namespace) -> Report:
    return histories.verify(name, rules_at_hand(histories, name, args))


def rules_at_hand(histories: Histories, name: str, args: Namespace) -> Program | None:
    """The rules as they are now. What is wrong with them, or with the history, is for `verify` to say."""
    try:
        started = histories.started(name)
        return None if started.texts is not None else program_of(started, folders_of(args))
    except (HistoryError, LongboxError, TextError):
        return None


def summed_up(reports: list[Report], args: Namespace) -> int:
    bad = [report for report in reports if not report.ok]
    if is_json(args):
        print_json([as_data(report) for report in reports])
    elif len(reports) != 1:
        print(f"{len(reports)} games verified, {len(bad) or 'none'} with problems")
    return 1 if bad else 0


# ---------------------------------------------------------------- what was found
def show(histories: Histories, report: Report, args: Namespace) -> None:
    if report.ok:
        print(report)
        return
    count = len(report.problems)
    print(f"{report.id}: {count} problem{'s' if count > 1 else ''}")
    for problem in report.problems:
        print(f"  {problem}")
        for line in explained(histories, report.id, problem, args):
            print(f"    {line}")


def explained(histories: Histories, name: str, problem: Problem, args: Namespace) -> Iterator[str]:
    """The event as it is stored and as the rules make it, in words, and the line of the rules."""
    if problem.expected is None and problem.actual is None:
        return
    try:
        stored = Stored.read(histories, name)
        program = rules_at_hand(histories, name, args)
        names = stored.reading().names(fold_history(stored.events))
    except LongboxError:
        return

    def said(event: Event | None) -> str:
        return "nothing" if event is None else render_event(names, event)

    yield f"stored:       {said(problem.expected)}"
    yield f"by the rules: {said(problem.actual)}"
    texts = stored.started.texts or (program.tables["texts"] if program else {})
    if problem.file in texts:
        yield f"{problem.file}:{problem.line}: {texts[problem.file].split(chr(10))[problem.line - 1].strip()}"


def as_data(report: Report) -> dict[str, Any]:
    return {
        "id": report.id,
        "ok": report.ok,
        "decisions": report.decisions,
        "events": report.events,
        "head": report.head,
        "problems": [
            {
                "what": p.what,
                "stored event": p.version,
                "event": p.event,
                "expected": p.expected,
                "actual": p.actual,
                "file": p.file,
                "line": p.line,
            }
            for p in report.problems
        ],
    }
