"""The story between two questions: what is told, what goes without saying, and what stays hidden."""

from __future__ import annotations

import re

from playing import program_of

from longbox.kernel import Game
from longbox.plugins.commands.phases import Phases
from longbox.plugins.commands.story import Reading, Story, told
from longbox.plugins.commands.telling import Teller, capital, dice

YARD = """\
pack yard "Yard"
    version 1.0
game "Yard"
    seats named Ann, Bob
    each seat is a player
words way: left, right
die white die: hit, hit + star, blank
kind player is seat
    zone hand, seen by HAND
    counter coins
    has tired: truth
    has leader: player?
kind peg is card
    has home: zone?
    has lit: truth
    counter dents
    starts in bag
    ability ring
zone bag, hidden
zone tray, seen by all
zone shelf, seen by all
peg "Oak Peg"
    ring:
        put 1 coins on the player where it is first
peg "Ash Peg" x 3
adjective first for player: order of it = 1
adjective last for player: order of it = 2
verb (p: player) gains (n: number) coins:
    put n coins on p
verb (p: player) puts (c: peg) on (z: zone):
    move c to z
verb (p: player) visits (c: peg):
    p puts c on tray
verb (p: player) hums:
    let x = 1
verb (p: player) waits:
    told as "{p} waits and waits"
    let x = 1
verb (p: player) looks at (c: peg):
    move c to p's hand
    now c's lit is yes
verb dent (c: peg):
    put 1 dents on c
quiet verb tidy:
    put 1 coins on the player where it is last
setup:
    for each peg in bag:
        now peg's home is shelf
    for each player:
        now player's leader is the player where it is first
round:
    phase day:
        for each player, in turn order:
            ask player:
                "gain":
                    player gains 2 coins
                "hum":
                    player hums
                    player waits
                "visit":
                    player visits Oak Peg
                "all":
                    for each peg in bag:
                        move peg to tray
                "scatter":
                    move Oak Peg to tray
                    move Ash Peg to shelf
                "dents":
                    for each peg in tray:
                        dent peg
                "same":
                    repeat 3 times:
                        the player where it is last waits
                "roll":
                    roll 3 white dice
                "flicker":
                    now player's tired is yes
                    now player's tired is no
                "tire":
                    now player's tired is yes
                "look":
                    player looks at top of bag
                "ring":
                    resolve ring of Oak Peg
                "tidy":
                    tidy
                "both":
                    for each player:
                        put 3 coins on player
    phase night:
        step sleep:
            let x = 1
"""


def story_of(answers: list[str], hand: str = "all", seat: int = 0) -> tuple[Game, Story, list[str]]:
    """A game with these answers, and what the last of them is told as to a seat."""
    game = Game(program_of(YARD.replace("HAND", hand)), seed=3)
    story = Story(Reading.of(game.program), game.seats[seat], open_answers=hand == "all")
    story.follow(game.log)
    lines = []
    for answer in answers:
        game.answer(answer)
        lines = Teller(story).tell(story.follow(game.log))
    return game, story, lines


def tale(*answers: str, hand: str = "all", seat: int = 0) -> list[str]:
    return story_of(list(answers), hand, seat)[2]


def test_changes_stand_behind_what_they_belong_to() -> None:
    assert tale("gain") == ["Ann gains 2 coins (coins 2)"]


def test_an_answer_that_the_next_line_says_is_left_out() -> None:
    """`visit` is said by `Ann visits Oak Peg`, `all` by nothing."""
    assert tale("visit") == ["Ann visits Oak Peg", "  Ann puts Oak Peg on tray"]
    assert tale("all")[0] == "Ann: all"


def test_what_the_line_above_says_is_not_said_again() -> None:
    """The move from bag to tray goes without saying; that Oak Peg is put there does not."""
    assert not [line for line in tale("visit") if "moves" in line]


def test_a_verb_without_effect_is_told_only_if_its_author_wants_it() -> None:
    assert tale("hum") == ["Ann: hum", "  Ann waits and waits"]


def test_moves_from_one_place_are_told_together() -> None:
    assert tale("all")[1] == "  Oak Peg, Ash Peg, Ash Peg #2 and Ash Peg #3 move from bag to tray"
    assert tale("scatter")[1] == "  From bag: Oak Peg to tray and Ash Peg to shelf"


