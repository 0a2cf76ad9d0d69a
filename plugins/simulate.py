"""Simulation: many games with bots, over as many processes as wanted.

Game number i of a run draws its seed from (the run's seed, i) and nothing else, its bots draw theirs from that
seed as those of `longbox play` do, and results are taken in the order of the games: how many processes there
are changes only how long it takes. A plan may have several forms of the game (numbers of seats, settings); its
games go round over them.

    plan = Plan(game="uno", games=1000, seed=7, bots=("random", "random"), seats=("Ann", "Bob"))
    summary = simulate(plan, jobs=4)
    print("\n".join(summary.lines()))
"""

from __future__ import annotations

import shlex
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import product
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
CHUNK_SLOW = 4  # the same where bots think: their games are long, and somebody waits to hear of them
LOCK_TIMEOUT = 60  # seconds that a process waits for another one to finish writing
DECISIONS_MAX = 100_000  # a game that is longer is reported as one that does not end
ERRORS_SHOWN = 5  # of very many errors; data has them all
NOTHING = "nothing"  # a setting that is left out, and is nothing then


# ---------------------------------------------------------------- what to play
@dataclass(frozen=True)
class Form:
    """One form of a game: who sits there, who plays for them, its settings, and what of it varies in a run."""

    seats: tuple[str, ...]
    bots: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()
    varied: tuple[tuple[str, str], ...] = ()  # such as ("seats", "3"), ("difficulty", "hard")
    asked: str = ""  # the seats as they were asked for: "3"

    def words(self) -> list[str]:
        """The options of a command that plays this form."""
        bots = self.bots[0] if len(set(self.bots)) == 1 else ",".join(at_seats(self.seats, self.bots))
        words = ["--seats", self.asked or ",".join(self.seats), "--bots", bots]
        return words + [word for pair in self.given.items() for word in ("--set", "=".join(pair))]

    @property
    def given(self) -> dict[str, str]:
        """The settings without those that are left out."""
        return {name: value for name, value in self.settings if value != NOTHING}

    def __str__(self) -> str:
        settings = "".join(f", {name} {value}" for name, value in self.settings)
        return f"{len(self.seats)} {'seat' if len(self.seats) == 1 else 'seats'}{settings}"


def values_of(program: Program, setting: str) -> list[str]:
    """Every value of a setting, as `--set` takes it; none if they cannot be told one by one."""
    spec = program.tables["settings"][setting]
    if spec.get("several"):
        return []
    if spec["type"] == "truth":
        return ["no", "yes"]
    if spec["type"] not in program.kinds:
        return list(spec["words"])
    printed = [row["name"] for row in program.designs if program.is_a(row["kind"], spec["type"])]
    names = list(dict.fromkeys(printed))
    return names if spec["default"] is not None else [NOTHING, *names]


