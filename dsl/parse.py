"""Text to nodes. Several problems in one file are all found.

Before anything is parsed, a look at the characters: letters that only look alike, numbers out of bounds,
brackets and blocks nested too deeply. Each becomes a problem, and something harmless of the same width takes
its place, so that lines and columns stay true and one mistake hides no other.

Then each top-level declaration is parsed on its own. When one has an error, the bad line and the block below
it are blanked and the declaration is tried again, a bounded number of times.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from .indenter import BadIndent, BlockIndenter
from .nodes import Clause, Decl, Group, Item, Node, build
from .problems import Problem, sorted_problems
from .source import Source, Span, span_of

SIZE_MAX = 2_000_000  # characters in one file
NESTING_MAX = 16  # levels of indentation, and of brackets
CLAUSE_MAX = 60  # words between two fixed words
NUMBER_MAX = 1_000_000_000
TRIES_MAX = 25  # errors reported in one declaration
PROBLEMS_MAX = 100  # errors reported in one file

_TOP = re.compile(r"(?m)^(?=[^\s#])")
_DIGITS = re.compile(r"(?<![A-Za-z0-9_])[0-9]{10,}")
_ELSE = re.compile(r" *else\b")
_NO_EFFECT = re.compile(r" *(until|passive|modifier)\b")  # their blocks hold no statements,
_NO_LINE = re.compile(r"((primitive|quiet) +)?(query|relation|adjective)\b")  # nor do the lines of these

# What authors call the terminals that stand for no fixed word.
_READABLE = {
    "_NL": "the end of the line",
    "_INDENT": "an indented block",
    "_DEDENT": "the end of the block",
    "$END": "the end of the file",
    "WORD": "a word",
    "NUMBER": "a number",
    "STRING": 'a "text"',
    "VERSION": "a version such as 1.0",
    "RULE_ID": "a rule id",
    "ROW": "a row of the map, starting with '|'",
    "OP": "an operator",
    "POSS": "a possessive",
    "SECTION": "setup, round, scoring",
    "FILE_BLOCK": "in this file",
    "TIMING": "before, after, instead of",
    "SCOPE": "phase, step, turn, effect",
    "VOICE": "you are, asks, starts in, copies are",
    "VERB_MARK": "quiet",
    "TIMES": "'times'",
    "ON_PASS": "until passed, without passing",
    "FOR_WORDS": "for each WORDS",
    "_IS_OFFERED": "is offered",
    "_IS_NOT_ASKED": "is not asked",
}
_UNREAD = re.compile(r'"[^"]*"?|#.*')  # other letters are welcome in quoted texts and comments

# Letters of other alphabets that look like ours, and ours.
_TWINS = dict(
    zip(
        "асеорхуіјѕԁɡһӏвкмнтАВСЕНІЈКМОРЅТХУαικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıſ",
        "aceopxyijsdghlbkmhtABCEHIJKMOPSTXYaiknoptuxABEZHIKMNOPTYXis",
        strict=True,
    )
)
_SIGNS = {
    "\u201c": '"',
    "\u201d": '"',
    "\u201e": '"',
    "\u00ab": '"',
    "\u00bb": '"',
    "\u2018": "'",
    "\u2019": "'",
    "\u2013": "-",
    "\u2014": "-",
    "\u2212": "-",
    "\u00d7": "x",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "!=",
    "\u2192": "->",
}

_INSTEAD = {
    ";": "write the next statement on a line of its own",
    "&": "write 'and'",
    "%": "write: remainder of A by B",
    "!": "write 'not', or take it away",
    "{": "braces stand in a quoted text",
    "}": "braces stand in a quoted text",
}


def grammar_text() -> str:
    """The grammar, as shipped."""
    return resources.files("longbox.grammar").joinpath("longbox.lark").read_text("utf-8")


@cache
def parser(start: str = "start") -> Lark:
    """The parser; safe to share between threads, since the indenter keeps no state."""
    indenter: Any = BlockIndenter()  # duck-typed by design: Lark's own keeps state
    return Lark(
        grammar_text(),
        parser="lalr",
        lexer="contextual",
        start=start,
        maybe_placeholders=True,
        propagate_positions=True,
        postlex=indenter,
    )


def parse(source: Source) -> tuple[list[Decl], list[Problem]]:
    """Every declaration that can be read, and every problem found on the way."""
    if len(source.text) > SIZE_MAX:
        span = Span(source.name, 1, 1, 1, 2)
        return [], [Problem("LB0109", span, f"this file has more than {SIZE_MAX} characters", "split it")]
    lines = source.text.removeprefix("\ufeff").split("\n")
    problems = [
        *_clean_letters(source.name, lines),
        *_clean_numbers(source.name, lines),
        *_clean_nesting(source.name, lines),
    ]
    clean = Source(source.name, "\n".join(lines))
    decls: list[Decl] = []
    for base, chunk in _chunks(clean, problems):
        found, errors = _Chunk(clean, base, chunk).parse()
        decls += found
        problems += errors
        if len(problems) >= PROBLEMS_MAX:
            break
    return [_cut(decl, problems) for decl in decls], sorted_problems(problems)


def parse_clause(name: str, text: str) -> Clause:
    """Read one clause on its own, for tools and tests."""
    tree = parser("clause").parse(text)
    clause = build(name, tree)
    assert isinstance(clause, Clause)
    return clause


def _chunks(source: Source, problems: list[Problem]) -> Iterator[tuple[int, list[str]]]:
    """Each top-level declaration: the number of lines above it, and its own."""
    text = source.text
    starts = [m.start() for m in _TOP.finditer(text)]
    lead = text[: starts[0]] if starts else text
    for number, line in enumerate(lead.split("\n"), 1):
        if line.strip() and not line.strip().startswith("#"):
            span = Span(source.name, number, 1, number, len(line) - len(line.lstrip()) + 1)
            problems.append(
                Problem(
                    "LB0102",
                    span,
                    "the first declaration of a file is not indented",
                    "start it in the first column",
                )
            )
            break
    base = lead.count("\n")
    for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
        chunk = text[start:end].split("\n")
        yield base, chunk
        base += len(chunk) - 1


# ---------------------------------------------------------------- one declaration
class _Chunk:
    """One top-level declaration on its way from text to nodes. `base` lines stand above it."""

    def __init__(self, source: Source, base: int, lines: list[str]) -> None:
        self.source, self.base, self.written, self.lines = source, base, lines, list(lines)
        self.problems: list[Problem] = []

    def parse(self) -> tuple[list[Decl], list[Problem]]:
        for _ in range(TRIES_MAX):
            try:
                return list(build(self.source.name, self._tree()).decls), self.problems
            except UnexpectedInput as error:
                at, headless = self._blame(error)
            if headless and self._filled(at):
                continue
            if at == 0:
                break
            self._blank(at)
        return [], self.problems

    def _blank(self, at: int) -> None:
        """Blank a line and its block, and the `else` that goes with it."""
        while True:
            width, self.lines[at] = _indent(self.lines[at]), ""
            _blank(self.lines, at + 1, width)
            at = next((i for i in range(at, len(self.lines)) if _code(self.lines[i]).strip()), 0)
            if not at or _indent(self.lines[at]) != width or not _ELSE.match(self.lines[at]):
                return

    def _tree(self) -> Tree[Token]:
        driven: Any = parser().parse_interactive("\n".join(self.lines) + "\n")
        driven.lexer_thread.state.line_ctr.line += self.base  # so that every position is true
        tree: Tree[Token] = driven.resume_parse()
        return tree

    def _blame(self, error: UnexpectedInput) -> tuple[int, bool]:
        """Note the problem. Which line of this declaration is at fault, and does it only lack a block?"""
        if (opened := self._open_bracket()) is not None:
            at, column = opened
            line = self.base + at + 1
            self.problems.append(
                Problem(
                    "LB0101",
                    Span(self.source.name, line, column, line, column + 1),
                    "this bracket is not closed",
                    "close it in the same declaration",
                )
            )
            return at, False
        at = self._line_of(error)
        headless = isinstance(error, UnexpectedToken) and error.accepts == {"_INDENT"}
        if headless:
            at = _last_line_before(self.lines, at)
        if not (headless and self._had_block(at)):  # else it was blanked by us
            self.problems.append(_problem(self.source, error, self.base + at + 1))
        return at, headless

    def _line_of(self, error: UnexpectedInput) -> int:
        return min(max(error.line - self.base - 1, 0), len(self.lines) - 1)

    def _had_block(self, at: int) -> bool:
        below = next((x for x in self.written[at + 1 :] if _code(x).strip()), "")
        return len(below) - len(below.lstrip()) > _indent(self.written[at])

    def _filled(self, at: int) -> bool:
        """Give a header without a block something to do, so that the rest of its declaration can be read."""
        header = _code(self.lines[at]).rstrip()
        if _NO_EFFECT.match(header):
            return False
        if not _NO_LINE.match(header) and self._fits(at, header + " stop"):
            return True
        below = " " * (_indent(header) + 4) + "stop"
        return at + 1 < len(self.lines) and not self.lines[at + 1].strip() and self._fits(at + 1, below)

    def _fits(self, at: int, line: str) -> bool:
        """Put a line in place of another; take it back if it cannot be read."""
        before, self.lines[at] = self.lines[at], line
        try:
            self._tree()
        except UnexpectedInput as error:
            if self._line_of(error) <= at:
                self.lines[at] = before
                return False
        return True

    def _open_bracket(self) -> tuple[int, int] | None:
        """Line and column of a bracket that this declaration never closes."""
        still: list[tuple[int, int]] = []
        for at, line in enumerate(self.lines):
            for column, char in enumerate(_code(line), 1):
                if char in "([":
                    still.append((at, column))
                elif char in ")]" and still:
                    still.pop()
        return still[0] if still else None


def _last_line_before(lines: list[str], at: int) -> int:
    at -= 1
    while at > 0 and (not lines[at].strip() or lines[at].strip().startswith("#")):
        at -= 1
    return max(at, 0)


def _blank(lines: list[str], start: int, width: int) -> None:
    """Blank the lines from one on, as far as they are indented by more than that."""
    for later in range(start, len(lines)):
        if lines[later].strip() and _indent(lines[later]) <= width:
            break
        lines[later] = ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


# ---------------------------------------------------------------- saying what went wrong
def _problem(source: Source, error: UnexpectedInput, line: int) -> Problem:
    text = source.line(line)
    here = Span(source.name, line, _indent(text) + 1, line, len(_code(text).rstrip()) + 1)
    if isinstance(error, BadIndent):
        if error.tab:
            column = text.index("\t") + 1
            return Problem(
                "LB0103",
                Span(source.name, line, column, line, column + 1),
                "a tab in the margin",
                "indent with spaces, four to a level",
            )
        return Problem("LB0102", here, str(error), "put it in line with the lines of its block")
    if isinstance(error, UnexpectedCharacters):
        return _character_problem(source, error)
    assert isinstance(error, UnexpectedToken)
    return _token_problem(source, error, here)


def _character_problem(source: Source, error: UnexpectedCharacters) -> Problem:
    text = source.line(error.line)
    char = text[error.column - 1 : error.column]
    span = Span(source.name, error.line, error.column, error.line, error.column + 1)
    if char == '"' and '"' not in text[error.column :]:
        return Problem(
            "LB0104", span, "this text has no closing quote on its line", 'write "text" on one line'
        )
    if char in "\"|'?.=:,()[]/*+-<>":
        return Problem("LB0101", span, f"{char!r} cannot stand here", _expected(error.allowed or set()))
    shown = repr(char) if char.isprintable() else f"the character U+{ord(char):04X}"
    return Problem(
        "LB0105",
        span,
        f"{shown} is no part of the language",
        _INSTEAD.get(char, "other signs may stand in a quoted text"),
    )


def _token_problem(source: Source, error: UnexpectedToken, here: Span) -> Problem:
    token: Token = error.token
    accepts = set(error.accepts or error.expected)
    if accepts == {"_INDENT"}:
        return Problem(
            "LB0107",
            here,
            "this line opens a block, but nothing is indented below it",
            "indent what belongs to it by four spaces",
        )
    if token.type == "_INDENT":
        return Problem(
            "LB0102",
            here,
            "this line is indented, but the line above opens no block",
            "end the line above with ':', or take the indentation away",
        )
    if token.type in ("_NL", "_DEDENT", "$END"):
        column = len(_code(source.line(here.line)).rstrip()) + 1
        span = Span(source.name, here.line, column, here.line, column + 1)
        return Problem("LB0101", span, "this line is not complete", _expected(accepts))
    span = span_of(source.name, token)
    if _ELSE.match(source.line(here.line)):
        return Problem(
            "LB0101",
            here,
            "this 'else' belongs to nothing",
            "it follows the block of an 'if' or a 'may', indented like it",
        )
    return Problem("LB0101", span, f"{str(token)!r} cannot stand here", _expected(accepts))


@cache
def _fixed_words() -> dict[str, str]:
    """Lark's names of the terminals that are fixed words and signs, and how authors write them."""
    return {t.name: f"'{t.pattern.value}'" for t in parser().terminals if t.pattern.type == "str"}


