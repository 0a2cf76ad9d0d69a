"""A process that plays is killed, again and again: whatever was acknowledged is there, and play goes on."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from longbox.plugins.histories import Decided, Histories
from longbox.plugins.loader import load_game

KILLS = 50
GAMES = ("tic_tac_toe", "uno")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork to start players fast")


def play_on(db: Path, seed: int, acks: int) -> None:
    """In a process of its own: take up what is not over, else start; tell each answer when it is taken."""
    rng = random.Random(seed)
    with Histories(db) as histories:
        while True:
            running = [row.id for row in histories.list() if not row.over]
            session = histories.load(running[0]) if running else histories.start(load_game(rng.choice(GAMES)))
            while not session.over:
                key = rng.choice(session.questions[0].keys)
                session.answer(key)
                os.write(acks, f"{session.id} {session.decisions} {key}\n".encode())


def kill_one(db: Path, seed: int) -> list[str]:
    """Let a player play for a random while and kill it. What it had acknowledged."""
    rng = random.Random(f"kill {seed}")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            play_on(db, seed, writing)
        finally:
            os._exit(1)  # never back into pytest
    os.close(writing)
    with open(reading, "rb") as acks:
        first = [acks.readline() for _ in range(rng.randint(0, 25))]
        time.sleep(rng.random() * 0.004)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        lines = [*first, *acks.read().splitlines(keepends=True)]
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, "the player ended by itself"
    return [line.decode() for line in lines if line.endswith(b"\n")]


def check(db: Path, acknowledged: dict[tuple[str, int], str]) -> None:
    """Every acknowledged answer is stored, and what is stored holds."""
    with Histories(db) as histories:
        for name in {name for name, _ in acknowledged}:
            keys = [entry.body.key for entry in histories.entries(name) if isinstance(entry.body, Decided)]
            mine = {number: key for (game, number), key in acknowledged.items() if game == name}
            assert all(keys[number - 1] == key for number, key in mine.items())
            report = histories.verify(name)
            assert report.ok, report


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    db = tmp_path / "games.db"
    for game in GAMES:
        load_game(game)  # once, for all the players
    total = 0
    for seed in range(KILLS):
        lines = [line.rstrip("\n").split(" ", 2) for line in kill_one(db, seed)]
        total += len(lines)
        check(db, {(name, int(number)): key for name, number, key in lines})
    assert total > 5 * KILLS
    with Histories(db) as histories:
        rows = histories.list()
        assert all(histories.verify(row.id).ok for row in rows)
        assert sum(row.over for row in rows) > 3  # games went on after each kill, to their end
        session = next((histories.load(row.id) for row in rows if not row.over), None)
        while session is not None and not session.over:
            session.answer(session.questions[0].keys[0])
