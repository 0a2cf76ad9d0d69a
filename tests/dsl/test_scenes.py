"""Scenes: what they may say, what makes them fail, and what the failure says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from longbox.dsl import scene_run
from longbox.dsl.problems import TextError
from longbox.dsl.scene_run import SceneFailed, run
from longbox.dsl.scenes import Scene, read_scenes, rules_of, slug, traced_in
from longbox.dsl.source import Source
from longbox.kernel import LongboxError, fold_history

MINI = Source(
    "mini.box",
    """\
pack mini "Mini"

game "Mini"
    seats 2 to 3
    each seat is a player
    setting bonus: number = 0

words color: red, green, blue
die omen: hit, hit + focus, blank, 4
die oracle: 4, hit + focus, blank, hit

kind player
    counter energy
    has rank: number = 3

kind gem is card
    starts in bag
zone bag, hidden
zone table, seen by all
gem "ruby"
gem "jade"

board "Row"
    map squares:
        | . .
    "." is spot
kind spot is space
    has color: color?

state lucky: color
state mover: player

verb (p: player) gains (n: number):
    put n energy on p

verb (p: player) digs:
    choose a gem in bag, by p
    move gem to table
    put 1 energy on p

verb (p: player) rolls:
    roll 2 omens called pool
    put number of hit in pool energy on p
    now lucky is random color

setup:
    now mover is the player where order of it = 1
    for each player:
        put 2 + bonus energy on player

round:
    turn of mover:
        put 1 energy on mover
        repeat:
            ask mover:
                "dig": mover digs
                "roll": mover rolls
                "paint": now (the spot where its name is "a1")'s color is red
                "rest" if mover's rank >= 3: stop repeating
                "win": mover wins
                "finish": end game
        now mover is seat after mover

scoring:
    draw game
""",
)


def find(game: str, packs: tuple[str, ...]) -> Sequence[Source]:
    if (game, packs) == ("mini", ()):
        return [MINI]
    raise LongboxError(f"there is no game {game!r}")


def scenes(text: str) -> list[Scene]:
    return read_scenes(Source("test.scene", text), find)


def scene(body: str, game: str = "mini") -> Scene:
    lines = [f"    {line}" for line in body.strip("\n").split("\n")]
    (one,) = scenes("\n".join(['scene "it"', f"    game {game}", *lines, ""]))
    return one


def play(body: str, game: str = "mini") -> list[str]:
    return run(scene(body, game))


def failure(body: str, game: str = "mini") -> SceneFailed:
    with pytest.raises(SceneFailed) as caught:
        play(body, game)
    return caught.value


def problems(text: str) -> list[str]:
    with pytest.raises(TextError) as caught:
        scenes(text)
    return [f"{p.span.line}: {p.code}: {p.what}" for p in caught.value.problems]


# -- what scenes can say -----------------------------------------------------------------------------


def test_a_statement_happens_before_the_step_that_waits() -> None:
    play(
        """
given:
    Player 1 gains 3
then:
    Player 1's energy = 6
when:
    "Player 1": "rest"
then:
    Player 2's energy = 3
    mover is Player 2
"""
    )


def test_a_statement_can_change_whose_step_it_is() -> None:
    trace = play(
        """
given:
    now mover is Player 2
when:
    "Player 2": "rest"
then:
    Player 2's energy = 3
    mover is Player 1
"""
    )
    assert trace[-3:-1] == ["-- turn of Player 1 --", "Player 1: energy 3"]


def test_a_statement_after_an_answer_leaves_the_question_as_it_is() -> None:
    play(
        """
when:
    "Player 1": "dig", "ruby"
    now mover's rank is 1
    "Player 1": "rest"
"""
    )


def test_a_statement_may_ask() -> None:
    trace = play(
        """
when:
    Player 2 digs
    "Player 2": "jade"
then:
    "jade" is in table
    Player 2's energy = 3
    "Player 1" can "dig"
"""
    )
    assert trace == [
        "> Player 2 digs",
        "Player 2 digs",
        "? Player 2: choose a gem in bag: ruby | jade",
        "Player 2: jade",
        "  jade moves from bag to table",
        "  Player 2: energy 3",
        "Player 1: energy 3",
        "? Player 1: what now?: dig | roll | paint | rest | win | finish",
    ]


def test_names_that_a_statement_binds_are_known_from_then_on() -> None:
    play(
        """
given:
    let start = Player 1's energy
    Player 1 gains start
when:
    "Player 1": "rest"
then:
    Player 1's energy = start + start + 1
"""
    )


def test_spaces_and_seats_are_names() -> None:
    play(
        """
given:
    now b1's color is green
when:
    "Ann": "paint"
then:
    a1's color is red
    b1's color is green
    mover is Ann
