"""What one seat may see: of the table, of the log, of the questions. Default-deny.

A seat sees what lies in zones that are open to it, what was revealed to it, and of everything else only how much
there is. An event that speaks of a hidden thing is shown without it. Where in the text something happened, what
caused it, how a pile was ordered and what chance was asked stay hidden. Nobody (`seat=None`) is the referee, who sees all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .fold import apply
from .program import state_from_box
from .questions import Question
from .state import Event, State, Thing

HIDDEN = -1  # stands for a thing that may not be seen


def can_see(s: State, seat: Thing | None, thing: Thing) -> bool:
    """May a seat know what this thing is?"""
    if seat is None or not 0 <= thing < len(s.kind):
        return True
    if seat in s.shown.get(thing, ()):
        return True
    if s.facedown[thing]:
        return False
    place = s.place[thing]
    while place is not None and place not in s.sight:
        if s.facedown[place]:
            return False
        place = s.place[place]
    return place is None or may_look(s, seat, place)


def may_look(s: State, seat: Thing | None, zone: Thing) -> bool:
    """May a seat look into a zone?"""
    sight = s.sight[zone]
    if seat is None or sight == "all":
        return True
    return sight == "owner" and seat in _owners(s, zone)


def _owners(s: State, thing: Thing) -> Iterator[Thing]:
    """Who a thing belongs to, its owner's owner included."""
    seen: set[Thing] = set()
    owner = s.owner[thing]
    while owner is not None and owner not in seen:
        yield owner
        seen.add(owner)
        owner = s.owner[owner]


# ---------------------------------------------------------------- the table
def view(s: State, seat: Thing | None, questions: Sequence[Question] = ()) -> dict[str, Any]:
    """The table as a seat sees it, as plain data: zones, things, values, and the questions asked of it."""
    return {
        "seat": None if seat is None else s.key[seat],
        "seats": [s.key[x] for x in s.of["seat"]],
        "zones": [_zone(s, seat, zone) for zone in s.sight],
        "things": [_thing(s, seat, thing) for thing in range(len(s.kind)) if _listed(s, seat, thing)],
        "boards": [_board(s, seat, name, spaces) for name, spaces in s.drawn],
        "values": _values(s, seat),
        "questions": [question_view(q) for q in questions if seat is None or seat in q.seats],
        "waiting for": sorted({s.key[x] for q in questions for x in q.seats}),
        "outcome": outcome_view(s),
    }


def _listed(s: State, seat: Thing | None, thing: Thing) -> bool:
    return (
        thing not in s.sight
        and s.kind[thing] != "line"
        and can_see(s, seat, thing)
        and not (s.place[thing] in (0, 1) and thing not in s.of["seat"])
    )


def _zone(s: State, seat: Thing | None, zone: Thing) -> dict[str, Any]:
    things = s.items[zone]
    shown: dict[str, Any] = {"zone": s.key[zone], "count": len(things)}
    if may_look(s, seat, zone):
        shown["things"] = [s.key[t] if can_see(s, seat, t) else None for t in things]
    else:
        known = sorted(s.key[t] for t in things if seat in s.shown.get(t, ()))
        if known:
            shown["known"] = known
    return shown


def _thing(s: State, seat: Thing | None, thing: Thing) -> dict[str, Any]:
    place = s.place[thing]
    shown: dict[str, Any] = {"name": s.key[thing], "kind": s.kind[thing]}
    if place is not None:
        shown["place"] = s.key[place]
    if s.face[thing]:
        shown["face"] = s.face[thing]
    if s.owner[thing] not in (None, thing):
        shown["owner"] = s.key[s.owner[thing]]  # type: ignore[index]
    for name, info in _field_table(s).items():
        value = getattr(s, info["attr"])[thing]
        if value is not None and value is not False and may_read(s, seat, thing, info):
            group = shown.setdefault("printed" if info["fixed"] else "fields", {})
            group[name] = _shown_value(s, seat, value, info["thing"])
    return shown


