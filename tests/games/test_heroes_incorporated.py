"""Heroes Incorporated: what is hidden stays hidden, every form of the game ends, and the box is complete."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator

import pytest
from playing import program, uniform

from longbox.kernel import Game, LongboxError
from longbox.kernel.chance import Seeded
from longbox.kernel.views import can_see, seen_log, view

GAME = "heroes_incorporated"
OPTIONS = {"justice": True, "lairs": True}


class Exchanged(Seeded):
    """The chance of a seed, but for one shuffle: there, two cards lie in each other's place."""

    def __init__(self, seed: int, sizes: range, places: tuple[int, int]) -> None:
        super().__init__(seed)
        self.sizes, self.places = sizes, places

    def order(self, at: int, count: int) -> list[int]:
        found = list(super().order(at, count))
        if count in self.sizes:
            a, b = (count - 1 - place for place in self.places)  # the last ones lie on top
            found[a], found[b] = found[b], found[a]
        return found


def worlds(seed: int, seats: int, sizes: range, places: tuple[int, int]) -> tuple[Game, Game]:
    """The same game twice; in the second a secret is another."""
    there = Exchanged(seed, sizes, places)
    return (
        Game(program(GAME), seed=seed, seats=seats, settings=OPTIONS),
        Game(program(GAME), seed=seed, seats=seats, settings=OPTIONS, chance=there),
    )


def shown(game: Game, seat: int) -> bytes:
    """All that a seat gets: the table, the questions, the log."""
    table = view(game.state, seat, game.questions)
    return json.dumps([table, seen_log(game.log, seat, program(GAME).tables)], default=str).encode()


def differing(here: Game, there: Game) -> set[int]:
    """Things that do not lie in the same place in both worlds."""
    return {t for t in range(len(here.state.kind)) if here.state.place[t] != there.state.place[t]} | {
        t
        for a, b in zip(here.state.items.values(), there.state.items.values(), strict=True)
        for t in set(a) | set(b)
        if a != b
    }


def in_the_dark(here: Game, there: Game, other: set[int]) -> list[int]:
    """The seats that may see nothing of what differs."""
    return [
        seat
        for seat in here.seats
        if not any(can_see(world.state, seat, t) for t in other for world in (here, there))
    ]


def asked(game: Game) -> list[tuple[tuple[int, ...], int]]:
    """Who is asked, and by which line of the text: its words may speak of what only they may know."""
    return [(tuple(question.seats), question.site) for question in game.questions]


def same_answers(here: Game, there: Game, rng: random.Random) -> Iterator[None]:
    """Answer alike in both worlds, as long as they ask the same: who holds another card may be asked other things."""
    while asked(here) and asked(here) == asked(there):
        one, two = here.questions[0], there.questions[0]
        yield
        key = rng.choice([key for key in one.keys if key in two.keys] or [""])
        if not key:
            return
        here.answer(key, one.seats[0])
        there.answer(key, two.seats[0])


DECK, HEROES = range(44, 51), range(18, 19)


def compared(seed: int, seats: int, sizes: range, places: tuple[int, int]) -> int:
    """How often a seat that may not know the secret was shown the same in both worlds, to the byte."""
    rng = random.Random(f"{seed} {seats}")
    here, there = worlds(seed, seats, sizes, places)
    dark, count = set(here.seats), 0
    for answers, _ in zip(range(60), same_answers(here, there, rng)):
        other = differing(here, there)
        dark &= set(in_the_dark(here, there, other))
        if not dark:
            break
        for seat in dark if other and (answers < 20 or answers % 4 == 0) else ():
            assert shown(here, seat) == shown(there, seat)
            count += 1
    return count


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("sizes", [DECK, HEROES], ids=["research deck", "hero deck"])
def test_one_changed_secret_changes_not_one_byte_for_who_may_not_know_it(seats: int, sizes: range) -> None:
    """A card of another hand and one of the deck, two cards of the deck, the heroes of another draft."""
    drafted = 3 * seats
    pairs = {
        DECK: [(0, 9), (1, 12), (3, 10), (12, 13)],
        HEROES: [(0, drafted), (1, drafted + 1), (3, drafted)],
    }
    assert all(compared(seed, seats, sizes, pair) > 0 for seed, pair in enumerate(pairs[sizes]))


def test_who_may_know_a_secret_does_see_the_difference() -> None:
    """The test above could not fail if views were empty."""
    here, there = worlds(1, 2, HEROES, (0, 5))
    assert all(shown(here, seat) != shown(there, seat) for seat in here.seats)


# ---------------------------------------------------------------- every form of the game ends
@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("justice", [False, True])
@pytest.mark.parametrize("lairs", [False, True])
def test_random_games_end_with_one_winner_who_has_the_points(seats: int, justice: bool, lairs: bool) -> None:
    for seed in range(4):
        settings = {"justice": justice, "lairs": lairs}
        game = Game(program(GAME), seed=seed, seats=seats, settings=settings, start=False)
        game.play(uniform(seed))
        assert game.outcome is not None and len(game.outcome["winners"]) == 1
        points = game.state.f_points  # type: ignore[attr-defined]
        target = 36 if seats == 2 else 30
        assert [s for s in game.seats if points[s] >= target] == game.outcome["winners"]


@pytest.mark.parametrize("seats", [1, 5])
def test_two_to_four_play(seats: int) -> None:
    with pytest.raises(LongboxError):
        Game(program(GAME), seed=1, seats=seats)


# ---------------------------------------------------------------- the box
def test_the_box_holds_what_the_rules_page_lists() -> None:
    copies: Counter[str] = Counter()
    for design in program(GAME).designs:
        copies[design["kind"]] += design["copies"]
        if design["kind"] != "crime":
            assert design["fields"].get("f_flavour"), design["name"]
    research = ("gadget", "KO gadget", "HQ gadget", "fame card", "supervillain")
    assert [copies[kind] for kind in research] == [12, 8, 6, 10, 14]
    assert (copies["hero"], copies["power"], copies["tile"], copies["crime"]) == (18, 16, 25, 7)


# ---------------------------------------------------------------- what players read
def test_who_drafts_reads_the_powers_of_the_heroes_to_choose_from_and_of_no_others() -> None:
    game = Game(program(GAME), seed=3, seats=2)
    state = game.state
    powers = state.f_powers  # type: ignore[attr-defined]
    for question in game.questions:
        told = "; ".join(
            f"{state.name[hero]}: {' and '.join(state.name[power] for power in powers[hero])}"
            for hero in question.things
            if hero is not None
        )
        assert len(question.keys) == 3
        assert question.prompt == f"{told}. Keep which hero?"


def test_copies_of_a_card_bear_no_number() -> None:
    state = Game(program(GAME), seed=3, seats=2).state
    cards = [card for card in state.of["research card"] if state.name[card] == "Jet Pack"]
    assert [state.key[card] for card in cards] == ["Jet Pack", "Jet Pack"]
