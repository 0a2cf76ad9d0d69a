"""Tables and lists as text for people."""

from __future__ import annotations

from typing import Any

from longbox.kernel.text import (
    Names,
    fields_text,
    listed,
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


def test_fields_that_nobody_needs_to_be_told_of_are_left_out() -> None:
    shown = table([thing("a", "tray", dents=2, home="bag")], [zone("tray", "a")])
    assert table_lines(shown, skip=["home"]) == ["tray: a", "  a: dents 2"]
    assert zone_lines(shown, "tray", skip=["home", "dents"]) == ["tray: a"]


def test_faces_of_dice_are_named() -> None:
    names = Names(
        ["Ann"],
        {
            "(who) weighs (pool)": {
                "slots": [{"name": "who", "thing": True}, {"name": "pool", "thing": False}],
                "told": "",
            }
        },
    )
    event = ("did", -1, 0, "(who) weighs (pool)", 0, (("hit",), (), ("hit", "star"), ("hit",)))
    assert render_event(names, event) == "Ann weighs 2 x hit, blank and hit + star"
