"""How many lines of answers there are to a depth, from known positions: one wrong rule moves a number."""

from __future__ import annotations

import pytest
from playing import program

from longbox.kernel import Game


def perft(game: Game, depth: int) -> int:
    """Lines of that many answers; a game that is over ends its line early and does not count."""
    if depth == 0:
        return 1
    if game.over:
        return 0
    question = game.questions[0]
    return sum(perft(_after(game, key), depth - 1) for key in question.keys)


def _after(game: Game, key: str) -> Game:
    fork = game.fork()
    fork.answer(key)
    return fork


@pytest.mark.parametrize(("depth", "lines"), [(1, 9), (2, 72), (3, 504), (4, 3024)])
def test_tic_tac_toe_from_the_start(depth: int, lines: int) -> None:
    assert perft(Game(program("tic_tac_toe"), seed=1), depth) == lines


@pytest.mark.parametrize(("depth", "lines"), [(1, 2), (2, 2), (3, 0)])
def test_tic_tac_toe_with_two_cells_left(depth: int, lines: int) -> None:
    game = Game(program("tic_tac_toe"), seed=1)
    for cell in ("a1", "b1", "c1", "b2", "a2", "a3", "b3"):
        game.answer(cell)
    assert perft(game, depth) == lines


@pytest.mark.parametrize(("depth", "lines"), [(1, 3), (2, 6), (3, 11), (4, 20)])
def test_leduc_first_hand(depth: int, lines: int) -> None:
    """Fold, call or raise; after two raises only fold and call; a second round after both have settled."""
    assert perft(Game(program("leduc"), seed=1), depth) == lines
