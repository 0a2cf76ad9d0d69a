"""Checks that need the whole: queries that need themselves, declarations that nothing uses, stages, sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from . import ir
from . import nodes as n
from . import units as u
from .analysis import walk
from .explain import near
from .problems import Problem
from .vocabulary import Vocabulary

STD_FILE = "std.box"
_DOING = (u.SCall, u.SNow, u.SAsk, u.SChoose, u.SMay, u.SOffer, u.SLasting, u.SChooseNumber)


def check(vocab: Vocabulary, units: u.Units, decls: Sequence[n.Decl], used: set[int]) -> list[Problem]:
    """All checks, in the order of their codes."""
    return [
        *_stages(units, decls),
        *_circles(vocab, units),
        *_questions_in_queries(units),
        *_unused(vocab, units, used),
        *_duplicate_cards(units),
    ]


def _stages(units: u.Units, decls: Sequence[n.Decl]) -> Iterator[Problem]:
    places = {
        rule.clause.span: mod.name.span
        for decl in decls
        for rule in triggers_in(decl)
        for mod in rule.mods.items
        if isinstance(mod, n.AtStage)
    }
    verbs = {v.phrase.number: v for v in units.verbs}
    for rule in units.rules:
        if rule.stage and isinstance(rule.pattern, ir.Call):
            unit = verbs.get(rule.pattern.pattern.phrase.number)
            known = unit.stages if unit else ()
            if rule.stage not in known:
                place = places.get(rule.span, rule.span)
                yield Problem(
                    "LB0219",
                    place,
                    f"that verb has no stage '{rule.stage}'",
                    near(rule.stage, list(known)) or f"its stages: {', '.join(known) or 'none'}",
                )


def triggers_in(node: Any) -> Iterator[n.Trigger]:
    """Every `before`, `after` and `instead of` rule in a tree, wherever it stands."""
    if isinstance(node, n.Trigger):
        yield node
    for name in getattr(node, "__dataclass_fields__", ()):
        value = getattr(node, name)
        for child in value if isinstance(value, tuple) else (value,):
            if isinstance(child, n.Node):
                yield from triggers_in(child)


def _circles(vocab: Vocabulary, units: u.Units) -> Iterator[Problem]:
    """A query, relation or adjective given by one expression that needs itself can never be worked out."""
    needs: dict[int, set[int]] = {}
    for q in units.queries:
        if q.value is not None and not q.body:
            needs[q.phrase.number] = {
                x.pattern.phrase.number for x in _unconditional(q.value) if isinstance(x, ir.Call | ir.Rel)
            }
    for q in units.queries:
        seen: set[int] = set()
        todo = list(needs.get(q.phrase.number, ()))
        while todo:
            number = todo.pop()
            if number == q.phrase.number:
                yield Problem(
                    "LB0303",
                    q.span,
                    f"'{q.phrase.text}' needs itself to be worked out",
                    "give one of the circle another meaning",
                )
                break
            if number not in seen:
                seen.add(number)
                todo += needs.get(number, ())


def _unconditional(e: ir.Expr) -> Iterator[ir.Expr]:
    """What must be worked out in any case: not the right side of `and` and `or`, not what a filter tests."""
    if isinstance(e, ir.Logic):
        yield from _unconditional(e.left)
        return
    yield e
    if isinstance(e, ir.Noun):
        return
    for name in e.__dataclass_fields__:
        value = getattr(e, name)
        for child in value if isinstance(value, tuple) else (value,):
            inner = child[1] if isinstance(child, tuple) and len(child) == 2 else child
            if isinstance(inner, ir.Expr):
                yield from _unconditional(inner)


def _questions_in_queries(units: u.Units) -> Iterator[Problem]:
    """Queries, conditions and guards are worked out at any time, so they may not ask or roll."""

    def asking(part: object) -> Iterator[ir.Expr]:
        for x in walk(part):
            chosen = isinstance(x, ir.Noun) and x.type.form in ("ask", "asks") and x.det != "the"
            if chosen or isinstance(x, ir.RandomOf):
                yield x

    for q in units.queries:
        for x in asking(q.value) if q.value is not None else ():
            if not _is_test(q.value, x):
                yield Problem(
                    "LB0224",
                    x.span,
                    "a query may not ask anybody or roll dice",
                    "say 'the', 'any' or 'all', or make it a verb",
                )
    for q in units.queries:
        for s in walk(q.body):
            if isinstance(s, _DOING):
                yield Problem(
                    "LB0224",
                    s.span,
                    "a query only looks: it may not do or ask anything",
                    "make it a verb that gives an answer: verb ... -> TYPE",
                )
    for a in units.adjectives:
        for x in asking(a.test) if a.test is not None else ():
            if not _is_test(a.test, x):
                yield Problem(
                    "LB0224",
                    x.span,
                    "an adjective may not ask anybody or roll dice",
                    "say 'the', 'any' or 'all'",
                )


def _is_test(whole: ir.Expr | None, x: ir.Expr) -> bool:
    """`it is a figure` only tests: nobody is asked."""
    return any(isinstance(e, ir.Is) and e.test is x for e in walk(whole))


def _unused(vocab: Vocabulary, units: u.Units, used: set[int]) -> Iterator[Problem]:
    """Warnings: windows that nothing offers, and verbs nobody calls in a game of one's own."""
    if not units.sections:
        return  # an expansion on its own: what it declares is used elsewhere
    owners: list[Any] = [*units.verbs, *units.rules, *units.options]
    owners += [a for d in units.designs for a in d.abilities]
    bodies = [*(owner.body for owner in owners), *(b for found in units.sections.values() for b in found)]
    offered = {s.window.name for s in walk(bodies) if isinstance(s, u.SOffer)}
    for window in vocab.windows.values():
        if window.name not in offered:
            yield Problem(
                "LB0305",
                window.decl.name.span,
                f"nothing ever offers '{window.name}'",
                "write: offer WINDOW to SEATS",
            )
    yield from _unread(vocab, units)
    used = used | {q.phrase.number for q in units.queries if q.seen}  # people look at these
    for phrase in vocab.phrases:
        if phrase.number not in used and phrase.span.file != STD_FILE and not phrase.is_primitive:
            yield Problem("LB0305", phrase.span, f"no text uses this {phrase.sort}")


