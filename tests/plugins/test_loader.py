"""From an id, or from texts, to a program; checking paths; packs that somebody else has installed."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from longbox.dsl.problems import TextError
from longbox.kernel import Game, LongboxError, Program
from longbox.plugins import loader
from longbox.plugins.builtin import expansions
from longbox.plugins.loader import (
    check_paths,
    content_hash,
    load_game,
    pack_texts,
    program_from_texts,
    program_paths,
)

THIRD_PARTY = Path(__file__).resolve().parent / "third_party"
POCKET = THIRD_PARTY / "pocket_games"

GAME = 'pack small "Small"\n    version 1.0\n\ngame "Small"\n    seats 2\n\nround:\n    draw game\n'


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGBOX_CACHE", str(tmp_path_factory.getbasetemp() / "loader_cache"))


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def play(program: Program, seed: int = 1) -> Game:
    rng = random.Random(seed)
    return Game(program, seed=seed).play(lambda question: rng.choice(question.keys))


# ---------------------------------------------------------------- a game by its id
def test_a_game_is_loaded_and_played() -> None:
    program = load_game("tic_tac_toe")
    assert (program.game, program.title) == ("tic_tac_toe", "Tic-tac-toe")
    assert program.files == ["std.box", "tic_tac_toe/tic_tac_toe.box"]
    assert play(program).over


def test_the_program_knows_its_packs_and_their_hashes() -> None:
    program = load_game("tic_tac_toe")
    std, pack = program.tables["packs"]
    texts = pack_texts(program)
    assert std["id"] == "std" and pack == {
        "id": "tic_tac_toe",
        "title": "Tic-tac-toe",
        "version": "1.0",
        "files": ["tic_tac_toe/tic_tac_toe.box"],
        "hash": content_hash({"tic_tac_toe/tic_tac_toe.box": texts["tic_tac_toe/tic_tac_toe.box"]}),
    }
    assert program.tables["content_hash"] == content_hash(texts)


def test_the_same_texts_give_the_same_program_object() -> None:
    assert load_game("uno") is load_game("uno")
    fresh = load_game("uno", cache=False)
    assert fresh is not load_game("uno") and fresh.tables == load_game("uno").tables


def test_names_are_the_same_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = load_game("uno")
    monkeypatch.chdir(tmp_path)
    assert load_game("uno") is before


def test_an_unknown_game_says_what_was_meant() -> None:
    with pytest.raises(LongboxError, match="there is no game 'unno'; did you mean 'uno'"):
        load_game("unno")
    with pytest.raises(LongboxError, match="there is no pack 'unno'"):
        load_game("uno", ["unno"])


def test_an_unknown_game_shows_what_went_wrong_while_looking(tmp_path: Path) -> None:
    write(tmp_path, {"mine/a.box": "kind x\n"})
    with pytest.raises(LongboxError, match="LB0401"):
        load_game("mine", folders=[tmp_path])


def test_an_expansion_is_no_game() -> None:
    with pytest.raises(LongboxError, match="is no game, but something to add to: tic_tac_toe"):
        load_game("pocket.corners", folders=[POCKET])


def test_a_broken_pack_keeps_nobody_from_playing_another_game(tmp_path: Path) -> None:
    write(tmp_path, {"bad/a.box": 'pack bad "Bad"\n    needs nothing_known\n', "lost/a.box": "kind x\n"})
    assert load_game("tic_tac_toe", folders=[tmp_path]).game == "tic_tac_toe"
    with pytest.raises(TextError, match="LB0402"):
        load_game("tic_tac_toe", ["bad"], folders=[tmp_path])


def test_wrong_text_is_shown_with_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"packs/small/small.box": GAME + "kind ((\n"})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TextError, match=r"packs/small/small\.box:9:") as error:
        load_game("small", folders=[Path("packs")])
    assert "kind ((" in str(error.value)


def test_the_game_is_named_by_its_pack_wherever_it_stands(tmp_path: Path) -> None:
    head, body = GAME.split("\n\n", 1)
    write(tmp_path, {"a.box": body, "b.box": head + "\n"})
    assert load_game("small", folders=[tmp_path]).game == "small"


def test_two_games_at_once_are_refused() -> None:
    with pytest.raises(TextError, match="a second game"):
        load_game("uno", ["tic_tac_toe"])


def test_games_lists_games_only() -> None:
    ids = [pack.id for pack in loader.games([POCKET])]
    assert {"pocket.nim", "tic_tac_toe", "uno"} <= set(ids) and "pocket.corners" not in ids


# ---------------------------------------------------------------- expansions
CORNERS = ["a1", "b1", "c1", "b2", "a3", "a2", "c3"]


def test_an_expansion_changes_the_game() -> None:
    outcomes = []
    for extra in ([], ["pocket.corners"]):
        game = Game(load_game("tic_tac_toe", extra, [POCKET]), seed=1)
        for key in CORNERS:
            game.answer(key)
        outcomes.append(game.over)
    assert outcomes == [False, True]


def test_an_expansion_comes_after_what_it_needs_and_twice_is_once() -> None:
    program = load_game("tic_tac_toe", ["pocket.corners", "pocket.corners", "tic_tac_toe"], [POCKET])
    assert [pack["id"] for pack in program.tables["packs"]] == ["std", "tic_tac_toe", "pocket.corners"]
    assert program.game == "tic_tac_toe"


def test_an_expansion_may_be_for_other_numbers_of_seats(tmp_path: Path) -> None:
    more = 'pack crowd "A crowd"\n    version 1.0\n    needs small 1.0\n    seats 2 to 7\n'
    folder = write(tmp_path, {"small/small.box": GAME, "crowd/crowd.box": more})
    assert load_game("small", [], [folder]).tables["seats"] == (2, 2)
    assert load_game("small", ["crowd"], [folder]).tables["seats"] == (2, 7)


# ---------------------------------------------------------------- from texts alone
def test_a_program_is_rebuilt_from_its_texts() -> None:
    program = load_game("tic_tac_toe", ["pocket.corners"], [POCKET])
    stored = json.loads(json.dumps(pack_texts(program), sort_keys=True))  # as a history may keep them
    again = program_from_texts(stored, cache=False)
    assert again.tables == program.tables and again.compiled.code == program.compiled.code
    assert play(again).log == play(program).log


def test_the_standard_words_travel_with_the_texts() -> None:
    texts = pack_texts(load_game("uno"))
    other = program_from_texts({**texts, "std.box": texts["std.box"] + "\n# a later edition\n"})
    assert other.tables["content_hash"] != load_game("uno").tables["content_hash"]
    assert other.tables["packs"][0]["hash"] != load_game("uno").tables["packs"][0]["hash"]
    del texts["std.box"]
    assert program_from_texts(texts) is load_game("uno")


def test_texts_with_something_missing_are_refused() -> None:
    texts = pack_texts(load_game("tic_tac_toe", ["pocket.corners"], [POCKET]))
    del texts["tic_tac_toe/tic_tac_toe.box"]
    with pytest.raises(TextError, match="LB0402"):
        program_from_texts(texts)
    with pytest.raises(TextError, match="LB0405"):
        program_from_texts({"x/x.box": 'pack x "X"\n'})
    with pytest.raises(TextError, match="LB0405"):
        program_from_texts({})
    with pytest.raises(TextError, match="LB0403"):
        program_from_texts({"std/x.box": GAME.replace("pack small", "pack std")})


def test_the_files_of_a_program_are_found_on_this_machine() -> None:
    program = load_game("tic_tac_toe", ["pocket.corners"], [POCKET])
    paths = program_paths(program, [POCKET])
    assert list(paths) == ["tic_tac_toe/tic_tac_toe.box", "pocket.corners/corners.box"]
    assert paths["pocket.corners/corners.box"] == POCKET / "corners" / "corners.box"


def test_hashes_keep_names_and_texts_apart() -> None:
    assert (
        len(
            {
                content_hash(t)
                for t in ({"a": "bc"}, {"ab": "c"}, {"a": "b", "c": ""}, {"c": "", "a": "b"}, {})
            }
        )
        == 5
    )


def test_programs_in_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "PROGRAMS_MAX", 2)
    monkeypatch.setattr(loader, "_programs", type(loader._programs)())
    texts = [{"small/small.box": GAME + f"# {number}\n"} for number in range(3)]
    first, second, third = [program_from_texts(t) for t in texts]
    assert program_from_texts(texts[2]) is third and program_from_texts(texts[1]) is second
    assert program_from_texts(texts[0]) is not first


# ---------------------------------------------------------------- checking
BASE = GAME + "\nverb (p: player) waves:\n    draw game\n"
MORE = 'pack small.more "More"\n    needs small 1.0\n\nafter any player waves:\n    player wins\n'


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two packs, one in the other's folder, with the current folder above."""
    write(
        tmp_path,
        {
            "packs/small/small.box": BASE,
            "packs/small/more/more.box": MORE,
            "packs/small/sub/part.box": "kind bit\n",
        },
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("path", "ids"),
    [
        ("packs", ["small", "small.more"]),
        ("packs/small", ["small", "small.more"]),
        (".", ["small", "small.more"]),
        ("packs/small/small.box", ["small"]),
        ("packs/small/sub/part.box", ["small"]),
        ("packs/small/sub", ["small"]),
        ("packs/small/more", ["small.more"]),
        ("packs/small/more/more.box", ["small.more"]),
    ],
)
def test_a_path_is_a_file_a_pack_or_a_folder_of_packs(small: Path, path: str, ids: list[str]) -> None:
    for given in (Path(path), small / path):
        result = check_paths([given])
        assert [pack.id for pack in result.packs] == ids and result.errors == [], result.show()
        assert set(result.checked) == set(ids)


