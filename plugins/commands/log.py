"""longbox log: how a stored game went, event by event."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from longbox.kernel import fold_history

from .common import Stored, add_db, add_format, example, is_json, open_games, print_json, seat_called
from .story import Line, Reading, Story, told

help = "tell how a stored game went; needs no rules"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("game_id", metavar="GAME_ID", help="a stored game (longbox list shows them)")
    parser.add_argument(
        "--as", dest="seat", metavar="SEAT", help="only what this seat may see: its name or number"
    )
    parser.add_argument("--all", action="store_true", help="every event, also the book-keeping")
    parser.add_argument("--last", metavar="N", type=int, help="only the last N lines")
    add_db(parser)
    add_format(parser)
    example(parser, "longbox log my_game", "longbox log my_game --as X --all --format json")


def run(args: Namespace) -> int:
    with open_games(args) as histories:
        stored = Stored.read(histories, args.game_id)
    state = fold_history(stored.events)
    story = Story(stored.reading(), seat_called(args.seat, state.key, state.of["seat"]))
    lines = story.follow(stored.events)
    if not args.all:
        lines = told(lines)
    if args.last is not None:
        lines = lines[max(0, len(lines) - args.last) :]
    if is_json(args):
        print_json(
            {
                "id": stored.id,
                "game": stored.started.game,
                "events": [as_data(line, story.reading, story.seat) for line in lines],
            }
        )
    else:
        for line in lines:
            print(line.show(numbered=True))
    return 0


def as_data(line: Line, reading: Reading, seat: int | None) -> dict[str, Any]:
    data: dict[str, Any] = {"event": line.number, "name": line.event[0], "text": line.text}
    if seat is None:
        file, number = reading.place(line.event)
        data |= {"cause": line.event[1], "file": file, "line": number, "values": line.event[3:]}
    return data
