"""Rules that watch: before, instead of, after, whenever, forbid, modifiers, durations, limits, windows, borrowed text."""

from __future__ import annotations

from typing import Any

import pytest
from playing import program_of

from longbox.kernel import Game, fold_history
from longbox.kernel.state import attribute

BASE = """
pack arena "Arena"
game "Arena"
    seats 2
    each seat is a player
    you are a fighter
{settings}
words element: fire, water
kind player
    zone hand, seen by owner
kind fighter is card
    you are self
    counter life, any number
    counter spark
    has armour: number = 0, at least 0
    has asleep: truth, kept per turn
    ability strike
    ability shout
zone arena, live
zone pit
state tally: number = 0
state echo: number = 0
window reply window amid hurt (target) by (amount)
window main window

verb hurt (target: fighter) by (amount: number):
    stages redirect, increase, reduce
    offer reply window to target
    if amount > 0:
        take amount life from target
verb (f: fighter) falls:
    move f to pit
verb (f: fighter) cheers:
    put 1 spark on f
quiet verb note (n: number):
    now tally is tally + n
{rules}
fighter "Ash"
{ash}
fighter "Bea"
{bea}
setup:
    move Ash to arena
    move Bea to arena
    now Ash's owner is the player where order of it = 1
    now Bea's owner is the player where order of it = 2
    put 10 life on Ash
    put 10 life on Bea
round:
    turn of the player where order of it = 1:
{play}
        ask the player where order of it = 1:
            "go on":
                note 0
            "end":
                draw game
"""
NOTHING = "    armour 0"


def arena(play: str, rules: str = "", ash: str = NOTHING, bea: str = NOTHING, settings: str = "") -> Game:
    def indent(text: str, by: int) -> str:
        return "\n".join(" " * by + line if line else "" for line in text.strip("\n").split("\n"))

    text = BASE.format(
        play=indent(play, 8),
        rules=rules,
        ash=indent(ash.strip(), 4),
        bea=indent(bea.strip(), 4),
        settings=settings,
    )
    game = Game(program_of(text), seed=1)
    if game.question is not None and game.question.keys == ["go on", "end"]:
        assert fold_history(game.log).snapshot() == game.state.snapshot()
    return game


def life(game: Game, name: str) -> int:
    state: Any = game.state
    return int(state.f_life[state.name.index(name)])


def field(game: Game, name: str, attr: str) -> Any:
    state: Any = game.state
    return getattr(state, f"f_{attr}")[state.name.index(name)]


def value(game: Game, attr: str) -> Any:
    return getattr(game.state, f"g_{attr}")


# ---------------------------------------------------------------- before, instead of, after
def test_before_rules_change_slots_stage_by_stage() -> None:
    rules = """
before hurt any fighter by any amount, at reduce:
    now amount is amount - 2
before hurt any fighter by any amount, at increase:
    now amount is amount * 3
"""
    assert life(arena("hurt Bea by 1", rules), "Bea") == 9


def test_a_before_rule_may_redirect() -> None:
    rules = """
before hurt Bea by any amount, at redirect:
    now target is Ash
"""
    game = arena("hurt Bea by 4", rules)
    assert (life(game, "Ash"), life(game, "Bea")) == (6, 10)


def test_in_a_stage_rules_may_look_again_when_another_has_applied() -> None:
    """Ash's rule comes first and is passed over; Bea's redirects to Ash, and then Ash's applies. Each applies once."""
    ash = "before hurt Ash by any amount, at redirect:\n    now target is Bea\n    now amount is amount + 1"
    bea = "before hurt Bea by any amount, at redirect:\n    now target is Ash\n    now amount is amount + 2"
    once = arena("hurt Bea by 1", ash=ash, bea=bea)
    assert (life(once, "Ash"), life(once, "Bea")) == (7, 10)
    text = BASE.replace("stages redirect,", "stages redirect again,")
    made = text.format(
        play="        hurt Bea by 1",
        rules="",
        ash="    " + ash.replace("\n", "\n    "),
        bea="    " + bea.replace("\n", "\n    "),
        settings="",
    )
    again = Game(program_of(made), seed=1)
    assert (life(again, "Ash"), life(again, "Bea")) == (10, 6)


