"""longbox new: a pack to start from. It checks, and its scene passes."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from pathlib import Path

from ..cli import WrongUse
from ..packs import Pack, find_packs, near
from .common import add_format, add_packs, example, folders_of, is_json, print_json

help = "make a pack to start from: a small game, or an expansion of one"
NAME = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*")

GAME = """\
# A game to start from: change it line by line, and let `longbox check` look at it after each.
pack {id} "{title}"
    version 0.1
    about "Take one, two or three sticks; whoever takes the last one wins."

game "{title}"
    seats 2
    each seat is a player

state sticks: number = 10

verb (p: player) takes (n: number) stick/sticks:
    now sticks is sticks - n
    if sticks = 0:
        p wins

round:
    for each player, in turn order:
        turn of player:
            ask player:
                "one":
                    player takes 1 stick
                "two" if sticks >= 2:
                    player takes 2 sticks
                "three" if sticks >= 3:
                    player takes 3 sticks
"""
GAME_SCENE = """\
scene "whoever takes the last stick wins"
    game {id}
    when:
        "Player 1": "two"
        "Player 2": "three"
        "Player 1": "one"
    then:
        sticks = 4
        "Player 2" is offered "one", "two", "three"
    when:
        "Player 2": "one"
        "Player 1": "three"
    then:
        sticks = 0
"""
EXPANSION = """\
# An expansion to start from: new kinds, cards and rules for {game}.
pack {id} "{title}"
    version 0.1
    about "What this adds to {game_title}."
    needs {game} {version}

# A rule of its own, to be replaced: what everybody may look at while they play (show {word} seats).
query {word} seats -> number, seen by all: number of seats
"""
EXPANSION_SCENE = """\
scene "the seats are counted"
    game {game}, with {id}
    seed 1
    then:
        {word} seats > 0
"""
README = (
    "# {title}\n\n{what} Check it with `longbox check .`, test it with `pytest .`, play it with `{play}`.\n"
)


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        help="the id of the pack, and of the folder it is made in: small letters, digits and _",
    )
    parser.add_argument(
        "--for",
        "--game",
        dest="game",
        metavar="GAME",
        help="an expansion of this game (default: a game of its own)",
    )
    parser.add_argument("--title", help="what people call it")
    parser.add_argument(
        "--in", dest="folder", metavar="FOLDER", default=".", help="where to make its folder (default: here)"
    )
    add_packs(parser)
    add_format(parser)
    example(
        parser,
        "longbox new sticks",
        "longbox new my_cards --for uno --title 'My cards'",
        "longbox check sticks",
    )


def run(args: Namespace) -> int:
    if not NAME.fullmatch(args.name):
        raise WrongUse(
            f"{args.name!r} cannot be the id of a pack: small letters, digits and _, a letter first"
        )
    folder = Path(args.folder) / args.name
    if folder.exists():
        raise WrongUse(f"{folder}: this exists already; choose another name")
    files = texts(args)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
    if is_json(args):
        print_json({"id": args.name, "folder": str(folder), "files": list(files)})
    else:
        print(f"made {folder} with {', '.join(files)}")
        print(f"next: longbox check {folder}; pytest {folder}; {play_line(args)}")
    return 0


def texts(args: Namespace) -> dict[str, str]:
    """The files of a new pack, by their names in its folder."""
    title = (args.title or args.name.replace("_", " ").replace(".", " ").capitalize()).replace('"', "'")
    about = {
        "id": args.name,
        "title": title,
        "word": args.name.replace("_", " ").replace(".", " "),
        "play": play_line(args),
    }
    base, scene, what = (GAME, GAME_SCENE, "A game for Longbox.")
    if args.game:
        game = needed(args)
        base, scene, what = EXPANSION, EXPANSION_SCENE, f"An expansion of {game.title} for Longbox."
        about |= {"game": game.id, "game_title": game.title, "version": game.version}
    return {
        f"{args.name}.box": base.format(**about),
        "README.md": README.format(what=what, **about),
        f"scenes/{args.name}.scene": scene.format(**about),
    }


def needed(args: Namespace) -> Pack:
    games = {pack.id: pack for pack in find_packs(folders_of(args))[0].values() if pack.is_game}
    if args.game not in games:
        hint = near(args.game, games) or f"the games are: {', '.join(games)}"
        raise WrongUse(f"there is no game {args.game!r}; {hint}")
    return games[args.game]


def play_line(args: Namespace) -> str:
    more = f"--with {args.name} " if args.game else ""
    return f"longbox play {args.game or args.name} {more}--packs {args.folder}"
