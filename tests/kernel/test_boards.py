"""Boards as graphs: neighbours, distances, ways around, lines, walls."""

from __future__ import annotations

from typing import Any

import pytest
from playing import program_of

from longbox.kernel import Game
from longbox.kernel import boards as b

TEXT = """pack map "Map"
game "Map"
    seats 2
    each seat is a player
kind meadow is space
    has color: text
kind pawn is token
board "Land"
    map {shape}:
{rows}
    "." is meadow
    "S" is meadow, called "Start"
{lines}
round:
    turn of the player where order of it = 1:
        ask you:
            "end":
                draw game
"""


def land(shape: str, rows: list[str], lines: str = "") -> Any:
    text = TEXT.format(shape=shape, rows="\n".join(f"        |{row}" for row in rows), lines=lines)
    state = Game(program_of(text), seed=1).state
    return state, {state.name[t]: t for t in state.of["space"]}


def names(state: Any, things: Any) -> list[str]:
    return sorted(state.name[t] for t in things)


def test_squares_are_next_to_each_other_along_rows_and_columns() -> None:
    state, at = land("squares", [" . . .", " . S .", " . . ."])
    assert names(state, b.neighbours(state, at["Start"])) == ["a2", "b1", "b3", "c2"]
    assert b.distance(state, at["a1"], at["c3"]) == 4


def test_corners_count_where_the_map_says_so() -> None:
    state, at = land("squares with corners", [" . . .", " . S .", " . . ."])
    assert len(b.neighbours(state, at["Start"])) == 8
    assert b.distance(state, at["a1"], at["c3"]) == 2
    assert state.name[b.beside(state, at["Start"], "NE")] == "c1"


@pytest.mark.parametrize(
    "rows", [[" . . .", "  . S .", " . . ."], ["  .   .   .", "    .   S   .", "  .   .   ."]]
)
def test_a_hex_has_six_neighbours_however_wide_it_is_drawn(rows: list[str]) -> None:
    state, at = land("hexes", rows)
    assert names(state, b.neighbours(state, at["Start"])) == ["a2", "b1", "b3", "c1", "c2", "c3"]


def test_a_hole_and_a_wall_are_gone_around() -> None:
    state, at = land("squares", [" . ~ .", " . . .", " . . ."], "    wall between b2 and c2")
    assert b.distance(state, at["a1"], at["c1"]) == 6
    assert b.distance(state, at["b2"], at["c2"]) == 3


def test_ways_through_certain_spaces_only() -> None:
    state, at = land("squares", [" . . .", " . S .", " . . ."])
    round_about = [at[x] for x in ("a2", "a3", "b3", "c3", "c2")]
    assert b.distance_through(state, at["a1"], at["c1"], round_about) == 6
    assert b.distance_through(state, at["a1"], at["c1"], [at["b1"]]) == 2
    assert b.distance_through(state, at["a1"], at["c1"], []) == b.FAR
    assert b.distance_through(state, at["a1"], at["b1"], []) == 1
    paths = b.shortest_paths(state, at["a1"], [at["c3"]], list(at.values()))
    assert len(paths) == 6 and all(len(path) == 4 for path in paths)


def test_lines_run_in_every_direction() -> None:
    state, at = land("squares", [" . . .", " . S .", " . . ."], "    lines of 3")
    lines = [b.along(state, line) for line in state.of["line"]]
    assert len(lines) == 8
    assert sum(at["Start"] in line for line in lines) == 4


def test_areas_are_joined_by_hand() -> None:
    lines = (
        '    space "Harbour" is meadow\n    space "Old Town" is meadow\n    "Harbour" is next to "Old Town"'
    )
    state, at = land("areas", [" ~"], lines)
    assert b.adjacent(state, at["Harbour"], at["Old Town"])
