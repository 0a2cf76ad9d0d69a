"""RLCard at four levels; it keeps no events at any of them, only `env` keeps the list of actions.

rules object          what env.step calls: the rules, and the mover's view built at every step
env.step              also the legal actions twice more and an observation in numpy
env.run               also the trajectories; here with an agent that uses random.choice, as everyone does
env.run, RandomAgent  the documented way, with RLCard's own slower agent
"""

import copy
from importlib import import_module
from random import Random
from typing import Any

from ..registry import Contender, Setup, Slice, timed, timed_calls

MOVES_BEFORE_FORK = 20


class ChoiceAgent:
    """The policy of every contender, in the shape of an RLCard agent."""

    use_raw = False

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def step(self, state: dict[str, Any]) -> int:
        """One of the distinct legal actions."""
        action: int = self.rng.choice(list(state["legal_actions"]))
        return action


def make(game: str) -> Any:
    """An RLCard environment, which also holds the rules object."""
    return import_module("rlcard").make(game, config={"seed": 1})


def rules_object(game: str, *, repeats: bool) -> Setup:
    """Games on the rules object; `repeats` says that it may list a legal action twice, as UNO's does."""

    def setup() -> Slice:
        rules, rng = make(game).game, Random(1)

        def play() -> int:
            state, _ = rules.init_game()
            moves = 0
            while not rules.is_over():
                legal = state["legal_actions"]
                state, _ = rules.step(rng.choice(list(dict.fromkeys(legal)) if repeats else legal))
                moves += 1
            rules.get_payoffs()
            return moves

        return timed(play)

    return setup


def env_step(game: str) -> Setup:
    """Games by env.step."""

    def setup() -> Slice:
        env, rng = make(game), Random(1)

        def play() -> int:
            state, _ = env.reset()
            moves = 0
            while not env.is_over():
                state, _ = env.step(rng.choice(list(state["legal_actions"])))
                moves += 1
            env.get_payoffs()
            return moves

        return timed(play)

    return setup


def env_run(game: str) -> Setup:
    """Games by env.run with the common policy."""
    return lambda: _run(make(game), ChoiceAgent(Random(1)))


def env_run_as_documented(game: str) -> Setup:
    """Games by env.run with RLCard's RandomAgent."""

    def setup() -> Slice:
        env = make(game)
        import_module("numpy").random.seed(1)
        return _run(env, import_module("rlcard.agents").RandomAgent(num_actions=env.num_actions))

    return setup


def _run(env: Any, agent: Any) -> Slice:
    env.set_agents([agent] * env.num_players)

    def play() -> int:
        before: int = env.timestep
        env.run(is_training=True)
        after: int = env.timestep
        return after - before

    return timed(play)


def deepcopy_in_mid_play() -> Slice:
    """A copy of an UNO rules object: RLCard has no other way to fork."""
    rules = _rules_in_mid_play(Random(5))
    for part in (rules, rules.dealer, rules.round, *rules.players):
        part.np_random = None  # the cards only, as in the other copies
    return timed_calls(lambda: copy.deepcopy(rules), 5)


def _rules_in_mid_play(rng: Random) -> Any:
    rules = make("uno").game
    while True:
        state, _ = rules.init_game()
        for _ in range(MOVES_BEFORE_FORK):
            if not rules.is_over():
                state, _ = rules.step(rng.choice(list(dict.fromkeys(state["legal_actions"]))))
        if not rules.is_over():
            return rules


CONTENDERS = (
    Contender("games/uno", "RLCard rules object", rules_object("uno", repeats=True)),
    Contender("games/uno", "RLCard env.step", env_step("uno")),
    Contender("games/uno", "RLCard env.run", env_run("uno")),
    Contender("games/leduc", "RLCard rules object", rules_object("leduc-holdem", repeats=False)),
    Contender("games/leduc", "RLCard env.run", env_run("leduc-holdem")),
    Contender("durable/uno", "RLCard env.step", env_step("uno")),
    Contender("durable/uno", "RLCard env.run", env_run("uno")),
    Contender("durable/uno", "RLCard env.run, RandomAgent", env_run_as_documented("uno")),
    Contender("fork", "RLCard deepcopy", deepcopy_in_mid_play),
)
