"""What a text opens to everybody: queries that are seen by all, and texts that can be built from values."""

from __future__ import annotations

import pytest
from playing import program_of

from longbox.dsl.compiler import compile_packs
from longbox.dsl.format import format_text
from longbox.dsl.problems import TextError
from longbox.dsl.source import Source
from longbox.kernel import Game, Program

TEXT = """\
pack pegs "Pegs"
    version 1.0
game "Pegs"
    seats 1
kind peg is card
    has worth: number?
    has mate: peg?
    has shades: set of shade
    starts in tray
words shade: dark, light
zone tray, seen by all
peg "Oak"
    worth 2
    shades dark, light
peg "Ash"
query open one -> number, seen by all: 1
query closed one -> number: 2
value weight of (p: peg) -> number = 3, at least 0, seen by all
query told -> text, seen by all: "{pegs in tray}; {Oak's mate}; {Ash's worth}; {Oak's shades}; {tray}; {no peg is worn}"
adjective worn for peg: it is in play
round:
    ask seats:
        "go":
            draw game
"""


def test_only_what_is_marked_is_seen_by_all() -> None:
    queries = program_of(TEXT).tables["queries"]
    assert {words: spec["seen"] for words, spec in queries.items()} == {
        "open one": True,
        "closed one": False,
        "weight of (peg)": True,
        "told": True,
    }


def test_a_text_is_built_from_any_value() -> None:
    game = Game(program_of(TEXT))
    function = game.program.function(game.program.tables["queries"]["told"]["function"])
    assert function(game.state, -1, None, None) == "Oak and Ash; nothing; nothing; dark and light; tray; yes"


@pytest.mark.parametrize(
    "line", ["query open one -> number, seen by owner: 1", "query open one -> number, at least 3: 1"]
)
def test_what_says_nothing_about_a_query_is_refused(line: str) -> None:
    wrong = TEXT.replace("query open one -> number, seen by all: 1", line)
    with pytest.raises(TextError, match=r"LB0221: '.*' says nothing about a query"):
        compile_packs([Source("test.box", wrong)])


def test_the_clause_has_its_format() -> None:
    loose = TEXT.replace("-> number, seen by all: 1", "->number , seen  by all :1")
    assert format_text(Source("test.box", loose)) == format_text(Source("test.box", TEXT))


def test_a_query_of_another_file_can_stand_in_a_text() -> None:
    """It is written in place; its lines are those of the text that uses it."""
    one, two = TEXT.split("query told", 1)[0], TEXT.split('no peg is worn}"\n', 1)[1]
    more = 'query dear -> set of peg: pegs in tray where its worth > 1\nquery told -> text, seen by all: "{dear}"\n'
    head, tail = more.split("\n", 1)
    texts = [Source("a.box", one + head + "\n" + two), Source("b.box", tail)]
    game = Game(Program(compile_packs(texts)))
    function = game.program.function(game.program.tables["queries"]["told"]["function"])
    assert function(game.state, -1, None, None) == "Oak"
