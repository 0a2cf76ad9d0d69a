"""Tables and lists as text for people."""

from __future__ import annotations

from typing import Any

from longbox.kernel.text import (
    Names,
    board_lines,
    fields_text,
    listed,
    map_lines,
    render_event,
    table_lines,
    wrapped,
    zone_lines,
)


def table(things: list[dict[str, Any]], zones: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"things": things, "zones": zones, "values": {}, "boards": []} | more


def thing(name: str, place: str | None = None, **fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "kind": "token"}
    if place:
        made["place"] = place
    return made | ({"fields": fields} if fields else {})


def zone(name: str, *things: str | None) -> dict[str, Any]:
    return {"zone": name, "count": len(things), "things": list(things)}


def space(name: str, row: int, column: int, *things: str, mark: str = ".") -> dict[str, Any]:
    return {"space": name, "at": [row, column], "mark": mark, "things": list(things)}


def test_equal_names_are_counted() -> None:
    assert listed(["a", "b", "a"]) == "2 x a and b"
    assert listed(["a hidden thing"] * 3) == "3 hidden things"
    assert listed([]) == "nothing"


def test_long_lines_go_on_below_and_words_stay_whole() -> None:
    lines = wrapped("  hand: " + ", ".join(["well-worn thing"] * 20))
    assert len(lines) > 1 and all(len(line) <= 100 for line in lines)
    assert all(line.startswith("      ") for line in lines[1:])
    assert " ".join(line.strip() for line in lines).count("well-worn thing") == 20
    assert wrapped("x" * 100) == ["x" * 100]


def test_one_thing_moves_and_several_move() -> None:
    names = Names(["bag", "tray", "a", "b"])
    assert render_event(names, ("swept", -1, 0, (2,), 0, 1)) == "a moves from bag to tray"
    assert render_event(names, ("swept", -1, 0, (2, 3), 0, 1)) == "a and b move from bag to tray"


def test_things_are_told_of_below_their_place() -> None:
    shown = table(
        [
            thing("Ann", "box", score=3),
            thing("a", "tray", dents=2),
            thing("b", "tray"),
            thing("c", "a", dents=1),
        ],
        [zone("box", "Ann"), zone("tray", "a", "b"), zone("bag")],
    )
    assert table_lines(shown) == ["Ann: score 3", "tray: a and b", "  a: dents 2; on it c", "    c: dents 1"]


def test_things_that_are_as_printed_are_only_named() -> None:
    shown = table(
        [thing("a", "tray", worth=3, dents=1), thing("b", "tray", worth=2)], [zone("tray", "a", "b")]
    )
    printed = {("a", "worth", "3"), ("a", "dents", "0"), ("b", "worth", "2")}
    assert table_lines(shown, printed) == ["tray: a and b", "  a: worth 3, dents 1"]


def test_equal_things_are_told_of_together() -> None:
    shown = table([thing("peg", "tray", dents=1)] * 30, [zone("tray", *["peg"] * 30)])
    assert table_lines(shown) == ["tray: 30, on top peg", "  30 x peg: dents 1"]
    assert zone_lines(shown, "tray") == ["tray: 30 x peg", "  30 x peg: dents 1"]


def test_what_may_not_be_seen_is_counted() -> None:
    hidden = {"zone": "bag", "count": 4, "known": ["a"]}
    shown = table([thing("a", "bag")], [hidden, zone("tray", None, None, "b")])
    assert table_lines(shown) == ["bag: 4; known to you: a", "tray: 2 hidden things and b"]
    assert zone_lines(table([], [zone("tray")]), "tray") == ["tray: empty"]


def test_spaces_are_told_of_with_what_is_there() -> None:
    shown = table([thing("b2", mark="X"), thing("b3"), thing("a", "b3"), thing("b4")], [])
    assert table_lines(shown) == ["b2: mark X", "b3: a"]


def test_values_that_say_nothing_are_left_out() -> None:
    values = {"total": 0, "left": -1, "done": False, "open": True, "leader": None, "marks": ["x", "y"]}
    assert table_lines(table([], [], values=values)) == [
        "total: 0",
        "left: -1",
        "open: yes",
        "marks: x and y",
    ]
    assert fields_text({"row": 1, "worth": -1, "dents": 0, "marks": []}) == "worth -1"


def test_a_small_board_is_only_drawn() -> None:
    board = {"name": "yard", "spaces": [space("a1", 0, 0, "X"), space("b1", 0, 2), space("a2", 1, 1)]}
    assert board_lines(board) == ["  X .", "   ."] or board_lines(board) == ["  X   .", "    ."]
    assert board_lines({"name": "yard", "spaces": []}) == []


def test_the_rows_of_a_large_board_have_names_and_fit() -> None:
    spaces = [space(f"{'abcdefghij'[x]}{y + 1}", y, 2 * x) for y in range(10) for x in range(10)]
    spaces[0]["things"] = ["A Thing of Some Length", "another"]
    lines = board_lines({"name": "yard", "spaces": spaces})
    assert lines[9].startswith("  a10 to j10  .")
    assert all(len(line) <= 100 for line in lines)
    assert "+1" in lines[0]
    drawn = map_lines(table([], [], boards=[{"name": "yard", "spaces": spaces}]))
    assert drawn == [*lines, "a1: A Thing of Some Length and another"]


def test_several_boards_have_their_names() -> None:
    boards = [{"name": name, "spaces": [space("s", 0, 0)]} for name in ("yard", "street")]
    assert map_lines(table([], [], boards=boards)) == ["yard:", "  .", "street:", "  ."]
