"""Bots: they answer what is offered, from their seed alone; the greedy and the sensible one beat chance."""

from __future__ import annotations

from collections import Counter

import pytest
from playing import game_sources, program_of
from running import Longbox

from longbox.dsl.compiler import compile_packs
from longbox.dsl.source import Source
from longbox.kernel import Game, LongboxError, Program, Question
from longbox.kernel.chance import Seeded
from longbox.plugins.bots import (
    PATIENCE,
    FirstBot,
    GreedyBot,
    RandomBot,
    SensibleBot,
    derive,
    make_table,
    read_bots,
    score,
    standing_of,
)
from longbox.plugins.loader import load_game

FACTORIES = {"random": RandomBot, "greedy": GreedyBot, "first": FirstBot, "sensible": SensibleBot}
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


# -- the sensible bot --------------------------------------------------------------------------------

HEAD = """pack trial "Trial"
    version 1.0

game "Trial"
    seats {seats}
    each seat is a player

kind player
    counter points, any number

"""
STANDING = """
query standing of (p: player) -> number: p's points
"""


def trial_of(text: str, seats: int = 1, standing: str = STANDING) -> Program:
    return program_of(HEAD.format(seats=seats) + text + standing)


def asked(program: Program, seed: int = 1) -> tuple[Game, Question]:
    game = Game(program, seed)
    assert game.question is not None
    return game, game.question


def sensible(program: Program, seeds: range = range(20)) -> Counter[str]:
    """What it says to the first question, by its seed."""
    return Counter(SensibleBot(seed)(*asked(program)) for seed in seeds)


PLAIN = """
round:
    for each player, in turn order:
        ask player:
            "one":
                put 1 points on player
            "three":
                put 3 points on player
            "two":
                put 2 points on player
            "three again":
                put 3 points on player
"""


def test_the_sensible_bot_takes_what_leaves_it_standing_best() -> None:
    assert set(sensible(trial_of(PLAIN))) == {"three", "three again"}


def test_the_sensible_bot_draws_lots_between_equals() -> None:
    counts = sensible(trial_of(PLAIN), range(200))
    assert min(counts.values()) > 60


def test_standing_may_be_that_of_any_kind_of_seat() -> None:
    wide = STANDING.replace("p: player", "p: seat").replace("p's points", "order of p")
    game, _ = asked(trial_of(PLAIN, seats=2, standing=wide))
    standing = standing_of(game.program)
    assert [standing(game.state, [seat]) for seat in game.seats] == [1, 2]
    assert standing(game.state, game.seats) == 1.5


def test_queries_are_found_from_outside_by_their_words_and_types() -> None:
    """Two of the same words are two; parts that may be left out are there."""
    text = """
kind player
    zone hand, seen by all
query worth of (p: player) -> number: 7
query worth of (c: card) [to (p: player = the player)] -> number: 8
relation (a: player) richer than (b: player): a's points > b's points
"""
    game, _ = asked(trial_of(PLAIN + text))
    table = game.program.tables["queries"]
    worth = [table["worth of (player)"], table["worth of (card) to (player)"]]
    assert [row["slots"] for row in worth] == [["player"], ["card", "player"]]
    assert [row["type"] for row in worth] == ["number", "number"]
    assert [row["reads"] for row in worth] == [[False], [False, False]]
    assert table["(player) richer than (player)"]["reads"] == [True, True]
    assert table["(player) richer than (player)"]["type"] == "truth"
    seat = game.seats[0]
    values = [
        game.program.function(row["function"])(game.state, -1, None, None, *[seat] * len(row["slots"]))
        for row in worth
    ]
    assert values == [7, 8]


FURTHER = """
round:
    for each player, in turn order:
        ask player:
            "rest":
                put 2 points on player
            "hunt":
                take 1 points from player
                ask player:
                    "small":
                        put 1 points on player
                    "big":
                        put 9 points on player
                    "nothing":
                        take 1 points from player
            "sleep":
                put 1 points on player
"""