""",
        'mini, seats "Ann", "Bob"',
    )


def test_dice_and_other_chance_are_loaded_by_what_they_show() -> None:
    play(
        """
dice hit + focus, blank, blue
when:
    "Player 1": "roll"
then:
    Player 1's energy = 4
    lucky is blue
dice hit + focus, hit + focus, 1
when:
    "Player 1": "roll"
then:
    Player 1's energy = 6
    lucky is red
"""
    )


def test_a_face_that_two_dice_have_in_different_places_is_refused() -> None:
    assert "more than one sort of them has hit" in failure('dice hit\nwhen:\n    "Player 1": "roll"').what


def test_settings_and_the_number_of_seats() -> None:
    play('then:\n    Player 3\'s energy = 6\n    "Player 3" is not asked', "mini, 3 seats, bonus = 4")


@pytest.mark.parametrize(
    ("answer", "expectation"),
    [
        ('"Player 1": "win"', '"Player 1" has won'),
        ('"Player 1": "win"', '"Player 2" has lost'),
        ('"Player 1": "win"', "the game is over"),
        ('"Player 1": "finish"', "the game is drawn"),
        ('"Player 1": "rest"', "the game is not over"),
        ("Player 2 wins", '"Player 2" has won'),
        ("end game", "game is drawn"),
    ],
)
def test_how_the_game_stands(answer: str, expectation: str) -> None:
    play(f"when:\n    {answer}\nthen:\n    {expectation}")


def test_a_field_that_no_rule_writes_may_be_written_by_a_scene() -> None:
    play('given:\n    now Player 1\'s rank is 2\nthen:\n    "Player 1" cannot "rest"')
    play('then:\n    Player 1\'s rank = 3\n    "Player 1" can "rest"')


def test_a_scene_may_bring_rules_that_last() -> None:
    play(
        """
given:
    until end of turn:
        after any player gains any number: put 1 energy on Player 2
when:
    Player 1 gains 1
then:
    Player 2's energy = 3
"""
    )


def test_a_file_of_scenes_may_be_a_game_of_its_own() -> None:
    (one,) = scenes(
        """\
pack tiny "Tiny"
game "Tiny"
    seats named A, B
    each seat is a player
round:
    for each player, in turn order:
        turn of player:
            ask player:
                "win": player wins
                "pass": end game

scene "whoever wants to wins"
    when:
        "A": "win"
    then:
        "A" has won
"""
    )
    run(one)


def test_a_file_of_scenes_may_add_to_a_game() -> None:
    (one,) = scenes(
        """\
gem "opal"

scene "there is one more gem"
    game mini
    when:
        "Player 1": "dig"
    then:
        "Player 1" is offered "ruby", "jade", "opal"
    when:
        "Player 1": "opal"
