"""longbox play: people at the keyboard, bots alone, and going on later."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import Longbox, Ran

from longbox.plugins.commands.asking import chosen
from longbox.plugins.histories import Histories

X_WINS = "a1\na2\nb1\nb2\nc1\n"


def typed(*lines: str) -> str:
    return "".join(line + "\n" for line in lines)


def play(longbox: Longbox, game: str, stdin: str, *words: str) -> Ran:
    ran = longbox("play", game, "--stdin", *words, stdin=stdin)
    assert ran.code == 0, ran.err
    return ran


def said_after(ran: Ran, line: str, count: int = 1) -> list[str]:
    """The lines that follow what was typed."""
    at = ran.lines.index(f"> {line}")
    return ran.lines[at + 1 : at + 1 + count]


def keys(db: Path, name: str) -> list[str]:
    """The answers that are stored."""
    with Histories(db) as histories:
        return [event[4] for event in histories.events(name) if event[0] == "answered"]


# -- people ------------------------------------------------------------------------------------------


def test_a_game_is_played_to_its_end_by_typing(longbox: Longbox) -> None:
    ran = play(longbox, "tic_tac_toe", X_WINS, "--name", "ours")
    assert "X wins" in ran.lines
    assert ran.lines[-1] == "The game is over: X wins. Look back with: longbox log ours"


def test_the_question_is_listed_by_number_and_name(longbox: Longbox) -> None:
    ran = play(longbox, "tic_tac_toe", "")
    at = ran.lines.index("X: choose a blank cell")
    assert ran.lines[at + 1].startswith("  1 a1   2 b1   3 c1   ")
    ran = play(longbox, "leduc", typed(""), "--seed", "3")
    at = ran.lines.index("Player 1: what now?")
    assert ran.lines[at + 1 : at + 3] == ["  1 fold", "  2 call"]


def test_an_answer_is_a_number_a_name_or_the_beginning_of_one(longbox: Longbox, db: Path) -> None:
    play(longbox, "tic_tac_toe", typed("5", "A1", "quit"), "--name", "t")
    assert keys(db, "t") == ["b2", "a1"]
    play(longbox, "leduc", typed("", "c"), "--name", "l", "--seed", "3")
    assert keys(db, "l") == ["call"]


def test_what_is_not_offered_changes_nothing(longbox: Longbox, db: Path) -> None:
    ran = play(longbox, "tic_tac_toe", typed("d9", "0", "10", "a1", "a1"), "--name", "t")
    assert said_after(ran, "d9")[0].startswith("'d9' is not offered; the answers are: a1, b1")
    assert "Nothing has changed" in said_after(ran, "d9")[0]
    assert keys(db, "t") == ["a1"]


def test_what_may_mean_two_answers_is_asked_back(longbox: Longbox, db: Path) -> None:
    ran = play(longbox, "tic_tac_toe", typed("a"), "--name", "t")
    assert said_after(ran, "a") == ["'a' may mean: a1, a2, a3. Say more of it."]
    assert keys(db, "t") == []


def test_the_story_is_told_once(longbox: Longbox) -> None:
    ran = play(longbox, "tic_tac_toe", X_WINS)
    assert ran.lines.count("X marks a1") == ran.lines.count("O marks a2") == 1


def test_the_table_the_log_and_the_cause_are_shown_on_request(longbox: Longbox) -> None:
    ran = play(
        longbox, "tic_tac_toe", typed("table", "log", "why", "b2", "table", "log 1", "why", "why 99", "help")
    )
    assert said_after(ran, "log") == ["Nothing has happened yet."]
    assert "b2: mark X" in ran.lines
    assert said_after(ran, "log 1") == ["    4      b2: mark X"]
    assert any(line.strip().endswith("now c's mark is p") for line in ran.lines)
    assert said_after(ran, "why 99") == ["there is no event '99'; the events are 0 to 5."]
    assert (
        "  undo          take back your last answer, where nobody has learned anything from it" in ran.lines
    )


def test_a_word_to_the_program_may_have_a_stroke_before_it(longbox: Longbox) -> None:
    assert said_after(play(longbox, "tic_tac_toe", typed("/log")), "/log") == ["Nothing has happened yet."]


def test_undo_takes_the_last_answer_back(longbox: Longbox, db: Path) -> None:
    ran = play(longbox, "tic_tac_toe", typed("a1", "undo", "b2"), "--name", "t")
    assert said_after(ran, "undo") == ["Taken back."]
    assert keys(db, "t") == ["b2"]
    assert "X marks b2" in ran.lines


def test_undo_goes_back_past_the_bots(longbox: Longbox, db: Path) -> None:
    play(longbox, "tic_tac_toe", typed("a1", "undo"), "--name", "t", "--bots", "random")
    assert keys(db, "t") == []


def test_what_was_seen_cannot_be_undone(longbox: Longbox, db: Path) -> None:
    """What it was is not said: the one who asks may not know it."""
    ran = play(longbox, "uno", typed("1", "undo"), "--name", "t", "--seed", "3", "--bots", "random")
    assert said_after(ran, "undo") == ["This cannot be undone: somebody has seen something new."]
    assert keys(db, "t")[0] == "yellow one"


def test_where_there_are_secrets_nobody_undoes_the_answer_of_another(longbox: Longbox, db: Path) -> None:
    ran = play(longbox, "leduc", typed("", "call", "", "undo"), "--name", "t", "--seed", "3")
    assert said_after(ran, "undo") == ["another seat has answered since: Player 1 answered last."]
    assert keys(db, "t") == ["call"]


def test_nothing_to_undo_is_said(longbox: Longbox) -> None:
    assert "nothing to undo" in said_after(play(longbox, "tic_tac_toe", typed("undo")), "undo")[0]


# -- hidden hands ------------------------------------------------------------------------------------


def test_the_keyboard_is_passed_on_where_hands_are_hidden(longbox: Longbox) -> None:
    ran = play(longbox, "uno", typed("", "1", "", "quit"), "--seed", "3")
    passed = [line.strip() for line in ran.lines if line.startswith("Pass the keyboard")]
    assert passed == [f"Pass the keyboard to Player {n}, press Enter." for n in (1, 2)]


def test_nobody_hears_what_another_holds(longbox: Longbox) -> None:
    """Until the keyboard is passed on, nothing of the other hand is said, also not by table, log and why."""
    script = typed("", "table", "log", "why", "why 4", "why 5", "quit")
    ran = play(longbox, "uno", script, "--seed", "3", "--name", "u")
    hand = longbox("show", "u", "--as", "Player 2", "--format", "json").data["table"]["zones"]
    others = next(zone["things"] for zone in hand if zone["zone"] == "Player 2's hand")
    own = {"yellow one", "blue four", "green skip", "green two", "blue eight", "green eight", "yellow seven"}
    assert len(others) == 7
    assert not [card for card in set(others) - own if card in ran.out]


def test_a_person_alone_among_bots_keeps_the_keyboard(longbox: Longbox) -> None:
    """What another lays open is told by its name, also in the line before it lies there."""
    ran = play(longbox, "uno", typed("1"), "--seed", "3", "--bots", "random")
    assert "Pass the keyboard" not in ran.out
    at = next(n for n, line in enumerate(ran.lines) if line.startswith("Player 2 plays "))
    card = ran.lines[at].removeprefix("Player 2 plays ").partition(" in ")[0]
    assert ran.lines[at + 1] == f"  {card.capitalize()} moves from Player 2's hand to played"


def test_no_keyboard_is_passed_where_all_is_open(longbox: Longbox) -> None:
    assert "Pass the keyboard" not in play(longbox, "tic_tac_toe", X_WINS).out


# -- later -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["quit", "save and quit", "save", "exit"])
def test_a_game_can_be_left_and_taken_up_again(longbox: Longbox, db: Path, word: str) -> None:
    ran = play(longbox, "tic_tac_toe", typed("a1", word), "--name", "t")
    assert ran.lines[-1] == "Stored as t. Go on with: longbox play t"
    ran = play(longbox, "t", typed("a2", "b1", "b2", "c1"))
    assert "X marks a1" in ran.lines and "X wins" in ran.lines
    assert keys(db, "t") == ["a1", "a2", "b1", "b2", "c1"]


def test_the_end_of_the_input_is_the_same_as_quitting(longbox: Longbox) -> None:
    assert play(longbox, "tic_tac_toe", "", "--name", "t").lines[-1].startswith("Stored as t.")


def test_the_bots_of_a_game_stay_in_their_seats(longbox: Longbox, db: Path) -> None:
    play(longbox, "tic_tac_toe", typed("quit"), "--name", "t", "--bots", "O=first")
    play(longbox, "t", typed("c3"))
    assert keys(db, "t") == ["c3", "a1"]


def test_a_long_story_is_cut_when_a_game_is_taken_up(longbox: Longbox) -> None:
    play(longbox, "uno", typed(*["1"] * 12), "--name", "u", "--seed", "3", "--bots", "random")
    ran = play(longbox, "u", "")
    assert any("lines before this; 'log" in line for line in ran.lines)


def test_a_finished_game_only_says_how_it_ended(longbox: Longbox) -> None:
    play(longbox, "tic_tac_toe", X_WINS, "--name", "t")
    assert play(longbox, "t", "").lines[-1].startswith("The game is over: X wins.")


def test_what_is_for_new_games_is_refused_for_stored_ones(longbox: Longbox) -> None:
    play(longbox, "tic_tac_toe", "", "--name", "t")
    ran = longbox("play", "t", "--seed", "3")
    assert (ran.code, ran.err) == (2, "longbox: t is a stored game: --seed is for new ones\n")


def test_an_answer_that_came_too_late_is_refused_and_the_game_goes_on(
    longbox: Longbox, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program answers while a person thinks."""
    from longbox.plugins.commands import lines

    original = lines.Keyboard.read
    meddled: list[bool] = []

    def read(self: lines.Keyboard, prompt: str) -> str:
        if not meddled:
            meddled.append(True)
            with Histories(db) as histories:
                histories.load("t").answer("b2")
        return original(self, prompt)

    monkeypatch.setattr(lines.Keyboard, "read", read)
    ran = play(longbox, "tic_tac_toe", typed("a1", "a3"), "--name", "t")
    assert said_after(ran, "a1")[0].startswith("another answer was taken first; now waiting for: O")
    assert keys(db, "t") == ["b2", "a3"]


