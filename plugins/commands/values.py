"""What the values of a thing are now: what is printed on it, and what has become of that.

Values that texts change while they are in play (`other pegs near self get +1 worth`) are shown as they count now, if all
that changes them may be seen. Whose turn it is to see what is settled in kernel/views.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from longbox.kernel import LongboxError, Program, State, Thing
from longbox.kernel.rules import hosts
from longbox.kernel.text import Names, said
from longbox.kernel.views import can_see, may_read

SHORT = 60  # columns for the values of a thing, where it is only mentioned
_UNWORKED = (LongboxError, TypeError, KeyError, IndexError, AttributeError, ValueError)


class Values:
    """The values of things as one seat may know them."""

    def __init__(self, state: State, seat: Thing | None, program: Program) -> None:
        self.state, self.seat, self.program = state, seat, program
        self.names = Names(state.key)

    def printed(self, thing: Thing) -> dict[str, Any]:
        """By attribute, what is printed on the face that is up, or holds for its kind."""
        kind = self.program.kinds[self.state.kind[thing]]
        found = dict(kind["defaults"]) | self._worked_out(kind["init"], thing)
        number = self.state.design[thing]
        if number >= 0:
            design = self.program.designs[number]
            up = [face for face in design["faces"] if face["name"] == self.state.face[thing]]
            for spec in (design, *up[:1]):
                found |= spec["fields"]
                found |= self._worked_out(spec["init"], thing)
        return found

    def _worked_out(self, function: str | None, thing: Thing) -> dict[str, Any]:
        """Printed values that depend on the game: 2 per player."""
        if not function:
            return {}
        try:
            found: dict[str, Any] = self.program.function(function)(self.state, -1, thing, None)
        except _UNWORKED:
            return {}
        return found

    def value(self, thing: Thing, spec: dict[str, Any]) -> Any:
        """A value as it counts now; as it is written if something hidden changes it."""
        number, state = spec.get("modified"), self.state
        if number is None:
            return getattr(state, spec["attr"])[thing]
        rules = self.program.functions.get(f"M{number}", ())
        sources = [me for *_, rule in rules for me, _ in hosts(state, rule.where) if me is not None]
        if not all(can_see(state, self.seat, me) for me in sources):
            return getattr(state, spec["attr"])[thing]
        try:
            return self.program.function(f"m_{number}")(state, thing)
        except _UNWORKED:
            return getattr(state, spec["attr"])[thing]

    # ------------------------------------------------------------ in words
    def changes(self, thing: Thing) -> list[str]:
        """What is not as printed: counters, truths, other values."""
        printed = self.printed(thing)
        return [
            text
            for name, spec in self._readable(thing)
            if (text := self._change(name, spec, self.value(thing, spec), printed.get(spec["attr"])))
        ]

    def _readable(self, thing: Thing) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, spec in self.program.fields.items():
            plain = spec["type"].rstrip("?") not in ("zone", "text") and name not in ("row", "column")
            plain = plain and not spec.get("untold")
            if plain and may_read(self.state, self.seat, thing, spec):
                yield name, spec

    def _change(self, name: str, spec: dict[str, Any], value: Any, printed: Any) -> str:
        if value == printed or value in (None, (), []) or (value == 0 and printed in (None, 0, False)):
            return f"no {name}" if value is None and isinstance(printed, int) and printed else ""
        if isinstance(value, bool):
            return name if value else f"not {name}" if printed else ""
        if spec["sort"] == "field" and isinstance(printed, int) and not spec["thing"]:
            return f"{name} {value} (printed {printed})"
        return f"{name} {self.said(value, spec)}"

    def said(self, value: Any, spec: dict[str, Any]) -> str:
        if not spec["thing"]:
            return said(value)
        things = value if isinstance(value, tuple | list) else (value,)
        return self.names.thing([t if can_see(self.state, self.seat, t) else -1 for t in things])

    def short(self, thing: Thing) -> str:
        """Its numbers, words and truths as they are now, in a few words."""
        plain = [(name, self.value(thing, spec)) for name, spec in self._readable(thing) if not spec["thing"]]
        found = [(name, value) for name, value in plain if value not in (None, False, 0, (), [])]
        numbers = [f"{name} {value}" for name, value in found if type(value) is int]
        truths = [name for name, value in found if value is True]
        words = [f"{name} {said(value)}" for name, value in found if not isinstance(value, int)]
        parts: list[str] = []
        for text in (*numbers, *truths, *words):
            if len(", ".join([*parts, text])) <= SHORT:
                parts.append(text)
        return ", ".join(parts)

    def told(self, thing: Thing) -> str:
        """`Oak Peg (tray): dents 2`"""
        place = self.state.place[thing]
        where = (
            f" ({self.state.key[place]})"
            if place is not None and can_see(self.state, self.seat, place)
            else ""
        )
        short = self.short(thing)
        more = [text for text in self.changes(thing) if text.partition(" (")[0] not in short]
        values = ", ".join(filter(None, [short, *more]))
        return f"{self.state.key[thing]}{where}" + (f": {values}" if values else "")