def _board(s: State, seat: Thing | None, name: str, spaces: Sequence[Any]) -> dict[str, Any]:
    """A board as it was drawn: where each space lies, and what can be seen there."""
    shown = []
    for space, at, mark in spaces:
        there = [s.key[t] for t in s.items[space] if can_see(s, seat, t)]
        for info in _field_table(s).values():
            value = getattr(s, info["attr"])[space]
            if not info["fixed"] and value not in (None, False, 0) and may_read(s, seat, space, info):
                there.append(str(_shown_value(s, seat, value, info["thing"])))
        shown.append({"space": s.key[space], "at": list(at), "mark": mark, "things": there})
    return {"name": name, "spaces": shown}


def _field_table(s: State) -> dict[str, dict[str, Any]]:
    program = getattr(s, "program", None)
    if program is not None:
        table: dict[str, dict[str, Any]] = program.fields
        return {name: info for name, info in table.items() if not info.get("untold")}
    return {}


def may_read(s: State, seat: Thing | None, thing: Thing, info: dict[str, Any]) -> bool:
    if seat is None or info["seen"] == "all":
        return True
    return info["seen"] == "owner" and (seat == thing or seat in _owners(s, thing))


def _shown_value(s: State, seat: Thing | None, value: Any, is_thing: bool) -> Any:
    if is_thing and isinstance(value, tuple | list):
        return [_shown_value(s, seat, v, True) for v in value]
    if is_thing and isinstance(value, int):
        return s.key[value] if can_see(s, seat, value) else "hidden"
    return list(value) if isinstance(value, tuple) else value


def _values(s: State, seat: Thing | None) -> dict[str, Any]:
    program = getattr(s, "program", None)
    if program is None:
        return {}
    return {
        name: _shown_value(s, seat, getattr(s, info["attr"]), info["thing"])
        for name, info in program.values.items()
        if not info.get("untold")
    }


def question_view(q: Question) -> dict[str, Any]:
    return {"seats": [q.state.key[x] for x in q.seats], "prompt": q.prompt, "answers": list(q.keys)}


def outcome_view(s: State) -> dict[str, Any] | None:
    if s.outcome is None:
        return None
    return {k: [s.key[x] for x in v] if k in ("winners", "losers") else v for k, v in s.outcome.items()}


# ---------------------------------------------------------------- the log
class LogView:
    """Follows a history, event by event, and gives each as one seat may see it.

    `open_answers`: nothing is kept from one seat and shown to another, so what others answered may be told.
    """

    def __init__(
        self, opened: Event, seat: Thing | None, tables: dict[str, Any], open_answers: bool = False
    ) -> None:
        self.state, self.seat, self.tables = state_from_box(opened), seat, tables
        self.open_answers = open_answers
        self.known: set[Thing] = set()  # of the things of the last event, those that the seat may know

    def follow(self, event: Event) -> Event:
        """The next event, redacted. Visibility before and after it both count."""
        if self.seat is None:
            apply(self.state, event)
            return event
        before = {t: can_see(self.state, self.seat, t) for t in things_of(event, self.tables)}
        apply(self.state, event)
        self.known = {t for t, seen in before.items() if seen or can_see(self.state, self.seat, t)}
        return self.redacted(event, self.known)

    def redacted(self, event: Event, known: set[Thing]) -> Event:
        """An event as the seat may see it, if it may know these of its things."""
        if event[0] == "answered" and self._is_open():
            return (event[0], -1, 0, *event[3:])
        assert self.seat is not None, "nothing is hidden from the referee"
        return redact(event, self.seat, known, self.tables, self.state)

    def _is_open(self) -> bool:
        """May answers of other seats be told? Not while something was shown to some of them only."""
        everybody = len(self.state.of["seat"])
        return self.open_answers and all(len(seats) == everybody for seats in self.state.shown.values())


