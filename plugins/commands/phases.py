"""The parts of a game as they begin: rounds, phases, turns. They become headings in the story."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longbox.kernel import Event, Program, State, Thing
from longbox.kernel.views import can_see

PARTS = frozenset({"phase", "turn"})


class Phases:
    """Which events begin a part of the game, and what it is called. Turns count only where `turns` says so."""

    def __init__(self, program: Program, turns: bool = False) -> None:
        self.parts = PARTS if turns else PARTS - {"turn"}
        self.at: dict[int, str] = {}
        self._next, self._round = 1, 0
        code = program.structure.get("round") or [("done",)]
        self._structure = program.structure
        self._first = code[0] if code[0][0] in ("open", "step") else None
        self._opens = {
            (op[5], op[1]): op for ops in program.structure.values() for op in ops if op[0] == "open"
        }

    @property
    def round(self) -> int:
        """The number of the round that is played; 0 before the first, and where there are none."""
        return self._round if self._first else 0

    def follow(self, log: Sequence[Event], state: State) -> None:
        """Take in what is new; where the history became shorter, all of it again."""
        if len(log) < self._next:
            self.at, self._next, self._round = {}, 1, 0
        for number in range(self._next, len(log)):
            if heading := self._heading(log[number], state):
                self.at[number] = heading
        self._next = len(log)

    def _heading(self, event: Event, state: State) -> str:
        op, scope, subject = self._begun(event)
        if op is None:
            return ""
        self._round += op is self._first
        opens = op[0] == "open" and scope != "turn"  # whatever holds steps is as good as a phase
        if not opens and scope not in self.parts and not self.parts & {*op[6]}:
            return ""
        seen = subject is not None and all(can_see(state, seat, subject) for seat in state.of["seat"])
        whose = f" of {state.key[subject]}" if seen and subject is not None else ""
        return f"Round {self._round}: {scope}{whose}" if self._first and self._round else f"{scope}{whose}"

    def _begun(self, event: Event) -> tuple[tuple[Any, ...] | None, str, Thing | None]:
        """The instruction of the turn structure that an event comes from, its scope, and whose it is."""
        match event:
            case ("began", -1, site, scope, subject) if (site, scope) in self._opens:
                return self._opens[site, scope], scope, subject
            case ("stepped", _, _, (section, pc), _, scope, subject) if scope:
                op = self._structure[section][pc]
                return (op if op[0] == "step" else None), scope, subject
        return None, "", None
