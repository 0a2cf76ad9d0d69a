"""Boards drawn as text: each space with its name, its mark, and what stands there in short marks.

Rows of hexes are shifted by half a space. Below the drawing stands in full what the marks mean and who is where, so
that nothing need be read off the drawing itself. Everything comes from a view: nobody sees more than they may.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from longbox.kernel.text import WIDTH, listed, said, wrapped

CELL_MAX, CELL_MIN = 13, 6  # columns of a space, the line at its left included
SIGN_MAX = 20  # where the text says what stands for things
LEGEND_ROOM = 30  # columns of an entry of the legend, where several stand in a line
DEEP = 3  # how far what lies on things that lie on things is looked into

_COUNTED = re.compile(r"[a-z]+[0-9]+")  # a space without a name of its own; those with one need no mark

At = tuple[int, int]
Thing = dict[str, Any]


class Marks:
    """Short marks for names: initials that differ, whatever their case. A name keeps its mark."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, name: str) -> str:
        """The mark of a name; copies share it, with their number behind it."""
        base, number = split_copy(name)
        if base not in self._of:
            self._of[base] = next(mark for mark in _candidates(base) if mark.lower() not in self._taken)
            self._taken.add(self._of[base].lower())
        return self._of[base] + number


def split_copy(name: str) -> tuple[str, str]:
    """`Oak Peg #2` is copy 2 of Oak Peg."""
    base, _, number = name.rpartition(" #")
    return (base, number) if base and number.isdecimal() else (name, "")


def _candidates(name: str) -> Iterator[str]:
    """Marks for a name, best first: the name itself if it is short, initials, then letters of its first word."""
    if len(name) <= 2:
        yield name
    words = re.findall(r"[^\W_]+", name) or ["x"]
    chief = [word for word in words if word[0].isupper()] or words
    if len(chief) > 1:
        yield "".join(word[0] for word in chief[:3])
    first = chief[0]
    yield first[:2]
    for letter in "".join(chief)[2:]:
        yield first[0] + letter
    for number in range(1, 10_000):
        yield f"{first[:2]}{number}"


# ---------------------------------------------------------------- what is where
@dataclass
class Legend:
    """What the marks of a drawing mean."""

    plurals: Mapping[str, str] = field(default_factory=dict)  # name of a thing -> of several
    entries: dict[str, tuple[str, list[str]]] = field(default_factory=dict)  # mark -> name, where
    holders: list[tuple[str, str, str, list[str]]] = field(
        default_factory=list
    )  # mark, name, where, what is in it

    def stands(self, mark: str, name: str, where: str) -> None:
        places = self.entries.setdefault(mark, (name, []))[1]
        if where not in places:
            places.append(where)

    def lines(self) -> list[str]:
        short, lines = [], []
        for mark, (name, where) in self.entries.items():
            if mark != name:  # what is written out needs no legend
                short.append(f"{mark} {name}: {listed(where)}")
        for mark, name, at, held in self.holders:
            lines += wrapped(f"  {mark} {name} ({at}): {counted(held, self.plurals)}")
        return [*in_columns(short), *lines]