def _expected(names: set[str]) -> str:
    known = _READABLE | _fixed_words() | _READABLE
    shown = sorted({known[n] for n in names if n in known})
    if not shown:
        return ""
    return "here may stand: " + ", ".join(shown[:9]) + (" ..." if len(shown) > 9 else "")


# ---------------------------------------------------------------- before parsing
def _code(line: str) -> str:
    """The line with comments and quoted texts blanked; nothing of a row of a map."""
    line = line.rstrip("\r")
    return "" if line.lstrip().startswith("|") else _UNREAD.sub(lambda m: " " * len(m[0]), line)


def _clean_letters(file: str, lines: list[str]) -> Iterator[Problem]:
    """Letters and signs of other alphabets; ours take their place."""
    for number, line in enumerate(lines, 1):
        if line.isascii():
            continue
        for column, char in enumerate(_code(line), 1):
            if not char.isascii():
                span = Span(file, number, column, number, column + 1)
                problem, plain = _look_alike(span, char)
                _overwrite(lines, span, plain)
                yield problem


def _overwrite(lines: list[str], span: Span, text: str) -> None:
    line = lines[span.line - 1]
    lines[span.line - 1] = line[: span.column - 1] + text + line[span.end_column - 1 :]


def _look_alike(span: Span, char: str) -> tuple[Problem, str]:
    """The problem of a letter, and the letter of ours to go on with."""
    if char in _SIGNS:
        sign = _SIGNS[char]
        return Problem("LB0105", span, f"{char!r} is a typographic sign", f"write {sign}"), sign[:1]
    name = unicodedata.name(char, f"U+{ord(char):04X}").lower()
    if char.isspace() or unicodedata.category(char) in ("Cf", "Cc"):
        return Problem(
            "LB0105", span, f"an invisible character ({name})", "write a space, or take it away"
        ), " "
    if not char.isalnum() and unicodedata.category(char)[0] != "M":
        return Problem(
            "LB0105",
            span,
            f"{char!r} ({name}) is no part of the language",
            "other signs may stand in a quoted text",
        ), " "
    plain = _TWINS.get(char) or unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode()[:1]
    help_ = f"write {plain!r}" if plain else "names are written with the letters a to z"
    return Problem("LB0106", span, f"{char!r} ({name}) is no letter of the language", help_), plain or "_"


