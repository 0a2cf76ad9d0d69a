"""Card text is data: it can reach neither Python, nor files, nor the network. These tests try."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from playing import GAMES, game_sources, program, program_of

from longbox.dsl.compiler import compile_packs, emitter_of, read_packs
from longbox.dsl.problems import TextError
from longbox.dsl.source import Source
from longbox.kernel import Game
from longbox.kernel.program import RUNTIME

FRAME = """pack trick "Trick"
game "Trick"
    seats 2
    each seat is a player
kind player
    counter score
    has note: text
round:
    turn of the player where order of it = 1:
        ask you:
{answers}
"""

# Every kind of Python node that text may become. Nothing else may ever be emitted.
ALLOWED = (
    ast.Module,
    ast.FunctionDef,
    ast.arguments,
    ast.arg,
    ast.Return,
    ast.Assign,
    ast.Expr,
    ast.If,
    ast.For,
    ast.While,
    ast.Break,
    ast.Pass,
    ast.Raise,
    ast.Try,
    ast.ExceptHandler,
    ast.Name,
    ast.Constant,
    ast.Attribute,
    ast.Subscript,
    ast.Call,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.ListComp,
    ast.comprehension,
    ast.Compare,
    ast.BoolOp,
    ast.UnaryOp,
    ast.BinOp,
    ast.IfExp,
    ast.Lambda,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.expr_context,
    ast.boolop,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
)


def _modules(sources: list[Source]) -> list[ast.Module]:
    emitter = emitter_of(read_packs(sources))
    emitter.emit()
    return [ast.Module(list(functions), []) for functions in emitter.functions.values()]


@pytest.mark.parametrize("game", GAMES)
def test_only_listed_nodes_and_names_are_emitted(game: str) -> None:
    attributes = {
        "append",
        "around",
        "setdefault",
        "extend",
        "scope",
        "log",
        "of",
        "items",
        "place",
        "kind",
        "name",
        "key",
        "owner",
        "face",
        "facedown",
        "design",
        "get",
        "open",
        "in_play",
        "frame",
    }
    for module in _modules(game_sources(game)):
        for node in ast.walk(module):
            assert isinstance(node, ALLOWED), ast.dump(node)
            if isinstance(node, ast.Attribute):
                assert node.attr in attributes or node.attr[:2] in ("f_", "g_", "z_"), node.attr
                assert not node.attr.startswith("__")
            if isinstance(node, ast.Name):
                assert not node.id.startswith("__"), node.id


def test_the_namespace_has_no_builtins_and_no_modules() -> None:
    functions = program("uno").functions
    assert functions["__builtins__"] == {}
    modules = [name for name, value in functions.items() if type(value).__name__ == "module"]
    assert modules == []
    for name in ("open", "eval", "exec", "getattr", "__import__", "compile", "globals", "input", "print"):
        assert name not in functions
    dangerous = {id(f) for f in (open, eval, exec, getattr, setattr, __import__, compile, globals)}
    assert not [name for name, value in RUNTIME.items() if id(value) in dangerous]


@pytest.mark.parametrize(
    "name", ["__import__", "__builtins__", "open", "eval", "exec", "self.__class__", "s.program", "k_program"]
)
def test_names_of_python_mean_nothing_in_text(name: str) -> None:
    text = FRAME.format(
        answers=f'            "go":\n                let x = {name}\n                put x score on you'
    )
    with pytest.raises(TextError):
        compile_packs([Source("t.box", text)])


EVIL = [
    "__import__('os').system('id')",
    "{0.__class__.__mro__}",
    "%s%n",
    "\\x00",
    "'; import os; '",
    "{you.__class__}",
    "$(id)",
    "../../etc/passwd",
    "\\u202e",
    "None",
    "{}",
]


@pytest.mark.parametrize("evil", [e for e in EVIL if "{" not in e])
def test_quoted_text_stays_text(evil: str) -> None:
    answers = f'            "{evil}":\n                now your note is "{evil}"\n                draw game'
    game = Game(program_of(FRAME.format(answers=answers)), seed=1)
    assert game.question is not None and game.question.keys == [evil]
    game.answer(evil)
    state: Any = game.state
    assert state.f_note[game.seats[0]] == evil


@pytest.mark.parametrize("evil", [e for e in EVIL if "{" in e])
def test_braces_hold_expressions_of_the_language_or_are_refused(evil: str) -> None:
    text = FRAME.format(answers="            @:\n                draw game").replace("@", f'"{evil}"')
    with pytest.raises(TextError) as caught:
        compile_packs([Source("t.box", text)])
    assert caught.value.problems[0].code in ("LB0203", "LB0202")


def test_a_name_of_a_field_cannot_break_out() -> None:
    text = FRAME.format(answers='            "go":\n                draw game').replace(
        "has note: text", "has __class__: text\n    has a-b_c d: number = 1"
    )
    made = program_of(text)
    assert Game(made, seed=1).question is not None
    assert all(slot.isidentifier() and not slot.startswith("__") for slot in made._state_class.FIELDS)
