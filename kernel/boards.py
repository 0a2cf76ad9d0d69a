"""Boards as graphs: spaces, who is next to whom, distances, shortest paths, straight lines.

A board is drawn as text and reaches us as a list of spaces with row and column, the pairs that are next to
each other, and the straight lines its author asked for. Graphs never change during a game; distances are
worked out once and kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import fold
from .errors import RuleError
from .state import REMOVED, State, Thing, attribute

if TYPE_CHECKING:
    from .program import Program

FAR = 1_000_000  # the distance of what cannot be reached
KEPT_MAX = 5000  # ways over certain spaces that are kept
RUNTIME = (
    "space_of",
    "neighbours",
    "adjacent",
    "distance",
    "distance_through",
    "spaces_within",
    "things_within",
    "nearest",
    "along",
    "beside",
    "shortest_paths",
    "spaces_named",
)

Path = tuple[Thing, ...]


class Boards:
    """The graphs of a program's boards, by the numbers its spaces have on every table."""

    def __init__(self, boards: list[dict[str, Any]]) -> None:
        self.boards = boards
        self.next_to: dict[Thing, tuple[Thing, ...]] = {}
        self.ways: dict[Thing, dict[str, Thing]] = {}
        self.lines: dict[Thing, Path] = {}
        self.board_of: dict[Thing, str] = {}
        self._distances: dict[Thing, dict[Thing, int]] = {}
        self._within: dict[tuple[Thing, int], tuple[Thing, ...]] = {}
        self._through: dict[tuple[Thing, frozenset[Thing]], dict[Thing, int]] = {}

    def lay_out(self, s: State, program: Program, settings: Mapping[str, Any]) -> None:
        """Add the spaces and lines of every board to a new table; they get the same numbers each time.

        A board that is not in this game's box is there, too, but removed: so numbers mean the same in all games.
        """
        for board in self.boards:
            first, used = len(s.kind), in_box(board["only"], settings)
            spaces = [self._add_space(s, program, spec) for spec in board["spaces"]]
            for space in spaces:
                self.board_of[space] = board["name"]
            drawn = [
                [space, spec["at"], spec["mark"]]
                for space, spec in zip(spaces, board["spaces"], strict=True)
                if "at" in spec
            ]
            if used:
                s.drawn.append([board["name"], drawn])
            for at, spec in enumerate(board["spaces"]):
                self.next_to[spaces[at]] = tuple(spaces[i] for i in spec["next"])
                self.ways[spaces[at]] = {way: spaces[i] for way, i in spec["ways"].items()}
            for number, line in enumerate(board["lines"], 1):
                thing = program._add(s, "line", f"line {number} of {board['name']}")
                self.lines[thing] = tuple(spaces[i] for i in line)
            if not used:
                for thing in range(first, len(s.kind)):
                    s.name[thing] = f"{s.name[thing]} of {board['name']}"
                fold.APPLY["swept"](s, list(range(first, len(s.kind))), None, REMOVED)

    def _add_space(self, s: State, program: Program, spec: dict[str, Any]) -> Thing:
        space = program._add(s, spec["kind"], spec["name"])
        for field, value in spec["fields"].items():
            getattr(s, attribute("f", field))[space] = value
        return space

    def distances(self, start: Thing) -> dict[Thing, int]:
        """How far every space is from one, figures or not."""
        found = self._distances.get(start)
        if found is None:
            found = self._distances[start] = spread(self.next_to, start, None)
        return found

    def within(self, start: Thing, steps: int) -> tuple[Thing, ...]:
        """The spaces at most so many steps away, in the order of their numbers."""
        found = self._within.get((start, steps))
        if found is None:
            far = self.distances(start)
            found = self._within[start, steps] = tuple(sorted(x for x, n in far.items() if n <= steps))
        return found

    def distances_through(self, start: Thing, through: frozenset[Thing]) -> dict[Thing, int]:
        """How far every space is over certain spaces only. Kept, since games ask the same again and again."""
        found = self._through.get((start, through))
        if found is None:
            if len(self._through) >= KEPT_MAX:
                self._through.clear()
            found = self._through[start, through] = spread(self.next_to, start, through)
        return found


def in_box(only: tuple[str, Any] | None, settings: Mapping[str, Any]) -> bool:
    """Is something that is `only with` a setting part of a game with these settings?"""
    if only is None:
        return True
    name, value = only
    chosen = settings.get(name)
    return value in chosen if isinstance(chosen, tuple) else chosen == value