def test_rules_of_one_stage_run_in_order_of_entering() -> None:
    ash = "before hurt any fighter by any amount, at increase:\n    now amount is amount * 2"
    bea = "before hurt any fighter by any amount, at increase:\n    now amount is amount + 1"
    assert life(arena("hurt Bea by 1", ash=ash, bea=bea), "Bea") == 7
    assert life(arena("move Ash to pit\nmove Ash to arena\nhurt Bea by 1", ash=ash, bea=bea), "Bea") == 6


def test_prevent_stops_the_act_and_is_recorded() -> None:
    game = arena("hurt Bea by 4", "before hurt any fighter by any amount, if amount > 3:\n    prevent it\n")
    assert life(game, "Bea") == 10
    assert any(event[0] == "prevented" for event in game.log)


def test_instead_replaces_the_act() -> None:
    game = arena("Bea falls", "instead of any fighter falls, if f's life > 5:\n    take 9 life from f\n")
    assert life(game, "Bea") == 1 and game.state.in_play[game.state.name.index("Bea")]
    assert any(event[0] == "replaced" for event in game.log)


def test_after_rules_see_what_happened() -> None:
    game = arena("hurt Bea by 4", "after hurt any fighter by any amount:\n    note amount\n")
    assert value(game, "tally") == 4


def test_a_card_reacts_to_its_own_end() -> None:
    bea = "after self falls:\n    note 7"
    assert value(arena("Bea falls", bea=bea), "tally") == 7


def test_a_printed_rule_works_only_in_play() -> None:
    bea = "after any fighter cheers:\n    note 1"
    assert value(arena("Ash cheers\nBea falls\nAsh cheers", bea=bea), "tally") == 1


def test_a_pattern_narrows_by_kind_filter_and_value() -> None:
    rules = "after hurt any fighter where its spark > 0 by any amount:\n    note 1\n"
    assert value(arena("hurt Ash by 1\nput 1 spark on Ash\nhurt Ash by 1", rules), "tally") == 1


def test_once_per_turn_starts_anew_with_the_turn() -> None:
    game = arena("Ash cheers\nAsh cheers", "after any fighter cheers, once per turn:\n    note 1\n")
    assert value(game, "tally") == 1
    game.answer("go on")
    assert value(game, "tally") == 2


def test_once_is_once_in_a_game() -> None:
    game = arena("Ash cheers", "after any fighter cheers, once:\n    note 1\n")
    game.answer("go on")
    assert value(game, "tally") == 1


def test_whenever_runs_when_its_condition_comes_to_hold() -> None:
    rules = "kind fighter\n    whenever life <= 0:\n        self falls\n"
    text = rules.replace("life <= 0", "self's life <= 0")
    game = arena("hurt Bea by 9\nhurt Bea by 1\nhurt Bea by 1", text)
    assert sum(event[:1] + event[3:4] == ("did", "(f) falls") for event in game.log) == 1


def test_simultaneous_rules_are_ordered_by_whom_the_game_says() -> None:
    rule = "after any fighter cheers:\n    now tally is tally * 10 + {n}"
    game = arena(
        "Ash cheers",
        ash=rule.format(n=1),
        bea=rule.format(n=2),
        settings="    simultaneous rules are ordered by the player where order of it = 1",
    )
    assert game.question is not None and game.question.prompt == "which comes first?"
    assert sorted(game.question.keys) == ["Ash", "Bea"]
    game.answer("Bea")
    assert value(game, "tally") == 21


def test_waiting_rules_run_when_the_verb_they_wait_for_is_done() -> None:
    rules = """
verb (f: fighter) acts:
    f cheers
    now echo is tally
after any fighter cheers:
    note 1
"""
    game = arena("Ash acts", rules, settings="    rules wait for acts")
    assert (value(game, "echo"), value(game, "tally")) == (0, 1)


# ---------------------------------------------------------------- what may not be done
def test_forbid_makes_a_verb_impossible_and_unchoosable() -> None:
    rules = "forbid any fighter cheers, if f's life < 5\n"
    game = arena("hurt Bea by 6\nBea cheers\na fighter cheers", rules)
    assert (field(game, "Bea", "spark"), field(game, "Ash", "spark")) == (0, 1)


def test_needs_narrow_what_can_be_chosen() -> None:
    rules = "verb (f: fighter) rests:\n    needs f's life < 10\n    put 1 life on f\n"
    game = arena("hurt Bea by 3\na fighter rests", rules)
    assert life(game, "Bea") == 8


