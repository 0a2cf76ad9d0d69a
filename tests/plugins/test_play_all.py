"""Every game in every form, played by bots to its end on the screen: the story of a whole game can be told."""

from __future__ import annotations

import pytest
from running import Longbox

FORMS = [
    ("tic_tac_toe",),
    ("leduc",),
    ("uno",),
    ("hour_of_need", "--seats", "1", "--set", "team=Majesty"),
    ("hour_of_need", "--seats", "3", "--set", "villain=Barnstormer", "--set", "issue=High Water Mark"),
    ("hour_of_need", "--seats", "6", "--set", "issue=Assembly Required"),
    ("heroes_incorporated", "--seats", "2"),
    ("heroes_incorporated", "--seats", "4"),
    ("sentinels",),
    ("sentinels", "--seats", "5", "--set", "advanced=yes"),
    ("sentinels", "--with", "sentinels.two_villains"),
]


@pytest.mark.parametrize("seed", ["1", "2"])
@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_a_whole_game_is_told(longbox: Longbox, form: tuple[str, ...], seed: str) -> None:
    ran = longbox("play", *form, "--auto", "--seed", seed)
    assert ran.code == 0, ran.err
    assert ran.lines[-1].startswith("The game is over: ")


@pytest.mark.parametrize("form", [form for form in FORMS if "--seats" not in form], ids=" ".join)
def test_a_whole_game_is_told_to_one_who_sits_there(longbox: Longbox, form: tuple[str, ...]) -> None:
    """With a person at the first seat: questions, values and headlines as that seat sees them, answer by answer."""
    ran = longbox("play", *form, "--stdin", "--seed", "3", stdin="1\n" * 60)
    assert ran.code == 0, ran.err
