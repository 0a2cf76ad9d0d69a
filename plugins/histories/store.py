"""Where bodies are kept: the eventsourcing library, on SQLite, PostgreSQL or in memory.

The library brings the recorders, transactions and the rule that of two events with one number only the first
is taken. Ours are the mapper (bodies come encoded, because each names the hash of the one before) and,
for SQLite, the pool: it says itself how careful writing is, and hands out no open transaction.

Settings are handed over whole: the library would let the environment of the process override them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from eventsourcing.application import Application
from eventsourcing.domain import DomainEventProtocol
from eventsourcing.persistence import (
    InfrastructureFactoryError,
    IntegrityError,
    Mapper,
    OperationalError,
    PersistenceError,
    StoredEvent,
    Transcoder,
)
from eventsourcing.sqlite import SQLiteConnection, SQLiteConnectionPool, SQLiteFactory
from eventsourcing.utils import Environment, EnvType

from .bodies import AnyBody, read_body, unwrap
from .errors import CorruptHistory, HistoryError, StorageProblem, storage_problem

MEMORY = ":memory:"
_SQLITE = b"SQLite format 3\0"  # how its files begin
SYNCHRONOUS = ("FULL", "NORMAL", "EXTRA", "OFF")


@dataclass(frozen=True, slots=True)
class Row:
    """One stored event as it lies in the database. All that the library asks of an event."""

    originator_id: str
    originator_version: int
    topic: str
    state: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored event, read: its number in the history, its body, its hash, and its time if one was kept."""

    version: int
    topic: str
    body: AnyBody
    hash: str
    at: str = ""


def read_row(row: Row) -> Entry:
    """Raises CorruptHistory, with the number of the row, if it is not as it was stored."""
    try:
        plain, mark, at = unwrap(row.topic, row.state)
        return Entry(row.originator_version, row.topic, read_body(row.topic, plain), mark, at)
    except CorruptHistory as error:
        raise CorruptHistory(str(error), row.originator_version) from None
    except (ValueError, KeyError, TypeError) as error:  # msgspec's errors are ValueErrors
        raise CorruptHistory(f"it cannot be read: {error}", row.originator_version) from None


# ---------------------------------------------------------------- the library, set up
class NoTranscoder(Transcoder):
    """Bodies come encoded."""

    def encode(self, obj: Any) -> bytes:
        raise NotImplementedError

    def decode(self, data: bytes) -> Any:
        raise NotImplementedError


class RowMapper(Mapper[str]):
    """Rows are stored as they are."""

    def to_stored_event(self, domain_event: DomainEventProtocol[str]) -> StoredEvent:
        assert isinstance(domain_event, Row)
        return StoredEvent(
            domain_event.originator_id,
            domain_event.originator_version,
            domain_event.topic,
            domain_event.state,
        )

    def to_domain_event(self, stored_event: StoredEvent) -> DomainEventProtocol[str]:
        return row_of(stored_event)


def row_of(stored: StoredEvent) -> Row:
    return Row(str(stored.originator_id), stored.originator_version, stored.topic, bytes(stored.state))


class Pool(SQLiteConnectionPool):
    """Connections that say how careful writing is, and that keep their statements prepared."""

    synchronous = "FULL"

    def _create_connection(self) -> SQLiteConnection:
        wait = self.lock_timeout or 5
        try:
            made = sqlite3.connect(self.db_name, timeout=wait, isolation_level=None, check_same_thread=False)
            made.execute("PRAGMA journal_mode=WAL")
            made.execute(f"PRAGMA synchronous={self.synchronous}")
        except sqlite3.Error as error:
            raise OperationalError(error) from error
        made.row_factory = sqlite3.Row
        return SQLiteConnection(sqlite_conn=made, max_age=self.max_age)

    def put_connection(self, conn: SQLiteConnection) -> None:
        """A commit that failed leaves its transaction open: the next user must not find it."""
        if not conn.closed and conn._sqlite_conn.in_transaction:
            conn._sqlite_conn.rollback()
        super().put_connection(conn)


class Factory(SQLiteFactory):
    """The library's factory with our pool."""

    def __init__(self, env: Environment | EnvType | None) -> None:
        super().__init__(env)
        old = self.datastore.pool
        self.datastore.pool = Pool(db_name=old.db_name, lock_timeout=old.lock_timeout)
        self.datastore.pool.synchronous = self.env.get("SQLITE_SYNCHRONOUS") or "FULL"
        old.close()


class Games(Application[str]):
    """One aggregate a game. What os.environ says is none of its business."""

    name = "longbox"

    def construct_env(self, name: str, env: EnvType | None = None) -> Environment:
        return Environment(name, dict(env or {}))


