"""longbox why: what led to an event, up to the answer or the step that it began with."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from .common import Stored, add_db, add_format, add_packs, example, is_json, open_games, print_json
from .story import Story, why

help = "show what led to an event: each cause with the line of the rules"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("game_id", metavar="GAME_ID", help="a stored game (longbox list shows them)")
    parser.add_argument("event", metavar="EVENT", help="the number of an event (longbox log shows them)")
    add_packs(parser)
    add_db(parser)
    add_format(parser)
    example(parser, "longbox why my_game 17")


def run(args: Namespace) -> int:
    with open_games(args) as histories:
        stored = Stored.read(histories, args.game_id)
    number = stored.number(args.event)
    reading = stored.reading(args)
    story = Story(reading, None)
    story.follow(stored.events)
    causes = why(stored.events, number, story)
    if is_json(args):
        print_json([cause.as_data() for cause in causes])
        return 0
    if number == 0:
        print("    0  the game begins: the box is opened")
    for cause in causes:
        print("\n".join(cause.lines()))
    if any(cause.file and not cause.rule for cause in causes):
        print("The text of some lines is not shown: those packs are not here, or have changed since.")
    return 0
