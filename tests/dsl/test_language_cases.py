"""The hardest pieces of five games, in text: they must always check, compile, and play with random answers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from playing import uniform

from longbox.dsl.compiler import compile_packs, read_packs
from longbox.dsl.source import Source
from longbox.kernel import Game, OverBudget, Program, fold_history

FOLDER = Path(__file__).resolve().parents[1] / "language"
CASES = sorted(p.name for p in FOLDER.iterdir() if (p / "rules.box").exists())


def sources(case: str) -> list[Source]:
    files = sorted((FOLDER / case).glob("*.box"), key=lambda p: (p.stem != "rules", p.stem))
    return [Source(f"{case}/{p.name}", p.read_text("utf-8")) for p in files]


@cache
def program(case: str) -> Program:
    return Program(compile_packs(sources(case)))


def test_every_game_is_here_or_complete() -> None:
    """A game whose whole text is among the expansions needs no case any more."""
    games = ["heroes_incorporated", "heroes_wanted", "hour_of_need", "marvel_heroes", "sentinels"]
    complete = [p.name for p in (FOLDER.parents[1] / "expansions").iterdir() if p.name in games]
    assert sorted([*CASES, *complete]) == games


@pytest.mark.parametrize("case", CASES)
def test_the_texts_check_without_a_problem(case: str) -> None:
    checked = read_packs(sources(case))
    assert checked.errors == [], checked.show()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_the_texts_play(case: str, seed: int) -> None:
    """Hundreds of random answers, and the table folded from the events is the live one."""
    game = Game(program(case), seed=seed)
    policy = uniform(seed)
    for _ in range(120):
        if game.over:
            break
        question = game.questions[-1]
        game.answer(policy(question), question.seats[0])
    assert game.decisions > 20 or game.over
    assert fold_history(game.log).snapshot() == game.state.snapshot()


@pytest.mark.parametrize("case", CASES)
def test_the_texts_play_fast_as_well(case: str) -> None:
    game = Game(program(case), seed=7, start=False)
    try:
        game.play(uniform(7), decisions_max=3000)
    except OverBudget as error:
        assert "decisions" in str(error)
    assert game.decisions > 20
