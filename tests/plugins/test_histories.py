"""Stored games: what is stored comes back exactly, and whatever is done to it is noticed."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longbox.kernel import Game, IllegalAnswer, LongboxError, Program, Question, StaleAnswer, fold_history
from longbox.plugins.histories import (
    CannotUndo,
    ChangedRules,
    CorruptHistory,
    Decided,
    Histories,
    HistoryError,
    Revealed,
    Session,
    Started,
    StorageProblem,
    Undone,
    UnknownGame,
)
from longbox.plugins.histories.bodies import pack_events, read_body, unpack_events, unwrap, wrap
from longbox.plugins.histories.store import Row
from longbox.plugins.loader import load_game, pack_texts, program_from_texts

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).parent / "data"
GAMES = ("tic_tac_toe", "uno")

MORRA = """pack morra "Morra"
    version 1.0

game "Morra"
    seats 2
    each seat is a player

words fist: rock, paper

kind player
    has shown: fist?

round:
    turn of the player where order of it = 1:
        secretly each player:
            choose a fist
            now player's shown is fist
        if no player where its shown is paper:
            draw game
"""


@pytest.fixture(params=["memory", "file"])
def histories(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Histories]:
    with Histories(":memory:" if request.param == "memory" else tmp_path / "games.db") as found:
        yield found


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


def play(session: Session, seed: int, answers: int = 10_000) -> Session:
    """Answer at random, to the end or for a while."""
    choice = random.Random(seed).choice
    for _ in range(answers):
        if session.over:
            break
        question = session.questions[-1]
        session.answer(choice(question.keys), question.seats[0])
    return session


def finished(program: Program, seeds: range) -> Iterator[Game]:
    for seed in seeds:
        yield Game(program, seed=seed, start=False).play(uniform(seed))


def uniform(seed: int) -> Callable[[Question], str]:
    choice = random.Random(seed).choice
    return lambda question: choice(question.keys)


def flip(at: int) -> Callable[[bytes], bytes]:
    """Change one bit of one byte."""
    return lambda s: s[: at % len(s)] + bytes([s[at % len(s)] ^ 1]) + s[at % len(s) + 1 :]


def change(db: Path, name: str, version: int, edit: Callable[[bytes], bytes]) -> None:
    """Change a stored event behind everybody's back."""
    with sqlite3.connect(db) as raw:
        where = "where originator_id=? and originator_version=?"
        (state,) = raw.execute(f"select state from stored_events {where}", (name, version)).fetchone()
        raw.execute(f"update stored_events set state=? {where}", (edit(state), name, version))
    raw.close()


def changed_uno(old: str = "takes 2 cards\n    else", new: str = "takes 3 cards\n    else") -> Program:
    """UNO with another number in its text."""
    texts = pack_texts(load_game("uno"))
    name = next(name for name, text in texts.items() if old in text)
    return program_from_texts(texts | {name: texts[name].replace(old, new, 1)})


# ---------------------------------------------------------------- events, exactly
@pytest.mark.parametrize("game", GAMES)
def test_events_come_back_equal(game: str) -> None:
    for played in finished(load_game(game), range(40)):
        found = unpack_events(pack_events(played.log))
        assert list(found) == played.log
        assert typed(list(found)) == typed(played.log)
        assert fold_history(found).snapshot() == played.state.snapshot()


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from(["[]", "()", "{}", "a", "b"]), inner, max_size=2)
    ),
    max_leaves=12,
)


@given(
    st.lists(
        st.tuples(st.sampled_from(["did", "now", "created"]), st.integers(-1, 9), st.integers(0, 9), values)
    )
)
def test_any_event_comes_back_equal(events: list[tuple[Any, ...]]) -> None:
    assert typed(list(unpack_events(pack_events(events)))) == typed(events)


def typed(value: Any) -> Any:
    """A value in which a list, a tuple, True and 1 all differ."""
    if isinstance(value, list | tuple):
        return type(value).__name__, [typed(v) for v in value]
    if isinstance(value, dict):
        return {key: typed(v) for key, v in value.items()}
    return type(value).__name__, value


