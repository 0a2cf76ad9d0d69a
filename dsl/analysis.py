"""What the emitter must know about the whole program before it writes a line: the closed world.

Which fields are ever written or modified, which verbs anybody watches, which scopes matter, which phrases call
themselves. What nothing uses costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import ir
from . import units as u
from .vocabulary import Phrase, Vocabulary

WRITING = {
    "put _ _ on _": 1,
    "take _ _ from _": 1,
    "clear _ of _": 0,
}


class Analysis:
    def __init__(self, vocab: Vocabulary, units: u.Units) -> None:
        self.v, self.units = vocab, units
        self.written: set[str] = set()
        self.writes_any = False  # a counter whose name is only known when it runs
        self.moves = False
        self.modified: set[str] = set()
        self.modified_values: set[int] = set()
        self.watchers: dict[int, list[u.RuleUnit]] = {}
        self.scope_watchers: dict[str, list[u.RuleUnit]] = {}
        self.scopes: set[str] = {*units.waits}
        self.recorded: set[int] = set()  # verbs with windows or amid verbs: they need a record
        self.kept: dict[str, list[str]] = {}
        self.attaches = False  # may things lie on other things than zones and spaces?
        self._scan()
        self.recursive = self._find_recursive()
        self.made_kinds = self._made_kinds()

    # ------------------------------------------------------------ one walk over everything
    def _scan(self) -> None:
        for node in walk(self.units):
            match node:
                case u.SNow(place=ir.FieldOf(name=name)):
                    self.written.add(name)
                case u.SCall(call=ir.Call() as call) | u.SMay(call=ir.Call() as call):
                    self._call(call)
                case u.SStop(what=scope) if scope not in ("", "repeating"):
                    self.scopes.add(scope)
                case ir.ScopeRef(scope=scope) | ir.Running(scope=scope):
                    self.scopes.add(scope)
        for option in self.units.options:
            for cost in option.costs:
                if isinstance(cost, ir.Call):
                    self._call(cost)
            if option.once:
                self.scopes.add(option.once)
            for window in option.windows:
                if window.amid is not None:
                    self.recorded.add(window.amid.number)
        for verb in self.units.verbs:
            if verb.amid is not None:
                self.recorded.add(verb.amid.number)
        for rule in self.units.rules:
            self._rule(rule)
        for name, (_, _, kept) in self.units.values.items():
            if kept:
                self.scopes.add(kept)
                self.kept.setdefault(kept, []).append(name)
        self.scopes |= {f.kept for k in self.v.kinds.values() for f in k.fields.values() if f.kept}
        for design in self.units.designs:
            for face in design.faces:
                self.written |= set(face.fields)

    def _call(self, call: ir.Call) -> None:
        if call.pattern.phrase.is_primitive:
            where = dict(call.args).get("where")
            put_on = (
                call.pattern.phrase.skeleton in ("move _ to _", "create _ _ in _")
                and where is not None
                and not (where.type.base == "zone" or self.v.is_a(where.type.base, "space"))
            )
            outside = call.span.file != "std.box"
            self.attaches |= call.pattern.phrase.skeleton == "attach _ to _" or (put_on and outside)
        at = WRITING.get(call.pattern.phrase.skeleton)
        if at is not None and call.pattern.phrase.is_primitive:
            what = dict(call.args).get("what")
            if isinstance(what, ir.Ref):
                self.written.add(what.name)
            else:
                self.writes_any = True

    def _rule(self, rule: u.RuleUnit) -> None:
        if rule.once:
            self.scopes.add(rule.once)
        match rule.pattern:
            case ir.Gets(pattern=None, field=name):
                self.modified.add(name)
            case ir.Gets(pattern=pattern) if pattern is not None:
                self.modified_values.add(pattern.phrase.number)
            case ir.Call(pattern=pattern):
                self.watchers.setdefault(pattern.phrase.number, []).append(rule)
            case ir.ScopeRef(scope=scope):
                self.scope_watchers.setdefault(scope, []).append(rule)

    def is_fixed(self, field: str) -> bool:
        return field not in self.written and not (
            self.writes_any and self.v.columns()[field].sort == "counter"
        )

    def far_fields(self) -> list[str]:
        """Fields that a verb may depend on besides those of what stands in its slots.

        All that rules and conditions speak of, and queries that they or verbs use; of verbs, what they read of other
        things than their slots.
        """
        units = self.units
        texts = (units.rules, units.modifiers, units.limits, units.conditions, units.voices, units.askers)
        used = self._used_words((*texts, units.verbs))
        found = {node.name for node in walk((*texts, used)) if isinstance(node, ir.FieldOf | ir.Ref)}
        for verb in units.verbs:
            written = {
                id(arg)
                for node in walk(verb)
                if isinstance(node, ir.Call) and node.pattern.phrase.skeleton in WRITING
                for _, arg in node.args
            }
            for node in walk(verb):
                far = isinstance(node, ir.FieldOf) and not isinstance(node.owner, ir.Local)
                if far or (isinstance(node, ir.Ref) and id(node) not in written):
                    found.add(node.name)
        return sorted(found)

    def _used_words(self, texts: Any) -> list[u.QueryUnit | u.AdjUnit]:
        """Queries, relations and adjectives that come up when these texts run, and those that they use in turn."""
        queries = {unit.phrase.number: unit for unit in self.units.queries}
        found: dict[int, u.QueryUnit | u.AdjUnit] = {}
        todo: list[Any] = [texts]
        while todo:
            for node in walk(todo.pop()):
                new: list[u.QueryUnit | u.AdjUnit] = []
                if isinstance(node, ir.Call | ir.Rel) and (query := queries.get(node.pattern.phrase.number)):
                    new = [query]
                elif isinstance(node, ir.Adj):
                    new = [a for a in self.units.adjectives if a.info.name == node.name]
                for unit in new:
                    if id(unit) not in found:
                        found[id(unit)] = unit
                        todo.append(unit)
        return list(found.values())

    # ------------------------------------------------------------ recursion
    def _find_recursive(self) -> set[int]:
        """Phrases that can come back to themselves: only these are charged on every call."""
        calls: dict[int, set[int]] = {}
        phrases: list[u.VerbUnit | u.QueryUnit] = [*self.units.verbs, *self.units.queries]
        for unit in phrases:
            calls[unit.phrase.number] = {
                node.pattern.phrase.number for node in walk(unit) if isinstance(node, ir.Call | ir.Rel)
            }
        adjectives = {
            a.info.name: {
                n.pattern.phrase.number for n in walk((a.test, a.body)) if isinstance(n, ir.Call | ir.Rel)
            }
            for a in self.units.adjectives
        }
        for unit in phrases:
            for node in walk(unit):
                if isinstance(node, ir.Adj):
                    calls[unit.phrase.number] |= adjectives.get(node.name, set())
        reach = {k: set(v) for k, v in calls.items()}
        changed = True
        while changed:
            changed = False
            for known in reach.values():
                more = set().union(*(reach.get(x, set()) for x in known)) - known if known else set()
                if more:
                    known |= more
                    changed = True
        return {number for number, known in reach.items() if number in known}

    def _made_kinds(self) -> set[str]:
        """Kinds of which things can lie in zones: printed, supplied or created."""
        made = {d.kind for d in self.units.designs}
        made |= {z.removesuffix(" supply") for z in self.v.zones if z.endswith(" supply")}
        for node in walk(self.units):
            if isinstance(node, ir.Call) and node.pattern.phrase.skeleton == "create _ _ in _":
                what = dict(node.args)["what"]
                made |= set(self.v.narrower(what.type.base))
        return made

    def phrase(self, number: int) -> Phrase:
        return self.v.phrases[number]


def walk(node: Any) -> Iterator[Any]:
    """Every resolved node below one, itself included."""
    if isinstance(node, ir.Expr | u.S):
        yield node
    if isinstance(node, tuple | list):
        for x in node:
            yield from walk(x)
    elif isinstance(node, dict):
        for x in node.values():
            yield from walk(x)
    elif hasattr(node, "__dataclass_fields__") and type(node).__module__ in (ir.__name__, u.__name__):
        for name in node.__dataclass_fields__:
            if name not in ("span", "type", "pattern") or (
                name == "pattern" and isinstance(node, u.RuleUnit)
            ):
                yield from walk(getattr(node, name))
