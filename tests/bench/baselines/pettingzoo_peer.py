"""PettingZoo's tic-tac-toe without its checking wrappers: rules in Python, an observation in numpy."""

import os
from importlib import import_module
from random import Random

from ..registry import Contender, Slice, timed


def raw_tictactoe() -> Slice:
    """Games by the loop of PettingZoo's documentation; the mask's sampler is slower than random.choice."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    env, rng = import_module("pettingzoo.classic.tictactoe_v3").raw_env(), Random(1)
    env.reset(seed=1)

    def play() -> int:
        env.reset()
        moves = 0
        for _ in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.step(None)
            else:
                mask = observation["action_mask"].tolist()
                env.step(rng.choice([cell for cell, allowed in enumerate(mask) if allowed]))
                moves += 1
        return moves

    return timed(play)


CONTENDERS = (Contender("games/tic_tac_toe", "PettingZoo raw", raw_tictactoe),)
