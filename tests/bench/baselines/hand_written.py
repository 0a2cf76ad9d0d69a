"""The games written by hand: rules alone, events kept, events stored, copied, and folded back."""

import copy
import json
import pickle
import sqlite3
from collections.abc import Callable
from functools import partial
from itertools import count, cycle
from random import Random
from typing import Any, TypeAlias

from ..registry import Contender, Setup, Slice, timed, timed_calls
from . import leduc, tictactoe, uno
from .sqlite_rows import SELECT, Row, append, in_database

Log: TypeAlias = list[dict[str, Any]]
Play: TypeAlias = Callable[[Random, Log | None], int]

MOVES_BEFORE_FORK = 20
STORED_GAMES = 100


def rules_only(play: Play) -> Setup:
    """Games that keep nothing: below this no Python gets."""
    return lambda: timed(partial(play, Random(1), None))


def with_events(play: Play) -> Setup:
    """Games that keep one dict for each thing that happened."""

    def setup() -> Slice:
        rng = Random(1)
        return timed(lambda: play(rng, []))

    return setup


def row_an_event() -> Slice:
    """UNO games, each event a row of JSON."""
    return _stored(_rows_of_events)


def row_a_game() -> Slice:
    """UNO games, all events of a game in one row of JSON."""
    return _stored(_row_of_game)


def _stored(rows: Callable[[str, Log], list[Row]]) -> Slice:
    rng, numbers = Random(1), count()

    def work_on(database: sqlite3.Connection) -> Callable[[], int]:
        def work() -> int:
            log: Log = []
            moves = uno.play(rng, log)
            append(database, rows(f"{next(numbers):032x}", log))
            return moves

        return work

    return in_database("NORMAL", work_on)


def _rows_of_events(name: str, log: Log, first: int = 0) -> list[Row]:
    return [(name, n, event["type"], json.dumps(event).encode()) for n, event in enumerate(log, first)]


def _row_of_game(name: str, log: Log) -> list[Row]:
    return [(name, 0, "game", json.dumps(log).encode())]


def transaction_a_move(synchronous: str) -> Setup:
    """UNO games, the events of each move stored in a transaction before the next is made."""
    return lambda: _stored_live(synchronous)


def _stored_live(synchronous: str) -> Slice:
    rng, numbers = Random(1), count()

    def work_on(database: sqlite3.Connection) -> Callable[[], int]:
        def work() -> int:
            name, log, moves = f"{next(numbers):032x}", Log(), 0
            game = uno.Uno(rng, log)
            append(database, _rows_of_events(name, log))
            while game.winner is None:
                stored = len(log)
                game.apply(rng.choice(game.legal_actions()), log)
                append(database, _rows_of_events(name, log[stored:], stored))
                moves += 1
            return moves

        return work

    return in_database(synchronous, work_on)


def table_in_mid_play() -> tuple[uno.Uno, Log]:
    """A game that is about half over, and its events so far."""
    for seed in count(5):
        rng, log = Random(seed), Log()
        game = uno.Uno(rng, log)
        for _ in range(MOVES_BEFORE_FORK):
            if game.winner is None:
                game.apply(rng.choice(game.legal_actions()), log)
        if game.winner is None:
            return game, log
    raise AssertionError("no game is longer than that")


def copy_by_hand() -> Slice:
    """The table copied field by field."""
    game, _ = table_in_mid_play()
    return timed_calls(game.copy, 1000)


def copy_with_events() -> Slice:
    """The same, with a list of the events that led there."""
    game, log = table_in_mid_play()
    return timed_calls(lambda: (game.copy(), log.copy()), 1000)


def copy_by_pickle() -> Slice:
    """The table through pickle."""
    game = _cards_only()
    return timed_calls(lambda: pickle.loads(pickle.dumps(game, pickle.HIGHEST_PROTOCOL)), 100)


def copy_by_deepcopy() -> Slice:
    """The table through copy.deepcopy."""
    game = _cards_only()
    return timed_calls(lambda: copy.deepcopy(game), 50)


def _cards_only() -> uno.Uno:
    """Without the source of chance, whose 2.5 kB would be most of the work."""
    game, _ = table_in_mid_play()
    del game.rng
    return game


def finished_games() -> list[Log]:
    """The events of some UNO games, to be stored or folded."""
    rng, logs = Random(7), [Log() for _ in range(STORED_GAMES)]
    for log in logs:
        uno.play(rng, log)
    return logs


def fold_only() -> Slice:
    """Events that are in memory already."""
    logs, rng = cycle(finished_games()), Random(1)

    def work() -> int:
        log = next(logs)
        uno.fold(log, rng)
        return len(log)

    return timed(work)


def load_from_sqlite() -> Slice:
    """Rows of JSON, one an event, read and folded."""
    games, rng = {f"{n:032x}": log for n, log in enumerate(finished_games())}, Random(1)

    def work_on(database: sqlite3.Connection) -> Callable[[], int]:
        for name, log in games.items():
            append(database, _rows_of_events(name, log))
        names = cycle(games)

        def work() -> int:
            log = [json.loads(state) for (state,) in database.execute(SELECT, (next(names),))]
            uno.fold(log, rng)
            return len(log)

        return work

    return in_database("NORMAL", work_on)


GAMES: tuple[tuple[str, Play], ...] = (
    ("games/tic_tac_toe", tictactoe.play),
    ("games/uno", uno.play),
    ("games/leduc", leduc.play),
)

CONTENDERS = (
    *(Contender(section, "hand-written, rules only", rules_only(play)) for section, play in GAMES),
    *(Contender(section, "hand-written with events", with_events(play)) for section, play in GAMES),
    Contender("durable/uno", "hand-written, a row an event", row_an_event),
    Contender("durable/uno", "hand-written, a row a game", row_a_game),
    Contender("durable/live", "hand-written, FULL", transaction_a_move("FULL")),
    Contender("durable/live", "hand-written, NORMAL", transaction_a_move("NORMAL")),
    Contender("fork", "hand-written copy", copy_by_hand),
    Contender("fork", "hand-written copy with events", copy_with_events),
    Contender("fork", "hand-written, pickle", copy_by_pickle),
    Contender("fork", "hand-written, deepcopy", copy_by_deepcopy),
    Contender("load", "hand-written, from SQLite", load_from_sqlite),
    Contender("load", "hand-written, fold only", fold_only),
)
