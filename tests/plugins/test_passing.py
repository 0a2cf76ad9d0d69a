"""Passing for the rest of a round: who said so is not asked out of turn until the next round."""

from __future__ import annotations

from pathlib import Path

import pytest
from playing import program_of
from running import Longbox

from longbox.kernel import Game
from longbox.plugins.commands.passing import Passing, may_pass_round, turn_of
from longbox.plugins.histories import Histories

BELLS = """pack bells "Bells"
game "Bells"
    seats 2
    each seat is a player
kind player
    counter rings
window reply
option "ring", during reply, by player:
    put 1 rings on you
round:
    phase bells:
        for each player, in turn order:
            turn of player:
                ask player:
                    "strike":
                        offer reply to (the player where it != player)
                    "rest":
                        offer reply to player
    if total rings of players > 9: draw game
"""


def test_only_a_question_out_of_turn_that_may_be_passed_is_a_reaction() -> None:
    game = Game(program_of(BELLS), seed=1)
    first, second = game.seats
    question = game.question
    assert question is not None and turn_of(game) == first and not may_pass_round(game, question)
    game.answer("strike")
    question = game.question
    assert question is not None and question.seats == (second,) and may_pass_round(game, question)
    other = Game(program_of(BELLS), seed=1)
    other.answer("rest")
    question = other.question
    assert question is not None and question.keys == ["ring", "pass"] and not may_pass_round(other, question)


def test_it_holds_for_its_seat_and_its_round() -> None:
    game = Game(program_of(BELLS), seed=1)
    first, second = game.seats
    game.answer("strike")
    question, passing = game.question, Passing()
    assert question is not None and not passing.covers(game, question, 1)
    passing.begin(first, 1)
    assert not passing.covers(game, question, 1)
    passing.begin(second, 1)
    assert passing.covers(game, question, 1) and not passing.covers(game, question, 2)
    passing.forget()
    assert not passing.covers(game, question, 1)


@pytest.fixture
def bells(tmp_path: Path) -> Path:
    (tmp_path / "bells").mkdir()
    (tmp_path / "bells" / "bells.box").write_text(BELLS, "utf-8")
    return tmp_path


def test_at_the_keyboard(longbox: Longbox, bells: Path, db: Path) -> None:
    """Player 2 passes in round 1 and is asked again in round 2; in the own turn it is no use."""
    typed = "pass round\nstrike\npass round\nstrike\nring\nstrike\nring\n"
    words = ("--stdin", "--packs", str(bells), "--name", "b")
    ran = longbox("play", "bells", *words, stdin=typed)
    assert ran.code == 0, ran.err
    assert "'pass round' is for questions out of your turn that may be passed." in ran.lines
    hint = "  ('pass round': also from now on, until the round is over)"
    assert ran.lines.count(hint) == 3
    with Histories(db) as histories:
        answers = [event[4] for event in histories.events("b") if event[0] == "answered"]
    assert answers == ["strike", "pass", "strike", "ring", "strike", "ring"]


def test_a_pass_that_was_said_for_the_round_is_given_without_a_question(
    longbox: Longbox, bells: Path, db: Path
) -> None:
    twice = BELLS.replace("offer reply to (the", "repeat 3 times: offer reply to (the")
    (bells / "bells" / "bells.box").write_text(twice, "utf-8")
    ran = longbox(
        "play", "bells", "--stdin", "--packs", str(bells), "--name", "b", stdin="strike\npass round\n"
    )
    assert ran.code == 0, ran.err
    with Histories(db) as histories:
        answers = [event[4] for event in histories.events("b") if event[0] == "answered"]
    assert answers == ["strike", "pass", "pass", "pass"]
