"""Warnings about what no text uses: a use in the words of a question is a use, too."""

from __future__ import annotations

import pytest

from longbox.dsl.compiler import read_packs
from longbox.dsl.source import Source

GAME = """pack p "P"
game "P"
    seats 2
    each seat is a player
query hint -> text: "pick one"
window spare time
option "{hint}", during spare time:
    now done is done + 1
state done: number = 0
round:
    for each player, in turn order:
        turn of player:
            STATEMENT
            if done > 0:
                draw game
"""
OPTION = 'option "{hint}", during'


def warnings(text: str) -> list[str]:
    checked = read_packs([Source("p.box", text)])
    assert not checked.errors, checked.show()
    return [problem.code for problem in checked.problems if problem.span.line == 5]


@pytest.mark.parametrize(
    "statement",
    [
        'choose a number from 1 to 2 called n, by player, saying "{hint}"',
        'ask player, saying "{hint}":\n                "go":\n                    now done is 1',
        'ask player:\n                "{hint}":\n                    now done is 1',
    ],
)
def test_words_of_a_question_are_a_use(statement: str) -> None:
    text = GAME.replace(OPTION, 'option "wait", during').replace("STATEMENT", statement)
    assert warnings(text) == []


def test_the_label_of_an_option_is_a_use() -> None:
    assert warnings(GAME.replace("STATEMENT", "offer spare time to player")) == []


def test_what_nothing_uses_is_told() -> None:
    text = GAME.replace(OPTION, 'option "wait", during').replace("STATEMENT", "offer spare time to player")
    assert warnings(text) == ["LB0305"]