def _clean_numbers(file: str, lines: list[str]) -> Iterator[Problem]:
    """Numbers out of bounds; ones with zeros before them take their place."""
    for number, line in enumerate(lines, 1):
        for m in _DIGITS.finditer(_code(line)):
            digits = m[0].lstrip("0")
            if len(digits) < 10 or (len(digits) == 10 and int(digits) <= NUMBER_MAX):
                continue
            shown = digits if len(digits) <= 20 else f"{digits[:8]}..."
            span = Span(file, number, m.start() + 1, number, m.end() + 1)
            _overwrite(lines, span, "1".zfill(len(m[0])))
            yield Problem("LB0108", span, f"{shown} is too large", f"numbers go up to {NUMBER_MAX}")


def _clean_nesting(file: str, lines: list[str]) -> Iterator[Problem]:
    """Blocks in blocks and brackets in brackets without end, told once a declaration."""
    margins, depth, told = [0], 0, False
    for at in range(len(lines)):
        code = _code(lines[at])
        if not code.strip():
            continue
        width = _indent(code)
        if not depth or not width:
            margins, depth, told = [*(m for m in margins if m < width), width], 0, told and width > 0
        column, depth = _level_brackets(lines, at, depth)
        end = column + 1
        if len(margins) > NESTING_MAX + 1:
            column, end = width + 1, len(code.rstrip()) + 1
            lines[at] = " " * width + "stop"
            _blank(lines, at + 1, width - 1)
        if column and not told:
            told = True
            span = Span(file, at + 1, column, at + 1, end)
            yield Problem(
                "LB0109",
                span,
                "this is nested too deeply",
                f"at most {NESTING_MAX} levels; name a part of it and use the name",
            )


