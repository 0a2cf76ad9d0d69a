"""The same histories on a real PostgreSQL server, started for this test where the machine has one."""

from __future__ import annotations

import os
import pwd
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longbox.kernel import Game, StaleAnswer
from longbox.plugins.histories import Histories, HistoryError, Session, StorageProblem, UnknownGame
from longbox.plugins.loader import load_game

PORT = "54329"  # only the name of a socket: the server listens on no network


def server_programs() -> Path:
    """The folder with initdb and pg_ctl."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    pytest.skip("no PostgreSQL server on this machine (initdb, pg_ctl): these tests did not run")


def server_user() -> dict[str, Any]:
    """The server refuses to run as root: run it as somebody else, if we may."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            who = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL does not run as root, and there is no other user: these tests did not run")


def run(command: list[str], log: Path, **as_user: Any) -> None:
    with log.open("ab") as out:
        done = subprocess.run(
            command,
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
            cwd=log.parent,
            timeout=60,
            check=False,
            **as_user,
        )
    if done.returncode:
        pytest.skip(
            f"PostgreSQL did not start, these tests did not run: {log.read_text('utf-8', 'replace')[-500:]}"
        )


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server of our own, in a folder of its own, reached through a socket."""
    pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed: these tests did not run")
    programs, user = server_programs(), server_user()
    folder = Path(tempfile.mkdtemp(prefix="longbox-pg-"))
    if user:
        os.chown(folder, user["user"], user["group"])
    data, log = folder / "data", folder / "log"
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"}
    try:
        run(
            [
                str(programs / "initdb"),
                "-D",
                str(data),
                "-U",
                "longbox",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--no-sync",
            ],
            log,
            env=env,
            **user,
        )
        options = f"-k {folder} -p {PORT} -c listen_addresses="
        start = [
            str(programs / "pg_ctl"),
            "-D",
            str(data),
            "-w",
            "-t",
            "40",
            "-l",
            str(folder / "server"),
            "-o",
            options,
            "start",
        ]
        run(start, log, env=env, **user)
        try:
            yield f"postgresql://longbox@/postgres?host={folder}&port={PORT}"
        finally:
            run(
                [str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop"],
                log,
                env=env,
                **user,
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def histories(url: str) -> Iterator[Histories]:
    with Histories(url) as found:
        yield found


def play(session: Session, seed: int, answers: int = 10_000) -> Session:
    choice = random.Random(seed).choice
    while not session.over and answers:
        answers -= 1
        session.answer(choice(session.questions[0].keys))
    return session


@pytest.mark.parametrize("game", ["tic_tac_toe", "uno"])
def test_a_game_is_stored_and_taken_up(histories: Histories, url: str, game: str) -> None:
    session = play(histories.start(load_game(game), seed=3), seed=3, answers=4)
    with Histories(url) as elsewhere:
        again = elsewhere.load(session.id)
        assert again.game.log == session.game.log
        assert play(again, seed=4).over
    assert histories.verify(session.id).ok
    fork = histories.load(histories.fork(session.id, 12))
    assert play(fork, seed=9).over and histories.verify(fork.id).ok


def test_of_two_answers_to_one_question_one_wins(histories: Histories, url: str) -> None:
    first = histories.start(load_game("tic_tac_toe"), seed=1)
    with Histories(url) as elsewhere:
        second = elsewhere.load(first.id)
        first.answer("a1")
        with pytest.raises(StaleAnswer, match="another answer was taken first"):
            second.answer("b2")
        assert second.game.log == first.game.log
        second.answer("b2")
        second.undo()
    assert histories.verify(first.id).ok


def test_the_bytes_are_those_of_sqlite(histories: Histories, tmp_path: Path) -> None:
    with Histories(tmp_path / "games.db") as files:
        for place in (histories, files):
            play(place.start(load_game("uno"), seed=5, game_id="same"), seed=5)
        assert [row.state for row in histories._rows("same")] == [row.state for row in files._rows("same")]


def test_simulated_games_and_lists(histories: Histories) -> None:
    program = load_game("uno")
    choice = random.Random(1).choice
    games = [
        Game(program, seed=s, start=False).play(lambda question: choice(question.keys)) for s in range(5)
    ]
    names = histories.store_finished(games, batch=2)
    rows = {row.id: row for row in histories.list()}
    for name, game in zip(names, games, strict=True):
        assert histories.events(name) == game.log and histories.verify(name).ok
        assert rows[name].decisions == game.decisions
    with pytest.raises(HistoryError, match="none of this batch"):
        histories.store_finished(games, ids=[*names[1:], "one-more"])
    with pytest.raises(UnknownGame):
        histories.load("one-more")


def test_a_wrong_address_gives_a_clear_error(url: str) -> None:
    with pytest.raises(StorageProblem, match="server cannot be reached"):
        Histories(url.replace(PORT, "54330") + "&connect_timeout=1")
