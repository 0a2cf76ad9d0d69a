"""The eventsourcing library used as its documentation shows: an aggregate, an event triggered for each thing.

SQLite with the library's own settings (WAL, synchronous FULL); about 200 bytes of state an event.
"""

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..registry import Contender, Slice, timed

EVENTS_A_SAVE = 100
EVENTS_A_GAME = 1000


def save_by_hundreds() -> Slice:
    """Trigger a hundred events, save them in one transaction."""
    tally = import_module(".tally", __package__)

    def work_on(application: Any) -> Callable[[], int]:
        game = tally.Tally()

        def work() -> int:
            tally.trigger(game, EVENTS_A_SAVE)
            application.save(game)
            return EVENTS_A_SAVE

        return work

    return _in_application(tally, work_on)


def load_by_repository() -> Slice:
    """Read an aggregate back from its events."""
    tally = import_module(".tally", __package__)

    def work_on(application: Any) -> Callable[[], int]:
        game = tally.Tally()
        tally.trigger(game, EVENTS_A_GAME - 1)
        application.save(game)

        def work() -> int:
            application.repository.get(game.id)
            return EVENTS_A_GAME

        return work

    return _in_application(tally, work_on)


def _in_application(tally: Any, work_on: Callable[[Any], Callable[[], int]]) -> Slice:
    def spend(seconds: float) -> tuple[int, float]:
        with TemporaryDirectory() as place:
            database = os.fspath(Path(place) / "events.sqlite")
            application = tally.Tallies(
                env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": database}
            )
            try:
                return timed(work_on(application))(seconds)
            finally:
                application.close()

    return spend


CONTENDERS = (
    Contender("durable/events", "eventsourcing aggregate, FULL, 100 a save", save_by_hundreds),
    Contender("load", "eventsourcing repository, from SQLite", load_by_repository),
)
