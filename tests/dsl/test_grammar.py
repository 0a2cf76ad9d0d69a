"""The grammar is sound, complete, and what the reference says about it is true."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lark import Lark

from longbox.dsl import nodes as n
from longbox.dsl.indenter import BlockIndenter
from longbox.dsl.parse import _READABLE, _fixed_words, grammar_text, parse, parser
from longbox.dsl.source import Source
from longbox.dsl.vocabulary import STARTERS

ROOT = Path(__file__).resolve().parents[2]
IGNORED = {"COMMENT", "COMMA", "EQ", "SLASH", "QUESTION"}  # never expected, or fixed signs


@cache
def fixed_words() -> frozenset[str]:
    """Every word that the grammar spells out, alone or in a pattern."""
    plain = {t.pattern.value for t in parser().terminals if t.pattern.type == "str"}
    lists = [t.pattern.value for t in parser().terminals if re.match(r"\((?!\?)[a-z |]+\)", t.pattern.value)]
    listed = {w for text in lists for part in text[1 : text.index(")")].split("|") for w in part.split()[:1]}
    return frozenset(w for w in plain | listed | {"time", "times"} if w.isalpha())


@cache
def reference() -> str:
    """Section 9 of the language reference, as one line."""
    text = (ROOT / "docs" / "language.md").read_text("utf-8")
    section = re.search(r"(?s)## 9\. Reserved words\n(.*?)\n## ", text)
    assert section
    return " ".join(section[1].split())


def statements(text: str) -> tuple[Any, ...]:
    decls, problems = parse(Source("x.box", f"round:\n    {text}\n"))
    if problems:
        return ()
    (section,) = decls
    assert isinstance(section, n.Section)
    return section.block.stmts


# -- the grammar itself ------------------------------------------------------------------------------
def test_the_grammar_has_no_conflicts() -> None:
    """Lark settles conflicts in silence unless it is told to be strict."""
    indenter: Any = BlockIndenter()
    Lark(
        grammar_text(),
        parser="lalr",
        postlex=indenter,
        propagate_positions=True,
        maybe_placeholders=True,
        strict=True,
        start=["start", "clause"],
    )


def test_every_rule_has_a_node_and_every_node_a_rule() -> None:
    rules = {rule.alias or rule.origin.name for rule in parser().rules}
    shown = {str(getattr(name, "value", name)) for name in rules}
    assert {name for name in shown if not name.startswith("_")} == set(n._CLASSES)


def test_every_field_of_a_node_but_the_last_takes_one_child() -> None:
    for cls, count, rest in n._CLASSES.values():
        own = [f for f in cls.__dataclass_fields__.values() if f.name != "span"]
        assert len(own) == count
        assert [f.name for f in own[:-1] if str(f.type).startswith("tuple[")] == []
        assert rest == (bool(own) and str(own[-1].type).startswith("tuple["))


def test_authors_never_see_a_name_of_a_terminal() -> None:
    known = set(_READABLE) | set(_fixed_words())
    terminals = {t.name for t in parser().terminals} | {"_INDENT", "_DEDENT", "$END"}
    assert {t for t in terminals - known - IGNORED if not t.startswith("__IGNORE")} == set()


# -- reserved words ----------------------------------------------------------------------------------
def test_the_words_that_begin_a_statement_are_listed() -> None:
    listed = re.search(r"At the start of a statement: ([a-z ]+)\.", reference())
    assert listed
    assert set(listed[1].split()) == STARTERS


@pytest.mark.parametrize("word", sorted(fixed_words()))
def test_a_word_that_begins_no_verb_is_reserved(word: str) -> None:
    """A verb may begin with it, if the line is then read as a clause."""
    found = statements(f"{word} cards to it")
    plain = len(found) == 1 and isinstance(found[0], n.Line) and str(found[0].clause) == f"{word} cards to it"
    assert plain or word in STARTERS


def test_every_reserved_word_is_a_word_of_the_grammar() -> None:
    assert STARTERS - fixed_words() - {"instead"} == set()
    assert "instead of" in grammar_text()


@pytest.mark.parametrize("word", sorted(fixed_words() - {"called", "until", "may"}))
@pytest.mark.parametrize(
    "shape",
    [
        "deal {} cards",
        "deal {}",
        "if deal {}: stop",
        "if deal {} cards: stop",
        "for each card {}: stop",
        "let x = deal {}",
        "now x is deal {}",
        "choose a card {}",
        "you may deal {}",
        "answer deal {}",
        "phase deal {}: stop",
        "secretly each card {}: stop",
        "repeat while deal {}: stop",
    ],
)
def test_inside_a_clause_every_other_word_is_free(word: str, shape: str) -> None:
    assert statements(shape.format(word))


@pytest.mark.parametrize("word", ["called", "until", "may"])
def test_three_words_end_a_clause_wherever_they_are(word: str) -> None:
    assert f"{word}" in re.findall(r"\*\*(.+?)\*\* end", reference())[0].split(", ")
    assert all(word not in str(getattr(s, "clause", "")) for s in statements(f"deal {word} cards"))


def test_the_words_after_a_comma_are_listed() -> None:
    listed = re.search(r"After a comma: ([a-z ,]+)\.", reference())
    assert listed
    mods = re.search(r'_mod: "," \( (.+?) \)', grammar_text())
    assert mods
    rules = [re.search(rf'(?m)^{name}: "(\w+)"', grammar_text()) for name in mods[1].split(" | ")]
    assert {m[1] for m in rules if m} - set(re.findall(r"\w+", listed[1])) <= {"saying"}