def spread(
    next_to: dict[Thing, tuple[Thing, ...]], start: Thing, through: Collection[Thing] | None
) -> dict[Thing, int]:
    """Distances by breadth-first search; with `through`, only over those spaces (the start excepted)."""
    far, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        for there in next_to.get(here, ()):
            if there not in far and (through is None or there in through):
                far[there] = far[here] + 1
                queue.append(there)
    return far


def space_of(s: State, thing: Thing | None) -> Thing | None:
    """The space a thing is on, however deep it lies; a space is on itself."""
    graph = s.program.board.next_to
    while thing is not None and thing not in graph:
        thing = s.place[thing]
    return thing


def neighbours(s: State, thing: Thing) -> tuple[Thing, ...]:
    space = space_of(s, thing)
    return s.program.board.next_to[space] if space is not None else ()


def adjacent(s: State, a: Thing, b: Thing) -> bool:
    return space_of(s, b) in neighbours(s, a)


def distance(s: State, a: Thing, b: Thing) -> int:
    """Steps between two things; very far if one is on no board, or no way leads there."""
    start, end = space_of(s, a), space_of(s, b)
    if start is None or end is None:
        return FAR
    return s.program.board.distances(start).get(end, FAR)


def spaces_within(s: State, steps: int, thing: Thing | None) -> tuple[Thing, ...]:
    space = space_of(s, thing)
    return () if space is None or steps < 0 else s.program.board.within(space, steps)


def things_within(s: State, steps: int, thing: Thing | None) -> list[Thing]:
    """What lies on the spaces at most so many steps away, however deep, in the order of numbers."""
    items = s.items
    found: list[Thing] = []
    for space in spaces_within(s, steps, thing):
        if lying := items[space]:
            found += lying
    for one in found:  # the list grows while it is read: what lies on a thing is there, too
        if under := items.get(one):
            found += under
    found.sort()
    return found


def distance_through(s: State, a: Thing, b: Thing, through: Collection[Thing]) -> int:
    """Steps between two things over certain spaces only; the ends need not be among them."""
    start, end = space_of(s, a), space_of(s, b)
    if start is None or end is None:
        return FAR
    board = s.program.board
    far = board.distances_through(start, frozenset(through))
    if end in far:
        return far[end]
    return 1 + min((far[space] for space in board.next_to[end] if space in far), default=FAR - 1)


def nearest(s: State, things: Sequence[Thing], to: Thing) -> list[Thing]:
    """All that are equally near, in the order given."""
    far = [distance(s, thing, to) for thing in things]
    least = min(far, default=FAR)
    return [thing for thing, steps in zip(things, far, strict=True) if steps == least and least < FAR]


def along(s: State, line: Thing | Path) -> Path:
    """The spaces of a line or a path, in order."""
    return line if isinstance(line, tuple) else s.program.board.lines[line]


def beside(s: State, thing: Thing, way: str) -> Thing | None:
    """The neighbour in a direction, or nothing at the edge."""
    space = space_of(s, thing)
    return None if space is None else s.program.board.ways[space].get(way)


def shortest_paths(s: State, a: Thing, goals: Iterable[Thing], through: Collection[Thing]) -> list[Path]:
    """Every shortest path to the nearest of the goals, the start left out; at most a hundred of them."""
    start = space_of(s, a)
    ends = {g for g in (space_of(s, goal) for goal in goals) if g is not None}
    if start is None or not ends:
        return []
    if start in ends:
        return [()]
    graph = s.program.board.next_to
    open_ = {*through} | ends
    far = spread(graph, start, open_)
    reached = [end for end in sorted(ends) if end in far]
    least = min((far[end] for end in reached), default=FAR)
    paths: list[Path] = []
    for end in reached:
        if far[end] == least:
            paths += _paths_back(graph, far, start, end)
    return paths[:100]


def _paths_back(
    graph: dict[Thing, tuple[Thing, ...]], far: dict[Thing, int], start: Thing, end: Thing
) -> list[Path]:
    paths: list[Path] = [(end,)]
    for steps in range(far[end] - 1, 0, -1):
        paths = [(before, *path) for path in paths for before in graph[path[0]] if far.get(before) == steps]
        if len(paths) > 1000:
            paths = paths[:1000]
    return [path for path in paths if start in graph[path[0]]]


def spaces_named(s: State, name: str) -> Thing:
    for space in s.of["space"]:
        if s.name[space] == name:
            return space
    raise RuleError(f"there is no space called {name!r}")