def test_the_same_again_and_again_is_told_once() -> None:
    assert tale("same")[1:] == ["  Bob waits and waits (3 times)"]
    assert tale("all", "dents")[1:] == [
        "  Dent Oak Peg (dents 1)",
        "  Dent Ash Peg (dents 1)",
        "  Dent Ash Peg #2 (dents 1)",
        "  Dent Ash Peg #3 (dents 1)",
    ]


def test_equal_changes_are_told_together() -> None:
    assert tale("both") == ["Ann: both", "  Ann and Bob: coins 3"]
    assert tale("tidy") == ["Ann: tidy", "  Bob: coins 1 (+1)"]  # a quiet verb has no line


def test_dice_are_shown() -> None:
    line = tale("roll")[1]
    assert re.fullmatch(r"  3 white dice: [a-z0-9 +,]+", line), line
    assert [dice("white die", 1), dice("white die", 2), dice("coin", 2)] == [
        "1 white die",
        "2 white dice",
        "2 coins",
    ]


def test_a_truth_reads_as_a_sentence_and_one_that_comes_and_goes_is_not_told() -> None:
    assert tale("tire") == ["Ann: tire", "  Ann is tired"]
    assert tale("flicker") == ["Ann: flicker"]


def test_a_printed_text_is_told_by_the_name_of_its_card() -> None:
    assert tale("visit", "gain", "ring") == ["Oak Peg: ring", "  Ann: coins 1 (+1)"]


def test_book_keeping_is_not_told_but_stays_in_the_log() -> None:
    """Where pegs go later, and whose leader Ann is: set up before the first question."""
    game = Game(program_of(YARD.replace("HAND", "all")), seed=3)
    story = Story(Reading.of(game.program), None)
    lines = story.follow(game.log)
    assert Teller(story).tell(lines) == ["Ann and Bob: leader Ann"]
    assert [line.text for line in told(lines)].count("Oak Peg: home shelf") == 1


def test_parts_of_the_game_have_headings() -> None:
    game = Game(program_of(YARD.replace("HAND", "all")), seed=3)
    story, phases = Story(Reading.of(game.program), None), Phases(game.program)
    for answer in ("gain", "gain", "gain"):
        game.answer(answer)
    phases.follow(game.log, game.state)
    new = story.follow(game.log)
    lines = Teller(story, phases.at).tell(new)
    assert [line for line in lines if line.startswith("--")] == ["-- Round 1: day --", "-- Round 2: day --"]
    assert list(phases.at.values()) == ["Round 1: day", "Round 1: night", "Round 2: day"]
    again = Phases(game.program)
    again.follow(game.log, game.state)
    again.follow(game.log[:3], game.state)  # an answer was taken back
    assert len(again.at) < len(phases.at)


def test_a_line_begins_with_a_capital_letter_unless_it_names_a_space() -> None:
    assert [capital("peg falls"), capital("b2: mark X"), capital("-- day --")] == [
        "Peg falls",
        "b2: mark X",
        "-- day --",
    ]


# -- what is hidden ----------------------------------------------------------------------------------


def test_a_thing_is_named_from_the_line_on_that_led_to_its_being_seen() -> None:
    """Bob looks at a peg in the dark bag and takes it into a hand that all see."""
    assert tale("gain", "look") == [
        "Bob looks at Ash Peg #3 (lit)",
        "  Ash Peg #3 moves from bag to Bob's hand",
    ]


def test_what_goes_into_a_hidden_hand_is_named_to_its_owner_only() -> None:
    mine, other = (tale("gain", "look", hand="owner", seat=seat) for seat in (1, 0))
    assert [line for line in mine if "Peg" in line]
    assert not [line for line in other if "Peg" in line]
    assert [line for line in other if "a hidden thing" in line]


def test_answers_of_others_are_told_only_where_nothing_is_hidden() -> None:
    assert tale("gain", "tire", hand="all")[0] == "Bob: tire"
    assert tale("gain", "tire", hand="owner")[0] == "Bob is tired"
    _, story, _ = story_of(["gain", "tire"], "owner")
    assert [line.text for line in story.lines if line.event[0] == "answered"] == ["Ann: gain", "Bob answers"]


def test_what_a_hidden_thing_led_to_is_not_told_below_it() -> None:
    """How lines are nested would tell which hidden text ran."""
    _, story, _ = story_of(["gain", "look"], "owner")
    looked = next(line for line in story.lines if line.event[0] == "did" and "looks" in line.event[3])
    below = [line for line in story.lines if line.event[1] == looked.number]
    assert not looked.whole and below
    assert all(line.cause != looked.number for line in below)
