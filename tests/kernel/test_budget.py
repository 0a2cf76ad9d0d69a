"""Law 9, second half: what does not end is stopped at its bound, and the line that spent it is named."""

from __future__ import annotations

import pytest
from playing import program_of

from longbox.kernel import Game, OverBudget, RuleError

FRAME = """pack loop "Loop"
game "Loop"
    seats 2
    each seat is a player
kind player
    counter score, any number
kind pebble is token
zone heap
verb (p: player) spins:
    p spins
verb (p: player) hops:
    p skips
verb (p: player) skips:
    p hops
query depth of (n: number) -> number:
    if n > 0:
        answer depth of (n + 1)
    answer 0
after any player jumps:
    p jumps
verb (p: player) jumps:
    put 1 score on p
round:
    turn of the player where order of it = 1:
"""
LINE = FRAME.count("\n") + 1


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (
            "        repeat while yes:\n            put 1 score on you\n            take 1 score from you\n",
            LINE,
        ),
        ("        repeat 1000000000 times:\n            put 1 score on you\n", LINE),
        ("        you spins\n", 10),
        ("        you hops\n", None),
        ("        let x = depth of 1\n        put x score on you\n", 17),
        ("        you jumps\n", None),
        ("        create 30000 pebbles in heap\n", LINE),
        ("        let x = 2\n        repeat 100 times:\n            let x = x * x\n", LINE + 2),
        ("        let x = 2\n        repeat 100000 times:\n            let x = x + x\n", LINE + 2),
        ("        let x = 1 / 0\n", LINE),
    ],
)
def test_a_text_without_end_stops_at_its_line(body: str, line: int | None) -> None:
    text = (FRAME + body).replace("repeat while yes", "repeat while 1 < 2")
    with pytest.raises(RuleError) as caught:
        Game(program_of(text), seed=1, start=False).play(lambda q: q.keys[0])
    assert caught.value.file == "test.box"
    if line is not None:
        assert line - 2 <= caught.value.line <= line + 2


def test_a_round_without_a_question_is_stopped() -> None:
    with pytest.raises(OverBudget, match="without asking anybody") as caught:
        Game(
            program_of(FRAME + "        put 1 score on you\n        take 1 score from you\n"),
            seed=1,
            start=False,
        ).play(lambda q: q.keys[0])
    assert caught.value.line == LINE - 1


def test_nested_descriptions_are_charged() -> None:
    deep = "any pebble where (any pebble where (any pebble where (any pebble where (it is not it))))"
    text = (
        FRAME + f"        create 2000 pebbles in heap\n        if {deep}:\n            put 1 score on you\n"
    )
    text = text.replace("zone heap", "zone heap, live")
    with pytest.raises(OverBudget):
        Game(program_of(text), seed=1, start=False).play(lambda q: q.keys[0])
