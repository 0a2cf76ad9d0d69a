"""Events and tables as text for people. Log lines are rendered from events, never written by hand.

`Names` holds what is needed to read events: it comes from a running game or, without any rules, from the first
event of a history and its header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .state import Event, State
from .views import HIDDEN

_QUIET = frozenset(
    {
        "opened",
        "stepped",
        "began",
        "ended",
        "used",
        "edged",
        "lasts",
        "lapsed",
        "queued",
        "unqueued",
        "picked",
    }
)
_PIECES = re.compile(r"\[|\]|\([^()]*\)|[^\s\[\]()]+")


@dataclass
class Names:
    """What things are called, and what the values of events are."""

    keys: list[str]
    verbs: dict[str, dict[str, Any]] = field(default_factory=dict)
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, state: State, tables: dict[str, Any]) -> Names:
        return cls(state.key, tables["verbs"], tables["fields"], tables["values"])

    def thing(self, thing: Any) -> str:
        if isinstance(thing, tuple | list):
            return listed([self.thing(t) for t in thing])
        if thing is None:
            return "nothing"
        if not isinstance(thing, int) or isinstance(thing, bool):
            return word(thing)
        return (
            "a hidden thing"
            if thing == HIDDEN
            else self.keys[thing]
            if thing < len(self.keys)
            else f"thing {thing}"
        )

    def value(self, value: Any, is_thing: bool) -> str:
        if value == HIDDEN and not isinstance(value, bool) and not is_thing:
            return "something"
        return (
            self.thing(value)
            if is_thing
            else listed(map(word, value))
            if isinstance(value, tuple | list)
            else word(value)
        )


def word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "nothing" if value is None else str(value)


def listed(names: Iterable[str]) -> str:
    """`a, b and c`; equal names are counted."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    parts = [name if count == 1 else f"{count} x {name}" for name, count in counts.items()]
    if len(parts) < 2:
        return parts[0] if parts else "nothing"
    return ", ".join(parts[:-1]) + " and " + parts[-1]


def is_told(event: Event) -> bool:
    """Is this event part of the story, or only of the book-keeping?"""
    return event[0] not in _QUIET


def render_event(names: Names, event: Event) -> str:
    """One line for one event."""
    name, values = event[0], event[3:]
    if values == () or (values[:1] == (HIDDEN,) and name in ("set", "turned", "laid", "owned")):
        return f"({name})"
    match name:
        case "answered":
            who = names.thing(values[0]) if len(values[0]) < 4 else "the group"
            return f"{who}: {values[1]}" if values[1] else f"{who} answers"
        case "did":
            return tell(names, values[0], values[1:])
        case "prevented":
            return f"prevented: {tell(names, values[0], values[1:])}"
        case "replaced":
            return f"replaced: {tell(names, values[0], values[1:])}"
        case "moved":
            source = f" from {names.thing(values[1])}" if values[1] is not None else ""
            return f"{names.thing(values[0])} moves{source} to {names.thing(values[2])}"
        case "swept":
            return f"{names.thing(values[0])} move from {names.thing(values[1])} to {names.thing(values[2])}"
        case "shuffled":
            return f"{names.thing(values[0])} is shuffled"
        case "created":
            return f"{listed(new['name'] for new in values[0] if new['kind'] != 'zone')} comes into the game"
        case "turned":
            return f"{names.thing(values[0])} turns to {values[1]}"
        case "laid":
            return f"{names.thing(values[0])} lies face {'down' if values[1] else 'up'}"
        case "owned":
            return f"{names.thing(values[0])} belongs to {names.thing(values[1])}"
        case "set":
            spec = names.fields.get(values[1], {})
            return f"{names.thing(values[0])}: {values[1]} {names.value(values[2], spec.get('thing', False))}"
        case "now":
            return (
                f"{values[0]}: {names.value(values[1], names.values.get(values[0], {}).get('thing', False))}"
            )
        case "shown":
            return f"{names.thing(values[0])} is shown to {names.thing(values[1])}"
        case "rolled":
            return f"{values[0]}: {', '.join(face(f) for f in values[1]) or 'no dice'}"
        case "finished":
            return outcome_text(names, values[0])
        case "stepped" | "began":
            scope, subject = (values[2], values[3]) if name == "stepped" else values
            return f"-- {scope or 'step'}{' of ' + names.thing(subject) if subject is not None else ''} --"
        case "borrowed":
            return f"{names.thing(values[0])} borrows a text"
    return f"({name} {' '.join(map(word, values))})"


