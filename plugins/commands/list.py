"""longbox list: the stored games."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from ..histories import Summary
from .common import add_db, add_format, example, is_json, open_games, print_json

help = "list the stored games"


def configure(parser: ArgumentParser) -> None:
    add_db(parser)
    add_format(parser)
    example(parser, "longbox list", "longbox list --db games.sqlite --format json")


def run(args: Namespace) -> int:
    with open_games(args) as histories:
        games = histories.list()
    if is_json(args):
        print_json([asdict(game) for game in games])
        return 0
    for game in games:
        print(described(game))
    if not games:
        print("no games are stored here; start one with longbox play")
    return 0


def described(game: Summary) -> str:
    state = f"over, {ended(game)}" if game.over else "not over"
    parent = f", forked from {game.parent[0]} at event {game.parent[1]}" if game.parent else ""
    size = f"{game.decisions} decisions, {game.events} events"
    return f"{game.id}  {game.title}: {', '.join(game.seats)}; {size}, {state}{parent}"


def ended(game: Summary) -> str:
    winners = (game.outcome or {}).get("winners", [])
    return f"won by {', '.join(winners)}" if winners else str((game.outcome or {}).get("result", "ended"))
