"""The fold: the only place where the table changes.

Each fact has one function that applies it, listed in APPLY by the event's first word. Next to it stands the
function that rules call: it works the event out, records it, and applies it with that same function. So a
table folded from a history is the live table, without running any rule.

An event is a tuple: its name, the number of the event that caused it (-1: the game itself), the place in the
text (see `Program.site`), then its own values. Names and meanings of stored events never change.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from typing import Any

from .errors import GameOver, OverBudget, RuleError
from .state import EVENTS_MAX, NUMBER_MAX, REMOVED, THINGS_MAX, Event, State, Thing, attribute

Apply = Callable[..., None]
APPLY: dict[str, Apply] = {}

# What each event says after its name, cause and site; kept in step with the functions by a test.
FIELDS: dict[str, tuple[str, ...]] = {
    "opened": ("box",),
    "created": ("things",),
    "moved": ("thing", "from", "to", "at"),
    "swept": ("things", "from", "to"),
    "shuffled": ("place", "order"),
    "turned": ("thing", "face", "fields"),
    "laid": ("thing", "facedown"),
    "owned": ("thing", "owner"),
    "set": ("thing", "field", "value"),
    "now": ("name", "value"),
    "shown": ("thing", "seats"),
    "picked": ("count", "index"),
    "rolled": ("die", "faces"),
    "did": ("verb", "values"),
    "stepped": ("pc", "frame", "scope", "subject"),
    "began": ("scope", "subject"),
    "ended": ("scope",),
    "answered": ("seats", "answer"),
    "used": ("rule", "thing"),
    "edged": ("rule", "thing", "held"),
    "lasts": ("number", "rule", "thing", "values", "until"),
    "lapsed": ("number",),
    "borrowed": ("thing", "design"),
    "returned": ("thing", "design"),
    "queued": ("entry",),
    "unqueued": ("entry",),
    "prevented": ("verb", "values"),
    "replaced": ("verb", "values"),
    "finished": ("outcome",),
}


def apply(state: State, event: Event) -> None:
    """Fold one event into the table. Asks nothing, rolls nothing, refuses nothing."""
    state.log.append(event)
    APPLY[event[0]](state, *event[3:])


def _fact(apply_one: Apply) -> Apply:
    APPLY[apply_one.__name__.strip("_")] = apply_one
    return apply_one


# ---------------------------------------------------------------- things and places
@_fact
def _created(s: State, things: Sequence[dict[str, Any]]) -> None:
    """New things. Shared columns are copied first, so that no other table sees them."""
    if s.shared:
        _unshare(s)
    for new in things:
        _add_thing(s, new)


def _unshare(s: State) -> None:
    for slot in (*_ROW, *s.FIELDS, *s.ZONES):
        setattr(s, slot, getattr(s, slot)[:])
    s.of = {kind: things[:] for kind, things in s.of.items()}
    s.sight = s.sight.copy()
    s.called = {name: zones[:] for name, zones in s.called.items()}
    s.shared = False


_ROW = ("kind", "design", "name", "key", "lively")


def _add_thing(s: State, new: dict[str, Any]) -> None:
    thing = len(s.kind)
    s.around = {}
    if new["name"] in s.unique:
        s.unique = {name: one for name, one in s.unique.items() if name != new["name"]}
    for slot in _ROW:
        getattr(s, slot).append(new[slot])
    s.owner.append(new.get("owner"))
    s.place.append(None)
    s.face.append(new.get("face", ""))
    s.facedown.append(False)
    s.in_play.append(new.get("place") is None)
    fields = new.get("fields", {})
    for slot in s.FIELDS:
        getattr(s, slot).append(fields.get(slot))
    zones = new.get("zones", {})
    for slot in s.ZONES:
        getattr(s, slot).append(zones.get(slot))
    if new.get("holds"):
        s.items[thing] = []
    if "sight" in new:
        s.sight[thing] = new["sight"]
        s.called.setdefault(new["name"], []).append(thing)
    s.lineage.setdefault(new["kind"], tuple(new["kinds"]))
    for kind in new["kinds"]:
        s.of.setdefault(kind, []).append(thing)
    if new.get("place") is not None:
        _moved(s, thing, None, new["place"], -1)


def create(s: State, c: int, site: int, things: list[dict[str, Any]]) -> list[Thing]:
    """Bring new things into the game; what each is has been worked out by the program."""
    first = len(s.kind)
    if first + len(things) > THINGS_MAX:
        raise OverBudget(f"more than {THINGS_MAX} things")
    apply(s, ("created", c, site, things))
    return list(range(first, first + len(things)))


@_fact
def _moved(s: State, thing: Thing, source: Thing | None, to: Thing, at: int) -> None:
    _put(s, thing, source, to, at)
    if to == REMOVED or source == REMOVED:
        _list_anew(s, (thing,), to != REMOVED)


def _put(s: State, thing: Thing, source: Thing | None, to: Thing, at: int) -> None:
    items = s.items
    if source is not None:
        lying = items[source]
        if lying[-1] == thing:
            lying.pop()
        else:
            lying.remove(thing)
    lying = items[to]
    if not lying:  # an empty list may be shared with a copy of the table: see State.copy
        items[to] = [thing]
    elif at < 0:
        lying.append(thing)
    else:
        lying.insert(at, thing)
    s.place[thing] = to
    if s.shown:
        s.shown.pop(thing, None)
    now = s.lively[to]
    if now is not s.in_play[thing]:
        s.in_play[thing] = now
        _wake(s, thing, now)


def _list_anew(s: State, things: Sequence[Thing], back: bool) -> None:
    """What leaves the game is no longer among the things of its kinds, so that nobody need look at it again."""
    s.of = s.of.copy()  # the lists may be another table's, too
    kinds = {kind for thing in things for kind in s.lineage[s.kind[thing]]}
    gone = set(things)
    for kind in kinds:
        if back:
            s.of[kind] = sorted({*s.of[kind], *(t for t in things if kind in s.lineage[s.kind[t]])})
        elif len(things) > 1:
            s.of[kind] = [t for t in s.of[kind] if t not in gone]
        elif things[0] in s.of[kind]:
            s.of[kind] = s.of[kind].copy()
            s.of[kind].remove(things[0])


def _around(s: State, thing: Thing, now: bool) -> dict[str, list[Thing]]:
    """What is known of who is in play, with one thing more or less. The lists may be another table's, too: made anew."""
    kinds = s.lineage[s.kind[thing]]
    found = s.around.copy()
    for kind in kinds:
        if kind in found:
            found[kind] = [t for t in found[kind] if t != thing]
            if now:
                insort(found[kind], thing)
    return found


