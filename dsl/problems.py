"""Problems: what is wrong with a text, where, and how to mend it.

Every problem has a code; docs/errors/ has a page for each. Problems are collected and shown together; a
`TextError` carries them when nothing more can be done.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .source import Source, Span

# One line a code. The pages in docs/errors/ say more; a test keeps both lists equal.
CODES: dict[str, str] = {
    "LB0101": "a line that cannot be read",
    "LB0102": "wrong indentation",
    "LB0103": "a tab in the margin",
    "LB0104": "a text without its closing quote",
    "LB0105": "a character that is no part of the language",
    "LB0106": "a look-alike letter",
    "LB0107": "a block without content",
    "LB0108": "a number too large",
    "LB0109": "a text too large or nested too deeply",
    "LB0201": "unknown kind",
    "LB0202": "unknown word",
    "LB0203": "no phrase reads this",
    "LB0204": "a slot that cannot be read",
    "LB0205": "the wrong sort of thing in a slot",
    "LB0206": "unknown type",
    "LB0207": "two readings",
    "LB0208": "unknown ability",
    "LB0209": "unknown order",
    "LB0210": "unknown field or attribute",
    "LB0211": "now without a place and a value",
    "LB0212": "offer without a window and seats",
    "LB0213": "a name used twice",
    "LB0214": "which one?",
    "LB0215": "two slots that touch",
    "LB0216": "a phrase without a word of its own",
    "LB0217": "a phrase that begins with a reserved word",
    "LB0218": "unknown window",
    "LB0219": "unknown stage",
    "LB0220": "unknown scope",
    "LB0221": "a word out of place",
    "LB0222": "a value that does not fit",
    "LB0223": "a board that cannot be read",
    "LB0224": "a question in a rule that may not ask",
    "LB0301": "declared twice",
    "LB0302": "kinds in a circle",
    "LB0303": "queries in a circle",
    "LB0304": "overlapping phrases",
    "LB0305": "never used",
    "LB0306": "never reached",
    "LB0307": "a loop that cannot end",
    "LB0401": "no pack line",
    "LB0402": "a missing pack",
    "LB0403": "two packs of one name",
    "LB0404": "packs in a circle",
    "LB0405": "no game",
    "LB0406": "unknown line in a pack or game",
    "LB0407": "a version that does not fit",
    "LB0408": "a file that cannot be read",
    "LB0501": "a scene that cannot be read",
}

_COMMENT = re.compile(r'("[^"]*")|#.*')
WARNINGS = frozenset({"LB0305", "LB0306"})


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem, ready to be shown."""

    code: str
    span: Span
    what: str
    help: str = ""

    @property
    def is_warning(self) -> bool:
        return self.code in WARNINGS

    def show(self, source: Source | None = None) -> str:
        """The problem as an author sees it: place, text, underline, help."""
        span = self.span
        word = "warning " if self.is_warning else ""
        out = [f"{span.file}:{span.line}:{span.column}: {word}{self.code}: {self.what}"]
        if source is not None and (text := source.line(span.line)).strip():
            out += [f"    {text}", "    " + _margin(text, span.column) + "^" * _width(text, span)]
        out += [f"    help: {line}" for line in self.help.split("\n") if line]
        return "\n".join(out)

    def as_data(self) -> dict[str, object]:
        span = self.span
        return {
            "code": self.code,
            "file": span.file,
            "line": span.line,
            "column": span.column,
            "end_line": span.end_line,
            "end_column": span.end_column,
            "warning": self.is_warning,
            "what": self.what,
            "help": self.help,
        }


class TextError(Exception):
    """Text that cannot be used, with every problem found in it."""

    def __init__(self, problems: Iterable[Problem], sources: Mapping[str, Source] | None = None) -> None:
        self.problems = sorted_problems(problems)
        self.sources = dict(sources or {})
        super().__init__(self.show())

    def show(self) -> str:
        return "\n".join(p.show(self.sources.get(p.span.file)) for p in self.problems)


def sorted_problems(problems: Iterable[Problem]) -> list[Problem]:
    """In reading order, each only once."""
    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda p: (p.span.file, p.span.line, p.span.column, p.code))


def _width(text: str, span: Span) -> int:
    """How many columns to underline: of several lines the first, up to its comment."""
    if span.end_line == span.line:
        return span.width
    return max(1, len(_COMMENT.sub(r"\1", text).rstrip()) - span.column + 1)


def _margin(text: str, column: int) -> str:
    return "".join("\t" if c == "\t" else " " for c in text[: column - 1]).ljust(column - 1)
