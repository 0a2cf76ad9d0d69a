"""Questions that people and bots are asked together: which answers are whose to give.

Where several may act, an answer begins with the name of the one who acts. Bots act for what belongs to them: when
nobody else has anything to do, when a person says so, and before a person passes for all.
"""

from __future__ import annotations

from longbox.kernel import Game, Question, Thing
from longbox.kernel.questions import PASS

from ..bots import Table


def bot_answers(game: Game, question: Question, table: Table) -> dict[str, Thing]:
    """The answers in which a bot acts, with the bot's seat; none if only bots or only people are asked."""
    bots = {seat for seat in question.seats if table.bots[seat] is not None}
    if not bots or len(bots) == len(question.seats) or question.things:
        return {}
    state = game.state
    seats = {key: thing if thing in game.seats else state.owner[thing] for thing, key in enumerate(state.key)}
    owners = {key: seats.get(key.partition(": ")[0]) for key in question.keys if ": " in key}
    return {key: owner for key, owner in owners.items() if owner in bots}


def only_bots_can_act(question: Question, theirs: dict[str, Thing]) -> bool:
    """Is there nothing for people but to pass?"""
    return bool(theirs) and all(key in theirs or key == PASS for key in question.keys)


def bot_answer(game: Game, question: Question, table: Table, theirs: dict[str, Thing]) -> str:
    """What a bot would answer, of all that bots can do here; passing, too, where that is offered."""
    bot = table.bots[next(iter(theirs.values()))]
    assert bot is not None, "a bot sits there"
    keys = [key for key in question.keys if key in theirs or key == PASS]
    asked = Question(
        question.state, question.seats, question.cause, question.site, question.prompt, keys, question.things
    )
    return bot(game, asked)