def test_problems_are_shown_at_the_path_that_was_given(small: Path) -> None:
    write(small, {"packs/small/more/more.box": MORE + "kind ((\n"})
    for given in (Path("packs"), Path("packs/small/more/more.box"), small / "packs"):
        result = check_paths([given])
        shown = (given if given.suffix else given / "small/more/more.box").as_posix()
        assert {p.span.file for p in result.errors} == {shown}
        assert f"{shown}:6:" in result.show() and "    kind ((" in result.show()


def test_a_pack_is_checked_with_what_it_needs(small: Path) -> None:
    write(small, {"packs/small/small.box": BASE + "kind ((\n"})
    result = check_paths([Path("packs/small/more")])
    assert [p.span.file for p in result.errors] == [(Path("packs/small/small.box")).as_posix()]


def test_a_warning_counts_only_if_every_reading_has_it(small: Path) -> None:
    alone = check_paths([Path("packs/small/small.box")])
    both = check_paths([Path("packs")])
    waves = [p for p in alone.problems if p.code == "LB0305"]
    assert waves and not [p for p in both.problems if p in waves]


def test_neighbours_of_a_file_are_not_reported(small: Path) -> None:
    write(
        small,
        {"packs/other/x.box": "kind x\n", "packs/small/more/bad/x.box": 'pack worse "W"\n    needs nobody\n'},
    )
    assert check_paths([Path("packs/small/small.box")]).errors == []
    assert {p.code for p in check_paths([Path("packs")]).errors} == {"LB0401", "LB0402"}


