"""Source text and positions, shared by every pass.

A `Source` is one text file; a `Span` is a stretch of it. Spans carry line and column (1-based) so that a
problem can be shown without the tree, and the file's name so that they can travel between files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text: from (line, column) up to, not including, (end_line, end_column)."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def width(self) -> int:
        """How many columns to underline on the first line."""
        if self.end_line != self.line:
            return 1
        return max(1, self.end_column - self.column)

    def to(self, other: Span) -> Span:
        """The stretch from the start of this one to the end of another."""
        return Span(self.file, self.line, self.column, other.end_line, other.end_column)


@dataclass(frozen=True, slots=True)
class Source:
    """One text file as it was read. `name` is what problems and events call it."""

    name: str
    text: str

    def lines(self) -> list[str]:
        return self.text.split("\n")

    def line(self, number: int) -> str:
        """The text of a line, or nothing where there is no such line."""
        lines = self.lines()
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""


def span_of(file: str, meta: Any) -> Span:
    """The span of something Lark gave a position: a token or the meta of a tree."""
    line, column = getattr(meta, "line", None) or 1, getattr(meta, "column", None) or 1
    end_line = getattr(meta, "end_line", None) or line
    return Span(file, line, column, end_line, getattr(meta, "end_column", None) or column + 1)
