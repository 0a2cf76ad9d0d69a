"""Bots: who answers when nobody sits there.

A bot is called with the game and the question, and names one of the answers. It is made from a number, the
seed of its stream, and has no other source of chance: the same game and seed give the same answers anywhere.

    random    each answer equally likely; may also be handed to `Game.play` as its policy, the fast path
    first     always the first answer offered
    greedy    tries each answer on a fork, plays random games from there, takes what won most

Budgets are counts, never seconds. The greedy bot does not know the draws to come, but it looks at the true
table: in a game with hidden hands it knows more than a person in its seat would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Protocol, TypeAlias

from longbox.kernel import Game, LongboxError, OverBudget, Question, Thing
from longbox.kernel.chance import Seeded
from longbox.kernel.state import Policy

ROLLOUTS = 192  # games that the greedy bot plays out for one answer
DEPTH = 400  # decisions after which such a game counts as undecided


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


# ---------------------------------------------------------------- several of them at one table
class Table:
    """The bots of a game, seat by seat; where none sits, `None`."""

    def __init__(self, seats: Sequence[Thing], bots: Sequence[Bot | None]) -> None:
        self.bots = dict(zip(seats, bots, strict=True))

    def bot_for(self, question: Question) -> Bot | None:
        """Who answers. A question to several seats is a person's as long as one of them is a person's."""
        asked = [self.bots[seat] for seat in question.seats]
        return asked[0] if all(asked) else None

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
