"""longbox check: every problem in texts, without running anything."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ..cli import WrongUse
from ..loader import PathsChecked, check_paths
from .common import add_format, add_packs, example, folders_of, is_json, print_json

help = "read packs and report every problem; runs nothing"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="a .box or .scene file, the folder of a pack, or a folder of packs",
    )
    add_packs(parser)
    add_format(parser)
    example(parser, "longbox check expansions", "longbox check my_pack/cards.box --format json")


def run(args: Namespace) -> int:
    for path in args.paths:
        if not Path(path).exists():
            raise WrongUse(f"{path}: there is no such file or folder")
    result = check_paths([Path(path) for path in args.paths], folders_of(args))
    if is_json(args):
        print_json(
            {"packs": [pack.id for pack in result.packs], "problems": [p.as_data() for p in result.problems]}
        )
    else:
        show(result)
    return 1 if result.errors else 0


def show(result: PathsChecked) -> None:
    if result.problems:
        print(result.show())
    warnings = len(result.problems) - len(result.errors)
    packs = counted(len(result.packs), "pack")
    print(f"{packs} read: {counted(len(result.errors), 'problem')}, {counted(warnings, 'warning')}")


def counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count or 'no'} {word}s"
