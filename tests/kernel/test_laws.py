"""The laws of the kernel, each over random games of every game in expansions/."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from playing import GAMES, played, program, uniform

from longbox.kernel import Game, IllegalAnswer, OverBudget, State, fold_history
from longbox.kernel.fold import APPLY
from longbox.kernel.program import state_from_box
from longbox.kernel.state import Event
from longbox.kernel.views import can_see, seen_log, view

SEEDS = range(12)
each_game = pytest.mark.parametrize("game", GAMES)


@each_game
def test_state_changes_only_by_applying_an_event(game: str) -> None:
    """Law 1: between two events nothing changes; so applying them one by one gives every table in between."""
    live = Game(program(game), seed=3, start=False)
    tables: list[tuple[int, dict[str, Any]]] = []

    def watch(question: Any) -> str:
        tables.append((len(live.log), _frozen(live.state)))
        return str(rng.choice(question.keys))

    rng = random.Random(3)
    live.play(watch)
    state = state_from_box(live.log[0])
    at = 1
    for length, table in tables:
        while at < length:
            event = live.log[at]
            state.log.append(event)
            APPLY[event[0]](state, *event[3:])
            at += 1
        assert _frozen(state) == table


@each_game
def test_what_is_remembered_of_who_is_in_play_is_true(game: str) -> None:
    """Lists that are kept so that nobody has to look for them say the same as looking."""
    live = Game(program(game), seed=5, start=False)
    rng = random.Random(5)
    looked = 0

    def watch(question: Any) -> str:
        nonlocal looked
        s = live.state
        for kind, things in s.around.items():
            assert things == [t for t in s.of[kind] if s.in_play[t]]
            looked += 1
        return str(rng.choice(question.keys))

    live.play(watch)
    assert looked or game in ("tic_tac_toe", "leduc", "uno")  # these ask for nothing in play


@each_game
@pytest.mark.parametrize("seed", SEEDS)
def test_folding_the_history_gives_the_live_state(game: str, seed: int) -> None:
    """Law 2, without running any rule."""
    live = Game(program(game), seed=seed, start=False).play(uniform(seed))
    folded = fold_history(live.log)
    assert not hasattr(folded, "program")
    assert folded.snapshot() == live.state.snapshot()


@each_game
@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_seed_and_answers_give_the_same_events(game: str, seed: int) -> None:
    """Law 3: played at once, answer by answer, and again from the recorded answers."""
    fast = Game(program(game), seed=seed, start=False).play(uniform(seed))
    slow = played(game, seed)
    assert slow.log == fast.log
    answers = [(e[3][0] if len(e[3]) == 1 else None, e[4]) for e in fast.log if e[0] == "answered"]
    again = Game.resume(program(game), seed, fast.seat_names, None, answers, expected=fast.log)
    assert again.log == fast.log


@each_game
def test_answers_are_named_by_keys_and_not_by_position(game: str) -> None:
    """Law 4."""
    made = played(game, 1)
    for event in made.log:
        if event[0] == "answered":
            assert isinstance(event[4], str)
    question = Game(program(game), seed=1).question
    assert question is not None and len(set(question.keys)) == len(question.keys)


@each_game
@pytest.mark.parametrize("seed", SEEDS)
def test_every_event_has_a_cause_that_leads_to_a_line_of_text(game: str, seed: int) -> None:
    """Law 5."""
    made = played(game, seed)
    files = set(program(game).files)
    for number, event in enumerate(made.log[1:], 1):
        assert -1 <= event[1] < number
        file, line = program(game).site(event[2])
        assert file in files and line > 0, event
        while event[1] >= 0:
            event = made.log[event[1]]
        assert event[0] in ("stepped", "began", "ended", "picked")  # the walk through the round by itself


@each_game
@pytest.mark.parametrize("seed", range(4))
def test_every_offered_answer_is_accepted_and_any_other_refused(game: str, seed: int) -> None:
    """Law 6."""
    made, policy = Game(program(game), seed=seed), uniform(seed)
    for _ in range(25):
        if made.over:
            return
        question = made.questions[0]
        for key in question.keys:
            made.fork().answer(key, question.seats[0])
        before = _frozen(made.state), list(made.log)
        with pytest.raises(IllegalAnswer):
            made.answer("no such answer", question.seats[0])
        assert (_frozen(made.state), list(made.log)) == before
        assert made.questions[0].keys == question.keys
        made.answer(policy(question), question.seats[0])


@each_game
@pytest.mark.parametrize("seed", SEEDS)
def test_a_seat_cannot_tell_what_it_may_not_know(game: str, seed: int) -> None:
    """Law 7: exchange two things that a seat has never seen, in the whole history: not one byte of its view changes."""
    steps = random.Random(seed).randrange(1, 30)
    made = played(game, seed, steps)
    for seat in made.seats:
        secret = _never_seen(made.log, seat)
        pairs = [(a, b) for a in secret for b in secret if a < b and made.state.kind[a] == made.state.kind[b]]
        for a, b in random.Random(seed).sample(pairs, min(5, len(pairs))):
            other = [_exchanged(event, a, b, game) for event in made.log]
            assert _seen(other, seat, game) == _seen(made.log, seat, game)


def test_the_view_of_a_seat_does_change_with_what_it_may_know() -> None:
    """The law above could not fail if views were empty: exchanging cards of one's own hand is noticed."""
    made = played("uno", 1, 6)
    seat = made.seats[0]
    hand = made.state.items[made.state.z_hand[seat]]  # type: ignore[attr-defined]
    deck = made.state.items[2]
    mine = hand[0]
    other = next(card for card in deck if made.state.name[card] != made.state.name[mine])
    changed = [_exchanged(event, mine, other, "uno") for event in made.log]
    assert _seen(changed, seat, "uno") != _seen(made.log, seat, "uno")


