"""longbox cover: which lines of a game's text its scenes, or games at random, have run."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from longbox.kernel import LongboxError, Program

from ..cli import WrongUse
from ..loader import program_paths, texts_of
from ..packs import Pack, closure, find, label_of, read_text
from ..simulate import Plan, Runner, bot_factories
from .common import (
    add_format,
    add_packs,
    add_with,
    example,
    folders_of,
    is_json,
    load_program,
    print_json,
)

if TYPE_CHECKING:
    from longbox.dsl.scenes import Scene
    from longbox.dsl.source import Source

    from ..cover import Recorder

help = "show which lines of a game's text its scenes run"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("game", metavar="GAME", help="a game (longbox games shows them)")
    parser.add_argument(
        "--scenes",
        metavar="PATH",
        nargs="*",
        help="run these .scene files, and those in these folders, instead of all that the game and "
        "its expansions bring along; without a PATH: run no scenes",
    )
    parser.add_argument(
        "--games", metavar="N", type=int, default=0, help="play N games at random too (default: 0)"
    )
    parser.add_argument(
        "--seed", metavar="S", type=int, default=0, help="the same seed gives the same games (default: 0)"
    )
    parser.add_argument(
        "--html", metavar="DIR", help="write coverage.py's report, with the text, to a folder"
    )
    parser.add_argument(
        "--fail-under", metavar="PERCENT", type=float, default=0.0, help="exit with 1 if less was run"
    )
    add_with(parser)
    add_packs(parser)
    add_format(parser)
    example(
        parser,
        "longbox cover uno",
        "longbox cover uno --fail-under 100 --html coverage",
        "longbox cover leduc --scenes --games 100 --seed 7",
    )


def run(args: Namespace) -> int:
    check_numbers(args)
    program = Program(load_program(args, args.game).compiled)  # new: one that was used has laid out its box
    packs = find(folders_of(args)).packs
    files = scene_files(args, packs)
    if not files and not args.games:
        raise WrongUse(f"{args.game}: there is nothing to run; name scenes with --scenes, or say --games N")
    recorder = make_recorder(program, folders_of(args))
    with recorder.recording():
        ran = Ran(packs)
        ran.run_scenes(files)
        ran.play_games(args, program)
    return show(args, recorder, ran)


def check_numbers(args: Namespace) -> None:
    if args.games < 0:
        raise WrongUse("--games: 0 or more")
    if not 0 <= args.fail_under <= 100:
        raise WrongUse("--fail-under: from 0 to 100")


def make_recorder(program: Program, folders: Sequence[Path]) -> Recorder:
    try:
        from ..cover import Recorder
    except ModuleNotFoundError as error:
        if error.name != "coverage":
            raise
        raise LongboxError("longbox cover needs an extra: pip install 'longbox[cover]'") from None
    return Recorder(program, program_paths(program, folders))


# ---------------------------------------------------------------- which scenes
def scene_files(args: Namespace, packs: dict[str, Pack]) -> list[Path]:
    """The files asked for; else those of the game and of the expansions it is played with."""
    if args.scenes is None:
        return [file for id_ in (args.game, *args.extra) for file in packs[id_].scenes]
    return list(dict.fromkeys(file for path in args.scenes for file in scenes_at(Path(path))))


def scenes_at(path: Path) -> list[Path]:
    found = sorted(path.rglob("*.scene")) if path.is_dir() else [path] if path.suffix == ".scene" else []
    if not path.exists():
        raise WrongUse(f"--scenes {path}: there is no such file or folder")
    if not found:
        raise WrongUse(f"--scenes {path}: there is no .scene file")
    return found


# ---------------------------------------------------------------- running
@dataclass
class Ran:
    """What was run, and what of it went wrong. `packs`: those that scenes may use."""

    packs: dict[str, Pack]
    scenes: int = 0
    games: int = 0
    failed: list[str] = field(default_factory=list)

    def run_scenes(self, files: Sequence[Path]) -> None:
        from longbox.dsl.scene_run import SceneFailed, run
        from longbox.dsl.scenes import rules_of

        rules_of.cache_clear()  # a program that was used before has laid out its box, and does not do so again
        for scene in self._scenes(files):
            self.scenes += 1
            try:
                run(scene)
            except SceneFailed as error:
                self.failed.append(error.show())

    def _scenes(self, files: Sequence[Path]) -> Iterator[Scene]:
        from longbox.dsl.scenes import read_scenes
        from longbox.dsl.source import Source

        for file in files:
            try:
                source = Source(label_of(file, file.name, given=False), read_text(file))
            except ValueError as error:
                raise LongboxError(f"{file}: cannot be read: {error}") from error
            yield from read_scenes(source, self._texts)

    def _texts(self, game: str, packs: tuple[str, ...]) -> list[Source]:
        """The texts of a scene's game by the names that programs use, which are those that are measured."""
        from longbox.dsl.source import Source

        texts = texts_of(closure(self.packs, [game, *packs]))
        return [Source(name, text) for name, text in texts.items()]

    def play_games(self, args: Namespace, program: Program) -> None:
        seats = tuple(program.seat_names(None))
        plan = Plan(args.game, args.games, args.seed, ("random",) * len(seats), seats)
        runner = Runner(plan, program, bot_factories())
        for number in range(args.games):
            played, _ = runner.play(number)
            self.games += 1
            if played.error:
                seed = plan.game_seed(number)
                self.failed.append(f"game {number}, seed {seed}, could not be played: {played.error}")


# ---------------------------------------------------------------- telling
def show(args: Namespace, recorder: Recorder, ran: Ran) -> int:
    """Print the report. Gives the exit code."""
    cover = recorder.cover()
    if args.html:
        recorder.write_html(Path(args.html), f"longbox cover {args.game}")
    if is_json(args):
        what = {"game": args.game, "scenes": ran.scenes, "games": ran.games, "failed": ran.failed}
        print_json(what | cover.as_data())
    else:
        print(f"{args.game}: {ran.scenes} scenes, {ran.games} games")
        print("\n".join(cover.table()))
        if args.html:
            print(f"the text is in {Path(args.html, 'index.html')}")
    for failed in ran.failed:
        print(failed, file=sys.stderr)
    is_under = cover.is_under(args.fail_under)
    if is_under:
        wanted = f"{args.fail_under:g}"
        print(f"longbox: {cover.percent} % of the lines were run, less than {wanted} %", file=sys.stderr)
    return 1 if is_under or ran.failed else 0
