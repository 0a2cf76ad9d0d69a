"""What a game text lets everybody look at: its queries that are `seen by all`.

    query friends of (p: peg) -> set of peg, seen by all: ...

`show friends` lists it for the one who asks, or for each thing that may stand there; `show friends of Ash Peg` for
one. A query called `headline` (and `headline of (X)`) is what stands at the head of each new part of the game, and one
called `sign of (X)` gives what stands for a thing on a map. Queries that are not so marked are never asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from longbox.kernel import Game, LongboxError, Program, State, Thing
from longbox.kernel.state import BOX, REMOVED
from longbox.kernel.text import listed, word, wrapped
from longbox.kernel.views import can_see

from ..cli import WrongUse
from .matching import meant

HEADLINE = "headline"
SIGN = "sign"
LINES_MAX = 12  # of a headline
_JOINING = re.compile(r"( (of|in|for|to|from|on|at|by|near|with|a|an|the))+$")
_UNWORKED = (LongboxError, TypeError, KeyError, IndexError, AttributeError, ValueError)

Told = Callable[[Thing], str]  # a thing with what is to be known of it now


@dataclass(frozen=True)
class Sight:
    """One query that anybody may ask."""

    words: str  # with slots in brackets: friends of (peg)
    function: str
    slots: tuple[str, ...]
    type: str

    @property
    def head(self) -> str:
        """Its words before the first slot, without those that only join: friends."""
        return _JOINING.sub("", self.words.partition(" (")[0]) if not self.words.startswith("(") else ""

    @property
    def usage(self) -> str:
        return re.sub(r"\(([^)]*)\)", lambda m: m[1].upper(), self.words)

    def typed(self, text: str) -> list[str] | None:
        """The slots of what was typed, if it is this query with all its slots."""
        pattern = "".join(
            r"(.+)" if part.startswith("(") else re.escape(part)
            for part in re.split(r"(\([^)]*\))", self.words)
        )
        found = re.fullmatch(pattern, text, re.IGNORECASE)
        return list(found.groups()) if found else None


def sights(program: Program) -> list[Sight]:
    """All that may be looked at."""
    return [
        Sight(words, spec["function"], tuple(spec["slots"]), spec["type"])
        for words, spec in program.tables.get("queries", {}).items()
        if spec.get("seen")
    ]


class Seer:
    """Asks such queries for one seat."""

    def __init__(self, game: Game, seat: Thing | None) -> None:
        self.program, self.seat = game.program, seat
        self.state: State = game.state.copy()  # a query may spend of the budget of steps
        self.sights = sights(game.program)

    # ------------------------------------------------------------ show
    @property
    def has_headline(self) -> bool:
        return any(_is_headline(sight) for sight in self.sights)

    def names(self) -> list[str]:
        return [sight.head for sight in self.sights if sight.head and not _is_drawn(sight)]

    def uses(self) -> list[str]:
        """How they are typed."""
        return [sight.usage for sight in self.sights if not _is_drawn(sight)]

    def lines(self, typed: str, told: Told) -> list[str] | None:
        """What a query gives, if it is one that was typed."""
        for sight in self.sights:
            if (slots := sight.typed(typed)) is not None:
                return self._one(
                    sight, [self._read(t, s) for t, s in zip(sight.slots, slots, strict=True)], told
                )
        heads = {sight.head.lower(): sight for sight in self.sights if sight.head}
        low = typed.lower()
        close = [head for head in heads if head == low] or [head for head in heads if head.startswith(low)]
        if len(close) != 1 or len(low) < 3:
            return None
        sight = heads[close[0]]
        if len(sight.slots) > 1:
            raise WrongUse(f"say it in full: show {sight.usage}")
        if not sight.slots:
            return self._one(sight, [], told)
        return [line for one in self._fitting(sight) for line in self._one(sight, [one], told)]

    def _fitting(self, sight: Sight) -> list[Thing]:
        """Whom it is asked for: what belongs to the one who asks, else everything of that kind."""
        kind = sight.slots[0].rstrip("?")
        if kind not in self.program.kinds:
            raise WrongUse(f"say it in full: show {sight.usage}")
        known = self._in_play(kind) or self._things(kind)
        mine = [t for t in known if self.seat in (t, self.state.owner[t])]
        if not known:
            raise WrongUse(f"there is no {kind} in play")
        return mine if len(mine) == 1 else known

    def _things(self, kind: str) -> list[Thing]:
        """All of a kind that the seat may see and that are not out of the game."""
        state, out = self.state, (BOX, REMOVED)
        when = self.program.kinds[kind]["when"]  # some kinds are known by a condition
        wide = next((k for k in self.program.kinds[kind]["all"] if not self.program.kinds[k]["when"]), kind)
        return [
            t
            for t in state.of.get(wide, ())
            if can_see(state, self.seat, t)
            and (t in state.of["seat"] or state.place[t] not in out)
            and (not when or self._call(when, [t]) is True)
        ]

    def _in_play(self, kind: str) -> list[Thing]:
        seats = self.state.of["seat"]
        return [t for t in self._things(kind) if self.state.in_play[t] or t in seats]

    def _read(self, kind: str, typed: str) -> Any:
        """A slot as it was typed: the name of a thing, a number, a word."""
        kind = kind.rstrip("?")
        if kind in self.program.kinds or kind in ("thing", "place"):
            known = {
                self.state.key[t]: t for t in self._things(kind if kind in self.program.kinds else "thing")
            }
            return known[meant(typed, known, kind, guess=True)]
        return int(typed) if typed.lstrip("-").isdecimal() else typed

    def _one(self, sight: Sight, slots: Sequence[Any], told: Told) -> list[str]:
        given = iter(slots)
        title = re.sub(r"\([^)]*\)", lambda m: self._said(next(given), m[0].strip("()")), sight.words)
        value = self._call(sight.function, slots)
        if sight.type.startswith("set of") and self._is_kind(sight.type.removeprefix("set of ")):
            seen = [t for t in value or () if can_see(self.state, self.seat, t)]
            return [
                f"{title}:" if seen else f"{title}: nothing",
                *(x for t in seen for x in wrapped(f"  {told(t)}")),
            ]
        return wrapped(f"{title}: {self._said(value, sight.type)}")

    def _is_kind(self, name: str) -> bool:
        return name.rstrip("?") in self.program.kinds

    def _said(self, value: Any, kind: str) -> str:
        if isinstance(value, int) and not isinstance(value, bool) and self._is_kind(kind):
            return self.state.key[value] if can_see(self.state, self.seat, value) else "hidden"
        return listed(map(word, value)) if isinstance(value, list | tuple) else word(value)

    def _call(self, function: str, slots: Sequence[Any]) -> Any:
        try:
            return self.program.functions[function](self.state, -1, None, None, *slots)
        except _UNWORKED:
            return None

    # ------------------------------------------------------------ the head of a part of the game
    def headline(self) -> list[str]:
        """The state of the table in a few lines, as the text puts it."""
        lines = [line for sight in self.sights for line in self._headline(sight)]
        return [part for line in lines[:LINES_MAX] for part in wrapped(f"  {line}")]

    def _headline(self, sight: Sight) -> Iterator[str]:
        if not _is_headline(sight):
            return
        texts = (
            [self._call(sight.function, [])]
            if not sight.slots
            else [self._call(sight.function, [t]) for t in self._in_play(sight.slots[0])]
        )
        yield from (line for text in texts if text for line in str(text).split("\n"))

    # ------------------------------------------------------------ maps
    def signs(self) -> dict[str, str]:
        """What stands on a map for the things that the seat may see, by their names."""
        return {
            self.state.key[t]: text
            for sight in self.sights
            if _is_for_each(sight, SIGN)
            for t in self._in_play(sight.slots[0])
            if isinstance(text := self._call(sight.function, [t]), str)
        }


def _is_for_each(sight: Sight, word: str) -> bool:
    """`headline of (X)`, `sign of (X)`."""
    return len(sight.slots) == 1 and sight.words == f"{word} of ({sight.slots[0]})"


def _is_drawn(sight: Sight) -> bool:
    """Shown by itself, and so nothing to ask for."""
    return _is_headline(sight) or _is_for_each(sight, SIGN)


def _is_headline(sight: Sight) -> bool:
    """`headline`, or `headline of (X)` for each X in play."""
    return sight.words == HEADLINE or _is_for_each(sight, HEADLINE)
