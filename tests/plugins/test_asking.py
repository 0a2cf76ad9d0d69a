"""Questions in words: prompts, groups of answers, what a question is about, what the text lets everybody see."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from playing import program_of
from running import Longbox

from longbox.kernel import Game
from longbox.plugins.commands.asking import (
    About,
    Answers,
    asked_text,
    inner_match,
    offered_spaces,
    prompt_text,
    refusal,
)
from longbox.plugins.commands.sights import Seer
from longbox.plugins.commands.story import Reading, Story
from longbox.plugins.commands.values import Values

SHOP = """\
pack shop "Shop"
    version 1.0
game "Shop"
    seats named Ann, Bob
    each seat is a player
words shade: dark, light
kind player is seat
    counter coins
    zone hand, seen by owner
kind peg is card
    has worth: number = 0
    has shade: shade?
    has broken: truth
    has tale: text
    has secret worth: number = 0, hidden
    counter dents
    starts in tray
    ability ring
zone tray, seen by all, live
zone shelf, seen by all
peg "Oak Peg"
    worth 2
    shade dark
    tale "It grew slowly."
    ring:
        choose a peg in tray where it != self called friend, by the group
        put 1 dents on friend
peg "Ash Peg" x 2
    worth 3
    passive:
        other pegs get +1 worth
peg "Worn Peg"
    worth 5
    face "New":
        shade light
    face "Old":
        shade dark
        ring: put 2 dents on self
query headline -> text, seen by all: "In the tray: {pegs in tray}"
query headline of (p: player) -> text, seen by all:
    if p's coins = 0:
        answer ""
    answer "{p} has {p's coins} coins"
query heavy pegs -> set of peg, seen by all: pegs in tray where its worth > 5
query friends of (p: peg) -> set of peg, seen by all: pegs in tray where it != p
query purse of (p: player) -> number, seen by all: p's coins
query hidden purse of (p: player) -> number: p's coins
window trade
option "earn", during trade:
    put 1 coins on the player where order of it = 1
option "spend", during trade, choosing a peg in tray called bought:
    move bought to shelf
verb (p: player) tries (c: peg):
    p may dent c:
        put 1 coins on p
verb dent (c: peg):
    put 1 dents on c
round:
    for each player, in turn order:
        phase morning of player:
            ask player:
                "ring":
                    resolve ring of Oak Peg
                "try":
                    player tries Ash Peg
                "count":
                    choose a number from 0 to 2 + player's coins called n, by player
                "pick":
                    let pile = pegs in tray
                    choose 2 pegs among pile called some, by player
                "trade":
                    offer trade to player
                "hide":
                    move Oak Peg to player's hand
                "turn":
                    flip Worn Peg to "Old"
"""


def shop(*answers: str) -> Game:
    game = Game(program_of(SHOP), seed=3)
    for answer in answers:
        game.answer(answer)
    return game


def asked(*answers: str) -> str:
    question = shop(*answers).question
    assert question is not None
    return prompt_text(question, ["trade"])


def fake(*keys: str, things: tuple[Any, ...] = (), prompt: str = "what now?") -> Any:
    return SimpleNamespace(keys=list(keys), things=things, prompt=prompt, seats=(0,))


# -- prompts -----------------------------------------------------------------------------------------


def test_names_that_only_the_author_knows_are_not_said() -> None:
    assert asked("ring") == "choose a peg in tray where it != Oak Peg"
    assert asked("try") == "Dent Ash Peg?"
    assert asked("pick") == ("choose 2 pegs among Oak Peg, Ash Peg, Ash Peg #2 and Worn Peg (1 of 2)")
    assert asked("count") == "choose a number from 0 to 2"
    assert asked("trade") == "trade: what do you do?"


def test_a_bare_description_becomes_a_sentence() -> None:
    assert prompt_text(fake("a", things=(1,), prompt="open space")) == "choose an open space"
    assert prompt_text(fake("a", things=(1,), prompt="2 pegs (1 of 2)")) == "choose 2 pegs (1 of 2)"
    assert prompt_text(fake("a", things=(1,), prompt="which comes next?")) == "which comes next?"
    assert prompt_text(fake("a")) == "what now?"


def test_a_thing_in_a_prompt_is_named_to_those_who_may_know_it() -> None:
    """Ann's peg lies in her hand: in a question to Bob it has no name."""
    game = shop("hide")
    oak = game.state.name.index("Oak Peg")
    question = game.question
    assert question is not None
    for seat, said in ((0, "choose Oak Peg now"), (1, "choose a hidden thing now")):
        question.seats = (game.seats[seat],)
        question._prompt = ("choose ", oak, " now")
        assert question.prompt == said