# ---------------------------------------------------------------- modifiers and durations
def test_modifiers_are_worked_out_when_asked() -> None:
    bea = "armour 1\npassive:\n    other fighters get +2 armour"
    game = arena("note Ash's armour\nBea falls\nnote Ash's armour * 10", bea=bea)
    assert value(game, "tally") == 2


def test_increases_come_before_decreases_and_bounds_last() -> None:
    bea = "passive:\n    Ash gets -3 armour\n    Ash gets +1 armour"
    assert value(arena("note Ash's armour + 5", bea=bea), "tally") == 5


def test_a_replaced_value_comes_first() -> None:
    bea = "passive:\n    Ash's armour is 4\n    Ash gets +1 armour"
    assert value(arena("note Ash's armour", bea=bea), "tally") == 5


def test_a_passive_may_have_a_condition() -> None:
    bea = "passive:\n    if self's spark > 0:\n        Ash gets +1 armour"
    game = arena("note Ash's armour\nput 1 spark on Bea\nnote Ash's armour * 10", bea=bea)
    assert value(game, "tally") == 10


def test_a_modifier_lasts_as_long_as_it_says() -> None:
    game = arena("if tally = 0:\n    Ash gets +2 armour until end of turn\nnote Ash's armour + 1")
    assert value(game, "tally") == 3
    game.answer("go on")
    assert value(game, "tally") == 4
    assert game.state.lasting == []


def test_a_rule_may_last() -> None:
    play = "if tally = 0:\n    until end of turn:\n        after any fighter cheers:\n            note 5\nAsh cheers\nnote 1"
    game = arena(play)
    assert value(game, "tally") == 6
    game.answer("go on")
    assert value(game, "tally") == 7


def test_values_can_be_modified_and_replaced() -> None:
    rules = "value reach of (f: fighter) -> number = 1, at most 4\n"
    ash = "passive:\n    reach of self gets +2\n    reach of Bea is 9"
    assert value(arena("note reach of Ash\nnote (reach of Bea) * 10", rules, ash=ash), "tally") == 43


def test_a_value_that_nothing_changes_keeps_its_bounds_too() -> None:
    rules = "value reach of (f: fighter) -> number = f's life, at least 2, at most 7\n"
    assert value(arena("note reach of Ash", rules), "tally") == 7


def test_a_kept_set_may_grow_by_one_thing() -> None:
    rules = "kind fighter\n    has friends: set of fighter\n"
    play = "now Ash's friends is Ash's friends and Bea\nnow Ash's friends is Ash's friends and Ash"
    game = arena(f"{play}\nfor each fighter among (Ash's friends): note 1", rules)
    assert value(game, "tally") == 2


def test_a_query_for_a_set_may_answer_nothing_or_one_thing() -> None:
    rules = "query rivals of (f: fighter) -> set of fighter:\n    if f is asleep: answer nothing\n"
    rules += "    if f = Ash: answer Bea\n    if f = Bea: answer fighters\n"
    play = "note number of rivals of Ash\nnote 10 * number of rivals of Bea\nnow Ash's asleep is yes\n"
    game = arena(
        f"{play}note 100 * number of (rivals of Ash)\nfor each fighter among (rivals of Ash): note 1000",
        rules,
    )
    assert value(game, "tally") == 21


def test_a_declared_modifier_is_written_in_its_own_words() -> None:
    rules = "modifier shield (who: set of fighter) by (n: number):\n    who gets +n armour\n"
    assert (
        value(arena("note Bea's armour", rules, ash="passive:\n    shield other fighters by 3"), "tally") == 3
    )


def test_fields_kept_per_turn_start_anew() -> None:
    game = arena("if Ash is asleep:\n    note 1\nnow Ash's asleep is yes")
    game.answer("go on")
    assert value(game, "tally") == 0


def test_a_round_is_a_scope_for_limits_durations_and_watchers() -> None:
    rules = "after Ash cheers, once per round:\n    note 1\nafter end of round:\n    note 100\n"
    game = arena("Ash cheers\nAsh cheers\nif tally = 1: Ash gets +3 armour until end of round", rules)
    assert (value(game, "tally"), field(game, "Ash", "spark")) == (1, 2)
    game.answer("go on")
    assert value(game, "tally") == 102
    assert [e[0] for e in game.log if e[0] in ("lasts", "lapsed")] == ["lasts", "lapsed"]


