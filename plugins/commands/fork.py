"""longbox fork: a new game that goes its own way from an event on."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from .common import Stored, add_db, add_format, as_wrong_use, example, is_json, open_games, print_json

help = "make a new game from the first part of a stored one"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("game_id", metavar="GAME_ID", help="a stored game (longbox list shows them)")
    parser.add_argument(
        "--at", metavar="EVENT", required=True, help="the new game has every decision up to this event"
    )
    parser.add_argument("--name", metavar="ID", help="what to call the new game")
    add_db(parser)
    add_format(parser)
    example(parser, "longbox fork my_game --at 40 --name what_if", "longbox play what_if")


def run(args: Namespace) -> int:
    with open_games(args) as histories:
        number = Stored.read(histories, args.game_id).number(args.at)
        with as_wrong_use():
            made = histories.fork(args.game_id, number, args.name)
    if is_json(args):
        print_json({"id": made, "parent": args.game_id, "at": number})
    else:
        print(f"{made}: forked from {args.game_id} at event {number}; go on with: longbox play {made}")
    return 0