def test_who_is_asked() -> None:
    assert asked_text(["Ann"], 2) == "Ann"
    assert asked_text(["Ann", "Bob"], 2) == "Ann or Bob"
    assert asked_text(["Ann", "Bob", "Cid"], 4) == "Ann, Bob or Cid"
    assert asked_text(["Ann", "Bob", "Cid"], 3) == "Anyone"


# -- answers -----------------------------------------------------------------------------------------


def test_answers_are_grouped_by_what_is_done() -> None:
    keys = ["Oak Peg: play", "Ash Peg: play", "Oak Peg: ring", "draw", "move", "pass"]
    answers = Answers(fake(*keys))
    assert answers.lines() == [
        "  1 draw   2 move",
        "  play: 3 Oak Peg   4 Ash Peg",
        "  ring: 5 Oak Peg",
        "  6 pass",
    ]
    assert answers.keys == ["draw", "move", "Oak Peg: play", "Ash Peg: play", "Oak Peg: ring", "pass"]


def test_answers_for_several_are_grouped_by_who_acts() -> None:
    keys = ["Ann: Oak Peg: play", "Ann: draw", "Bob: move", "Bob: draw", "pass"]
    assert Answers(fake(*keys)).lines() == [
        "  Ann:",
        "    1 draw",
        "    play: 2 Oak Peg",
        "  Bob:",
        "    3 move   4 draw",
        "  5 pass",
    ]


def test_what_the_seat_does_itself_stands_before_those_who_act_for_it() -> None:
    keys = [
        "draw",
        "Oak Peg: move to a1",
        "Oak Peg: move to b1",
        "Ash Peg: move to c1",
        "Ash Peg: ring",
        "pass",
    ]
    assert Answers(fake(*keys)).lines() == [
        "  1 draw",
        "  Oak Peg:",
        "    2 move to a1   3 move to b1",
        "  Ash Peg:",
        "    4 move to c1   5 ring",
        "  6 pass",
    ]


def test_every_answer_is_listed_once_whatever_it_looks_like() -> None:
    for keys in (["a: b", "a: b: c", "c", "d: e", "pass", "a"], ["x: y"] * 1 + ["z: y", "x", "z", "done"]):
        assert sorted(Answers(fake(*keys)).keys) == sorted(keys)


def test_few_answers_stand_below_each_other_and_many_in_columns() -> None:
    assert Answers(fake("a: b", "c")).lines() == ["  1 a: b", "  2 c"]
    assert Answers(fake("0", "1", "2")).lines() == ["  0, 1, 2"]
    many = Answers(fake(*(f"answer {n}" for n in range(30)))).lines()
    assert len(many) == 5 and all(len(line) <= 100 for line in many)
    assert Answers(fake("a1", "b1", "a2", "b2", "stop")).lines(["a1", "b1", "a2", "b2"]) == [
        "  1 a1     2 b1     3 a2     4 b2     5 stop"
    ]
    spaces = [f"{c}{n}" for c in "abcdef" for n in range(1, 4)]
    listed = Answers(fake(*spaces, "stop here")).lines(spaces)
    assert listed[0].startswith("  one of the 18 spaces") and listed[1] == "  19 stop here"


