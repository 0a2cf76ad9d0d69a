"""People and bots at one question: each acts for what is theirs."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Longbox

BARN = """\
pack barn "Barn"
    version 1.0
game "Barn"
    seats named Ann, Bob
    each seat is a player
kind player is seat
    counter coins
    counter trips, 0 to 2
window work
option "dig", during work, if your trips > 0:
    take 1 trips from you
    put 1 coins on you
option "rest", during work, if your trips > 0:
    take 1 trips from you
round:
    phase day:
        step dawn:
            for each player:
                put 2 trips on player
        step chores:
            offer work to all players, until passed
"""


@pytest.fixture
def barn(tmp_path: Path) -> list[str]:
    folder = tmp_path / "packs" / "barn"
    folder.mkdir(parents=True)
    (folder / "barn.box").write_text(BARN, encoding="utf-8")
    return ["--packs", str(folder.parent), "--seed", "3", "--bots", "Bob=first"]


def say(longbox: Longbox, barn: list[str], *lines: str) -> list[str]:
    ran = longbox("play", "barn", "--stdin", *barn, stdin="".join(f"{line}\n" for line in lines))
    assert ran.code == 0, ran.err
    return ran.lines


def asked(lines: list[str]) -> list[str]:
    """All that stands between the last question and the end."""
    last = max(at for at, line in enumerate(lines) if line.startswith("Ann or Bob: "))
    return lines[last + 1 : -2]


def test_only_what_people_can_do_is_listed(longbox: Longbox, barn: list[str]) -> None:
    assert asked(say(longbox, barn)) == [
        "  1 Ann: dig",
        "  2 Ann: rest",
        "  3 pass",
        "  (Bob is played by a bot: 'bots' lets them act, 'answers all' lists what they can do)",
    ]
    assert "    3 dig   4 rest" in say(longbox, barn, "answers all")


def test_a_bot_acts_when_it_is_told_to(longbox: Longbox, barn: list[str]) -> None:
    lines = say(longbox, barn, "bots", "bots", "bots", "Ann: dig")
    assert lines.count("Bob: dig") == 2
    assert "there is nothing here that a bot could do." in lines
    assert lines.count("Ann: dig") == 1


def test_a_bot_acts_before_somebody_passes_for_it(longbox: Longbox, barn: list[str]) -> None:
    lines = say(longbox, barn, "pass", "pass", "pass")
    assert lines.count("Bob: dig") == 2
    assert lines.index("The group: pass") > lines.index("Bob: dig")
    assert "-- Round 2: day --" in lines


def test_bots_go_on_alone_when_people_have_nothing_to_do(longbox: Longbox, barn: list[str]) -> None:
    lines = say(longbox, barn, "1", "1")
    assert lines.count("Ann: dig") == 2
    assert lines.count("Bob: dig") == 2
    assert "-- Round 2: day --" in lines
