"""longbox show: the table of a stored game, now or after any event."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from longbox.kernel.text import table_lines
from longbox.kernel.views import view

from .common import (
    Stored,
    add_db,
    add_format,
    add_packs,
    example,
    is_json,
    open_games,
    print_json,
    seat_called,
)
from .looking import Looking
from .maps import map_lines
from .story import as_printed, pointers, table_at

help = "show the table of a stored game, also as it was at an event; needs no rules"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("game_id", metavar="GAME_ID", help="a stored game (longbox list shows them)")
    parser.add_argument("--at", metavar="EVENT", help="after this event (longbox log shows their numbers)")
    parser.add_argument(
        "--as", dest="seat", metavar="SEAT", help="only what this seat may see: its name or number"
    )
    parser.add_argument(
        "--card",
        metavar="NAME",
        help="only this card or thing; its printed text too, where the rules are here",
    )
    add_packs(parser)
    add_db(parser)
    add_format(parser)
    example(
        parser,
        "longbox show my_game",
        "longbox show my_game --at 40 --as 'Player 2'",
        "longbox show my_game --card 'wild'",
    )


def run(args: Namespace) -> int:
    with open_games(args) as histories:
        stored = Stored.read(histories, args.game_id)
    at = stored.number(args.at) if args.at is not None else len(stored.events) - 1
    reading = stored.reading()
    state = table_at(stored.events, at, reading)
    seat = seat_called(args.seat, state.key, state.of["seat"])
    shown = view(state, seat)
    if args.card is not None:
        return show_card(Looking(state, seat, stored.rules(args)), args)
    if is_json(args):
        print_json({"id": stored.id, "game": stored.started.game, "event": at, "table": shown})
        return 0
    whose = f", as {shown['seat']} sees it" if shown["seat"] else ""
    print(f"{stored.started.title} ({stored.id}) after event {at} of {len(stored.events) - 1}{whose}")
    lines = map_lines(shown, legend=False)
    lines += table_lines(shown, as_printed(stored.events, reading), pointers(reading.tables["fields"]))
    for line in lines or ["the table is empty"]:
        print(line)
    return 0


def show_card(looking: Looking, args: Namespace) -> int:
    name = looking.find(args.card)
    if is_json(args):
        print_json(looking.as_data(name))
    else:
        for line in looking.lines(name):
            print(line)
    return 0
