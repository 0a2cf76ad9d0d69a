"""What holds for the repository as a whole: who imports whom, what lies where, what no file says.

Each check is a small function from text to findings. It is tried on a seeded mistake first, so that a
check that finds nothing is known to be able to find something.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CODE = ("kernel", "dsl", "plugins")
FOLDERS = (*CODE, "grammar", "expansions")
NOT_OURS = {".git", ".venv", ".typing", "build", "dist", "__pycache__"}

# Arrows point one way. A package's own modules are imported with dots, the others by their full name.
MAY_IMPORT = {
    "kernel": set(),
    "dsl": {"kernel"},
    "plugins": {"kernel", "dsl", "grammar", "expansions"},
}

GAME_WORDS = set(
    """
    hero heroes heroic superhero superheroes villain villains supervillain supervillains nemesis nemeses
    mastermind masterminds sidekick sidekicks lackey lackeys minion minions henchman henchmen underling
    underlings bystander bystanders damage damages damaged scheme schemes crisis crises showdown showdowns
    sentinel sentinels marvel uno leduc poker holdem tac toe tictactoe
    """.split()
)

RULES = {
    "heroes_incorporated": "HI",
    "heroes_wanted": "HW",
    "hour_of_need": "HON",
    "marvel_heroes": "MH",
    "sentinels_two_villains": "STV",
}

# Written so that these lines do not match themselves.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:home|root|work|farm|Users)/[\w.]|/tmp/(?:bash|venv)|C:\\Users")
REGISTRY_HOST = re.compile(r"\b(?:pypi\.org|pythonhosted\.org|registry\.npmjs\.org)\b")


# -- reading the repository --------------------------------------------------------------------------


def repository_files() -> list[Path]:
    """What git tracks or is about to; where there is no git checkout, what lies here."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        names = sorted({name for name in listed.split("\0") if name})
    else:
        names = sorted(walked_files())
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def walked_files() -> Iterator[str]:
    for folder, inner, names in os.walk(ROOT):
        inner[:] = [d for d in inner if d not in NOT_OURS and not d.endswith((".egg-info", "_cache"))]
        for name in names:
            yield str((Path(folder) / name).relative_to(ROOT))


FILES = repository_files()


def files_in(*folders: str, suffix: str = "") -> list[Path]:
    return [f for f in FILES if f.relative_to(ROOT).parts[0] in folders and f.name.endswith(suffix)]


def text_of(path: Path) -> str | None:
    """The text of a file, or nothing when it is not text."""
    data = path.read_bytes()
    try:
        return None if b"\0" in data else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# -- the checks --------------------------------------------------------------------------------------


def imports(source: str, package: str) -> Iterator[tuple[int, str, bool]]:
    """Line, full name and whether it was written with dots, of all that a module of `package` imports."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name, False) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                base = ".".join([*above, *([module] if module else [])])
                for alias in names:
                    yield node.lineno, f"{base}.{alias.name}", level > 0
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name, name.startswith(".")


def wrong_imports(source: str, package: str) -> list[str]:
    """Imports that a module of `package` (longbox.kernel, longbox.dsl.inner, ...) must not have."""
    home = package.split(".")[1]
    wrong = []
    for line, name, dotted in imports(source, package):
        parts = name.split(".")
        if parts[0] != "longbox":
            continue
        target = parts[1] if len(parts) > 1 else ""
        if target == home and not dotted:
            wrong.append(f"{line}: {name}: inside {home}/ import with dots")
        elif target != home and dotted:
            wrong.append(f"{line}: {name}: across folders import by the full name")
        elif target != home and target not in MAY_IMPORT[home]:
            wrong.append(f"{line}: {name}: {home}/ does not import {target or 'longbox'}")
    return wrong


def bare_imports(source: str) -> list[str]:
    """Imports of our folders as if they were packages of their own: a second set of classes."""
    found = imports(source, "somewhere")
    return [f"{line}: {name}" for line, name, dotted in found if not dotted and name.split(".")[0] in FOLDERS]


def game_words(text: str) -> list[str]:
    """Words of some game, also inside snake_case and CamelCase names."""
    return [
        f"{number}: {word}"
        for number, line in enumerate(text.splitlines(), 1)
        for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", line)
        if word.lower() in GAME_WORDS
    ]


def forbidden_places(text: str) -> list[str]:
    """Paths of somebody's machine and hosts of package registries."""
    return [
        f"{number}: {found.group()}"
        for number, line in enumerate(text.splitlines(), 1)
        for pattern in (MACHINE_PATH, REGISTRY_HOST)
        for found in pattern.finditer(line)
    ]


def package_of(path: Path) -> str:
    return ".".join(["longbox", *path.relative_to(ROOT).parent.parts])


