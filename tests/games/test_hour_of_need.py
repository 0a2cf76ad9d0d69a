"""Laws of one game over random games: every number of heroes, every villain, every issue, and the modules."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from playing import program, uniform

from longbox.kernel import Game, State, fold_history
from longbox.kernel.chance import Seeded
from longbox.kernel.state import REMOVED, Thing, attribute
from longbox.kernel.views import view

GAME = "hour_of_need"
DECISIONS_MAX = 20_000  # far more than any game has taken


def names_of(kind: str) -> list[str]:
    return [d["name"] for d in program(GAME).designs if d["kind"] == kind]


FORMS = [
    (heroes, villain, issue)
    for heroes in range(1, 7)
    for villain in names_of("villain")
    for issue in names_of("overview")
]
MODULES = {
    "companions": ", ".join(names_of("ally")),
    "added crises": ", ".join(names_of("crisis card")),
    "minion sets": ", ".join(names_of("minion card")),
    "bystander sets": ", ".join(names_of("bystander card")),
    "extra nemeses": "2",
}
every_form = pytest.mark.parametrize(("heroes", "villain", "issue"), FORMS)


def play(heroes: int, villain: str, issue: str, seed: int = 0, **more: str) -> Game:
    settings = {"villain": villain, "issue": issue, **more}
    made = Game(program(GAME), seed=seed, seats=heroes, settings=settings, start=False)
    return made.play(uniform(seed), DECISIONS_MAX)


def of_kind(s: State, kind: str) -> list[Thing]:
    return [t for t in range(len(s.kind)) if kind in s.lineage.get(s.kind[t], ())]


@every_form
def test_every_game_ends_for_a_stated_reason(heroes: int, villain: str, issue: str) -> None:
    for seed in range(2):
        made = play(heroes, villain, issue, seed)
        assert made.outcome is not None and made.outcome["reason"]
        together = made.outcome["winners"] or made.outcome["losers"]
        assert len(together) == heroes  # all win or all lose


@every_form
def test_the_table_holds_together_at_every_question(heroes: int, villain: str, issue: str) -> None:
    made = Game(
        program(GAME), seed=5, seats=heroes, settings={"villain": villain, "issue": issue}, start=False
    )
    pick = uniform(5)
    start: list[Counter[tuple[str, str]]] = []

    def watch(question: Any) -> str:
        s = made.state
        if not start:
            start.append(Counter(zip(s.kind, s.name, strict=True)))
        check_table(s, start[0])
        return pick(question)

    made.play(watch, DECISIONS_MAX)
    check_table(made.state, start[0])


def check_table(s: State, start: Counter[tuple[str, str]]) -> None:
    """Nothing appears or vanishes, everything is in one place, and no rule of the board is broken."""
    assert Counter(zip(s.kind, s.name, strict=True)) == start
    lying = Counter(t for things in s.items.values() for t in things)
    assert all(count == 1 for count in lying.values())
    assert all(t in s.items[p] for t, p in enumerate(s.place) if p is not None)
    check_figures(s)
    check_counters(s)


def check_figures(s: State) -> None:
    """HON-EMPTY-04, HON-BOARD-11, HON-BYS-03."""
    hostile = getattr(s, attribute("f", "hostile"))
    for space in s.of["space"]:
        figures = [
            t
            for t in s.items[space]
            if "element" in s.lineage[s.kind[t]]
            and (hostile[t] or s.kind[t] == "hero" or "ally" in s.lineage[s.kind[t]])
        ]
        assert len(figures) <= 1 or any(s.open.get(x) for x in ("effect", "root effect")), figures
    free = [t for t in of_kind(s, "bystander") if s.place[t] in s.of["space"]]
    assert len(free) <= 4


def check_counters(s: State) -> None:
    """HON-FOC-01, HON-RUL-46: no counter passes its bound."""
    focus, actions = getattr(s, attribute("f", "focus")), getattr(s, attribute("f", "actions"))
    damage, health = getattr(s, attribute("f", "damage")), getattr(s, attribute("f", "health"))
    for hero in s.of["hero"]:
        assert 0 <= focus[hero] <= 5 and 0 <= actions[hero] <= 2
    for thing in s.of["element"]:
        assert damage[thing] >= 0
        if health[thing] is not None and s.kind[thing] in ("lackey", "minion") and s.place[thing] != REMOVED:
            assert damage[thing] <= health[thing]


@every_form
def test_fold_and_replay_equal_the_live_game(heroes: int, villain: str, issue: str) -> None:
    made = play(heroes, villain, issue, 7)
    assert fold_history(made.log).snapshot() == made.state.snapshot()
    answers = [(e[3][0] if len(e[3]) == 1 else None, e[4]) for e in made.log if e[0] == "answered"]
    again = Game.resume(
        program(GAME), 7, made.seat_names, {"villain": villain, "issue": issue}, answers, expected=made.log
    )
    assert again.log == made.log


@pytest.mark.parametrize("heroes", range(1, 7))
@pytest.mark.parametrize("issue", names_of("overview"))
def test_all_modules_together_play_too(heroes: int, issue: str) -> None:
    for seed, villain in enumerate(names_of("villain")):
        made = play(heroes, villain, issue, seed, **MODULES)
        assert made.outcome is not None and made.outcome["reason"]
        assert fold_history(made.log).snapshot() == made.state.snapshot()


@pytest.mark.parametrize("heroes", [1, 2, 6])
def test_no_seat_sees_the_order_of_a_deck(heroes: int) -> None:
    """What is to come may change without one byte of any seat's view or question changing."""
    made = Game(program(GAME), seed=3, seats=heroes)
    pick = uniform(3)
    for _ in range(25):
        if made.over:
            break
        question = made.questions[-1]
        before = [view(made.state, seat, made.questions) for seat in made.seats]
        other = made.fork(Seeded(99))
        for name in ("villain deck", "issue deck", "clue deck", "deck"):
            for zone in other.state.called[name]:
                other.state.items[zone].reverse()
        assert [view(other.state, seat, made.questions) for seat in other.seats] == before
        made.answer(pick(question), question.seats[0])
