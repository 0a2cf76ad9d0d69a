"""longbox cover: the lines of the text that were run, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from running import Longbox

from longbox.kernel import Game, Program
from longbox.plugins.cover import Cover, FileCover, Recorder, executable_lines, percent
from longbox.plugins.loader import load_game, program_paths

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
    if total < 0:
        draw game

verb (s: seat) rests:
    now total is 0

round:
    for each seat, in turn order:
        ask seat:
            "more":
                seat adds 2
            "rest":
                seat rests
"""
SCENE = """\
scene "more and more"
    game counting
    when:
        "Seat 1": "more"
        "Seat 1": "more"
    then:
        "Seat 1" has won
"""
NOT_RUN = [14, 16, 17, 25]  # draw game; resting; the answer "rest"


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    """A folder with a small game and a scene that runs a part of it."""
    scenes = tmp_path / "packs" / "counting" / "scenes"
    scenes.mkdir(parents=True)
    (scenes.parent / "counting.box").write_text(BOX)
    (scenes / "more.scene").write_text(SCENE)
    return tmp_path / "packs"


# -- what can be run ---------------------------------------------------------------------------------


def test_lines_that_only_declare_are_not_counted(packs: Path) -> None:
    lines = executable_lines(load_game("counting", folders=[packs]))
    assert list(lines) == ["counting/counting.box"]
    assert lines["counting/counting.box"] >= {9, 10, 11, 12, 13, 14, 16, 17, 23, 25}
    assert not lines["counting/counting.box"] & {*range(1, 9), 15, 18, 19}


def test_the_same_lines_as_python_itself_traces(packs: Path) -> None:
    """Measured twice: by coverage.py through our plugin, and by hand."""
    name, seen = "counting/counting.box", set()

    def trace(frame: object, event: str, _: object) -> object:
        if frame.f_code.co_filename != name:  # type: ignore[attr-defined]
            return None
        if event == "line" and frame.f_code.co_name != "<module>":  # type: ignore[attr-defined]
            seen.add(frame.f_lineno)  # type: ignore[attr-defined]
        return trace

    loaded = load_game("counting", folders=[packs])
    recorder = Recorder(loaded, program_paths(loaded, [packs]))
    with recorder.recording():
        Game(Program(loaded.compiled), 1).play(lambda question: question.keys[0])
    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        Game(Program(loaded.compiled), 1).play(lambda question: question.keys[0])
    finally:
        sys.settrace(before)
    (file,) = recorder.cover().files
    assert set(file.missing) == executable_lines(loaded)[name] - seen


def test_shares_are_rounded_down_but_compared_as_they_are() -> None:
    assert (percent(1000, 999), percent(3, 3), percent(0, 0), percent(10_000, 9_999)) == (
        99.9,
        100,
        100,
        99.9,
    )
    cover = Cover((FileCover("a.box", tuple(range(1, 12)), (11,), "11"),))
    assert cover.percent == 90.9
    assert not cover.is_under(90.909)
    assert cover.is_under(90.91)


def test_making_a_program_runs_no_line(packs: Path) -> None:
    """Python runs a line for each function that it defines; that is nothing of the game."""
    program = load_game("counting", folders=[packs])
    recorder = Recorder(program, program_paths(program, [packs]))
    with recorder.recording():
        Program(program.compiled)
    assert recorder.cover().covered == 0


# -- the command -------------------------------------------------------------------------------------