# ---------------------------------------------------------------- windows and options
def test_an_option_in_a_window_may_change_the_pending_act() -> None:
    rules = """
option "duck", during reply window, by fighter, if you = target:
    now amount is 0
"""
    game = arena("hurt Bea by 4", rules)
    assert game.question is not None and game.question.keys == ["duck", "pass"]
    assert [game.state.key[seat] for seat in game.question.seats] == ["Player 2"]
    other = game.fork()
    game.answer("duck")
    other.answer("pass")
    assert (life(game, "Bea"), life(other, "Bea")) == (10, 6)


def test_an_offer_may_say_what_it_is_about() -> None:
    rules = 'option "wave", during main window, by fighter:\n    note 1\n'
    game = arena('offer main window to Ash, saying "what does {Ash} do?"', rules)
    assert game.question is not None and game.question.prompt == "what does Ash do?"


def test_an_offer_may_speak_of_values() -> None:
    rules = 'option "cheer", during main window, by fighter:\n    you cheers\n'
    said = 'offer main window to Bea, saying "{Ash} has {Ash\'s spark} and {number of fighters} fight:"'
    game = arena(said, rules)
    assert game.question is not None and game.question.prompt == "Ash has 0 and 2 fight:"
    plain = arena('offer main window to all fighters, saying "well?"', rules)
    assert plain.question is not None and plain.question.prompt == "well?"


def test_who_has_nothing_to_do_is_not_asked() -> None:
    rules = 'option "duck", during reply window, by fighter, if your spark > 0:\n    now amount is 0\n'
    game = arena("hurt Bea by 4", rules)
    assert game.question is not None and game.question.keys == ["go on", "end"]


def test_what_an_option_needs_of_the_table_is_looked_at_anew_each_time() -> None:
    rules = """
option "cheer", during main window, by fighter, if tally < 2 and your spark < 2:
    note 1
    you cheers
option "rest", during main window, by fighter, if tally < 2:
    note 2
"""
    game = arena("offer main window to all fighters, until passed", rules)
    assert game.question is not None
    assert game.question.keys == ["Ash: cheer", "Ash: rest", "Bea: cheer", "Bea: rest", "pass"]
    game.answer("Ash: cheer")
    assert game.question is not None and len(game.question.keys) == 5
    game.answer("Ash: cheer")
    assert game.question is not None and game.question.keys == ["go on", "end"]


def test_an_option_costs_and_chooses() -> None:
    rules = """
option "throw spark", during main window, by fighter, choosing another fighter called foe, costs pay 1 spark from you:
    hurt foe by 2
"""
    game = arena("put 1 spark on Ash\noffer main window to each fighter, until passed", rules)
    assert game.question is not None and game.question.keys == ["throw spark: Bea", "pass"]
    game.answer("throw spark: Bea")
    assert (life(game, "Bea"), field(game, "Ash", "spark")) == (8, 0)
    assert game.question is not None and game.question.keys == ["go on", "end"]


def test_a_shared_window_asks_all_at_once() -> None:
    rules = 'option "cheer", during main window, by fighter:\n    you cheers\n'
    game = arena("offer main window to all fighters, without passing", rules)
    assert game.question is not None and game.question.keys == ["Ash: cheer", "Bea: cheer"]
    assert len(game.question.seats) == 2


def test_what_the_one_seat_does_that_is_asked_carries_no_name() -> None:
    rules = 'option "cheer", during main window, by fighter:\n    you cheers\n'
    rules += 'option "rest", during main window, by player:\n    note 1\n'
    first = "(the player where order of it = 1)"
    game = arena(f"offer main window to ({first} and Ash)", rules)
    assert game.question is not None and game.question.keys == ["rest", "Ash: cheer", "pass"]
    both = arena(f"offer main window to ({first} and Bea)", rules)
    assert both.question is not None and both.question.keys == ["Player 1: rest", "Bea: cheer", "pass"]


def test_an_ability_with_a_moment_is_an_option_of_its_card() -> None:
    rules = "kind fighter\n    ability dodge, during reply window, if target = self, once per turn\n"
    game = arena("hurt Bea by 4\nhurt Bea by 1", rules, bea='dodge "side step":\n    now amount is 0')
    assert game.question is not None and game.question.keys == ["side step", "pass"]
    game.answer("side step")
    assert life(game, "Bea") == 9


