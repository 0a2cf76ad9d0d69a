"""Text to nodes: true positions, every problem, and no text that brings the parser down."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from longbox.dsl import nodes as n
from longbox.dsl.compiler import read_packs
from longbox.dsl.format import same_tree
from longbox.dsl.parse import NESTING_MAX, PROBLEMS_MAX, SIZE_MAX, parse, parse_clause
from longbox.dsl.source import Source

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = {".venv", "build", "dist", "broken", "broken_packs"}
TEXTS = sorted(f for f in ROOT.rglob("*.box") if not NOT_OURS & set(f.relative_to(ROOT).parts))
GAMES = [ROOT / "expansions" / name / f"{name}.box" for name in ("tic_tac_toe", "leduc", "uno")]


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def codes(text: str) -> list[tuple[int, str]]:
    """Line and code of every problem found while parsing."""
    return [(p.span.line, p.code) for p in parse(Source("x.box", text))[1]]


def tree(text: str) -> list[n.Decl]:
    decls, problems = parse(Source("x.box", text))
    assert problems == []
    return decls


# -- positions ---------------------------------------------------------------------------------------
def test_positions_are_those_of_the_file() -> None:
    kind, zone = tree("\n# first\nkind coin is token\n\n    has worth: number\n\n\nzone  deck\n")
    assert isinstance(kind, n.Kind) and isinstance(zone, n.ZoneDecl)
    (member,) = kind.members
    assert isinstance(member, n.Field)
    spans = [kind.name.span, member.name.span, zone.name.span]
    assert [(s.line, s.column, s.end_column) for s in spans] == [(3, 6, 10), (5, 9, 14), (8, 7, 11)]


def test_several_problems_in_one_file_are_found_at_their_lines() -> None:
    text = "\n".join(
        [
            'pack p "P"',
            "kind",
            "",
            "verb try:",
            "    let",
            "    draw game",
            "    if x",
            "        stop",
            "    now",
            "# a comment",
            "    deal it called",
            "zone deck",
            "state x number",
            'card "A" x',
            "zone z",
        ]
    )
    assert codes(text) == [(line, "LB0101") for line in (2, 5, 7, 9, 11, 13, 14)]


def test_a_verb_with_a_bad_body_is_still_known() -> None:
    text = "verb burn it:\n    let\nquery best -> number:\n    let\nround:\n    burn it\n    let x = best\n"
    assert [p.code for p in read_packs([Source("x.box", text)]).problems] == ["LB0101", "LB0101"]


def test_a_look_alike_letter_hides_no_other_problem() -> None:
    assert codes("zone dеck\nkind\nstate ludicrous: number = 99999999999\n") == [
        (1, "LB0106"),
        (2, "LB0101"),
        (3, "LB0108"),
    ]


def test_one_problem_is_told_once() -> None:
    assert codes("verb try:\n    if (a:\n        stop\n    draw game\n") == [(2, "LB0101")]
    chain = "    if a\n        stop\n    else if b\n        stop\n    else:\n        stop\n"
    assert codes("verb try:\n" + chain) == [(2, "LB0101")]


# -- line ends and margins of files ------------------------------------------------------------------
@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("\n", "\r\n"),
        lambda t: "\ufeff" + t,
        lambda t: t.rstrip("\n"),
        lambda t: "\n\n" + t,
        lambda t: "# c\n   # d\n" + t,
        lambda t: t + "\n  \n    # at the end",
    ],
    ids=["windows", "mark", "no last newline", "blank lines", "comments", "comment at the end"],
)
def test_how_a_file_begins_and_ends_does_not_matter(change: Callable[[str], str]) -> None:
    text = GAMES[0].read_text("utf-8")
    assert same_tree(tree(text), tree(change(text)))


@pytest.mark.parametrize("text", ["", "\n", "   ", "\r\n", "# only this", "\ufeff", "   # indented"])
def test_a_file_without_declarations_is_empty(text: str) -> None:
    assert tree(text) == []


def test_a_clause_can_be_read_on_its_own() -> None:
    assert str(parse_clause("x", 'the hero\'s hand - (2 + "a")')) == 'the hero\'s hand - (2 + "a")'


# -- bounds ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("state x: number = " + "9" * 5000, "LB0108"),
        ('card "A" x ' + "9" * 5000, "LB0108"),
        ("supply " + "1" * 100_000 + " token", "LB0108"),
        ("state x: number = " + "(" * 50_000 + "1" + ")" * 50_000, "LB0109"),
        ("verb " + "[" * 50_000 + "a" + "]" * 50_000 + ":\n    stop", "LB0109"),
        ("state x: number = " + "1 + " * 50_000 + "1", "LB0109"),
        ("verb x:\n" + "\n".join(" " * i + "if a:" for i in range(1, 1500)), "LB0109"),
        ("#" + " " * SIZE_MAX, "LB0109"),
    ],
    ids=["digits", "copies", "supply", "brackets", "optional parts", "words", "blocks", "size"],
)
def test_a_monstrous_text_is_a_problem_and_no_crash(text: str, code: str) -> None:
    began = time.perf_counter()
    assert {found for _, found in codes(text)} == {code}
    assert time.perf_counter() - began < 20


def test_numbers_and_nesting_at_the_bound_are_fine() -> None:
    assert codes("state x: number = 1000000000\nstate y: number = 0000000000000000000000007\n") == []
    assert codes(f"state x: number = {'(' * NESTING_MAX}1{')' * NESTING_MAX}\n") == []
    blocks = "\n".join("    " * i + "if a:" for i in range(1, NESTING_MAX))
    assert codes(f"verb x:\n{blocks}\n{'    ' * NESTING_MAX}stop\n") == []


def test_a_file_full_of_problems_is_read_in_good_time() -> None:
    found = codes("kind\n" * 20_000)
    assert PROBLEMS_MAX <= len(found) < PROBLEMS_MAX + 30


# -- threads -----------------------------------------------------------------------------------------
def test_parses_in_threads_do_not_disturb_each_other() -> None:
    sources = [Source(shown(path), path.read_text("utf-8")) for path in TEXTS if path.stat().st_size < 12_000]
    alone = [parse(source) for source in sources]
    with ThreadPoolExecutor(8) as pool:
        for results in pool.map(lambda _: [parse(source) for source in sources], range(8)):
            assert results == alone


# -- mutations ---------------------------------------------------------------------------------------
TOKEN = re.compile(r"""(?m)^[ \t]*\|.*$|"[^"\n]*"|\#[^\n]*|'s\b|[A-Za-z_][A-Za-z0-9_-]*|[0-9]+|->|[^\s\w]""")
FIXED = ('"', "#", "|", " ", "\t")  # texts, comments and rows may say anything


