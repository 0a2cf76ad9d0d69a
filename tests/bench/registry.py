"""What a section and a contender are, and how a slice of time is spent.

A contender is a section, a name and a setup function. Setup runs once, before the rounds: it imports what it
needs and returns a slice, `slice(seconds) -> (units of work done, seconds they took)`. A setup that raises
`ModuleNotFoundError` is reported as not installed, which is no error. Any other exception is: it is shown,
and the others still run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TypeAlias

Slice: TypeAlias = Callable[[float], tuple[int, float]]
Setup: TypeAlias = Callable[[], Slice]


@dataclass(frozen=True, slots=True)
class Section:
    """One table of the report: contenders that do the same work, counted in the same unit."""

    name: str
    title: str
    unit: str
    references: tuple[str, ...] = ()
    """The contenders that the others are divided by, one column each."""


@dataclass(frozen=True, slots=True)
class Contender:
    """Someone who does the work of a section."""

    section: str
    name: str
    setup: Setup


SECTIONS = (
    Section(
        "games/tic_tac_toe",
        "Tic-tac-toe, random games to the end, in memory",
        "moves",
        ("hand-written with events", "PettingZoo raw"),
    ),
    Section(
        "games/uno",
        "UNO by RLCard's rules, random games to the end, in memory",
        "moves",
        ("RLCard rules object", "hand-written with events"),
    ),
    Section(
        "games/leduc",
        "Leduc hold'em by RLCard's rules, random hands to the end, in memory",
        "moves",
        ("RLCard rules object", "hand-written with events"),
    ),
    Section(
        "games/rich", "Games with a rich state, for orientation: the games differ", "moves", ("python-chess",)
    ),
    Section(
        "durable/uno",
        "UNO, every event in SQLite; unless told, NORMAL, a transaction a game (RLCard stores nothing)",
        "moves",
        ("RLCard env.run", "RLCard env.step", "hand-written, a row an event"),
    ),
    Section(
        "durable/events",
        "Events stored in SQLite: 200 bytes and a row each; Longbox's 40 bytes, about 330 to a game's row",
        "events",
        ("raw sqlite3, NORMAL, 100 a transaction", "raw sqlite3, FULL, 100 a transaction"),
    ),
    Section(
        "durable/live",
        "UNO answer by answer, each stored with all that follows before the next is asked",
        "answers",
        ("hand-written, FULL", "hand-written, NORMAL"),
    ),
    Section(
        "fork",
        "An independent copy of a game in mid-play (UNO, 20 moves old)",
        "copies",
        ("hand-written copy", "RLCard deepcopy"),
    ),
    Section(
        "load",
        "Stored UNO games read back and folded: Longbox's have about 330 events, those by hand 54",
        "events",
        ("hand-written, from SQLite", "hand-written, fold only"),
    ),
    Section(
        "compile",
        "From text to something that runs: the packs in expansions/; Python's are the hand-written games",
        "packs",
        ("Python compile()", "Python bytecode from a cache"),
    ),
)


def timed(work: Callable[[], int]) -> Slice:
    """A slice that repeats `work`, which returns the units it did, until the time is over.

    The clock stops after the last whole piece of work, so nothing is cut off and nothing is counted twice.
    """

    def spend(seconds: float) -> tuple[int, float]:
        units, start = 0, perf_counter()
        now, end = start, start + seconds
        while now < end:
            units += work()
            now = perf_counter()
        return units, now - start

    return spend


def timed_calls(call: Callable[[], object], batch: int) -> Slice:
    """A slice of single calls too short to look at the clock after each one."""

    def work() -> int:
        for _ in range(batch):
            call()
        return batch

    return timed(work)
