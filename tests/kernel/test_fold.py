"""The fold is whole: every event is applied, documented, told, and shown to seats without its secrets."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from playing import GAMES, played, program

from longbox.dsl import nodes
from longbox.dsl.resolve import Resolver
from longbox.kernel.fold import APPLY, FIELDS
from longbox.kernel.text import Names, render_event
from longbox.kernel.views import seen_log

KERNEL = Path(__file__).resolve().parents[2] / "kernel"


def test_every_event_that_is_recorded_can_be_applied_and_is_documented() -> None:
    recorded = set()
    for file in KERNEL.glob("*.py"):
        recorded |= set(
            re.findall(r'\(\s*"([a-z]+)",\s*(?:-1|c|here|cause|root\[0\]),\s', file.read_text("utf-8"))
        )
    recorded |= {"did", "answered", "stepped", "opened"}
    assert recorded <= set(APPLY)
    assert set(FIELDS) == set(APPLY)


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_an_event_says_what_its_documentation_says(name: str) -> None:
    parameters = list(inspect.signature(APPLY[name]).parameters)[1:]
    assert len(parameters) == len(FIELDS[name])


@pytest.mark.parametrize("game", GAMES)
def test_every_event_can_be_told_to_the_referee_and_to_seats(game: str) -> None:
    made = played(game, 2)
    names = Names.of(made.state, program(game).tables)
    for seat in (None, *made.seats):
        for event in seen_log(made.log, seat, program(game).tables):
            assert render_event(names, event)


def test_every_statement_of_the_language_is_resolved() -> None:
    """Statements are dispatched by the name of their class: none may be forgotten."""
    for statement in nodes.Stmt.__args__:
        assert hasattr(Resolver, "_s_" + statement.__name__.lower()), statement
