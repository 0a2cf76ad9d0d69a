"""longbox fmt: the one format of texts."""

from __future__ import annotations

import difflib
import os
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from longbox.dsl.format import format_text
from longbox.dsl.problems import TextError
from longbox.dsl.source import Source

from ..cli import WrongUse
from ..packs import read_text, unreadable
from .common import add_format, example, is_json, print_json

help = "put .box and .scene files into the one format"
STDIN = "-"


@dataclass
class Formatted:
    """One file: its text as it is, and as it should be; or what is wrong with it."""

    name: str
    old: str = ""
    new: str = ""
    problem: str = ""

    @property
    def changed(self) -> bool:
        return not self.problem and self.old != self.new

    def diff(self) -> str:
        lines = difflib.unified_diff(
            self.old.splitlines(True), self.new.splitlines(True), self.name, f"{self.name} (formatted)"
        )
        return "".join(lines)


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="a .box or .scene file, a folder of them, or - for standard input",
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit with 1 if a file is not in the format"
    )
    parser.add_argument("--diff", action="store_true", help="change nothing; show what would change")
    add_format(parser)
    example(
        parser, "longbox fmt expansions", "longbox fmt --check --diff my_pack", "longbox fmt - < cards.box"
    )


def run(args: Namespace) -> int:
    looks_only = args.check or args.diff
    done = [formatted(name, path) for name, path in texts(args.paths)]
    for one in done:
        if path_changes(one, looks_only):
            write(Path(one.name), one.new)
    if is_json(args):
        print_json([{"file": one.name, "changed": one.changed, "problem": one.problem} for one in done])
    else:
        show(done, args)
    failed = any(one.problem for one in done)
    return 1 if failed or (args.check and any(one.changed for one in done)) else 0


def path_changes(one: Formatted, looks_only: bool) -> bool:
    return one.changed and not looks_only and one.name != STDIN


def texts(paths: list[str]) -> Iterator[tuple[str, Path | None]]:
    for name in paths:
        path = Path(name)
        if name == STDIN:
            yield name, None
        elif path.is_dir():
            yield from (
                (file.as_posix(), file)
                for file in sorted(path.rglob("*"))
                if file.suffix in (".box", ".scene")
            )
        elif path.exists():
            yield name, path
        else:
            raise WrongUse(f"{name}: there is no such file or folder")


def formatted(name: str, path: Path | None) -> Formatted:
    try:
        text = sys.stdin.read() if path is None else read_text(path)
        old = text if path is None else path.read_bytes().decode("utf-8")
        return Formatted(name, old, format_text(Source(name, text)))
    except TextError as error:
        return Formatted(name, problem=error.show())
    except (OSError, ValueError) as error:
        return Formatted(name, problem=unreadable(name, error).show())


def write(path: Path, text: str) -> None:
    """Whole or not at all: a full disk must not cost anybody a text."""
    mode = path.stat().st_mode
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, mode & 0o7777)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def show(done: list[Formatted], args: Namespace) -> None:
    for one in done:
        if one.problem:
            print(one.problem, file=sys.stderr)
        elif one.name == STDIN and not (args.check or args.diff):
            sys.stdout.write(one.new)
        elif one.changed and args.diff:
            sys.stdout.write(one.diff())
        elif one.changed:
            print(f"{one.name}: {'not in the format' if args.check else 'formatted'}")
