"""Turn structure as data: the parts of `setup`, `round` and `scoring` that the kernel walks.

Control around phases, steps and turns becomes instructions (kernel/turns.py); what lies between becomes
functions. A game can be taken up again at every step, so what must be run again is short. Names bound at this
level live in the walk's frame.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import ir
from . import pyast as py
from . import units as u
from .emit_expr import Maker, Scope
from .types import T

if TYPE_CHECKING:
    from .emit import Emitter

Instruction = tuple[Any, ...]


def has_steps(body: Sequence[u.Stmt]) -> bool:
    """Is there a phase, step or turn inside, so that the walk must go into it?"""
    for s in body:
        match s:
            case u.SScope():
                return True
            case u.SIf(tests=tests, otherwise=otherwise):
                if any(has_steps(b) for _, b in tests) or (otherwise is not None and has_steps(otherwise)):
                    return True
            case u.SEach(body=inner) | u.SRepeat(body=inner):
                if has_steps(inner):
                    return True
            case u.SOffer(repeated=False):
                return True
    return False


def flatten(em: Emitter, section: str, bodies: Sequence[u.Body]) -> tuple[list[Instruction], int]:
    """The instructions of a section, and how many variables the walk keeps in it."""
    made = Flattener(em, section)
    if (
        section == "round"
        and bodies
        and (section in em.analysis.scopes or section in em.analysis.scope_watchers)
    ):
        made.whole(bodies)
    else:
        for body in bodies:
            made.body(body, made.scope, None)
    made.out.append(("jump", 0) if section == "round" and made.out else ("done",))
    return made.out, made.slots


class Flattener:
    def __init__(self, em: Emitter, section: str) -> None:
        self.em, self.section = em, section
        self.out: list[Instruction] = []
        self.slots = 0
        self.functions = 0
        self.scope = em.scope({})
        self.loops: list[list[int]] = []

    def whole(self, bodies: Sequence[u.Body]) -> None:
        """The section is a scope itself: something lasts, or is limited, for a round."""
        slot, site = self._slot(), self.em.site(bodies[0][0].span)
        self.out.append(("open", self.section, None, slot, None, site, (), 0))
        for body in bodies:
            self.body(body, self.scope, None)
        self.out.append(("close", self.section, slot, None, site, ()))
        self._aim(0)

    def _slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def _function(self, span: Any, body: list[ast.stmt]) -> str:
        self.functions += 1
        return self.em.define(span, f"x_{self.section}_{self.functions}", ["s", "c", "me", "you"], body)

    def _value(self, e: ir.Expr, sc: Scope, made: ast.expr | None = None) -> str:
        self.em._file = e.span.file
        return self._function(
            e.span, [ast.Return(made if made is not None else self.em.expressions.truth(e, sc))]
        )

    @staticmethod
    def _frame(slot: int) -> Maker:
        return lambda: py.sub(py.attr(py.name("s"), "frame"), py.const(slot))

    def body(self, body: u.Body, sc: Scope, you: int | None) -> None:
        """Statements in a row; those without steps are put together into one."""
        pending: list[u.Stmt] = []
        for at, s in enumerate(body):
            if isinstance(s, u.SChoose) and self._used_later(s.name, body[at + 1 :]):
                pending += body[at:]  # what is chosen is kept by one step only: the rest belongs to it
                break
            if (
                has_steps((s,))
                or isinstance(s, u.SStop)
                or (isinstance(s, u.SLet) and self._used_later(s.name, body[at + 1 :]))
            ):
                self._flush(pending, sc, you)
                self._statement(s, sc, you)
            else:
                pending.append(s)
        self._flush(pending, sc, you)

    @staticmethod
    def _used_later(name: str, rest: Sequence[u.Stmt]) -> bool:
        from .trees import locals_in

        return any(has_steps((s,)) and name in locals_in(s) for s in rest)

    def _flush(self, pending: list[u.Stmt], sc: Scope, you: int | None) -> None:
        if not pending:
            return
        span = pending[0].span
        self.em._file = span.file
        inner = self.em._inner(sc)
        name = self._function(span, self.em.block(tuple(pending), inner))
        self.out.append(("step", name, "", None, you, self.em.site(span), ()))
        pending.clear()

    def _statement(self, s: u.Stmt, sc: Scope, you: int | None) -> None:
        match s:
            case u.SScope():
                self._scope(s, sc, you)
            case u.SIf(tests=tests, otherwise=otherwise):
                ends = []
                for test, body in tests:
                    self.out.append(("test", self._value(test, sc), you, 0))
                    here = len(self.out) - 1
                    self.body(body, self.em._inner(sc), you)
                    ends.append(len(self.out))
                    self.out.append(("jump", 0))
                    self._aim(here)
                if otherwise is not None:
                    self.body(otherwise, self.em._inner(sc), you)
                for end in ends:
                    self._aim(end)
            case u.SEach():
                self._each(s, sc, you)
            case u.SRepeat():
                self._repeat(s, sc, you)
            case u.SStop(what="repeating") if self.loops:
                self.loops[-1].append(len(self.out))
                self.out.append(("jump", 0))
            case u.SLet(name=name, value=value):
                slot = self._slot()
                self.em._file = s.span.file
                ex = self.em.expressions
                made = (
                    py.call("k_tuple", ex.as_list(value, sc))
                    if value.type.form in ("set", "asks", "desc")
                    else ex.emit(value, sc)
                )
                self.out.append(("let", self._value(value, sc, made), slot, you))
                sc.names[name] = self._frame(slot)
            case _:
                self._flush([s], sc, you)

    def _aim(self, at: int) -> None:
        """A jump that was not known yet goes to the next instruction."""
        self.out[at] = (*self.out[at][:-1], len(self.out))

    def _scope(self, s: u.SScope, sc: Scope, you: int | None) -> None:
        subject = None
        inner = self.em._inner(sc)
        site = self.em.site(s.span)
        if s.subject is not None:
            subject = self._subject(s.subject, sc)
        effect = s.word in ("effect", "root effect")
        names = list(dict.fromkeys([s.scope, s.word])) if not effect else [s.scope]
        if not has_steps(s.body) and not effect:
            self.em._file = s.span.file
            if subject is not None:
                inner.names["you"] = lambda: py.name("you")
            name = self._function(s.span, self.em.block(s.body, inner))
            self.out.append(("step", name, names[0], subject, you, site, tuple(names[1:])))
            return
        if not has_steps(s.body):
            self._flush([s], sc, you)
            return
        slot = self._slot()
        needed = [
            n for n in names[1:] if n in self.em.analysis.scopes or n in self.em.analysis.scope_watchers
        ]
        self.out.append(("open", names[0], subject, slot, you, site, tuple(needed), 0))
        here = len(self.out) - 1
        inner_you = slot if subject is not None else you
        if subject is not None:
            inner.names["you"] = self._frame(slot)
        self.body(s.body, inner, inner_you)
        self.out.append(("close", names[0], slot, you, site, tuple(needed)))
        self._aim(here)

    def _subject(self, subject: ir.Expr, sc: Scope) -> str | int:
        """A variable of the walk by its place in the frame, anything else as a function."""
        self.em._file = subject.span.file
        made = self.em.expressions.emit(subject, sc)
        match made:
            case ast.Subscript(value=ast.Attribute(attr="frame"), slice=ast.Constant(value=int(slot))):
                return slot
        return self._value(subject, sc, made)

    def _each(self, s: u.SEach, sc: Scope, you: int | None) -> None:
        items, var = self._slot(), self._slot()
        self.em._file = s.span.file
        things = self._value(s.among, sc, py.call("k_tuple", self.em.in_order(s, sc)))
        asks = any(how == "order chosen by" for how, _ in s.order)
        self.out.append(("each", things, items, you, self.em.site(s.span), asks))
        start = len(self.out)
        self.out.append(("next", items, var, 0))
        inner = self.em._inner(sc)
        inner.names[s.name] = inner.names["it"] = self._frame(var)
        skip = None
        if s.test is not None:
            self.out.append(("test", self._value(s.test, inner), you, 0))
            skip = len(self.out) - 1
        self.loops.append([])
        self.body(s.body, inner, you)
        if skip is not None:
            self._aim(skip)
        self.out.append(("jump", start))
        self._aim(start)
        for stop in self.loops.pop():
            self._aim(stop)

    def _repeat(self, s: u.SRepeat, sc: Scope, you: int | None) -> None:
        if s.how == "times":
            assert s.test is not None
            count = ir.Number(type=s.test.type, span=s.test.span, value=1)
            among = ir.Compare(type=T("number", "set"), span=s.test.span, op="..", left=count, right=s.test)
            self._each(
                u.SEach(span=s.span, name="x n", among=among, order=(), test=None, body=s.body), sc, you
            )
            return
        start = len(self.out)
        leave = None
        if s.how == "while":
            assert s.test is not None
            self.out.append(("test", self._value(s.test, sc), you, 0))
            leave = start
        self.loops.append([])
        inner = self.em._inner(sc)
        self.body(s.body, inner, you)
        if s.how == "until":
            assert s.test is not None
            self.out.append(("test", self._value(s.test, inner), you, start))
        else:
            self.out.append(("jump", start))
        if leave is not None:
            self._aim(leave)
        for stop in self.loops.pop():
            self._aim(stop)
