"""The one way a text is laid out. Nothing but blanks, blank lines and margins ever changes.

The text is parsed first: what has problems is not touched. Then it is laid out line by line, from tokens:

1. Every line gets the margin of its block, four spaces a level; inside an open bracket one level more.
2. One space between words; none before `, : ) ] ?` and possessives, none after `( [`. Operators have a space
   on both sides, signs (`gets +1`) only before. The forms of a phrase (`draw/draws`) stay tight.
3. Rows of a map are kept as drawn.
4. At most one blank line inside a declaration and two between them.
5. A comment stays where it is. After code it stands two spaces away, or in its column if others share that.
   On a line of its own it goes with the line below, or with the block it ends.

The result is parsed again and must give the same tree; else the fault is ours, and nothing is returned.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from .nodes import Word
from .parse import parse
from .problems import TextError
from .source import Source

STEP = 4  # spaces a level

_TOKEN = re.compile(
    r"""
    (?P<text>"[^"]*")
  | (?P<comment>\#.*)
  | (?P<rule>[A-Z][A-Z0-9]{0,5}-[A-Z0-9]+-[0-9]+(?![A-Za-z0-9_]))
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z][A-Za-z0-9_]*)*)
  | (?P<number>[0-9]+(\.[0-9]+)*)
  | (?P<possessive>'s?(?![A-Za-z]))
  | (?P<sign>->|!=|<=|>=|[-+*<>=])
  | (?P<mark>[^\s])
""",
    re.VERBOSE,
)
_TIGHT_BEFORE = frozenset({",", ":", ")", "]", "?", "."})
_TIGHT_AFTER = frozenset({"(", "[", "."})
_PHRASES = re.compile(r"((primitive|quiet)\s+)?(verb|query|value|relation|modifier)\b")
_BEFORE_SIGN = frozenset({"(", "[", ",", ":", "=", "gets", "get", "*", "/"})


def format_text(source: Source) -> str:
    """The text, laid out. Raises TextError where it cannot be read."""
    before = _tree(source)
    text = _Layout(source.text.removeprefix("\ufeff")).text()
    after = _tree(Source(source.name, text))
    assert same_tree(before, after), f"formatting {source.name} would change its meaning"
    return text


def _tree(source: Source) -> Sequence[Any]:
    decls, problems = parse(source)
    if problems:
        raise TextError(problems, {source.name: source})
    return decls


def same_tree(a: Any, b: Any) -> bool:
    """Are these the same nodes, wherever they stand? Blanks behind a row of a map do not count."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same_tree, a, b))
    if isinstance(a, Word) and isinstance(b, Word):
        return a.type == b.type and _meaning(a) == _meaning(b)
    if type(a) is not type(b) or not is_dataclass(a):
        return bool(a == b)
    return all(same_tree(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.name != "span")


def _meaning(word: Word) -> str:
    if word.type == "ROW":
        return word.value.rstrip()
    return word.value if word.type == "STRING" else " ".join(word.value.split())


# ---------------------------------------------------------------- lines
@dataclass(slots=True)
class _Line:
    """A line of text: its code (tidied), its comment, and what is known of where it stands."""

    code: str = ""
    comment: str = ""
    column: int = 0  # where the author put the comment
    width: int = 0  # how far the author indented the line
    inside: bool = False  # begins inside a bracket
    level: int = 0

    @property
    def shown(self) -> str:
        return " " * (STEP * self.level) + self.code

    @property
    def blank(self) -> bool:
        return not self.code and not self.comment


class _Layout:
    def __init__(self, text: str) -> None:
        self.lines: list[_Line] = []
        depth = 0
        for raw in text.split("\n"):
            line, depth = _tidy(raw.rstrip(), depth)
            self.lines.append(line)
        self._code_levels()
        self._comment_levels()

    def text(self) -> str:
        kept = [line for line, keep in zip(self.lines, self._kept(), strict=True) if keep]
        edges = _edges(kept)
        shown = [(x.shown.ljust(edges.get(at, 0)) + x.comment).rstrip() for at, x in enumerate(kept)]
        return "".join(line + "\n" for line in shown)

    def _code_levels(self) -> None:
        """Levels by the author's margins; the widths themselves do not matter."""
        margins = [0]
        for line in self.lines:
            if not line.code:
                continue
            if not line.inside:
                margins = [*(m for m in margins if m < line.width), line.width]
            line.level = len(margins) - 1 + line.inside

    def _comment_levels(self) -> None:
        """A comment goes with the line below; where a block ends, it stays in the block its margin fits."""
        below = _Line()
        for at in range(len(self.lines) - 1, -1, -1):
            line = self.lines[at]
            if line.code:
                below = line
            elif line.comment:
                line.level = max(below.level, self._fitting(at, line.width))

    def _fitting(self, at: int, width: int) -> int:
        """The level of the innermost block open above a line that is indented by no more than `width`."""
        limit: int | None = None
        for line in reversed(self.lines[:at]):
            if not line.code or line.inside or (limit is not None and line.width >= limit):
                continue
            if line.width <= width:
                return line.level
            limit = line.width
        return 0

    def _kept(self) -> list[bool]:
        """Which lines stay: all but the blank ones that are too many."""
        keep = [not line.blank for line in self.lines]
        first = keep.index(True) if True in keep else len(keep)
        wanted = 0  # how many blank lines may stand above the line below
        for at in range(len(self.lines) - 1, -1, -1):
            if not self.lines[at].blank:
                wanted = 1 if self.lines[at].level else 2
            elif wanted and at > first:
                keep[at] = True
                wanted -= 1
        return keep


def _edges(lines: Sequence[_Line]) -> dict[int, int]:
    """Where the comments behind code begin: in a column that several of them had, or two spaces away."""
    room = {at: len(line.shown) + 2 for at, line in enumerate(lines) if line.code and line.comment}
    shared = Counter(lines[at].column for at, edge in room.items() if lines[at].column >= edge)
    return {
        at: lines[at].column if lines[at].column >= edge and shared[lines[at].column] > 1 else edge
        for at, edge in room.items()
    }


# ---------------------------------------------------------------- one line
def _tidy(raw: str, depth: int) -> tuple[_Line, int]:
    """A line with its blanks put right, and how many brackets are open behind it."""
    stripped = raw.lstrip()
    line = _Line(width=len(raw) - len(stripped), inside=depth > 0)
    if stripped.startswith("|"):
        line.code = stripped
        return line, depth
    tokens = list(_TOKEN.finditer(raw))
    if tokens and tokens[-1]["comment"]:
        comment = tokens.pop()
        line.comment, line.column = comment[0], comment.start()
    line.code, depth = _spaced(tokens, depth, raw)
    return line, depth


def _spaced(tokens: Sequence[re.Match[str]], depth: int, raw: str) -> tuple[str, int]:
    """The tokens as text again, and how many brackets are open behind them."""
    out, rounds = "", 0
    forms = depth == 0 and _PHRASES.match(raw) is not None  # still among the words of a phrase?
    for at, token in enumerate(tokens):
        tight = at == 0 or _tight(tokens, at, forms and rounds == 0)
        out += token[0] if tight else " " + token[0]
        rounds += (token[0] == "(") - (token[0] == ")")
        depth = max(0, depth + (token[0] in ("(", "[")) - (token[0] in (")", "]")))
        forms = forms and not (rounds == 0 and token[0] in ("->", ":"))
    return out, depth


def _tight(tokens: Sequence[re.Match[str]], at: int, forms: bool) -> bool:
    """Does a token stand behind its neighbour without a space?"""
    a, b = tokens[at - 1], tokens[at]
    if b["possessive"] or b[0] in _TIGHT_BEFORE or a[0] in _TIGHT_AFTER:
        return True
    if forms and "/" in (a[0], b[0]):
        return True
    operand = b["word"] or b["number"] or b["text"] or b[0] == "("
    return bool(operand) and a[0] in ("+", "-") and _is_sign(tokens, at - 1)


def _is_sign(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """`+1` and `-x`: nothing stands before it to add to, or the author wrote it so."""
    token, behind = tokens[at], tokens[at + 1]
    before = tokens[at - 1] if at else None
    if behind["number"] and (before is None or before["sign"] or before[0] in _BEFORE_SIGN):
        return True
    apart = before is None or before.end() < token.start() or before[0] in _TIGHT_AFTER
    return apart and token.end() == behind.start()
