"""Tic-tac-toe with no engine: the limit of plain Python. X moves first."""

from random import Random
from typing import Any, TypeAlias

Log: TypeAlias = list[dict[str, Any]]

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


class TicTacToe:
    """A board; with a log, also everything that happened on it."""

    __slots__ = ("cells", "over", "player", "winner")

    def __init__(self) -> None:
        self.cells: list[int | None] = [None] * 9
        self.player = 0
        self.winner: int | None = None
        self.over = False

    def legal_actions(self) -> list[int]:
        """The empty cells."""
        return [i for i, cell in enumerate(self.cells) if cell is None]

    def apply(self, cell: int, log: Log | None = None) -> None:
        """Mark a cell for the player to move."""
        cells, player = self.cells, self.player
        cells[cell] = player
        if log is not None:
            log.append({"type": "cell_marked", "player": player, "cell": cell})
        for a, b, c in LINES:
            if cells[a] == player and cells[b] == player and cells[c] == player:
                self.winner = player
                self.over = True
                break
        else:
            self.over = None not in cells
        if self.over:
            if log is not None:
                log.append({"type": "game_ended", "winner": self.winner})
        else:
            self.player = 1 - player


def play(rng: Random, log: Log | None = None) -> int:
    """Play one random game; return the number of moves."""
    game, moves, choice = TicTacToe(), 0, rng.choice
    while not game.over:
        game.apply(choice(game.legal_actions()), log)
        moves += 1
    return moves
