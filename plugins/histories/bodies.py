"""What is stored: one body for each decision, as JSON.

A stored event is `{...,"hash":"..."}`: readable JSON whose last member is a hash of its topic and of all that
stands before it. Each body names the hash of the one before (`prev`), so the bodies of a game form a chain. A
time, if one is kept, stands behind the hash: it takes part in nothing.

Topics are our own words with a version (`longbox.decided.v2`) and never change; a body of an older version is
lifted by the functions in UPCASTERS, one version at a time.

Events are tuples, and JSON knows none. Outside of objects an array stands for a tuple, inside for a list.
What is the other way round is marked: `{"[]": [...]}` is a list, `{"()": [...]}` a tuple, and `{"{}": {...}}`
an object that looks like a mark.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any, ClassVar, TypeAlias

import msgspec

from longbox.kernel import Event, Thing

from .errors import CorruptHistory, HistoryError

FORMAT = 1  # of the whole; bodies have versions of their own

encode: Callable[[Any], bytes] = msgspec.json.Encoder(order="deterministic").encode


class Body(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What all bodies have: a stable name and the number of their current version."""

    TOPIC: ClassVar[str] = ""
    VERSION: ClassVar[int] = 1

    @classmethod
    def topic(cls) -> str:
        return f"{cls.TOPIC}.v{cls.VERSION}"


class Started(Body, frozen=True, kw_only=True, omit_defaults=True):
    """The first body: all that is needed to read the rest, with or without the rules.

    It stands also, without a commitment and with the box as its only fact, for the common part of many
    simulated games (see Played).
    """

    TOPIC: ClassVar[str] = "longbox.started"
    format: int = FORMAT
    game: str
    title: str
    packs: list[dict[str, Any]]
    seats: list[str]
    settings: dict[str, Any] = {}
    bots: dict[str, str] = {}  # seat -> which bot played it
    commitment: str = ""  # to seed and salt, which `Revealed` shows
    parent: tuple[str, int] | None = None  # forked from: history, event
    texts: dict[str, str] | None = None  # the packs themselves
    reading: dict[str, Any]  # files, verbs, fields and values: what events speak of
    facts: msgspec.Raw


class Decided(Body, frozen=True, kw_only=True, omit_defaults=True):
    """An answer, and everything that followed from it. Totals are those after it."""

    TOPIC: ClassVar[str] = "longbox.decided"
    VERSION: ClassVar[int] = 2
    seat: Thing | None
    key: str
    decisions: int = -1  # -1: an old body that did not count
    events: int = -1
    facts: msgspec.Raw
    prev: str


class Undone(Body, frozen=True, kw_only=True, omit_defaults=True):
    """Everything after the stored event `to` is taken back. It stays stored."""

    TOPIC: ClassVar[str] = "longbox.undone"
    seat: Thing | None
    to: int
    decisions: int
    events: int
    prev: str


class Repacked(Body, frozen=True, kw_only=True, omit_defaults=True):
    """From here on the game is played with other packs; that they lead to the same events was checked."""

    TOPIC: ClassVar[str] = "longbox.repacked"
    packs: list[dict[str, Any]]
    texts: dict[str, str] | None = None
    reading: dict[str, Any]
    decisions: int
    events: int
    prev: str


class Revealed(Body, frozen=True, kw_only=True, omit_defaults=True):
    """The game is over: its outcome, and the seed that the first body is committed to."""

    TOPIC: ClassVar[str] = "longbox.revealed"
    outcome: dict[str, Any]
    seed: str
    salt: str
    decisions: int
    events: int
    prev: str


class Sealed(Body, frozen=True, kw_only=True, omit_defaults=True):
    """Seed and salt of a running game. Kept apart, so that its history can be shown to anybody."""

    TOPIC: ClassVar[str] = "longbox.sealed"
    seed: str
    salt: str


class Played(Body, frozen=True, kw_only=True, omit_defaults=True):
    """A whole finished game in one body. `box` is the hash of the `Started` it shares with others."""

    TOPIC: ClassVar[str] = "longbox.played"
    box: str
    seed: str
    bots: dict[str, str] = {}
    decisions: int
    events: int
    outcome: dict[str, Any]
    facts: msgspec.Raw


AnyBody: TypeAlias = Started | Decided | Undone | Repacked | Revealed | Sealed | Played
BODIES: dict[str, type[AnyBody]] = {
    b.TOPIC: b for b in (Started, Decided, Undone, Repacked, Revealed, Sealed, Played)
}


# ---------------------------------------------------------------- older versions
def _decided_1(old: dict[str, Any]) -> dict[str, Any]:
    """Version 1 named all seats that were asked, and called the key a choice."""
    who = old.pop("who")
    return {**old, "seat": who[0] if len(who) == 1 else None, "key": old.pop("choice")}


UPCASTERS: dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {
    ("longbox.decided", 1): _decided_1,
}
_READ = {b.topic(): msgspec.json.Decoder(b).decode for b in BODIES.values()}


def read_body(topic: str, plain: bytes) -> AnyBody:
    """The body that a stored event holds, lifted to the current version."""
    read = _READ.get(topic)
    if read is not None:
        return read(plain)
    name, _, number = topic.rpartition(".v")
    if name not in BODIES or not number.isdigit() or int(number) > BODIES[name].VERSION:
        raise HistoryError(f"{topic!r} is unknown here: it was stored by a newer Longbox, which can read it")
    raw: dict[str, Any] = msgspec.json.decode(plain)
    for version in range(int(number), BODIES[name].VERSION):
        raw = UPCASTERS[name, version](raw)
    return read_body(BODIES[name].topic(), encode(raw))


