"""Events and tables as text for people. Log lines are rendered from events, never written by hand.

`Names` holds what is needed to read events: it comes from a running game or, without any rules, from the first
event of a history and its header.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Sequence
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
WIDTH = 100  # columns of a line for people
MANY = 12  # of more things than these in one place, only the one on top is named
UNSEEN = "a hidden thing"
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
        return UNSEEN if thing == HIDDEN else self.keys[thing] if thing < len(self.keys) else f"thing {thing}"

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
    if isinstance(value, tuple | list):  # a face of a die with several symbols, or none
        return face(value)
    return "nothing" if value is None else str(value)


def listed(names: Iterable[str]) -> str:
    """`a, b and c`; equal names are counted."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    parts = [_counted(name, count) for name, count in counts.items()]
    if len(parts) < 2:
        return parts[0] if parts else "nothing"
    return ", ".join(parts[:-1]) + " and " + parts[-1]


def said(value: Any) -> str:
    """A value of a view: a word, or several."""
    return listed(map(word, value)) if isinstance(value, tuple | list) else word(value)


def _counted(name: str, count: int) -> str:
    if count == 1:
        return name
    return f"{count} hidden things" if name == UNSEEN else f"{count} x {name}"


def wrapped(line: str, width: int = WIDTH) -> list[str]:
    """A line, or several where it is too long; what goes on below is indented further."""
    if len(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


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
            verb = "moves" if len(values[0]) == 1 else "move"
            return (
                f"{names.thing(values[0])} {verb} from {names.thing(values[1])} to {names.thing(values[2])}"
            )
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
    reason = outcome.get("reason")
    return result_text(names, outcome) + (f": {reason}" if reason else "")


def result_text(names: Names, outcome: dict[str, Any]) -> str:
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
    filled = {slot["name"]: names.value(v, slot["thing"]) for slot, v in zip(slots, values, strict=False)}
    if spec["told"]:
        return re.sub(r"\{([^{}]*)\}", lambda m: filled.get(m[1].strip(), m[0]), spec["told"])
    if not slots:  # no header at hand: every number is taken for a thing
        filled = {str(i): names.thing(v) for i, v in enumerate(values)}
    return _phrase(verb, list(filled.values()), list(values))


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
            singular = not out or (at > 0 and said[at - 1 : at] == ["1"])  # of the last slot: 1 red token
            out.append(forms[0] if singular or len(forms) == 1 else forms[-1])
    return " ".join(x for x in out if x).replace(" 's", "'s")


# ---------------------------------------------------------------- tables
Printed = Collection[tuple[str, str, str]]  # (thing, field, value) as things came out of the box


def printed_on(begun: State) -> frozenset[tuple[str, str, str]]:
    """What the fields of things are before anything happens to them."""
    names = Names(begun.key)
    return frozenset(
        (begun.key[thing], field, names.thing(value) if info["thing"] else said(value))
        for field, info in begun.program.fields.items()
        for thing, value in enumerate(getattr(begun, info["attr"]))
        if value is not None
    )


def table_lines(view: dict[str, Any], printed: Printed = (), skip: Collection[str] = ()) -> list[str]:
    """A view of the table, place by place, plain enough for a screen reader.

    Of what lies somewhere, only those things are told more of that are not as they were `printed`, without the
    fields to `skip`.
    """
    table = _Table(view, printed, skip)
    lines: list[str] = []
    for thing in (*table.things_in(None), *table.things_in("box")):  # spaces; seats
        lines += table.standing(thing)
    for zone in view["zones"]:
        if zone["zone"] not in ("box", "removed") and zone["count"]:
            lines += table.zone(zone)
    shown_values = {k: v for k, v in view["values"].items() if v is not None and v is not False and v != []}
    for name, value in shown_values.items():
        lines += wrapped(f"{name}: {said(value)}")
    return lines


def zone_lines(
    view: dict[str, Any], name: str, printed: Printed = (), skip: Collection[str] = ()
) -> list[str]:
    """One zone, with everything that may be seen in it."""
    table = _Table(view, printed, skip)
    return [
        line
        for zone in view["zones"]
        if zone["zone"] == name
        for line in table.zone(zone, len(zone.get("things", ())))
    ]


def fields_text(fields: dict[str, Any]) -> str:
    """The values of a thing in a row; those that say nothing are left out."""
    return ", ".join(
        f"{name} {said(value)}"
        for name, value in fields.items()
        if value not in (0, "", []) and name not in ("row", "column")
    )


class _Table:
    """A view, with its things by the places where they lie."""

    def __init__(self, view: dict[str, Any], printed: Printed, skip: Collection[str]) -> None:
        self.printed, self.skip = printed, skip
        self._in: dict[str | None, list[dict[str, Any]]] = {}
        for thing in view["things"]:
            self._in.setdefault(thing.get("place"), []).append(thing)

    def things_in(self, place: str | None) -> list[dict[str, Any]]:
        return self._in.get(place, [])

    def standing(self, thing: dict[str, Any]) -> list[str]:
        """A thing that lies nowhere: a seat, a space of a board."""
        there = [x["name"] for x in self.things_in(thing["name"])]
        parts = [listed(there)] if there else []
        parts += filter(None, [self._changed(thing)])
        if not parts:
            return []
        return [*wrapped(f"{thing['name']}: {'; '.join(parts)}"), *self._details(thing["name"], 1)]

    def zone(self, zone: dict[str, Any], many: int = MANY) -> list[str]:
        name, count = zone["zone"], zone["count"]
        things = [thing or UNSEEN for thing in zone.get("things", ())]
        if not things:
            text = f"{count or 'empty'}"
        elif len(things) <= many:
            text = listed(things)
        else:
            text = f"{count}, on top {things[-1]}"
        if zone.get("known"):
            text += f"; known to you: {listed(zone['known'])}"
        return [*wrapped(f"{name}: {text}"), *self._details(name, 1)]

    def _details(self, place: str, depth: int) -> list[str]:
        """More of the things in a place, equal ones together; then of what lies on them."""
        alike: dict[str, list[str]] = {}
        for thing in self.things_in(place):
            on_it = [x["name"] for x in self.things_in(thing["name"])] if depth < MANY else []
            parts = filter(None, [self._changed(thing), f"on it {listed(on_it)}" if on_it else ""])
            if text := "; ".join(parts):
                alike.setdefault(text, []).append(thing["name"])
        lines: list[str] = []
        for text, names in alike.items():
            lines += wrapped("  " * depth + f"{listed(names)}: {text}")
            if depth < MANY:
                lines += [line for name in dict.fromkeys(names) for line in self._details(name, depth + 1)]
        return lines

    def _changed(self, thing: dict[str, Any]) -> str:
        """The fields of a thing, if one of them is not as printed."""
        fields = {name: value for name, value in thing.get("fields", {}).items() if name not in self.skip}
        told = fields_text(fields)
        if told and any(
            (thing["name"], name, said(value)) not in self.printed for name, value in fields.items()
        ):
            return told
        return ""
