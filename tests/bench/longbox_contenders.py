"""Longbox in every section. This is the only file here that knows Longbox.

It is written against

    longbox.plugins.loader.load_game(name) -> program
    longbox.kernel.Game(program, seed=1)
        .play(policy)   to the end; policy(question) -> key, an ordinary call: the fast path
        .log            every event so far, a list
        .decisions      how many answers were given
        .fork()         an independent game at the same point

`_offered` is the one place that knows how a question lists its keys. What cannot run yet raises
`NotAvailableYet`, and run.py says so; a module of Longbox that is missing is reported the same way.

Rules of the comparison: `random.choice` over the keys offered, which are distinct; every game to its end;
every event kept; a new seed each game. A unit is one answer (`decisions`), as it is one move for the peers.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import count
from random import Random
from typing import Any, NoReturn, TypeAlias

from .registry import Contender, NotAvailableYet, Setup, Slice, timed, timed_calls

Policy: TypeAlias = Callable[[Any], Any]

MOVES_BEFORE_FORK = 20

# Mean moves a game under uniform play, how far a sample may be off, and the size of that sample.
LENGTHS = {
    "tic_tac_toe": (7.63, 0.1, 2000),
    "uno": (46.4, 6.0, 500),
    "leduc": (208 / 81, 0.12, 4000),
}


# ---- the API that the rest of this file stands on


def load(name: str) -> Any:
    """The program of a game, linked and ready to run."""
    return _named("longbox.plugins.loader", "load_game")(name)


def new_game(program: Any, seed: int) -> Any:
    """A game before its first question."""
    return _named("longbox.kernel", "Game")(program, seed=seed)


def random_policy(rng: Random) -> Policy:
    """The policy of every contender: one of the distinct legal answers."""
    choice = rng.choice
    return lambda question: choice(_offered(question))


def _offered(question: Any) -> Sequence[Any]:
    """The keys that a question offers, in their order."""
    keys: Sequence[Any] = question.keys
    return keys


def _named(module: str, name: str) -> Any:
    try:
        return getattr(import_module(module), name)
    except AttributeError:
        raise NotAvailableYet(f"no {module}.{name}") from None


# ---- games/*: in memory, every event kept


def play_games(name: str) -> Setup:
    """Random games of one ruleset."""

    def setup() -> Slice:
        program, policy, seeds = load(name), random_policy(Random(1)), count(1)
        game_class = _named("longbox.kernel", "Game")

        def play() -> int:
            game = game_class(program, seed=next(seeds))
            game.play(policy)
            decisions: int = game.decisions
            return decisions

        _check_events_are_kept(program, policy)
        _check_length(name, play)
        return timed(play)

    return setup


def _check_events_are_kept(program: Any, policy: Policy) -> None:
    """A run that keeps no events is not Longbox, and would be no comparison."""
    game = new_game(program, 1)
    game.play(policy)
    if not 0 < game.decisions <= len(game.log):
        raise RuntimeError(f"{game.decisions} decisions left {len(game.log)} events")


def _check_length(name: str, play: Callable[[], int]) -> None:
    """A move with one legal action is a move for the peers; were it not asked, the units would differ."""
    expected, tolerance, games = LENGTHS[name]
    mean = sum(play() for _ in range(games)) / games
    if abs(mean - expected) > tolerance:
        raise RuntimeError(f"{mean:.2f} decisions a game of {name}, not {expected:.2f}: not the peers' game")


# ---- fork


def fork_in_mid_play() -> Slice:
    """A fork of an UNO game that is `MOVES_BEFORE_FORK` answers old and not over. A unit is one fork."""
    return timed_calls(_game_in_mid_play().fork, 100)


def _game_in_mid_play() -> Any:
    """Here belongs what drives a game answer by answer and leaves it at a question."""
    _not_yet(f"a game stopped after {MOVES_BEFORE_FORK} answers")


# ---- durable/*: stored in SQLite


def play_and_store_games() -> Slice:
    """UNO games played and stored, one transaction a game, WAL and synchronous NORMAL. A unit is one answer.

    Fresh database a slice: `bench.baselines.sqlite_rows.in_database` shows how.
    """
    _not_yet("histories")


def store_events() -> Slice:
    """Events of finished UNO games handed to the store, a transaction a game, NORMAL. A unit is one event."""
    _not_yet("histories")


def store_live_answers() -> Slice:
    """A live game: a transaction an answer, FULL. A unit is one event."""
    _not_yet("histories")


# ---- load: read back and folded


def fold_only() -> Slice:
    """Events in memory folded into their state, without running a rule. A unit is one event."""
    _not_yet("the fold of a finished log")


def load_from_sqlite() -> Slice:
    """Stored UNO games read and folded. A unit is one event."""
    _not_yet("histories")


# ---- compile: the text of UNO, a unit is one time


def parse() -> Slice:
    """Text to syntax tree."""
    _not_yet("the parser")


def check() -> Slice:
    """Text to checked program, nothing executed."""
    _not_yet("the checker")


def compile_cold() -> Slice:
    """Text to linked program, nothing kept from before."""
    _not_yet("the compiler")


def load_cached() -> Slice:
    """The same with a warm cache on disk."""
    _not_yet("the compiler's cache")


def _not_yet(what: str) -> NoReturn:
    raise NotAvailableYet(what)


CONTENDERS = (
    Contender("games/tic_tac_toe", "Longbox", play_games("tic_tac_toe")),
    Contender("games/uno", "Longbox", play_games("uno")),
    Contender("games/leduc", "Longbox", play_games("leduc")),
    Contender("durable/uno", "Longbox", play_and_store_games),
    Contender("durable/events", "Longbox, NORMAL, a game a transaction", store_events),
    Contender("durable/events", "Longbox, FULL, an answer a transaction", store_live_answers),
    Contender("fork", "Longbox", fork_in_mid_play),
    Contender("load", "Longbox, from SQLite", load_from_sqlite),
    Contender("load", "Longbox, fold only", fold_only),
    Contender("compile", "Longbox parse", parse),
    Contender("compile", "Longbox check", check),
    Contender("compile", "Longbox compile, cold", compile_cold),
    Contender("compile", "Longbox compile, cached", load_cached),
)
