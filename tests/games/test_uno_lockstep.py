"""UNO as text and RLCard's own UNO, side by side: the same legal actions, hands, deck and winner at every move."""

from __future__ import annotations

import random
from typing import Any

import pytest
from playing import program

from longbox.kernel import Game
from longbox.kernel.chance import Seeded
from longbox.kernel.state import State

pytest.importorskip("rlcard", reason="RLCard is not installed: pip install -e .[peers]")
from rlcard.games.uno import Game as PeerGame
from rlcard.games.uno.utils import ACTION_LIST

pytestmark = pytest.mark.peers
COLORS = {"r": "red", "g": "green", "b": "blue", "y": "yellow"}
TRAITS = {str(i): w for i, w in enumerate("zero one two three four five six seven eight nine".split())} | {
    "skip": "skip",
    "reverse": "reverse",
    "draw_2": "draw two",
    "wild": "wild",
    "wild_draw_4": "wild draw four",
}
MOVES = 20_000


class Recorder:
    """RLCard's random source, remembering how it shuffled and what it chose."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.events: list[tuple[str, Any]] = []

    def shuffle(self, cards: list[Any]) -> None:
        self._random.shuffle(cards)
        self.events.append(("shuffle", [_name(card) for card in cards]))

    def choice(self, options: Any) -> Any:
        chosen = self._random.choice(options)
        self.events.append(("choice", chosen))
        return chosen


class Follower:
    """Our source of chance, doing what RLCard's did."""

    def __init__(self, peer: Recorder) -> None:
        self.peer, self.state = peer, None
        self._at = 0

    def _next(self, sort: str) -> Any:
        found, value = self.peer.events[self._at]
        assert found == sort
        self._at += 1
        return value

    def order(self, at: int, count: int) -> list[int]:
        """Lay our cards in the order RLCard's lie now; equal cards are equal."""
        assert self.state is not None
        wanted: list[str] = self._next("shuffle")
        left = [self.state.name[card] for card in self.state.items[2]]
        order = []
        for name in wanted:
            index = left.index(name)
            order.append(index)
            left[index] = ""
        return order

    def pick(self, at: int, count: int) -> int:
        if self._at >= len(self.peer.events):
            return Seeded(0).pick(at, count)
        chosen = self._next("choice")
        return "rgby".index(chosen) if isinstance(chosen, str) else int(chosen)


def _name(card: Any) -> str:
    trait = TRAITS[card.trait]
    return trait if card.type == "wild" else f"{COLORS[card.color]} {trait}"


def _action_key(action: str) -> str:
    if action == "draw":
        return "draw"
    color, trait = action.split("-")
    return f"{COLORS[color]} {TRAITS[trait]}"


def _names(state: State, place: int) -> list[str]:
    return sorted(state.name[card] for card in state.items[place])


def _lockstep(seed: int) -> int:
    """One game; returns its number of moves."""
    peer = PeerGame()
    source = Recorder(seed)
    peer.np_random = source
    peer.init_game()
    follower = Follower(source)
    mine = Game(program("uno"), seed=seed, chance=follower, start=False)
    policy = random.Random(-seed - 1)
    moves = 0
    follower.state = mine.state  # type: ignore[assignment]

    def both(question: Any) -> str:
        nonlocal moves
        state = question.state
        legal = sorted({_action_key(a) for a in peer.get_legal_actions()})
        assert sorted(question.keys) == legal, (seed, moves)
        assert state.of["seat"].index(question.seats[0]) == peer.round.current_player
        for seat, player in zip(state.of["seat"], peer.players, strict=True):
            assert _names(state, state.z_hand[seat]) == sorted(_name(c) for c in player.hand), (seed, moves)
        assert [state.name[c] for c in state.items[2]] == [_name(c) for c in peer.dealer.deck], (seed, moves)
        key = policy.choice(legal)
        action = next(a for a in ACTION_LIST if _action_key(a) == key)
        peer.step(action)
        moves += 1
        return key

    mine.play(both)
    assert peer.is_over()
    assert mine.outcome is not None
    winners = [mine.state.of["seat"].index(w) for w in mine.outcome["winners"]]
    assert winners == peer.round.winner
    return moves


def test_uno_and_rlcard_agree_move_for_move() -> None:
    moves = seed = 0
    while moves < MOVES:
        moves += _lockstep(seed)
        seed += 1
    assert moves >= MOVES