@each_game
@pytest.mark.parametrize("seed", SEEDS)
def test_things_are_neither_lost_nor_doubled(game: str, seed: int) -> None:
    """Law 8."""
    made = Game(program(game), seed=seed, start=False).play(uniform(seed))
    created = sum(len(e[3]) for e in made.log if e[0] == "created")
    state = made.state
    assert len(state.kind) == len(made.log[0][3]["columns"]["kind"]) + created
    lying = [thing for things in state.items.values() for thing in things]
    assert len(lying) == len(set(lying))
    for place, things in state.items.items():
        assert all(state.place[thing] == place for thing in things)
    assert {t for t, p in enumerate(state.place) if p is not None} == set(lying)


@each_game
@pytest.mark.parametrize("seed", SEEDS)
def test_a_game_ends(game: str, seed: int) -> None:
    """Law 9, first half. The second (a bound is hit and reported with its line) is in test_budget.py."""
    made = Game(program(game), seed=seed, start=False).play(uniform(seed), decisions_max=20_000)
    assert made.outcome is not None


def test_a_bound_on_decisions_is_kept() -> None:
    with pytest.raises(OverBudget, match="no end"):
        Game(program("tic_tac_toe"), seed=1, start=False).play(uniform(1), decisions_max=3)


@each_game
@pytest.mark.parametrize("seed", range(4))
def test_a_fork_goes_its_own_way(game: str, seed: int) -> None:
    made = played(game, seed, 3)
    if made.over:
        return
    before = _frozen(made.state)
    other = made.fork()
    other.play(uniform(seed + 1))
    assert other.over and not made.over
    assert _frozen(made.state) == before
    assert other.log[: len(made.log)] == made.log
    made.play(uniform(seed + 1))
    assert made.log == other.log


# ---------------------------------------------------------------- helpers
def _frozen(state: State) -> dict[str, Any]:
    frozen: dict[str, Any] = json.loads(json.dumps(state.snapshot(), default=str, skipkeys=True))
    frozen["used"] = sorted(map(str, state.used.items()))
    return frozen


def _never_seen(log: list[Event], seat: int) -> list[int]:
    state = state_from_box(log[0])
    hidden = {t for t in range(len(state.kind)) if state.place[t] is not None and not can_see(state, seat, t)}
    for event in log[1:]:
        state.log.append(event)
        APPLY[event[0]](state, *event[3:])
        hidden = {t for t in hidden if not can_see(state, seat, t)}
    return sorted(hidden)


def _exchanged(event: Event, a: int, b: int, game: str) -> Event:
    """The same event with two things in each other's place."""

    def swap(value: Any) -> Any:
        if isinstance(value, tuple | list):
            return type(value)(swap(x) for x in value)
        return b if value == a else a if value == b else value

    tables = program(game).tables
    name, head, values = event[0], event[:3], event[3:]
    match name:
        case "opened":
            return (*head, _exchanged_box(values[0], a, b))
        case "moved" | "swept" | "turned" | "laid" | "owned" | "shown" | "shuffled" | "stepped" | "began":
            return (*head, *(swap(v) if not isinstance(v, str) else v for v in values))
        case "set":
            is_thing = tables["fields"][values[1]]["thing"]
            return (*head, swap(values[0]), values[1], swap(values[2]) if is_thing else values[2])
        case "now":
            return (*head, values[0], swap(values[1]) if tables["values"][values[0]]["thing"] else values[1])
        case "did" | "prevented" | "replaced":
            slots = tables["verbs"].get(values[0], {"slots": []})["slots"]
            flags = [slot["thing"] for slot in slots] or [True] * len(values[1:])
            return (
                *head,
                values[0],
                *(swap(v) if flag else v for v, flag in zip(values[1:], flags, strict=True)),
            )
    return event


def _exchanged_box(box: dict[str, Any], a: int, b: int) -> dict[str, Any]:
    """Things keep their names and printed values; only where they lie changes."""

    def swap(column: list[Any]) -> list[Any]:
        out = list(column)
        out[a], out[b] = out[b], out[a]
        return out

    where = ("owner", "place", "facedown", "in_play")
    return {
        **box,
        "columns": {k: swap(v) if k in where else v for k, v in box["columns"].items()},
        "items": [
            [place, [b if t == a else a if t == b else t for t in things]] for place, things in box["items"]
        ],
    }


def _seen(log: list[Event], seat: int, game: str) -> bytes:
    """All a seat gets to see, as bytes."""
    state = fold_history(log)
    state.program = program(game)
    return json.dumps([view(state, seat), seen_log(log, seat, program(game).tables)], default=str).encode()
