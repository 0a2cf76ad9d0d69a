"""Everything that can go wrong while a game runs.

    LongboxError
        AnswerError        the player's: nothing changed
            IllegalAnswer      that answer is not offered
            StaleAnswer        that question is closed, or not yours
            UnclearAnswer      it fits two of the answers offered
        RuleError          the author's: a text asked for something impossible, at a line
            OverBudget         a text that does not come to an end
        ReplayError        the history's: it does not follow from its rules, or cannot be read

Control flow inside the kernel (never seen outside): Paused, GameOver, EndGame, StopScope.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .questions import Question


class LongboxError(Exception):
    """The root of all errors that a user can cause or mend."""


class AnswerError(LongboxError):
    """An answer that was not taken. The game is as it was."""


class IllegalAnswer(AnswerError):
    """That answer is not among those offered."""


class StaleAnswer(AnswerError):
    """That question is closed, or is asked of somebody else."""


class UnclearAnswer(AnswerError):
    """That answer fits more than one of those offered."""


class RuleError(LongboxError):
    """A text asked for something impossible. `file` and `line` say which."""

    def __init__(self, what: str, file: str = "", line: int = 0) -> None:
        self.what, self.file, self.line = what, file, line
        super().__init__(f"{file}:{line}: {what}" if file else what)


class OverBudget(RuleError):
    """A text spent its budget of steps, events or things without coming to an end."""


class ReplayError(LongboxError):
    """A history that does not follow from its rules. `event` is the number of the first one that differs."""

    def __init__(self, what: str, event: int = -1, expected: Any = None, actual: Any = None) -> None:
        self.event, self.expected, self.actual = event, expected, actual
        super().__init__(what)


class Paused(Exception):
    """No answer is there yet: unwind, show the questions, run again when one is given."""

    def __init__(self, *questions: Question) -> None:
        self.questions = questions


class GameOver(Exception):
    """The outcome is recorded; nothing more happens."""


class EndGame(Exception):
    """Go to the scoring."""


class StopScope(Exception):
    """Unwind to the end of a running scope, named by its verb or phase."""

    def __init__(self, scope: str) -> None:
        self.scope = scope