def face(value: Any) -> str:
    return (" + ".join(map(word, value)) or "blank") if isinstance(value, tuple | list) else word(value)


def outcome_text(names: Names, outcome: dict[str, Any]) -> str:
    winners, losers = outcome.get("winners", []), outcome.get("losers", [])
    match outcome["result"]:
        case "drawn":
            return "the game is drawn"
        case "won":
            return f"{names.thing(tuple(winners))} {'wins' if len(winners) == 1 else 'win'}"
        case "lost":
            return f"{names.thing(tuple(losers))} {'loses' if len(losers) == 1 else 'lose'}"
    return "the game is over"


def tell(names: Names, verb: str, values: Sequence[Any]) -> str:
    """A verb with its slots filled in: as its `told as` line says, or by its own words."""
    spec = names.verbs.get(verb, {"slots": [], "told": ""})
    slots = spec["slots"]
    said = {slot["name"]: names.value(v, slot["thing"]) for slot, v in zip(slots, values, strict=False)}
    if spec["told"]:
        return re.sub(r"\{([^{}]*)\}", lambda m: said.get(m[1].strip(), m[0]), spec["told"])
    if not slots:  # no header at hand: every number is taken for a thing
        said = {str(i): names.thing(v) for i, v in enumerate(values)}
    return _phrase(verb, list(said.values()), list(values))


def _phrase(verb: str, said: list[str], values: list[Any]) -> str:
    """Fill a pattern: forms agree with what stands before them, optional parts without a value are left out."""
    out: list[str] = []
    stack: list[tuple[int, bool]] = []
    at = 0
    for piece in _PIECES.findall(verb):
        if piece == "[":
            stack.append((len(out), False))
        elif piece == "]":
            start, filled = stack.pop() if stack else (0, True)
            if not filled:
                del out[start:]
        elif piece.startswith("("):
            value = values[at] if at < len(values) else None
            out.append(said[at] if at < len(said) else "")
            if stack and value not in (None, 0, ()):
                stack[-1] = (stack[-1][0], True)
            at += 1
        else:
            forms = piece.split("/")
            singular = not out or out[-1] == "1"
            out.append(forms[0] if singular or len(forms) == 1 else forms[-1])
    return " ".join(x for x in out if x).replace(" 's", "'s")


# ---------------------------------------------------------------- tables
def board_lines(board: dict[str, Any]) -> list[str]:
    """A board, drawn as its author drew it; a space shows what is there, else its mark."""
    cells = {tuple(space["at"]): "+".join(space["things"])[:8] or space["mark"] for space in board["spaces"]}
    if not cells:
        return []
    half = max(1, (max(map(len, cells.values())) + 2) // 2)
    lines = []
    for row in sorted({at[0] for at in cells}):
        line = ""
        for column in sorted(at[1] for at in cells if at[0] == row):
            line = line.ljust(column * half) + cells[row, column] + " "
        lines.append("  " + line.rstrip())
    return lines


def table_lines(view: dict[str, Any]) -> list[str]:
    """A view of the table, plain enough for a screen reader."""
    lines: list[str] = [line for board in view.get("boards", ()) for line in board_lines(board)]
    for zone in view["zones"]:
        if zone["zone"] in ("box", "removed") or not zone["count"]:
            continue
        if "things" in zone and zone["count"] <= 12:
            lines.append(f"{zone['zone']}: {listed(t or 'a hidden thing' for t in zone['things'])}")
        elif "things" in zone:
            lines.append(f"{zone['zone']}: {zone['count']}, on top {zone['things'][-1] or 'a hidden thing'}")
        else:
            lines.append(f"{zone['zone']}: {zone['count']}")
    for thing in view["things"]:
        fields = {
            k: v
            for k, v in thing.get("fields", {}).items()
            if v not in (0, "") and k not in ("row", "column")
        }
        if fields and (thing["kind"] in ("seat", "player") or "place" in thing or any(fields)):
            shown = ", ".join(f"{k} {word(v)}" for k, v in fields.items())
            lines.append(f"{thing['name']}: {shown}")
    shown_values = {k: v for k, v in view["values"].items() if v is not None}
    lines += [f"{name}: {word(value)}" for name, value in shown_values.items()]
    return lines
