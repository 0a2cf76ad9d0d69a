"""Simulation: the same plan gives the same summary, over however many processes and forms of a game."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from running import Longbox, Ran

from longbox.kernel import Game
from longbox.plugins.bots import RandomBot, derive
from longbox.plugins.histories import Histories
from longbox.plugins.loader import load_game
from longbox.plugins.simulate import (
    CHUNK_MAX,
    CHUNK_SLOW,
    Form,
    Plan,
    Played,
    Summary,
    chunk_max,
    digest_of,
    interleaved,
    play_all,
    simulate,
    values_of,
)

PLAN = Plan(game="tic_tac_toe", games=60, seed=7, bots=("random", "random"), seats=("X", "O"))


def test_how_many_processes_there_are_changes_nothing() -> None:
    one, two = simulate(PLAN, jobs=1), simulate(PLAN, jobs=2)
    assert one.lines() == two.lines()
    assert one.as_data() == two.as_data()


def test_each_game_depends_on_the_seed_and_its_number_only() -> None:
    whole = [game for chunk in play_all(PLAN, 1) for game in chunk]
    part = [game for chunk in play_all(replace(PLAN, games=10), 1) for game in chunk]
    assert part == whole[:10]
    assert [game.number for game in whole] == list(range(60))


def test_another_seed_gives_other_games() -> None:
    assert simulate(PLAN).digest != simulate(replace(PLAN, seed=8)).digest


def test_a_game_of_a_simulation_can_be_had_again() -> None:
    """From the plan's seeds, with the random bot as the policy."""
    first = next(iter(play_all(replace(PLAN, games=1), 1)))[0]
    game = Game(load_game("tic_tac_toe"), PLAN.game_seed(0), PLAN.seats, start=False)
    game.play(RandomBot(derive(PLAN.bot_seed(0), "random")).policy)
    assert (game.decisions, digest_of(game)) == (first.decisions, first.digest)


def test_wins_draws_and_lengths_add_up() -> None:
    summary = simulate(PLAN)
    assert sum(summary.by_side().values()) + summary.draws + summary.nobody == summary.count == 60
    assert 5 <= summary.decisions.least <= summary.decisions.mean <= summary.decisions.most <= 9


def test_games_are_stored_by_the_processes_that_play_them(tmp_path: Path) -> None:
    db = tmp_path / "games.sqlite"
    summary = simulate(replace(PLAN, games=12, db=str(db), prefix="try"), jobs=2)
    with Histories(db) as histories:
        stored = histories.list()
        assert sorted(game.id for game in stored) == [f"try-{number:06}" for number in range(12)]
        assert sum(game.events for game in stored) == summary.events.total
        assert all(histories.verify(game.id).ok for game in stored)
        assert stored[0].bots == {"X": "random", "O": "random"}


def test_a_game_that_breaks_is_reported_with_its_seed(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "broken.box").write_text(
        'pack broken "Broken"\n    version 1\n\ngame "Broken"\n    seats 1\n\nstate n: number = 0\n\n'
        "round:\n    ask the seat where order of it = 1:\n"
        '        "go":\n            now n is remainder of 1 by n\n'
    )
    plan = Plan(game="broken", games=2, seed=1, bots=("random",), seats=("Seat 1",), folders=(str(tmp_path),))
    summary = simulate(plan)
    assert len(summary.errors) == 2
    assert summary.lines()[-1] == f"    again: {plan.command(1)}"
    assert "division by zero" in summary.lines()[-2]
    assert f"game 1, seed {plan.game_seed(1)}, 1 seat, could not be played" in summary.lines()[-2]
    assert [error["again"] for error in summary.as_data()["errors"]] == [plan.command(0), plan.command(1)]


# -- the command -------------------------------------------------------------------------------------


def without_time(out: str) -> list[str]:
    return [line for line in out.splitlines() if not line.startswith("time:")]


def test_sim_prints_the_same_for_any_number_of_jobs(longbox: Longbox) -> None:
    ran = [longbox("sim", "uno", "--games", "40", "--seed", "3", "--jobs", jobs) for jobs in ("1", "2")]
    assert [one.code for one in ran] == [0, 0]
    assert without_time(ran[0].out) == without_time(ran[1].out)
    assert ran[0].lines[-1].startswith("time:")


def test_sim_gives_data(longbox: Longbox) -> None:
    ran = longbox(
        "sim", "tic_tac_toe", "--games", "20", "--jobs", "1", "--bots", "X=greedy", "--format", "json"
    )
    assert ran.data["bots"] == {"X": "greedy", "O": "random"}
    assert ran.data["wins"]["X"] >= 17
    assert ran.data["time"]["decisions a second"] > 0


