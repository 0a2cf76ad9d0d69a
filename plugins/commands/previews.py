"""What an answer would lead to, found by giving it on a fork of the game.

The fork has other chance than the game, and its story is told only up to where chance or something hidden decides:
nobody learns anything that they could not work out from what they see.
"""

from __future__ import annotations

from collections.abc import Sequence

from longbox.kernel import Event, Game, LongboxError, Question, State, Thing
from longbox.kernel.chance import Seeded
from longbox.kernel.views import may_look

from .story import Story
from .telling import Teller

UNSURE = "the rest depends on chance or on what is hidden"


class Previews:
    """Looks ahead for one seat, from one question."""

    def __init__(self, game: Game, question: Question, story: Story) -> None:
        self.game, self.question = game, question
        self.seat = story.seat if story.seat in question.seats else question.seats[0]
        self.story = Story(story.reading, story.seat, story.open_answers)
        self.story.follow(game.log)

    def lines(self, key: str) -> list[str]:
        """What would be told next, and what comes then if that can be known."""
        fork, start = self.game.fork(Seeded(0)), len(self.game.log)
        try:
            fork.answer(key, self.seat)
        except LongboxError as error:
            return [str(error)]
        sure = start + known(self.game.state, self.seat, fork.log[start:])
        self.story.follow(fork.log[:sure])
        ahead = [line for line in self.story.lines if line.number >= start and line.event[0] != "answered"]
        told = Teller(self.story).tell(ahead)
        self.story.take_back(self.game.log)
        if sure < len(fork.log):
            return [*told, UNSURE]
        return [*told, "The game would be over."] if fork.over else told


def known(state: State, seat: Thing | None, events: Sequence[Event]) -> int:
    """How many of these events follow from what the seat sees now."""
    for at, event in enumerate(events):
        if event[0] in ("shuffled", "rolled", "picked", "shown", "created"):
            return at
        if event[0] in ("moved", "swept") and _is_closed(state, seat, event[4]):
            return at
    return len(events)


def _is_closed(state: State, seat: Thing | None, place: Thing | None) -> bool:
    return place in state.sight and not may_look(state, seat, place)