"""
    )
    run(one)


def test_a_game_is_compiled_once() -> None:
    one, two = scene("then:\n    the game is not over"), scene("then:\n    mover is Player 1")
    assert one.program is two.program is rules_of((MINI,)).program


def test_functions_have_the_lines_of_the_scene() -> None:
    function = scene("then:\n    mover is Player 1").functions[1]
    assert (function.__code__.co_filename, function.__code__.co_firstlineno) == ("test.scene", 4)


# -- what makes them fail ----------------------------------------------------------------------------


def test_a_condition_that_does_not_hold_shows_both_sides() -> None:
    failed = failure('when:\n    "Player 1": "rest"\nthen:\n    Player 1\'s energy = Player 2\'s energy + 1')
    assert failed.show().split("\n") == [
        "test.scene:6: expected: Player 1's energy = Player 2's energy + 1",
        "    Player 1's energy     : 3",
        "    Player 2's energy + 1 : 4",
        "the last events:",
        "    Player 1: energy 2",
        "    Player 2: energy 2",
        "    -- turn of Player 1 --",
        "    Player 1: energy 3",
        "    Player 1: rest",
        "    mover: Player 2",
        "    -- turn of Player 2 --",
        "    Player 2: energy 3",
    ]


def test_a_condition_about_some_shows_which() -> None:
    assert failure("then:\n    no gem is in bag").details == ("no gem is in bag : ruby and jade",)


@pytest.mark.parametrize(
    ("body", "line", "what", "detail"),
    [
        ('when:\n    "Player 1": "dog"', 4, "Player 1 is not offered 'dog'", "did you mean 'dig'?"),
        ('when:\n    "Player 2": "dig"', 4, "Player 2 is not asked anything", "Player 1: what now?: dig |"),
        ('when:\n    "Player 1": "win", "win"', 4, "Player 1 is not asked anything", "Player 1 wins"),
        ('when:\n    "Player 1": "dig"', 4, "the scene ends in the middle of an effect", "a gem in bag"),
        ("when:\n    Player 1 digs", 4, "'Player 1 digs' is not finished", "choose a gem in bag"),
        ("when:\n    Player 1 digs\n    Player 2 gains 1", 5, "'Player 1 digs' is not finished", "jade"),
        ('when:\n    "Player 1": "win"\n    Player 1 gains 1', 5, "the game is over", "Player 1 wins"),
        ('dice blue\nthen:\n    "Player 1" can "dig"', 3, "nothing took blue from the dice", ""),
        ('then:\n    "Player 1" cannot "dig", "x"', 4, 'Player 1 is offered "dig"', "what now?"),
        ('then:\n    "Player 1" can "dig", "x"', 4, 'expected: Player 1 can "dig", "x"', 'not offered: "x"'),
        ('then:\n    "Player 1" is offered "dig"', 4, 'expected: Player 1 is offered "dig"', 'too: "roll"'),
        ('then:\n    "Player 1" is not asked', 4, "Player 1 is asked", "what now?"),
        ('then:\n    "Player 1" has won', 4, 'expected: "Player 1" has won', "the game is not over"),
        ("then:\n    the game is over", 4, "expected: the game is over", "the game is not over"),
        ("then:\n    mover is Player 2", 4, "expected: mover is Player 2", "mover : Player 1"),
        ("then:\n    (the gem in table)'s name = mover's name", 4, "expected: ", "cannot be worked out"),
    ],
)
def test_a_failure_says_where_and_why(body: str, line: int, what: str, detail: str) -> None:
    failed = failure(body)
    assert failed.span.line == line
    assert failed.what.startswith(what)
    assert detail in "\n".join(failed.details)


def test_an_error_in_a_statement_names_its_line() -> None:
    failed = failure("when:\n    move the gem in table to bag")
    assert failed.what.startswith("test.scene:4: 'the gem in table'")


def test_a_history_that_folds_to_another_table_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene_run, "fold_history", lambda log: fold_history(log[:-1]))
    failed = failure('when:\n    "Player 1": "rest"')
    assert failed.what == "folding the history gives another table"
    assert "f_energy" in failed.details[0]


def test_rules_that_are_not_deterministic_are_a_failure() -> None:
    one = scene('when:\n    Player 1 gains 1\n    "Player 1": "rest"')
    calls: list[int] = []
    real: Callable[..., None] = one.functions[1]

    def moody(state: object, *rest: object) -> None:
        calls.append(1)
        if len(calls) < 3:
            real(state, *rest)

    one.functions[1] = moody
    with pytest.raises(SceneFailed, match="not deterministic"):
        run(one)


# -- what cannot be read -----------------------------------------------------------------------------


def test_all_problems_of_a_file_are_shown() -> None:
    found = problems(
        """\
scene "one"
    game nowhere
    then:
        the game is over
scene "two"
    game mini, 3 chairs
    when:
        "Player 9": "dig"
        Player 1 gians 3
    then:
        mover is Plyer 2
        a gem is in bag
scene "two"
    game mini, 5 seats
    dice heads
    trace
scene "three"
    then:
        the game is over
"""
    )
    assert found == [
        "2: LB0402: there is no game 'nowhere'",
        "6: LB0501: '3 chairs' says nothing about a game",
        '8: LB0501: nobody here is called "Player 9"',
        "9: LB0202: unknown word 'gians' in 'Player 1 gians 3'",
        "11: LB0202: unknown word 'Plyer'",
        "12: LB0224: a condition may not ask anybody or roll dice",
        '13: LB0501: two scenes called "two"',
        "13: LB0501: nothing happens in this scene",
        "14: LB0501: Mini is for 2 to 3 seats, not 5",
        "15: LB0501: no die shows 'heads', and it is no word of a list",
        "17: LB0501: this scene has no game",
    ]


def test_problems_of_the_game_are_shown_too() -> None:
    broken = Source("broken.box", 'pack broken "Broken"\ngame "Broken"\n    seats 2\nkind a is nobody\n')
    source = Source("x.scene", 'scene "x"\n    game broken\n    then:\n        game is over\n')
    with pytest.raises(TextError, match=r"broken\.box:4:11: LB0201"):
        read_scenes(source, lambda *_: [broken])


@pytest.mark.parametrize(
    ("title", "name"),
    [("Three in a row wins", "three_in_a_row_wins"), ("7 cards, each", "scene_7_cards_each"), ("!", "scene")],
)
def test_a_title_becomes_a_name(title: str, name: str) -> None:
    assert slug(title) == name


def test_which_scenes_keep_a_trace_is_known_without_their_game() -> None:
    text = 'scene "a"\n    game x\n    trace\nscene "b"\n    game x\n    seed 1\n'
    assert traced_in(Source("t.scene", text)) == {"a"}
    assert traced_in(Source("t.scene", text + "scene\n")) is None