def test_sim_stores_what_verify_then_accepts(longbox: Longbox) -> None:
    assert "stored in" in longbox("sim", "leduc", "--games", "5", "--jobs", "1", "--store", "--name", "l").out
    ran = longbox("verify", "--all")
    assert (ran.code, ran.out) == (0, "5 games verified, none with problems\n")
    assert longbox("sim", "leduc", "--games", "5", "--jobs", "1", "--store", "--name", "l").code == 1


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--games", "0"], "at least 1"),
        (["--jobs", "0"], "at least 1"),
        (["--bots", "X=none"], "no place for a person"),
        (["--bots", "Q=random"], "there is no seat 'Q'"),
        (["--seats", "3"], "is for 2 seats"),
        (["--set", "depth"], "NAME=VALUE"),
    ],
)
def test_sim_used_wrongly_says_how(longbox: Longbox, words: list[str], what: str) -> None:
    ran = longbox("sim", "tic_tac_toe", *words)
    assert ran.code == 2
    assert what in ran.err and ran.err.count("\n") == 1


# -- several forms of a game -------------------------------------------------------------------------

TEAM = """pack team "Team"
    version 1.0

game "Team"
    seats 1 to 3
    each seat is a player
    cooperative
    setting hard: truth = no
    setting mood: temper = calm
    setting foe: foe = Ogre
    setting guest: guest
    setting luck: number = 6
    setting guests: set of guest

words temper: calm, wild, odd

kind player
    counter points
kind foe is card
    starts in lair
kind guest is card
    starts in lair
zone lair, seen by all
foe "Ogre"
foe "Imp" x 2
guest "Bard"

state turns: number = 0

round:
    for each player, in turn order:
        ask player:
            "work":
                put 1 points on player
            "break" if mood is odd and foe is Imp:
                now turns is remainder of 1 by (player's points - player's points)
            "idle":
                now turns is turns + 1
    if total points of players >= 3 + number of (players):
        the group wins because "the work is done"
    if hard and turns >= 2:
        the group loses because "{foe's name} came"
    if turns >= 6:
        the group loses
"""


@pytest.fixture
def packs(tmp_path: Path) -> str:
    folder = tmp_path / "packs" / "team"
    folder.mkdir(parents=True)
    (folder / "team.box").write_text(TEAM)
    return str(folder.parent)


def sim(longbox: Longbox, packs: str, *words: str, jobs: str = "1") -> Ran:
    return longbox("sim", "team", "--packs", packs, "--jobs", jobs, *words)


def table_of(ran: Ran, first: str) -> dict[str, list[str]]:
    """A table of the summary: its rows by their first cell; `first` is the head of its first column."""
    at = next(i for i, line in enumerate(ran.lines) if line.split() and line.split()[0] == first)
    rows = [line.split() for line in ran.lines[at + 1 :]]
    end = next((i for i, row in enumerate(rows) if not row or row[0] in ("time:", "game")), len(rows))
    return {row[0]: row[1:] for row in rows[:end]}


def test_every_combination_comes_once_and_every_part_is_even() -> None:
    choices = ["123456", "abcd", "xy", "no"]
    forms = list(interleaved(choices))
    assert sorted(forms) == sorted(product(*choices))
    for count in (12, 13, 30, 50):
        for at, values in enumerate(choices):
            often = Counter(form[at] for form in forms[:count])
            assert max(often.values()) - min(often[value] for value in values) <= 1 + count // 12


def test_settings_vary_by_what_they_can_be(packs: str) -> None:
    program = load_game("team", (), [Path(packs)])
    values = {name: values_of(program, name) for name in program.tables["settings"]}
    assert values == {
        "hard": ["no", "yes"],
        "mood": ["calm", "wild", "odd"],
        "foe": ["Ogre", "Imp"],
        "guest": ["nothing", "Bard"],
        "luck": [],
        "guests": [],
    }


def test_games_go_round_over_numbers_of_seats(longbox: Longbox, packs: str) -> None:
    ran = sim(longbox, packs, "--games", "30", "--seats", "1-3", "--format", "json")
    assert {value: tally["games"] for value, tally in ran.data["by"]["seats"].items()} == {
        "1": 10,
        "2": 10,
        "3": 10,
    }
    listed = sim(longbox, packs, "--games", "30", "--seats", "1,3", "--format", "json")
    assert list(listed.data["by"]["seats"]) == ["1", "3"]
    assert listed.data["forms"] == 2