# -- bots alone --------------------------------------------------------------------------------------


def test_without_a_terminal_bots_play_all_seats(longbox: Longbox) -> None:
    ran = longbox("play", "tic_tac_toe", "--seed", "1")
    assert ran.code == 0
    assert ran.lines[0].startswith("X marks ")
    assert ran.lines[-1].startswith("The game is over: ")


@pytest.mark.parametrize("game", ["tic_tac_toe", "uno", "leduc"])
def test_the_same_seed_tells_the_same_story(longbox: Longbox, game: str) -> None:
    one, two = (longbox("play", game, "--auto", "--seed", "5").lines[:-1] for _ in range(2))
    assert one == two


def test_a_game_of_bots_gives_data(longbox: Longbox) -> None:
    data = longbox("play", "leduc", "--auto", "--seed", "1", "--format", "json", "--name", "l").data
    assert (data["id"], data["game"], data["over"]) == ("l", "leduc", True)


def test_a_game_of_bots_that_was_stopped_goes_on_as_it_would_have(longbox: Longbox, db: Path) -> None:
    longbox("play", "tic_tac_toe", "--auto", "--seed", "9", "--name", "whole")
    with Histories(db) as histories:
        histories.fork("whole", 12, "part")
    assert longbox("play", "part", "--auto").code == 0
    assert keys(db, "part") == keys(db, "whole")


