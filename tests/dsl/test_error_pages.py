"""Every code has a page, and the page is true: its wrong example earns that code, its right one nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from longbox.dsl.compiler import compile_packs, read_packs
from longbox.dsl.problems import CODES, WARNINGS, Problem, TextError
from longbox.dsl.scenes import read_scenes
from longbox.dsl.source import Source
from longbox.plugins.loader import check_paths

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "errors"
GAME = ROOT / "expansions" / "tic_tac_toe" / "tic_tac_toe.box"
FILE = re.compile(r"(?m)^--- (?P<name>\S+?)(?:, saved as (?P<code>\S+))?$")
every_code = pytest.mark.parametrize("code", CODES)


def page_of(code: str) -> str:
    return (PAGES / f"{code}.md").read_text("utf-8")


def examples(code: str, sort: str) -> list[str]:
    """The blocks of a page marked ```wrong or ```right."""
    return re.findall(rf"(?ms)^```{sort}\n(.*?)^```$", page_of(code))


def problems_in(example: str, folder: Path, code: str) -> list[Problem]:
    """All that is wrong with an example: some files, or the text of one."""
    files = FILE.split(example)
    if len(files) > 1:
        return problems_in_files(list(zip(files[1::3], files[2::3], files[3::3], strict=True)), folder)
    source = Source("example.box", f'pack example "Example"\n{example}')
    problems = read_packs([source]).problems
    if problems or code != "LB0405":
        return problems
    return raised(lambda: compile_packs([source]))


def problems_in_files(files: list[tuple[str, str | None, str]], folder: Path) -> list[Problem]:
    name, _, text = files[0]
    if name.endswith(".scene"):
        game = Source(GAME.name, GAME.read_text("utf-8"))
        return raised(lambda: read_scenes(Source(name, text), lambda *_: [game]))
    for name, encoding, text in files:
        path = folder / (name if "/" in name else f"place/{name}")  # a folder of packs: none looks above it
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.lstrip("\n").encode(encoding or "utf-8"))
    return check_paths([folder]).problems


def raised(act: Callable[[], object]) -> list[Problem]:
    try:
        act()
    except TextError as error:
        return error.problems
    return []


@every_code
def test_every_code_has_a_page(code: str) -> None:
    page = page_of(code)
    assert page.startswith(f"# {code}: {CODES[code]}\n")
    assert 10 <= len(page.splitlines()) <= 40


@every_code
def test_the_wrong_example_earns_the_code(code: str, tmp_path: Path) -> None:
    wrong = examples(code, "wrong")
    assert wrong
    for example in wrong:
        assert {p.code for p in problems_in(example, tmp_path, code)} == {code}


@every_code
def test_the_right_example_has_no_problem(code: str, tmp_path: Path) -> None:
    right = examples(code, "right")
    assert right
    for example in right:
        assert [p.show() for p in problems_in(example, tmp_path, code)] == []


def test_there_is_no_page_without_a_code() -> None:
    assert sorted(p.stem for p in PAGES.glob("LB*.md")) == sorted(CODES)


def test_the_index_lists_every_page() -> None:
    index = (PAGES / "README.md").read_text("utf-8")
    listed = re.findall(r"(?m)^\| \[(LB\d{4})\]\(\1\.md\) \| (.+) \|$", index)
    assert dict(listed) == CODES
    assert [code for code, _ in listed] == sorted(CODES)
    assert all(code in index.split("##")[0] for code in WARNINGS)
