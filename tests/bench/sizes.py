"""How large games are: `python tests/bench/sizes.py [GAME:SEATS ...]`. Memory of live games, bytes of stored ones."""

import sys
import tracemalloc
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from longbox.kernel import Game, Question
from longbox.plugins import loader
from longbox.plugins.histories import Histories

FORMS = ("uno:2", "hour_of_need:1", "hour_of_need:4", "heroes_incorporated:2", "sentinels:4")
LIVE, STORED = 20, 100


def play(name: str, seats: int, seed: int, decisions: int = 0) -> Game:
    """A random game, to its end or for so many decisions."""
    game, rng = Game(loader.load_game(name), seed, seats), Random(seed)
    while (question := game.question) is not None and (not decisions or game.decisions < decisions):
        game.answer(_pick(rng, question))
    return game


def _pick(rng: Random, question: Question) -> str:
    return rng.choice(question.keys)


def live_bytes(name: str, seats: int, decisions: int) -> tuple[int, int]:
    """Bytes that one more game in mid-play takes, and how many events it has by then."""
    warm = [play(name, seats, seed, decisions) for seed in range(3)]  # what all games share is made once
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    games = [play(name, seats, seed, decisions) for seed in range(100, 100 + LIVE)]
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert warm
    return (after - before) // LIVE, sum(len(game.log) for game in games) // LIVE


def stored_bytes(games: list[Game]) -> float:
    """Bytes of the database for each event of finished games, everything counted but an empty file."""
    with TemporaryDirectory() as place:
        sizes = []
        for few in (games[:1], games):
            file = Path(place) / f"{len(few)}.sqlite"
            with Histories(file) as histories:
                histories.store_finished(few)
            sizes.append(sum(part.stat().st_size for part in Path(place).glob(f"{len(few)}.sqlite*")))
    return (sizes[1] - sizes[0]) / sum(len(game.log) for game in games[1:])


def main() -> int:
    print("| game | seats | decisions | events | events a decision | live game, kB | stored, bytes an event |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for form in sys.argv[1:] or FORMS:
        name, _, number = form.partition(":")
        seats = int(number or 1)
        games = [play(name, seats, seed) for seed in range(STORED)]
        decisions = sum(game.decisions for game in games) // STORED
        events = sum(len(game.log) for game in games) // STORED
        size, _ = live_bytes(name, seats, max(1, decisions // 2))
        a_decision, stored = events / decisions, stored_bytes(games)
        print(
            f"| {name} | {seats} | {decisions} | {events} | {a_decision:.1f} | {size / 1000:.0f} | {stored:.1f} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
