"""Broken texts give the problems that their comments expect, and no others; their full messages are kept.

The messages lie in tests/dsl/messages, a file for each case. After a change of wording look them through and
write them anew: LONGBOX_UPDATE=1 pytest tests/dsl/test_broken.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from broken_texts import CASES, ROOT, Found, found_in, marks_in, name_of

from longbox.dsl.problems import CODES

MESSAGES = Path(__file__).parent / "messages"
every_case = pytest.mark.parametrize("case", CASES, ids=name_of)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages show paths below the current folder."""
    monkeypatch.chdir(ROOT)


def messages_of(case: Path) -> str:
    return "\n".join(found.shown for found in found_in(case)) + "\n"


@every_case
def test_each_line_earns_the_problem_beside_it(case: Path) -> None:
    marks, found = list(marks_in(case)), found_in(case)
    unmet = [mark for mark in marks if not any(mark.fits(x) for x in found)]
    unexpected = [x for x in found if not any(mark.fits(x) for mark in marks)]
    assert (unmet, unexpected) == ([], [])
    assert len(marks) == len(found) > 0


@every_case
def test_the_message_reads_as_kept(case: Path) -> None:
    kept = MESSAGES / f"{case.stem}.txt"
    if os.environ.get("LONGBOX_UPDATE"):
        MESSAGES.mkdir(exist_ok=True)
        kept.write_text(messages_of(case), "utf-8")
    assert messages_of(case) == kept.read_text("utf-8")


def test_no_message_is_left_over() -> None:
    assert sorted(p.stem for p in MESSAGES.glob("*")) == sorted(case.stem for case in CASES)


def test_every_code_has_a_broken_text() -> None:
    earned = {found.code for case in CASES for found in found_in(case)}
    assert sorted(set(CODES) - earned) == []
    assert "OverBudget" in earned


def test_a_mark_that_differs_in_anything_does_not_fit() -> None:
    case = CASES[0]
    mark = next(iter(marks_in(case)))
    fitting = Found(mark.file, mark.line, mark.code, mark.part, mark.under, "")
    assert mark.fits(fitting)
    assert not mark.fits(Found(mark.file, mark.line + 1, mark.code, mark.part, mark.under, ""))
    assert not mark.fits(Found(mark.file, mark.line, "LB0101", mark.part, mark.under, ""))
    assert not mark.fits(Found(mark.file, mark.line, mark.code, mark.part, mark.under + "x", ""))
    assert not mark.fits(Found(mark.file, mark.line, mark.code, "something else", mark.under, ""))
