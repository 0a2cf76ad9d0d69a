"""CPython on the hand-written UNO: what it costs to make a file of about that size ready to run.

A yardstick, not a peer: its parser is written in C, and it checks no names and no types.
"""

import ast
import marshal
from pathlib import Path

from ..registry import Contender, Slice, timed_calls

SOURCE = Path(__file__).with_name("uno.py")


def parse() -> Slice:
    """Text to syntax tree."""
    text = SOURCE.read_text(encoding="utf-8")
    return timed_calls(lambda: ast.parse(text), 1)


def compile_cold() -> Slice:
    """Text to bytecode, nothing kept from before."""
    text = SOURCE.read_text(encoding="utf-8")
    return timed_calls(lambda: compile(text, "uno.py", "exec"), 1)


def from_cache() -> Slice:
    """Bytecode as a .pyc file keeps it."""
    stored = marshal.dumps(compile(SOURCE.read_text(encoding="utf-8"), "uno.py", "exec"))
    return timed_calls(lambda: marshal.loads(stored), 10)


CONTENDERS = (
    Contender("compile", "Python ast.parse()", parse),
    Contender("compile", "Python compile()", compile_cold),
    Contender("compile", "Python bytecode from a cache", from_cache),
)