# ---------------------------------------------------------------- abilities and borrowed text
def test_an_ability_is_resolved_and_of_several_one_is_chosen() -> None:
    ash = 'strike "left":\n    note 1\nstrike "right":\n    note 2'
    game = arena("resolve strike of Ash", ash=ash)
    assert game.question is not None and game.question.keys == ["left", "right"]
    game.answer("right")
    assert value(game, "tally") == 2


def test_an_ability_whose_needs_do_not_hold_is_no_text_at_all() -> None:
    ash = 'strike "left":\n    needs you\'s life > 10\n    note 1\nstrike "right":\n    note 2'
    bea = "strike, if you are asleep:\n    note 4"
    play = "resolve strike of Ash\nif Bea can resolve strike of Bea:\n    note 8\nresolve strike of Bea"
    more = "now Bea's asleep is yes\nif Bea can resolve strike of Bea:\n    note 16\nresolve strike of Bea"
    game = arena(f"{play}\n{more}\nif Ash can resolve shout of Ash:\n    note 32", ash=ash, bea=bea)
    assert value(game, "tally") == 2 + 16 + 4


def test_borrowed_text_is_given_back() -> None:
    bea = "strike:\n    note 3\nafter any fighter cheers:\n    note 10"
    game = arena(
        "if tally = 0:\n    Ash borrows the text of Bea until end of turn\nBea falls\nAsh cheers\nresolve strike of Ash",
        bea=bea,
    )
    assert value(game, "tally") == 13
    game.answer("go on")
    assert value(game, "tally") == 13


def test_faces_change_printed_values_and_keep_counters() -> None:
    ash = 'face "calm":\n    armour 1\nface "angry":\n    armour 5\n    strike:\n        note 100'
    play = "put 2 spark on Ash\nnote Ash's armour\nresolve strike of Ash\nflip Ash\nnote Ash's armour\nresolve strike of Ash"
    game = arena(play, ash=ash)
    assert (value(game, "tally"), field(game, "Ash", "spark")) == (106, 2)


# ---------------------------------------------------------------- secrets
SECRET = """
pack secret "Secret"
game "Secret"
    seats 3
    each seat is a player
kind player
    counter bid
round:
    turn of the player where order of it = 1:
        secretly each player:
            choose a number from 0 to 3 called offer
            put offer bid on you
        players with the most bid win
"""


def test_several_seats_choose_at_once_in_any_order() -> None:
    game = Game(program_of(SECRET), seed=1)
    assert [q.seats[0] for q in game.questions] == game.seats
    first, second, third = game.seats
    assert game.answer("1", third) == []
    assert [q.seats[0] for q in game.questions] == [first, second]
    assert not any(event[0] == "answered" for event in game.log)
    game.answer("3", first)
    game.answer("2", second)
    assert game.outcome is not None and game.outcome["winners"] == [first]
    other = Game(program_of(SECRET), seed=1)
    for seat, key in ((first, "3"), (second, "2"), (third, "1")):
        other.answer(key, seat)
    assert other.log == game.log


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_a_policy_answers_secret_questions_too(order: tuple[int, ...]) -> None:
    game = Game(program_of(SECRET), seed=1, start=False).play(lambda q: q.keys[order[0]])
    assert game.over


def test_things_can_be_created_and_removed() -> None:
    rules = "kind pebble is token\n"
    game = arena("create 2 pebbles in arena\nnote number of pebbles\nremove a pebble from the game", rules)
    assert value(game, "tally") == 2
    assert game.question is not None and game.question.keys == ["go on", "end"]
    assert sum(event[0] == "swept" for event in game.log) == 1


def test_copies_that_differ_in_nothing_are_one_answer_and_others_are_numbered() -> None:
    rules = "kind pebble is token\n    counter weight\n"
    play = "create 3 pebbles in arena\nput 1 weight on (the pebble where position of it = 5)\nremove a pebble from the game"
    game = arena(play, rules)
    assert game.question is not None and game.question.keys == ["pebble", "pebble #3"]


def test_alike_copies_bear_no_number_even_if_they_are_created() -> None:
    rules = "kind pebble is token\n    copies are alike\n"
    game = arena("create 1 pebble in arena\ncreate 2 pebbles in arena", rules)
    assert [key for key in game.state.key if "pebble" in key] == ["pebble"] * 3