def _wake(s: State, thing: Thing, now: bool) -> None:
    """Printed rules start or stop to work; what enters comes last in the order of entering."""
    s.around = _around(s, thing, now)
    if now:
        s.awake[thing] = next(reversed(s.awake.values()), 0) + 1
    else:
        s.awake.pop(thing, None)
    for design in (s.design[thing], *s.borrowed.get(thing, ())):
        working = s.live.get(design)
        if working is None:
            continue
        if now:
            s.live[design] = [*working, thing]
        elif thing in working:
            working.remove(thing)


def move(s: State, c: int, site: int, thing: Thing, to: Thing) -> None:
    """To the top of a place."""
    source = s.place[thing]
    s.log.append(("moved", c, site, thing, source, to, -1))
    _moved(s, thing, source, to, -1)


def move_some(s: State, c: int, site: int, thing: Thing | None, to: Thing) -> None:
    """The same, where there may be nothing to move."""
    if thing is not None:
        move(s, c, site, thing, to)


def move_to_bottom(s: State, c: int, site: int, thing: Thing, to: Thing) -> None:
    apply(s, ("moved", c, site, thing, s.place[thing], to, 0))


def move_to_index(s: State, c: int, site: int, thing: Thing, to: Thing, at: int) -> None:
    """To a position counted from the bottom, as it is once the thing has left its old place."""
    room = len(s.items[to]) - (s.place[thing] == to)
    apply(s, ("moved", c, site, thing, s.place[thing], to, max(0, min(at, room))))


@_fact
def _swept(s: State, things: Sequence[Thing], source: Thing, to: Thing) -> None:
    for thing in things:
        _put(s, thing, source, to, -1)
    if to == REMOVED or source == REMOVED:
        _list_anew(s, things, to != REMOVED)


def move_all(s: State, c: int, site: int, things: Sequence[Thing], to: Thing) -> None:
    """Several things at once, in the order given, to the top of a place."""
    if not things:
        return
    source = s.place[things[0]]
    if source is None or any(s.place[t] != source for t in things):
        for thing in things:
            move(s, c, site, thing, to)
        return
    things = tuple(things)
    s.log.append(("swept", c, site, things, source, to))
    if len(things) == len(s.items[source]) and tuple(s.items[source]) == things and source != to:
        _pour(s, source, to)
    else:
        _swept(s, things, source, to)