def test_cover_names_the_lines_that_no_scene_runs(longbox: Longbox, packs: Path) -> None:
    ran = longbox("cover", "counting", "--packs", str(packs), "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    (file,) = ran.data["files"]
    assert (file["file"], file["missing lines"]) == ("counting/counting.box", NOT_RUN)
    assert file["covered"] == file["lines"] - len(NOT_RUN)
    assert (ran.data["scenes"], ran.data["games"], ran.data["failed"]) == (1, 0, [])
    assert ran.data["total"] == {key: file[key] for key in ("lines", "covered", "percent")}


def test_cover_prints_a_table(longbox: Longbox, packs: Path) -> None:
    ran = longbox("cover", "counting", "--packs", str(packs))
    assert ran.lines[0] == "counting: 1 scenes, 0 games"
    assert ran.lines[1].split() == ["file", "lines", "covered", "percent", "missing"]
    assert ran.lines[2].startswith("counting/counting.box") and ran.lines[2].endswith("  14-17, 25")
    assert ran.lines[3].startswith("total")


def test_a_second_run_in_one_process_gives_the_same(longbox: Longbox, packs: Path) -> None:
    words = ("cover", "counting", "--packs", str(packs), "--games", "2", "--seed", "5")
    first, second = longbox(*words), longbox(*words)
    assert (first.code, first.out) == (0, second.out)


def test_games_alone(longbox: Longbox, packs: Path) -> None:
    words = ("cover", "counting", "--packs", str(packs), "--format", "json", "--scenes")
    data = longbox(*words, "--games", "30").data
    assert (data["scenes"], data["games"]) == (0, 30)
    assert data["files"][0]["missing lines"] == [14]


def test_a_file_of_which_nothing_was_run_is_shown_too(longbox: Longbox, packs: Path) -> None:
    words = ("cover", "counting", "--packs", str(packs), "--html", str(packs.parent / "html"))
    scenes = Path(__file__).parents[2] / "expansions" / "tic_tac_toe" / "scenes"
    ran = longbox(*words, "--scenes", str(scenes))
    assert (ran.code, ran.err) == (0, "")
    assert "  0.0 %" in ran.lines[-2]


def test_html_shows_the_text(longbox: Longbox, packs: Path, tmp_path: Path) -> None:
    ran = longbox("cover", "counting", "--packs", str(packs), "--html", str(tmp_path / "html"))
    assert ran.lines[-1].startswith("the text is in")
    assert "counting.box" in (tmp_path / "html" / "index.html").read_text("utf-8")
    (page,) = (tmp_path / "html").glob("*_box.html")
    assert "now total is total + n" in page.read_text("utf-8")


@pytest.mark.parametrize(("least", "code"), [("0", 0), ("50", 0), ("99.5", 1), ("100", 1)])
def test_fail_under(longbox: Longbox, packs: Path, least: str, code: int) -> None:
    ran = longbox("cover", "counting", "--packs", str(packs), "--fail-under", least)
    assert ran.code == code
    assert ran.err.count("\n") == code
    assert not code or f"less than {least} %" in ran.err


def test_a_scene_that_fails_is_told(longbox: Longbox, packs: Path) -> None:
    scene = packs / "counting" / "scenes" / "more.scene"
    scene.write_text(SCENE.replace("has won", "has lost"))
    ran = longbox("cover", "counting", "--packs", str(packs))
    assert ran.code == 1
    assert "more.scene:7" in ran.err
    assert "14-17, 25" in ran.out


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--games", "-1"], "--games: 0 or more"),
        (["--fail-under", "101"], "from 0 to 100"),
        (["--scenes", "nowhere"], "there is no such file or folder"),
        (["--scenes", __file__], "there is no .scene file"),
        (["--scenes"], "there is nothing to run"),
        (["--with", "nothing"], "there is no pack 'nothing'"),
    ],
)
def test_cover_used_wrongly_says_how(longbox: Longbox, packs: Path, words: list[str], what: str) -> None:
    ran = longbox("cover", "counting", "--packs", str(packs), *words)
    assert ran.code == 2
    assert what in ran.err


def test_without_coverage_it_says_what_to_install(
    longbox: Longbox, packs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "longbox.plugins.cover")
    monkeypatch.setitem(sys.modules, "coverage", None)
    ran = longbox("cover", "counting", "--packs", str(packs))
    assert (ran.code, ran.err) == (1, "longbox: longbox cover needs an extra: pip install 'longbox[cover]'\n")


@pytest.mark.parametrize("game", ["tic_tac_toe", "uno"])
def test_the_scenes_of_our_games_run_every_line(longbox: Longbox, game: str) -> None:
    ran = longbox("cover", game, "--fail-under", "100")
    assert (ran.code, ran.err) == (0, "")
