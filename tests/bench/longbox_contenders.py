"""Longbox in every section. This is the only file here that knows Longbox.

Rules of the comparison: `random.choice` over the keys of a question, which are distinct; every game to its
end; every event kept; a new seed each game. A move is one answer (`decisions`), as it is one action for the
peers. Before anything is timed, its result is checked: the games' length, what was stored, what was folded.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count, cycle
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TypeAlias

from longbox.dsl.compiler import parse_cached, read_packs, standard
from longbox.dsl.parse import parse
from longbox.dsl.source import Source
from longbox.kernel import Event, Game, Program, fold_history
from longbox.kernel.state import Policy
from longbox.plugins import loader
from longbox.plugins.histories import Histories
from longbox.plugins.packs import closure, find_packs

from .registry import Contender, Setup, Slice, timed, timed_calls

Texts: TypeAlias = dict[str, str]
WorkOn: TypeAlias = Callable[[Histories], Callable[[], int]]

EXPANSIONS = Path(__file__).resolve().parents[2] / "expansions"
MOVES_BEFORE_FORK = 20
STORED_GAMES = 100
LIVE_GAMES = 5
TWO_VILLAINS = ("sentinels.two_villains",)

# Mean moves a game under uniform play, how far a sample may be off, and the size of that sample.
LENGTHS = {
    "tic_tac_toe": (7.63, 0.1, 2000),
    "uno": (46.4, 6.0, 500),
    "leduc": (208 / 81, 0.12, 4000),
}


def random_policy(rng: Random) -> Policy:
    """The policy of every contender: one of the distinct legal answers."""
    choice = rng.choice
    return lambda question: choice(question.keys)


# ---- games/*: in memory, every event kept


def play_games(name: str, seats: int | None = None, extra: Sequence[str] = ()) -> Setup:
    """Random games of one ruleset, on the fast path: a game that is not looked at before it is played."""

    def setup() -> Slice:
        program, policy, seeds = loader.load_game(name, extra), random_policy(Random(1)), count(1)

        def play() -> int:
            return Game(program, next(seeds), seats).play(policy).decisions

        _check_events_are_kept(program, policy, seats)
        if name in LENGTHS:  # a game that a peer plays, too
            _check_length(name, play)
        return timed(play)

    return setup


def _check_events_are_kept(program: Program, policy: Policy, seats: int | None) -> None:
    """A run that keeps no events is not Longbox, and would be no comparison."""
    game = Game(program, 1, seats).play(policy)
    if not 0 < game.decisions <= len(game.log):
        raise RuntimeError(f"{game.decisions} decisions left {len(game.log)} events")


def _check_length(name: str, play: Callable[[], int]) -> None:
    """A move with one legal action is a move for the peers; were it not asked, the units would differ."""
    expected, tolerance, games = LENGTHS[name]
    mean = sum(play() for _ in range(games)) / games
    if abs(mean - expected) > tolerance:
        raise RuntimeError(f"{mean:.2f} decisions a game of {name}, not {expected:.2f}: not the peers' game")


# ---- durable/*: stored in SQLite


def in_histories(synchronous: str, work_on: WorkOn) -> Slice:
    """A slice with a fresh database of its own; `work_on` prepares it and returns the work to be timed."""

    def spend(seconds: float) -> tuple[int, float]:
        with (
            TemporaryDirectory() as place,
            Histories(Path(place) / "games.sqlite", synchronous=synchronous) as histories,
        ):
            return timed(work_on(histories))(seconds)

    return spend


def play_and_store_games(synchronous: str, batch: int) -> Setup:
    """UNO games played and stored, `batch` of them in a transaction. A unit is one answer."""

    def setup() -> Slice:
        program, policy, seeds = loader.load_game("uno"), random_policy(Random(1)), count(1)

        def work_on(histories: Histories) -> Callable[[], int]:
            names = _names()

            def work() -> int:
                games = [Game(program, seed=next(seeds)).play(policy) for _ in range(batch)]
                histories.store_finished(games, ids=names, batch=batch)
                return sum(game.decisions for game in games)

            return work

        _check_stored(synchronous, batch)
        return in_histories(synchronous, work_on)

    return setup


def store_events(synchronous: str, batch: int) -> Setup:
    """Finished UNO games handed to the store, `batch` of them in a transaction. A unit is one event."""

    def setup() -> Slice:
        finished = cycle(finished_games())

        def work_on(histories: Histories) -> Callable[[], int]:
            names = _names()

            def work() -> int:
                games = [next(finished) for _ in range(batch)]
                histories.store_finished(games, ids=names, batch=batch)
                return sum(len(game.log) for game in games)

            return work

        _check_stored(synchronous, batch)
        return in_histories(synchronous, work_on)

    return setup


def finished_games() -> list[Game]:
    """Some UNO games that are over, to be stored or folded."""
    program, policy = loader.load_game("uno"), random_policy(Random(7))
    return [Game(program, seed=seed).play(policy) for seed in range(STORED_GAMES)]


def _names() -> Iterator[str]:
    return map("game-{}".format, count())


def _check_stored(synchronous: str, batch: int) -> None:
    """What comes back from the disk must be what was played."""
    games = finished_games()[: batch + 1]
    with TemporaryDirectory() as place:
        file = Path(place) / "games.sqlite"
        with Histories(file, synchronous=synchronous) as histories:
            names = histories.store_finished(games, batch=batch)
        with Histories(file) as histories:
            for name, game in zip(names, games, strict=True):
                if histories.events(name) != game.log:
                    raise RuntimeError(f"{name} is stored with other events than were played")


def answer_and_store(synchronous: str) -> Setup:
    """Live games: each answer checked, run, stored with all that follows, then acknowledged.

    A unit is one answer. Starting the games is counted.
    """

    def setup() -> Slice:
        program, rng, seeds = loader.load_game("uno"), Random(1), count(1)

        def work_on(histories: Histories) -> Callable[[], int]:
            return lambda: _play_live(histories, program, next(seeds), rng)[1]

        return in_histories(synchronous, work_on)

    return setup


def _play_live(histories: Histories, program: Program, seed: int, rng: Random) -> tuple[str, int]:
    """One game, answer by answer: its name, and how many there were."""
    session = histories.start(program, seed=seed)
    while (question := session.question) is not None:
        session.answer(rng.choice(question.keys))
    return session.id, session.decisions


def answer_only() -> Slice:
    """The same with nothing stored: what stopping at every question costs."""
    program, rng, seeds = loader.load_game("uno"), Random(1), count(1)

    def play() -> int:
        game = Game(program, seed=next(seeds))
        while (question := game.question) is not None:
            game.answer(rng.choice(question.keys))
        return game.decisions

    return timed(play)


# ---- fork


def fork_game() -> Slice:
    """A game that can be played on: the table, the table at its last step, and all events."""
    return timed_calls(game_in_mid_play().fork, 100)


def copy_state() -> Slice:
    """The table and all events."""
    return timed_calls(game_in_mid_play().state.copy, 100)


def game_in_mid_play() -> Game:
    """An UNO game that is `MOVES_BEFORE_FORK` answers old and stands at a question."""
    program, rng = loader.load_game("uno"), Random(5)
    for seed in count(1):
        game = Game(program, seed=seed)
        while game.decisions < MOVES_BEFORE_FORK and (question := game.question) is not None:
            game.answer(rng.choice(question.keys))
        if not game.over:
            return game
    raise AssertionError("no game is longer than that")


# ---- load: read back and folded, a unit is one event


def fold_only() -> Slice:
    """Events that are in memory already, folded without running a rule."""
    games = finished_games()
    for game in games:
        if fold_history(game.log).snapshot() != game.state.snapshot():
            raise RuntimeError("a history leads to another table than the one played")
    logs = cycle([game.log for game in games])
    return timed(lambda: _fold(next(logs)))


def _fold(events: list[Event]) -> int:
    fold_history(events)
    return len(events)


def load_finished() -> Slice:
    """Finished games, a row each: read, their hashes checked, and folded."""
    games = finished_games()

    def work_on(histories: Histories) -> Callable[[], int]:
        names = cycle(histories.store_finished(games))
        return lambda: _fold(histories.events(next(names)))

    return in_histories("NORMAL", work_on)


def load_live() -> Slice:
    """Live games, a row an answer: read, the chain checked, and folded."""
    return _load_live(lambda histories, name, program: _fold(histories.events(name)))


def take_up_live() -> Slice:
    """Live games taken up again: the rules are run again, and must lead to the same events."""
    return _load_live(lambda histories, name, program: len(histories.load(name, program).game.log))


def _load_live(load: Callable[[Histories, str, Program], int]) -> Slice:
    program = loader.load_game("uno")

    def work_on(histories: Histories) -> Callable[[], int]:
        rng = Random(7)
        stored = [_play_live(histories, program, seed, rng)[0] for seed in range(LIVE_GAMES)]
        names = cycle(stored)
        return lambda: load(histories, next(names), program)

    return in_histories("OFF", work_on)


# ---- compile: every pack in expansions/ with all it needs, the standard words included; a unit is one pack


def all_packs() -> list[Texts]:
    """The texts of each pack, with those of the packs it needs."""
    packs, problems = find_packs([EXPANSIONS], installed=False)
    if problems or not packs:
        raise RuntimeError(f"{EXPANSIONS}: {[problem.show() for problem in problems] or 'no packs'}")
    here = [id_ for id_, pack in packs.items() if pack.folder.resolve().is_relative_to(EXPANSIONS)]
    whole = [closure(packs, [id_]) for id_ in here]
    return [loader.texts_of(needed) for needed in whole if any(pack.is_game for pack in needed)]


def on_every_pack(work_on: Callable[[Texts], object]) -> Slice:
    """A slice that goes through all packs again and again; the parser remembers none of them."""
    packs = all_packs()

    def work() -> int:
        for texts in packs:
            parse_cached.cache_clear()
            work_on(texts)
        return len(packs)

    return timed(work)


def _sources(texts: Texts) -> list[Source]:
    return [Source(name, text) for name, text in texts.items()]


def _parse(texts: Texts) -> None:
    for source in (standard(), *_sources(texts)):
        parse(source)


def _check(texts: Texts) -> None:
    checked = read_packs(_sources(texts))
    if checked.errors:
        raise RuntimeError(checked.show())


def parse_packs() -> Slice:
    """Text to syntax trees."""
    return on_every_pack(_parse)


def check_packs() -> Slice:
    """Text to checked packs, nothing executed."""
    return on_every_pack(_check)


def compile_cold() -> Slice:
    """Text to linked program, nothing kept from before."""
    return on_every_pack(partial(loader.program_from_texts, cache=False))


def compile_cached() -> Slice:
    """The same with a warm cache on disk, and nothing kept in memory."""

    def compile_again(texts: Texts) -> None:
        loader._programs.clear()
        loader.program_from_texts(texts)

    spend = on_every_pack(compile_again)

    def spend_with_cache(seconds: float) -> tuple[int, float]:
        with TemporaryDirectory() as place, _cache_in(place):
            for texts in all_packs():
                compile_again(texts)
            return spend(seconds)

    return spend_with_cache


@contextmanager
def _cache_in(place: str) -> Iterator[None]:
    before = os.environ.get("LONGBOX_CACHE")
    os.environ["LONGBOX_CACHE"] = place
    try:
        yield
    finally:
        if before is None:
            del os.environ["LONGBOX_CACHE"]
        else:
            os.environ["LONGBOX_CACHE"] = before


CONTENDERS = (
    Contender("games/tic_tac_toe", "Longbox", play_games("tic_tac_toe")),
    Contender("games/uno", "Longbox", play_games("uno")),
    Contender("games/leduc", "Longbox", play_games("leduc")),
    Contender("games/rich", "Longbox, Hour of Need, 1 hero", play_games("hour_of_need", 1)),
    Contender("games/rich", "Longbox, Hour of Need, 4 heroes", play_games("hour_of_need", 4)),
    Contender("games/rich", "Longbox, Heroes Incorporated, 2", play_games("heroes_incorporated", 2)),
    Contender("games/rich", "Longbox, Heroes Incorporated, 4", play_games("heroes_incorporated", 4)),
    Contender("games/rich", "Longbox, Sentinels, 4 heroes", play_games("sentinels", 4)),
    Contender("games/rich", "Longbox, Sentinels, two villains", play_games("sentinels", 6, TWO_VILLAINS)),
    Contender("durable/uno", "Longbox, a game a transaction", play_and_store_games("NORMAL", 1)),
    Contender("durable/uno", "Longbox, FULL, 100 games a transaction", play_and_store_games("FULL", 100)),
    Contender("durable/events", "Longbox, NORMAL, a game a transaction", store_events("NORMAL", 1)),
    Contender("durable/events", "Longbox, FULL, a game a transaction", store_events("FULL", 1)),
    Contender("durable/events", "Longbox, FULL, 100 games a transaction", store_events("FULL", 100)),
    Contender("durable/live", "Longbox, FULL", answer_and_store("FULL")),
    Contender("durable/live", "Longbox, NORMAL", answer_and_store("NORMAL")),
    Contender("durable/live", "Longbox, nothing stored", answer_only),
    Contender("fork", "Longbox Game.fork()", fork_game),
    Contender("fork", "Longbox State.copy()", copy_state),
    Contender("load", "Longbox, finished games from SQLite", load_finished),
    Contender("load", "Longbox, live games from SQLite", load_live),
    Contender("load", "Longbox, live games taken up again", take_up_live),
    Contender("load", "Longbox, fold only", fold_only),
    Contender("compile", "Longbox parse", parse_packs),
    Contender("compile", "Longbox check", check_packs),
    Contender("compile", "Longbox compile, cold", compile_cold),
    Contender("compile", "Longbox compile, cached", compile_cached),
)