# ---------------------------------------------------------------- the outside of a stored event
_TAIL = re.compile(rb',"hash":"([0-9a-f]{32})"(?:,"at":"([^"\\]*)")?\}$')
BYTES_MAX = 1 << 28  # of one stored event
_PRESSED = b"\x78"  # how zlib's streams begin; JSON begins with a brace


def hash_of(topic: str, plain: bytes) -> str:
    return blake2b(topic.encode() + b"\n" + plain, digest_size=16).hexdigest()


def wrap(topic: str, plain: bytes, at: str = "", compress: bool = False) -> tuple[bytes, str]:
    """A body's JSON as it is stored, and its hash."""
    mark = hash_of(topic, plain)
    time = b',"at":' + encode(at) if at else b""
    state = b'%b,"hash":"%b"%b}' % (plain[:-1], mark.encode(), time)
    return (zlib.compress(state, 1) if compress else state), mark


def unwrap(topic: str, state: bytes) -> tuple[bytes, str, str]:
    """A body's JSON, its hash and its time. Raises if one byte of it is not as it was stored."""
    state = _unpressed(state) if state[:1] == _PRESSED else state
    tail = _TAIL.search(state[-200:])
    if tail is None:
        raise CorruptHistory("it does not end with its hash")
    plain = state[: len(state) - len(tail[0])] + b"}"
    found = hash_of(topic, plain)
    if found != tail[1].decode():
        raise CorruptHistory(
            f"its content was changed: it has the hash {found}, stored is {tail[1].decode()}"
        )
    return plain, found, (tail[2] or b"").decode()


def _unpressed(state: bytes) -> bytes:
    """Unpacked, within a bound: a few bytes can hold a great many."""
    unpack = zlib.decompressobj()
    try:
        plain = unpack.decompress(state, BYTES_MAX)
    except zlib.error as error:
        raise CorruptHistory(f"it cannot be unpacked ({error})") from None
    if not unpack.eof:
        raise CorruptHistory("it cannot be unpacked: its end is missing, or it is too large")
    return plain


# ---------------------------------------------------------------- events, exactly
_ATOMS = frozenset({str, int, bool, type(None), float})
_FLAT = frozenset(
    {  # events that hold nothing but atoms and tuples of atoms, by how fold.py makes them
        "moved",
        "swept",
        "shuffled",
        "laid",
        "owned",
        "shown",
        "picked",
        "began",
        "ended",
        "answered",
        "used",
        "edged",
        "lapsed",
        "borrowed",
        "returned",
    }
)
_MARKS = frozenset({"[]", "()", "{}"})


def pack_events(events: Iterable[Event]) -> msgspec.Raw:
    """Events as JSON, so that `unpack_events` gives back equal ones."""
    plain = _ATOMS.issuperset  # most events need no second look, and there are many
    return msgspec.Raw(
        encode(
            [
                event
                if event[0] in _FLAT or plain(map(type, event)) or _is_flat(event)
                else _marked(event, False)
                for event in events
            ]
        )
    )


def _is_flat(values: tuple[Any, ...]) -> bool:
    """Nothing but atoms, and tuples of such."""
    return all(v.__class__ in _ATOMS or (v.__class__ is tuple and _is_flat(v)) for v in values)


def _marked(value: Any, inside: bool) -> Any:
    """A value with its lists and tuples told apart. `inside`: of an object, where arrays are lists."""
    match value:
        case tuple():
            items = [_marked(v, inside) for v in value]
            return {"()": items} if inside else items
        case list():
            items = [_marked(v, inside) for v in value]
            return items if inside else {"[]": items}
        case dict():
            if not all(isinstance(key, str) for key in value):
                raise HistoryError(f"an event holds a table whose keys are not words: {value!r:.200}")
            plain = {key: _marked(v, True) for key, v in value.items()}
            return {"{}": plain} if len(plain) == 1 and _MARKS & plain.keys() else plain
        case str() | int() | float() | None:
            return value
    raise HistoryError(f"an event holds something that cannot be stored: {value!r:.200}")


def unpack_events(facts: msgspec.Raw | bytes) -> tuple[Event, ...]:
    """Events from JSON."""
    found: list[list[Any]] = msgspec.json.decode(facts)
    return tuple([_exact(event, False) for event in found])


def _exact(value: Any, inside: bool) -> Any:
    if value.__class__ in _ATOMS:
        return value
    if value.__class__ is list:
        items = [v if v.__class__ in _ATOMS else _exact(v, inside) for v in value]
        return items if inside else tuple(items)
    if len(value) == 1 and (mark := next(iter(value))) in _MARKS:
        held = value[mark]
        if mark == "{}":
            return {key: _exact(v, True) for key, v in held.items()}
        items = [_exact(v, inside) for v in held]
        return items if mark == "[]" else tuple(items)
    return {key: _exact(v, True) for key, v in value.items()}


def split_decisions(events: Sequence[Event]) -> tuple[Sequence[Event], list[Sequence[Event]]]:
    """The events before the first answer, then those of each answer."""
    starts = [at for at, event in enumerate(events) if event[0] == "answered"]
    ends = [*starts[1:], len(events)]
    return events[: starts[0] if starts else len(events)], [events[a:b] for a, b in zip(starts, ends)]
