"""Boards drawn as text: rows of marks with a legend become spaces, neighbours and lines.

    map squares               each mark is a square; next to each other along rows and columns
    map squares with corners  also next to each other across corners
    map hexes                 rows are shifted by half a space, as drawn
    map areas                 named spaces without a grid; `a is next to b` lines join them

Spaces are named by column letter and row number (a1 is top left) unless the legend or a line names them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from . import nodes as n
from .source import Span
from .vocabulary import Vocabulary

Fail = Callable[[str, Span, str, str], None]
SQUARE = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}
CORNERS = {"NE": (-1, 1), "SE": (1, 1), "SW": (1, -1), "NW": (-1, -1)}
HEX = {"E": (0, 2), "SE": (1, 1), "SW": (1, -1), "W": (0, -2), "NW": (-1, -1), "NE": (-1, 1)}
SHAPES = {"squares": SQUARE, "squares with corners": {**SQUARE, **CORNERS}, "hexes": HEX, "areas": {}}
SPACES_MAX = 5000


class BoardReader:
    def __init__(
        self,
        vocab: Vocabulary,
        board: n.Board,
        fail: Fail,
        several: bool,
        only: tuple[str, Any] | None = None,
    ) -> None:
        self.v, self.board, self.fail = vocab, board, fail
        self.name = board.name.value.strip('"')
        self.prefix = f"{self.name} " if several else ""
        self.legend: dict[str, tuple[str, dict[str, Any], str]] = {}
        self.spaces: list[dict[str, Any]] = []
        self.at: dict[tuple[int, int], int] = {}
        self.ways: dict[str, tuple[int, int]] = {}
        self.lines: list[list[int]] = []

    def read(self) -> dict[str, Any]:
        for part in self.board.parts:
            if isinstance(part, n.Legend) and not _joins(part):
                self._legend(part)
        for part in self.board.parts:
            if isinstance(part, n.Map):
                self._map(part)
        for part in self.board.parts:
            if isinstance(part, n.BoardLine):
                self._line(part)
            elif isinstance(part, n.Legend) and (other := _joins(part)):
                self._join(part, part.mark.value.strip('"'), other, True)
            elif isinstance(part, n.Border):
                self.fail(
                    "LB0223", part.span, "a border is written as a line", "write: wall between a1 and b1"
                )
        return {"name": self.name, "spaces": self.spaces, "lines": self.lines}

    def _legend(self, part: n.Legend) -> None:
        mark = part.mark.value.strip('"')
        kind = str(part.clauses[0])
        if kind not in self.v.kinds or not self.v.is_a(kind, "space"):
            self.fail(
                "LB0201",
                part.clauses[0].span,
                f"'{kind}' is no kind of space",
                f"declare it: kind {kind} is space",
            )
            kind = "space"
        fields: dict[str, Any] = {}
        called = ""
        for clause in part.clauses[1:]:
            text = str(clause)
            if m := re.fullmatch(r'called "(.+)"', text):
                called = m[1]
                continue
            name, value = self._field(kind, clause)
            if name:
                fields[name] = value
        self.legend[mark] = (kind, fields, called)

    def _field(self, kind: str, clause: n.Clause) -> tuple[str, Any]:
        text = str(clause)
        for name, info in self.v.fields_of(kind).items():
            if text == name and info.type.base == "truth":
                return name, True
            if text.startswith(name + " "):
                value = text[len(name) + 1 :]
                if info.type.base == "number" and value.isdigit():
                    return name, int(value)
                if value in self.v.enums.get(info.type.base, ()) or info.type.base == "text":
                    return name, value.strip('"')
        self.fail("LB0210", clause.span, f"'{text}' is no value of a field of {kind}", "")
        return "", None

    def _map(self, part: n.Map) -> None:
        shape = str(part.clause)
        if shape not in SHAPES:
            self.fail("LB0223", part.clause.span, f"no map of '{shape}'", "maps: " + ", ".join(SHAPES))
            return
        self.ways = SHAPES[shape]
        for row, word in enumerate(part.rows):
            column = 0
            for m in re.finditer(r"\S+", word.value[1:]):
                mark = m[0]
                if shape == "hexes":
                    column = m.start()
                    if mark not in ("~",):
                        self._space(mark, row, column, word)
                    continue
                if mark != "~":  # a hole in the map
                    self._space(mark, row, column, word)
                column += 1
        if shape == "hexes":
            self._straighten()
        for (row, column), number in self.at.items():
            found = {
                way: self.at[row + dr, column + dc]
                for way, (dr, dc) in self.ways.items()
                if (row + dr, column + dc) in self.at
            }
            self.spaces[number]["at"] = [
                row,
                column if shape == "hexes" else 2 * column,
            ]  # in half spaces, to draw it again
            self.spaces[number]["ways"] = found
            self.spaces[number]["next"] = list(found.values())

    def _straighten(self) -> None:
        """Hexes drawn with any spacing: columns become half-spaces, two to a hex, shifted in odd rows."""
        rows: dict[int, list[tuple[int, int]]] = {}
        for (row, column), number in self.at.items():
            rows.setdefault(row, []).append((column, number))
        every = sorted({c for found in rows.values() for c, _ in found})
        gaps = [
            b - a
            for found in rows.values()
            for a, b in zip([c for c, _ in sorted(found)], [c for c, _ in sorted(found)][1:], strict=False)
        ]
        step = max(1, min(gaps, default=2))
        first = every[0] if every else 0
        self.at = {
            (row, round(2 * (c - first) / step)): number for row, found in rows.items() for c, number in found
        }
        for (row, column), number in self.at.items():
            spec = self.spaces[number]
            spec["fields"]["row"], spec["fields"]["column"] = row + 1, column // 2 + 1
            if not spec["called"]:
                spec["name"] = self.prefix + _column(column // 2) + str(row + 1)

    def _space(self, mark: str, row: int, column: int, word: n.Word) -> None:
        if mark not in self.legend:
            at = word.value.index(mark)
            span = Span(
                word.span.file,
                word.span.line,
                word.span.column + at,
                word.span.line,
                word.span.column + at + len(mark),
            )
            self.fail(
                "LB0223", span, f"the legend does not say what {mark!r} is", f'add a line: "{mark}" is KIND'
            )
            self.legend[mark] = ("space", {}, "")
        if len(self.spaces) >= SPACES_MAX:
            return
        kind, fields, called = self.legend[mark]
        self.at[row, column] = len(self.spaces)
        name = called or self.prefix + _column(column) + str(row + 1)
        self.spaces.append(
            {
                "kind": kind,
                "name": name,
                "fields": {**fields, "row": row + 1, "column": column + 1},
                "next": [],
                "ways": {},
                "mark": mark,
                "called": called,
            }
        )

    def _line(self, part: n.BoardLine) -> None:
        text = str(part.clause)
        if m := re.fullmatch(r"lines of (\d+)", text):
            if int(m[1]) > len(self.spaces):
                self.fail(
                    "LB0223",
                    part.clause.span,
                    f"no line of this board has {m[1]} spaces",
                    "lines of 3, for example",
                )
            else:
                self._make_lines(int(m[1]))
        elif m := re.fullmatch(r'space "(.+)" is (.+)', text):
            if m[2] in self.v.kinds:
                self.spaces.append(
                    {
                        "kind": m[2],
                        "name": m[1],
                        "fields": {},
                        "next": [],
                        "ways": {},
                        "mark": m[1],
                        "called": m[1],
                    }
                )
            else:
                self.fail("LB0201", part.clause.span, f"unknown kind '{m[2]}'", "")
        elif m := re.fullmatch(r'(\S+|".+?") is next to (\S+|".+?")', text):
            self._join(part, m[1].strip('"'), m[2].strip('"'), True)
        elif m := re.fullmatch(r'wall between (\S+|".+?") and (\S+|".+?")', text):
            self._join(part, m[1].strip('"'), m[2].strip('"'), False)
        elif m := re.fullmatch(r'(\S+) is called "(.+)"', text):
            number = self._find(part, m[1])
            if number is not None:
                self.spaces[number]["name"] = m[2]
        else:
            self.fail(
                "LB0223",
                part.clause.span,
                f"'{text}' says nothing about a board",
                'known: lines of 3; a1 is next to b2; wall between a1 and b1; a1 is called "X"; space "X" is KIND',
            )

    def _find(self, part: n.BoardLine | n.Legend, name: str) -> int | None:
        for number, spec in enumerate(self.spaces):
            if spec["name"] in (name, self.prefix + name):
                return number
        self.fail(
            "LB0223",
            part.span,
            f"this board has no space '{name}'",
            "spaces are named by column and row: a1, b3",
        )
        return None

    def _join(self, part: n.BoardLine | n.Legend, a: str, b: str, near: bool) -> None:
        first, second = self._find(part, a), self._find(part, b)
        if first is None or second is None:
            return
        for x, y in ((first, second), (second, first)):
            spec = self.spaces[x]
            if near and y not in spec["next"]:
                spec["next"].append(y)
            elif not near:
                spec["next"] = [z for z in spec["next"] if z != y]
                spec["ways"] = {way: z for way, z in spec["ways"].items() if z != y}

    def _make_lines(self, length: int) -> None:
        """All straight rows of that many spaces, in every direction of the map; corners count for squares."""
        steps = list(self.ways.values())
        if self.ways.items() <= {**SQUARE, **CORNERS}.items():
            steps = [(0, 1), (1, 0), (1, 1), (1, -1)]
        elif self.ways == HEX:
            steps = [(0, 2), (1, 1), (1, -1)]
        for dr, dc in steps:
            for row, column in self.at:
                cells = [(row + dr * i, column + dc * i) for i in range(length)]
                if all(cell in self.at for cell in cells):
                    self.lines.append([self.at[cell] for cell in cells])


def _joins(part: n.Legend) -> str:
    """`"Harbour" is next to "Old Town"` looks like a line of the legend: the other space, or nothing."""
    m = re.fullmatch(r'next to "?(.+?)"?', str(part.clauses[0]))
    return m[1] if m else ""


def _column(number: int) -> str:
    """0 is a, 25 is z, 26 is aa."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("a") + rest) + name
    return name