def test_things_show_their_values() -> None:
    game = shop("ring")
    question = game.question
    assert question is not None
    lines = Answers(question, Values(game.state, game.seats[0], game.program)).lines()
    assert lines[0] == "  1 Ash Peg (worth 4)"  # the other Ash Peg raises it
    assert lines[-1] == "  2 Worn Peg (worth 7, shade light)"


def test_a_part_of_an_answer_is_enough_if_it_means_one() -> None:
    keys = ["Crown Strike: play", "Long Shot: play", "start the threat phase"]
    assert inner_match(keys, "strike") == "Crown Strike: play"
    assert inner_match(keys, "threat") == "start the threat phase"
    assert (
        inner_match(keys, "play") is None
        and inner_match(keys, "trike") is None
        and inner_match(keys, "") is None
    )


def test_a_refusal_says_what_may_have_been_meant() -> None:
    assert "did you mean 'start the day'?" in refusal(["start the day", "pass"], "strat the day")
    assert "the answers are: a, b" in refusal(["a", "b"], "zzz")
    assert "'answers' lists" in refusal([f"answer {n}" for n in range(30)], "zzz")


def test_a_question_is_about_spaces_if_most_answers_are() -> None:
    drawn = ["a1", "b1", "c1"]
    assert offered_spaces(fake("a1", "b1", "stop"), drawn) == ["a1", "b1"]
    assert offered_spaces(fake("a1", "x", "y", "b1", "z"), drawn) == []
    assert offered_spaces(fake("a1"), drawn) == []


# -- what it is about --------------------------------------------------------------------------------


def about(game: Game, seat: int = 0) -> str:
    story = Story(Reading.of(game.program), game.seats[seat])
    story.follow(game.log)
    question = game.question
    assert question is not None
    return About(game.program).line(game, question, story)


def test_a_question_names_the_card_whose_text_asks() -> None:
    assert about(shop("ring")) == "Oak Peg, ring"
    assert about(shop("try")) == "try > Ann tries Ash Peg"
    assert about(shop()) == ""


def test_the_text_that_asks_is_found() -> None:
    game = shop("ring")
    question = game.question
    assert question is not None
    about_it = About(game.program)
    assert about_it.text(question).startswith("test.box:26")


# -- what everybody may look at ----------------------------------------------------------------------


def looked(game: Game, typed: str, seat: int = 0) -> list[str] | None:
    who = game.seats[seat]
    return Seer(game, who).lines(typed, Values(game.state, who, game.program).told)


def test_a_query_for_all_can_be_looked_at() -> None:
    assert looked(shop(), "heavy pegs") == ["heavy pegs:", "  Worn Peg (tray): worth 7, shade light"]
    assert looked(shop(), "heavy") == looked(shop(), "heavy pegs")
    assert looked(shop(), "purse of Bob") == ["purse of Bob: 0"]


def test_without_a_slot_it_is_asked_for_oneself_or_for_all() -> None:
    game = shop("try", "yes")
    assert looked(game, "purse", seat=0) == ["purse of Ann: 1"]
    assert looked(game, "purse", seat=1) == ["purse of Bob: 0"]
    friends = looked(game, "friends")
    assert friends is not None and [x for x in friends if not x.startswith(" ")] == [
        f"friends of {name}:" for name in ("Oak Peg", "Ash Peg", "Ash Peg #2", "Worn Peg")
    ]


def test_other_queries_are_never_asked() -> None:
    assert looked(shop(), "hidden purse") is None
    assert looked(shop(), "hidden purse of Ann") is None
    assert Seer(shop(), None).uses() == ["heavy pegs", "friends of PEG", "purse of PLAYER"]


def test_nothing_hidden_is_listed() -> None:
    game = shop("hide")
    assert looked(game, "friends of worn", seat=1) == looked(game, "friends of worn", seat=0)
    assert "Oak Peg" not in "".join(looked(game, "friends", seat=1) or [])