def test_what_cannot_be_stored_is_refused() -> None:
    with pytest.raises(HistoryError, match="cannot be stored"):
        pack_events([("now", 0, 0, "x", {1, 2})])
    with pytest.raises(HistoryError, match="keys are not words"):
        pack_events([("now", 0, 0, "x", {1: 2})])


@pytest.mark.parametrize("compress", [False, True])
def test_a_stored_body_is_json_and_its_time_takes_part_in_nothing(compress: bool) -> None:
    plain = b'{"a":1}'
    state, mark = wrap("longbox.x.v1", plain, compress=compress)
    timed, same = wrap("longbox.x.v1", plain, "2024-01-01T00:00:00Z", compress)
    assert mark == same and state != timed
    assert unwrap("longbox.x.v1", timed) == (plain, mark, "2024-01-01T00:00:00Z")
    if not compress:
        assert json.loads(timed) == {"a": 1, "hash": mark, "at": "2024-01-01T00:00:00Z"}
    with pytest.raises(CorruptHistory):
        unwrap("longbox.x.v2", state)


# ---------------------------------------------------------------- playing
@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_taken_up_where_it_stood(histories: Histories, game: str) -> None:
    session = play(histories.start(load_game(game), seed=3), seed=3, answers=5)
    again = histories.load(session.id)
    assert again.game.log == session.game.log == histories.events(session.id)
    assert again.question is not None and session.question is not None
    assert again.question.keys == session.question.keys
    assert play(again, seed=4).over
    assert histories.verify(session.id).ok


def test_stored_events_need_no_rules(histories: Histories) -> None:
    session = play(histories.start(load_game("uno"), seed=8), seed=8)
    assert fold_history(histories.events(session.id)).snapshot() == session.game.state.snapshot()
    assert histories.events(session.id, upto=9) == session.game.log[:10]
    reading = histories.started(session.id).reading
    assert "uno/uno.box" in reading["files"] and reading["verbs"] and reading["values"]


def test_one_stored_event_for_each_decision(histories: Histories) -> None:
    session = play(histories.start(load_game("tic_tac_toe"), seed=1), seed=1)
    first, *decisions, last = histories.entries(session.id)
    assert isinstance(first.body, Started) and isinstance(last.body, Revealed)
    assert len(decisions) == session.decisions
    assert [entry.version for entry in decisions] == list(range(2, session.decisions + 2))
    assert all(entry.topic == "longbox.decided.v2" for entry in decisions)


def test_the_seed_is_not_in_the_history_until_the_end(histories: Histories) -> None:
    session = play(histories.start(load_game("uno"), seed=987654321123), seed=1, answers=4)
    assert not any(b"987654321123" in row.state for row in histories._rows(session.id))
    last = histories.entries(play(session, seed=2).id)[-1].body
    assert isinstance(last, Revealed) and last.seed == "987654321123"


def test_without_a_seed_nobody_can_guess_it(histories: Histories) -> None:
    seeds = {int(histories.start(load_game("uno"))._sealed.seed) for _ in range(3)}
    assert len(seeds) == 3 and max(seeds) > 2**64


def test_an_answer_that_is_not_offered_changes_nothing(histories: Histories) -> None:
    session = histories.start(load_game("tic_tac_toe"), seed=1)
    before = histories.entries(session.id)
    with pytest.raises(IllegalAnswer):
        session.answer("z9")
    with pytest.raises(StaleAnswer, match="not asked"):
        session.answer("a1", "O")
    with pytest.raises(StaleAnswer, match="nobody here is called"):
        session.answer("a1", "Q")
    assert histories.entries(session.id) == before and session.decisions == 0


def test_of_two_answers_to_one_question_one_wins(histories: Histories) -> None:
    first = histories.start(load_game("tic_tac_toe"), seed=1)
    second = histories.load(first.id)
    first.answer("a1")
    with pytest.raises(StaleAnswer, match="another answer was taken first; now waiting for: O"):
        second.answer("b2")
    assert second.game.log == first.game.log
    second.answer("b2")
    assert histories.load(first.id).decisions == 2
    with pytest.raises(StaleAnswer):
        first.undo()
    assert first.decisions == 2 and histories.verify(first.id).ok