def test_a_form_has_the_seats_and_settings_that_its_row_says(longbox: Longbox, packs: str) -> None:
    """Seen in the stored games themselves, not in the summary."""
    words = ("--games", "12", "--seats", "2-3", "--vary", "foe,mood", "--bots", "first")
    sim(longbox, packs, *words, "--store", "--name", "t")
    forms = set()
    for number in range(12):
        shown = longbox("show", f"t-{number:06}", "--format", "json").data["table"]
        values = shown["values"]
        forms.add((len(shown["seats"]), values["foe"], values["mood"]))
    assert forms == set(product((2, 3), ("Ogre", "Imp"), ("calm", "wild", "odd")))


def test_all_varies_everything_but_what_is_given(longbox: Longbox, packs: str) -> None:
    every = sim(longbox, packs, "--all", "--games", "10", "--format", "json").data
    assert (every["forms"], list(every["by"])) == (72, ["seats", "hard", "mood", "foe", "guest"])
    some = sim(
        longbox, packs, "--all", "--seats", "2", "--set", "hard=yes", "--games", "4", "--format", "json"
    )
    assert (some.data["forms"], list(some.data["by"])) == (12, ["mood", "foe", "guest"])


def test_the_summary_adds_up_in_every_table(longbox: Longbox, packs: str) -> None:
    data = sim(
        longbox, packs, "--all", "--set", "mood=wild", "--games", "48", "--combinations", "--format", "json"
    ).data
    for tallies in (*data["by"].values(), {str(i): row for i, row in enumerate(data["combinations"])}):
        rows = list(tallies.values())
        assert sum(row["games"] for row in rows) == 48
        assert sum(row["won"] for row in rows) == sum(data["wins"].values())
        assert sum(row["lost"] for row in rows) == data["losses"]
        assert all(row["won"] + row["lost"] + row["drawn"] + row["neither"] == row["games"] for row in rows)
    assert len(data["combinations"]) == 24
    assert all(row["games"] == 2 for row in data["combinations"])
    assert 0 < data["losses"] < 48


def test_forms_are_the_same_for_any_number_of_jobs(longbox: Longbox, packs: str) -> None:
    words = ("--all", "--games", "80", "--combinations")
    one, two = sim(longbox, packs, *words), sim(longbox, packs, *words, jobs="2")
    assert without_time(one.out) == without_time(two.out)


def test_the_text_says_how_each_form_went(longbox: Longbox, packs: str) -> None:
    ran = sim(longbox, packs, "--vary", "hard", "--games", "40", "--combinations")
    data = sim(longbox, packs, "--vary", "hard", "--games", "40", "--format", "json").data
    assert ran.lines[0] == "team: 40 games, seed 0, 2 forms, bots random"
    assert ran.lines[1].startswith(f"  the group wins {40 - data['losses']} (")
    assert ran.lines[2].startswith(f"  the group loses {data['losses']} (")
    for value, row in table_of(ran, "hard").items():
        tally = data["by"]["hard"][value]
        assert (row[0], row[1], row[4]) == (str(tally["games"]), str(tally["won"]), str(tally["lost"]))


def test_reasons_are_counted_where_the_text_gives_them(longbox: Longbox, packs: str) -> None:
    """Lost games of the easy form have no reason, and are said to have none."""
    data = sim(longbox, packs, "--vary", "hard,foe", "--games", "80", "--format", "json").data
    ran = sim(longbox, packs, "--vary", "hard,foe", "--games", "80")
    assert set(data["reasons"]) == {"won", "lost"}
    assert data["reasons"]["won"] == {"the work is done": sum(data["wins"].values())}
    assert set(data["reasons"]["lost"]) == {"Ogre came", "Imp came"}
    assert f"lost because Imp came: {data['reasons']['lost']['Imp came']} (" in ran.out
    unsaid = data["losses"] - sum(data["reasons"]["lost"].values())
    assert unsaid > 0
    assert f"lost because of something unsaid: {unsaid} (" in ran.out


def test_a_game_without_reasons_speaks_of_none(longbox: Longbox) -> None:
    assert "because" not in longbox("sim", "tic_tac_toe", "--games", "5", "--jobs", "1").out


def test_a_broken_game_of_some_form_can_be_had_again(longbox: Longbox, packs: str) -> None:
    """The command that is printed plays it up to the same error."""
    ran = sim(longbox, packs, "--all", "--games", "72", "--seed", "5", "--combinations")
    assert ran.code == 1
    again = next(line.split("again: ")[1] for line in ran.lines if "again: " in line)
    said = next(line for line in ran.lines if "could not be played: " in line)
    assert "mood odd" in said and "foe Imp" in said
    words = shlex.split(again)
    assert words[:3] == ["longbox", "play", "team"]
    replayed = longbox(*words[1:])
    assert replayed.code == 1
    assert "division by zero" in replayed.err
    assert said.split("could not be played: ")[1] in replayed.err
    errors = {value: int(row[-3]) for value, row in table_of(ran, "mood").items()}
    assert errors["calm"] == errors["wild"] == 0 < errors["odd"]


