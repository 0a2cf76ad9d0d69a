"""What can go wrong with stored games. Each message says what to do about it.

HistoryError
    UnknownGame      no history of that name
    CorruptHistory   a stored event was changed, is missing or cannot be read
    ChangedRules     the packs are not those the game was played with
    CannotUndo       a decision that cannot be taken back
    StorageProblem   the database cannot be reached, read or written
"""

from __future__ import annotations

from longbox.kernel import LongboxError


class HistoryError(LongboxError):
    """Something about a stored game. What was acknowledged is still stored."""


class UnknownGame(HistoryError):
    """No history has that name."""


class CorruptHistory(HistoryError):
    """A stored event was changed, is missing, or cannot be read. `version` says which."""

    def __init__(self, what: str, version: int = 0) -> None:
        self.version = version
        super().__init__(what)


class ChangedRules(HistoryError):
    """The packs at hand are not those that the game was played with."""


class CannotUndo(HistoryError):
    """A decision that cannot be taken back."""


class StorageProblem(HistoryError):
    """The database cannot be reached, read or written."""


_ADVICE = (
    (("full",), "the disk is full: free some space and try again"),
    (
        ("readonly", "read-only", "permission denied"),
        "it or its folder cannot be written to: check its permissions",
    ),
    (("locked", "busy"), "another program is writing to it: try again in a moment"),
    (
        ("not a database", "malformed", "encrypted"),
        "it is not a database or is damaged: name another file, or restore it from a copy",
    ),
    (
        ("unable to open", "no such file"),
        "it cannot be opened: check that its folder exists and may be written to",
    ),
    (
        ("disk i/o",),
        "the disk refused to write (full, a limit, or failing): make room or use another disk, and try again",
    ),
    (
        ("connect", "server", "timeout"),
        "the database server cannot be reached: check that it runs, and the address",
    ),
)


def storage_problem(db: str, error: BaseException) -> StorageProblem:
    """The error of a database in words that say what to do."""
    said = " ".join(str(error).split()) or type(error).__name__
    low = said.lower()
    advice = next(
        (words for marks, words in _ADVICE if any(mark in low for mark in marks)), "the database refused"
    )
    return StorageProblem(f"{db}: {advice} ({said}). Nothing that was acknowledged is lost.")