STRANGE = "abz 019\n\t\r\"'#|()[]:,.?=+-*/<>{}!;\\\0\x0b\x0c\x1f\x85\xa0éе“\u200b\u2028\U0001f3b2"


def misspelt(word: str, rng: random.Random) -> str:
    at = rng.randrange(len(word))
    return word[:at] + rng.choice(["", "q", word[at] * 2]) + word[at + 1 :]


def mutated(text: str, rng: random.Random) -> str:
    """The text with one token dropped, doubled, misspelt, or swapped with its neighbour."""
    tokens = [m for m in TOKEN.finditer(text) if not m[0].startswith(FIXED)]
    at = rng.randrange(len(tokens) - 1)
    one, two = tokens[at], tokens[at + 1]
    match rng.choice(["drop", "double", "misspell", "swap"]):
        case "drop":
            return text[: one.start()] + text[one.end() :]
        case "double":
            return text[: one.end()] + " " + text[one.start() :]
        case "misspell":
            return text[: one.start()] + misspelt(one[0], rng) + text[one.end() :]
        case _:
            return text[: one.start()] + two[0] + text[one.end() : two.start()] + one[0] + text[two.end() :]


def test_most_slips_of_the_pen_are_noticed() -> None:
    rng, noticed, tried = random.Random(7), 0, 0
    for path in GAMES:
        text = path.read_text("utf-8")
        for _ in range(60):
            changed = mutated(text, rng)
            checked = read_packs([Source(path.name, changed)])
            lines = len(changed.split("\n"))
            assert all(1 <= p.span.line <= lines for p in checked.problems if p.span.file == path.name)
            assert checked.show() or not checked.problems
            noticed += bool(checked.problems)
            tried += 1
    assert noticed / tried >= 0.9


@pytest.mark.parametrize("path", TEXTS, ids=shown)
def test_no_slip_of_the_pen_brings_the_parser_down(path: Path) -> None:
    rng, text = random.Random(shown(path)), path.read_text("utf-8")
    for _ in range(6):
        changed = text
        for _ in range(rng.randrange(1, 12)):
            changed = mutated(changed, rng)
        source = Source(path.name, changed)
        for problem in parse(source)[1]:
            assert problem.show(source)
            assert 1 <= problem.span.line <= len(source.lines())


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from(STRANGE), max_size=60))
@example("verb a:\n    b\n   # c\n  d")
@example("if\n\n\n   (")
@example('pack p "P"\r\n\r    version 1.0')
def test_no_text_brings_the_parser_down(text: str) -> None:
    for start in ("", "verb x:\n    ", 'card "A"\n    ', 'board "B"\n    map squares:\n        '):
        source = Source("x.box", start + text)
        for problem in parse(source)[1]:
            assert problem.show(source)