# -- wrong use ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["chess"], "there is no game and no stored game 'chess'"),
        (["tic_tac_to"], "did you mean 'tic_tac_toe'?"),
        (["uno", "--seats", "9"], "UNO is for 2 seats, not 9"),
        (["uno", "--seats", "Ann,Ann"], "two seats have the same name"),
        (["uno", "--seats", "Ann,"], "a name is empty"),
        (["uno", "--bots", "Ann=random"], "there is no seat 'Ann'"),
        (["uno", "--bots", "clever"], "there is no bot 'clever'"),
        (["uno", "--set", "x=1"], "UNO has no setting 'x'"),
        (["uno", "--with", "nothing"], "there is no pack 'nothing'"),
        (["uno", "--packs", "nowhere"], "--packs nowhere: there is no such folder"),
        (["uno", "--name", "a/b"], "cannot name a history"),
    ],
)
def test_play_used_wrongly_says_so_in_one_line(longbox: Longbox, words: list[str], what: str) -> None:
    ran = longbox("play", *words)
    assert (ran.code, ran.out) == (2, "")
    assert what in ran.err and ran.err.count("\n") == 1


def test_a_name_that_is_taken_is_refused(longbox: Longbox) -> None:
    longbox("play", "tic_tac_toe", "--auto", "--name", "t")
    ran = longbox("play", "tic_tac_toe", "--name", "t")
    assert (ran.code, "there is a stored game 't' already" in ran.err) == (2, True)