def _pour(s: State, source: Thing, to: Thing) -> None:
    """All of a place into another: what `_swept` does, without looking for each."""
    things, s.items[source] = s.items[source], []
    s.items[to] = s.items[to] + things
    now = s.lively[to]
    for thing in things:
        s.place[thing] = to
        s.shown.pop(thing, None)
        if now is not s.in_play[thing]:
            s.in_play[thing] = now
            _wake(s, thing, now)
    if to == REMOVED or source == REMOVED:
        _list_anew(s, things, to != REMOVED)


@_fact
def _shuffled(s: State, place: Thing, order: Sequence[Thing]) -> None:
    s.items[place] = list(order)
    s.draws += 1


def shuffle(s: State, c: int, site: int, place: Thing) -> None:
    things = s.items[place]
    order = [things[i] for i in s.chance.order(s.draws, len(things))]
    s.log.append(("shuffled", c, site, place, tuple(order)))
    s.items[place] = order
    s.draws += 1


@_fact
def _turned(s: State, thing: Thing, face: str, fields: dict[str, Any]) -> None:
    s.face[thing] = face
    for slot, value in fields.items():
        getattr(s, slot)[thing] = value


def turn(s: State, c: int, site: int, thing: Thing, face: str | None) -> None:
    """Flip to a face, or to the next one. Counters stay; printed values change."""
    face, fields = s.program.face_values(s, thing, face)
    apply(s, ("turned", c, site, thing, face, fields))


@_fact
def _laid(s: State, thing: Thing, facedown: bool) -> None:
    s.facedown[thing] = facedown


def lay(s: State, c: int, site: int, thing: Thing, facedown: bool) -> None:
    apply(s, ("laid", c, site, thing, facedown))


@_fact
def _owned(s: State, thing: Thing, owner: Thing | None) -> None:
    s.owner[thing] = owner


def own(s: State, c: int, site: int, thing: Thing | None, owner: Thing | None) -> None:
    if thing is not None:
        apply(s, ("owned", c, site, thing, owner))


# ---------------------------------------------------------------- fields, counters, values
@_fact
def _set(s: State, thing: Thing, field: str, value: Any) -> None:
    getattr(s, attribute("f", field))[thing] = value


def put_field(
    s: State, c: int, site: int, thing: Thing | None, field: str, column: list[Any], value: Any
) -> None:
    """`column` is the field's column, handed in because the caller has it. Nothing has no fields to set."""
    if thing is None:
        return
    if value.__class__ is int and not -NUMBER_MAX <= value <= NUMBER_MAX:
        raise RuleError(f"{field} would become {value}, past the bound of {NUMBER_MAX}")
    s.log.append(("set", c, site, thing, field, value))
    column[thing] = value


def put_plain(
    s: State, c: int, site: int, thing: Thing | None, field: str, column: list[Any], value: Any
) -> None:
    """A field that is no number: no bound to keep."""
    if thing is not None:
        s.log.append(("set", c, site, thing, field, value))
        column[thing] = value


@_fact
def _now(s: State, name: str, value: Any) -> None:
    setattr(s, attribute("g", name), value)


def put_value(s: State, c: int, site: int, name: str, attr: str, value: Any) -> None:
    """A value of the whole game: a word, a thing, a truth."""
    s.log.append(("now", c, site, name, value))
    setattr(s, attr, value)


def put_number(s: State, c: int, site: int, name: str, attr: str, value: Any) -> None:
    if value.__class__ is int and not -NUMBER_MAX <= value <= NUMBER_MAX:
        raise RuleError(f"{name} would become {value}, past the bound of {NUMBER_MAX}")
    s.log.append(("now", c, site, name, value))
    setattr(s, attr, value)


# ---------------------------------------------------------------- chance and what is known
@_fact
def _picked(s: State, count: int, index: int) -> None:
    s.draws += 1


def pick(s: State, c: int, site: int, among: Sequence[Any]) -> Any:
    """One of several, by chance; nothing of nothing."""
    if not among:
        return None
    index = s.chance.pick(s.draws, len(among))
    s.log.append(("picked", c, site, len(among), index))
    s.draws += 1
    return among[index]


