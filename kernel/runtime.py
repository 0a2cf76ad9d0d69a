"""Small functions that emitted code calls: reading piles and seats, counters, ends of the game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .boards import FAR, distance
from .errors import EndGame, RuleError
from .fold import apply, finish, pick, put_field, roll
from .questions import DONE, answer, seats_asked
from .rules import bounded, divide, spend
from .state import State, Thing, attribute

RUNTIME = (
    "top",
    "bottom",
    "top_some",
    "position",
    "host",
    "counter_value",
    "remainder",
    "best_face",
    "highest",
    "lowest",
    "field_list",
    "extreme",
    "seat_after",
    "seats_from",
    "seat_order",
    "seats_asked",
    "change",
    "change_named",
    "win",
    "lose",
    "draw",
    "end_game",
    "arithmetic",
    "get",
    "of_some",
    "items_of",
    "result",
    "running",
    "random_order",
    "nearest_to",
    "reroll",
    "reroll_chosen",
    "some",
    "ordered",
    "make",
    "sort_by",
    "over_budget",
    "said",
    "named_things",
)


def said(value: Any) -> str:
    """A value in a text, as players read it."""
    from .text import said

    return said(value)


def named_things(s: State, things: Thing | Sequence[Thing] | None) -> str:
    """Things in a text, by their names."""
    from .text import Names

    return Names(s.key).thing(things)


def some(value: Any) -> list[Any]:
    """One or nothing, as a list."""
    return [] if value is None else [value]


def ordered(op: str, a: Any, b: Any) -> bool:
    """A comparison with nothing is false."""
    if a is None or b is None:
        return False
    result: bool = a < b if op == "<" else a <= b if op == "<=" else a > b if op == ">" else a >= b
    return result


def arithmetic(op: str, a: Any, b: Any) -> Any:
    """A sum with nothing is nothing."""
    if a is None or b is None:
        return None
    if op == "/":
        return divide(a, b)
    return a + b if op == "+" else a - b if op == "-" else bounded(a * b)


def get(column: Sequence[Any], thing: Thing | None) -> Any:
    """A field of nothing is nothing."""
    return None if thing is None else column[thing]


def of_some(read: Callable[[Thing], Any], thing: Thing | None) -> Any:
    return None if thing is None else read(thing)


def items_of(s: State, place: Thing | None) -> Sequence[Thing]:
    """What lies in a place; nothing lies nowhere."""
    return () if place is None else s.items[place]


def running(s: State, scope: str, subject: Thing | None) -> bool:
    """Is a scope running now, and of this one?"""
    if not s.open.get(scope):
        return False
    return subject is None or s.log[s.began[scope]][4] == subject


def result(rolled: Sequence[Any]) -> Any:
    """What a single die shows: a face with one symbol is that symbol."""
    if not rolled:
        return None
    face = rolled[0]
    return face[0] if isinstance(face, tuple) and len(face) == 1 else face


def random_order(s: State, c: int, site: int, things: Sequence[Thing]) -> list[Thing]:
    left, order = list(things), list[Thing]()
    while left:
        nxt = pick(s, c, site, left) if len(left) > 1 else left[0]
        left.remove(nxt)
        order.append(nxt)
    return order


def nearest_to(s: State, things: Sequence[Thing], to: Sequence[Thing]) -> list[Thing]:
    """Those nearest to any of some things; ties stay."""
    far = [min((distance(s, t, x) for x in to), default=FAR) for t in things]
    least = min(far, default=FAR)
    return [t for t, steps in zip(things, far, strict=True) if steps == least and least < FAR]


# ---------------------------------------------------------------- piles and places
def top(pile: Sequence[Thing]) -> Thing | None:
    return pile[-1] if pile else None


def bottom(pile: Sequence[Thing]) -> Thing | None:
    return pile[0] if pile else None


def top_some(pile: Sequence[Thing], count: int) -> list[Thing]:
    """From the top down, as many as there are."""
    return list(pile[: -count - 1 : -1]) if count > 0 else []


def position(s: State, thing: Thing) -> int:
    """Counted from the bottom, starting with 1; 0 if it lies nowhere."""
    place = s.place[thing]
    return 0 if place is None else s.items[place].index(thing) + 1


def host(s: State, thing: Thing) -> Thing | None:
    """What a thing is attached to: its place, if that is not a zone."""
    place = s.place[thing]
    return None if place is None or s.kind[place] == "zone" else place


def make(s: State, c: int, site: int, kind: str, count: int, place: Thing) -> Any:
    made = s.program.make(s, c, site, kind, count, place)
    return made[0] if len(made) == 1 else made or None


# ---------------------------------------------------------------- numbers
def counter_value(s: State, name: str, thing: Thing) -> Any:
    return getattr(s, attribute("f", name))[thing]


def remainder(a: int, b: int) -> int:
    if b == 0:
        raise RuleError("division by zero")
    return a % b


def best_face(rolled: Sequence[int]) -> int:
    return max((f for f in rolled if isinstance(f, int)), default=0)


def highest(values: Sequence[Any]) -> int:
    return max((v for v in values if v is not None), default=0)


def lowest(values: Sequence[Any]) -> int:
    return min((v for v in values if v is not None), default=0)


def field_list(read: Callable[[Thing], Any], things: Sequence[Thing]) -> list[Any]:
    return [v for t in things if (v := read(t)) is not None]


def extreme(read: Callable[[Thing], Any], things: Sequence[Thing], sign: int) -> list[Thing]:
    """Those with the highest (1) or lowest (-1) value, in the order given."""
    best, found = None, list[Thing]()
    for thing in things:
        value = read(thing)
        if value is None:
            continue
        if best is None or sign * value > sign * best:
            best, found = value, [thing]
        elif value == best:
            found.append(thing)
    return found


def sort_by(read: Callable[[Thing], Any], things: Sequence[Thing], down: bool) -> list[Thing]:
    """By a field; those without a value come last, equals keep their order."""
    known = [(read(t), t) for t in things]
    placed = sorted([p for p in known if p[0] is not None], key=lambda p: p[0], reverse=down)
    return [t for _, t in placed] + [t for v, t in known if v is None]


def change(
    s: State,
    c: int,
    site: int,
    thing: Thing | None,
    name: str,
    column: list[Any],
    delta: int,
    low: int | None,
    high: int | None,
) -> None:
    """Put on or take from a counter, within its bounds. Nothing happens to nothing, or by nothing."""
    if thing is None or delta == 0:
        return
    old = column[thing] or 0
    new = old + delta
    if low is not None and new < low:
        new = low
    if high is not None and new > high:
        new = high
    if new != old:
        put_field(s, c, site, thing, name, column, new)


def change_named(s: State, c: int, site: int, thing: Thing | None, name: str, delta: int) -> None:
    info = s.program.fields[name]
    change(s, c, site, thing, name, getattr(s, info["attr"]), delta, info["low"], info["high"])


def reroll(s: State, c: int, site: int, count: int, face: Any, pool: list[Any], die: str) -> None:
    """Roll some dice that show a face again, in place."""
    for at, shown in enumerate(pool):
        if count <= 0:
            return
        if shown == face or (isinstance(shown, tuple) and face in shown):
            pool[at] = roll(s, c, site, 1, die)[0]
            count -= 1


def reroll_chosen(
    s: State, c: int, site: int, who: Any, pool: list[Any], die: str, least: int, most: int
) -> None:
    """Somebody picks dice that lie there, by what they show, and rolls each of them again, in place."""
    fresh: set[int] = set()
    for count in range(most):
        shown = {face_name(pool[at]): at for at in reversed(range(len(pool))) if at not in fresh}
        keys = list(shown) if count < least else [*shown, DONE]
        if not shown:
            return
        key = keys[0] if len(keys) == 1 else answer(s, c, site, who, "roll which die again?", keys)
        if key == DONE and count >= least:
            return
        pool[shown[key]] = roll(s, c, site, 1, die)[0]
        fresh.add(shown[key])


def face_name(face: Any) -> str:
    """A face as it is called in answers: its symbols, or blank."""
    return " + ".join(map(str, face)) or "blank" if isinstance(face, tuple | list) else str(face)


# ---------------------------------------------------------------- seats and the end
def seat_after(s: State, seat: Thing) -> Thing:
    seats = s.of["seat"]
    return seats[(seats.index(seat) + 1) % len(seats)]


def seats_from(s: State, seat: Thing) -> list[Thing]:
    seats = s.of["seat"]
    at = seats.index(seat)
    return seats[at:] + seats[:at]


def seat_order(s: State, seat: Thing) -> int:
    return s.of["seat"].index(seat) + 1


def win(s: State, c: int, site: int, who: Any, reason: str = "") -> None:
    winners = list(seats_asked(s, who))
    losers = [seat for seat in s.of["seat"] if seat not in winners]
    why = {"reason": reason} if reason else {}
    finish(s, c, site, {"result": "won", "winners": winners, "losers": losers, **why})


def lose(s: State, c: int, site: int, who: Any, reason: str = "") -> None:
    losers = list(seats_asked(s, who))
    winners = [seat for seat in s.of["seat"] if seat not in losers]
    why = {"reason": reason} if reason else {}
    finish(s, c, site, {"result": "lost", "winners": winners, "losers": losers, **why})


def draw(s: State, c: int, site: int) -> None:
    finish(s, c, site, {"result": "drawn", "winners": [], "losers": []})


def end_game(s: State, c: int, site: int) -> None:
    """The game goes to its scoring."""
    apply(s, ("did", c, site, "end game"))
    raise EndGame


def over_budget(s: State) -> None:
    spend(s, ())