def test_answers_that_wait_for_others_are_stored(histories: Histories) -> None:
    program = program_from_texts({"morra/morra.box": MORRA})
    session = histories.start(program, seed=1, embed_text=True)
    assert session.answer("rock", "Player 2") == []
    again = histories.load(session.id)
    assert again.decisions == 1 and len(again.questions) == 1
    assert again.undo("Player 2").key == "rock" and len(again.questions) == 2
    again.answer("paper", "Player 2")
    again.answer("rock", "Player 1")
    assert len(again.questions) == 2 and histories.verify(session.id).ok
    assert play(again, seed=1).over and histories.verify(session.id).ok


def test_seats_settings_and_bots_are_kept(histories: Histories) -> None:
    session = histories.start(
        load_game("uno"), seed=2, seats=["Ann", "Bob"], bots={"Bob": "random"}, game_id="a.b-c_1"
    )
    play(session, seed=2)
    (row,) = histories.list()
    assert (row.id, row.game, row.title, row.seats, row.bots) == (
        "a.b-c_1",
        "uno",
        "UNO",
        ("Ann", "Bob"),
        {"Bob": "random"},
    )
    assert row.over and row.outcome and row.outcome["winners"][0] in row.seats
    assert (row.decisions, row.events) == (session.decisions, len(session.game.log))
    assert histories.load("a.b-c_1").bots == {"Bob": "random"}


def test_names_are_checked(histories: Histories) -> None:
    histories.start(load_game("tic_tac_toe"), game_id="mine")
    with pytest.raises(HistoryError, match="called 'mine' already"):
        histories.start(load_game("tic_tac_toe"), game_id="mine")
    with pytest.raises(HistoryError, match="cannot name a history"):
        histories.start(load_game("tic_tac_toe"), game_id="seal/mine")
    with pytest.raises(UnknownGame, match="did you mean mine"):
        histories.load("mime")
    with pytest.raises(UnknownGame):
        histories.events("seal/mine")