def interleaved(choices: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Every combination once, so that already the first few have each value about equally often.

    From one to the next everything goes on by one; where that comes back to its start, the next round begins at a
    combination that was not there yet.
    """
    sizes = [len(values) for values in choices]
    seen: set[tuple[int, ...]] = set()
    for at in product(*map(range, sizes)):
        while at not in seen:
            seen.add(at)
            yield tuple(values[i] for values, i in zip(choices, at))
            at = tuple((i + 1) % size for i, size in zip(at, sizes))


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
    forms: tuple[Form, ...] = ()  # if there are several, the games go round over them
    is_cooperative: bool = False  # all win or lose together
    impossible: int = 0  # combinations that the game does not know

    def form(self, number: int) -> Form:
        return self.every_form[number % len(self.every_form)]

    @property
    def every_form(self) -> tuple[Form, ...]:
        return self.forms or (Form(self.seats, self.bots, self.settings),)

    def game_seed(self, number: int) -> int:
        return derive("game", self.seed, number)

    def name(self, number: int) -> str:
        return f"{self.prefix}-{number:06}"

    def bot_seed(self, number: int) -> int:
        """As in `longbox play`: a game of a simulation can be played there, answer by answer."""
        return derive("play", self.game_seed(number))

    def command(self, number: int) -> str:
        """What to type to have one game again, with its story."""
        words = ["longbox", "play", self.game, "--auto", "--seed", str(self.game_seed(number))]
        words += self.form(number).words()
        words += [word for pack in self.extra for word in ("--with", pack)]
        words += [word for folder in self.folders for word in ("--packs", folder)]
        return shlex.join(words)


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
    is_lost: bool = False  # somebody lost, and nobody won
    reason: str = ""  # as the text of the game gave it


# ---------------------------------------------------------------- one process
class Runner:
    """Plays the games of a plan, one by one."""

    def __init__(self, plan: Plan, program: Program, factories: Mapping[str, BotFactory]) -> None:
        self.plan, self.program, self.factories = plan, program, factories

    def play_chunk(self, numbers: range) -> list[Played]:
        """Play some games, and store them if the plan says where."""
        results = [self.play(number) for number in numbers]
        if self.plan.db:
            self._store({one.number: game for one, game in results if not one.error})
        return [one for one, _ in results]

    def _store(self, done: Mapping[int, Game]) -> None:
        """All that have the same bots in one go."""
        by_bots: dict[tuple[tuple[str, str], ...], dict[str, Game]] = {}
        for number, game in done.items():
            form = self.plan.form(number)
            by_bots.setdefault(tuple(zip(form.seats, form.bots)), {})[self.plan.name(number)] = game
        with Histories(self.plan.db, lock_timeout=LOCK_TIMEOUT) as histories:
            for bots, games in by_bots.items():
                histories.store_finished(games.values(), ids=games, bots=dict(bots))

    def play(self, number: int) -> tuple[Played, Game]:
        plan, form = self.plan, self.plan.form(number)
        game = Game(self.program, plan.game_seed(number), form.seats, form.given, start=False)
        table = make_table(game.seats, form.bots, self.factories, plan.bot_seed(number))
        try:
            if table.policy() is None:
                game.start()
            table.play(game, DECISIONS_MAX)
        except LongboxError as error:
            return Played(number, "error", (), game.decisions, len(game.log), b"", str(error)), game
        return played(number, game), game


def played(number: int, game: Game) -> Played:
    outcome = game.outcome or {"result": "", "winners": [], "losers": []}
    return Played(
        number,
        outcome["result"],
        tuple(game.state.key[seat] for seat in outcome["winners"]),
        game.decisions,
        len(game.log),
        digest_of(game),
        is_lost=bool(outcome["losers"]) and not outcome["winners"],
        reason=outcome.get("reason", ""),
    )


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
    size = max(1, min(chunk_max(plan), plan.games // (jobs * 4)))
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


def chunk_max(plan: Plan) -> int:
    factories = bot_factories()
    names = {name for form in plan.every_form for name in form.bots}
    return CHUNK_MAX if all(hasattr(factories[name](0), "policy") for name in names) else CHUNK_SLOW


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
class Tally:
    """How some of the games went. Each is won, lost (somebody lost, nobody won), drawn, neither, or broken."""

    games: int = 0
    won: int = 0
    lost: int = 0
    drawn: int = 0
    neither: int = 0
    errors: int = 0
    wins: Counter[str] = field(default_factory=Counter)  # by seat

    def add(self, one: Played) -> None:
        self.games += 1
        self.wins.update(one.winners)
        if one.error:
            self.errors += 1
        elif one.winners:
            self.won += 1
        elif one.is_lost:
            self.lost += 1
        elif one.result == "drawn":
            self.drawn += 1
        else:
            self.neither += 1

    def share(self, count: int) -> str:
        return f"{100 * count / self.games:.1f} %" if self.games else "-"

    def as_data(self) -> dict[str, Any]:
        return {
            "games": self.games,
            "won": self.won,
            "lost": self.lost,
            "drawn": self.drawn,
            "neither": self.neither,
            "errors": self.errors,
            "wins": dict(sorted(self.wins.items())),
        }


@dataclass
class Summary:
    """What came of a plan. Depends on the plan alone, not on the machine."""

    plan: Plan
    all: Tally = field(default_factory=Tally)
    wins: Counter[tuple[str, ...]] = field(default_factory=Counter)  # who won, alone or together
    by: dict[str, dict[str, Tally]] = field(default_factory=dict)  # what varies, and its values
    by_form: dict[tuple[str, ...], Tally] = field(default_factory=dict)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)  # (result, reason)
    decisions: Spread = field(default_factory=Spread)
    events: Spread = field(default_factory=Spread)
    errors: list[Played] = field(default_factory=list)
    _digest: Any = field(default_factory=lambda: blake2b(digest_size=8))

    def __post_init__(self) -> None:
        """Every value and combination has its place from the start."""
        for form in self.plan.forms:
            for name, value in form.varied:
                self.by.setdefault(name, {}).setdefault(value, Tally())
        places = [list(tallies) for tallies in self.by.values()]
        rows = [tuple(value for _, value in form.varied) for form in self.plan.forms if form.varied]
        for row in sorted(rows, key=lambda row: [place.index(value) for place, value in zip(places, row)]):
            self.by_form[row] = Tally()

    def add(self, chunk: Iterable[Played]) -> None:
        for one in chunk:
            self._digest.update(one.digest)
            for tally in self._tallies(self.plan.form(one.number)):
                tally.add(one)
            if one.error:
                self.errors.append(one)
                continue
            self.decisions.add(one.decisions)
            self.events.add(one.events)
            if one.winners:
                self.wins[one.winners] += 1
            if one.winners or one.is_lost:
                self.reasons[one.result, one.reason] += 1

    def _tallies(self, form: Form) -> Iterator[Tally]:
        yield self.all
        if form.varied:
            yield from (self.by[name][value] for name, value in form.varied)
            yield self.by_form[tuple(value for _, value in form.varied)]

    # ------------------------------------------------------------ numbers
    @property
    def count(self) -> int:
        return self.all.games

    @property
    def draws(self) -> int:
        return self.all.drawn

    @property
    def nobody(self) -> int:
        """Ended without winners, losers or a draw."""
        return self.all.neither

    @property
    def digest(self) -> str:
        digest: str = self._digest.hexdigest()
        return digest

    @property
    def seats(self) -> list[str]:
        """All seats of all forms."""
        return list(dict.fromkeys(seat for form in self.plan.every_form for seat in form.seats))

    def by_side(self) -> dict[str, int]:
        """Wins of every seat, and of every side that won together; most seats first, in seat order."""
        sides = dict.fromkeys([(seat,) for seat in self.seats], 0) if self._alone() else {}
        return {
            " and ".join(side): count for side, count in (sides | dict(sorted(self.wins.items()))).items()
        }

    def _alone(self) -> bool:
        cooperative = self.plan.is_cooperative
        return len(self.seats) > 1 and not cooperative and all(len(side) == 1 for side in self.wins)

    # ------------------------------------------------------------ text
    def lines(self, combinations: bool = False) -> list[str]:
        plan = self.plan
        forms = f", {len(plan.forms)} forms" if len(plan.forms) > 1 else ""
        lines = [f"{plan.game}: {self.count} games, seed {plan.seed}{forms}, bots {self._bots()}"]
        lines += [f"  {text}" for text in (*self._result_lines(), *self._reason_lines())]
        if plan.impossible:
            lines += [f"  {plan.impossible} combinations are left out: the game has no such form"]
        if (left := len(plan.forms) - self.count) > 0:
            lines += [f"  {left} of {len(plan.forms)} forms were not played: there are more forms than games"]
        for name, spread in (("decisions", self.decisions), ("events", self.events)):
            lines += [f"  {name} a game: {spread.mean:.1f}, from {spread.least} to {spread.most}"]
        lines += [f"  digest of all events: {self.digest}"]
        for name, tallies in self.by.items():
            lines += self._table((name,), {(value,): tally for value, tally in tallies.items()})
        if combinations and self.by_form:
            lines += self._table(tuple(self.by), self.by_form)
        return lines + self._error_lines()

    def _result_lines(self) -> list[str]:
        share = self.all.share
        if self.plan.is_cooperative:
            lines = [f"the group wins {self.all.won} ({share(self.all.won)})"]
            lines += [f"the group loses {self.all.lost} ({share(self.all.lost)})"]
        else:
            lines = [f"{name} wins {count} ({share(count)})" for name, count in self.by_side().items()]
            lines += [f"{self.all.lost} lost by all ({share(self.all.lost)})"] if self.all.lost else []
        lines += [f"{self.draws} drawn ({share(self.draws)})"]
        lines += [f"{self.nobody} without a winner ({share(self.nobody)})"] if self.nobody else []
        broken = self.all.errors
        return lines + ([f"{broken} could not be played ({share(broken)})"] if broken else [])

    def _reason_lines(self) -> list[str]:
        """Why games were won or lost, the most frequent reason first; nothing if the text never says why."""
        if not any(reason for _, reason in self.reasons):
            return []
        ordered = sorted(self.reasons.items(), key=lambda row: (-row[1], row[0]))
        return [
            f"{result} because {reason or 'of something unsaid'}: {count} ({self.all.share(count)})"
            for (result, reason), count in ordered
        ]

    def _table(self, names: tuple[str, ...], tallies: Mapping[tuple[str, ...], Tally]) -> list[str]:
        """How the games went by what varies: a row for each value, or for each combination of values."""
        titles = [part for name in self._counts(self.all) for part in (name, "")]
        rows = [[*names, "games", *titles]]
        for values, tally in tallies.items():
            counts = [part for n in self._counts(tally).values() for part in (str(n), tally.share(n))]
            rows.append([*values, str(tally.games), *counts])
        return ["", *aligned(rows, len(names))]

    def _counts(self, tally: Tally) -> dict[str, int]:
        """The columns of a table: what there was not at all in this run is left out."""
        if self.plan.is_cooperative:
            counts = {"won": tally.won, "lost": tally.lost}
        else:
            counts = {seat: tally.wins[seat] for seat in self.seats}
            counts |= {"lost": tally.lost} if self.all.lost else {}
        counts |= {"drawn": tally.drawn} if self.all.drawn else {}
        counts |= {"neither": tally.neither} if self.all.neither else {}
        return counts | ({"errors": tally.errors} if self.all.errors else {})

    def _error_lines(self) -> list[str]:
        lines = [""] if self.errors and self.by else []
        for one in self.errors[:ERRORS_SHOWN]:
            seed, form = self.plan.game_seed(one.number), self.plan.form(one.number)
            lines += [f"  game {one.number}, seed {seed}, {form}, could not be played: {one.error}"]
            lines += [f"    again: {self.plan.command(one.number)}"]
        more = len(self.errors) - ERRORS_SHOWN
        return lines + ([f"  and {more} more that could not be played"] if more > 0 else [])

    def _bots(self) -> str:
        bots = dict(pair for form in self.plan.every_form for pair in zip(form.seats, form.bots))
        one = len(set(bots.values())) == 1
        return next(iter(bots.values())) if one else ", ".join(at_seats(tuple(bots), tuple(bots.values())))

    # ------------------------------------------------------------ data
    def as_data(self, combinations: bool = False) -> dict[str, Any]:
        plan = self.plan
        bots = dict(pair for form in plan.every_form for pair in zip(form.seats, form.bots))
        data = {
            "game": plan.game,
            "games": self.count,
            "seed": plan.seed,
            "bots": bots,
            "wins": self.by_side(),
            "losses": self.all.lost,
            "draws": self.draws,
            "without winner": self.nobody,
            "reasons": self._reasons(),
            "forms": len(plan.every_form),
            "impossible": plan.impossible,
            "by": {
                name: {value: tally.as_data() for value, tally in tallies.items()}
                for name, tallies in self.by.items()
            },
            "decisions": self.decisions.as_data(),
            "events": self.events.as_data(),
            "digest": self.digest,
            "errors": [self._error(one) for one in self.errors],
        }
        if combinations:
            data["combinations"] = [
                {"form": dict(zip(self.by, values))} | tally.as_data()
                for values, tally in self.by_form.items()
            ]
        return data

    def _reasons(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        for (result, reason), count in sorted(self.reasons.items()):
            if reason:
                found.setdefault(result, {})[reason] = count
        return found

    def _error(self, one: Played) -> dict[str, Any]:
        form = self.plan.form(one.number)
        return {
            "game": one.number,
            "seed": self.plan.game_seed(one.number),
            "seats": list(form.seats),
            "settings": dict(form.settings),
            "what": one.error,
            "again": self.plan.command(one.number),
        }


def at_seats(seats: Sequence[str], bots: Sequence[str]) -> list[str]:
    return [f"{seat}={bot}" for seat, bot in zip(seats, bots)]


def aligned(rows: Sequence[Sequence[str]], left: int) -> list[str]:
    """Rows as lines: the first `left` columns begin below each other, all others end so."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            text.ljust(width) if at < left else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths))
        ]
        lines.append(f"  {'  '.join(cells)}".rstrip())
    return lines