# -- a real terminal ---------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="there are no pseudo-terminals here")
def test_at_a_terminal_people_are_asked(db: Path) -> None:
    import pty

    master, slave = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "longbox.plugins.cli",
        "play",
        "tic_tac_toe",
        "--db",
        str(db),
        "--name",
        "t",
    ]
    process = subprocess.Popen(
        command, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    os.close(slave)
    os.write(master, b"b2\na1\nquit\n")
    out, err = process.communicate(timeout=60)
    os.close(master)
    assert (process.returncode, err) == (0, "")
    assert "X marks b2" in out and "O marks a1" in out
    assert keys(db, "t") == ["b2", "a1"]


# -- looking at the table ----------------------------------------------------------------------------

PEGS = """\
pack pegs "Pegs"
    version 1.0

game "Pegs"
    seats 2
    each seat is a player

words shade: dark, light

kind peg is card
    has worth: number = 0
    has shade: shade?
    has held by: player?
    counter dents
    starts in bag
zone bag, hidden
zone tray, seen by all

cards peg: name, worth, shade, copies  # a table
    | Oak Peg | 2 | dark  | 1
    | Ash Peg | 3 | light | 3

peg "Long Peg"  # told by nobody
    worth 5

    # a note between the lines
    shade dark
peg "Lost Peg" x 2
    worth 9

board "Yard"
    map squares:
        | . . . . . .
        | . . . . . .
        | . . . . . .
    "." is space

setup:
    move Long Peg to tray
    move Oak Peg to tray
    put 2 dents on Oak Peg
    move all pegs in bag where its worth = 3 to tray

round:
    for each player, in turn order:
        turn of player:
            choose a space
            move Oak Peg to space
"""


@pytest.fixture
def pegs(tmp_path: Path) -> list[str]:
    folder = tmp_path / "packs" / "pegs"
    folder.mkdir(parents=True)
    (folder / "rules.box").write_text(PEGS, encoding="utf-8")
    return ["--packs", str(folder.parent), "--seed", "3"]


def answer_to(longbox: Longbox, pegs: list[str], line: str) -> list[str]:
    """All that is said to one line."""
    ran = play(longbox, "pegs", typed(line), *pegs)
    at = ran.lines.index(f"> {line}")
    return ran.lines[at + 1 : ran.lines.index("> ", at)]


LONG_PEG = ["Long Peg: peg", "  worth 5, shade dark", "Long Peg: peg, in tray"]
BARE_PEG = [
    "Long Peg: peg, in tray",
    "  now: shade dark, worth 5",
]  # without rules nobody knows what was printed


@pytest.mark.parametrize(
    "line", ["card Long Peg", "card long", "show card LONG", "show long peg", "/card lon", "show lo  "]
)
def test_a_card_is_shown_with_its_text_and_as_it_is_now(longbox: Longbox, pegs: list[str], line: str) -> None:
    if line.startswith("show lo "):  # two begin so
        assert answer_to(longbox, pegs, line)[0] == "'lo' may mean: Long Peg, Lost Peg."
    else:
        assert answer_to(longbox, pegs, line) == LONG_PEG


def test_a_card_of_a_table_is_shown_with_the_names_of_its_columns(longbox: Longbox, pegs: list[str]) -> None:
    assert answer_to(longbox, pegs, "card oak") == [
        "Oak Peg: peg",
        "  worth 2, shade dark",
        "Oak Peg: peg, in tray",
        "  now: dents 2",
    ]


def test_copies_are_shown_together_or_one_by_its_number(longbox: Longbox, pegs: list[str]) -> None:
    every = answer_to(longbox, pegs, "card ash peg")
    assert every[0] == "Ash Peg: peg, 3 copies"
    assert [line for line in every if "tray" in line] == [
        f"Ash Peg{n}: peg, in tray" for n in ("", " #2", " #3")
    ]
    one = answer_to(longbox, pegs, "card Ash Peg #2")
    assert [line for line in one if "tray" in line] == ["Ash Peg #2: peg, in tray"]


def test_of_a_card_that_is_hidden_only_the_print_is_shown(longbox: Longbox, pegs: list[str]) -> None:
    """Nothing tells whether there is such a copy, or where."""
    shown = answer_to(longbox, pegs, "card lost")
    assert shown == [
        "Lost Peg: peg, 2 copies",
        "  worth 9",
        "None of it is to be seen on the table.",
    ]
    for name in ("Lost Peg #2", "Lost Peg #7"):
        assert answer_to(longbox, pegs, f"show {name}") == shown


def test_what_another_holds_is_only_printed(longbox: Longbox) -> None:
    """Each card of the other hand is shown as one in the deck is."""
    play(longbox, "uno", "", "--seed", "3", "--name", "u", "--bots", "random")
    zones = longbox("show", "u", "--as", "2", "--format", "json").data["table"]["zones"]
    others = next(zone["things"] for zone in zones if zone["zone"] == "Player 2's hand")
    ran = play(longbox, "u", typed(*(f"card {name}" for name in others)))
    assert not [line for line in ran.lines if "in Player 2's hand" in line]
    ran = longbox("show", "u", "--as", "1", "--card", others[0], "--format", "json")
    assert "Player 2's hand" not in ran.out


def test_what_nobody_knows_is_asked_back(longbox: Longbox, pegs: list[str]) -> None:
    assert answer_to(longbox, pegs, "card Long Pge") == LONG_PEG  # nearly right, and nothing else is
    assert answer_to(longbox, pegs, "card Loxx Pgx") == [
        "there is no card or thing 'Loxx Pgx'; did you mean 'Lost Peg'?"
    ]
    assert answer_to(longbox, pegs, "show zzz") == ["there is no zone, card or thing 'zzz'."]
    assert answer_to(longbox, pegs, "card")[0].startswith("card NAME: which one?")
    assert answer_to(longbox, pegs, "card peg") == ["'peg' may mean: Oak Peg, Ash Peg, Long Peg, Lost Peg."]


@pytest.mark.parametrize("line", ["zone tray", "zone tr", "show tray", "show zone TRAY"])
def test_one_zone_is_shown(longbox: Longbox, pegs: list[str], line: str) -> None:
    said = answer_to(longbox, pegs, line)
    assert said[0].startswith("tray: ")
    assert said[1:] == [
        "  Oak Peg: dents 2",
        "  Long Peg: worth 5, shade dark",
        "  3 x Ash Peg: worth 3, shade light",
    ]


def test_a_hidden_zone_is_only_counted(longbox: Longbox, pegs: list[str]) -> None:
    assert answer_to(longbox, pegs, "zone bag") == ["bag: 2"]
    assert answer_to(longbox, pegs, "zone") == ["zone NAME: the zones are bag, tray."]

def test_an_empty_zone_is_ones_own(longbox: Longbox) -> None:
    """Every hero of the box has clues; the one who asks means those of the hero at the table."""
    ran = play(longbox, "hour_of_need", typed("show clues"), "--seed", "3", "--set", "team=Majesty")
    assert said_after(ran, "show clues", 1) == ["Majesty's clues: empty"]


def test_a_bare_name_shows_all_zones_of_that_name(longbox: Longbox) -> None:
    ran = play(longbox, "uno", typed("zone hand"), "--seed", "3", "--bots", "random")
    said = said_after(ran, "zone hand", 2)
    assert said[0].startswith("Player 1's hand: yellow one, ")
    assert said[1] == "Player 2's hand: 7"


@pytest.mark.parametrize("line", ["map", "show map"])
def test_the_map_is_shown_alone(longbox: Longbox, pegs: list[str], line: str) -> None:
    drawn = answer_to(longbox, pegs, line)
    assert drawn[1::2] == ["  |" + "|".join(f"{c}{n}     " for c in "abcdef") + "|" for n in (1, 2, 3)]
    assert said_after(play(longbox, "uno", typed("", line)), line) == ["This game has no map."]


def test_show_alone_is_the_table(longbox: Longbox, pegs: list[str]) -> None:
    assert answer_to(longbox, pegs, "show") == answer_to(longbox, pegs, "table")
    assert answer_to(longbox, pegs, "show table") == answer_to(longbox, pegs, "table")


@pytest.mark.parametrize("line", ["seats", "show seats"])
def test_the_seats_are_shown(longbox: Longbox, line: str) -> None:
    ran = play(longbox, "tic_tac_toe", typed("a1", line), "--bots", "O=first")
    assert said_after(ran, line, 3) == ["X: you, is asked now", "O: a bot (first)", "Now: turn of X"]


def test_many_answers_are_listed_in_rows(longbox: Longbox, pegs: list[str]) -> None:
    ran = play(longbox, "pegs", typed("map off", "answers", "18"), *pegs)
    rows = [line for line in ran.lines if line.startswith("  1 a1    2 b1    3 c1    ")]
    assert rows and all(len(line) <= 100 for line in ran.lines)
    assert "Oak Peg moves from tray to f3" in ran.lines


def test_the_same_again_and_again_is_told_once(longbox: Longbox) -> None:
    ran = play(longbox, "uno", "", "--seed", "3", "--bots", "random")
    assert "7 hidden things move from deck to Player 2's hand" in ran.lines


def test_rules_that_are_stored_with_the_game_give_the_text_too(
    longbox: Longbox, pegs: list[str], tmp_path: Path
) -> None:
    play(longbox, "pegs", "", *pegs, "--embed", "--name", "p")
    play(longbox, "pegs", "", *pegs, "--name", "q")
    (tmp_path / "packs" / "pegs" / "rules.box").unlink()
    ran = play(longbox, "p", typed("card long"))
    assert said_after(ran, "card long", 3) == LONG_PEG
    assert longbox("show", "p", "--card", "long").lines == LONG_PEG
    assert longbox("show", "q", "--card", "long").lines == BARE_PEG  # the text is gone
    ran = longbox("show", "p", "--card", "lnogg beg")
    assert (ran.code, ran.out) == (2, "") and "did you mean 'Long Peg'?" in ran.err


def test_rules_that_have_changed_give_no_text(longbox: Longbox, pegs: list[str], tmp_path: Path) -> None:
    play(longbox, "pegs", "", *pegs, "--name", "q")
    assert longbox("show", "q", "--card", "long", *pegs[:2]).lines == LONG_PEG
    rules = tmp_path / "packs" / "pegs" / "rules.box"
    rules.write_text(PEGS.replace("worth 5", "worth 6"), encoding="utf-8")
    assert longbox("show", "q", "--card", "long", *pegs[:2]).lines == BARE_PEG


def test_the_beginning_of_an_answer_goes_before_a_word_to_the_program() -> None:
    keys = ["show the tray to Bob", "card trick"]
    assert chosen(keys, "show the", several=True) == "show the tray to Bob"
    assert chosen(keys, "card", several=False) is None


# ---------------------------------------------------------------- the README
def test_the_screen_in_the_readme_is_what_one_sees(longbox: Longbox) -> None:
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
    shown = readme[readme.index("-- Round 1: hero turn --") :].split("```")[0]
    lines = typed("done", "d4", "1", "move", "card Royal Warrant")
    ran = play(longbox, "hour_of_need", lines, "--seed", "3", "--set", "team=Majesty")
    seen = ran.lines[ran.lines.index("-- Round 1: hero turn --") :]
    at = 0
    for line in shown.rstrip().split("\n"):  # in that order; what the screen says besides may be left out
        assert line in seen[at:], line
        at = seen.index(line, at) + 1