# -- each check finds a seeded mistake ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("longbox.kernel", "from longbox.dsl import parse"),
        ("longbox.kernel", "from longbox import plugins"),
        ("longbox.kernel", "import longbox"),
        ("longbox.kernel", "from ..dsl import parse"),
        ("longbox.kernel", "from .. import dsl"),
        ("longbox.kernel.inner", "from ...dsl import parse"),
        ("longbox.kernel", "from longbox.kernel.events import Event"),
        ("longbox.kernel", "import longbox.grammar"),
        ("longbox.kernel", "import importlib\nimportlib.import_module('longbox.plugins.cli')"),
        ("longbox.kernel", "def late():\n    import longbox.dsl"),
        ("longbox.dsl", "from longbox.plugins import cli"),
        ("longbox.dsl", "import longbox.plugins.cli"),
        ("longbox.plugins", "from ..kernel import events"),
    ],
)
def test_a_wrong_import_is_found(package: str, source: str) -> None:
    assert len(wrong_imports(source, package)) == 1


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("longbox.kernel", "import json\nfrom collections import abc"),
        ("longbox.kernel", "from . import events\nfrom .events import Event"),
        ("longbox.kernel.inner", "from .. import events\nfrom ..events import Event\nfrom . import other"),
        ("longbox.dsl", "from longbox.kernel.events import Event\nfrom longbox import kernel"),
        ("longbox.plugins", "import longbox.dsl\nimport longbox.kernel.events\nfrom .manager import Manager"),
    ],
)
def test_a_right_import_is_left_alone(package: str, source: str) -> None:
    assert wrong_imports(source, package) == []


def test_a_bare_import_is_found() -> None:
    source = "import kernel.events\nfrom dsl import parse\nimport plugins as p"
    assert bare_imports(source) == ["1: kernel.events", "2: dsl.parse", "3: plugins"]
    assert bare_imports("from .kernel import state\nimport dsls\nimport longbox.kernel") == []


def test_a_game_word_is_found_inside_names() -> None:
    text = "the_hero = 1\nclass VillainDeck: ...\nDAMAGE_MAX = 3\nUNORDERED = 'unopened heron, schematic'"
    assert game_words(text) == ["1: hero", "2: Villain", "3: DAMAGE"]


def test_a_machine_path_and_a_registry_host_are_found() -> None:
    places = ["/home" + "/ann", "file:///root" + "/x", "(/work" + "/x)", "/tmp" + "/bash_x", "pypi" + ".org"]
    assert [len(forbidden_places(place)) for place in places] == [1] * len(places)
    assert forbidden_places("~/home/x, site/root/x, network/ and homework/x, mypypi.organ, /rooted/x") == []


# -- and the repository has none ---------------------------------------------------------------------


def test_there_is_something_to_read() -> None:
    assert {short(f) for f in FILES} >= {"pyproject.toml", "setup.py", *(f"{d}/__init__.py" for d in FOLDERS)}


@pytest.mark.parametrize("path", files_in(*CODE, suffix=".py"), ids=short)
def test_imports_point_one_way(path: Path) -> None:
    assert wrong_imports(path.read_text("utf-8"), package_of(path)) == []


def test_nobody_imports_our_folders_by_their_bare_names() -> None:
    sources = [f for f in FILES if f.suffix == ".py"]
    assert [f"{short(f)}:{found}" for f in sources for found in bare_imports(f.read_text("utf-8"))] == []


def test_expansions_are_text_only() -> None:
    """Also on disk, whatever git thinks of it; and the one module there is empty."""
    assert sorted(map(short, (ROOT / "expansions").rglob("*.py"))) == ["expansions/__init__.py"]
    assert (ROOT / "expansions" / "__init__.py").read_bytes() == b""


@pytest.mark.parametrize("path", files_in("kernel", "dsl", "grammar"), ids=short)
def test_kernel_language_and_grammar_know_no_game(path: Path) -> None:
    assert game_words(path.read_text("utf-8")) == []
    assert game_words(path.name) == []


@pytest.mark.parametrize("path", files_in(*CODE, suffix=".py"), ids=short)
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), f"{short(path)} has no docstring"


def test_every_folder_of_modules_is_a_package() -> None:
    """Without its __init__.py a folder works from here and is missing from the wheel."""
    folders = {f.parent for f in files_in(*CODE, suffix=".py")}
    assert [short(folder) for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def test_no_file_names_a_machine_or_a_registry() -> None:
    texts = {f: text for f in FILES if (text := text_of(f)) is not None}
    assert [f"{short(f)}:{found}" for f, text in texts.items() for found in forbidden_places(text)] == []


def test_there_is_no_lock_file() -> None:
    assert [short(f) for f in FILES if f.name == "uv.lock"] == []


def test_the_rules_of_each_game_are_here() -> None:
    assert sorted(f.stem for f in (ROOT / "docs" / "rules").glob("*.md")) == sorted(RULES)


@pytest.mark.parametrize(("game", "prefix"), RULES.items())
def test_rules_are_numbered(game: str, prefix: str) -> None:
    text = (ROOT / "docs" / "rules" / f"{game}.md").read_text("utf-8")
    assert len(set(re.findall(rf"\b{prefix}-[A-Z0-9]+-\d+", text))) > 50