def _unread(vocab: Vocabulary, units: u.Units) -> Iterator[Problem]:
    """Warnings: fields, states and zones that no text ever looks at."""
    fields, values, zones = _looked_at(units)
    for kind in vocab.kinds.values():
        for f in kind.fields.values():
            if f.span.file == STD_FILE or f.name in (zones if f.sort == "zone" else fields):
                continue
            if f.type.base == "text" or f.for_people:  # printed for people to read
                continue
            yield Problem("LB0305", f.span, f"no text ever looks at this {f.sort}")
    for name, (_, _, _) in units.values.items():
        if name not in values and (span := units.value_spans.get(name)) is not None:
            yield Problem("LB0305", span, "no text ever looks at this state")
    for name, info in vocab.zones.items():
        if name not in zones and info.span.file != STD_FILE and name not in units.starts.values():
            yield Problem("LB0305", info.span, "no text ever uses this zone")


def _looked_at(units: u.Units) -> tuple[set[str], set[str], set[str]]:
    """Names of fields, values and zones that some text reads; a place that is only written does not count."""
    fields: set[str] = set()
    values: set[str] = set()
    zones: set[str] = set()
    written = {id(s.place) for s in walk(units) if isinstance(s, u.SNow)}
    for x in walk(units):
        match x:
            case ir.FieldOf(name=name) | ir.Best(field=name):
                if id(x) not in written:
                    fields.add(name)
            case ir.Adj(name=name, fields=named, flag=flag):
                fields |= {*named, *([name] if flag else [])}
            case ir.Ref(sort="field" | "counter", name=name):
                fields.add(name)
            case ir.GlobalValue(name=name) if id(x) not in written:
                values.add(name)
            case ir.GlobalZone(name=name) | ir.ZoneOf(name=name):
                zones.add(name)
    for rule in units.rules:
        if rule.where[0] == "zone":
            zones.add(str(rule.where[2]))
    for option in units.options:
        if option.where[0] == "zone":
            zones.add(str(option.where[2]))
    return fields, values, zones


def _duplicate_cards(units: u.Units) -> Iterator[Problem]:
    seen: dict[tuple[str, str], u.DesignUnit] = {}
    for d in units.designs:
        first = seen.setdefault((d.kind, d.name), d)
        if first is not d and first.span != d.span:
            place = f"{first.span.file}:{first.span.line}"
            yield Problem(
                "LB0301",
                d.span,
                f'{d.kind} "{d.name}" is declared twice',
                f"first declared at {place}; for more copies write: x 2",
            )
