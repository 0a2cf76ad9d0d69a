"""The cache of compiled code: exact, silent about trouble, and never half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from longbox.kernel import Compiled, Program
from longbox.plugins import codecache
from longbox.plugins.loader import games, load_game, program_from_texts

TEXTS = {"a/a.box": "pack a", "a/b.box": "kind b"}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("LONGBOX_CACHE", str(folder))
    return folder


def made(value: Any = 1) -> Compiled:
    return Compiled({"value": value}, (compile("x = 1", "a/a.box", "exec"),))


def exactly(one: Any, other: Any) -> bool:
    """Equal, and of the same types all the way down: 1 is not True, a list is no tuple."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(exactly(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(exactly, one, other))
    return bool(one == other)


@pytest.mark.parametrize("game", [pack.id for pack in games(installed=False)])
def test_the_tables_of_every_game_come_back_exactly(game: str) -> None:
    compiled = load_game(game, cache=False).compiled
    back = codecache.unpacked("key", codecache.packed("key", compiled))
    assert back is not None and exactly(back.tables, compiled.tables) and back.code == compiled.code


def test_what_is_stored_is_found_again(cache: Path) -> None:
    key = codecache.key_of(TEXTS)
    assert codecache.load(key) is None
    assert codecache.store(key, made())
    assert codecache.load(key) == made()
    assert [path.name for path in cache.iterdir()] == [key + codecache.SUFFIX]


def test_the_key_depends_on_texts_names_and_their_order() -> None:
    other = [
        {"a/a.box": "pack a", "a/b.box": "kind c"},
        {"a/a.box": "pack a", "a/c.box": "kind b"},
        dict(reversed(TEXTS.items())),
        {"a/a.box": "pack aa", "/b.box": "kind b"},
        {"a/a.box": "pack a"},
    ]
    assert len({codecache.key_of(texts) for texts in [TEXTS, *other]}) == len(other) + 1


def test_the_key_depends_on_the_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    before = codecache.key_of(TEXTS)
    monkeypatch.setattr(codecache, "tools", lambda: b"another compiler")
    assert codecache.key_of(TEXTS) != before


def test_the_tools_are_grammar_compiler_kernel_and_python(monkeypatch: pytest.MonkeyPatch) -> None:
    before = codecache.tools()
    monkeypatch.setattr(sys, "version", sys.version + " changed")
    assert codecache.tools.__wrapped__() != before
    monkeypatch.undo()
    monkeypatch.setattr(codecache, "_files", lambda package: [])
    assert codecache.tools.__wrapped__() != before


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: b"x" + data[1:],
        lambda data: data[:-5] + b"?" + data[-4:],
        lambda data: b"#!/bin/sh\n",
        lambda data: data[:60],
    ],
)
def test_a_damaged_entry_is_passed_over_and_written_anew(cache: Path, damage: Any) -> None:
    codecache.store("key", made())
    path = cache / f"key{codecache.SUFFIX}"
    path.write_bytes(damage(path.read_bytes()))
    assert codecache.load("key") is None
    assert codecache.store("key", made()) and codecache.load("key") == made()


def test_an_entry_under_another_key_is_passed_over(cache: Path) -> None:
    codecache.store("one", made())
    (cache / f"one{codecache.SUFFIX}").rename(cache / f"two{codecache.SUFFIX}")
    assert codecache.load("two") is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner here")
def test_an_entry_of_somebody_else_is_passed_over(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    codecache.store("key", made())
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert codecache.load("key") is None


def test_off_means_off(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGBOX_CACHE", "off")
    assert not codecache.store("key", made()) and codecache.load("key") is None and not cache.exists()


def test_without_a_setting_it_lies_in_the_cache_folder_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LONGBOX_CACHE", raising=False)
    folder = codecache.folder()
    assert folder is not None and folder.name == "code" and "longbox" in folder.parts


def test_a_folder_that_cannot_be_written_to_is_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LONGBOX_CACHE", str(tmp_path / "file" / "cache"))
    assert not codecache.store("key", made()) and codecache.load("key") is None
    assert isinstance(load_game("tic_tac_toe"), Program)


def test_a_full_disk_leaves_nothing_behind(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: Any, target: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not codecache.store("key", made())
    assert list(cache.iterdir()) == []


def test_tables_that_are_not_plain_data_are_not_stored(cache: Path) -> None:
    class Text(str):
        """What the parser's tokens are."""

    assert not codecache.store("key", made(Text("x")))
    assert codecache.load("key") is None


def test_old_entries_give_way(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecache, "ENTRIES_MAX", 3)
    for number in range(5):
        codecache.store(f"key{number}", made())
        os.utime(cache / f"key{number}{codecache.SUFFIX}", (number, number))
    codecache.store("last", made())
    assert (
        len(list(cache.iterdir())) == 3
        and codecache.load("last") == made()
        and codecache.load("key0") is None
    )


def test_a_program_from_the_cache_needs_no_compiler_and_plays_the_same(cache: Path) -> None:
    code = """
import random, sys
from longbox.kernel import Game
from longbox.plugins.loader import load_game
rng = random.Random(1)
game = Game(load_game("uno"), seed=1).play(lambda question: rng.choice(question.keys))
print("lark" in sys.modules, game.log)
"""
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs[0].startswith("True [") and runs[1].startswith("False [")
    assert runs[0].removeprefix("True") == runs[1].removeprefix("False")


def test_a_poisoned_entry_is_compiled_again(cache: Path) -> None:
    texts = {"t/t.box": 'pack t "T"\ngame "T"\n    seats 2\nround:\n    draw game\n'}
    first = program_from_texts(texts)
    (entry,) = cache.iterdir()
    entry.write_bytes(b"poison")
    code = (
        "from longbox.plugins.loader import program_from_texts\n"
        f"print(program_from_texts({texts!r}).tables['content_hash'])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == first.tables["content_hash"] and entry.read_bytes() != b"poison"