@pytest.mark.parametrize(
    ("files", "path", "code"),
    [
        ({}, "nowhere.box", "LB0408"),
        ({"empty/x.txt": ""}, "empty", "LB0401"),
        ({"a.box": "kind x\n"}, "a.box", "LB0401"),
        ({"a.txt": "hello\n"}, "a.txt", "LB0401"),
        ({"p/a.box": 'pack uno "Mine"\n'}, "p", "LB0403"),
        ({"p/a.box": 'pack x "X"\n    needs y\n'}, "p", "LB0402"),
        ({"p/a.box": 'pack x "X"\n    needs uno 9\n'}, "p", "LB0407"),
        ({"p/a.box": 'pack x "X"\n    needs x\n'}, "p", "LB0404"),
    ],
)
def test_what_cannot_be_checked_is_a_problem_not_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], path: str, code: str
) -> None:
    (tmp_path / "one/two/three").mkdir(parents=True)
    monkeypatch.chdir(write(tmp_path / "one/two/three", files))  # away from what may lie in the folders above
    result = check_paths([Path(path)])
    assert code in {p.code for p in result.errors}
    assert result.show().startswith(path.split("/")[0])


def test_a_file_in_a_folder_without_end_is_checked_alone(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longbox.plugins.packs.FOLDERS_MAX", 2)
    assert [p.id for p in check_paths([Path("packs/small/small.box")]).packs] == ["small"]


def test_checking_runs_nothing_and_writes_nothing(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGBOX_CACHE", str(small / "cache"))
    before = sorted(small.rglob("*"))
    check_paths([Path("packs")])
    assert sorted(small.rglob("*")) == before


def test_our_own_packs_are_right() -> None:
    result = check_paths([expansions()])
    assert {"tic_tac_toe", "uno"} <= {pack.id for pack in result.packs}
    ours = [p for p in result.errors if Path(p.span.file).parent.name in ("tic_tac_toe", "uno")]
    assert ours == []


# ---------------------------------------------------------------- a distribution of somebody else
def install(target: Path, work: Path) -> None:
    """With pip, built here without the network."""
    source = work / "source"
    shutil.copytree(THIRD_PARTY, source)
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-build-isolation",
        "--no-deps",
        "--disable-pip-version-check",
        "--target",
        str(target),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def install_by_hand(target: Path) -> None:
    project = tomllib.loads((THIRD_PARTY / "pyproject.toml").read_text("utf-8"))["project"]
    points = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in rows.items())
        for group, rows in project["entry-points"].items()
    ]
    info = f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(POCKET, target / POCKET.name)
    about = f"Name: {project['name']}\nVersion: {project['version']}\n"
    write(
        target,
        {
            f"{info}/METADATA": f"Metadata-Version: 2.1\n{about}",
            f"{info}/entry_points.txt": "\n".join(points),
        },
    )