@_fact
def _rolled(s: State, die: str, faces: Sequence[Any]) -> None:
    s.draws += len(faces)


def roll(s: State, c: int, site: int, count: int, die: str) -> list[Any]:
    """Roll dice of one sort; each face is a tuple of its symbols, or a number."""
    faces = s.program.dice[die]
    shown = [faces[s.chance.pick(s.draws + i, len(faces))] for i in range(max(0, count))]
    apply(s, ("rolled", c, site, die, tuple(shown)))
    if len(s.log) - s.mark > EVENTS_MAX:
        raise OverBudget("more dice than any game needs")
    return shown


@_fact
def _shown(s: State, thing: Thing, seats: Sequence[Thing]) -> None:
    s.shown[thing] = tuple(sorted({*s.shown.get(thing, ()), *seats}))


def show(s: State, c: int, site: int, things: Sequence[Thing], seats: Sequence[Thing]) -> None:
    """Reveal things to seats until they move."""
    for thing in things:
        apply(s, ("shown", c, site, thing, tuple(seats)))


# ---------------------------------------------------------------- what was done, and when
@_fact
def _did(s: State, verb: str, *values: Any) -> None:
    """A verb was carried out: changes nothing by itself, and is what its consequences point to."""


@_fact
def _prevented(s: State, verb: str, *values: Any) -> None:
    """A verb did not happen, because a rule prevented it."""


@_fact
def _replaced(s: State, verb: str, *values: Any) -> None:
    """A verb did not happen; what the causing rule says happens instead."""


@_fact
def _stepped(s: State, pc: Sequence[Any], frame: Sequence[Any], scope: str, subject: Thing | None) -> None:
    """The walk through the turn structure reached a step: a game can be taken up again here."""
    s.pc = (pc[0], pc[1])
    s.frame = tuple(frame)
    if scope:
        s.began[scope] = len(s.log) - 1


@_fact
def _began(s: State, scope: str, subject: Thing | None) -> None:
    s.began[scope] = len(s.log) - 1
    s.open[scope] = s.open.get(scope, 0) + 1


@_fact
def _ended(s: State, scope: str) -> None:
    s.open[scope] = s.open.get(scope, 1) - 1


@_fact
def _answered(s: State, seats: Sequence[Thing], answer: str) -> None:
    s.answers += 1
    s.mark = len(s.log)


@_fact
def _used(s: State, rule: int, thing: Thing | None) -> None:
    s.used[rule, thing] = len(s.log) - 1


@_fact
def _edged(s: State, rule: int, thing: Thing | None, held: bool) -> None:
    s.edges[rule, thing] = held


@_fact
def _lasts(
    s: State, number: int, rule: int, thing: Thing | None, values: Sequence[Any], until: Sequence[Any]
) -> None:
    s.lasting.append((number, rule, thing, tuple(values), tuple(until)))
    s.tricks = number + 1


@_fact
def _lapsed(s: State, number: int) -> None:
    s.lasting = [entry for entry in s.lasting if entry[0] != number]


@_fact
def _borrowed(s: State, thing: Thing, design: int) -> None:
    s.borrowed[thing] = (*s.borrowed.get(thing, ()), design)
    if s.in_play[thing] and design in s.live and thing not in s.live[design]:
        s.live[design] = [*s.live[design], thing]


@_fact
def _returned(s: State, thing: Thing, design: int) -> None:
    rest = list(s.borrowed.get(thing, ()))
    if design in rest:
        rest.remove(design)
    s.borrowed[thing] = tuple(rest)
    if thing in s.live.get(design, ()) and design not in rest and s.design[thing] != design:
        s.live[design].remove(thing)


@_fact
def _queued(s: State, entry: Sequence[Any]) -> None:
    s.queue.append(tuple(entry))


@_fact
def _unqueued(s: State, entry: Sequence[Any]) -> None:
    s.queue.remove(tuple(entry))


@_fact
def _finished(s: State, outcome: dict[str, Any]) -> None:
    s.outcome = outcome


def finish(s: State, c: int, site: int, outcome: dict[str, Any]) -> None:
    """The game is over, at once."""
    apply(s, ("finished", c, site, outcome))
    raise GameOver


@_fact
def _opened(s: State, box: dict[str, Any]) -> None:
    """The box is opened: `program.open_box` has already made the table from it."""
