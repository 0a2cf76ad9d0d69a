"""Bots: who answers when nobody sits there.

A bot is called with the game and the question, and names one of the answers. It is made from a number, the
seed of its stream, and has no other source of chance: the same game and seed give the same answers anywhere.

    random    each answer equally likely; may also be handed to `Game.play` as its policy, the fast path
    first     always the first answer offered
    greedy    tries each answer on a fork, plays random games from there, takes what won most
    sensible  tries each answer to the end of its effect, takes what leaves its seat standing best

The sensible bot needs a game that says how well somebody stands:

    query standing of (p: player) -> number: 3 * p's points - number of (cards in p's hand)

Budgets are counts, never seconds. Neither the greedy nor the sensible bot knows the draws to come. The greedy one
looks at the true table: in a game with hidden hands it knows more than a person in its seat would. The sensible
one shuffles the piles it may not look into before it draws from them; what lies in the hands of others it still
knows, and a rule or a `standing` that reads a hidden card tells it that card.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Protocol, TypeAlias

from longbox.kernel import Game, LongboxError, OverBudget, Program, Question, RuleError, State, Thing
from longbox.kernel.chance import Branch, Seeded
from longbox.kernel.errors import Paused
from longbox.kernel.fold import apply
from longbox.kernel.game import text_line
from longbox.kernel.questions import PASS, Feed
from longbox.kernel.state import BUDGET, Policy
from longbox.kernel.turns import walk
from longbox.kernel.views import may_look

ROLLOUTS = 192  # games that the greedy bot plays out for one answer
DEPTH = 400  # decisions after which such a game counts as undecided

STANDING = "standing of"  # the query that the sensible bot reads
EXTRA = 6  # tries of the sensible bot for one question, beyond the first of each answer
LOOKED_AT = 32  # answers that it looks at, of very many
WITHIN = 12  # questions in the middle of an effect after which it reads the standing there and then
PATIENCE = 100  # answers to one question in one place after which it tries something else
WON = 1e12  # more than any standing


class Bot(Protocol):
    """Answers questions. One that needs only the question has a `policy` as well."""

    def __call__(self, game: Game, question: Question) -> str: ...


BotFactory: TypeAlias = Callable[[int], Bot]


def derive(*parts: int | str) -> int:
    """A seed for one purpose, from seeds and names. 48 bits: exact in JSON and in any database."""
    text = "\0".join(map(str, parts)).encode()
    return int.from_bytes(blake2b(text, digest_size=6, person=b"longbox policy").digest(), "big")


class RandomBot:
    """Each answer equally likely. What it picks depends on its seed and on how many answers came before."""

    __slots__ = ("_key",)

    def __init__(self, seed: int) -> None:
        self._key = seed.to_bytes(16, "big", signed=True)

    def __call__(self, game: Game, question: Question) -> str:
        return self.policy(question)

    def policy(self, question: Question) -> str:
        keys = question.keys
        at = b"%d %d" % (question.state.answers, question.seats[0])
        word = int.from_bytes(blake2b(at, key=self._key, digest_size=8).digest(), "big")
        return keys[(word * len(keys)) >> 64]


class FirstBot:
    """Always the first answer: the simplest game that can be played."""

    def __init__(self, seed: int = 0) -> None:
        pass

    def __call__(self, game: Game, question: Question) -> str:
        return question.keys[0]

    def policy(self, question: Question) -> str:
        return question.keys[0]


class GreedyBot:
    """Tries each answer on a fork and plays random games from there; the weaker half drops out, and again."""

    def __init__(self, seed: int, rollouts: int = ROLLOUTS, depth: int = DEPTH) -> None:
        self.seed, self.rollouts, self.depth = seed, rollouts, depth

    def __call__(self, game: Game, question: Question) -> str:
        if len(question.keys) == 1:
            return question.keys[0]
        tries = [Try(game, question, key) for key in self._looked_at(game, question)]
        rounds = max(1, (len(tries) - 1).bit_length())
        played = 0
        while len(tries) > 1:
            count = max(1, self.rollouts // (rounds * len(tries)))
            for one in tries:
                for number in range(played, played + count):
                    one.play(derive(self.seed, game.decisions, number), self.depth)
            played += count
            tries = sorted(tries, key=lambda t: -t.mean)[: (len(tries) + 1) // 2]
        return tries[0].key

    def _looked_at(self, game: Game, question: Question) -> list[str]:
        """The answers worth a try: all, or of very many a part that depends on the seed only."""
        keys = question.keys
        if len(keys) <= self.rollouts:
            return keys
        stream = derive(self.seed, game.decisions, "part")
        return sorted(keys, key=lambda key: derive(stream, key))[: self.rollouts]


class Try:
    """One answer on trial: how the games that begin with it went for those who were asked.

    Draws to come are others than the game's own: a bot knows the table, but not the future.
    """

    def __init__(self, game: Game, question: Question, key: str) -> None:
        self.key, self.game, self.seats = key, game, question.seats
        self.points, self.count = 0.0, 0
        after = self._answered(0)
        self._after = after if after.state.draws == game.state.draws else None  # the same for any chance

    def _answered(self, seed: int) -> Game:
        fork = self.game.fork(Seeded(seed))
        fork.answer(self.key, self.seats[0])
        return fork

    @property
    def mean(self) -> float:
        return self.points / self.count

    def play(self, seed: int, depth: int) -> None:
        """One game at random, to its end or until it counts as undecided."""
        self.count += 1
        fork = self._after.fork(Seeded(seed)) if self._after is not None else self._answered(seed)
        try:
            fork.play(RandomBot(seed).policy, depth)
        except OverBudget:
            self.points += 0.5
        else:
            self.points += sum(score(fork.outcome, seat) for seat in self.seats) / len(self.seats)


def score(outcome: Mapping[str, Any] | None, seat: Thing) -> float:
    """1 for a win, 0 for a loss, a half for all else."""
    if outcome is None:
        return 0.5
    if seat in outcome["winners"]:
        return 1.0
    return 0.0 if seat in outcome["losers"] else 0.5


# ---------------------------------------------------------------- the sensible bot
class SensibleBot:
    """Tries each answer to the end of its effect, and takes the one that leaves those asked standing best.

    An effect that draws is tried with several draws, and the mean counts; one that asks further is answered in
    several ways, and the best counts. The weaker half of the answers drops out, and again. Equals are drawn by lot.
    """

    def __init__(self, seed: int, extra: int = EXTRA, within: int = WITHIN) -> None:
        self.seed, self.extra, self.within = seed, extra, within

    @staticmethod
    def ready(program: Program) -> None:
        """Raises if it cannot play this game."""
        standing_of(program)

    def __call__(self, game: Game, question: Question) -> str:
        standing = standing_of(game.program)
        if len(question.keys) == 1:
            return question.keys[0]
        seed = derive(self.seed, game.decisions)
        keys = not_repeated(game, question)
        if len(keys) > LOOKED_AT:
            keys = sorted(keys, key=lambda key: derive(seed, "part", key))[:LOOKED_AT]
        return Look(game, question, standing, seed, self.within).best(keys, self.extra)


class Standing:
    """How well seats stand, as the text of a game says it."""

    def __init__(self, program: Program, function: Callable[..., Any], is_shared: bool) -> None:
        self.program, self._function = program, function
        self._is_shared = is_shared  # the text says the same of every seat

    def __call__(self, state: State, seats: Sequence[Thing]) -> float:
        """The mean over some seats."""
        if self._is_shared:
            return self.of(state, seats[0])
        return sum(self.of(state, seat) for seat in seats) / len(seats)

    def of(self, state: State, seat: Thing) -> float:
        function = self._function
        try:
            value = function(state, -1, None, None, seat)
        except RuleError as error:
            raise RuleError(error.what, *text_line(self.program, error)) from error
        except (TypeError, KeyError, IndexError, AttributeError, ValueError) as error:
            what = "this text asked something of nothing"
            raise RuleError(what, *text_line(self.program, error)) from error
        if value is None:
            code = function.__code__
            what = f"the standing of {state.key[seat]} is nothing, and should be a number"
            raise RuleError(what, code.co_filename, code.co_firstlineno)
        return float(value)


def standing_of(program: Program) -> Standing:
    """What a game says about how well somebody stands; raises if it says nothing."""
    kinds = program.kinds[program.tables["seat_kind"]]["all"]
    for kind in kinds:
        row = program.tables["queries"].get(f"{STANDING} ({kind})")
        if row is not None and row["type"] == "number":
            return Standing(program, program.function(row["function"]), not row["reads"][0])
    wanted = f"query {STANDING} (p: {kinds[0]}) -> number:"
    raise LongboxError(
        f"{program.title} does not say how well somebody stands, so the sensible bot cannot play it: "
        f"write '{wanted} ...' in its rules, or take another bot"
    )


def not_repeated(game: Game, question: Question) -> list[str]:
    """The answers to look at: all, but where a game stays in one place for very long, those given least often there.

    A text may let somebody go on for ever without a loss, and what ends it may look worse.
    """
    here, given = None, Counter[str]()
    for event in reversed(game.log):
        if event[0] == "answered" and event[2] == question.site:
            given[event[4]] += 1
        elif event[0] == "stepped" and here not in (None, event[3]):
            break
        elif event[0] == "stepped":
            here = event[3]
    if given.total() < PATIENCE:
        return question.keys
    least = min(given[key] for key in question.keys)
    return [key for key in question.keys if given[key] == least]


class Trial:
    """One answer, and how those asked stand after it: by the way it is followed up, one value for each luck."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.values: dict[int, list[float]] = {}
        self.asks = False  # there are several ways to follow it up
        self.draws = False  # what comes of it is a matter of luck

    @property
    def value(self) -> float:
        return max(sum(found) / len(found) for found in self.values.values())

    @property
    def is_known(self) -> bool:
        """Nothing more can be learned of it."""
        return not self.asks and not self.draws

    def wanted(self, number: int) -> list[tuple[int, int]]:
        """The tries of a round, as (way, luck). A new way is tried with as much luck as the others had."""
        if not self.asks:
            return [(0, number)]
        lucks = range(2 if self.draws else 1)
        ways = range(number + 1)
        return [(way, luck) for luck in lucks for way in ways if luck >= len(self.values.get(way, ()))]