def test_alike_copies_differ_if_something_lies_on_one() -> None:
    rules = "kind pebble is token\n    copies are alike\n"
    play = "create 3 pebbles in arena\nattach Ash to (the pebble where position of it = 5)\nremove a pebble from the game"
    game = arena(play, rules)
    assert game.question is not None and len(game.question.keys) == 2


def test_each_may_be_done_in_a_chosen_order() -> None:
    game = arena("hurt each fighter by 1, in order chosen by the player where order of it = 2")
    assert game.question is not None and game.question.keys == ["Ash", "Bea"]
    game.answer("Bea", game.seats[1])
    hurt = [event[4] for event in game.log if event[0] == "did" and event[3].startswith("hurt")]
    assert [game.state.name[thing] for thing in hurt] == ["Bea", "Ash"]


def test_dice_are_chosen_by_what_they_show_and_rolled_again() -> None:
    rules = "die coin: heads, tails\nstate pool: roll\n"
    play = "roll 3 coin called thrown\nnow pool is thrown\nreroll a die of pool with coin"
    game = arena(play, rules)
    thrown = next(event[4] for event in game.log if event[0] == "rolled")
    if game.question is not None and game.question.prompt == "roll which die again?":
        assert set(game.question.keys) == {face[0] for face in thrown}
        game.answer(game.question.keys[0])
    assert [len(event[4]) for event in game.log if event[0] == "rolled"] == [3, 1]
    assert len(value(game, "pool")) == 3


def test_each_sort_of_waiting_has_its_own_queue() -> None:
    """What a block sets off is done before the play that it happens in goes on; a play in a play joins the outer one."""
    rules = """
verb (f: fighter) plays:
    f blocks
    now echo is tally
    if f is asleep:
        stop
    now f's asleep is yes
    f plays
    now echo is echo * 10 + tally
verb (f: fighter) blocks:
    f cheers
after any fighter cheers:
    note 1
after any fighter blocks:
    note 5
"""
    game = arena("Ash plays", rules, settings="    rules wait for plays\n    rules wait for blocks")
    assert (
        value(game, "echo") == 22
    )  # each cheer is noted when its block ends, what follows the blocks only at the very end
    assert value(game, "tally") == 12


def test_a_text_borrowed_twice_works_once_and_ends_with_the_last() -> None:
    bea = "before hurt any fighter by any amount:\n    now amount is amount + 1"
    play = "Ash borrows the text of Bea until end of turn\nAsh borrows the text of Bea until end of turn\nhurt Ash by 1"
    game = arena(play, bea=bea)
    assert life(game, "Ash") == 7


STATE_CHECKS = """
pack t "T"
game "T"
    seats 1
    each seat is a player
kind lamp is card
    has glow: number = 0
    starts in shelf
    whenever lamps near the door >= 2:
        ring the bell
state alarm: number = 0
state rings: number = 0
zone shelf, seen by all, live
zone door, seen by all, live
lamp "Left"
    face "Off":
        glow 0
    face "On":
        glow 3
lamp "Right"
query lamps near the door -> number: number of (lamps in door)
query light -> number: total glow of lamps
verb ring the bell:
    now rings is rings + 1
whenever alarm >= 3:
    now rings is rings + 10
whenever light >= 3:
    now rings is rings + 100
round:
    for each player, in turn order:
        turn of player:
            ask player:
                "move":
                    move a lamp in shelf to door
                "alarm":
                    now alarm is alarm + 1
                "flip":
                    flip Left
                "end":
                    the group loses
"""


@pytest.mark.parametrize(
    ("answers", "rings"),
    [
        (["move", "Left"], 0),
        (["move", "Left", "move"], 2),  # each of two lamps notices
        (["alarm", "alarm"], 0),
        (["alarm", "alarm", "alarm", "alarm"], 10),
        (["flip"], 100),
        (["flip", "flip", "flip"], 200),
    ],
)
def test_a_state_check_follows_whatever_it_looks_at(answers: list[str], rings: int) -> None:
    """Through the queries that its condition calls: places, values of the game, faces."""
    made = Game(program_of(STATE_CHECKS), seed=1)
    for key in answers:
        made.answer(key)
    assert getattr(made.state, attribute("g", "rings")) == rings


