"""The kernel: things, events, questions and the walk through a game. It knows no game.

Read in this order: state (the table), fold (what changes it), questions, rules (what watches), turns (the walk),
program (the compiled rules and the box), game (the driver), views (what one seat may see).
"""

from .errors import (
    AnswerError,
    IllegalAnswer,
    LongboxError,
    OverBudget,
    ReplayError,
    RuleError,
    StaleAnswer,
    UnclearAnswer,
)
from .game import Game, fold_history
from .program import Compiled, Program
from .questions import Question
from .state import Event, State, Thing

__all__ = [
    "AnswerError",
    "Compiled",
    "Event",
    "Game",
    "IllegalAnswer",
    "LongboxError",
    "OverBudget",
    "Program",
    "Question",
    "ReplayError",
    "RuleError",
    "StaleAnswer",
    "State",
    "Thing",
    "UnclearAnswer",
    "fold_history",
]
