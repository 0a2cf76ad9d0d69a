"""Stored games: every decision with all that followed from it, in order, nothing thrown away.

Read in this order: bodies (what is stored, and how), store (where), timeline (what it comes to), beginnings
(how a history starts), session (a game that is being played), verify, library (`Histories`, the front door).
"""

from .bodies import Decided, Played, Repacked, Revealed, Sealed, Started, Undone
from .errors import CannotUndo, ChangedRules, CorruptHistory, HistoryError, StorageProblem, UnknownGame
from .library import Histories, Summary
from .session import Session
from .store import Entry
from .timeline import Step, Timeline
from .verify import Problem, Report

__all__ = [
    "CannotUndo",
    "ChangedRules",
    "CorruptHistory",
    "Decided",
    "Entry",
    "Histories",
    "HistoryError",
    "Played",
    "Problem",
    "Repacked",
    "Report",
    "Revealed",
    "Sealed",
    "Session",
    "Started",
    "Step",
    "StorageProblem",
    "Summary",
    "Timeline",
    "Undone",
    "UnknownGame",
]