def test_an_effect_that_stops_a_scope_around_it_has_ended() -> None:
    """The root effect is closed when a text leaves it, so the next effect is a root effect again."""
    rules = "after end of root effect:\n    note 1\n"
    play = "step duel:\n    resolve strike of Ash\nresolve strike of Ash"
    ash = "strike:\n    if tally = 0:\n        stop step"
    text = BASE.replace("        ask the player", "        step pause:\n            ask the player", 1)
    text = text.replace(
        '            "go on":\n                note 0\n            "end":\n                draw game\n', ""
    )
    text += '                "end":\n                    draw game\n'
    made = text.format(
        play="        " + play.replace("\n", "\n        "),
        rules=rules,
        ash="    " + ash.replace("\n", "\n    "),
        bea=NOTHING,
        settings="",
    )
    assert value(Game(program_of(made), seed=1), "tally") == 2


def test_the_result_of_what_does_not_happen_is_nothing() -> None:
    rules = "verb maul (f: fighter) -> number:\n    needs f's life > 3\n    answer 4\n"
    play = """
maul Ash called done
note done
take 9 life from Ash
maul Ash called again
note again
choose a fighter where its life > 90 called giant
maul giant called never
note never
"""
    assert value(arena(play, rules), "tally") == 4


CHOSEN = "    order is chosen for hurt by\n"


def test_an_order_that_cannot_matter_is_not_asked() -> None:
    game = arena("hurt each fighter by 1", settings=CHOSEN)
    assert game.question is not None and game.question.keys == ["go on", "end"]
    assert (life(game, "Ash"), life(game, "Bea")) == (9, 9)


def test_an_order_that_can_matter_is_asked() -> None:
    """The first to be hurt takes one more: whoever is hurt first ends with less."""
    rules = (
        "before hurt any fighter by any amount, at increase, once per turn:\n    now amount is amount + 1\n"
    )
    game = arena("hurt each fighter by 1", rules, settings=CHOSEN)
    assert game.question is not None and game.question.keys == ["Ash", "Bea"]
    game.answer("Bea")
    assert (life(game, "Ash"), life(game, "Bea")) == (9, 8)


def test_what_one_thing_does_to_the_next_can_matter() -> None:
    rules = "whenever Ash's life <= 9:\n    Bea's shield is down\nverb Bea's shield is down:\n    now tally is 1\n"
    rules += "before hurt Bea by any amount, at reduce, if tally = 0:\n    now amount is 0\n"
    game = arena(
        "hurt each fighter by 1", rules.replace("Bea's shield is down", "drop the shield"), settings=CHOSEN
    )
    assert game.question is not None and game.question.keys == ["Ash", "Bea"]


def test_the_order_is_left_alone_where_somebody_would_be_asked_in_between() -> None:
    rules = 'option "duck", during reply window, by fighter:\n    now amount is 0\n'
    game = arena("hurt each fighter by 1", rules, settings=CHOSEN)
    assert game.question is not None and game.question.keys == ["Ash", "Bea"]


def test_a_limit_cuts_what_a_text_says_but_not_the_words_it_uses() -> None:
    rules = """
limit fighter in fighter text: it is not asleep
query crowd -> number: number of fighters
"""
    ash = "strike:\n    note number of fighters\n    note 10 * crowd"
    game = arena("now Bea's asleep is yes\nresolve strike of Ash", rules, ash=ash)
    assert value(game, "tally") == 21


def test_a_limit_cuts_what_a_lasting_rule_was_made_for() -> None:
    rules = "limit fighter in fighter text: it is not asleep\n"
    ash = """
strike:
    choose a fighter besides self called foe
    until end of turn:
        before hurt foe by any amount:
            now amount is amount + 5
"""
    rules += "relation (a: fighter) besides (b: fighter): a != b\n"
    play = "resolve strike of Ash\nhurt Bea by 1\nnow Bea's asleep is yes\nhurt Bea by 1"
    assert life(arena(play, rules, ash=ash), "Bea") == 3


def test_who_may_do_something_is_the_one_whose_needs_count() -> None:
    rules = "verb [(f: fighter = you)] boast/boasts:\n    needs f is not asleep\n    note 1\n"
    ash = "strike:\n    Bea may boast"
    game = arena("now Ash's asleep is yes\nresolve strike of Ash", rules, ash=ash)
    assert game.question is not None and game.question.keys == ["yes", "no"]
    game = arena("now Bea's asleep is yes\nresolve strike of Ash", rules, ash=ash)
    assert game.question is not None and game.question.keys == ["go on", "end"]
