"""Bots: they answer what is offered, from their seed alone, and the greedy one plays better than chance."""

from __future__ import annotations

from collections import Counter

import pytest

from longbox.kernel import Game, LongboxError, Program, Question
from longbox.kernel.chance import Seeded
from longbox.plugins.bots import FirstBot, GreedyBot, RandomBot, derive, make_table, read_bots, score
from longbox.plugins.loader import load_game

FACTORIES = {"random": RandomBot, "greedy": GreedyBot, "first": FirstBot}
KNOWN = list(FACTORIES)


@pytest.fixture(scope="module")
def tic_tac_toe() -> Program:
    return load_game("tic_tac_toe")


def played(program: Program, bots: list[str | None], seed: int) -> Game:
    game = Game(program, derive("game", seed))
    make_table(game.seats, bots, FACTORIES, derive("bots", seed)).play(game)
    return game


def winner(game: Game) -> str:
    assert game.outcome is not None
    return game.state.key[game.outcome["winners"][0]] if game.outcome["winners"] else "nobody"


@pytest.mark.parametrize("game", ["tic_tac_toe", "uno", "leduc"])
@pytest.mark.parametrize("bot", ["random", "first"])
def test_every_bot_plays_every_game_to_its_end(game: str, bot: str) -> None:
    assert played(load_game(game), [bot, bot], 1).over


@pytest.mark.parametrize("game", ["tic_tac_toe", "uno", "leduc"])
def test_the_greedy_bot_plays_any_game(game: str) -> None:
    assert played(load_game(game), ["greedy", "random"], 2).over


@pytest.mark.parametrize("bots", [["random", "random"], ["greedy", "random"], ["random", "first"]])
def test_the_same_seed_gives_the_same_game(tic_tac_toe: Program, bots: list[str | None]) -> None:
    assert played(tic_tac_toe, bots, 5).log == played(tic_tac_toe, bots, 5).log


def test_another_seed_gives_another_game(tic_tac_toe: Program) -> None:
    assert (
        played(tic_tac_toe, ["random", "random"], 5).log != played(tic_tac_toe, ["random", "random"], 6).log
    )


def test_the_random_bot_answers_the_same_in_one_go_and_answer_by_answer(tic_tac_toe: Program) -> None:
    bot = RandomBot(7)
    fast = Game(tic_tac_toe, 1, start=False).play(bot.policy)
    slow = Game(tic_tac_toe, 1)
    while slow.question is not None:
        slow.answer(bot(slow, slow.question))
    assert slow.log == fast.log


def test_the_random_bot_finds_each_answer_equally_likely(tic_tac_toe: Program) -> None:
    question = Game(tic_tac_toe, 1).question
    assert question is not None
    counts = Counter(RandomBot(seed).policy(question) for seed in range(9000))
    assert set(counts) == set(question.keys)
    assert min(counts.values()) > 850 and max(counts.values()) < 1150


def test_greedy_beats_random_from_either_seat(tic_tac_toe: Program) -> None:
    """As the first player nearly always; as the second at least seven times in ten."""
    first = Counter(winner(played(tic_tac_toe, ["greedy", "random"], seed)) for seed in range(30))
    second = Counter(winner(played(tic_tac_toe, ["random", "greedy"], seed)) for seed in range(30))
    assert first["X"] >= 27
    assert second["O"] >= 21


def test_greedy_takes_a_win_and_stops_a_loss(tic_tac_toe: Program) -> None:
    game = Game(tic_tac_toe, 1)
    for key in ("a1", "b3", "b1", "c3"):
        game.answer(key)
    assert game.question is not None
    assert GreedyBot(3)(game, game.question) == "c1"
    game.answer("a2")
    assert GreedyBot(3)(game, game.question) == "a3"


def test_a_bot_that_looks_ahead_changes_nothing(tic_tac_toe: Program) -> None:
    game = Game(tic_tac_toe, 1)
    before = game.log[:]
    assert game.question is not None
    GreedyBot(1)(game, game.question)
    assert game.log == before
    assert game.state.snapshot() == Game(tic_tac_toe, 1).state.snapshot()


def test_greedy_looks_at_a_part_of_very_many_answers(tic_tac_toe: Program) -> None:
    game = Game(tic_tac_toe, 1)
    assert game.question is not None
    assert GreedyBot(1, rollouts=4)(game, game.question) in game.question.keys


def test_wins_draws_and_losses_count_one_half_and_nothing() -> None:
    outcome = {"result": "won", "winners": [3], "losers": [4]}
    assert [score(outcome, seat) for seat in (3, 4, 5)] == [1, 0, 0.5]
    assert score(None, 3) == 0.5


# -- who sits where ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "seated"),
    [
        (None, [None, None]),
        ("greedy", ["greedy", "greedy"]),
        ("O=greedy", [None, "greedy"]),
        ("1=random,o=first", ["random", "first"]),
        ("greedy,1=none", [None, "greedy"]),
    ],
)
def test_bots_are_seated_by_name_or_number(spec: str | None, seated: list[str | None]) -> None:
    assert read_bots(spec, ["X", "O"], KNOWN, None) == seated


def test_a_bot_for_everywhere_may_leave_the_first_seat_free() -> None:
    assert read_bots("greedy", ["X", "O"], KNOWN, None, spare_first=True) == [None, "greedy"]


@pytest.mark.parametrize(
    ("spec", "what"),
    [("Z=greedy", "no seat 'Z'"), ("3=greedy", "no seat '3'"), ("clever", "no bot 'clever'")],
)
def test_a_wrong_seat_or_bot_is_named(spec: str, what: str) -> None:
    with pytest.raises(LongboxError, match=what):
        read_bots(spec, ["X", "O"], KNOWN, None)


def test_a_question_is_a_persons_if_one_of_its_seats_is(tic_tac_toe: Program) -> None:
    game = Game(tic_tac_toe, 1)
    table = make_table(game.seats, ["random", None], FACTORIES, 1)
    assert game.question is not None
    both = Question(game.state, tuple(game.seats), 0, 0, "both", ["yes", "no"])
    assert table.bot_for(game.question) is not None
    assert table.bot_for(both) is None


def test_greedy_does_not_know_the_draws_to_come() -> None:
    """Two games that differ in nothing but the seed of their draws to come get the same answer."""
    game = Game(load_game("uno"), 4)
    assert game.question is not None
    other = game.fork(Seeded(99))
    assert other.question is not None
    assert [GreedyBot(seed)(game, game.question) for seed in range(5)] == [
        GreedyBot(seed)(other, other.question) for seed in range(5)
    ]
