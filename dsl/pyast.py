"""Building Python's syntax tree: the closed list of nodes that card text can become.

No string of an author ever becomes Python source: names are made here from numbers and safe letters, texts
become constants. Every node carries the line of the text it came from.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any

Node = ast.expr


def name(identifier: str) -> ast.Name:
    return ast.Name(identifier, ast.Load())


def const(value: Any) -> ast.Constant:
    return ast.Constant(value)


def attr(owner: Node, field: str) -> ast.Attribute:
    return ast.Attribute(owner, field, ast.Load())


def sub(owner: Node, index: Node) -> ast.Subscript:
    return ast.Subscript(owner, index, ast.Load())


def call(function: str | Node, *args: Node) -> ast.Call:
    return ast.Call(name(function) if isinstance(function, str) else function, list(args), [])


def method(owner: Node, field: str, *args: Node) -> ast.Call:
    return ast.Call(attr(owner, field), list(args), [])


def tuple_of(items: Iterable[Node]) -> ast.Tuple:
    return ast.Tuple(list(items), ast.Load())


def list_of(items: Iterable[Node]) -> ast.List:
    return ast.List(list(items), ast.Load())


def comprehension(item: Node, variable: str, among: Node, tests: list[Node]) -> ast.ListComp:
    loop = ast.comprehension(ast.Name(variable, ast.Store()), among, tests, 0)
    return ast.ListComp(item, [loop])


def compare(left: Node, op: ast.cmpop, right: Node) -> ast.Compare:
    return ast.Compare(left, [op], [right])


def negate(test: Node) -> Node:
    return ast.UnaryOp(ast.Not(), test)


def bare(test: Node) -> Node:
    """A condition that is only tested need not be made yes or no first."""
    while (
        isinstance(test, ast.UnaryOp)
        and isinstance(test.op, ast.Not)
        and isinstance(test.operand, ast.UnaryOp)
        and isinstance(test.operand.op, ast.Not)
    ):
        test = test.operand.operand
    return test


def both(tests: list[Node]) -> Node:
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def conjuncts(test: Node) -> list[Node]:
    """The parts of a condition that must all hold, in order."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [part for value in test.values for part in conjuncts(value)]
    return [test]


def either(tests: list[Node]) -> Node:
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)


def assign(variable: str | ast.expr, value: Node) -> ast.Assign:
    target = ast.Name(variable, ast.Store()) if isinstance(variable, str) else variable
    return ast.Assign([target], value)


def store(node: ast.Subscript | ast.Attribute) -> ast.Subscript | ast.Attribute:
    node.ctx = ast.Store()
    return node


def expression(value: Node) -> ast.Expr:
    return ast.Expr(value)


def function(identifier: str, params: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    args = ast.arguments([], [ast.arg(p) for p in params], None, [], [], None, [])
    return ast.FunctionDef(identifier, args, body or [ast.Pass()], [], None, None)


def lambda_of(params: list[str], body: Node) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [ast.arg(p) for p in params], None, [], [], None, []), body)


def at_line(node: Any, line: int) -> Any:
    """Give a node, and all below it that have none yet, a line of the text."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.expr | ast.stmt | ast.arg | ast.excepthandler) and not hasattr(
            inner, "lineno"
        ):
            inner.lineno = inner.end_lineno = line
            inner.col_offset = inner.end_col_offset = 0
    return node


def hint(text: str) -> str:
    """A few safe letters of a phrase, so that profiles and tracebacks can be read."""
    return "_".join(re.findall(r"[a-z]+", re.sub(r"\([^)]*\)", "", text.lower())))[:40]