def _level_brackets(lines: list[str], at: int, depth: int) -> tuple[int, int]:
    """Take away the brackets that are too many. The column of the first, and how many are open at the end."""
    column = 0
    for place, char in enumerate(_code(lines[at]), 1):
        depth += char in "(["
        if char in "()[]" and depth > NESTING_MAX:
            column = column or place
            _overwrite(lines, Span("", at + 1, place, at + 1, place + 1), " ")
        depth = max(0, depth - (char in ")]"))
    return column, depth


# ---------------------------------------------------------------- after parsing
def _cut(node: Any, problems: list[Problem]) -> Any:
    """The node with no clause so long that reading it takes for ever: of such a one only a word is left."""
    if isinstance(node, tuple):
        cut = tuple(_cut(child, problems) for child in node)
        return node if all(a is b for a, b in zip(cut, node, strict=True)) else cut
    if isinstance(node, Clause | Group) and len(node.items) > CLAUSE_MAX:
        problems.append(
            Problem(
                "LB0109",
                node.items[CLAUSE_MAX].span,
                f"{len(node.items)} words in a row are too many",
                f"at most {CLAUSE_MAX}; name a part of it with 'let' or a query",
            )
        )
        return replace(node, items=node.items[:1])
    if not isinstance(node, Node):
        return node
    before = {name: getattr(node, name) for name in node.__dataclass_fields__}
    after = {name: _cut(value, problems) for name, value in before.items()}
    return node if all(after[name] is before[name] for name in before) else replace(node, **after)


__all__ = ["Clause", "Group", "Item", "grammar_text", "parse", "parse_clause", "parser"]
