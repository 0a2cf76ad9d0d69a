"""python-chess, a respected engine of a rich game in plain Python; its move stack is kept."""

from importlib import import_module
from random import Random

from ..registry import Contender, Slice, timed, timed_calls

MOVES_BEFORE_FORK = 20


def random_chess() -> Slice:
    """Random chess to one of the automatic endings, about 350 moves."""
    board_class, rng = import_module("chess").Board, Random(1)

    def play() -> int:
        board = board_class()
        while not board.is_game_over():
            board.push(rng.choice(list(board.legal_moves)))
        return len(board.move_stack)

    return timed(play)


def copy_of_board() -> Slice:
    """A copy of a board and its move stack, by its own method."""
    board, rng = import_module("chess").Board(), Random(5)
    for _ in range(MOVES_BEFORE_FORK):
        board.push(rng.choice(list(board.legal_moves)))
    return timed_calls(board.copy, 100)


CONTENDERS = (
    Contender("games/rich", "python-chess", random_chess),
    Contender("fork", "python-chess copy (chess)", copy_of_board),
)