class Look:
    """One question, looked at by the sensible bot."""

    def __init__(self, game: Game, question: Question, standing: Standing, seed: int, within: int) -> None:
        self.game, self.question, self.standing = game, question, standing
        self.seed, self.within = seed, within
        state = game.state
        self._unseen = [
            zone
            for zone in state.sight
            if len(state.items[zone]) > 1 and not all(may_look(state, seat, zone) for seat in question.seats)
        ]
        self._stirred: list[Thing] = []  # unseen zones from which some try has drawn

    def best(self, keys: Sequence[str], extra: int) -> str:
        trials = [Trial(key) for key in keys]
        for trial in trials:
            self._try(trial, 0, 0)
        left, number = extra, 0
        alive = [trial for trial in trials if not trial.is_known]
        while left > 0 and alive and len(trials) > 1:
            number += 1
            alive.sort(key=lambda trial: -trial.value)
            if number > 1:
                del alive[(len(alive) + 1) // 2 :]
            wanted = [(trial, *one) for trial in alive for one in trial.wanted(number)][:left]
            for trial, way, luck in wanted:
                self._try(trial, way, luck)
            left -= len(wanted)
        best = max(trial.value for trial in trials)
        equals = [trial.key for trial in trials if trial.value == best]
        return equals[derive(self.seed, "lot") % len(equals)]

    def _try(self, trial: Trial, way: int, luck: int) -> None:
        """Try an answer once. If it drew from a pile that it may not see, that pile is shuffled first."""
        before = self.game.state.items
        playout = self._play(trial.key, way, luck, self._stirred if trial.draws else [])
        drawn = [zone for zone in self._unseen if playout.state.items[zone] != before[zone]]
        if (drawn and not trial.draws) or not set(drawn) <= set(self._stirred):
            self._stirred += [zone for zone in drawn if zone not in self._stirred]
            playout = self._play(trial.key, way, luck, self._stirred)
        trial.asks |= playout.asks
        trial.draws |= playout.draws or bool(drawn)
        trial.values.setdefault(way, []).append(self._value(playout.state))

    def _play(self, key: str, way: int, luck: int, stirred: Sequence[Thing]) -> Playout:
        follow = Follow(way, derive(self.seed, "way", way))
        playout = Playout(
            self.game, self.question, key, follow, derive(self.seed, "luck", luck), stirred, self.within
        )
        playout.run()
        return playout

    def _value(self, state: State) -> float:
        seats = self.question.seats
        if state.outcome is not None:
            ends = [score(state.outcome, seat) for seat in seats]
            if any(end != 0.5 for end in ends):
                return WON * (sum(ends) / len(ends) - 0.5)
        return self.standing(state, seats)


class Follow:
    """One way to follow up an answer, by its number.

    Texts put what there is to do first, and what ends it last: way 0 does the first thing and passes where that is
    offered, way 1 does the last. Each way after them takes another answer first, and goes on at random.
    """

    def __init__(self, way: int, seed: int) -> None:
        self.way, self.count = way, 0
        self._any = RandomBot(seed).policy

    def __call__(self, question: Question) -> str:
        keys = question.keys
        self.count += 1
        if self.way == 0:
            return PASS if PASS in keys else keys[0]
        if self.way == 1:
            return keys[-1]
        return keys[(self.way - 1) % len(keys)] if self.count == 1 else self._any(question)


class Enough(Exception):
    """A playout has come as far as it should."""


class Playout:
    """An answer, and what follows from it, on a copy of the table: up to the end of the step or of the game.

    It stands in for `fork`, `answer` and `play` in one: a single copy is made, and the walk is left at the next
    step, before anybody is asked there.
    """

    def __init__(
        self,
        game: Game,
        question: Question,
        key: str,
        follow: Policy,
        luck: int,
        stirred: Sequence[Thing],
        within: int,
    ) -> None:
        self.state = state = game._checkpoint.copy()
        state.budget = BUDGET
        state.chance = Branch(game.state.chance, game.state.draws, Seeded(luck))
        state.run = self
        self.asks = self.draws = False
        self._game, self._key, self._follow, self._left = game, key, follow, within
        self._site, self._seats = question.site, question.seats
        self._stirred = stirred
        self._feed = Feed(known_answers(game, question))
        self._others = RandomBot(luck).policy
        self._ours = set(game.seats if game.program.tables["cooperative"] else question.seats)
        self._since = -1  # draws up to the answer; less than none: it is not given yet

    def run(self) -> None:
        state = self.state
        try:
            self._game._guarded(lambda: walk(state, self._game._resumable()))
        except Enough:
            pass
        finally:
            state.run = _nobody  # else the table holds what holds it, and waits for the collector
        self.draws |= state.draws > self._since

    def __call__(self, question: Question) -> str:
        if self._since < 0:
            return self._until_given(question)
        self._left -= 1
        if self._left < 0:
            raise Enough
        if len(question.keys) == 1:
            return question.keys[0]
        if question.seats[0] in self._ours:
            self.asks = True
            return self._follow(question)
        self.draws = True  # what others answer is luck
        return self._others(question)

    def at_step(self, state: State) -> None:
        """The walk calls this at each step, and the question on trial lies before the first."""
        raise Enough

    def _until_given(self, question: Question) -> str:
        """What was answered since the last step, then the answer on trial."""
        try:
            return self._feed(question)
        except Paused:
            pass
        if (question.site, question.seats) != (self._site, self._seats) or self._key not in question.keys:
            self._left -= 1
            if self._left < 0:
                raise Enough
            return self._others(question)  # asked at the same time: what they will say is not known
        for zone in self._stirred:
            self._stir(zone)
        self._since = self.state.draws
        return self._key

    def _stir(self, zone: Thing) -> None:
        """Shuffle a zone, from an order that tells nothing; what those asked were shown in it stays where it is."""
        state, things = self.state, self.state.items[zone]
        shown = state.shown
        free = [at for at, t in enumerate(things) if any(x not in shown.get(t, ()) for x in self._seats)]
        pool = sorted(things[at] for at in free)
        order = things[:]
        for at, other in zip(free, state.chance.order(state.draws, len(free))):
            order[at] = pool[other]
        apply(state, ("shuffled", -1, 0, zone, tuple(order)))


def known_answers(game: Game, question: Question) -> list[tuple[Thing | None, str]]:
    """The answers since the last step, without those that others have given in secret."""
    known = game._since[:]
    for seat, key in game.pending:
        if seat not in question.seats:
            known.remove((seat, key))
    return known


def _nobody(question: Question) -> str:
    raise AssertionError("this table is done with")


# ---------------------------------------------------------------- several of them at one table
class Table:
    """The bots of a game, seat by seat; where none sits, `None`."""

    def __init__(self, seats: Sequence[Thing], bots: Sequence[Bot | None]) -> None:
        self.bots = dict(zip(seats, bots, strict=True))

    def bot_for(self, question: Question) -> Bot | None:
        """Who answers. A question to several seats is a person's as long as one of them is a person's."""
        asked = [self.bots[seat] for seat in question.seats]
        return asked[0] if all(asked) else None

    def check(self, program: Program) -> None:
        """Raises if one of them cannot play this game."""
        for bot in self.bots.values():
            if (ready := getattr(bot, "ready", None)) is not None:
                ready(program)

    def policy(self) -> Policy | None:
        """One policy for all seats, if every bot has one."""
        policies = {seat: getattr(bot, "policy", None) for seat, bot in self.bots.items()}
        if not all(policies.values()):
            return None
        chosen: list[Policy] = [p for p in policies.values() if p is not None]
        if all(p == chosen[0] for p in chosen):
            return chosen[0]

        def policy(question: Question) -> str:
            answer: str = policies[question.seats[0]](question)  # type: ignore[misc]  # none is None, see above
            return answer

        return policy

    def play(self, game: Game, decisions_max: int = 1_000_000) -> None:
        """To the end: by one policy where that is possible, answer by answer where it is not."""
        if policy := self.policy():
            game.play(policy, decisions_max)
            return
        while not game.over:
            question = game.question
            assert question is not None, "a game that is not over asks something"
            if game.decisions >= decisions_max:
                raise OverBudget(f"no end after {decisions_max} decisions")
            bot = self.bot_for(question)
            if bot is None:
                raise LongboxError(f"no bot sits on {game.state.key[question.seats[0]]}")
            game.answer(bot(game, question), question.seats[0])


def make_table(
    seats: Sequence[Thing], names: Sequence[str | None], factories: Mapping[str, BotFactory], seed: int
) -> Table:
    """Seat bots by name. All of them draw on one stream: seats with the same bot share it."""
    made: dict[str, Bot] = {
        name: factories[name](derive(seed, name)) for name in dict.fromkeys(names) if name
    }
    return Table(seats, [made[name] if name else None for name in names])


def read_bots(
    spec: str | None,
    seats: Sequence[str],
    known: Sequence[str],
    default: str | None,
    spare_first: bool = False,
) -> list[str | None]:
    """Who sits where, from `greedy` (everywhere) or `X=random,O=greedy`; a seat is named or numbered from 1.

    With `spare_first` a bot for everywhere leaves the first seat to a person.
    """
    chosen: list[str | None] = [default] * len(seats)
    for part in filter(None, (spec or "").split(",")):
        seat, equals, name = part.rpartition("=")
        bot = _known_bot(name.strip(), known)
        if equals:
            chosen[_seat_number(seat.strip(), seats)] = bot
        else:
            chosen = [default if spare_first and at == 0 else bot for at in range(len(seats))]
    return chosen


def _known_bot(name: str, known: Sequence[str]) -> str | None:
    if name == "none":
        return None
    if name not in known:
        raise LongboxError(f"there is no bot {name!r}; the bots are: {', '.join(known)} (none: a person)")
    return name


def _seat_number(seat: str, seats: Sequence[str]) -> int:
    named = [at for at, name in enumerate(seats) if name.lower() == seat.lower()]
    if named:
        return named[0]
    if seat.isdecimal() and 1 <= int(seat) <= len(seats):
        return int(seat) - 1
    raise LongboxError(f"there is no seat {seat!r}; the seats are: {', '.join(seats)}")
