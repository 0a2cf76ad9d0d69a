"""What several commands need: their common options, the database of games, printing."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from longbox.dsl.problems import TextError
from longbox.kernel import Event, LongboxError, Program, Thing

from ..cli import WrongUse
from ..histories import Histories, Started, UnknownGame
from ..loader import load_game, program_from_texts
from ..packs import STD
from .story import Reading

DB = "LONGBOX_DB"


# ---------------------------------------------------------------- options
def example(parser: ArgumentParser, *lines: str) -> None:
    """Put examples below a command's help."""
    parser.epilog = "examples:\n" + "\n".join(f"  {line}" for line in lines)


def add_format(parser: ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: for programs")


def add_packs(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--packs",
        metavar="FOLDER",
        action="append",
        default=[],
        help="look for packs in this folder too (may be repeated)",
    )


def add_with(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--with",
        dest="extra",
        metavar="PACK",
        action="append",
        default=[],
        help="play with this expansion (may be repeated)",
    )


def add_db(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--db",
        metavar="FILE",
        help=f"the file that keeps the games (default: ${DB}, or one in your data folder)",
    )


def add_seats(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--seats", metavar="N|NAMES", help="how many play, or their names: --seats 3, --seats Ann,Bob"
    )
    parser.add_argument(
        "--set",
        dest="settings",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a setting of the game (may be repeated)",
    )


# ---------------------------------------------------------------- reading them
@contextmanager
def as_wrong_use() -> Iterator[None]:
    """What goes wrong in here is the fault of what was typed, unless a text is wrong."""
    try:
        yield
    except (WrongUse, TextError):
        raise
    except LongboxError as error:
        raise WrongUse(str(error)) from error


def folders_of(args: Namespace) -> list[Path]:
    for folder in args.packs:
        if not Path(folder).exists():
            raise WrongUse(f"--packs {folder}: there is no such folder")
    return [Path(folder) for folder in args.packs]


def read_seats(text: str | None) -> int | list[str] | None:
    """A number of seats, or their names."""
    if text is None:
        return None
    if text.strip().isdecimal():
        return int(text)
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise WrongUse(f"--seats {text!r}: a name is empty")
    return names


def read_settings(pairs: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise WrongUse(f"--set {pair!r}: write NAME=VALUE")
        found[name.strip()] = value.strip()
    return found


def load_program(args: Namespace, game: str) -> Program:
    with as_wrong_use():
        return load_game(game, args.extra, folders_of(args))


def db_file(args: Namespace) -> str:
    """Where the games are kept: as said, or as the environment says, or in the user's data folder."""
    if args.db:
        return str(args.db)
    if named := os.environ.get(DB):
        return named
    return str(Path(platformdirs.user_data_dir("longbox", appauthor=False)) / "games.sqlite")


def seat_called(name: str | None, names: Sequence[str], seats: Sequence[Thing]) -> Thing | None:
    """A seat by its name or number; nobody (the referee) if none is named."""
    if name is None:
        return None
    for at, seat in enumerate(seats):
        if name.lower() == names[seat].lower() or name == str(at + 1):
            return seat
    raise WrongUse(f"there is no seat {name!r}; the seats are: {', '.join(names[seat] for seat in seats)}")


# ---------------------------------------------------------------- stored games
@contextmanager
def open_games(args: Namespace, new: bool = False) -> Iterator[Histories]:
    """The stored games. Only `new` ones make a database; a name that is not in it is the user's mistake."""
    db = db_file(args)
    if not new and "://" not in db and not Path(db).exists():
        raise WrongUse(
            f"{db}: no game is stored there; start one with longbox play, or name another file with --db"
        )
    with Histories(db) as histories:
        try:
            yield histories
        except UnknownGame as error:
            raise WrongUse(str(error).replace("list them", "longbox list")) from None


@dataclass
class Stored:
    """A stored game, read without its rules."""

    id: str
    started: Started
    events: list[Event]

    @classmethod
    def read(cls, histories: Histories, game_id: str) -> Stored:
        return cls(game_id, histories.started(game_id), histories.events(game_id))

    def reading(self, args: Namespace | None = None) -> Reading:
        """What its events speak of. With `args` also the texts of rules that are at hand and unchanged."""
        tables = self.started.reading
        return Reading(tables, tables["files"], {} if args is None else self._texts(args))

    def _texts(self, args: Namespace) -> dict[str, str]:
        if self.started.texts is not None:
            return self.started.texts
        try:
            program = program_of(self.started, folders_of(args))
        except (LongboxError, TextError):
            return {}
        now = {pack["id"]: pack for pack in program.tables["packs"]}
        same = {
            file
            for pack in self.started.packs
            for file in pack["files"]
            if pack["id"] in now and now[pack["id"]]["hash"] == pack["hash"]
        }
        texts: dict[str, str] = program.tables["texts"]
        return {file: text for file, text in texts.items() if file in same}

    def rules(self, args: Namespace) -> Program | None:
        """Its rules, if they are stored with it, or are at hand and have not changed since."""
        try:
            if self.started.texts is not None:
                return program_from_texts(self.started.texts)
            program = program_of(self.started, folders_of(args))
        except (LongboxError, TextError):
            return None
        same = {pack["id"]: pack["hash"] for pack in program.tables["packs"]} == {
            pack["id"]: pack["hash"] for pack in self.started.packs
        }
        return program if same else None

    def number(self, text: str) -> int:
        """The number of an event, as it was typed."""
        return event_number(text, len(self.events))


def event_number(text: str, count: int) -> int:
    if not text.isdecimal() or int(text) >= count:
        raise WrongUse(f"there is no event {text!r}; the events are 0 to {count - 1}")
    return int(text)


def program_of(started: Started, folders: Sequence[Path]) -> Program:
    """The packs at hand that a stored game was played with, whether or not their text has changed."""
    extra = [pack["id"] for pack in started.packs if pack["id"] not in (STD, started.game)]
    return load_game(started.game, extra, folders)


def rules_for(histories: Histories, game_id: str, args: Namespace) -> Program | None:
    """The rules to go on with; nothing if the history holds its own."""
    started = histories.started(game_id)
    if started.texts is not None:
        return None
    try:
        return program_of(started, folders_of(args))
    except LongboxError as error:
        raise WrongUse(
            f"{game_id}: its rules are not here: {error}; --packs names a folder to look in"
        ) from error


# ---------------------------------------------------------------- printing
def print_json(data: Any) -> None:
    json.dump(data, sys.stdout, ensure_ascii=False, indent=1, default=list)
    print()


def is_json(args: Namespace) -> bool:
    return bool(args.format == "json")