ELSEWHERE = """
import random, sys
from pathlib import Path
from longbox.kernel import Game
from longbox.plugins.loader import check_paths, load_game
from longbox.plugins.packs import find_packs

packs, problems = find_packs()
assert not problems, problems
mine = [packs[i] for i in ("pocket.corners", "pocket.nim")]
print([(p.id, p.version, p.origin, *p.names) for p in mine])
result = check_paths([pack.folder for pack in mine])
assert not result.errors, result.show()
rng = random.Random(1)
nim = Game(load_game("pocket.nim"), seed=1).play(lambda question: rng.choice(question.keys))
game = Game(load_game("tic_tac_toe", ["pocket.corners"]), seed=1)
for key in sys.argv[1:]:
    game.answer(key)
print(nim.outcome["result"], game.outcome["result"], "pocket_games" in sys.modules)
"""


@pytest.mark.parametrize("by_hand", [False, True], ids=["pip", "by hand"])
def test_an_installed_distribution_of_text_is_found_checked_and_played(tmp_path: Path, by_hand: bool) -> None:
    target = tmp_path / "site"
    if by_hand:
        install_by_hand(target)
    else:
        install(target, tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, *CORNERS],
        cwd=elsewhere,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(target)},
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [
        "[('pocket.corners', '1.1', 'installed: pocket', 'pocket.corners/corners.box'), "
        "('pocket.nim', '2.0', 'installed: pocket', 'pocket.nim/nim.box', 'pocket.nim/rules.box')]",
        "won won False",
    ]