def test_the_sensible_bot_looks_to_the_end_of_an_effect() -> None:
    """What "hunt" is worth shows only behind its second question, at an answer that is neither first nor last."""
    counts = sensible(trial_of(FURTHER), range(100))
    assert counts["hunt"] > 90


def test_an_answer_in_the_middle_of_an_effect_is_tried_from_there() -> None:
    game, _ = asked(trial_of(FURTHER))
    game.answer("hunt")
    assert game.question is not None
    assert {SensibleBot(seed)(game, game.question) for seed in range(20)} == {"big"}


def test_the_sensible_bot_wins_if_it_can_and_does_not_lose() -> None:
    text = """
round:
    for each player, in turn order:
        ask player:
            "rich":
                put 1000000 points on player
            "{}":
                player {}
"""
    assert set(sensible(trial_of(text.format("win", "wins")))) == {"win"}
    assert set(sensible(trial_of(text.format("lose", "loses")))) == {"rich"}


CHANCE = """
die coin: 0, 9
round:
    for each player, in turn order:
        ask player:
            "sure":
                put 4 points on player
            "roll":
                roll 3 coin called pool
                put total of pool points on player
"""


def test_the_mean_over_some_draws_counts() -> None:
    """The mean of the dice is 13.5, but one roll in eight gives nothing."""
    assert sensible(trial_of(CHANCE), range(100))["roll"] > 90


def test_the_sensible_bot_does_not_know_the_draws_to_come() -> None:
    game, question = asked(trial_of(CHANCE.replace("put 4", "put 13")))
    others = [game.fork(Seeded(seed)) for seed in range(5)]
    for seed in range(20):
        answer = SensibleBot(seed)(game, question)
        assert [SensibleBot(seed)(other, question) for other in others] == [answer] * 5


PILE = """
kind gift is card
    has worth: number
    starts in pile
zone pile, {}
gift "gold"
    worth 50
gift "coal" x 9
    worth 0 - 50
setup:
    shuffle pile
round:
    for each player, in turn order:
        ask player:
            "leave it":
                put 0 points on player
            "take it":
                put (top of pile)'s worth points on player
                remove top of pile from the game
"""


def takers(program: Program) -> list[tuple[bool, list[str]]]:
    """For some games: does the gold lie on top, and what do some bots say?"""
    found = []
    for seed in range(30):
        game, question = asked(program, seed)
        pile = game.state.called["pile"][0]
        top = game.state.items[pile][-1]
        answers = [SensibleBot(bot)(game, question) for bot in range(10)]
        found.append((game.state.name[top] == "gold", answers))
    return found


def test_the_order_of_a_hidden_pile_tells_the_sensible_bot_nothing() -> None:
    found = takers(trial_of(PILE.format("hidden")))
    assert {is_gold for is_gold, _ in found} == {True, False}
    assert all(answers == found[0][1] for _, answers in found)
    assert found[0][1].count("leave it") >= 5


def test_the_order_of_an_open_pile_is_known() -> None:
    for is_gold, answers in takers(trial_of(PILE.format("seen by all"))):
        assert set(answers) == {"take it" if is_gold else "leave it"}


SECRET = """
    has pick: number = 0
round:
    secretly each player:
        choose a number from 1 to 3 called n, by player
        now player's pick is n
    for each player:
        if player's pick > (seat after player)'s pick:
            put 1 points on player
"""


def test_answers_given_in_secret_are_not_known() -> None:
    """Whatever the other one has chosen already, the same bot says the same."""
    program = program_of((HEAD.format(seats=2)).rstrip() + SECRET + STANDING)
    said = []
    for first in ("1", "2", "3"):
        game = Game(program, 1)
        game.answer(first, game.seats[0])
        question = next(q for q in game.questions if game.seats[1] in q.seats)
        said.append([SensibleBot(seed)(game, question) for seed in range(10)])
    assert said[0] == said[1] == said[2]


ENDLESS = """
verb (p: player) dawdle/dawdles:
    repeat:
        ask p:
            "on":
                put 0 points on p
            "and on":
                put 0 points on p
            "stop":
                take 1 points from p
                stop repeating

round:
    for each player, in turn order:
        {}
    end game
"""
IN_STEPS = """repeat while player's points = 0:
            ask player:
                "on":
                    put 0 points on player
                "and on":
                    put 0 points on player
                "stop":
                    take 1 points from player"""


