"""RLCard 1.2.0's two-player Leduc hold'em with no engine: the limit of plain Python.

Blinds 1 and 2, raises of 2 and then 4, two raises a round; folding is legal even where checking is free.
"""

from random import Random
from typing import Any, TypeAlias

Log: TypeAlias = list[dict[str, Any]]

CALL, RAISE, FOLD, CHECK = range(4)
RANKS = (0, 0, 1, 1, 2, 2)  # J J Q Q K K


def play(rng: Random, log: Log | None = None) -> int:
    """Play one random hand; return the number of moves. One long function on purpose: this is the limit."""
    deck = list(RANKS)
    rng.shuffle(deck)
    cards = [deck.pop(), deck.pop()]
    player = rng.randrange(2)  # the small blind, who acts first
    bets = [2, 2]
    bets[player] = 1
    chips = bets.copy()
    public = winner = None
    if log is not None:
        log.append({"type": "dealt", "cards": cards.copy(), "chips": bets.copy()})
    moves = betting_round = raises = settled = 0
    while winner is None and betting_round < 2:
        owed = bets[1 - player] - bets[player]
        legal = [FOLD, CALL] if owed > 0 else [FOLD, CHECK]
        if raises < 2:
            legal.append(RAISE)
        action = rng.choice(legal)
        moves += 1
        if action == FOLD:
            winner = 1 - player
        elif action == RAISE:
            paid = owed + (2, 4)[betting_round]
            bets[player] += paid
            chips[player] += paid
            raises += 1
            settled = 1
        else:
            bets[player] += owed
            chips[player] += owed
            settled += 1
        if log is not None:
            log.append({"type": "bet", "player": player, "action": action, "chips": chips.copy()})
        player = 1 - player
        if settled == 2:
            betting_round += 1
            bets, raises, settled = [0, 0], 0, 0
            if betting_round == 1:
                public = deck.pop()
                if log is not None:
                    log.append({"type": "public_card", "card": public})
    if winner is None:
        winner = showdown(cards, public)
    if log is not None:
        log.append({"type": "game_ended", "winner": winner, "pot": sum(chips)})
    return moves


def showdown(cards: list[int], public: int | None) -> int | None:
    """Who wins the pot: a pair with the public card, else the higher rank; equal ranks split it."""
    if public in cards:
        return cards.index(public)
    if cards[0] == cards[1]:
        return None
    return 0 if cards[0] > cards[1] else 1
