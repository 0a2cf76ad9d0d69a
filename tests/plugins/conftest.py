"""The command line, run in this process: `longbox("play", "uno", stdin="1\\n")` gives code, out and err."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from running import Longbox, Ran

from longbox.plugins.cli import main


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "games.sqlite"


@pytest.fixture
def longbox(db: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Longbox:
    """Run a command with a database of its own. What is typed comes from `stdin`."""
    monkeypatch.setenv("LONGBOX_DB", str(db))

    def run(*words: str, stdin: str = "") -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = main(words)
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run
