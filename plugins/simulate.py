"""Simulation: many games with bots, over as many processes as wanted.

Game number i of a run draws its seed and its bots' stream from (the run's seed, i) and nothing else, and
results are taken in the order of the games: how many processes there are changes only how long it takes.

    plan = Plan(game="uno", games=1000, seed=7, bots=("random", "random"))
    summary = simulate(plan, jobs=4)
    print("\n".join(summary.lines()))
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import msgspec

from longbox.kernel import Game, LongboxError, Program

from .bots import BotFactory, derive, make_table
from .histories import Histories
from .loader import load_game
from .manager import make_manager

CHUNK_MAX = 100  # games handed to a process at once
LOCK_TIMEOUT = 60  # seconds that a process waits for another one to finish writing
DECISIONS_MAX = 100_000  # a game that is longer is reported as one that does not end


@dataclass(frozen=True)
class Plan:
    """What to play. Plain data: it is sent to the processes, and each makes the rules from it."""

    game: str
    games: int
    seed: int
    bots: tuple[str, ...]
    seats: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()
    extra: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    db: str = ""  # store the games here, as `prefix`-000000 and so on
    prefix: str = ""

    def game_seed(self, number: int) -> int:
        return derive("game", self.seed, number)

    def name(self, number: int) -> str:
        return f"{self.prefix}-{number:06}"

    def bot_seed(self, number: int) -> int:
        return derive("bots", self.seed, number)


@dataclass(frozen=True)
class Played:
    """How one game went. `error` says why it could not be played to its end."""

    number: int
    result: str
    winners: tuple[str, ...]
    decisions: int
    events: int
    digest: bytes
    error: str = ""


# ---------------------------------------------------------------- one process
class Runner:
    """Plays the games of a plan, one by one."""

    def __init__(self, plan: Plan, program: Program, factories: Mapping[str, BotFactory]) -> None:
        self.plan, self.program, self.factories = plan, program, factories

    def play_chunk(self, numbers: range) -> list[Played]:
        """Play some games, and store them if the plan says where."""
        results = [self.play(number) for number in numbers]
        done = {self.plan.name(one.number): game for one, game in results if not one.error}
        if self.plan.db and done:
            with Histories(self.plan.db, lock_timeout=LOCK_TIMEOUT) as histories:
                histories.store_finished(
                    done.values(), ids=done, bots=dict(zip(self.plan.seats, self.plan.bots))
                )
        return [one for one, _ in results]

    def play(self, number: int) -> tuple[Played, Game]:
        plan = self.plan
        game = Game(self.program, plan.game_seed(number), plan.seats, dict(plan.settings), start=False)
        table = make_table(game.seats, plan.bots, self.factories, plan.bot_seed(number))
        try:
            if table.policy() is None:
                game.start()
            table.play(game, DECISIONS_MAX)
        except LongboxError as error:
            return Played(number, "error", (), game.decisions, len(game.log), b"", str(error)), game
        return played(number, game), game


def played(number: int, game: Game) -> Played:
    outcome = game.outcome or {"result": "", "winners": []}
    winners = tuple(game.state.key[seat] for seat in outcome["winners"])
    return Played(number, outcome["result"], winners, game.decisions, len(game.log), digest_of(game))


def digest_of(game: Game) -> bytes:
    """A short mark of a whole game: two that differ in one event have different ones."""
    return blake2b(msgspec.json.encode(game.log[1:]), digest_size=8).digest()


def bot_factories() -> dict[str, BotFactory]:
    """Every bot that a plugin registers, by name."""
    return {name: row.value for name, row in make_manager().bots().items()}


@lru_cache(maxsize=1)
def runner(plan: Plan) -> Runner:
    """The runner of this process; made once, then kept."""
    program = load_game(plan.game, plan.extra, [Path(folder) for folder in plan.folders])
    return Runner(plan, program, bot_factories())


def play_chunk(task: tuple[Plan, range]) -> list[Played]:
    """What a process is asked to do."""
    plan, numbers = task
    return runner(plan).play_chunk(numbers)


# ---------------------------------------------------------------- all of them
def play_all(plan: Plan, jobs: int) -> Iterator[list[Played]]:
    """The games in order, chunk by chunk, over processes unless one is enough."""
    size = max(1, min(CHUNK_MAX, plan.games // (jobs * 4)))
    tasks = [(plan, range(at, min(at + size, plan.games))) for at in range(0, plan.games, size)]
    jobs = min(jobs, len(tasks))
    if jobs <= 1:
        yield from map(play_chunk, tasks)
        return
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), ignore_interrupts)
    try:
        yield from pool.map(play_chunk, tasks)
    except BrokenProcessPool:
        raise LongboxError("a process was ended from outside; try again with fewer --jobs") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def ignore_interrupts() -> None:
    """Ctrl-C is for the process that was started by hand; it ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def simulate(plan: Plan, jobs: int = 1, tell: Callable[[int], None] = lambda count: None) -> Summary:
    """Play all games of a plan. `tell` hears how many are done."""
    summary = Summary(plan)
    for chunk in play_all(plan, jobs):
        summary.add(chunk)
        tell(summary.count)
    return summary


