"""longbox games: the games and packs that are here."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from ..packs import Pack, find_packs
from .common import add_format, add_packs, example, folders_of, is_json, print_json

help = "list the games and packs that are here"


def configure(parser: ArgumentParser) -> None:
    add_packs(parser)
    add_format(parser)
    example(parser, "longbox games", "longbox games --packs my_packs --format json")


def run(args: Namespace) -> int:
    packs, problems = find_packs(folders_of(args))
    if is_json(args):
        print_json(
            {"packs": [as_data(pack) for pack in packs.values()], "problems": [p.as_data() for p in problems]}
        )
    else:
        show(list(packs.values()))
        for problem in problems:
            print(problem.show(), file=sys.stderr)
    return 1 if any(not p.is_warning for p in problems) else 0


def show(packs: list[Pack]) -> None:
    games = [pack for pack in packs if pack.is_game]
    others = [pack for pack in packs if not pack.is_game]
    print("games:" if games else "no games here")
    for pack in games:
        print(f"  {described(pack)}")
    if others:
        print("packs that add to a game:")
    for pack in others:
        print(f"  {described(pack)}; needs {', '.join(map(str, pack.needs)) or 'nothing'}")


def described(pack: Pack) -> str:
    about = f": {pack.about}" if pack.about else ""
    return f"{pack.id}  {pack.title} {pack.version} ({pack.origin}){about}"


def as_data(pack: Pack) -> dict[str, Any]:
    return {
        "id": pack.id,
        "title": pack.title,
        "version": pack.version,
        "about": pack.about,
        "game": pack.is_game,
        "needs": [str(need) for need in pack.needs],
        "origin": pack.origin,
        "files": list(pack.names),
        "scenes": len(pack.scenes),
    }