def seen_log(events: Sequence[Event], seat: Thing | None, tables: dict[str, Any]) -> list[Event]:
    """A whole history as a seat may see it, without its first event (the box)."""
    follower = LogView(events[0], seat, tables)
    return [follower.follow(event) for event in events[1:]]


def things_of(event: Event, tables: dict[str, Any]) -> Iterable[Thing]:
    """The things an event speaks of."""
    name, values = event[0], event[3:]
    match name:
        case "moved" | "turned" | "laid" | "owned" | "shown":
            return (values[0],)
        case "swept":
            return tuple(values[0])
        case "set":
            spec = tables["fields"].get(values[1], {})
            return (values[0], *_numbers(values[2], spec.get("thing", False)))
        case "now":
            spec = tables["values"].get(values[0], {})
            return tuple(_numbers(values[1], spec.get("thing", False)))
        case "did" | "prevented" | "replaced":
            return tuple(x for value, is_thing in _slots(values, tables) for x in _numbers(value, is_thing))
        case "stepped":
            return tuple(_numbers(values[3], True))
        case "began":
            return tuple(_numbers(values[1], True))
    return ()


def _numbers(value: Any, is_thing: bool) -> Iterator[Thing]:
    if not is_thing:
        return
    for x in value if isinstance(value, tuple | list) else (value,):
        if isinstance(x, int) and not isinstance(x, bool):
            yield x


def _slots(values: tuple[Any, ...], tables: dict[str, Any]) -> list[tuple[Any, bool]]:
    """(value, is it a thing?) of what a verb was carried out with."""
    spec = tables["verbs"].get(values[0])
    flags = [slot["thing"] for slot in spec["slots"]] if spec else [True] * (len(values) - 1)
    return list(zip(values[1:], flags, strict=False))


def redact(event: Event, seat: Thing, known: set[Thing], tables: dict[str, Any], s: State) -> Event:
    """An event as a seat may see it. Cause and site are left out: they would tell which text ran."""
    name, values = event[0], event[3:]

    def hide(thing: Any) -> Any:
        if isinstance(thing, tuple | list):
            return tuple(hide(x) for x in thing)
        if isinstance(thing, bool) or not isinstance(thing, int):
            return thing
        return thing if thing in known else HIDDEN

    out: tuple[Any, ...]
    match name:
        case "answered":
            out = (values[0], values[1] if seat in values[0] else "")
        case "moved":
            out = (hide(values[0]), values[1], values[2], -1)
        case "swept":
            out = (tuple(sorted(hide(t) for t in values[0])), values[1], values[2])
        case "shuffled":
            out = (values[0], ())
        case "turned" | "laid" | "owned":
            out = (values[0], *values[1:]) if values[0] in known else (HIDDEN,)
        case "shown":
            out = (hide(values[0]), values[1])
        case "set":
            spec = tables["fields"].get(values[1], {"thing": False, "seen": "all"})
            if values[0] not in known or not may_read(s, seat, values[0], spec):
                out = (HIDDEN,)
            else:
                out = (values[0], values[1], hide(values[2]) if spec["thing"] else values[2])
        case "now":
            spec = tables["values"].get(values[0], {"thing": False})
            out = (values[0], hide(values[1]) if spec["thing"] else values[1])
        case "did" | "prevented" | "replaced":
            slots = _slots(values, tables)
            secret = any(x not in known for value, is_thing in slots for x in _numbers(value, is_thing))
            out = (values[0], *(hide(v) if is_thing else HIDDEN if secret else v for v, is_thing in slots))
        case "stepped":
            out = ((), (), values[2], hide(values[3]))
        case "began":
            out = (values[0], hide(values[1]))
        case "ended" | "rolled" | "finished":
            out = values
        case _:  # what the kernel keeps for itself: only that something happened
            out = ()
    return (name, -1, 0, *out)
