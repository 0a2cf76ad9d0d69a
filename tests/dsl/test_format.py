"""The formatter changes nothing but blanks: same tree, same words, every comment in its place, and stable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from box_texts import texts
from hypothesis import HealthCheck, given, settings

from longbox.dsl.format import format_text, same_tree
from longbox.dsl.parse import parse
from longbox.dsl.problems import TextError
from longbox.dsl.source import Source

ROOT = Path(__file__).resolve().parents[2]
PAIRS = sorted((Path(__file__).parent / "format").glob("*.in"))
NOT_OURS = {".venv", "build", "dist", "broken", "broken_packs"}
TEXTS = sorted(
    f
    for suffix in ("box", "scene")
    for f in ROOT.rglob(f"*.{suffix}")
    if not NOT_OURS & set(f.relative_to(ROOT).parts)
)


def formatted(text: str) -> str:
    return format_text(Source("x.box", text))


def words(text: str) -> list[str]:
    """What a formatter may not touch: every line that is not blank, without its blanks."""
    return [bare for line in text.removeprefix("\ufeff").split("\n") if (bare := re.sub(r"\s", "", line))]


def tree(text: str) -> list[object]:
    decls, problems = parse(Source("x.box", text))
    assert problems == []
    return list(decls)


def check_laws(text: str) -> None:
    once = formatted(text)
    assert same_tree(tree(text), tree(once))
    assert words(text) == words(once)
    assert formatted(once) == once
    assert not re.search(r"[ \t]\n|\r|\n\n\n\n|^\n|\n\n\Z", once)
    assert once == "" or once.endswith("\n")
    margins = [len(m[0]) for line in once.split("\n") if (m := re.match(r" *(?=\S)", line))]
    assert all(width % 4 == 0 for width in margins)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts())
def test_nothing_but_blanks_changes(text: str) -> None:
    check_laws(text)


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_every_text_of_the_repository_can_be_formatted(path: Path) -> None:
    check_laws(path.read_text("utf-8"))


@pytest.mark.parametrize("path", PAIRS, ids=lambda p: p.stem)
def test_a_text_is_laid_out_as_shown(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")
    assert formatted(text) == path.with_suffix(".out").read_text("utf-8")
    check_laws(text)


def test_there_are_pairs() -> None:
    assert len(PAIRS) >= 6


def test_a_text_with_problems_is_refused() -> None:
    with pytest.raises(TextError, match="LB0104"):
        formatted('pack p "P\n')


def test_an_empty_text_stays_empty() -> None:
    assert formatted("") == formatted("\n  \n\r\n") == ""


def test_line_ends_of_windows_and_its_mark_at_the_start_are_taken_away() -> None:
    assert formatted('\ufeffpack p "P"\r\n    version 1.0\r\n') == 'pack p "P"\n    version 1.0\n'


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("x gets + 1 attack", "x gets +1 attack"),
        ("x gets +1 attack", "x gets +1 attack"),
        ("x gets + number of y", "x gets + number of y"),
        ("let a=b-1", "let a = b - 1"),
        ("let a = - 1", "let a = -1"),
        ("let a = b -1", "let a = b -1"),
        ("let a = ( -b )", "let a = (-b)"),
        ("now x 's y' s is 2*3/4", "now x's y' s is 2 * 3 / 4"),
        ("if a<=b :stop", "if a <= b: stop"),
        ("deal 2x to(y)", "deal 2 x to (y)"),
        ('say"a  b"to x', 'say "a  b" to x'),
    ],
)
def test_blanks_inside_a_line(written: str, wanted: str) -> None:
    assert formatted(f"round:\n  {written}\n") == f"round:\n    {wanted}\n"


def test_forms_of_a_phrase_stay_tight_and_a_quotient_does_not() -> None:
    text = "query half / halves of( n:number=a/2 ) 's->number:n/2\n"
    assert formatted(text) == "query half/halves of (n: number = a / 2)'s -> number: n / 2\n"


def test_other_words_are_another_tree() -> None:
    assert not same_tree(tree("zone a\n"), tree("zone b\n"))
    assert not same_tree(tree("zone a\n"), tree("zone a\nzone b\n"))
    assert not same_tree(tree("zone a\n"), tree("window a\n"))
    assert same_tree(tree("zone  a\n"), tree("\n\nzone a # here\n"))
