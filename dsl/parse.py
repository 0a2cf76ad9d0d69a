"""Text to nodes. Several problems in one file are all found.

Each top-level declaration is parsed on its own. When one has an error, the bad line and the block below it
are blanked (so that line numbers stay true) and the declaration is tried again, a bounded number of times.
"""
from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib import resources
from typing import Any

from lark import Lark, Token, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from .indenter import BadIndent, BlockIndenter
from .nodes import Clause, Decl, Group, Item, Word, build
from .problems import Problem
from .source import Source, Span, span_of

SIZE_MAX = 2_000_000  # characters in one file
NESTING_MAX = 40  # levels of indentation or brackets
NUMBER_MAX = 1_000_000_000
TRIES_MAX = 25  # errors reported in one declaration

_TOP = re.compile(r"(?m)^(?=[^\s#])")
_FIRST_WORD = re.compile(r"[A-Za-z_][\w-]*")

# What authors call the terminals that Lark names by itself.
_READABLE = {
    "_NL": "the end of the line", "_INDENT": "an indented block", "_DEDENT": "the end of the block",
    "WORD": "a word", "NUMBER": "a number", "STRING": 'a "text"', "COLON": "':'", "COMMA": "','",
    "LPAR": "'('", "RPAR": "')'", "LSQB": "'['", "RSQB": "']'", "OP": "an operator", "EQ": "'='",
    "POSS": "a possessive", "ROW": "a row of the map, starting with '|'", "$END": "the end of the file",
    "RULE_ID": "a rule id", "SLASH": "'/'", "QUESTION": "'?'", "SECTION": "a section", "TIMING": "before, after",
    "SCOPE": "phase, step, turn, effect", "__ANON_0": "'->'",
}


def grammar_text() -> str:
    """The grammar, as shipped."""
    return resources.files("longbox.grammar").joinpath("longbox.lark").read_text("utf-8")


@cache
def parser(start: str = "start") -> Lark:
    """The parser; safe to share between threads, since the indenter keeps no state."""
    return Lark(
        grammar_text(), parser="lalr", lexer="contextual", start=start, maybe_placeholders=True,
        propagate_positions=True, postlex=BlockIndenter(),  # type: ignore[arg-type]  # duck-typed by design
    )


def parse(source: Source) -> tuple[list[Decl], list[Problem]]:
    """Every declaration that can be read, and every problem found on the way."""
    problems = _check_characters(source)
    if problems:
        return [], problems
    decls: list[Decl] = []
    text = source.text
    starts = [m.start() for m in _TOP.finditer(text)]
    lead = text[: starts[0]] if starts else text
    if lead.strip() and not all(line.strip().startswith("#") or not line.strip() for line in lead.split("\n")):
        at = next(i for i, line in enumerate(lead.split("\n"), 1) if line.strip() and not line.strip().startswith("#"))
        problems.append(Problem("LB0102", Span(source.name, at, 1, at, 2), "the first declaration of a file is not indented",
                                "start it in the first column"))
    for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
        found, errors = _parse_chunk(source, text.count("\n", 0, start), text[start:end])
        decls += found
        problems += errors
    for decl in decls:
        problems += _check_sizes(decl)
    return decls, problems


def parse_clause(name: str, text: str) -> Clause:
    """Read one clause on its own, for tools and tests."""
    tree = parser("clause").parse(text)
    clause = build(name, tree)
    assert isinstance(clause, Clause)
    return clause


# ---------------------------------------------------------------- one declaration
def _parse_chunk(source: Source, base: int, chunk: str) -> tuple[list[Decl], list[Problem]]:
    lines, problems, damaged = chunk.split("\n"), [], False
    for _ in range(TRIES_MAX):
        try:
            tree = parser().parse("\n" * base + "\n".join(lines) + "\n")
            return list(build(source.name, tree).decls), problems
        except UnexpectedInput as error:
            at = min(max(error.line - base - 1, 0), len(lines) - 1)
            headless = isinstance(error, UnexpectedToken) and error.accepts == {"_INDENT"}
            if headless:  # a header whose block is missing, or was blanked by us: the header is to blame
                at = _last_line_before(lines, at)
            if not (headless and damaged):
                problems.append(_problem(source, error, base + at + 1))
            damaged = True
            if at <= 0:
                return [], problems
            _blank(lines, at)
    return [], problems


def _last_line_before(lines: list[str], at: int) -> int:
    at -= 1
    while at > 0 and (not lines[at].strip() or lines[at].strip().startswith("#")):
        at -= 1
    return max(at, 0)


def _blank(lines: list[str], at: int) -> None:
    depth, lines[at] = _indent(lines[at]), ""
    for later in range(at + 1, len(lines)):
        if lines[later].strip() and _indent(lines[later]) <= depth:
            break
        lines[later] = ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


