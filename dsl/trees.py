"""Small questions about resolved trees and clauses, asked by several passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from . import ir
from . import nodes as n
from . import units as u
from .reader import Env
from .source import Span
from .types import TRUTH, T
from .vocabulary import Phrase


def span_over(items: Sequence[n.Item]) -> Span:
    return items[0].span.to(items[-1].span)


def moved_to(clause: n.Clause, span: Span) -> n.Clause:
    """A clause read on its own, put where it stands in the file."""

    def place(item: n.Item) -> n.Item:
        return (
            n.Group(span, tuple(place(x) for x in item.items))
            if isinstance(item, n.Group)
            else n.Word(span, item.type, item.value)
        )

    return n.Clause(span, tuple(place(x) for x in clause.items))


def subject_slot(phrase: Phrase) -> str | None:
    """The slot that is `you` unless said otherwise, if the phrase begins with it: `[(who: player = you)] draws`."""
    first = phrase.decl.pattern.parts[0]
    if isinstance(first, n.Optional) and len(first.parts) == 1 and isinstance(first.parts[0], n.Slot):
        slot = first.parts[0]
        if slot.default is not None and str(slot.default) == "you":
            return str(slot.name)
    return None


def all_mods(mods: n.Mods, body: n.RuleBody | n.Body) -> n.Mods:
    """Comma parts, and those that stand on lines of their own at the start of the block."""
    return n.Mods(mods.span, (*mods.items, *body.mods)) if isinstance(body, n.RuleBody) else mods


def loose(t: T) -> T:
    """What a query may be defined by: a set may be given as a description in the plural."""
    return replace(t, maybe=True)


def mod_name(mod: n.Mod) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in type(mod).__name__).lstrip("_")


def same_as_you(who: ir.Expr, env: Env) -> ir.Expr:
    you = ir.Local(type=env["you"], span=who.span, name="you")
    return ir.Compare(type=TRUTH, span=who.span, op="=", left=you, right=who)


def can_leave(body: u.Body) -> bool:
    """Is there anything in a loop that may end it: a stop, an answer, or a verb (which may end the game)?"""
    for s in body:
        match s:
            case u.SStop() | u.SAnswer() | u.SCall() | u.SOffer() | u.SMay():
                return True
            case u.SIf(tests=tests, otherwise=otherwise):
                if any(can_leave(b) for _, b in tests) or (otherwise and can_leave(otherwise)):
                    return True
            case u.SEach(body=inner) | u.SRepeat(body=inner) | u.SScope(body=inner) | u.SSecretly(body=inner):
                if can_leave(inner):
                    return True
            case u.SAsk(choices=choices):
                if any(can_leave(c.body) for c in choices):
                    return True
    return False


def locals_in(node: Any) -> list[str]:
    """The names a resolved text uses, slots and loop variables included."""
    if isinstance(node, ir.Local):
        return [node.name]
    if isinstance(node, tuple | list):
        return [x for part in node for x in locals_in(part)]
    if isinstance(node, ir.Expr | u.S):
        return [
            x
            for name in node.__dataclass_fields__
            if name not in ("span", "type", "pattern")
            for x in locals_in(getattr(node, name))
        ]
    return []


def substitute(node: Any, filled: dict[str, ir.Expr]) -> Any:
    """A resolved expression with some names replaced by expressions."""
    if isinstance(node, ir.Local) and node.name in filled:
        return filled[node.name]
    if isinstance(node, tuple):
        return tuple(substitute(x, filled) for x in node)
    if isinstance(node, ir.Expr):
        changes = {
            name: substitute(getattr(node, name), filled)
            for name in node.__dataclass_fields__
            if name not in ("type", "span", "lits", "pattern")
        }
        return replace(node, **changes)
    return node
