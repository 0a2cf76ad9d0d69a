"""Packs: which files are one, what their pack lines say, what they need, and every way to get it wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from longbox.dsl.problems import Problem, TextError
from longbox.kernel.errors import LongboxError
from longbox.plugins import packs as packs_module
from longbox.plugins.packs import Pack, closure, find_packs, fits, package_folders, read_header, read_text


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def found(folder: Path, files: dict[str, str]) -> tuple[dict[str, Pack], list[Problem]]:
    """What lies in the folder, without the games that come along."""
    packs, problems = find_packs([write(folder, files)], installed=False)
    ours = [problem for problem in problems if problem.span.file.startswith(folder.as_posix())]
    return {id_: pack for id_, pack in packs.items() if pack.origin == "folder"}, ours


def codes(problems: list[Problem]) -> list[str]:
    return [problem.code for problem in problems]


# ---------------------------------------------------------------- the pack line
def test_the_pack_line_and_its_block_are_read() -> None:
    header = read_header(
        "x.box",
        '# first a comment\n\npack my.own-pack "A # title"   # why\n    # a comment\n\n'
        '    version 1.2\n    about "What"\n    needs base\n    needs more 3.4 # so\n'
        "kind x\n    needs nothing\n",
    )
    assert (header.id, header.title, header.version, header.about) == (
        "my.own-pack",
        "A # title",
        "1.2",
        "What",
    )
    assert [(str(need), need.span.line, need.span.column) for need in header.needs] == [
        ("base", 8, 11),
        ("more 3.4", 9, 11),
    ]
    assert header.line == 3 and not header.is_game and header.problems == ()


@pytest.mark.parametrize("text", ["", "\n\n", '# pack x "X"\n', "kind x\n", "packs x\n", '  pack x "X"\n'])
def test_a_text_without_a_pack_line_has_no_id(text: str) -> None:
    assert read_header("x.box", text).id == ""


@pytest.mark.parametrize("line", ["pack", "pack x", 'pack "X"', 'pack x. "X"', 'pack 1x "X"', 'pack x "X'])
def test_a_pack_line_that_cannot_be_read_is_a_problem(line: str) -> None:
    header = read_header("x.box", f"\n{line}\n")
    assert [(p.code, p.span.line) for p in header.problems] == [("LB0401", 2)]


def test_a_second_pack_line_is_a_problem() -> None:
    assert [p.span.line for p in read_header("x.box", 'pack x "X"\nkind y\npack z "Z"\n').problems] == [3]
    assert [p.span.line for p in read_header("x.box", 'kind y\npack z "Z"\n').problems] == [2]


def test_only_a_game_in_the_first_column_is_one() -> None:
    assert read_header("x.box", 'pack x "X"\n\ngame "X"\n').is_game
    assert not read_header("x.box", 'pack x "X"\nscene "s"\n    game "X"\n# game "X"\n').is_game


@pytest.mark.parametrize(
    ("have", "need", "does"),
    [
        ("1.2", "1.2", True),
        ("1.10", "1.9", True),
        ("1.2.1", "1.2", True),
        ("1", "1.0", True),
        ("1.0", "1", True),
        ("1.1", "1.2", False),
        ("2.0", "1.2", False),
        ("0", "1", False),
        ("1.2", "1.2.1", False),
    ],
)
def test_a_version_fits_from_the_one_needed_up_to_the_next_first_number(
    have: str, need: str, does: bool
) -> None:
    assert fits(have, need) is does


# ---------------------------------------------------------------- which files are a pack
def test_the_games_that_come_along_are_found() -> None:
    packs, problems = find_packs(installed=False)
    assert {"tic_tac_toe", "uno"} <= set(packs) and problems == []
    pack = packs["tic_tac_toe"]
    assert (pack.title, pack.version, pack.is_game, pack.origin) == (
        "Tic-tac-toe",
        "1.0",
        True,
        "plugin longbox",
    )
    assert list(pack.names) == ["tic_tac_toe/tic_tac_toe.box"]
    assert list(packs) == sorted(packs)


def test_files_without_a_pack_line_belong_to_the_pack_of_their_folder(tmp_path: Path) -> None:
    packs, problems = found(
        tmp_path,
        {
            "base/a.box": "kind a\n",
            "base/b.box": 'pack base "Base"\n',
            "base/c/d.box": "kind d\n",
            "base/c/more.box": 'pack base.more "More"\n',
            "base/c/deep/e.box": "kind e\n",
            "base/again/f.box": 'pack base "Base"\n',
            "base/scenes/s.scene": "",
            "base/c/scenes/t.scene": "",
            "base/.hidden/g.box": "nonsense",
            "base/notes.txt": "nonsense",
        },
    )
    assert problems == []
    # c/ has a pack line of its own, so what lies in it without one belongs to that pack.
    assert list(packs["base"].names) == ["base/a.box", "base/again/f.box", "base/b.box"]
    assert list(packs["base.more"].names) == ["base.more/d.box", "base.more/deep/e.box", "base.more/more.box"]
    assert [s.name for s in packs["base"].scenes] == ["s.scene"]
    assert [s.name for s in packs["base.more"].scenes] == ["t.scene"]


def test_names_do_not_depend_on_folders_above_or_on_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"x/rules.box": 'pack my.x "X"\n', "x/sub/more.box": "kind y\n"}
    names = set()
    for where in ("one", "two/three"):
        packs, _ = found(tmp_path / where, files)
        names.add(tuple(packs["my.x"].names))
    monkeypatch.chdir(tmp_path / "one")
    packs, _ = find_packs([Path("x")], installed=False)
    names.add(tuple(packs["my.x"].names))
    assert names == {("my.x/rules.box", "my.x/sub/more.box")}
    assert packs["my.x"].labels == ("x/rules.box", "x/sub/more.box")


def test_a_single_file_is_a_pack(tmp_path: Path) -> None:
    write(tmp_path, {"one.box": 'pack one "One"\n', "two.box": 'pack two "Two"\n'})
    packs, problems = find_packs([tmp_path / "one.box"], installed=False)
    assert "one" in packs and "two" not in packs and problems == []


def test_what_several_files_say_is_put_together(tmp_path: Path) -> None:
    packs, problems = found(
        tmp_path,
        {
            "p/a.box": 'pack p "P"\n    needs uno\n',
            "p/b.box": 'pack p "Q"\n    version 1.0\n    needs tic_tac_toe\n    needs uno 1.0\n',
            "p/c.box": 'pack p "P"\n    version 1.1\n    about "What"\n',
        },
    )
    pack = packs["p"]
    assert (pack.title, pack.version, pack.about) == ("P", "1.0", "What")
    assert [str(need) for need in pack.needs] == ["uno 1.0", "tic_tac_toe"]
    assert codes(problems) == ["LB0407"] and "1.1" in problems[0].what


# ---------------------------------------------------------------- what can be wrong
def test_a_file_that_belongs_nowhere(tmp_path: Path) -> None:
    packs, problems = found(tmp_path, {"p/a.box": "kind a\n", "q/b.box": 'pack q "Q"\n'})
    assert list(packs) == ["q"] and codes(problems) == ["LB0401"]
    assert problems[0].span.file == (tmp_path / "p/a.box").as_posix()


def test_two_packs_of_one_id_are_a_problem_that_names_both_files(tmp_path: Path) -> None:
    packs, problems = found(
        tmp_path, {"a/x.box": 'pack p "P"\n', "b/y.box": '\npack p "P"\n', "c/z.box": 'pack q "Q"\n'}
    )
    assert codes(problems) == ["LB0403"]
    assert "a/x.box" in problems[0].what and "b/y.box" in problems[0].what and problems[0].span.line == 2
    with pytest.raises(TextError, match="LB0403"):
        closure(packs, ["p"])
    assert [pack.id for pack in closure(packs, ["q"])] == ["q"]  # nobody else is kept from playing


def test_the_same_files_found_twice_are_no_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"packs/a/x.box": 'pack p "P"\n'})
    monkeypatch.chdir(tmp_path)
    _, problems = find_packs(
        [Path("packs"), tmp_path / "packs" / "a", Path("packs/a/x.box")], installed=False
    )
    assert problems == []


def test_the_name_of_the_standard_words_is_taken(tmp_path: Path) -> None:
    packs, problems = found(tmp_path, {"a/std.box": 'pack std "Mine"\n'})
    assert packs == {} and codes(problems) == ["LB0403"] and "std.box" in problems[0].what


def test_a_missing_need_says_what_was_meant(tmp_path: Path) -> None:
    packs, problems = found(tmp_path, {"a/x.box": 'pack p "P"\n    needs tic_tac_to 1.0\n'})
    assert codes(problems) == ["LB0402"] and "did you mean 'tic_tac_toe'?" in problems[0].help
    with pytest.raises(TextError) as error:
        closure(packs, ["p"])
    assert "    needs tic_tac_to 1.0\n              ^^^^^^^^^^" in str(error.value)


@pytest.mark.parametrize(
    ("version", "needs", "expected"),
    [
        ("1.2", "1.2", []),
        ("1.3", "1.2", []),
        ("1.1", "1.2", ["LB0407"]),
        ("2.0", "1.2", ["LB0407"]),
    ],
)
def test_versions_of_needs(tmp_path: Path, version: str, needs: str, expected: list[str]) -> None:
    _, problems = found(
        tmp_path,
        {"a/x.box": f'pack p "P"\n    version {version}\n', "b/x.box": f'pack q "Q"\n    needs p {needs}\n'},
    )
    assert codes(problems) == expected


def test_circles_are_found_once_each(tmp_path: Path) -> None:
    packs, problems = found(
        tmp_path,
        {
            "a/x.box": 'pack a "A"\n    needs b\n',
            "b/x.box": 'pack b "B"\n    needs c\n',
            "c/x.box": 'pack c "C"\n    needs a\n',
            "d/x.box": 'pack d "D"\n    needs a\n',
            "e/x.box": 'pack e "E"\n    needs e\n',
            "f/x.box": 'pack f "F"\n',
        },
    )
    assert [p.what for p in problems] == [
        "these packs need each other: a -> b -> c -> a",
        "these packs need each other: e -> e",
    ]
    assert codes(problems) == ["LB0404"] * 2
    for id_ in "abcde":
        with pytest.raises(TextError, match="LB0404"):
            closure(packs, [id_])
    assert [pack.id for pack in closure(packs, ["f"])] == ["f"]


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    write(tmp_path, {"p/a.box": 'pack p "P"\n'})
    (tmp_path / "p" / "b.box").write_bytes(b"kind a\nkind caf\xe9\n")
    packs, problems = found(tmp_path, {})
    assert codes(problems) == ["LB0408"] and problems[0].span.line == 2 and "UTF-8" in problems[0].help
    with pytest.raises(TextError, match="LB0408"):
        closure(packs, ["p"])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_and_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    write(tmp_path, {"p/a.box": 'pack p "P"\n', "p/b.box": "kind a\n", "p/c/d.box": "kind b\n"})
    (tmp_path / "p/b.box").chmod(0)
    (tmp_path / "p/c").chmod(0)
    try:
        _, problems = found(tmp_path, {})
    finally:
        (tmp_path / "p/c").chmod(0o700)
    assert codes(problems) == ["LB0408", "LB0408"]


def test_an_error_of_the_system_becomes_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> str:
        if path.name == "b.box":
            raise PermissionError(13, "Permission denied")
        return read_text(path)

    monkeypatch.setattr(packs_module, "read_text", refuse)
    packs, problems = found(tmp_path, {"p/a.box": 'pack p "P"\n', "p/b.box": "kind a\n"})
    assert [(p.code, p.what) for p in problems] == [("LB0408", "cannot be read: Permission denied")]
    assert packs["p"].problems == tuple(problems)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    _, problems = find_packs([tmp_path / "nowhere"], installed=False)
    assert codes(problems) == ["LB0408"] and problems[0].span.file.endswith("nowhere")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, {"p/a.box": 'pack p "P"\n'})
    os.mkfifo(tmp_path / "p" / "b.box")
    packs, problems = found(tmp_path, {})
    assert len(packs["p"].files) == 1 and problems == []


def test_a_folder_without_end_is_not_searched_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs_module, "FOLDERS_MAX", 3)
    _, problems = found(tmp_path, {"p/a.box": 'pack p "P"\n', **{f"p/{i}/x.txt": "" for i in range(5)}})
    assert codes(problems) == ["LB0408"] and "more than 3 folders" in problems[0].what


def test_line_ends_and_byte_order_marks_make_no_difference(tmp_path: Path) -> None:
    path = tmp_path / "x.box"
    path.write_bytes(b'\xef\xbb\xbfpack x "X"\r\n    version 1.0\r\n')
    assert read_text(path) == 'pack x "X"\n    version 1.0\n'
    assert found(tmp_path, {})[0]["x"].version == "1.0"


# ---------------------------------------------------------------- order
def test_what_is_needed_comes_first_whatever_was_asked_for_first(tmp_path: Path) -> None:
    packs, _ = found(
        tmp_path,
        {
            "a/x.box": 'pack a "A"\n    needs z\n',
            "b/x.box": 'pack b "B"\n',
            "m/x.box": 'pack m "M"\n    needs std\n    needs b\n    needs a\n',
            "z/x.box": 'pack z "Z"\n',
        },
    )
    for ids in (["m"], ["m", "a"], ["z", "b", "a", "m"]):
        assert [pack.id for pack in closure(packs, ids)] == ["b", "z", "a", "m"]


def test_an_unknown_pack_says_what_was_meant(tmp_path: Path) -> None:
    packs, _ = found(tmp_path, {"a/x.box": 'pack alpha "A"\n'})
    with pytest.raises(LongboxError, match="no pack 'alpa'; did you mean 'alpha'"):
        closure(packs, ["alpa"])


# ---------------------------------------------------------------- installed packages
def test_packages_are_located_without_being_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    boom = "raise RuntimeError('imported')\n"
    write(
        tmp_path,
        {
            "lb_real/__init__.py": boom,
            "lb_real/inner/__init__.py": boom,
            "lb_real/module.py": boom,
            "lb_real/data/x.box": "",
            "lb_space/part/x.box": "",
            "lb_alone.py": boom,
        },
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert package_folders("lb_real") == [tmp_path / "lb_real"]
    assert package_folders("lb_real.inner") == [tmp_path / "lb_real/inner"]
    assert package_folders("lb_real.module") == [tmp_path / "lb_real"]
    assert package_folders("lb_real.data") == [tmp_path / "lb_real/data"]
    assert package_folders("lb_space.part") == [tmp_path / "lb_space/part"]
    assert package_folders("longbox.expansions")[0].name == "expansions"
    for name in ("lb_alone", "lb_missing", "lb_real.missing", "lb_missing.inner", "", "..", "lb real"):
        assert package_folders(name) == [], name
    assert not [
        name for name in sys.modules if name.startswith(("lb_real", "lb_space", "lb_alone", "lb_missing"))
    ]


def test_an_entry_point_that_names_nothing_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        tmp_path,
        {
            "lb_lost-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: lb_lost\nVersion: 1\n",
            "lb_lost-1.dist-info/entry_points.txt": "[longbox.packs]\nlost = lb_lost_package\n",
        },
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    _, problems = find_packs()
    assert [(p.code, p.span.file) for p in problems] == [("LB0408", "entry point lost")]


def test_listing_reads_no_more_than_the_pack_line(tmp_path: Path) -> None:
    """Whatever follows it, and however long: nothing is parsed."""
    write(
        tmp_path, {"p/a.box": 'pack p "P"\n    version 1.0\n' + "this is no language at all (((\n" * 50_000}
    )
    code = (
        f"import sys\nfrom pathlib import Path\nfrom longbox.plugins.packs import find_packs\n"
        f"packs, problems = find_packs([Path({str(tmp_path)!r})], installed=False)\n"
        "assert packs['p'].version == '1.0' and not problems and 'lark' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
