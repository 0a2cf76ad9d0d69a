"""RLCard 1.2.0's two-player UNO with no engine: the limit of plain Python.

A card is an int, colour * 15 + trait; colours r g b y = 0..3; traits 0-9, then the names below. The tests
drive it in lock-step with RLCard's own game. `fold` rebuilds the whole table from the events alone.
"""

from collections.abc import Callable, Iterable
from random import Random
from typing import Any, TypeAlias

Event: TypeAlias = dict[str, Any]
Log: TypeAlias = list[Event]

SKIP, REVERSE, DRAW2, WILD, WILD4 = range(10, 15)
COLOUR = [card // 15 for card in range(60)]
TRAIT = [card % 15 for card in range(60)]
PLAIN_WILDS = [colour * 15 + WILD for colour in range(4)]
WILD4S = [colour * 15 + WILD4 for colour in range(4)]
DRAW = 60  # the 61st action

DECK = [
    colour * 15 + trait
    for colour in range(4)
    for trait in range(15)
    for _ in range(2 if 1 <= trait <= DRAW2 else 1)
]


class Uno:
    """A table; with a log, also everything that happened on it."""

    __slots__ = ("deck", "direction", "hands", "played", "player", "rng", "target", "winner")

    def __init__(self, rng: Random, log: Log | None = None) -> None:
        self.rng = rng
        self.deck = deck = DECK.copy()
        rng.shuffle(deck)
        self.hands = [[deck.pop() for _ in range(7)] for _ in range(2)]
        self.player, self.direction = 0, 1
        self.winner: int | None = None
        top = deck.pop()
        while TRAIT[top] == WILD4:
            deck.append(top)
            rng.shuffle(deck)
            top = deck.pop()
        trait = TRAIT[top]
        if trait == WILD:
            top = rng.choice(range(4)) * 15 + WILD
        self.target, self.played = top, [top]
        if log is not None:
            hands = [hand.copy() for hand in self.hands]
            log.append({"type": "dealt", "hands": hands, "deck": deck.copy(), "top": top})
        if trait == SKIP:
            self.player = 1
        elif trait == REVERSE:
            self.direction, self.player = -1, 1
        elif trait == DRAW2:
            self.deal(0, 2, log)

    def legal_actions(self) -> list[int]:
        """Distinct: matching cards, a wild in four colours; if none, a wild-draw-4 in four; if none, draw."""
        target = self.target
        colour, trait = COLOUR[target], TRAIT[target]
        hand = set(self.hands[self.player])
        if trait < WILD:
            actions = [c for c in hand if TRAIT[c] < WILD and (COLOUR[c] == colour or TRAIT[c] == trait)]
        else:
            actions = [c for c in hand if TRAIT[c] < WILD and COLOUR[c] == colour]
        if not hand.isdisjoint(PLAIN_WILDS):
            actions += PLAIN_WILDS
        if not actions:
            actions = [DRAW] if hand.isdisjoint(WILD4S) else WILD4S
        return actions

    def apply(self, action: int, log: Log | None = None) -> None:
        """Lay a card of the player to move, or draw."""
        player = self.player
        if action == DRAW:
            self.draw(player, log)
            return
        hand, trait = self.hands[player], TRAIT[action]
        if trait < WILD:
            hand.remove(action)
        else:  # any copy of that wild leaves the hand and takes the named colour
            del hand[next(i for i, card in enumerate(hand) if TRAIT[card] == trait)]
        if log is not None:
            log.append({"type": "card_played", "player": player, "card": action})
        if not hand:
            self.winner = player
            if log is not None:
                log.append({"type": "game_ended", "winner": player})
        self.played.append(action)
        self.resolve(player, action, log)

    def draw(self, player: int, log: Log | None) -> None:
        """Draw one card; it is laid at once if it is wild or of the target's colour."""
        if not self.deck:
            self.recycle(log)
        card = self.deck.pop()
        trait = TRAIT[card]
        if trait >= WILD:  # in a random colour, and without its draw-4
            card = self.rng.choice(range(4)) * 15 + trait
            self.lay_drawn(player, card, log)
            self.target = card
            self.player = 1 - player
        elif COLOUR[card] == COLOUR[self.target]:
            self.lay_drawn(player, card, log)
            self.resolve(player, card, log)
        else:
            self.hands[player].append(card)
            self.player = 1 - player
            if log is not None:
                log.append({"type": "card_drawn", "player": player, "card": card})

    def lay_drawn(self, player: int, card: int, log: Log | None) -> None:
        """Put a card that was just drawn on the pile."""
        self.played.append(card)
        if log is not None:
            log.append({"type": "drawn_card_laid", "player": player, "card": card})

    def resolve(self, player: int, card: int, log: Log | None) -> None:
        """Make the card the target and carry out what it says."""
        trait = TRAIT[card]
        other = 1 - player
        if trait < SKIP or trait == WILD:
            self.player = other
        elif trait == SKIP:
            self.player = player
        elif trait == REVERSE:
            self.direction = -self.direction
            self.player = other
        else:
            count = 2 if trait == DRAW2 else 4
            if len(self.deck) < count:
                self.recycle(log)
            self.deal(other, count, log)
            self.player = player
        self.target = card

    def deal(self, player: int, count: int, log: Log | None) -> None:
        """Give a player cards from the deck."""
        deck, hand = self.deck, self.hands[player]
        for _ in range(count):
            hand.append(deck.pop())
        if log is not None:
            log.append({"type": "cards_dealt", "player": player, "cards": hand[-count:]})

    def recycle(self, log: Log | None) -> None:
        """Shuffle every played card into what is left of the deck."""
        self.deck += self.played
        self.rng.shuffle(self.deck)
        self.played = []
        if log is not None:
            log.append({"type": "deck_recycled", "deck": self.deck.copy()})

    def copy(self) -> "Uno":
        """An independent table; only the source of chance is shared."""
        twin = object.__new__(Uno)
        twin.rng, twin.target, twin.player = self.rng, self.target, self.player
        twin.direction, twin.winner = self.direction, self.winner
        twin.deck, twin.played = self.deck.copy(), self.played.copy()
        twin.hands = [hand.copy() for hand in self.hands]
        return twin


def play(rng: Random, log: Log | None = None) -> int:
    """Play one random game; return the number of moves."""
    game, moves, choice = Uno(rng, log), 0, rng.choice
    while game.winner is None:
        game.apply(choice(game.legal_actions()), log)
        moves += 1
    return moves


def fold(log: Iterable[Event], rng: Random) -> Uno:
    """The table that the events lead to."""
    game = object.__new__(Uno)
    game.rng = rng
    for event in log:
        FOLDS[event["type"]](game, event)
    return game


def _dealt(game: Uno, event: Event) -> None:
    top = event["top"]
    game.hands = [hand.copy() for hand in event["hands"]]
    game.deck = event["deck"].copy()
    game.target, game.played = top, [top]
    game.direction = -1 if TRAIT[top] == REVERSE else 1
    game.player = 1 if TRAIT[top] in (SKIP, REVERSE) else 0
    game.winner = None


def _card_played(game: Uno, event: Event) -> None:
    player, card = event["player"], event["card"]
    hand, trait = game.hands[player], TRAIT[card]
    if trait < WILD:
        hand.remove(card)
    else:
        del hand[next(i for i, held in enumerate(hand) if TRAIT[held] == trait)]
    _laid(game, player, card)


def _drawn_card_laid(game: Uno, event: Event) -> None:
    player, card = event["player"], event["card"]
    game.deck.pop()
    _laid(game, player, card)
    if TRAIT[card] == WILD4:  # drawn, it has no effect
        game.player = 1 - player


def _laid(game: Uno, player: int, card: int) -> None:
    trait = TRAIT[card]
    game.played.append(card)
    game.target = card
    game.player = player if trait in (SKIP, DRAW2, WILD4) else 1 - player
    if trait == REVERSE:
        game.direction = -game.direction


def _card_drawn(game: Uno, event: Event) -> None:
    game.hands[event["player"]].append(game.deck.pop())
    game.player = 1 - event["player"]


def _cards_dealt(game: Uno, event: Event) -> None:
    cards = event["cards"]
    del game.deck[-len(cards) :]
    game.hands[event["player"]] += cards


def _deck_recycled(game: Uno, event: Event) -> None:
    game.deck, game.played = event["deck"].copy(), []


def _game_ended(game: Uno, event: Event) -> None:
    game.winner = event["winner"]


FOLDS: dict[str, Callable[[Uno, Event], None]] = {
    "dealt": _dealt,
    "card_played": _card_played,
    "drawn_card_laid": _drawn_card_laid,
    "card_drawn": _card_drawn,
    "cards_dealt": _cards_dealt,
    "deck_recycled": _deck_recycled,
    "game_ended": _game_ended,
}
