"""The pytest plugin: scenes as tests in anybody's project, and the life of their traces."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

# pytester forgets what an inner run imports: what is imported here stays, and the runs share its caches.
import longbox.dsl.scene_run
import longbox.plugins.loader  # noqa: F401

pytest_plugins = ["pytester"]

GAME = """\
pack mine "Mine"
game "Mine"
    seats named A, B
    each seat is a player
verb (p: player) sings (n: number): put n songs on p
kind player
    counter songs
round:
    for each player, in turn order:
        turn of player:
            ask player:
                "sing": player sings 1
                "shout": player sings 3
                "win": player wins
"""
SONG = """\
scene "one song" cites MINE-SNG-01
    game mine
    when:
        "A": "sing"
    then:
        A's songs = 1
    trace

scene "a loud song" cites MINE-SNG-01, MINE-SNG-02
    game mine
    when:
        "A": "shout"
    then:
        A's songs = 3
    trace
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with one pack and its scenes, as a third party would have it."""
    pytester.makeini("[pytest]\n")
    write(pytester, "mine/mine.box", GAME)
    write(pytester, "mine/scenes/song.scene", SONG)
    return pytester


def write(pytester: pytest.Pytester, name: str, text: str) -> None:
    path = pytester.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def traces(pytester: pytest.Pytester) -> list[str]:
    return sorted(path.name for path in pytester.path.rglob("*.events"))


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest", *args)


def test_a_trace_is_written_then_compared(project: pytest.Pytester) -> None:
    assert run(project).ret == 1  # there are no traces yet
    run(project, "--snapshot-update").assert_outcomes(passed=2)
    run(project).assert_outcomes(passed=2)
    folder = project.path / "mine" / "scenes" / "__scenes__" / "song"
    assert (folder / "one_song.events").read_text("utf-8").splitlines() == [
        "? A: what now?: sing | shout | win",
        "A: sing",
        "  A sings 1",
        "    A: songs 1",
        "-- turn of B --",
        "? B: what now?: sing | shout | win",
    ]


def test_a_changed_rule_fails_with_the_lines_that_differ(project: pytest.Pytester) -> None:
    run(project, "--snapshot-update")
    write(project, "mine/mine.box", GAME.replace("put n songs on p", "put 2 songs on p"))
    result = run(project)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ['*song.scene:1 scene "one song"*', "mine/scenes/song.scene:6: expected: A's songs = 1", "*: 2"]
    )
    write(project, "mine/scenes/song.scene", SONG.replace("A's songs = 1", "A's songs = 2"))
    result = run(project, "-k", "one_song")
    result.stdout.fnmatch_lines(["*the trace differs*", "*- *A: songs 1*", "*+ *A: songs 2*"])


def test_scenes_are_picked_by_words_of_their_title_and_by_rule(project: pytest.Pytester) -> None:
    run(project, "--snapshot-update")
    run(project, "-k", "loud").assert_outcomes(passed=1, deselected=1)
    run(project, "-k", "MINE-SNG-02").assert_outcomes(passed=1, deselected=1)
    run(project, "mine/scenes/song.scene::one_song").assert_outcomes(passed=1)


def test_updating_some_scenes_keeps_the_traces_of_the_others(project: pytest.Pytester) -> None:
    run(project, "--snapshot-update")
    write(project, "mine/scenes/other.scene", SONG)
    run(project, "-k", "loud", "--snapshot-update")
    run(project, "mine/scenes/other.scene", "--snapshot-update")
    run(project, "--ignore=mine/scenes/song.scene", "--snapshot-update")
    assert traces(project) == ["a_loud_song.events"] * 2 + ["one_song.events"] * 2


def test_the_trace_of_a_scene_that_is_gone_is_reported_and_removed(project: pytest.Pytester) -> None:
    run(project, "--snapshot-update")
    write(project, "mine/scenes/song.scene", SONG.replace("= 1\n    trace", "= 1"))
    result = run(project)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*1 snapshot unused*"])
    run(project, "--snapshot-update")
    assert traces(project) == ["a_loud_song.events"]


def test_all_problems_of_a_file_are_collection_errors(project: pytest.Pytester) -> None:
    write(project, "mine/scenes/bad.scene", SONG.replace("songs = ", "sons = "))
    result = run(project)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        ["*ERROR collecting*", "mine/scenes/bad.scene:6:*LB*", "mine/scenes/bad.scene:14:*LB*"]
    )


def test_problems_of_a_pack_name_its_file(project: pytest.Pytester) -> None:
    write(project, "mine/mine.box", GAME.replace("player wins", "player winz"))
    result = run(project)
    result.stdout.fnmatch_lines(["*ERROR collecting*", "mine/mine.box:14:*winz*"])


def test_an_unknown_game_is_a_problem_of_the_scene(project: pytest.Pytester) -> None:
    write(project, "mine/scenes/song.scene", SONG.replace("game mine", "game mines"))
    run(project).stdout.fnmatch_lines(["mine/scenes/song.scene:2:10: LB0402: *mines*"])


def test_a_pack_beside_is_added_with_a_word(project: pytest.Pytester) -> None:
    more = 'pack more.songs "More"\n    needs mine\nadjective loud for player: its songs >= 3\n'
    write(project, "more/more.box", more)
    text = SONG.replace("game mine", "game mine, with more.songs").replace("A's songs = 3", "A is loud")
    write(project, "mine/scenes/song.scene", text)
    run(project, "--snapshot-update").assert_outcomes(passed=2)


def test_packs_in_a_folder_of_the_settings_are_found(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nlongbox_packs = games\n")
    write(pytester, "games/mine/mine.box", GAME)
    write(pytester, "checks/song.scene", SONG)
    run(pytester, "--snapshot-update").assert_outcomes(passed=2)


def test_games_that_come_along_can_be_used_anywhere(pytester: pytest.Pytester) -> None:
    text = SONG.replace("game mine", "game tic_tac_toe").replace("trace", "seed 1")
    text = text.replace('"A": "sing"', '"X": "b2"').replace("A's songs = 1", "b2's mark is X")
    write(pytester, "x.scene", text.partition("\n\n")[0] + "\n")
    run(pytester).assert_outcomes(passed=1)


def test_the_cited_rules_are_listed(project: pytest.Pytester) -> None:
    result = run(project, "--collect-only", "--longbox-rules")
    result.stdout.fnmatch_lines(
        [
            "MINE-SNG-01  mine/scenes/song.scene::one_song",
            "MINE-SNG-01  mine/scenes/song.scene::a_loud_song",
            "MINE-SNG-02  mine/scenes/song.scene::a_loud_song",
            "2 rules are cited",
        ]
    )


def test_without_syrupy_only_traces_are_missing(project: pytest.Pytester) -> None:
    write(project, "mine/scenes/song.scene", SONG.replace("= 1\n    trace", "= 1"))
    result = run(project, "-p", "no:syrupy")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*a trace is kept by syrupy*"])


def test_a_project_without_scenes_does_not_load_the_compiler(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import sys\ndef test_it():\n    assert 'longbox.dsl' not in sys.modules")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_traces_hold_no_path(project: pytest.Pytester) -> None:
    run(project, "--snapshot-update")
    texts = [path.read_text("utf-8") for path in project.path.rglob("*.events")]
    assert texts
    assert not [text for text in texts if "/" in text or Path.home().name in text.split()]


def test_the_examples_of_the_documentation_hold(pytester: pytest.Pytester) -> None:
    page = Path(__file__).parents[2] / "docs" / "scenes.md"
    examples = re.findall(r"```scene\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    for number, example in enumerate(examples):
        write(pytester, f"{number}.scene", example)
    run(pytester).assert_outcomes(passed=3)
