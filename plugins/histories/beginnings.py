"""How a history begins: its first body, what a fork takes along, and names."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import count
from typing import Any

import msgspec

from longbox.kernel import Game, Program

from ..loader import pack_texts
from .bodies import AnyBody, Decided, Revealed, Sealed, Started, pack_events
from .errors import HistoryError
from .session import chained, commits, row_for
from .store import Row
from .timeline import Timeline

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


# ---------------------------------------------------------------- the first body
def header(program: Program, game: Game, **more: Any) -> Started:
    """What a game is, from its rules and the game itself."""
    return Started(
        game=program.game,
        title=program.title,
        packs=packs_of(program),
        seats=list(game.seat_names),
        settings=dict(game.settings),
        reading=reading_of(program),
        **more,
    )


def packs_of(program: Program) -> list[dict[str, Any]]:
    """The packs with versions and content hashes."""
    return [
        {key: pack[key] for key in ("id", "title", "version", "hash", "files") if key in pack}
        for pack in program.tables["packs"]
    ]


def reading_of(program: Program) -> dict[str, Any]:
    """What is needed to read events without rules: files, and what verbs, fields and values speak of."""

    def some(table: Mapping[str, Mapping[str, Any]], keys: Sequence[str]) -> dict[str, dict[str, Any]]:
        return {name: {key: spec[key] for key in keys if key in spec} for name, spec in table.items()}

    return {
        "files": list(program.files),
        "verbs": some(program.verbs, ("slots", "told")),
        "fields": some(program.fields, ("attr", "type", "seen", "thing")),
        "values": some(program.values, ("attr", "type", "seen", "thing")),
    }


def changed_packs(recorded: Sequence[Mapping[str, Any]], program: Program) -> list[str]:
    """How the packs at hand differ from those recorded."""
    now = {pack["id"]: pack for pack in packs_of(program)}
    found = [f"pack {pack['id']} is missing" for pack in recorded if pack["id"] not in now]
    was = {pack["id"]: pack for pack in recorded}
    for name, pack in now.items():
        if name not in was:
            found.append(f"pack {name} was not there")
        elif was[name].get("hash", "") != pack.get("hash", ""):
            found.append(
                f"the text of pack {name} has changed (version {was[name]['version']}, now {pack['version']})"
            )
    return found


def texts_of(program: Program, texts: Mapping[str, str] | None) -> dict[str, str]:
    return dict(pack_texts(program) if texts is None else texts)


def rows_of(name: str, bodies: Sequence[AnyBody], at: str) -> list[Row]:
    """Bodies as the chain that begins a history."""
    rows, head = [], ""
    for number, body in enumerate(bodies, 1):
        row, head = row_for(name, number, chained(body, head), at)
        rows.append(row)
    return rows


def forked(line: Timeline, sealed: Sealed, at_event: int) -> list[AnyBody]:
    """The bodies of a new history with the decisions up to an event of another."""
    started = msgspec.structs.replace(
        line.started,
        parent=(line.id, at_event),
        facts=pack_events(line.opening),
        commitment=commits(sealed),
        packs=line.packs,
        texts=line.texts,
        bots=line.bots,
    )
    bodies: list[AnyBody] = [started]
    events = len(line.opening)
    for number, step in enumerate(line.steps, 1):
        if events > at_event:
            return bodies
        events += len(step.facts)
        facts = pack_events(step.facts)
        bodies.append(
            Decided(seat=step.seat, key=step.key, facts=facts, prev="", decisions=number, events=events)
        )
    if line.outcome is not None:
        bodies.append(
            Revealed(
                outcome=line.outcome,
                seed=sealed.seed,
                salt=sealed.salt,
                prev="",
                decisions=len(bodies) - 1,
                events=events,
            )
        )
    return bodies


# ---------------------------------------------------------------- names
def salt_of(seed: int) -> str:
    """The salt of a commitment. It follows from the seed, so that equal games are stored as equal bytes."""
    return blake2b(str(seed).encode(), digest_size=16, person=b"longbox salt").hexdigest()


def random_name() -> str:
    """Ten letters that can be read out: a thousand million times ten of them."""
    pairs = [first + second for first in "bdfghjklmnprstvwxyzc" for second in "aeiou"]
    return "".join(secrets.choice(pairs) for _ in range(5))


def numbered_names() -> Iterator[str]:
    prefix = random_name()
    return (f"{prefix}-{number:06}" for number in count(1))


def checked_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise HistoryError(
            f"{name!r} cannot name a history: letters, digits, '.', '_' and '-', at most 64 of them"
        )
    return name
