"""Simulation: the same plan gives the same summary, over however many processes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from running import Longbox

from longbox.kernel import Game
from longbox.plugins.bots import RandomBot, derive
from longbox.plugins.histories import Histories
from longbox.plugins.loader import load_game
from longbox.plugins.simulate import Plan, digest_of, play_all, simulate

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
    assert "division by zero" in summary.lines()[-1]
    assert str(plan.game_seed(0)) in "\n".join(summary.lines())


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