def counted(names: Iterable[str], plurals: Mapping[str, str]) -> str:
    """`2 pegs, Ann`: equal names counted, in the plural where it is known."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(
        name if count == 1 else f"{count} {plurals[name]}" if name in plurals else f"{count} x {name}"
        for name, count in counts.items()
    )


def in_columns(entries: Sequence[str], room: int = LEGEND_ROOM, width: int = WIDTH - 2) -> list[str]:
    """Entries side by side, in columns as wide as the longest needs; those too long have lines of their own."""
    fit = [entry for entry in entries if len(entry) <= room]
    wide = max(map(len, fit), default=0) + 3
    per_row = max(1, width // wide)
    rows = [fit[at : at + per_row] for at in range(0, len(fit), per_row)]
    lines = ["  " + "".join(entry.ljust(wide) for entry in row).rstrip() for row in rows]
    return lines + [line for entry in entries if len(entry) > room for line in wrapped(f"  {entry}")]


# ---------------------------------------------------------------- one board
class Board:
    """One board of a view, ready to be drawn. `offered` are the spaces that a question offers."""

    def __init__(
        self,
        view: dict[str, Any],
        board: dict[str, Any],
        marks: Marks,
        offered: Collection[str] = (),
        plurals: Mapping[str, str] | None = None,
        signs: Mapping[str, str] | None = None,
    ) -> None:
        self.name, self.marks, self.offered = board["name"], marks, offered
        self.signs = signs or {}  # what the text lets stand for a thing, in full; such things need no legend
        self.legend = Legend(plurals or {})
        self._in: dict[str, list[str]] = {}
        for thing in view["things"]:
            if thing.get("place"):
                self._in.setdefault(thing["place"], []).append(thing["name"])
        self._known: dict[str, Thing] = {thing["name"]: thing for thing in view["things"]}
        self.spaces = {tuple(space["at"]): space for space in self._near(board["spaces"])}
        self._kinds: dict[str, tuple[str, str]] = {}  # mark -> kind of space, words printed on it

    def _near(self, spaces: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """If a few spaces are offered, those around them; all if that leaves little out."""
        asked = [space["at"] for space in spaces if space["space"] in self.offered]
        if not asked:
            return spaces
        rows, columns = sorted(at[0] for at in asked), sorted(at[1] for at in asked)
        around = [
            space
            for space in spaces
            if rows[0] - 1 <= space["at"][0] <= rows[-1] + 1
            and columns[0] - 2 <= space["at"][1] <= columns[-1] + 2
        ]
        return around if 3 * len(around) <= 2 * len(spaces) else spaces

    def lines(self, legend: bool = True) -> list[str]:
        if not self.spaces:
            return []
        first = min(at[1] for at in self.spaces)
        last = max(at[1] for at in self.spaces) - first
        cells = {(row, column - first): self._cell(space) for (row, column), space in self.spaces.items()}
        wanted = min(
            SIGN_MAX if self.signs else CELL_MAX, max(8, *(cell.width + 2 for cell in cells.values()))
        )
        size = next((s for s in range(wanted & ~1, 0, -2) if last * s // 2 + s < WIDTH - 2), 2)
        drawn = (
            draw(cells, size)
            if size >= CELL_MIN
            else draw_small({at: cell.small(max(1, size - 1)) for at, cell in cells.items()}, size)
        )
        return [f"  {line}" for line in drawn] + (self._legend() if legend else [])

    def _cell(self, space: dict[str, Any]) -> Cell:
        name = space["space"].removeprefix(f"{self.name} ")
        mark = space["mark"] if space["mark"] not in (".", name) and _COUNTED.fullmatch(name) else ""
        if mark:
            self._kinds.setdefault(mark, self._kind(space["space"]))
        return Cell(name, mark, space["space"] in self.offered, tuple(self._tokens(space)))

    def _tokens(self, space: dict[str, Any]) -> Iterator[str]:
        """What is on a space, in marks: several of a name are counted, and what lies in a thing follows it."""
        where = space["space"].removeprefix(f"{self.name} ")
        yield from filter(None, (self.signs.get(name, "") for name in space["things"]))
        things = [name for name in space["things"] if name not in self.signs]
        holders = [name for name in things if name in self._in]
        for mark, count in self._counted(name for name in things if name not in self._in):
            yield f"{count}{mark}" if count > 1 else mark
        for name in things:
            if name not in self._in:
                base = split_copy(name)[0]
                self.legend.stands(self.marks.of(base), base, where)
        for name in dict.fromkeys(holders):
            held = list(self._within(name))
            yield f"{self.marks.of(name)}:"
            yield from (f"{count}{mark}" if count > 1 else mark for mark, count in self._counted(held))
            self.legend.holders.append((self.marks.of(name), name, where, held))

    def _counted(self, names: Iterable[str]) -> Iterator[tuple[str, int]]:
        counts: dict[str, int] = {}
        for name in names:
            mark = self.marks.of(name)
            counts[mark] = counts.get(mark, 0) + 1
        yield from counts.items()

    def _within(self, name: str, depth: int = 1) -> Iterator[str]:
        for inner in self._in.get(name, ()):
            yield inner
            if depth < DEEP and inner != name:
                yield from self._within(inner, depth + 1)

    def _kind(self, space: str) -> tuple[str, str]:
        """What a space is: its kind, and the words that are printed on it."""
        thing = self._known.get(space, {"kind": "space"})
        printed = thing.get("printed", {})
        return thing["kind"], ", ".join(said(printed[x]) for x in printed if x not in ("row", "column"))

    def _legend(self) -> list[str]:
        """What the marks of spaces mean, unless a question is open; then who is where."""
        kinds: dict[str, list[str]] = {}
        for mark, (kind, words) in self._kinds.items():
            kinds.setdefault(kind, []).append(f"{mark} {words}".strip())
        told = [f"{kind}: {', '.join(marks)}" for kind, marks in kinds.items() if kind != "space"]
        spaces = wrapped(f"  {'; '.join(told)}") if told and not self.offered else []
        return [*spaces, *self.legend.lines()]


@dataclass(frozen=True)
class Cell:
    """What is written into a space."""

    name: str
    mark: str
    offered: bool
    tokens: tuple[str, ...]

    @property
    def width(self) -> int:
        """How many columns it needs to stand in one line."""
        return len(" ".join([f"[{self.name}]", *self.tokens, self.mark]))

    def lines(self, room: int) -> list[str]:
        """The name, then what is there, as many lines as it takes; the mark stands at the right."""
        title = f"[{self.name}]" if self.offered else self.name
        mark = self.mark if len(title) + 1 + len(self.mark) <= room else ""
        first = room - len(mark) - 1 if mark else room
        lines = [title[:room]]
        for token in self.tokens:
            space = first if len(lines) == 1 else room
            if len(lines[-1]) + 1 + len(token) <= space:
                lines[-1] = f"{lines[-1]} {token}".strip()
            else:
                lines.append(token[:room])
        if mark:
            lines[0] = lines[0].ljust(room - len(mark)) + mark
        return lines

    def small(self, room: int) -> str:
        """One short word: where there is no room for more."""
        shown = self.name if self.offered else self.tokens[0] if self.tokens else self.mark or "."
        return shown[:room] if len(self.tokens) < 2 or self.offered else shown[: room - 1] + "+"


def draw(cells: Mapping[At, Cell], size: int) -> list[str]:
    """Spaces with lines around them; `size` columns each, from the middle of a line to that of the next."""
    half, lines = size // 2, list[str]()
    rows = sorted({row for row, _ in cells})
    for row in range(rows[0], rows[-1] + 2):
        above = [column * half for r, column in cells if r == row - 1]
        here = {column * half: cell.lines(size - 2) for (r, column), cell in cells.items() if r == row}
        if above or here:
            lines.append(_border(above, list(here), size))
        for number in range(max(map(len, here.values()), default=0)):
            texts = {x: cell[number] if number < len(cell) else "" for x, cell in here.items()}
            lines.append(_contents(texts, size))
    return lines


def _border(above: Sequence[int], below: Sequence[int], size: int) -> str:
    """The line between two rows of spaces, given by where they begin."""
    ends = {
        kind: {x for start in starts for x in (start, start + size)}
        for kind, starts in (("'", above), (".", below))
    }
    line = [" "] * (max((*above, *below)) + size + 1)
    for start in (*above, *below):
        line[start : start + size] = "-" * size
    for x in range(len(line)):
        kinds = [kind for kind, at in ends.items() if x in at]
        if kinds:
            line[x] = "+" if len(kinds) == 2 else kinds[0]
    return "".join(line).rstrip()


def _contents(texts: Mapping[int, str], size: int) -> str:
    line = [" "] * (max(texts) + size + 1)
    for x, text in texts.items():
        line[x] = line[x + size] = "|"
        line[x + 1 : x + 1 + len(text)] = text
    return "".join(line).rstrip()


def draw_small(cells: Mapping[At, str], size: int) -> list[str]:
    """A board too wide for lines between its spaces: one short word for each."""
    half, lines = max(1, size // 2), list[str]()
    for row in sorted({row for row, _ in cells}):
        line = ""
        for column in sorted(column for r, column in cells if r == row):
            line = line.ljust(column * half) + cells[row, column] + " "
        lines.append(line.rstrip())
    return lines


# ---------------------------------------------------------------- all boards
def map_lines(
    view: dict[str, Any],
    marks: Marks | None = None,
    offered: Collection[str] = (),
    plurals: Mapping[str, str] | None = None,
    legend: bool = True,
    signs: Mapping[str, str] | None = None,
) -> list[str]:
    """The boards of a view that are drawn; with `offered`, only those with a space that is."""
    marks = marks or Marks()
    boards = [board for board in view.get("boards", ()) if board["spaces"]]
    if offered:
        boards = [board for board in boards if any(space["space"] in offered for space in board["spaces"])]
    lines: list[str] = []
    for board in boards:
        lines += [f"{board['name']}:"] if len(view["boards"]) > 1 else []
        lines += Board(view, board, marks, offered, plurals, signs).lines(legend)
    return lines


def place_lines(view: dict[str, Any], spaces: Sequence[str], plurals: Mapping[str, str]) -> list[str]:
    """Who is where, space by space, without a drawing; what lies on things stands behind them."""
    held: dict[str, list[str]] = {}
    for thing in view["things"]:
        held.setdefault(thing.get("place", ""), []).append(thing["name"])
    lines: list[str] = []
    for space in spaces:
        for name in dict.fromkeys(held.get(space, ())):
            if name in held:
                lines += wrapped(f"{name} ({space}): {counted(held[name], plurals)}")
        loose = [name for name in held.get(space, ()) if name not in held]
        lines += wrapped(f"{space}: {counted(loose, plurals)}") if loose else []
    return lines
