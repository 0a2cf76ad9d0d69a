"""Compiled code kept between runs, by the hash of all that it was made from.

The key covers the texts and their names, the standard words, the grammar, the sources of the compiler and
the kernel, and the Python that runs: change any of them and the entry is simply not found. An entry that
is damaged, cut short or owned by somebody else is passed over and written anew. Nothing that goes wrong here
ever stops a game.

The environment variable LONGBOX_CACHE names another folder; `off` switches the cache off. Entries hold code
that will run (Python's `marshal`), so the folder is the user's own and is made unreadable to others.
"""

from __future__ import annotations

import marshal
import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import CodeType

from longbox.kernel.program import Compiled

MAGIC = b"longbox code 1\n"
ENTRIES_MAX = 200  # the oldest give way
SUFFIX = ".code"
SOURCES = (".lark", ".box", ".py", ".pyc")
_SUM = 32  # bytes of a digest


def folder() -> Path | None:
    """Where entries are kept, or nothing if they are not."""
    wanted = os.environ.get("LONGBOX_CACHE", "").strip()
    if wanted.lower() == "off":
        return None
    if wanted:
        return Path(wanted)
    import platformdirs  # only here: a set LONGBOX_CACHE does without

    return platformdirs.user_cache_path("longbox", appauthor=False) / "code"


def key_of(texts: Mapping[str, str]) -> str:
    """The key of a program: its texts with their names, in order, and the tools that compile it."""
    digest = blake2b(tools(), digest_size=_SUM)
    for part in (p for pair in texts.items() for p in pair):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


@cache
def tools() -> bytes:
    """A digest of everything but the texts that decides what code comes out."""
    python = f"{sys.version} {sys.implementation.cache_tag} {marshal.version}"
    digest = blake2b(python.encode(), digest_size=_SUM)
    for package in ("longbox.grammar", "longbox.dsl", "longbox.kernel"):
        for file in _files(resources.files(package)):
            data = file.read_bytes()
            digest.update(f"{package} {file.name} {len(data)} ".encode() + data)
    return digest.digest()


def _files(package: Traversable) -> list[Traversable]:
    found = [file for file in package.iterdir() if file.name.endswith(SOURCES) and file.is_file()]
    return sorted(found, key=lambda file: file.name)


# ---------------------------------------------------------------- reading
def load(key: str) -> Compiled | None:
    """What was kept under this key, or nothing."""
    place = folder()
    if place is None:
        return None
    try:
        with open(place / (key + SUFFIX), "rb") as file:
            return unpacked(key, file.read()) if _is_ours(file.fileno()) else None
    except OSError:
        return None


def _is_ours(file: int) -> bool:
    return not hasattr(os, "geteuid") or os.fstat(file).st_uid == os.geteuid()


def packed(key: str, compiled: Compiled) -> bytes:
    """An entry as bytes. Raises ValueError if the tables hold anything but plain data."""
    body = key.encode() + marshal.dumps((compiled.tables, compiled.code))
    return MAGIC + blake2b(body, digest_size=_SUM).digest() + body


def unpacked(key: str, data: bytes) -> Compiled | None:
    """The same backwards; nothing if a single byte is wrong, since `marshal` trusts what it reads."""
    head = len(MAGIC) + _SUM
    body = data[head:]
    if data[:head] != MAGIC + blake2b(body, digest_size=_SUM).digest() or not body.startswith(key.encode()):
        return None
    try:
        tables, code = marshal.loads(body[len(key) :])
    except (EOFError, ValueError, TypeError):
        return None
    if not isinstance(tables, dict) or not all(isinstance(part, CodeType) for part in code):
        return None
    return Compiled(tables, code)


# ---------------------------------------------------------------- writing
def store(key: str, compiled: Compiled) -> bool:
    """Keep compiled code, whole or not at all. Says whether it could."""
    place = folder()
    if place is None:
        return False
    try:
        data = packed(key, compiled)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(place, key + SUFFIX, data)
    except (OSError, ValueError):
        return False
    _make_room(place)
    return True


def _write(place: Path, name: str, data: bytes) -> None:
    """Write beside, then put in place: a reader sees the old entry or the new one, never half of one."""
    handle, temporary = tempfile.mkstemp(prefix=".new-", dir=place)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, place / name)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _make_room(place: Path) -> None:
    with suppress(OSError):
        entries = [entry for entry in os.scandir(place) if entry.name.endswith(SUFFIX)]
        by_age = sorted((entry.stat().st_mtime, entry.path) for entry in entries)
        for _, path in by_age[:-ENTRIES_MAX]:
            os.unlink(path)
