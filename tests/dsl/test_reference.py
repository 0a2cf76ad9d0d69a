"""docs/language.md is true: its examples check, what it names exists, its small lines read as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longbox.dsl.compiler import compile_packs, read_packs
from longbox.dsl.parse import parse
from longbox.dsl.source import Source
from longbox.dsl.vocabulary import STARTERS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "language.md").read_text("utf-8")
GAME = (ROOT / "tests" / "dsl" / "reference.box").read_text("utf-8")
BOX = re.findall(r"```box\n(.*?)```", PAGE, re.S)
TEXT = re.findall(r"```text\n(.*?)```", PAGE, re.S)


def test_the_examples_marked_box_make_one_game_that_compiles() -> None:
    assert len(BOX) >= 2
    texts = [Source("reference.box", GAME), *(Source(f"example{i}.box", text) for i, text in enumerate(BOX))]
    checked = read_packs(texts)
    assert checked.errors == [], checked.show()
    compile_packs(texts)


@pytest.mark.parametrize(
    "example",
    [t for t in TEXT if re.match(r"(pack|game|kind|uno card|board|hero) ", t)],
    ids=lambda t: t.split("\n")[0][:30],
)
def test_the_declarations_shown_can_be_parsed(example: str) -> None:
    lines = [line for line in example.split("\n") if not line.strip().startswith("orders:")]
    decls, problems = parse(Source("example.box", "\n".join(lines)))
    assert problems == [], [p.show() for p in problems]
    assert decls


def test_every_reserved_word_is_listed() -> None:
    section = PAGE.split("## 9. Reserved words")[1].split("## 10.")[0]
    listed = set(re.findall(r"[a-z]+", section))
    assert listed >= STARTERS
    for word in STARTERS:
        text = f'pack t "T"\nverb {word} (n: number):\n    put n x on you\n'
        codes = {p.code for p in read_packs([Source("t.box", text)]).problems}
        assert codes & {"LB0217", "LB0101"}, word


def test_the_bounds_are_those_of_the_kernel() -> None:
    from longbox.kernel.state import BUDGET, EVENTS_MAX, NUMBER_MAX, THINGS_MAX

    section = PAGE.split("## 10. Bounds")[1]
    for bound in (BUDGET, EVENTS_MAX, THINGS_MAX, NUMBER_MAX):
        assert f"{bound:,}" in section
