"""longbox sim: many games with bots, and one summary."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from time import perf_counter

from longbox.kernel import LongboxError, Program

from ..bots import make_table, read_bots
from ..cli import WrongUse
from ..histories.beginnings import checked_name, random_name
from ..simulate import Form, Plan, Summary, bot_factories, interleaved, simulate, values_of
from .common import (
    add_db,
    add_format,
    add_packs,
    add_with,
    as_wrong_use,
    db_file,
    example,
    folders_of,
    is_json,
    load_program,
    print_json,
    read_seats,
    read_settings,
)
from .progress import Progress

help = "play many games with bots and sum them up"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("game", metavar="GAME", help="a game (longbox games shows them)")
    parser.add_argument("--games", metavar="N", type=int, default=100, help="how many games (default: 100)")
    parser.add_argument(
        "--seed", metavar="S", type=int, default=0, help="the same seed gives the same games (default: 0)"
    )
    parser.add_argument(
        "--jobs",
        metavar="J",
        type=int,
        help="over how many processes (default: as many as there are processors)",
    )
    parser.add_argument(
        "--bots", metavar="BOTS", help="greedy, or seat by seat: 1=greedy,2=random (default: random)"
    )
    parser.add_argument("--store", action="store_true", help="keep the games in the database")
    parser.add_argument("--name", metavar="ID", help="stored games are called ID-000000, ID-000001, ...")
    add_forms(parser)
    add_with(parser)
    add_packs(parser)
    add_db(parser)
    add_format(parser)
    example(
        parser,
        "longbox sim uno --games 1000 --seed 7 --jobs 4",
        "longbox sim tic_tac_toe --games 50 --bots X=greedy,O=random",
        "longbox sim leduc --games 20 --store --name try --db games.sqlite",
        "longbox sim uno --games 300 --seats 2-4",
    )


def add_forms(parser: ArgumentParser) -> None:
    """Which forms of the game are played."""
    parser.add_argument(
        "--seats",
        metavar="N|NAMES|N-M",
        help="how many play, or their names; games go round over several numbers: --seats 2-4, --seats 2,4",
    )
    parser.add_argument(
        "--set",
        dest="settings",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a setting of the game (may be repeated)",
    )
    parser.add_argument(
        "--vary",
        metavar="SETTING,...",
        action="append",
        default=[],
        help="games go round over every value of these settings (may be repeated)",
    )
    parser.add_argument(
        "--all",
        dest="every",
        action="store_true",
        help="vary the number of seats and every setting that can be varied, but for what is given",
    )
    parser.add_argument(
        "--combinations", action="store_true", help="say how the games of each combination went, too"
    )


def run(args: Namespace) -> int:
    plan = read_plan(args)
    progress = Progress(plan.games, "games")
    started = perf_counter()
    summary = simulate(plan, jobs_of(args), progress.tell)
    seconds = perf_counter() - started
    progress.done()
    show(summary, seconds, args)
    return 1 if summary.errors else 0


def read_plan(args: Namespace) -> Plan:
    if args.games < 1:
        raise WrongUse("--games: at least 1")
    program = load_program(args, args.game)
    with as_wrong_use():
        asked = read_forms(args, program)
        forms = possible(asked, program)
        names = {bot for form in forms for bot in form.bots}
        make_table(range(len(names)), sorted(names), bot_factories(), 0).check(program)
        prefix = checked_name(args.name or random_name()) if args.store else ""
    return Plan(
        game=args.game,
        games=args.games,
        seed=args.seed,
        bots=forms[0].bots,
        seats=forms[0].seats,
        settings=forms[0].settings,
        extra=tuple(args.extra),
        folders=tuple(map(str, folders_of(args))),
        db=db_file(args) if args.store else "",
        prefix=prefix,
        forms=tuple(forms),
        is_cooperative=program.tables["cooperative"],
        impossible=len(asked) - len(forms),
    )


# ---------------------------------------------------------------- which forms of the game
SEATS = "seats"  # stands among the settings that vary
_NUMBERS = re.compile(r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*")


def read_forms(args: Namespace, program: Program) -> list[Form]:
    """Every form of the game that was asked for, in the order in which they are played."""
    given = read_settings(args.settings)
    varied = read_varied(args, program, given)
    numbers = read_numbers(args, program)
    if numbers:
        varied = {SEATS: [str(number) for number in numbers], **varied}
    if not varied:
        return [form_of(args, program, given, {})]
    rows = interleaved(list(varied.values()))
    return [form_of(args, program, given, dict(zip(varied, row))) for row in rows]


def possible(forms: list[Form], program: Program) -> list[Form]:
    """Those that the game knows: what one setting names may be in the box only with another. One must be."""
    found, first = [], None
    for form in forms:
        try:
            program.new_state(form.seats, 0, form.given)
            found.append(form)
        except LongboxError as error:
            first = first or error
    if not found and first is not None:
        raise first
    return found


def form_of(args: Namespace, program: Program, given: Mapping[str, str], varied: Mapping[str, str]) -> Form:
    asked = varied.get(SEATS, args.seats)
    seats = program.seat_names(read_seats(asked))
    bots = read_bots(args.bots, seats, list(bot_factories()), "random")
    if None in bots:
        raise WrongUse("--bots: a simulation has no place for a person")
    settings = {**given, **{name: value for name, value in varied.items() if name != SEATS}}
    return Form(
        seats=tuple(seats),
        bots=tuple(filter(None, bots)),
        settings=tuple(settings.items()),
        varied=tuple(varied.items()),
        asked=asked or str(len(seats)),
    )


def read_numbers(args: Namespace, program: Program) -> list[int]:
    """Several numbers of seats: as given (2-4, or 1,3), or all of them; none if they do not vary."""
    text = (args.seats or "").replace(" ", "")
    if args.every and not text:
        least, most = program.tables["seats"]
        return list(range(least, most + 1))
    if not _NUMBERS.fullmatch(text) or text.isdecimal():
        return []
    numbers: dict[int, None] = {}
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers |= dict.fromkeys(range(int(first), int(last or first) + 1))
    if not numbers:
        raise WrongUse(f"--seats {args.seats}: the first number is greater than the last")
    return list(numbers)


def read_varied(args: Namespace, program: Program, given: Mapping[str, str]) -> dict[str, list[str]]:
    """The settings that vary, with their values."""
    known = program.tables["settings"]
    named = [name.strip() for part in args.vary for name in part.split(",")]
    for name in named:
        if name not in known:
            offer = ", ".join(known) or "none"
            raise WrongUse(f"--vary: {program.title} has no setting {name!r}; its settings: {offer}")
        if name in given:
            raise WrongUse(f"--vary: {name!r} is given by --set already")
        if not values_of(program, name):
            raise WrongUse(f"--vary: {name!r} has no list of values; give one with --set")
    if args.every:
        named += [name for name in known if name not in given and values_of(program, name)]
    return {name: values_of(program, name) for name in dict.fromkeys(named)}


def jobs_of(args: Namespace) -> int:
    if args.jobs is not None and args.jobs < 1:
        raise WrongUse("--jobs: at least 1")
    return int(args.jobs or os.cpu_count() or 1)


def show(summary: Summary, seconds: float, args: Namespace) -> None:
    rate = {
        "seconds": round(seconds, 3),
        "decisions a second": round(summary.decisions.total / seconds),
        "events a second": round(summary.events.total / seconds),
    }
    stored = {"db": summary.plan.db, "name": summary.plan.prefix} if summary.plan.db else None
    if is_json(args):
        print_json(
            summary.as_data(args.combinations) | {"time": rate} | ({"stored": stored} if stored else {})
        )
        return
    print("\n".join(summary.lines(args.combinations)))
    if stored:
        first, last = summary.plan.name(0), summary.plan.name(summary.count - 1)
        print(f"stored in {stored['db']} as {first} to {last}")
    decisions, events = rate["decisions a second"], rate["events a second"]
    print(f"time: {seconds:.2f} s, {decisions} decisions/s, {events} events/s")
