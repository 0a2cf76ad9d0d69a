"""Passing for the rest of a round: whoever says so is not asked again out of turn until the next one begins."""

from __future__ import annotations

from longbox.kernel import Game, Question, Thing
from longbox.kernel.questions import PASS


class Passing:
    """Who passes, and in which round they said so. Every pass is an answer like any other, and stored as one."""

    def __init__(self) -> None:
        self._in: dict[Thing, int] = {}

    def begin(self, seat: Thing, number: int) -> None:
        self._in[seat] = number

    def forget(self) -> None:
        self._in.clear()

    def covers(self, game: Game, question: Question, number: int) -> bool:
        """Does the one who is asked pass here without being bothered?"""
        return may_pass_round(game, question) and self._in.get(question.seats[0]) == number


def may_pass_round(game: Game, question: Question) -> bool:
    """A question to one seat, out of its turn, that may be passed."""
    return len(question.seats) == 1 and PASS in question.keys and turn_of(game) != question.seats[0]


def turn_of(game: Game) -> Thing | None:
    """The seat whose turn it is, or that owns whose turn it is; nobody between turns."""
    state, log = game.state, game.log
    step = next((log[at] for at in range(len(log) - 1, 0, -1) if log[at][0] == "stepped"), None)
    subject = step[6] if step is not None and step[5] == "turn" else None
    if subject is None and state.open.get("turn"):
        subject = log[state.began["turn"]][4]
    if subject is None or subject in state.of["seat"]:
        return subject
    return state.owner[subject]