# ---------------------------------------------------------------- saying what went wrong
def _problem(source: Source, error: UnexpectedInput, line: int) -> Problem:
    text = source.line(line)
    here = Span(source.name, line, _indent(text) + 1, line, len(text) + 1)
    if isinstance(error, BadIndent):
        if error.tab:
            return Problem("LB0103", here, "a tab in the margin", "indent with spaces, four to a level")
        return Problem("LB0102", here, str(error), "put it in line with the lines of its block")
    if isinstance(error, UnexpectedCharacters):
        return _character_problem(source, error)
    assert isinstance(error, UnexpectedToken)
    return _token_problem(source, error, here)


def _character_problem(source: Source, error: UnexpectedCharacters) -> Problem:
    text = source.line(error.line)
    char = text[error.column - 1: error.column]
    span = Span(source.name, error.line, error.column, error.line, error.column + 1)
    if char == '"':
        return Problem("LB0104", span, "this text has no closing quote on its line", 'write "text" on one line')
    return Problem("LB0105", span, f"{char!r} is no part of the language here", _expected(error.allowed or set()))


def _token_problem(source: Source, error: UnexpectedToken, here: Span) -> Problem:
    token: Token = error.token
    accepts = set(error.accepts or error.expected)
    if accepts == {"_INDENT"}:
        return Problem("LB0107", here, "this line opens a block, but nothing is indented below it",
                       "indent what belongs to it by four spaces")
    if token.type == "_INDENT":
        return Problem("LB0102", here, "this line is indented, but the line above opens no block",
                       "end the line above with ':', or take the indentation away")
    span = span_of(source.name, token)
    if token.type in ("_NL", "_DEDENT", "$END"):
        span = Span(source.name, here.line, here.end_column, here.line, here.end_column + 1)
        return Problem("LB0101", span, "this line is not complete", _expected(accepts))
    return Problem("LB0101", span, f"{str(token)!r} cannot stand here", _expected(accepts))


def _expected(names: set[str]) -> str:
    shown = sorted({_READABLE.get(n) or f"'{n.lower()}'" for n in names if not n.startswith("__")})
    if not shown:
        return ""
    return "here may stand: " + ", ".join(shown[:9]) + (" ..." if len(shown) > 9 else "")


def _check_characters(source: Source) -> list[Problem]:
    """Look-alike letters and sizes, before anything else: they would only confuse later messages."""
    if len(source.text) > SIZE_MAX:
        span = Span(source.name, 1, 1, 1, 2)
        return [Problem("LB0109", span, f"this file has more than {SIZE_MAX} characters", "split it")]
    problems = []
    if source.text.isascii():
        return problems
    for number, line in enumerate(source.lines(), 1):
        if line.isascii():
            continue
        code = _without_texts(line)
        for column, char in enumerate(code, 1):
            if not char.isascii():
                problems.append(_look_alike(Span(source.name, number, column, number, column + 1), char))
    return problems


def _without_texts(line: str) -> str:
    """The line with comments and quoted texts blanked: other letters are welcome there."""
    line = re.sub(r'"[^"]*"', lambda m: " " * len(m[0]), line)
    row = line.lstrip().startswith("|")
    return "" if row else re.sub(r"#.*", lambda m: " " * len(m[0]), line)


def _look_alike(span: Span, char: str) -> Problem:
    name = unicodedata.name(char, f"U+{ord(char):04X}").lower()
    plain = unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode()
    if char in "\u201c\u201d\u201e":
        return Problem("LB0105", span, f"{char} is a typographic quote", 'write "')
    if char in "\u2018\u2019":
        return Problem("LB0105", span, f"{char} is a typographic apostrophe", "write '")
    help_ = f"write {plain!r}" if plain else "names are written with the letters a to z"
    return Problem("LB0106", span, f"{char!r} ({name}) only looks like a letter of the language", help_)


def _check_sizes(node: Any, depth: int = 0) -> list[Problem]:
    """Numbers and nesting stay within bounds, so that no later pass can be driven to its knees."""
    if depth > NESTING_MAX * 3:
        return [Problem("LB0109", node.span, "this is nested too deeply", "name a part of it and use the name")]
    problems: list[Problem] = []
    for name in getattr(node, "__dataclass_fields__", ()):
        value = getattr(node, name)
        for child in value if isinstance(value, tuple) else (value,):
            if isinstance(child, Word):
                if child.type == "NUMBER" and int(child.value) > NUMBER_MAX:
                    problems.append(Problem("LB0108", child.span, f"{child.value} is too large",
                                            f"numbers go up to {NUMBER_MAX}"))
            elif hasattr(child, "__dataclass_fields__") and not isinstance(child, Span):
                problems += _check_sizes(child, depth + 1)
    return problems


__all__ = ["Clause", "Group", "Item", "grammar_text", "parse", "parse_clause", "parser"]