def test_the_environment_has_no_say(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PERSISTENCE_MODULE", "LONGBOX_PERSISTENCE_MODULE"):
        monkeypatch.setenv(name, "eventsourcing.popo")
    monkeypatch.setenv("COMPRESSOR_TOPIC", "zlib")
    with Histories(db) as histories:
        histories.start(load_game("tic_tac_toe"), game_id="here")
    with Histories(db) as histories:
        assert [row.id for row in histories.list()] == ["here"]


@pytest.mark.parametrize(("asked", "level"), [("FULL", 2), ("NORMAL", 1)])
def test_sqlite_writes_as_carefully_as_asked(db: Path, asked: str, level: int) -> None:
    with Histories(db, synchronous=asked) as histories:
        datastore = histories._store._games.factory.datastore  # type: ignore[attr-defined]
        with datastore.get_connection(commit=False) as conn:
            assert conn._sqlite_conn.execute("pragma synchronous").fetchone()[0] == level
            assert conn._sqlite_conn.execute("pragma journal_mode").fetchone()[0] == "wal"
    with pytest.raises(HistoryError, match="synchronous is one of"):
        Histories(db, synchronous="maybe")


# ---------------------------------------------------------------- undo
def test_undo_appends(histories: Histories) -> None:
    session = histories.start(load_game("tic_tac_toe"), seed=1)
    asked, start = list(session.questions[0].keys), list(session.game.log)
    session.answer("a1")
    assert session.undo("X").key == "a1"
    assert session.game.log == start == histories.events(session.id)
    assert list(session.questions[0].keys) == asked
    session.answer("b2")
    kinds = [type(entry.body) for entry in histories.entries(session.id)]
    assert kinds == [Started, Decided, Undone, Decided]
    again = histories.load(session.id)
    assert again.game.log == session.game.log and again.decisions == 1
    assert histories.verify(session.id).ok
    assert histories.list()[0].decisions == 1


def test_undo_goes_back_step_by_step_but_not_past_another_seat(histories: Histories) -> None:
    session = histories.start(load_game("tic_tac_toe"), seed=1)
    with pytest.raises(CannotUndo, match="nothing to undo"):
        session.undo()
    session.answer("a1")
    session.answer("b2")
    with pytest.raises(CannotUndo, match="another seat has answered since: O answered last"):
        session.undo("X")
    session.undo("O")
    session.undo("X")
    assert session.decisions == 0
    play(session, seed=5)
    with pytest.raises(CannotUndo, match="the game is over"):
        session.undo()
    assert histories.verify(session.id).ok


def test_undo_does_not_reach_past_what_was_seen() -> None:
    with Histories() as histories:
        session = histories.start(load_game("uno"), seed=1)
        for seed in range(12):
            play(session, seed, answers=1)
            with pytest.raises(CannotUndo, match=r"has seen|chance was asked|game is over"):
                session.undo()
        assert not any(isinstance(entry.body, Undone) for entry in histories.entries(session.id))


# ---------------------------------------------------------------- forks
def test_a_fork_goes_its_own_way(histories: Histories) -> None:
    session = play(histories.start(load_game("uno"), seed=1), seed=1, answers=10)
    third = [at for at, event in enumerate(session.game.log) if event[0] == "answered"][2]
    new = histories.fork(session.id, third, "other")
    fork = histories.load(new)
    assert new == "other" and fork.decisions == 3
    assert fork.game.log == session.game.log[: len(fork.game.log)]
    assert histories.started(new).parent == (session.id, third)
    assert play(fork, seed=99).over
    assert histories.verify(new).ok and histories.verify(session.id).ok
    assert histories.load(session.id).decisions == 10
    assert histories.load(histories.fork(session.id, third - 1)).decisions == 2
    with pytest.raises(HistoryError, match="has events 0 to"):
        histories.fork(session.id, 100_000)


def test_a_fork_leaves_out_what_was_undone(histories: Histories) -> None:
    session = histories.start(load_game("tic_tac_toe"), seed=1)
    session.answer("a1")
    session.undo()
    session.answer("c3")
    new = histories.fork(session.id, len(session.game.log) - 1)
    assert [type(entry.body) for entry in histories.entries(new)] == [Started, Decided]
    assert histories.load(new).game.log == session.game.log


# ---------------------------------------------------------------- simulated games
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("compress", [False, True])
def test_simulated_games_are_like_any_other(histories: Histories, game: str, compress: bool) -> None:
    program = load_game(game)
    played = list(finished(program, range(6)))
    names = histories.store_finished(iter(played), bots={"X": "random"}, compress=compress, batch=4)
    for name, one, row in zip(names, played, histories.list(), strict=True):
        assert histories.events(name) == one.log
        assert histories.load(name).game.state.snapshot() == one.state.snapshot()
        assert histories.verify(name).ok
        assert (row.id, row.decisions, row.events, row.over) == (name, one.decisions, len(one.log), True)
        assert row.bots == {"X": "random"}
    fork = histories.load(histories.fork(names[0], 12))
    assert play(fork, seed=5).over and histories.verify(fork.id).ok
    whole = histories.fork(names[0], len(played[0].log) - 1)
    assert histories.load(whole).over and histories.verify(whole).ok


def test_a_batch_is_stored_whole_or_not_at_all(db: Path) -> None:
    program = load_game("tic_tac_toe")
    with Histories(db) as histories:
        histories.store_finished(finished(program, range(2)), ids=["a", "b"])
        with pytest.raises(HistoryError, match="none of this batch"):
            histories.store_finished(finished(program, range(2)), ids=["c", "a"])
        assert [row.id for row in histories.list()] == ["a", "b"]
        with pytest.raises(HistoryError, match="only a finished game"):
            histories.store_finished([Game(program)])


# ---------------------------------------------------------------- tampering
def test_one_changed_byte_is_named(db: Path) -> None:
    with Histories(db) as histories:
        session = play(histories.start(load_game("uno"), seed=1, game_id="game"), seed=1)
        length = len(histories.entries("game"))
    rng = random.Random(5)
    for version in sorted({1, 2, length - 1, length, *(rng.randint(1, length) for _ in range(12))}):
        copy = db.with_name(f"copy{version}.db")
        shutil.copy(db, copy)
        change(copy, "game", version, flip(rng.randrange(10_000)))
        with Histories(copy) as histories:
            report = histories.verify("game")
            assert [p.version for p in report.problems][:1] == [version], report
            with pytest.raises(CorruptHistory, match=f"game: stored event {version}:"):
                histories.load("game")
    assert session.over


def test_a_damaged_history_does_not_hide_the_others(db: Path) -> None:
    with Histories(db) as histories:
        for name in ("one", "two", "three"):
            play(histories.start(load_game("tic_tac_toe"), seed=1, game_id=name), seed=1)
    change(db, "one", 1, flip(99))
    change(db, "two", len("abcde"), flip(99))
    with Histories(db) as histories:
        rows = histories.list()
        assert [(row.id, bool(row.problem)) for row in rows] == [
            ("one", True),
            ("two", False),
            ("three", False),
        ]
        assert (
            not histories.verify("one").ok and not histories.verify("two").ok and histories.verify("three").ok
        )


def test_a_changed_simulated_game_is_named(db: Path) -> None:
    with Histories(db) as histories:
        (name,) = histories.store_finished(finished(load_game("uno"), range(1)))
        assert histories.verify(name).ok
    change(db, name, 1, flip(200))
    with Histories(db) as histories:
        assert [p.version for p in histories.verify(name).problems] == [1]


def test_a_rewritten_event_that_hashes_right_breaks_the_chain(db: Path) -> None:
    with Histories(db) as histories:
        play(histories.start(load_game("tic_tac_toe"), seed=1, game_id="game"), seed=1, answers=4)

    def rewrite(state: bytes) -> bytes:
        plain, _, _ = unwrap("longbox.decided.v2", state)
        body = json.loads(plain)
        return wrap("longbox.decided.v2", json.dumps(body | {"key": "c3"}, separators=(",", ":")).encode())[0]

    change(db, "game", 3, rewrite)
    with Histories(db) as histories:
        report = histories.verify("game")
        assert report.problems[0].version == 4 and "chain is broken" in report.problems[0].what
        assert any(p.event is not None for p in report.problems)  # the rules do not agree either


def test_a_missing_event_is_named(db: Path) -> None:
    with Histories(db) as histories:
        play(histories.start(load_game("tic_tac_toe"), seed=1, game_id="game"), seed=1, answers=4)
    with sqlite3.connect(db) as raw:
        raw.execute("delete from stored_events where originator_id='game' and originator_version=3")
    raw.close()
    with Histories(db) as histories:
        assert "number 3 is missing" in str(histories.verify("game"))
        with pytest.raises(CorruptHistory, match="number 3 is missing"):
            histories.load("game")


def test_another_seed_is_noticed(db: Path) -> None:
    with Histories(db) as histories:
        session = histories.start(load_game("uno"), seed=1, game_id="game")

    def reseed(state: bytes) -> bytes:
        plain, _, _ = unwrap("longbox.sealed.v1", state)
        return wrap("longbox.sealed.v1", plain.replace(b'"seed":"1"', b'"seed":"2"'))[0]

    change(db, "seal/game", 1, reseed)
    with Histories(db) as histories:
        assert "not the one that the game was committed to" in str(histories.verify(session.id))


def test_a_text_that_changed_is_named_with_event_and_line(histories: Histories) -> None:
    program = changed_uno()
    session = next(
        s for seed in range(50) if took_two(s := play(histories.start(load_game("uno"), seed=seed), seed))
    )
    report = histories.verify(session.id, program)
    assert "the text of pack uno has changed" in report.problems[0].what
    found = next(p for p in report.problems if p.event is not None)
    assert found.expected is not None and found.actual is not None and found.event is not None
    assert found.expected == session.game.log[found.event]
    line = pack_texts(program)["uno/uno.box"].splitlines()[found.line - 1]
    assert found.file == "uno/uno.box" and "takes 3 cards" in line
    assert f"event {found.event} differs at uno/uno.box:{found.line}" in str(found)


def took_two(session: Session) -> bool:
    """Somebody had to take two cards for a card that was played."""
    return any(e[0] == "did" and "takes" in e[3] and e[-1] == 2 and e[1] > 20 for e in session.game.log)


def test_changed_packs_are_refused_or_recorded(histories: Histories) -> None:
    moved = changed_uno("# UNO for two", "# One more line\n# UNO for two")
    session = play(histories.start(load_game("uno"), seed=6), seed=6, answers=6)
    with pytest.raises(ChangedRules, match="the text of pack uno has changed"):
        histories.load(session.id, moved)
    again = histories.load(session.id, moved, allow_changed=True)
    assert len(histories.entries(session.id)) == 7  # nothing is recorded before somebody answers
    play(again, seed=7)
    assert [e.topic for e in histories.entries(session.id)].count("longbox.repacked.v1") == 1
    assert histories.verify(session.id, moved).ok
    assert histories.load(session.id, moved).over
    other = play(histories.start(load_game("uno"), seed=6), seed=6)
    with pytest.raises(HistoryError, match="does not follow from these rules"):
        histories.load(other.id, changed_uno("move top 7 cards", "move top 6 cards"), allow_changed=True)


def test_embedded_text_is_what_a_history_is_played_with(histories: Histories) -> None:
    session = play(histories.start(changed_uno(), seed=4, embed_text=True), seed=4, answers=8)
    again = histories.load(session.id)
    assert pack_texts(again.program) == pack_texts(changed_uno())
    assert play(again, seed=5).over and histories.verify(session.id).ok


def test_a_history_without_its_rules_can_be_read_but_not_run(histories: Histories) -> None:
    program = program_from_texts({"morra/morra.box": MORRA})
    session = play(histories.start(program, seed=1), seed=1)
    assert histories.events(session.id) == session.game.log
    assert "the rules were not run again: there is no game 'morra'" in str(histories.verify(session.id))


# ---------------------------------------------------------------- old versions
def restore(db: Path, file: Path) -> str:
    """Put stored rows into a database as they are."""
    rows = [
        Row(row["id"], row["version"], row["topic"], row["state"].encode())
        for row in json.loads(file.read_text("utf-8"))
    ]
    with Histories(db) as histories:
        histories._store.save_many(rows)
    return rows[0].originator_id


def test_a_history_of_version_1_is_read_as_if_it_were_new(db: Path) -> None:
    name = restore(db, DATA / "decided_v1.json")
    with Histories(db) as histories:
        entries = histories.entries(name)
        assert [e.topic for e in entries].count("longbox.decided.v1") == 4
        decided = [entry.body for entry in entries[1:]]
        assert [body.key for body in decided if isinstance(body, Decided)] == ["b2", "a1", "c3", "a3"]
        (row,) = histories.list()
        assert (row.decisions, row.over) == (4, False)
        session = histories.load(name)
        assert session.game.log == histories.events(name)
        assert play(session, seed=1).over
        assert histories.entries(name)[5].topic == "longbox.decided.v2"
        assert histories.verify(name).ok


def test_a_body_of_a_newer_longbox_says_so() -> None:
    with pytest.raises(HistoryError, match="stored by a newer Longbox"):
        read_body("longbox.decided.v99", b"{}")
    with pytest.raises(HistoryError, match="stored by a newer Longbox"):
        read_body("longbox.guessed.v1", b"{}")


def test_topics_never_change() -> None:
    from longbox.plugins.histories.bodies import BODIES

    assert sorted(body.topic() for body in BODIES.values()) == [
        "longbox.decided.v2",
        "longbox.played.v1",
        "longbox.repacked.v1",
        "longbox.revealed.v1",
        "longbox.sealed.v1",
        "longbox.started.v1",
        "longbox.undone.v1",
    ]


# ---------------------------------------------------------------- the same bytes everywhere
CHILD = """
import hashlib, random, sqlite3, sys
from longbox.kernel import Game
from longbox.plugins.histories import Histories
from longbox.plugins.loader import load_game
with Histories(sys.argv[1]) as histories:
    for game in ("tic_tac_toe", "uno"):
        session = histories.start(load_game(game, cache=False), seed=11, game_id=game, embed_text=True)
        choice = random.Random(11).choice
        while not session.over:
            session.answer(choice(session.question.keys))
        keys = iter([step.key for step in session._line.steps])
        game_ = Game(session.program, seed=11, start=False).play(lambda question: next(keys))
        histories.store_finished([game_], ids=[game + "-whole"], compress=False)
rows = sqlite3.connect(sys.argv[1]).execute("select * from stored_events order by 1, 2").fetchall()
print(len(rows), hashlib.sha256(repr(rows).encode()).hexdigest())
"""


def stored_bytes(python: str, hash_seed: str, folder: Path) -> str:
    env = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT / ".typing")}
    db = folder / f"{Path(python).name}-{hash_seed}.db"
    done = subprocess.run(
        [python, "-c", CHILD, str(db)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def other_pythons() -> list[str]:
    """Interpreters on the path, or in LONGBOX_PYTHONS, that have what Longbox needs."""
    named = os.environ.get("LONGBOX_PYTHONS", "").split(os.pathsep)
    found = [
        *filter(None, named),
        *filter(None, map(shutil.which, ("python3.11", "python3.12", "python3.13"))),
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT / ".typing")}
    probe = ["-c", "import longbox.plugins.histories"]
    return [
        p
        for p in found
        if subprocess.run([p, *probe], env=env, capture_output=True, check=False).returncode == 0
    ]


def test_histories_are_the_same_bytes_with_any_hash_seed(tmp_path: Path) -> None:
    assert len({stored_bytes(sys.executable, seed, tmp_path) for seed in ("0", "1", "4242")}) == 1


def test_histories_are_the_same_bytes_on_every_python(tmp_path: Path) -> None:
    pythons = other_pythons()
    if not pythons:
        pytest.skip("no other Python with Longbox's dependencies; name some in LONGBOX_PYTHONS")
    found = {
        stored_bytes(python, "7", tmp_path / str(at))
        for at, python in enumerate(pythons)
        if make(tmp_path / str(at))
    }
    assert found == {stored_bytes(sys.executable, "0", tmp_path)}


def make(folder: Path) -> Path:
    folder.mkdir()
    return folder


# ---------------------------------------------------------------- bad disks
def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    for name, content in (
        ("text.db", b"these are not the events you are looking for " * 100),
        ("short.db", b"x"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(StorageProblem, match="not a database or is damaged"):
            Histories(tmp_path / name).list()
        assert (tmp_path / name).read_bytes() == content
    with pytest.raises(StorageProblem):
        Histories(tmp_path)


def test_a_damaged_database_gives_a_clear_error(db: Path) -> None:
    with Histories(db) as histories:
        histories.store_finished(finished(load_game("uno"), range(20)))
    data = bytearray(db.read_bytes())
    data[4096 : len(data) // 2] = b"\xff" * (len(data) // 2 - 4096)
    db.write_bytes(bytes(data))
    with pytest.raises(HistoryError), Histories(db) as histories:
        for row in histories.list():
            histories.events(row.id)


@pytest.fixture
def guarded_folder() -> Iterator[Path]:
    """A folder that cannot be written to, also by who may do anything."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    user = os.geteuid()
    yield folder
    os.seteuid(user)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_read_only_folder_gives_a_clear_error(guarded_folder: Path) -> None:
    load_game("tic_tac_toe")
    guarded_folder.chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(65534)
    with pytest.raises(StorageProblem, match=r"cannot be opened|cannot be written to"):
        Histories(guarded_folder / "games.db")


def test_a_read_only_file_loses_nothing(guarded_folder: Path) -> None:
    program, db = load_game("tic_tac_toe"), guarded_folder / "games.db"
    if os.geteuid() == 0:
        shutil.chown(guarded_folder, 65534, 65534)
        os.seteuid(65534)
    with Histories(db) as histories:
        histories.start(program, seed=1, game_id="game").answer("a1")
    db.chmod(0o444)
    guarded_folder.chmod(0o555)
    with (
        pytest.raises(StorageProblem, match=r"cannot be opened|cannot be written to"),
        Histories(db) as histories,
    ):
        histories.load("game").answer("b2")
    guarded_folder.chmod(0o755)
    db.chmod(0o644)
    with Histories(db) as histories:
        assert histories.load("game").decisions == 1


def fill_up(session: Session) -> int:
    """Answer until the disk is full; how many answers were acknowledged."""
    choice = random.Random(1).choice
    with pytest.raises(StorageProblem, match="disk"):
        while not session.over:
            session.answer(choice(session.questions[0].keys))
    return session.decisions


def check_after_full_disk(histories: Histories, session: Session, acknowledged: int) -> None:
    """All that was acknowledged is there, in memory as well as stored, and the game goes on."""
    assert session.game.log == histories.events(session.id)
    assert session.decisions == acknowledged == histories.load(session.id).decisions
    assert play(session, seed=2).over
    assert histories.verify(session.id).ok


def test_a_full_disk_loses_nothing(db: Path) -> None:
    with Histories(db) as histories:
        session = histories.start(load_game("uno"), seed=31)
        datastore = histories._store._games.factory.datastore  # type: ignore[attr-defined]
        with datastore.get_connection(commit=True) as conn:
            pages = conn._sqlite_conn.execute("pragma page_count").fetchone()[0]
            conn._sqlite_conn.execute(f"pragma max_page_count={pages + 1}")
        acknowledged = fill_up(session)
        with datastore.get_connection(commit=True) as conn:
            conn._sqlite_conn.execute("pragma max_page_count=1000000")
        check_after_full_disk(histories, session, acknowledged)


def test_a_file_that_may_not_grow_loses_nothing(db: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Histories(db) as histories:
        session = histories.start(load_game("uno"), seed=31)
        largest = max(f.stat().st_size for f in db.parent.iterdir())
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 20_000, hard))
            acknowledged = fill_up(session)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        check_after_full_disk(histories, session, acknowledged)


def test_a_locked_database_says_so_and_takes_the_answer_later(db: Path) -> None:
    with Histories(db, lock_timeout=1) as histories:
        session = histories.start(load_game("tic_tac_toe"), seed=1)
        other = sqlite3.connect(db, isolation_level=None)
        other.execute("begin immediate")
        with pytest.raises(StorageProblem, match="another program is writing to it"):
            session.answer("a1")
        assert session.decisions == 0 and session.question is not None and "a1" in session.question
        other.execute("rollback")
        other.close()
        session.answer("a1")
        assert histories.load(session.id).decisions == 1


def test_a_server_that_is_not_there_gives_a_clear_error() -> None:
    with pytest.raises(StorageProblem, match=r"postgres|server cannot be reached") as caught:
        Histories("postgresql://ann:secret@127.0.0.1:9/games?connect_timeout=1").list()
    assert "secret" not in str(caught.value)


def test_every_error_is_one_of_ours() -> None:
    for error in (UnknownGame, CorruptHistory, StorageProblem, ChangedRules, CannotUndo):
        assert issubclass(error, HistoryError) and issubclass(error, LongboxError)


# ---------------------------------------------------------------- how the old history was made
def write_version_1(file: Path) -> None:
    """Run this module to write data/decided_v1.json anew.

    That is for the time before a release, when events may still change. Afterwards a failing old history asks
    for an upcaster, not for a new file.
    """
    with Histories() as histories:
        session = histories.start(load_game("tic_tac_toe"), seed=1, game_id="old", embed_text=True)
        for key in ("b2", "a1", "c3", "a3"):
            session.answer(key)
        out, head = [], ""
        for row in [*histories._rows("old"), *histories._store.rows("seal/old")]:
            plain, topic = unwrap(row.topic, row.state)[0], row.topic
            if topic == "longbox.decided.v2":
                new = json.loads(plain)
                old = {"who": [new["seat"]], "choice": new["key"], "facts": new["facts"], "prev": head}
                plain, topic = json.dumps(old, separators=(",", ":")).encode(), "longbox.decided.v1"
            state, head = wrap(topic, plain)
            out.append(
                {
                    "id": row.originator_id,
                    "version": row.originator_version,
                    "topic": topic,
                    "state": state.decode(),
                }
            )
    file.write_text(json.dumps(out, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    write_version_1(DATA / "decided_v1.json")