# ---------------------------------------------------------------- the summary
@dataclass
class Spread:
    """The least, the most and the mean of some numbers."""

    total: int = 0
    count: int = 0
    least: int = 0
    most: int = 0

    def add(self, value: int) -> None:
        self.least = value if not self.count else min(self.least, value)
        self.most = max(self.most, value)
        self.total += value
        self.count += 1

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    def as_data(self) -> dict[str, Any]:
        return {"mean": round(self.mean, 3), "min": self.least, "max": self.most, "total": self.total}


@dataclass
class Summary:
    """What came of a plan. Depends on the plan alone, not on the machine."""

    plan: Plan
    count: int = 0
    wins: Counter[tuple[str, ...]] = field(default_factory=Counter)  # who won, alone or together
    draws: int = 0
    nobody: int = 0  # ended without winners
    decisions: Spread = field(default_factory=Spread)
    events: Spread = field(default_factory=Spread)
    errors: list[Played] = field(default_factory=list)
    _digest: Any = field(default_factory=lambda: blake2b(digest_size=8))

    def add(self, chunk: Iterable[Played]) -> None:
        for one in chunk:
            self.count += 1
            self._digest.update(one.digest)
            if one.error:
                self.errors.append(one)
                continue
            self.decisions.add(one.decisions)
            self.events.add(one.events)
            if one.winners:
                self.wins[one.winners] += 1
            elif one.result == "drawn":
                self.draws += 1
            else:
                self.nobody += 1

    @property
    def digest(self) -> str:
        digest: str = self._digest.hexdigest()
        return digest

    def by_side(self) -> dict[str, int]:
        """Wins of every seat, and of every side that won together; most seats first, in seat order."""
        sides = dict.fromkeys([(seat,) for seat in self.plan.seats], 0) if self._alone() else {}
        return {
            " and ".join(side): count for side, count in (sides | dict(sorted(self.wins.items()))).items()
        }

    def _alone(self) -> bool:
        return len(self.plan.seats) > 1 and all(len(side) == 1 for side in self.wins)

    def lines(self) -> list[str]:
        plan = self.plan
        lines = [f"{plan.game}: {self.count} games, seed {plan.seed}, bots {', '.join(_at_seats(plan))}"]
        lines += [f"  {name} wins {count} ({self._share(count)})" for name, count in self.by_side().items()]
        lines += [f"  {self.draws} drawn ({self._share(self.draws)})"]
        if self.nobody:
            lines += [f"  {self.nobody} without a winner ({self._share(self.nobody)})"]
        for name, spread in (("decisions", self.decisions), ("events", self.events)):
            lines += [f"  {name} a game: {spread.mean:.1f}, from {spread.least} to {spread.most}"]
        lines += [f"  digest of all events: {self.digest}"]
        return (
            lines
            + [
                f"  game {one.number}, seed {plan.game_seed(one.number)}, could not be played: {one.error}"
                for one in self.errors[:5]
            ]
            + self._more_errors()
        )

    def _more_errors(self) -> list[str]:
        return [f"  and {len(self.errors) - 5} more that could not be played"] if len(self.errors) > 5 else []

    def _share(self, count: int) -> str:
        return f"{100 * count / self.count:.1f} %" if self.count else "-"

    def as_data(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "game": plan.game,
            "games": self.count,
            "seed": plan.seed,
            "bots": dict(zip(plan.seats, plan.bots)),
            "wins": self.by_side(),
            "draws": self.draws,
            "without winner": self.nobody,
            "decisions": self.decisions.as_data(),
            "events": self.events.as_data(),
            "digest": self.digest,
            "errors": [
                {"game": one.number, "seed": plan.game_seed(one.number), "what": one.error}
                for one in self.errors
            ],
        }


def _at_seats(plan: Plan) -> list[str]:
    if len(set(plan.bots)) == 1:
        return [plan.bots[0]]
    return [f"{seat}={bot}" for seat, bot in zip(plan.seats, plan.bots)]
