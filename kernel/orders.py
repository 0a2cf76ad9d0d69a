"""The same done to several things, one after another, in an order that somebody chooses where it can matter.

Whether it can is found out by doing it. If each thing only changes in itself, in fields that no rule looks at, the order
is no matter, and what was done stands. Otherwise it is done again on copies of the table: in the reverse order, and with
some of those that changed more than themselves in the first place. What was done stands if all lead to the same table, else
it is taken back. If a try asks something, draws by chance or stops a scope, the order counts as one that matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .errors import EndGame, GameOver, LongboxError, StopScope
from .questions import Question, answer, offered
from .state import Event, State, Thing

RUNTIME = ("each_in_order",)
Block = Callable[[State, Thing], None]
# Things that are tried in the first place; the reverse order has exchanged every two of them already.
MIXED_MAX = 3


def each_in_order(s: State, c: int, site: int, who: Any, things: Sequence[Thing], block: Block) -> None:
    """Do it to each; before each, somebody is asked which comes next, if that can matter."""
    left = list(things)
    while len(left) > 1:
        keys, offer = offered(s, left)
        if len(keys) == 1 or not _matters(s, left, block):
            break
        chosen = offer[keys.index(answer(s, c, site, who, "which comes next?", keys, offer))]
        block(s, chosen)
        left.remove(chosen)
    for thing in left:
        block(s, thing)


def _matters(s: State, left: list[Thing], block: Block) -> bool:
    """Can the order matter? If not, it has been done, and nothing is left."""
    before, run, start = s.copy([]), s.run, len(s.log)
    before.trace = None if s.trace is None else s.trace[:]
    s.run = _asked
    mixed, table, is_over = list[Thing](), None, False
    try:
        for thing in left:
            at = len(s.log)
            block(s, thing)
            if not all(_in_itself(s, thing, event) for event in s.log[at:]):
                mixed.append(thing)
        table = _table(s) if s.draws == before.draws else None
    except GameOver:
        mixed, table, is_over = left, [s.outcome], True
    except _FAR:
        mixed, table = left, None
    matters = bool(mixed) and (table is None or _differs(s.log[:start], before, left, mixed, block, table))
    if matters or is_over:
        s.take_back(before, start)
    else:
        left.clear()
    s.run = run
    return matters


def _differs(
    log: list[Event], before: State, left: list[Thing], mixed: list[Thing], block: Block, table: list[Any]
) -> bool:
    """Does another order lead to another table than the one given?"""
    orders = [left[::-1]]
    for one in mixed[:MIXED_MAX]:
        order = [one, *(t for t in left if t != one)]
        if order not in (left, orders[0]):
            orders.append(order)
    return any(_tried(log, before, order, block) != table for order in orders)


def _in_itself(s: State, thing: Thing, event: tuple[Any, ...]) -> bool:
    """Is an event only about one thing, in something that no rule looks at from afar?"""
    if event[0] == "set":
        return event[3] == thing and event[4] not in s.program.far_fields
    return event[0] in ("did", "prevented")


def _tried(log: list[Event], before: State, things: Sequence[Thing], block: Block) -> list[Any] | None:
    """The table after one order. Nothing if that cannot be told."""
    start = len(log)
    trial = before.copy(log)  # what it adds is taken away again
    trial.run, trial.trace = _asked, None
    try:
        for thing in things:
            block(trial, thing)
    except GameOver:
        return [trial.outcome]
    except _FAR:
        return None
    finally:
        del log[start:]
    return _table(trial) if trial.draws == before.draws else None


_FAR = (LongboxError, StopScope, EndGame)  # what a trial does not go on after


def _asked(question: Question) -> str:
    raise LongboxError("a trial asks nobody")


def _table(s: State) -> list[Any]:
    """What two tables must have in common to count as the same. In open places the order of things is no matter."""
    closed = [s.items[zone] for zone, sight in s.sight.items() if sight != "all"]
    lasting = [(*entry[1:4], entry[4][:3]) for entry in s.lasting]
    changing = [getattr(s, name) for name in (*s.FIELDS, *s.GLOBALS) if name not in s.FIXED]
    same = (s.place, s.face, s.facedown, s.owner, s.in_play, s.borrowed, s.shown, s.edges, s.queue)
    return [*same, s.used.keys(), closed, lasting, changing]