@pytest.mark.parametrize("loop", ["player dawdles", IN_STEPS])
def test_the_sensible_bot_leaves_what_never_ends(loop: str) -> None:
    """To go on is free, to stop costs a point: after some patience it stops all the same."""
    game = Game(trial_of(ENDLESS.format(loop)), 1)
    make_table(game.seats, ["sensible"], FACTORIES, 1).play(game, 1000)
    assert game.decisions == PATIENCE + 1


def test_a_look_ahead_changes_nothing() -> None:
    program = trial_of(FURTHER, seats=2)
    game, question = asked(program)
    before = game.log[:]
    SensibleBot(1)(game, question)
    assert game.log == before
    assert game.state.snapshot() == Game(program, 1).state.snapshot()


def test_a_game_that_does_not_say_who_stands_well_is_refused_with_a_way_to_mend_it() -> None:
    with pytest.raises(LongboxError, match=r"query standing of \(p: player\) -> number"):
        SensibleBot(1)(*asked(trial_of(PLAIN, standing="")))
    text = STANDING.replace("number: p's points", "truth: p's points > 0")
    with pytest.raises(LongboxError, match="does not say how well somebody stands"):
        SensibleBot(1)(*asked(trial_of(PLAIN, standing=text)))


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("remainder of 1 by p's points", "division by zero"),
        ("p's rival's points", "the standing of Player 1 is nothing"),
        ("order of (p's friend) + 1", "asked something of nothing"),
    ],
)
def test_a_standing_that_cannot_be_worked_out_names_its_line(value: str, what: str) -> None:
    text = (
        STANDING.replace("p's points", value)
        + "kind player\n    has rival: player?\n    has friend: player\n"
    )
    zero = PLAIN.replace("put 1 points", "put 0 points")
    line = (HEAD + zero + text)[: (HEAD + zero + text).index("query standing")].count("\n") + 1
    with pytest.raises(LongboxError, match=rf"^test\.box:{line}: .*{what}"):
        SensibleBot(1)(*asked(trial_of(zero, standing=text)))


ROWS = """pack rows "Rows"
    version 1.0
    needs tic_tac_toe 1.0

query standing of (p: player) -> number:
    let points = 0
    for each line:
        let mine = number of (cells along line where its mark = p)
        let theirs = number of (cells along line where its mark = seat after p)
        if theirs = 0:
            let points = points + mine * mine
        if mine = 0:
            let points = points - 2 * theirs * theirs * theirs
    answer points
"""


@pytest.fixture(scope="module")
def rows() -> Program:
    return Program(compile_packs([*game_sources("tic_tac_toe"), Source("rows.box", ROWS)]))


def test_sensible_beats_random_from_either_seat(rows: Program) -> None:
    """In 400 games it lost none; it wins 199 of 200 as the first and 183 of 200 as the second player."""
    first = Counter(winner(played(rows, ["sensible", "random"], seed)) for seed in range(50))
    second = Counter(winner(played(rows, ["random", "sensible"], seed)) for seed in range(50))
    assert first["X"] >= 48
    assert second["O"] >= 40


def test_the_same_seed_gives_the_same_sensible_game(rows: Program) -> None:
    assert played(rows, ["sensible"] * 2, 5).log == played(rows, ["sensible"] * 2, 5).log
    assert played(rows, ["sensible"] * 2, 5).log != played(rows, ["sensible"] * 2, 6).log


def test_commands_refuse_the_sensible_bot_where_it_cannot_play(longbox: Longbox) -> None:
    ran = longbox("sim", "tic_tac_toe", "--bots", "sensible")
    assert ran.code == 2
    assert "write 'query standing of (p: player) -> number: ...'" in ran.err
    ran = longbox("play", "tic_tac_toe", "--auto", "--bots", "sensible")
    assert ran.code == 1
    assert "query standing of" in ran.err
