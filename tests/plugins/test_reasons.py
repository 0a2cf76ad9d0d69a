"""Why a number is what it is, and what an answer would lead to: by running again and by forks."""

from __future__ import annotations

import pytest

from longbox.kernel import Game
from longbox.plugins.commands.previews import UNSURE, Previews
from longbox.plugins.commands.reasons import number_line, reasons
from longbox.plugins.commands.story import Reading, Story
from longbox.plugins.loader import load_game, program_from_texts

HEROES = ("Ironbloom", "Voltaic Vesper", "The Cartographer", "Granite Saint", "Lady Halcyon")


@pytest.fixture
def game() -> Game:
    """Regent Null has acted, and it is Ironbloom's turn."""
    made = Game(load_game("sentinels", ["sentinels.two_villains"]), seed=1)
    for key in ("Regent Null", *HEROES, "Regent Null", "Mother Tessellate", "Mother Tessellate"):
        made.answer(key)
    return made


def story_of(game: Game) -> Story:
    story = Story(Reading.of(game.program), game.seats[0])
    story.follow(game.log)
    return story


def asked(game: Game, *keys: str) -> Game:
    for key in keys:
        game.answer(key)
    return game


# ---------------------------------------------------------------- why 3?
def test_each_change_of_a_number_is_told_with_its_card_and_line(game: Game) -> None:
    asked(game, "pass", "pass", "pass", "pass", "pass", "pass", "pass", "pass", "pass")
    story = story_of(game)
    line = number_line(story, 5)
    assert line is not None and line.text == "Granite Saint takes 5 psychic damage from Regent Null"
    told = " ".join(" ".join(reasons(game, line, story.reading)).split())
    assert "3: sentinels/villains/regent_null.box:23: self deals a hero target with the most hp H - 1" in told
    assert "+1: sentinels/rules/damage.box" in told and "if source is at odds with target" in told
    assert "value +1: Crown of Static, sentinels/villains/regent_null.box" in told
    assert "increase damage dealt by Regent Null by 1" in told


def test_an_effect_of_its_own_takes_no_number_from_around_it() -> None:
    text = """pack p "P"
game "P"
    seats 1
    each seat is a player
kind player
    counter harm
    counter luck
state stings: number = 0, kept per root effect
verb harm (p: player) by (n: number):
    now stings is stings + 1
    put n + stings harm on p
verb risk (p: player) for (n: number):
    put n luck on p
    root effect sting:
        harm p by 2
before risk any player for any number:
    now n is n + 5
round:
    for each player:
        turn of player:
            ask player:
                "go":
                    risk player for 1
"""
    made = Game(program_from_texts({"p/p.box": text}), seed=1)
    made.answer("go")
    story = story_of(made)
    line = number_line(story, 2)
    assert line is not None and line.event[3] == "harm (p) by (n)"
    told = reasons(made, line, story.reading)
    assert len(told) == 2 and "p/p.box:15: harm p by 2" in told[1]


def test_a_number_that_nothing_has_is_not_found(game: Game) -> None:
    assert number_line(story_of(game), 777) is None


def test_running_again_changes_nothing(game: Game) -> None:
    before = list(game.log)
    assert game.retraced() == game.retraced() != []
    assert game.log == before and game.state.trace is None


# ---------------------------------------------------------------- preview
def test_a_preview_says_what_damage_would_land_and_changes_nothing(game: Game) -> None:
    asked(game, "pass", "use Ironbloom")
    before, question = list(game.log), game.question
    assert question is not None
    previews = Previews(game, question, story_of(game))
    told = "\n".join(previews.lines("Crown of Static"))
    assert "Crown of Static takes 2 toxic damage from Ironbloom (hp 6)" in told
    assert game.log == before and game.question is question
    game.answer("Crown of Static")
    assert any("Crown of Static takes 2 toxic damage" in line.text for line in story_of(game).lines)


def test_a_preview_ends_where_a_hidden_card_would_be_seen(game: Game) -> None:
    asked(game, "pass", "pass")
    question = game.question
    assert question is not None and "draw 1 card" in question.keys
    told = Previews(game, question, story_of(game)).lines("draw 1 card")
    assert told == [UNSURE]


def test_a_preview_does_not_depend_on_what_is_hidden(game: Game) -> None:
    """The same answers with another seed: other cards in the decks, the same words."""
    other = Game(game.program, seed=2)
    for key in ("Regent Null", *HEROES, "Regent Null", "Mother Tessellate", "Mother Tessellate"):
        other.answer(key)
    told = []
    for one in (game, other):
        while one.question is not None and "draw 1 card" not in one.question.keys:
            one.answer("pass" if "pass" in one.question.keys else one.question.keys[0])
        assert one.question is not None
        told.append(Previews(one, one.question, story_of(one)).lines("draw 1 card"))
    assert told[0] == told[1]
