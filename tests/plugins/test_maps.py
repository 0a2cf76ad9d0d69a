"""Boards drawn as text: marks, hexes, what lies on what, and what a question offers."""

from __future__ import annotations

from typing import Any

import pytest

from longbox.plugins.commands.maps import Marks, in_columns, map_lines, place_lines


def thing(name: str, place: str | None = None, kind: str = "token", **printed: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "kind": kind, "printed": printed}
    return made | ({"place": place} if place else {})


def space(name: str, row: int, column: int, *things: str, mark: str = ".") -> dict[str, Any]:
    return {"space": name, "at": [row, column], "mark": mark, "things": list(things)}


def shown(spaces: list[dict[str, Any]], *things: dict[str, Any], name: str = "yard") -> dict[str, Any]:
    return {"things": list(things), "boards": [{"name": name, "spaces": spaces}]}


HEXES = [
    space("a1", 0, 0, mark="R"),
    space("b1", 0, 2, "Ann"),
    space("a2", 1, 1, "Door"),
    space("b2", 1, 3, "peg", "peg"),
]
THINGS = (
    thing("a1", kind="gate", color="red", row=1),
    thing("Ann", "b1"),
    thing("Door", "a2"),
    thing("Bob", "Door"),
    thing("peg", "Door"),
    thing("peg", "Door"),
    thing("peg", "b2"),
    thing("peg", "b2"),
)


def test_rows_of_hexes_are_shifted_by_half() -> None:
    assert map_lines(shown(HEXES, *THINGS), plurals={"peg": "pegs"}) == [
        "  .-----------.-----------.",
        "  |a1       R |b1 An      |",
        "  '-----.-----'-----.-----'-----.",
        "        |a2 Do: Bo  |b2 2pe     |",
        "        |2pe        |           |",
        "        '-----------'-----------'",
        "  gate: R red",
        "  An Ann: b1   pe peg: b2",
        "  Do Door (a2): Bob, 2 pegs",
    ]


def test_squares_stand_below_each_other() -> None:
    squares = [space(f"{'ab'[x]}{y + 1}", y, 2 * x) for y in range(2) for x in range(2)]
    assert map_lines(shown(squares)) == [
        "  .-------.-------.",
        "  |a1     |b1     |",
        "  +-------+-------+",
        "  |a2     |b2     |",
        "  '-------'-------'",
    ]


def test_what_is_offered_stands_in_brackets_and_only_what_is_around_it_is_drawn() -> None:
    wide = [space(f"{'abcdefghij'[x]}{y + 1}", y, 2 * x) for y in range(6) for x in range(10)]
    lines = map_lines(shown(wide), offered=["b2", "c2"])
    assert [line for line in lines if "[" in line] == ["  |a2     |[b2]   |[c2]   |d2     |"]
    assert lines[1].startswith("  |a1 ") and "f1" not in "".join(lines) and "a4" not in "".join(lines)
    assert len(map_lines(shown(wide), offered=["a1", "j6"])) == 13  # next to nothing is left out


def test_only_boards_with_something_offered_are_drawn() -> None:
    boards = [{"name": n, "spaces": [space(f"{n} a1", 0, 0)]} for n in ("yard", "street")]
    lines = map_lines({"things": [], "boards": boards}, offered=["street a1"])
    assert lines[0] == "street:" and "|[a1]" in lines[2] and len(lines) == 4
    assert map_lines({"things": [], "boards": boards})[0] == "yard:"


def test_the_signs_of_a_text_stand_for_things_in_full_and_need_no_legend() -> None:
    spaces = [space("a1", 0, 0, "Oak Peg", "Ash Peg"), space("Gate", 0, 2, "Elm Peg", mark="G")]
    shown = {"boards": [{"name": "yard", "spaces": spaces}], "things": []}
    lines = map_lines(shown, signs={"Oak Peg": "3 Oak", "Elm Peg": ""})
    assert lines == [
        "  .---------------.---------------.",
        "  |a1 3 Oak AP    |Gate           |",
        "  '---------------'---------------'",
        "  AP Ash Peg: a1",
    ]


def test_marks_differ_whatever_their_case_and_stay() -> None:
    marks = Marks()
    names = [
        "minion",
        "Micro-guy",
        "Majesty",
        "Mason",
        "Brass Footman",
        "Gas in the Ballroom",
        "X",
        "Oak Peg #2",
    ]
    given = [marks.of(name) for name in names]
    assert given == ["mi", "Mc", "Ma", "Ms", "BF", "GB", "X", "OP2"]
    assert [marks.of(name) for name in reversed(names)] == given[::-1]
    assert marks.of("Oak Peg") == "OP"
    many = [marks.of(f"peg {'abcdefghijklmnop'[n]}") for n in range(16)]
    assert len({mark.lower() for mark in (*many, *given)}) == 24


def test_a_board_without_room_has_one_word_for_each_space() -> None:
    track = [space(f"s{n}", 0, 2 * n, mark="w") for n in range(22)]
    track[3]["things"] = ["Ann", "Bob"]
    lines = map_lines(shown(track, thing("s0", kind="step"), thing("Ann", "s3"), thing("Bob", "s3")))
    assert lines[0].split() == ["w", "w", "w", "An+", *["w"] * 18]
    assert map_lines(shown(track), offered=["s0", "s21"])[0].split()[::21] == ["s0", "s21"]


@pytest.mark.parametrize("count", [2, 5, 11, 15, 16, 22, 40])
def test_no_board_is_wider_than_a_screen(count: int) -> None:
    row = [space(f"s{n}", y, 2 * n + y % 2, "A Thing of Some Length") for n in range(count) for y in range(3)]
    assert all(len(line) <= 100 for line in map_lines(shown(row, thing("A Thing of Some Length"))))


def test_many_entries_stand_in_columns() -> None:
    assert in_columns(["1 a", "2 bb", "3 c"], width=16) == ["  1 a    2 bb", "  3 c"]
    assert in_columns(["x" * 40, "1 a"]) == ["  1 a", "  " + "x" * 40]


def test_who_is_where_can_be_read_without_a_drawing() -> None:
    lines = place_lines(shown(HEXES, *THINGS), ["a1", "b1", "a2", "b2"], {"peg": "pegs"})
    assert lines == ["b1: Ann", "Door (a2): Bob, 2 pegs", "b2: 2 pegs"]