def test_the_headline_is_what_the_text_says() -> None:
    assert Seer(shop(), None).headline() == ["  In the tray: Oak Peg, Ash Peg, Ash Peg #2 and Worn Peg"]
    assert Seer(shop("try", "yes"), None).headline()[1:] == ["  Ann has 1 coins"]


def test_values_say_what_is_not_as_printed() -> None:
    game = shop("turn")
    values = Values(game.state, game.seats[0], game.program)
    worn, oak = (game.state.name.index(name) for name in ("Worn Peg", "Oak Peg"))
    assert values.changes(worn) == ["worth 7 (printed 5)"]
    assert values.changes(oak) == ["worth 4 (printed 2)"]
    assert "secret" not in values.short(oak)


# -- at the keyboard ---------------------------------------------------------------------------------


@pytest.fixture
def packs(tmp_path: Path) -> list[str]:
    folder = tmp_path / "packs" / "shop"
    folder.mkdir(parents=True)
    (folder / "shop.box").write_text(SHOP, encoding="utf-8")
    return ["--packs", str(folder.parent), "--seed", "3"]


def say(longbox: Longbox, packs: list[str], *lines: str) -> list[str]:
    ran = longbox("play", "shop", "--stdin", *packs, stdin="".join(f"{line}\n" for line in lines))
    assert ran.code == 0, ran.err
    return ran.lines


def test_a_sitting_has_it_all(longbox: Longbox, packs: list[str]) -> None:
    lines = say(longbox, packs, "ring", "?", "worn", "show purse of ann", "help")
    at = lines.index("(Oak Peg, ring)")
    assert lines[at + 1] == "Ann or Bob: choose a peg in tray where it != Oak Peg"
    explained = lines[lines.index("> ?") + 1 :]
    assert explained[0] == lines[at + 1]
    assert explained[1].startswith(
        "  asked at shop/shop.box:26: choose a peg in tray where it != self called friend"
    )
    assert "  Worn Peg: dents 1 (+1)" in lines
    assert "purse of Ann: 0" in lines
    assert lines[lines.index("In this game, besides:") + 1] == "  show heavy pegs"


def test_a_new_part_of_the_game_has_a_head(longbox: Longbox, packs: list[str]) -> None:
    lines = say(longbox, packs, "try", "yes")
    heads = [at for at, line in enumerate(lines) if line.startswith("-- ")]
    assert [lines[at] for at in heads] == ["-- morning of Ann --", "-- morning of Bob --"]
    assert lines[heads[1] + 1 : heads[1] + 3] == [
        "  In the tray: Oak Peg, Ash Peg, Ash Peg #2 and Worn Peg",
        "  Ann has 1 coins",
    ]


def test_the_keyboard_is_passed_on_only_once_something_is_hidden(longbox: Longbox, packs: list[str]) -> None:
    assert not [line for line in say(longbox, packs, "try", "yes", "try") if "Pass the keyboard" in line]
    lines = say(longbox, packs, "hide", "", "table")
    assert [line.strip() for line in lines if "Pass the keyboard" in line] == [
        "Pass the keyboard to Bob, press Enter."
    ]
    assert "Ann's hand: 1" in lines
    assert "Oak Peg" not in "\n".join(lines[lines.index("> table") :])


def test_a_card_shows_its_sides_and_its_tale(longbox: Longbox, packs: list[str]) -> None:
    lines = say(longbox, packs, "turn", "card worn", "card oak")
    at = lines.index("> card worn")
    assert lines[at + 1 : at + 10] == [
        "Worn Peg: peg",
        "  worth 5",
        '  this side up, "Old":',
        "    shade dark",
        "    ring: put 2 dents on self",
        '  other side, "New":',
        "    shade light",
        'Worn Peg: peg, in tray, "Old" up',
        "  now: worth 7 (printed 5)",
    ]
    oak = lines[lines.index("> card oak") + 1 :]
    assert oak[5] == '  "It grew slowly."'
