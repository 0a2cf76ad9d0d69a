"""longbox sim: many games with bots, and one summary."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from time import perf_counter

from ..bots import read_bots
from ..cli import WrongUse
from ..histories.beginnings import checked_name, random_name
from ..simulate import Plan, Summary, bot_factories, simulate
from .common import (
    add_db,
    add_format,
    add_packs,
    add_seats,
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
    add_seats(parser)
    add_with(parser)
    add_packs(parser)
    add_db(parser)
    add_format(parser)
    example(
        parser,
        "longbox sim uno --games 1000 --seed 7 --jobs 4",
        "longbox sim tic_tac_toe --games 50 --bots X=greedy,O=random",
        "longbox sim leduc --games 20 --store --name try --db games.sqlite",
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
    settings = read_settings(args.settings)
    with as_wrong_use():
        seats = program.seat_names(read_seats(args.seats))
        program.new_state(seats, 0, settings)
        bots = read_bots(args.bots, seats, list(bot_factories()), "random")
        prefix = checked_name(args.name or random_name()) if args.store else ""
    if None in bots:
        raise WrongUse("--bots: a simulation has no place for a person")
    return Plan(
        game=args.game,
        games=args.games,
        seed=args.seed,
        bots=tuple(filter(None, bots)),
        seats=tuple(seats),
        settings=tuple(settings.items()),
        extra=tuple(args.extra),
        folders=tuple(map(str, folders_of(args))),
        db=db_file(args) if args.store else "",
        prefix=prefix,
    )


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
        print_json(summary.as_data() | {"time": rate} | ({"stored": stored} if stored else {}))
        return
    print("\n".join(summary.lines()))
    if stored:
        first, last = summary.plan.name(0), summary.plan.name(summary.count - 1)
        print(f"stored in {stored['db']} as {first} to {last}")
    decisions, events = rate["decisions a second"], rate["events a second"]
    print(f"time: {seconds:.2f} s, {decisions} decisions/s, {events} events/s")
