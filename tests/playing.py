"""Helpers for tests that play: programs of the games in expansions/, and seeded policies."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

from longbox.dsl.compiler import compile_packs
from longbox.dsl.source import Source
from longbox.kernel import Game, Program, Question

EXPANSIONS = Path(__file__).resolve().parents[1] / "expansions"
GAMES = sorted(p.name for p in EXPANSIONS.iterdir() if p.is_dir() and any(p.rglob("*.box")))


def game_sources(game: str) -> list[Source]:
    folder = EXPANSIONS / game
    return [
        Source(f"{game}/{p.relative_to(folder).as_posix()}", p.read_text("utf-8"))
        for p in sorted(folder.rglob("*.box"))
    ]


@cache
def program(game: str) -> Program:
    return Program(compile_packs(game_sources(game)))


@cache
def program_of(text: str) -> Program:
    """A program made of one text, for tests that bring their own game."""
    return Program(compile_packs([Source("test.box", text)]))


def uniform(seed: int) -> Callable[[Question], str]:
    """A policy that answers at random, the same way each time."""
    choice = random.Random(seed).choice
    return lambda question: choice(question.keys)


def played(game: str, seed: int, steps: int = 10_000) -> Game:
    """A random game, answer by answer, so that it stands at a question if it is not over."""
    made, policy = Game(program(game), seed=seed), uniform(seed)
    for _ in range(steps):
        if made.over:
            break
        question = made.questions[0]
        made.answer(policy(question), question.seats[0])
    return made
