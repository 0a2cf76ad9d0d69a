"""All stored games: start one, take one up, list, read, check, fork.

    with Histories("games.db") as histories:
        session = histories.start(program, seed=1)
        session.answer("a1")
        histories.verify(session.id).ok

Ids of histories are words; the store has two more sorts of rows beside them: `seal/<id>` (the seed of a
running game) and `box/<hash>` (the first body that simulated games share).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from longbox.kernel import Event, Game, Program, ReplayError
from longbox.kernel.views import outcome_view

from ..loader import load_game, pack_texts, program_from_texts
from .beginnings import (
    NAME,
    changed_packs,
    checked_name,
    forked,
    header,
    numbered_names,
    packs_of,
    random_name,
    reading_of,
    rows_of,
    salt_of,
    texts_of,
)
from .bodies import (
    AnyBody,
    Decided,
    Played,
    Repacked,
    Revealed,
    Sealed,
    Started,
    Undone,
    encode,
    pack_events,
    wrap,
)
from .errors import ChangedRules, CorruptHistory, HistoryError, StorageProblem, UnknownGame
from .session import Clock, Session, commits, differs, resume, revealed, row_for
from .store import Conflict, Entry, Row, Store, read_row
from .timeline import Report as Reporter
from .timeline import Timeline, read_timeline, strict
from .verify import Report, check_all

# Inside the class `list` is a method.
Entries: TypeAlias = list[Entry]
Events: TypeAlias = list[Event]
Ids: TypeAlias = list[str]
Rows: TypeAlias = list[Row]
_FIRST = [f"{b.TOPIC}.v{n}" for b in (Started, Played) for n in range(1, b.VERSION + 1)]


@dataclass(frozen=True)
class Summary:
    """A line of a list of histories."""

    id: str
    game: str
    title: str
    seats: tuple[str, ...]
    decisions: int
    events: int
    over: bool
    outcome: dict[str, Any] | None
    bots: dict[str, str]
    parent: tuple[str, int] | None = None
    problem: str = ""  # why it cannot be read; then all else is unknown


class Histories:
    """The stored games of one database: a file, a PostgreSQL server (postgresql://...) or memory."""

    def __init__(
        self,
        db: str | Path = ":memory:",
        *,
        synchronous: str = "FULL",
        lock_timeout: int = 5,
        clock: Clock | None = None,
    ) -> None:
        """`clock` gives a time as text, kept beside each stored event for auditors; none by default."""
        self._store = Store(db, synchronous=synchronous, lock_timeout=lock_timeout)
        self._clock = clock
        self._boxes: dict[str, Entry] = {}  # by hash
        self._shared: dict[int, tuple[Event, Program, str]] = {}  # box event -> hash of its stored box

    def __enter__(self) -> Histories:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._store.close()

    # ------------------------------------------------------------ starting and taking up
    def start(
        self,
        program: Program,
        *,
        seed: int | None = None,
        seats: int | Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        game_id: str | None = None,
        embed_text: bool = False,
        bots: Mapping[str, str] = {},
        texts: Mapping[str, str] | None = None,
    ) -> Session:
        """A new game, stored up to its first question. Without a seed one is drawn that nobody can guess."""
        seed = secrets.randbits(128) if seed is None else seed
        game = Game(program, seed, seats, settings)
        sealed = Sealed(seed=str(seed), salt=salt_of(seed))
        started = header(
            program,
            game,
            bots=dict(bots),
            commitment=commits(sealed),
            facts=pack_events(game.log),
            texts=texts_of(program, texts) if embed_text else None,
        )
        end = [revealed(game, sealed, 0, len(game.log))] if game.over else []
        name = self._begin(game_id, [started, *end], sealed)
        return self._session(self._timeline(name), program, sealed, game)

    def load(self, game_id: str, program: Program | None = None, *, allow_changed: bool = False) -> Session:
        """Take a game up again exactly where it stood. Refuses other packs than it was played with.

        With `allow_changed` it goes on with them if they lead to the same events; the next answer records it.
        """
        line = self._timeline(game_id)
        program = program or self._find_program(line)
        repack = self._changed(line, program, allow_changed)
        sealed = self._sealed(line)
        return self._session(
            line, program, sealed, self._resume(line, program, sealed, loose=repack is not None), repack
        )

    def _session(
        self, line: Timeline, program: Program, sealed: Sealed, game: Game, repack: Repacked | None = None
    ) -> Session:
        def reload() -> tuple[Timeline, Game]:
            now = self._timeline(line.id)
            return now, self._resume(now, program, sealed, loose=repack is not None)

        return Session(
            self._store, line, program, sealed, game, reload=reload, clock=self._clock, repack=repack
        )

    def _resume(self, line: Timeline, program: Program, sealed: Sealed, loose: bool = False) -> Game:
        was, line.repacked = line.repacked, line.repacked or loose
        try:
            return resume(line, program, int(sealed.seed))
        except ReplayError as error:
            raise HistoryError(
                f"{line.id} does not follow from these rules: {differs(program, error)}"
            ) from error
        finally:
            line.repacked = was

    def _begin(self, game_id: str | None, bodies: Sequence[AnyBody], sealed: Sealed) -> str:
        """Store the first bodies of a history under a name that is free."""
        while True:
            name = checked_name(game_id) if game_id is not None else random_name()
            try:
                self._store.save([*rows_of(name, bodies, self._now()), row_for(f"seal/{name}", 1, sealed)[0]])
                return name
            except Conflict:
                if game_id is not None:
                    raise HistoryError(
                        f"there is a history called {game_id!r} already; choose another name"
                    ) from None

    def _now(self) -> str:
        return self._clock() if self._clock else ""

    # ------------------------------------------------------------ rules
    def _find_program(self, line: Timeline) -> Program:
        """The rules a history was played with: its own text if it has it, else what is installed."""
        if line.texts is not None:
            return program_from_texts(line.texts)
        known = ("std", line.started.game)
        return load_game(
            line.started.game, extra=[pack["id"] for pack in line.packs if pack["id"] not in known]
        )

    @staticmethod
    def _changed(line: Timeline, program: Program, allowed: bool) -> Repacked | None:
        """What to record if the packs are others than those in force; an error unless that is allowed."""
        what = changed_packs(line.packs, program)
        if not what:
            return None
        if not allowed:
            raise ChangedRules(
                f"{line.id} was played with other packs: {'; '.join(what)}. Install those, or load it with "
                "allow_changed=True to go on with these"
            )
        return Repacked(
            packs=packs_of(program),
            texts=None if line.texts is None else pack_texts(program),
            reading=reading_of(program),
            decisions=len(line.steps),
            events=line.total,
            prev="",
        )

    def _sealed(self, line: Timeline) -> Sealed:
        found = self._seal(line.id)
        if line.played is not None:
            return Sealed(seed=line.played.seed, salt="")
        if line.revealed is not None:
            return Sealed(seed=line.revealed.seed, salt=line.revealed.salt)
        if found is None:
            raise CorruptHistory(f"{line.id}: its seed is missing, so it can be read but not played on")
        return found

    def _seal(self, name: str) -> Sealed | None:
        rows = self._store.rows(f"seal/{name}")
        body = read_row(rows[0]).body if rows else None
        return body if isinstance(body, Sealed) else None

    # ------------------------------------------------------------ reading
    def list(self) -> list[Summary]:
        """Every history, oldest first."""
        return [self._summary(row) for row in self._store.with_topics(_FIRST) if "/" not in row.originator_id]

    def events(self, game_id: str, upto: int | None = None) -> Events:
        """The events that count, up to and including number `upto`. Needs no rules."""
        events = self._timeline(game_id).events
        return events if upto is None else events[: upto + 1]

    def entries(self, game_id: str) -> Entries:
        """Everything that is stored of a game, also what was undone."""
        return [read_row(row) for row in self._rows(game_id)]

    def started(self, game_id: str) -> Started:
        """The first body: game, packs, seats, and what is needed to read the events."""
        return self._timeline(game_id).started

    def _rows(self, name: str) -> Rows:
        rows = self._store.rows(name) if NAME.fullmatch(name) else []
        if not rows:
            close = get_close_matches(name, [row.originator_id for row in self._store.with_topics(_FIRST)], 3)
            help_ = f"did you mean {' or '.join(close)}?" if close else "list them to see which there are"
            raise UnknownGame(f"there is no history called {name!r} in {self._store.named}; {help_}")
        return rows

    def _timeline(self, name: str, report: Reporter = strict) -> Timeline:
        try:
            line = read_timeline(name, self._rows(name), self._box, report)
        except CorruptHistory as error:
            raise CorruptHistory(
                f"{name}: {error}. Verify it, or restore it from a copy.", error.version
            ) from None
        if line is None:
            raise CorruptHistory(f"{name}: its first stored event cannot be read", 1)
        return line

    def _box(self, mark: str) -> Entry:
        """The first body that simulated games share."""
        if mark not in self._boxes:
            rows = self._store.rows(f"box/{mark}")
            if not rows:
                raise CorruptHistory(f"what it is played with (box/{mark}) is missing")
            entry = read_row(rows[0])
            if entry.hash != mark:
                raise CorruptHistory(f"what it is played with (box/{mark}) was exchanged")
            self._boxes[mark] = entry
        return self._boxes[mark]

    def _summary(self, row: Row) -> Summary:
        """A damaged history does not hide the others."""
        try:
            return self._read_summary(row)
        except HistoryError as error:
            if isinstance(error, StorageProblem):
                raise
            name = row.originator_id
            return Summary(
                name, "", "damaged", (), 0, 0, False, None, {}, problem=f"{error}; verify says more"
            )

    def _read_summary(self, row: Row) -> Summary:
        """From the first and the last stored event."""
        name = row.originator_id
        first = read_row(row).body
        if isinstance(first, Played):
            box = self._box(first.box).body
            assert isinstance(box, Started)
            return summary(name, box, first.decisions, first.events, first.outcome, first.bots)
        assert isinstance(first, Started)
        last = self._store.last(name)
        body = read_row(last).body if last else first
        if isinstance(body, Decided | Undone | Repacked | Revealed) and body.decisions >= 0:
            outcome = body.outcome if isinstance(body, Revealed) else None
            return summary(name, first, body.decisions, body.events, outcome, first.bots)
        line = self._timeline(name)
        return summary(name, first, len(line.steps), line.total, line.outcome, first.bots)

    # ------------------------------------------------------------ checking
    def verify(self, game_id: str, program: Program | None = None) -> Report:
        """Chain, undo, seed; then fold and run the rules again, and compare."""
        report = Report(game_id)
        try:
            line = read_timeline(game_id, self._rows(game_id), self._box, report.stored)
        except CorruptHistory as error:
            report.stored(error.version, str(error))
            return report
        if line is None:
            return report
        last = line.version
        whole = self._store.last(game_id)
        if whole is not None and whole.originator_version != last:
            return report  # what follows a stored event that cannot be read means nothing
        check_all(
            line,
            self._seal_quietly(line, report),
            lambda: self._checked_program(line, program, report),
            report,
        )
        return report

    def _seal_quietly(self, line: Timeline, report: Report) -> Sealed | None:
        try:
            return self._seal(line.id)
        except CorruptHistory as error:
            report.add(f"its seal was changed: {error}")
            return None

    def _checked_program(self, line: Timeline, program: Program | None, report: Report) -> Program:
        program = program or self._find_program(line)
        for what in changed_packs(line.packs, program):
            report.add(f"the packs are not those it was played with: {what}")
        return program

    # ------------------------------------------------------------ forks
    def fork(self, game_id: str, at_event: int, new_id: str | None = None) -> str:
        """A new history with the decisions up to an event. It may be played on with another outcome."""
        line = self._timeline(game_id)
        if not 0 <= at_event < line.total:
            raise HistoryError(f"{game_id} has events 0 to {line.total - 1}, not {at_event}")
        sealed = self._sealed(line)
        sealed = Sealed(seed=sealed.seed, salt=salt_of(int(sealed.seed)))
        bodies = forked(line, sealed, at_event)
        return self._begin(new_id, bodies, sealed)

    # ------------------------------------------------------------ simulation
    def store_finished(
        self,
        games: Iterable[Game],
        *,
        ids: Iterable[str] | None = None,
        bots: Mapping[str, str] = {},
        compress: bool = True,
        batch: int = 200,
    ) -> Ids:
        """Store games that were played to their end, one row each, `batch` of them in a transaction."""
        names = iter(ids) if ids is not None else numbered_names()
        played = (self._played(game, checked_name(next(names)), dict(bots), compress) for game in games)
        stored: Ids = []
        while rows := list(islice(played, batch)):
            try:
                self._store.save_many(rows)
            except Conflict:
                raise HistoryError(
                    "one of these names is taken already; none of this batch is stored"
                ) from None
            stored += [row.originator_id for row in rows]
        return stored

    def _played(self, game: Game, name: str, bots: dict[str, str], compress: bool) -> Row:
        if game.outcome is None:
            raise HistoryError(
                f"{name}: only a finished game is stored whole; use start() for one that goes on"
            )
        body = Played(
            box=self._shared_box(game),
            seed=str(game.seed),
            bots=bots,
            decisions=game.decisions,
            events=len(game.log),
            outcome=outcome_view(game.state) or {},
            facts=pack_events(game.log[1:]),
        )
        state, _ = wrap(body.topic(), encode(body), self._now(), compress)
        return Row(name, 1, body.topic(), state)

    def _shared_box(self, game: Game) -> str:
        """The hash of the first body that this game shares with others; stored when it is first met."""
        opened = game.log[0]
        known = self._shared.get(id(opened))
        if known is not None and known[0] is opened and known[1] is game.program:
            return known[2]
        body = header(game.program, game, facts=pack_events([opened]))
        mark = row_for("", 1, body)[1]
        if not self._store.rows(f"box/{mark}"):
            with suppress(Conflict):  # another process stored the same
                self._store.save([row_for(f"box/{mark}", 1, body)[0]])
        self._shared[id(opened)] = (opened, game.program, mark)
        return mark


def summary(
    name: str,
    started: Started,
    decisions: int,
    events: int,
    outcome: dict[str, Any] | None,
    bots: dict[str, str],
) -> Summary:
    return Summary(
        name,
        started.game,
        started.title,
        tuple(started.seats),
        decisions,
        events,
        outcome is not None,
        outcome,
        bots,
        started.parent,
    )
