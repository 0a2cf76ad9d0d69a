"""The same done to several things, one after another, in an order that somebody chooses where it can matter.

Whether it can is found out by doing it: on copies of the table, in several orders, without any rule of its own. If a
copy asks something, draws by chance, stops a scope or ends the game, the order counts as one that matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .errors import EndGame, GameOver, LongboxError, StopScope
from .questions import Question, answer, offered
from .state import State, Thing

RUNTIME = ("each_in_order",)
Block = Callable[[State, Thing], None]
_PLAIN = frozenset({"did", "set", "prevented"})


def each_in_order(s: State, c: int, site: int, who: Any, things: Sequence[Thing], block: Block) -> None:
    """Do it to each; before each, somebody is asked which comes next, if that can matter."""
    left = list(things)
    while len(left) > 1:
        keys, offer = offered(s, left)
        if len(keys) == 1 or not order_matters(s, left, block):
            break
        chosen = offer[keys.index(answer(s, c, site, who, "which comes next?", keys, offer))]
        block(s, chosen)
        left.remove(chosen)
    for thing in left:
        block(s, thing)


def order_matters(s: State, things: Sequence[Thing], block: Block) -> bool:
    """Does the table, after all of it, depend on the order?

    The given order is tried against the reverse. Only where something more happens than that each thing changes in
    itself, each thing is tried in the first place, too.
    """
    first = _tried(s, things, block)
    if first is None:
        return True
    orders = [things[::-1]]
    if not first[1]:
        orders += [[*things[at:], *things[:at]] for at in range(1, len(things))]
    for order in orders:
        other = _tried(s, order, block)
        if other is None or other[0] != first[0]:
            return True
    return False


def _tried(s: State, things: Sequence[Thing], block: Block) -> tuple[list[Any], bool] | None:
    """The table after one order, and whether each thing only changed in itself. Nothing if that cannot be told."""
    trial = s.copy()
    trial.run = _asked
    is_plain = True
    try:
        for thing in things:
            start = len(trial.log)
            block(trial, thing)
            is_plain = is_plain and all(
                event[0] in _PLAIN and (event[0] != "set" or event[3] == thing) for event in trial.log[start:]
            )
    except (LongboxError, StopScope, GameOver, EndGame):
        return None
    return (_table(trial), is_plain) if trial.draws == s.draws else None


def _asked(question: Question) -> str:
    raise LongboxError("a trial asks nobody")


def _table(s: State) -> list[Any]:
    """What two tables must have in common to count as the same. In open places the order of things is no matter."""
    closed = [s.items[zone] for zone, sight in s.sight.items() if sight != "all"]
    lasting = [(*entry[1:4], entry[4][:3]) for entry in s.lasting]
    changing = [getattr(s, name) for name in (*s.FIELDS, *s.GLOBALS) if name not in s.FIXED]
    return [
        *(
            s.place,
            s.face,
            s.facedown,
            s.owner,
            s.in_play,
            s.borrowed,
            s.shown,
            s.edges,
            s.queue,
            s.used.keys(),
        ),
        *(closed, lasting, changing),
    ]
