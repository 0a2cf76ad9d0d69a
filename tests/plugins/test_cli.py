"""The command line: every command does what its help says, and every mistake gets one clear line."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from running import Longbox

from longbox.plugins import builtin, cli
from longbox.plugins.histories import Histories

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = sorted(builtin.COMMANDS)
BOX = """\
pack counting "Counting"
    version 1.0

game "Counting"
    seats 1

state total: number = 0

verb (s: seat) adds (n: number):
    now total is total + n
    if total >= 4:
        s wins

round:
    for each seat, in turn order:
        ask seat:
            "more":
                seat adds 2
"""


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    """A folder with a small game, to be spoilt."""
    folder = tmp_path / "packs" / "counting"
    folder.mkdir(parents=True)
    (folder / "counting.box").write_text(BOX)
    return folder.parent


def subprocess_longbox(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "longbox.plugins.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)  # type: ignore[call-overload, no-any-return]


# -- the whole ---------------------------------------------------------------------------------------


def test_help_lists_every_command(longbox: Longbox) -> None:
    ran = longbox("--help")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.lines if line.startswith("  ")] == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(longbox: Longbox, name: str) -> None:
    for words in ((name, "--help"), ("help", name)):
        ran = longbox(*words)
        assert (ran.code, ran.err) == (0, "")
        assert f"examples:\n  longbox {name}" in ran.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_stands_in_the_documentation(longbox: Longbox, name: str) -> None:
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    part = page.partition(f"## longbox {name}\n")[2].partition("\n## ")[0]
    options = set(re.findall(r"(?m)^  (--[a-z-]+)", longbox(name, "--help").out)) - {"--help"}
    common = set(
        re.findall(
            r"`(--[a-z-]+)", page.partition("## Options that many commands share")[2].partition("\n## ")[0]
        )
    )
    assert part, f"docs/commands.md says nothing about {name}"
    assert sorted(options - common - set(re.findall(r"`(--[a-z-]+)", part))) == []


def test_nothing_to_do_is_wrong_use(longbox: Longbox) -> None:
    assert longbox().code == 2


def test_an_unknown_command_is_guessed(longbox: Longbox) -> None:
    ran = longbox("plya")
    assert (ran.code, ran.err) == (2, "longbox: there is no command 'plya'; did you mean 'play'?\n")


def test_the_version_is_told(longbox: Longbox) -> None:
    assert re.fullmatch(r"longbox \d+\.\d+\S*\n", longbox("--version").out)


@pytest.mark.parametrize(
    ("words", "code"),
    [(["games"], 0), (["log", "nothing"], 2), (["play"], 2), (["games", "--nonsense"], 2), (["nonsense"], 2)],
)
def test_the_exit_code_reaches_the_shell(words: list[str], code: int, db: Path) -> None:
    assert subprocess_longbox(*words, env={**os.environ, "LONGBOX_DB": str(db)}).returncode == code


def test_an_error_of_ours_is_one_line_too(longbox: Longbox, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(words: list[str]) -> int:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(cli, "dispatch", broken)
    ran = longbox("games")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert ran.err.startswith("longbox: an error in Longbox itself: ZeroDivisionError: oh")


def test_a_command_that_cannot_be_imported_does_not_hide_the_others(
    longbox: Longbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(builtin.COMMANDS, "broken", "longbox.plugins.commands.not_there")
    ran = longbox("--help")
    assert ran.code == 0
    assert "  broken   (cannot be loaded" in ran.out and "  play " in ran.out


@pytest.mark.skipif(os.name != "posix", reason="needs a pipe that breaks")
def test_whoever_reads_only_the_beginning_gets_no_complaint(longbox: Longbox, db: Path) -> None:
    longbox("sim", "uno", "--games", "1", "--jobs", "1", "--store", "--name", "u")
    log = f"{sys.executable} -m longbox.plugins.cli log u-000000 --all --db {db}"
    command = f"{log} | head -n 1; exit ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr, len(ran.stdout.splitlines())) == (0, "", 1)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_stops_quietly_and_loses_nothing(db: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "longbox.plugins.cli",
        "play",
        "uno",
        "--auto",
        "--bots",
        "greedy",
        "--seed",
        "4",  # a long game, so that the signal comes in the middle of it
        "--db",
        str(db),
    ]
    process = subprocess.Popen(
        [*command, "--name", "u"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert any("plays" in line for line in process.stdout)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert "Traceback" not in err
    assert "longbox play u" in out or "longbox log u" in out
    with Histories(db) as histories:
        assert histories.verify("u").ok


# -- games, new --------------------------------------------------------------------------------------


def test_games_lists_what_is_here(longbox: Longbox, packs: Path) -> None:
    ran = longbox("games", "--packs", str(packs))
    assert ran.code == 0
    assert {"counting", "leduc", "tic_tac_toe", "uno"} <= {line.split()[0] for line in ran.lines}
    data = longbox("games", "--format", "json").data
    assert {pack["id"] for pack in data["packs"] if pack["game"]} >= {"leduc", "tic_tac_toe", "uno"}


def test_games_reports_packs_that_are_in_conflict(longbox: Longbox, packs: Path) -> None:
    (packs / "other").mkdir()
    (packs / "other" / "other.box").write_text(BOX)
    ran = longbox("games", "--packs", str(packs))
    assert ran.code == 1
    assert "LB0403" in ran.err and "counting.box" in ran.err and "other.box" in ran.err


@pytest.mark.parametrize(
    "words", [["sticks"], ["my_cards", "--for", "uno"], ["more", "--game", "tic_tac_toe"], ["my.own"]]
)
def test_a_new_pack_checks_is_formatted_and_can_be_played(
    longbox: Longbox, tmp_path: Path, words: list[str]
) -> None:
    assert longbox("new", *words, "--in", str(tmp_path)).code == 0
    folder = tmp_path / words[0]
    assert longbox("check", str(folder)).out == "1 pack read: no problems, no warnings\n"
    assert longbox("fmt", "--check", str(folder)).code == 0
    game = (words[2:] and [words[2], "--with", words[0]]) or [words[0]]
    assert longbox("play", *game, "--packs", str(tmp_path), "--auto", "--seed", "1").code == 0


@pytest.mark.parametrize("words", [["sticks"], ["my_cards", "--for", "uno"], ["mine", "--for", "hour_of_need"]])
def test_the_scene_of_a_new_pack_passes(longbox: Longbox, tmp_path: Path, words: list[str]) -> None:
    longbox("new", *words, "--in", str(tmp_path))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", words[0]]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 passed" in ran.stdout


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["Bad Name"], "cannot be the id"),
        (["uno", "--for", "unno"], "did you mean 'uno'?"),
        (["../up"], "cannot be the id"),
    ],
)
def test_new_refuses_what_cannot_be_a_pack(
    longbox: Longbox, tmp_path: Path, words: list[str], what: str
) -> None:
    ran = longbox("new", *words, "--in", str(tmp_path))
    assert (ran.code, what in ran.err) == (2, True)


def test_new_overwrites_nothing(longbox: Longbox, tmp_path: Path) -> None:
    longbox("new", "sticks", "--in", str(tmp_path))
    ran = longbox("new", "sticks", "--in", str(tmp_path))
    assert (ran.code, "this exists already" in ran.err) == (2, True)


# -- check, fmt --------------------------------------------------------------------------------------


def test_check_finds_nothing_wrong_with_our_games(longbox: Longbox) -> None:
    assert longbox("check", str(ROOT / "expansions")).code == 0


def test_check_shows_problems_with_their_lines(longbox: Longbox, packs: Path) -> None:
    file = packs / "counting" / "counting.box"
    file.write_text(BOX.replace("seat adds 2", "seat ads 2"))
    ran = longbox("check", str(file))
    assert ran.code == 1
    assert (
        "counting.box:18:" in ran.out
        and "seat ads 2" in ran.out
        and ran.out.endswith("1 problem, 1 warning\n")
    )
    problem = longbox("check", str(file), "--format", "json").data["problems"]
    assert any(p["line"] == 18 and p["code"].startswith("LB02") for p in problem)


@pytest.mark.parametrize("command", ["check", "fmt"])
def test_a_path_that_is_not_there_is_wrong_use(longbox: Longbox, command: str) -> None:
    assert longbox(command, "nowhere.box").code == 2


def test_a_text_with_problems_is_not_played(longbox: Longbox, packs: Path) -> None:
    (packs / "counting" / "counting.box").write_text(BOX.replace("seat adds 2", "seat ads 2"))
    ran = longbox("play", "counting", "--packs", str(packs))
    assert (ran.code, ran.out) == (1, "")
    assert "LB02" in ran.err and "Traceback" not in ran.err


UGLY = BOX.replace("state total: number = 0", "state   total:number=0")


def test_fmt_writes_the_one_format(longbox: Longbox, packs: Path) -> None:
    file = packs / "counting" / "counting.box"
    file.write_text(UGLY)
    assert longbox("fmt", str(packs)).code == 0
    assert file.read_text() == BOX
    assert longbox("fmt", str(packs)).out == ""


def test_fmt_check_and_diff_change_nothing(longbox: Longbox, packs: Path) -> None:
    file = packs / "counting" / "counting.box"
    file.write_text(UGLY)
    assert longbox("fmt", "--check", str(file)).code == 1
    ran = longbox("fmt", "--diff", str(file))
    assert "-state   total:number=0" in ran.lines and "+state total: number = 0" in ran.lines
    assert file.read_text() == UGLY


def test_fmt_takes_standard_input(longbox: Longbox) -> None:
    ran = longbox("fmt", "-", stdin=UGLY)
    assert (ran.code, ran.out) == (0, BOX)


def test_fmt_leaves_a_text_that_it_cannot_read(longbox: Longbox, packs: Path) -> None:
    file = packs / "counting" / "counting.box"
    file.write_text(BOX + 'verb "\n')
    ran = longbox("fmt", str(file))
    assert ran.code == 1
    assert "counting.box:" in ran.err and file.read_text().endswith('verb "\n')


# -- looking back ------------------------------------------------------------------------------------


@pytest.fixture
def stored(longbox: Longbox) -> str:
    """A finished game of tic-tac-toe."""
    longbox("play", "tic_tac_toe", "--stdin", "--name", "t", "--seed", "1", stdin="a1\na2\nb1\nb2\nc1\n")
    return "t"


def test_list_shows_the_stored_games(longbox: Longbox, stored: str) -> None:
    assert longbox("list").out.startswith("t  Tic-tac-toe: X, O; 5 decisions, ")
    assert longbox("list", "--format", "json").data[0]["outcome"]["winners"] == ["X"]


def test_log_tells_the_story(longbox: Longbox, stored: str) -> None:
    ran = longbox("log", stored)
    assert ran.lines[:2] == ["    2  X: a1", "    3    X marks a1"]
    assert ran.lines[-1].strip().endswith("X wins")
    assert len(longbox("log", stored, "--all").lines) > len(ran.lines)
    assert longbox("log", stored, "--last", "1").lines == ran.lines[-1:]


def test_log_as_a_seat_hides_what_it_may_not_see(longbox: Longbox) -> None:
    longbox("play", "leduc", "--auto", "--seed", "1", "--name", "l")
    ran = longbox("log", "l", "--as", "1", "--all")
    assert "a hidden thing moves from deck to Player 2's hand" in ran.out
    data = longbox("log", "l", "--as", "Player 1", "--format", "json").data
    assert not {"cause", "file", "values"} & set().union(*data["events"])


def test_show_gives_the_table_at_any_event(longbox: Longbox, stored: str) -> None:
    assert "a2: mark O" in longbox("show", stored).lines
    ran = longbox("show", stored, "--at", "4")
    assert ran.lines[0] == "Tic-tac-toe (t) after event 4 of 21"
    assert ran.lines[2:7:2] == [
        "  |a1 X   |b1     |c1     |",
        *(f"  |a{n}     |b{n}     |c{n}     |" for n in (2, 3)),
    ]
    assert ran.lines[8:] == ["a1: mark X"]
    data = longbox("show", stored, "--at", "4", "--as", "O", "--format", "json").data
    assert (data["event"], data["table"]["seat"]) == (4, "O")


def test_log_and_show_need_no_rules(longbox: Longbox, packs: Path) -> None:
    longbox("play", "counting", "--packs", str(packs), "--auto", "--name", "c")
    (packs / "counting" / "counting.box").unlink()
    assert any("Seat 1 adds 2" in line for line in longbox("log", "c").lines)
    assert "total: 4" in longbox("show", "c").lines
    ran = longbox("why", "c", "4")
    assert ran.code == 0
    assert "counting/counting.box:10" in ran.out and "not shown" in ran.lines[-1]


def test_why_leads_to_the_lines_of_the_rules(longbox: Longbox, packs: Path) -> None:
    longbox("play", "counting", "--packs", str(packs), "--auto", "--name", "c")
    ran = longbox("why", "c", "4", "--packs", str(packs))
    assert [line.split(":")[-1].strip() for line in ran.lines if "counting.box" in line][:2] == [
        "now total is total + n",
        "seat adds 2",
    ]
    data = longbox("why", "c", "4", "--packs", str(packs), "--format", "json").data
    assert [cause["name"] for cause in data] == ["now", "did", "answered", "stepped"]
    assert data[0]["rule"] == "now total is total + n"


def test_a_text_that_has_changed_is_not_shown_as_the_reason(longbox: Longbox, packs: Path) -> None:
    longbox("play", "counting", "--packs", str(packs), "--auto", "--name", "c")
    (packs / "counting" / "counting.box").write_text("\n" + BOX)
    assert "not shown" in longbox("why", "c", "4", "--packs", str(packs)).lines[-1]


def test_embedded_rules_go_with_the_game(longbox: Longbox, packs: Path) -> None:
    longbox("play", "counting", "--packs", str(packs), "--auto", "--name", "c", "--embed")
    (packs / "counting" / "counting.box").unlink()
    assert longbox("verify", "c").code == 0
    assert "now total is total + n" in longbox("why", "c", "4").out


@pytest.mark.parametrize(
    "words", [["why", "t", "99"], ["why", "t", "x"], ["show", "t", "--at", "-1"], ["fork", "t", "--at", "99"]]
)
def test_an_event_that_is_not_there_is_wrong_use(longbox: Longbox, stored: str, words: list[str]) -> None:
    ran = longbox(*words)
    assert ran.code == 2
    assert "0 to 21" in ran.err or "expected" in ran.err


@pytest.mark.parametrize(
    "words",
    [["log", "tt"], ["show", "tt"], ["why", "tt", "1"], ["verify", "tt"], ["fork", "tt", "--at", "1"]],
)
def test_an_unknown_game_is_wrong_use(longbox: Longbox, stored: str, words: list[str]) -> None:
    ran = longbox(*words)
    assert ran.code == 2
    assert "there is no history called 'tt'" in ran.err and ran.err.count("\n") == 1


def test_an_unknown_seat_is_wrong_use(longbox: Longbox, stored: str) -> None:
    ran = longbox("log", stored, "--as", "Z")
    assert (ran.code, ran.err) == (2, "longbox: there is no seat 'Z'; the seats are: X, O\n")


def test_a_fork_goes_its_own_way(longbox: Longbox, stored: str) -> None:
    assert longbox("fork", stored, "--at", "8", "--name", "f").code == 0
    ran = longbox("play", "f", "--stdin", stdin="c3\n")
    assert "X marks c3" in ran.lines
    assert longbox("verify", "--all").code == 0
    assert "forked from t at event 8" in longbox("list").out
    assert longbox("fork", stored, "--at", "8", "--name", "f").code == 2


# -- verify ------------------------------------------------------------------------------------------


def test_verify_accepts_what_was_played(longbox: Longbox, stored: str) -> None:
    ran = longbox("verify", stored)
    assert ran.code == 0
    assert "5 decisions, 22 events, all as the rules say" in ran.out
    assert longbox("verify", stored, "--format", "json").data[0]["ok"] is True


def test_verify_names_a_changed_byte(longbox: Longbox, stored: str, db: Path) -> None:
    with sqlite3.connect(db) as file:
        table = next(
            name
            for (name,) in file.execute("select name from sqlite_master where type = 'table'")
            if "event" in name
        )
        [(state,)] = file.execute(
            f"select state from {table} where originator_id = 't' and originator_version = 3"
        )
        changed = bytes(state).replace(b"a2", b"a3", 1)
        assert changed != state
        file.execute(
            f"update {table} set state = ? where originator_id = 't' and originator_version = 3", (changed,)
        )
    file.close()
    ran = longbox("verify", stored)
    assert ran.code == 1
    assert "stored event 3" in ran.out and "its content was changed" in ran.out
    assert longbox("log", stored).code == 1


def test_verify_names_the_line_of_a_changed_rule(longbox: Longbox, packs: Path) -> None:
    longbox("play", "counting", "--packs", str(packs), "--auto", "--name", "c")
    (packs / "counting" / "counting.box").write_text(BOX.replace("seat adds 2", "seat adds 3"))
    ran = longbox("verify", "c", "--packs", str(packs))
    assert ran.code == 1
    assert "event 3 differs at counting/counting.box:18" in ran.out
    assert "stored:       Seat 1 adds 2" in ran.out and "by the rules: Seat 1 adds 3" in ran.out
    assert "counting/counting.box:18: seat adds 3" in ran.out
    problem = longbox("verify", "c", "--packs", str(packs), "--format", "json").data[0]["problems"][-1]
    assert (problem["event"], problem["line"]) == (3, 18)


def test_a_game_goes_on_with_changed_rules_only_if_that_is_said(longbox: Longbox, packs: Path) -> None:
    words = ["--packs", str(packs), "--stdin"]
    longbox("play", "counting", *words, "--name", "c", stdin="more\nquit\n")
    (packs / "counting" / "counting.box").write_text(BOX.replace("total >= 4", "total >= 6"))
    refused = longbox("play", "c", *words)
    assert refused.code == 1
    assert "--allow-changed" in refused.err and refused.err.count("\n") == 1
    assert "Seat 1 wins" in longbox("play", "c", *words, "--allow-changed", stdin="more\nmore\n").lines


def test_verify_wants_names_or_all(longbox: Longbox, stored: str) -> None:
    assert longbox("verify").code == 2
    assert longbox("verify", stored, "--all").code == 2


def test_a_stored_game_whose_packs_are_not_here_says_what_to_do(longbox: Longbox, packs: Path) -> None:
    longbox("play", "counting", "--packs", str(packs), "--stdin", "--name", "c")
    ran = longbox("play", "c", "--stdin")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "its rules are not here: there is no game 'counting'" in ran.err and "--packs" in ran.err


# -- progress ----------------------------------------------------------------------------------------


def test_progress_is_one_line_on_a_terminal_and_nothing_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from longbox.plugins.commands.progress import Progress

    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal, raising=False)
        progress = Progress(4, "games")
        progress.tell(4)
        progress.done()
        said = capsys.readouterr().err
        assert ("4 of 4 games" in said) is terminal and "\n" not in said


# -- files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [["list"], ["log", "t"], ["verify", "--all"], ["play", "uno", "--auto"], ["play", "t"]]
)
def test_a_file_that_is_no_database_is_said_to_be_none(longbox: Longbox, db: Path, words: list[str]) -> None:
    db.write_bytes(b"this is not a database, and long enough to be looked at" * 40)
    ran = longbox(*words)
    assert ran.code == 1
    assert "is not a database or is damaged" in ran.err and ran.err.count("\n") == 1


@pytest.mark.parametrize(
    "words", [["list"], ["log", "t"], ["show", "t"], ["verify", "--all"], ["fork", "t", "--at", "1"]]
)
def test_looking_at_games_makes_no_database(longbox: Longbox, db: Path, words: list[str]) -> None:
    ran = longbox(*words)
    assert (ran.code, db.exists()) == (2, False)
    assert "no game is stored there" in ran.err


def test_the_database_is_named_by_option_then_environment_then_the_data_folder(
    longbox: Longbox, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    longbox("play", "tic_tac_toe", "--auto", "--db", str(tmp_path / "other.sqlite"))
    assert (tmp_path / "other.sqlite").exists() and not db.exists()
    longbox("play", "tic_tac_toe", "--auto")
    assert db.exists()
    monkeypatch.delenv("LONGBOX_DB")
    monkeypatch.setattr("platformdirs.user_data_dir", lambda *a, **k: str(tmp_path / "data"))
    longbox("play", "tic_tac_toe", "--auto")
    assert (tmp_path / "data" / "games.sqlite").exists()


def is_writable_anyway(folder: Path) -> bool:
    """An administrator may write where nobody may."""
    return os.access(folder, os.W_OK)


def test_a_folder_that_cannot_be_written_to_is_named(longbox: Longbox, tmp_path: Path) -> None:
    folder = tmp_path / "fixed"
    folder.mkdir()
    folder.chmod(0o555)
    blocked = folder / "games.sqlite"
    if is_writable_anyway(folder):
        (tmp_path / "file").write_text("")  # a file where a folder should be cannot be written to by anybody
        blocked = tmp_path / "file" / "games.sqlite"
    ran = longbox("play", "tic_tac_toe", "--auto", "--db", str(blocked))
    folder.chmod(0o755)
    assert ran.code == 1
    assert str(blocked) in ran.err and ran.err.count("\n") == 1 and "Traceback" not in ran.err


def test_new_in_a_place_that_cannot_be_written_to_says_so(longbox: Longbox, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = longbox("new", "sticks", "--in", str(tmp_path / "file"))
    assert ran.code == 1
    assert ran.err.count("\n") == 1
