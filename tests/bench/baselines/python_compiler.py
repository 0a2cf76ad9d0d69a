"""CPython on the hand-written games: what it costs to make files of about that size ready to run.

A yardstick, not a peer: its parser is written in C, and it checks no names and no types. A unit is one file.
"""

import ast
import marshal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..registry import Contender, Slice, timed

T = TypeVar("T")

HERE = Path(__file__).parent
FILES = ("leduc.py", "tictactoe.py", "uno.py")


def _texts() -> list[str]:
    return [(HERE / name).read_text(encoding="utf-8") for name in FILES]


def _on_each(files: Sequence[T], work_on: Callable[[T], object]) -> Slice:
    def work() -> int:
        for file in files:
            work_on(file)
        return len(files)

    return timed(work)


def parse() -> Slice:
    """Text to syntax tree."""
    return _on_each(_texts(), ast.parse)


def compile_cold() -> Slice:
    """Text to bytecode, nothing kept from before."""
    return _on_each(_texts(), lambda text: compile(text, "game.py", "exec"))


def from_cache() -> Slice:
    """Bytecode as a .pyc file keeps it."""
    return _on_each([marshal.dumps(compile(text, "game.py", "exec")) for text in _texts()], marshal.loads)


CONTENDERS = (
    Contender("compile", "Python ast.parse()", parse),
    Contender("compile", "Python compile()", compile_cold),
    Contender("compile", "Python bytecode from a cache", from_cache),
)