@pytest.mark.parametrize("bots", ["random", "X=greedy,O=random"])
def test_the_command_for_a_game_plays_that_game(longbox: Longbox, bots: str) -> None:
    """Answer by answer as `longbox play` does it, with the same bots and the same draws."""
    names = ("random", "random") if bots == "random" else ("greedy", "random")
    plan = replace(PLAN, games=3, bots=names)
    for chunk in play_all(plan, 1):
        for one in chunk:
            words = shlex.split(plan.command(one.number))
            data = longbox(*words[1:], "--format", "json").data
            assert (data["decisions"], data["events"]) == (one.decisions, one.events)
            assert data["outcome"]["winners"] == list(one.winners)


def test_a_setting_that_is_left_out_is_not_in_the_command() -> None:
    form = Form(("Ann",), ("first",), (("guest", "nothing"), ("hard", "yes")), asked="1")
    assert form.words() == ["--seats", "1", "--bots", "first", "--set", "hard=yes"]


def test_combinations_that_the_game_does_not_know_are_left_out(longbox: Longbox, tmp_path: Path) -> None:
    """The bridge is in the box with the river only."""
    folder = tmp_path / "packs" / "land"
    folder.mkdir(parents=True)
    (folder / "land.box").write_text(
        'pack land "Land"\n    version 1.0\n\ngame "Land"\n    seats 1\n    setting country: country = Hills\n'
        "    setting goal: goal = Peak\n\nkind country is card\nkind goal is card\n"
        'country "Hills"\ncountry "River"\ngoal "Peak"\n\nround:\n    draw game\n'
    )
    (folder / "river.box").write_text('in this file:\n    only with country River\n\ngoal "Bridge"\n')
    ran = longbox("sim", "land", "--packs", str(folder.parent), "--all", "--games", "6", "--jobs", "1")
    assert ran.code == 0, ran.err
    assert "1 combinations are left out" in ran.out
    assert {value: row[0] for value, row in table_of(ran, "goal").items()} == {"Peak": "4", "Bridge": "2"}


def test_more_forms_than_games_are_told(longbox: Longbox, packs: str) -> None:
    assert "60 of 72 forms were not played" in sim(longbox, packs, "--all", "--games", "12").out


def test_games_of_bots_that_think_are_handed_out_few_at_a_time() -> None:
    assert chunk_max(PLAN) == CHUNK_MAX
    assert chunk_max(replace(PLAN, bots=("random", "greedy"))) == CHUNK_SLOW


def test_progress_is_told_chunk_by_chunk() -> None:
    heard: list[int] = []
    simulate(replace(PLAN, games=9, bots=("first", "greedy")), 1, heard.append)
    assert heard == [2, 4, 6, 8, 9]


def test_each_game_is_counted_as_one_thing_only() -> None:
    def one(result: str, winners: tuple[str, ...] = (), **more: object) -> Played:
        return Played(0, result, winners, 1, 1, b"", **more)  # type: ignore[arg-type]  # a test's shorthand

    summary = Summary(PLAN)
    summary.add([one("won", ("X",)), one("lost", is_lost=True), one("drawn"), one("ended")])
    summary.add([one("error", error="no")])
    assert (summary.all.won, summary.all.lost, summary.draws, summary.nobody) == (1, 1, 1, 1)
    assert (summary.count, summary.all.errors, len(summary.errors)) == (5, 1, 1)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--vary", "hard,speed"], "no setting 'speed'; its settings: hard, mood"),
        (["--vary", "luck"], "'luck' has no list of values; give one with --set"),
        (["--vary", "guests"], "'guests' has no list of values"),
        (["--vary", "hard", "--set", "hard=yes"], "'hard' is given by --set already"),
        (["--seats", "2-4"], "is for 1 to 3 seats, not 4"),
        (["--seats", "3-2"], "the first number is greater than the last"),
        (["--seats", "1-2", "--bots", "2=first"], "there is no seat '2'"),
        (["--all", "--set", "foe=Troll"], "no foe is called 'Troll'; there are: Ogre, Imp"),
    ],
)
def test_forms_asked_for_wrongly_say_how(longbox: Longbox, packs: str, words: list[str], what: str) -> None:
    ran = sim(longbox, packs, *words)
    assert ran.code == 2
    assert what in ran.err and ran.err.count("\n") == 1