class Batch:
    """Rows on their way into the database, in the shape the library takes."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.id, self.version = rows[0].originator_id, rows[-1].originator_version
        self._rows = rows

    def collect_events(self) -> Sequence[Row]:
        rows, self._rows = self._rows, []
        return rows


# ---------------------------------------------------------------- settings
def settings_of(db: str, synchronous: str, lock_timeout: int) -> dict[str, str]:
    """The library's settings for a file, a server (postgresql://...) or memory."""
    env = {
        "MAPPER_TOPIC": f"{__name__}:RowMapper",
        "TRANSCODER_TOPIC": f"{__name__}:NoTranscoder",
        "ORIGINATOR_ID_TYPE": "text",
    }
    if db == MEMORY:
        return env | {"PERSISTENCE_MODULE": "eventsourcing.popo"}
    if db.startswith(("postgresql://", "postgres://")):
        return env | _postgres(db, lock_timeout)
    return env | {
        "PERSISTENCE_MODULE": f"{__name__}:Factory",
        "SQLITE_DBNAME": db,
        "SQLITE_SYNCHRONOUS": synchronous,
        "SQLITE_LOCK_TIMEOUT": str(lock_timeout),
    }


def _postgres(url: str, lock_timeout: int) -> dict[str, str]:
    """postgresql://user:password@host:port/database; `?host=` names the folder of a socket."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    return {
        "PERSISTENCE_MODULE": "eventsourcing.postgres",
        "POSTGRES_DBNAME": unquote(parts.path.lstrip("/")) or "longbox",
        "POSTGRES_HOST": query.get("host", [parts.hostname or "localhost"])[0],
        "POSTGRES_PORT": query.get("port", [str(parts.port or 5432)])[0],
        "POSTGRES_USER": unquote(parts.username or "longbox"),
        "POSTGRES_PASSWORD": unquote(parts.password or ""),
        "POSTGRES_CONNECT_TIMEOUT": query.get("connect_timeout", ["5"])[0],
        "POSTGRES_LOCK_TIMEOUT": str(lock_timeout),
    }


def _named(db: str) -> str:
    """A database as messages call it: without its password."""
    parts = urlsplit(db) if "://" in db else None
    return db if parts is None or not parts.password else db.replace(f":{parts.password}@", "@", 1)


def _check_file(file: Path) -> None:
    """SQLite takes a file of a few bytes for an empty database, and would write over it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_file() and file.stat().st_size:
        with file.open("rb") as opened:
            if opened.read(len(_SQLITE)) != _SQLITE:
                raise OSError("file is not a database")


# ---------------------------------------------------------------- the store
class Conflict(HistoryError):
    """Somebody else stored an event with that number first."""


class Store:
    """Rows in, rows out; what a database can complain of becomes a StorageProblem."""

    def __init__(self, db: str | Path = MEMORY, *, synchronous: str = "FULL", lock_timeout: int = 5) -> None:
        if synchronous.upper() not in SYNCHRONOUS:
            raise HistoryError(f"synchronous is one of {', '.join(SYNCHRONOUS)}, not {synchronous!r}")
        self.db = str(db)
        self.named = _named(self.db)
        with self._clear():
            if self.db != MEMORY and "://" not in self.db:
                _check_file(Path(self.db))
            self._games = Games(settings_of(self.db, synchronous.upper(), lock_timeout))

    def close(self) -> None:
        self._games.close()

    @contextmanager
    def _clear(self) -> Iterator[None]:
        """Errors in words that say what to do."""
        try:
            yield
        except IntegrityError as error:
            raise Conflict(str(error)) from None
        except InfrastructureFactoryError as error:
            raise StorageProblem(
                f"{self.named}: PostgreSQL needs an extra: pip install 'longbox[postgres]' ({error})"
            ) from None
        except (PersistenceError, sqlite3.Error, OSError) as error:
            raise storage_problem(self.named, error) from None

    def save(self, rows: Sequence[Row]) -> None:
        """All of them or none. Raises Conflict if one of their numbers is taken."""
        with self._clear():
            self._games.save(Batch(rows))

    def save_many(self, rows: Sequence[Row]) -> None:
        """The same for a great many rows, past the library's bookkeeping of aggregates."""
        with self._clear():
            self._games.recorder.insert_events(
                [StoredEvent(r.originator_id, r.originator_version, r.topic, r.state) for r in rows]
            )

    def rows(self, name: str) -> list[Row]:
        with self._clear():
            return [row_of(stored) for stored in self._games.recorder.select_events(name)]

    def last(self, name: str) -> Row | None:
        with self._clear():
            found = self._games.recorder.select_events(name, desc=True, limit=1)
            return row_of(found[0]) if found else None

    def with_topics(self, topics: Sequence[str], page: int = 500) -> Iterator[Row]:
        """All rows with these topics, oldest first."""
        start = 0
        while True:
            with self._clear():
                found = self._games.recorder.select_notifications(
                    start, page, topics=topics, inclusive_of_start=False
                )
            yield from map(row_of, found)
            if len(found) < page:
                return
            start = found[-1].id
