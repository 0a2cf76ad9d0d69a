"""Broken texts kept as language cases: each line that earns a problem says which, in a comment.

    deal 2 damage to heroe      #! LB0202 `heroe` unknown word

The code, the text that is underlined, and a part of the message. Where the comment cannot stand on the line
(it would be part of an open quote), it stands below, with a `^` for each line up: `#!^ LB0104 ...`.

A case is a .box or .scene file in tests/language/broken, or a folder of packs in tests/language/broken_packs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from longbox.dsl.compiler import compile_packs, read_packs
from longbox.dsl.problems import Problem, TextError
from longbox.dsl.scenes import read_scenes
from longbox.dsl.source import Source
from longbox.kernel import Game, OverBudget, Program
from longbox.plugins.loader import check_paths

ROOT = Path(__file__).resolve().parent.parent
BROKEN, PACKS = ROOT / "tests/language/broken", ROOT / "tests/language/broken_packs"
CASES = [*sorted(BROKEN.glob("*.*")), *sorted(PACKS.iterdir())]
MARK = re.compile(r"#!(\^*) (LB\d{4}|OverBudget) `(.*?)` (.+?)(?= +#!|$)")


@dataclass(frozen=True)
class Found:
    """A problem, or what the text ran into when it was played: where, what, and what is underlined."""

    file: str
    line: int
    code: str
    what: str
    under: str
    shown: str


@dataclass(frozen=True)
class Mark:
    """What a comment in a broken text expects."""

    file: str
    line: int
    code: str
    under: str
    part: str

    def fits(self, found: Found) -> bool:
        place = (found.file, found.line, found.under) == (self.file, self.line, self.under)
        return place and found.code == self.code and self.part in found.what


def name_of(case: Path) -> str:
    return case.relative_to(ROOT / "tests/language").as_posix()


def files_of(case: Path) -> list[Path]:
    return sorted(case.rglob("*.box")) if case.is_dir() else [case]


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def marks_in(case: Path) -> Iterator[Mark]:
    for path in files_of(case):
        for number, line in enumerate(text_of(path).split("\n"), 1):
            for up, code, under, part in MARK.findall(line):
                yield Mark(name_of(path), number - len(up), code, under, part)


def found_in(case: Path) -> list[Found]:
    """Every problem of a case; of one without any, what happens when it is played."""
    if case.is_dir():
        return [_found(p, files_of(case)) for p in check_paths([case]).problems]
    source = Source(name_of(case), text_of(case))
    if case.suffix == ".scene":
        return [_found(p, [case]) for p in _scene_problems(source)]
    checked = read_packs([source])
    found = [_found(p, [case]) for p in checked.problems]
    if checked.errors or (found and not checked.header["game"]):
        return found
    try:
        program = Program(compile_packs([source]))
    except TextError as error:
        return [_found(p, [case]) for p in error.problems]
    return [*found, *_played(program)]


def _scene_problems(source: Source) -> list[Problem]:
    game = ROOT / "expansions/tic_tac_toe/tic_tac_toe.box"
    try:
        read_scenes(source, lambda *_: [Source(game.name, game.read_text("utf-8"))])
    except TextError as error:
        return error.problems
    return []


def _played(program: Program) -> list[Found]:
    try:
        Game(program, seed=1, start=False).play(lambda question: question.keys[0])
    except OverBudget as error:
        return [Found(error.file, error.line, "OverBudget", error.what, "", str(error))]
    return []


def _found(problem: Problem, files: list[Path]) -> Found:
    """A problem with what its carets underline, and its full text, without anything of this machine."""
    path = next((f for f in files if problem.span.file.endswith(name_of(f))), files[0])
    shown = problem.show(Source(problem.span.file, text_of(path))).split("\n")
    under = ""
    if len(shown) > 2 and set(shown[2].strip()) == {"^"}:
        start = len(shown[2]) - len(shown[2].lstrip())
        under = shown[1][start : len(shown[2])].rstrip()
    shown = [MARK.sub("", line).rstrip() for line in shown]
    text = re.sub(r"std\.box:\d+", "std.box:N", "\n".join(shown).replace(f"{ROOT / 'tests/language'}/", ""))
    return Found(name_of(path), problem.span.line, problem.code, problem.what, under, text)
