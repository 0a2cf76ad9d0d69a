"""Law 3 across processes: any PYTHONHASHSEED, any supported Python, the same events byte for byte."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path

import lark
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import hashlib, json, sys
sys.path.insert(0, {tests!r})
from playing import GAMES, program, uniform
from longbox.kernel import Game
digest = hashlib.blake2b()
for game in GAMES:
    for seed in range(5):
        log = Game(program(game), seed=seed, start=False).play(uniform(seed)).log
        digest.update(json.dumps(log).encode())
print(digest.hexdigest())
"""


def interpreters() -> list[str]:
    """Other supported Pythons on this machine: on the path, or beside this one."""
    found = [shutil.which(f"python3.{minor}") for minor in (11, 12, 13, 14)]
    home = Path(sys.base_prefix).parent
    beside = [str(p) for minor in (11, 12, 13, 14) for p in sorted(home.glob(f"3.{minor}*/bin/python3"))]
    real = {os.path.realpath(p): p for p in [*filter(None, found), *beside]}
    real.pop(os.path.realpath(sys.executable), None)
    return sorted(p for p in real.values() if _runs(p))


def _runs(python: str) -> bool:
    """A shim for a Python that is not installed does not count."""
    return (
        subprocess.run(
            [python, "-c", "import sys; assert sys.version_info >= (3, 11)"], capture_output=True, check=False
        ).returncode
        == 0
    )


def _digest(python: str, hash_seed: str) -> str:
    libraries = Path(lark.__file__).resolve().parents[1]
    env = {
        **os.environ,
        "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": f"{ROOT / '.typing'}{os.pathsep}{libraries}",
    }
    script = SCRIPT.format(tests=str(ROOT / "tests"))
    done = subprocess.run(
        [python, "-S", "-c", script], env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def here() -> str:
    return _digest(sys.executable, "0")


@pytest.mark.parametrize("hash_seed", ["1", "2", "4242"])
def test_the_hash_seed_changes_nothing(here: str, hash_seed: str) -> None:
    assert len(here) == blake2b().digest_size * 2
    assert _digest(sys.executable, hash_seed) == here


@pytest.mark.parametrize(
    "python",
    interpreters() or [pytest.param("", marks=pytest.mark.skip(reason="no other supported Python here"))],
)
def test_every_supported_python_gives_the_same_events(here: str, python: str) -> None:
    version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout
    assert _digest(python, "7") == here, version
