"""sqlite3 itself: rows appended to a table of events, with no library in between.

The table is the one the eventsourcing library makes, the payload 200 bytes, the journal WAL. FULL waits for
the disk at every transaction; NORMAL may lose the last ones in a power cut, never part of one. Each slice has
a fresh database in the temporary folder (TMPDIR chooses the disk); making it is not counted.
"""

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from ..registry import Contender, Setup, Slice, timed

Row: TypeAlias = tuple[str, int, str, bytes]

TABLE = (
    "CREATE TABLE stored_events (originator_id TEXT, originator_version INTEGER, topic TEXT, state BLOB, "
    "PRIMARY KEY (originator_id, originator_version))"
)
INSERT = "INSERT INTO stored_events VALUES (?,?,?,?)"
SELECT = "SELECT state FROM stored_events WHERE originator_id=? ORDER BY originator_version"
TOPIC = "bench.events:CardPlayed"
PAYLOAD = bytes(range(32, 132)) * 2


def in_database(synchronous: str, work_on: Callable[[sqlite3.Connection], Callable[[], int]]) -> Slice:
    """A slice with a fresh database of its own; `work_on` prepares it and returns the work to be timed."""

    def spend(seconds: float) -> tuple[int, float]:
        with TemporaryDirectory() as place, closing(_open(Path(place), synchronous)) as database:
            return timed(work_on(database))(seconds)

    return spend


def append(database: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Store rows in one transaction."""
    database.execute("BEGIN")
    database.executemany(INSERT, rows)
    database.execute("COMMIT")


def _open(place: Path, synchronous: str) -> sqlite3.Connection:
    database = sqlite3.connect(place / "events.sqlite", isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute(f"PRAGMA synchronous={synchronous}")
    database.execute(TABLE)
    return database


def _raw(synchronous: str, per_transaction: int) -> Setup:
    def work_on(database: sqlite3.Connection) -> Callable[[], int]:
        stored = 0

        def work() -> int:
            nonlocal stored
            append(database, [("game", stored + n, TOPIC, PAYLOAD) for n in range(per_transaction)])
            stored += per_transaction
            return per_transaction

        return work

    return lambda: in_database(synchronous, work_on)


CONTENDERS = tuple(
    Contender(
        "durable/events",
        f"raw sqlite3, {synchronous}, {per_transaction} a transaction",
        _raw(synchronous, per_transaction),
    )
    for synchronous in ("NORMAL", "FULL")
    for per_transaction in (100, 1)
)
