"""Verbs, queries, rules and options to Python functions."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from longbox.kernel.state import attribute

from . import ir
from . import pyast as py
from . import units as u
from .emit_core import BASE, held, told_name
from .emit_expr import Maker, Scope, local, variable
from .emit_statements import Statements
from .trees import subject_slot
from .types import T
from .vocabulary import Phrase


class Rules(Statements):
    """Emits what can be called, and what watches."""

    # ------------------------------------------------------------ queries
    def _query(self, unit: u.QueryUnit) -> None:
        phrase = unit.phrase
        self._file = unit.span.file
        params = [variable(k) for k in phrase.slots]
        sc = self.scope({k: local(variable(k)) for k in phrase.slots})
        body: list[ast.stmt] = (
            []
            if phrase.number not in self.analysis.recursive
            else [py.expression(py.call("k_over_budget", py.name("s")))]
        )
        if unit.value is not None:
            value = self._result(unit.value, phrase.gives, sc)
            if phrase.sort == "value" and phrase.number in self.analysis.modified_values:
                value = py.call(
                    "k_modified",
                    py.name("s"),
                    value,
                    py.tuple_of(py.name(p) for p in params),
                    py.name(f"V{phrase.number}"),
                    py.const(unit.low),
                    py.const(unit.high),
                )
            elif unit.low is not None or unit.high is not None:
                value = py.call("k_within", value, py.const(unit.low), py.const(unit.high))
            body.append(ast.Return(value))
        else:
            body += self.block(unit.body, sc)
            empty = py.list_of([]) if phrase.gives.form == "set" else py.const(None)
            body.append(ast.Return(py.const(False) if phrase.gives.base == "truth" else empty))
        if phrase.sort == "value":
            self.lists.setdefault(f"V{phrase.number}", [])
        self.define(unit.span, f"q{phrase.number}", [*BASE, *params], body)

    def _result(self, value: ir.Expr, gives: T, sc: Scope) -> ast.expr:
        if gives.base == "truth":
            return self.expressions.truth(value, sc)
        return (
            self.expressions.as_list(value, sc) if gives.form == "set" else self.expressions.emit(value, sc)
        )

    def _modified_field(self, name: str) -> None:
        info = self.v.columns()[name]
        number = self.field_numbers[name]
        base = py.sub(py.attr(py.name("s"), attribute("f", name)), py.name("x"))
        value = py.call(
            "k_modified",
            py.name("s"),
            base,
            py.tuple_of([py.name("x")]),
            py.name(f"M{number}"),
            py.const(info.low),
            py.const(info.high),
        )
        self.lists.setdefault(f"M{number}", [])
        self.define(info.span, f"m_{number}", ["s", "x"], [ast.Return(value)])

    # ------------------------------------------------------------ verbs
    def _verb(self, unit: u.VerbUnit) -> None:
        phrase = unit.phrase
        self._file = unit.span.file
        number = phrase.number
        params = [variable(k) for k in phrase.slots]
        rules = self.analysis.watchers.get(number, [])
        record = bool(rules) or number in self.analysis.recorded
        scope = f"verb {number}" if f"verb {number}" in self.analysis.scopes else ""
        names: dict[str, Maker] = {k: local(p) for k, p in zip(phrase.slots, params, strict=True)}
        if unit.amid is not None:
            names |= self._record_names(unit.amid, skip=set(names))
        if (subject := subject_slot(phrase)) is not None:
            names["you"] = names[subject]
        sc = self.scope(names)
        self._possible(unit, rules, sc)
        head: list[ast.stmt] = []
        if number in self.analysis.recursive:
            head.append(py.expression(py.call("k_over_budget", py.name("s"))))
        if unit.needs or any(r.timing == "forbid" for r in rules):
            head.append(
                ast.If(
                    py.negate(py.call(f"n{number}", *map(py.name, BASE), *map(py.name, params))),
                    [ast.Return(py.const(None))],
                    [],
                )
            )
        if record:
            head += self._before(unit, params)
            held = self._record_names(phrase)
            sc = self.scope({**names, **held, **({"you": held[subject]} if subject is not None else {})})
        values = [self._recorded(k, t, sc) for k, t in phrase.slots.items()]
        if phrase.mark != "quiet":
            event = py.tuple_of(
                [py.const("did"), py.name("c"), py.name("site"), py.const(told_name(phrase)), *values]
            )
            head += [
                py.expression(py.method(py.attr(py.name("s"), "log"), "append", event)),
                py.assign(
                    "c", ast.BinOp(py.call("k_len", py.attr(py.name("s"), "log")), ast.Sub(), py.const(1))
                ),
            ]
        more = ["r"] if unit.amid is not None else []
        if not record and not scope:
            self.define(
                unit.span,
                f"v{number}",
                ["s", "c", "site", "me", "you", *params, *more],
                head + self.block(unit.body, sc),
            )
            return
        inner = ["r"] if record else params
        self.define(unit.span, f"v{number}_body", [*BASE, *inner], self.block(unit.body, sc))
        run: ast.expr = py.call(f"v{number}_body", *map(py.name, BASE), *map(py.name, inner))
        tail: list[ast.stmt] = []
        if scope:
            lead = [py.name("s"), py.name("c"), py.name("site")]
            head.append(py.assign("e", py.call("k_enter", *lead, py.const(scope), py.name("you"))))
            head.append(
                ast.If(py.compare(py.name("e"), ast.Lt(), py.const(0)), [ast.Return(py.const(None))], [])
            )
            tail.append(self._guarded(scope, [py.assign("out", run)]))
            tail.insert(0, py.assign("out", py.const(None)))
            if scope in self.units.waits:
                tail.append(
                    py.expression(
                        py.call("k_drain", py.name("s"), py.name("e"), py.const(scope), py.name("you"))
                    )
                )
            tail.append(
                py.expression(
                    py.call(
                        "k_leave",
                        py.name("s"),
                        py.name("e"),
                        py.name("site"),
                        py.const(scope),
                        py.name("you"),
                    )
                )
            )
        else:
            tail.append(py.assign("out", run))
        if any(r.timing == "after" for r in rules):
            tail.append(
                py.expression(
                    py.call(
                        "k_run_after",
                        py.name("s"),
                        py.name("c"),
                        py.name("r"),
                        py.name(f"A{number}"),
                        py.name("h"),
                    )
                )
            )
        tail.append(ast.Return(py.name("out")))
        self.define(unit.span, f"v{number}", ["s", "c", "site", "me", "you", *params, *more], head + tail)

    def _record_names(self, phrase: Phrase, skip: set[str] | None = None) -> dict[str, Maker]:
        return {k: held(i) for i, k in enumerate(phrase.slots) if k not in (skip or set())}

    def _recorded(self, slot: str, t: T, sc: Scope) -> ast.expr:
        value = sc.names[slot]()
        return py.call("k_tuple", value) if t.form in ("set", "desc") or t.base == "roll" else value

    def _before(self, unit: u.VerbUnit, params: list[str]) -> list[ast.stmt]:
        number, text = unit.phrase.number, py.const(told_name(unit.phrase))
        rules = self.analysis.watchers.get(number, [])
        out: list[ast.stmt] = [py.assign("r", py.list_of([*map(py.name, params), py.const(False)]))]
        for letter in "BIA":
            self.lists.setdefault(f"{letter}{number}", [])
        lead = [py.name("s"), py.name("c"), py.name("r")]
        if any(r.timing == "before" for r in rules):
            prevented = py.tuple_of(
                [
                    py.const("prevented"),
                    py.name("c"),
                    py.name("site"),
                    text,
                    *(py.call("k_plain", py.sub(py.name("r"), py.const(i))) for i in range(len(params))),
                ]
            )
            out.append(
                ast.If(
                    py.negate(py.call("k_run_before", *lead, py.name(f"B{number}"))),
                    [
                        py.expression(py.method(py.attr(py.name("s"), "log"), "append", prevented)),
                        ast.Return(py.const(None)),
                    ],
                    [],
                )
            )
        if any(r.timing == "instead of" for r in rules):
            out.append(
                ast.If(
                    py.call("k_run_instead", *lead, py.name(f"I{number}"), text),
                    [ast.Return(py.const(None))],
                    [],
                )
            )
        if any(r.timing == "after" for r in rules):
            out.append(py.assign("h", py.call("k_after_hosts", py.name("s"), py.name(f"A{number}"))))
        return out

    def _possible(self, unit: u.VerbUnit, rules: list[u.RuleUnit], sc: Scope) -> None:
        """n12(...): may this verb be carried out with these slots? Asks nothing, changes nothing."""
        number = unit.phrase.number
        forbids = [r for r in rules if r.timing == "forbid"]
        if not unit.needs and not forbids:
            return
        params = [variable(k) for k in unit.phrase.slots]
        tests = [self.expressions.truth(t, sc) for t in unit.needs]
        if forbids:
            record = py.list_of([*map(py.name, params), py.const(False)])
            tests.append(py.call("k_possible", py.name("s"), py.name("c"), record, py.name(f"F{number}")))
        self.define(unit.span, f"n{number}", [*BASE, *params], [ast.Return(py.both(tests))])

    # ------------------------------------------------------------ rules
    def _rule(self, rule: u.RuleUnit) -> None:
        self._file = rule.span.file
        number = rule.number
        names = self._rule_names(rule)
        sc = self._card_scope(rule.self_kind, names) if rule.self_kind else self.scope(names)
        head = self._rule_head(rule)
        tests = self._pattern_tests(rule, sc)
        if rule.test is not None:
            tests.append(self.expressions.truth(rule.test, sc))
        tests += [self.expressions.truth(t, sc) for t in rule.guard]
        guard = None
        if tests:
            told = ast.Return(py.both(tests))
            guard = self.define(
                rule.span, f"g{number}", ["s", "c", "me", "w", "r"], [*_used(head, [told]), told]
            )
        if rule.timing == "modifier":
            assert isinstance(rule.pattern, ir.Gets)
            amount = self.expressions.emit(rule.pattern.amount, sc)
            body: list[ast.stmt] = [ast.Return(py.tuple_of([py.const(rule.pattern.how), amount]))]
        else:
            body = self.block(rule.body, sc)
        body = [*_used(self._rule_head(rule), body), *body]
        self.define(rule.span, f"b{number}", ["s", "c", "me", "w", "r"], body)
        stage, again = 0, False
        if isinstance(rule.pattern, ir.Call):
            unit = self.verbs.get(rule.pattern.pattern.phrase.number)
            if unit and rule.stage in unit.stages:
                stage, again = unit.stages.index(rule.stage) + 1, rule.stage in unit.again
        self.rule_table.append(
            (number, rule.where, guard, f"b{number}", rule.once, self.site(rule.span), stage, again)
        )
        self._file_rule(rule)

    def _file_rule(self, rule: u.RuleUnit) -> None:
        """Put a rule on the list of what it watches."""
        match rule.pattern:
            case ir.Call(pattern=p):
                letter = {"before": "B", "after": "A", "instead of": "I", "forbid": "F"}[rule.timing]
                self.lists.setdefault(f"{letter}{p.phrase.number}", []).append(rule.number)
            case ir.Gets(pattern=None, field=name):
                self.lists.setdefault(f"M{self.field_numbers[name]}", []).append(rule.number)
            case ir.Gets(pattern=p) if p is not None:
                self.lists.setdefault(f"V{p.phrase.number}", []).append(rule.number)
            case None:
                pass  # a state check: `whenever_field` and the like list it where it may come to hold

    def _scope_lists(self) -> None:
        for scope, rules in self.analysis.scope_watchers.items():
            for rule in rules:
                assert isinstance(rule.pattern, ir.ScopeRef)
                when = rule.pattern.moment or ("end" if rule.timing == "after" else "start")
                letter = (
                    "forbid"
                    if rule.timing == "forbid"
                    else "instead"
                    if rule.timing == "instead of"
                    else when
                )
                self.lists.setdefault(f"scope {letter} {scope}", []).append(rule.number)

    def _rule_names(self, rule: u.RuleUnit) -> dict[str, Maker]:
        names: dict[str, Maker] = {}
        if isinstance(rule.pattern, ir.Call):
            names |= self._record_names(rule.pattern.pattern.phrase)
            names |= {alias: names[slot] for alias, slot in rule.names.items()}
        elif isinstance(rule.pattern, ir.ScopeRef) and rule.pattern.subject is not None:
            names[rule.pattern.subject.type.base] = lambda: py.sub(py.name("r"), py.const(0))
        for name in rule.captured:
            if name != "you" and name not in names:
                names[name] = local(variable(name))
        if rule.where[0] == "top":
            names["you"] = local("you")
        return names

    def _rule_head(self, rule: u.RuleUnit) -> list[ast.stmt]:
        """Names that the rule's functions start with: who speaks, and what was captured."""
        out: list[ast.stmt] = []
        if rule.captured:
            for at, name in enumerate(rule.captured):
                target = "you" if name == "you" else variable(name)
                out.append(py.assign(target, py.sub(py.name("w"), py.const(at))))
        else:
            out.append(py.assign("you", py.call("k_voice", py.name("s"), py.name("me"))))
        return out

    def _pattern_tests(self, rule: u.RuleUnit, sc: Scope) -> list[ast.expr]:
        pattern, tests = rule.pattern, list[ast.expr]()
        match pattern:
            case ir.Call(pattern=p, args=args):
                order = list(p.phrase.slots)
                for slot, arg in args:
                    tests += self._matches(arg, held(order.index(slot)), sc)
            case ir.ScopeRef(subject=subject) if subject is not None:
                tests += self._matches(subject, held(0), sc)
            case ir.Gets(pattern=None, subject=subject) if subject is not None:
                tests += self._matches(subject, held(0), sc)
            case ir.Gets(pattern=p, args=args) if p is not None:
                order = list(p.phrase.slots)
                for slot, arg in args:
                    tests += self._matches(arg, held(order.index(slot)), sc)
        return tests

    def _matches(self, arg: ir.Expr, value: Maker, sc: Scope) -> list[ast.expr]:
        """Tests that a slot's value is what a rule speaks of."""
        ex = self.expressions
        if isinstance(arg, ir.AnyValue):
            return []
        if isinstance(arg, ir.Noun) and arg.det != "the":
            sure = py.compare(value(), ast.IsNot(), py.const(None))
            inner = replace(sc, depth=sc.depth + 1)
            return [
                sure,
                *ex.kind_tests(arg.kinds, value, sc, ""),
                *ex.filter_tests(arg, value, inner),
                *ex.limits(arg.kinds, value, inner),
            ]
        if arg.type.form == "set":
            return [py.compare(value(), ast.In(), ex.as_list(arg, sc))]
        same = py.compare(value(), ast.Eq(), ex.emit(arg, sc))
        if isinstance(arg, ir.Local) and arg.name not in ("self", "you") and arg.type.base in self.v.kinds:
            return [
                same,
                *ex.limits([arg.type.base], value, sc),
            ]  # what was chosen before may be out of reach now
        return [same]

    # ------------------------------------------------------------ options
    def _taker_kinds(self, o: u.OptionUnit) -> list[str] | None:
        """Of which kinds one must be to take an option, so that others need not try; nothing if it does not say."""
        if o.by is None or not isinstance(o.by[1], ir.Noun):
            return None
        kinds = o.by[1].kinds
        if any(self.v.kinds[k].when is not None for k in kinds):
            return None
        return sorted({narrower for k in kinds for narrower in self.v.narrower(k)})

    def _gate(self, o: u.OptionUnit, tests: list[ast.expr]) -> tuple[str | None, list[ast.expr]]:
        """The first tests of an option, if they are the same for everybody, as a function that is asked once for all.

        Only the first ones: a later test may count on an earlier one having held.
        """
        tests = [one for test in tests for one in py.conjuncts(test)]
        count = next((at for at, test in enumerate(tests) if not _is_for_all(test)), len(tests))
        if not count:
            return None, tests
        mark = ast.dump(py.both(tests[:count]))
        if mark not in self.gates:  # many options have the same
            self.gates[mark] = f"o{o.number}_gate"
            self.define(o.span, self.gates[mark], ["s"], [ast.Return(py.both(tests[:count]))])
        return self.gates[mark], tests[count:]

    def _option(self, o: u.OptionUnit) -> dict[str, Any]:
        self._file = o.span.file
        amid = o.windows[0].amid
        names: dict[str, Maker] = self._record_names(amid) if amid is not None else {}
        if o.by is not None:
            names[o.by[0]] = local("you")
        for name, _ in o.choosing:
            names[name] = local(variable(name))
        sc = self._card_scope(o.self_kind, names) if o.self_kind else self.scope(names)
        ex = self.expressions
        early: list[ast.expr] = []
        if o.by is not None and isinstance(o.by[1], ir.Noun):
            noun = o.by[1]
            early += [
                py.compare(py.name("you"), ast.IsNot(), py.const(None)),
                *ex.kind_tests(noun.kinds, local("you"), sc, "thing"),  # a seat, too, may be offered a window
                *ex.filter_tests(noun, local("you"), replace(sc, depth=1)),
            ]
        chosen = {name for name, _ in o.choosing}
        from .trees import locals_in

        late: list[ast.expr] = []
        for test in o.guard:
            (late if chosen & set(locals_in(test)) else early).append(ex.truth(test, sc))
        for cost in o.costs:
            (late if chosen & set(locals_in(cost)) else early).extend(self.can_do(cost, sc))
        things = {name: f"k_{variable(name)}" for name, got in o.choosing if got.type.base in self.v.kinds}
        label = ex.text(o.label, replace(sc, called={name: local(key) for name, key in things.items()}))
        for name, _ in o.choosing:
            key = py.name(things.get(name, variable(name)))
            if not any(isinstance(p, ir.Expr) for p in o.label.parts):
                label = py.call("k_label", label, key)
        values = py.tuple_of(py.name(variable(name)) for name, _ in o.choosing)
        add: list[ast.stmt] = [
            py.expression(py.method(py.name("out"), "append", py.tuple_of([label, values])))
            if o.choosing
            else ast.Return(py.tuple_of([py.tuple_of([label, values])]))  # there is but one
        ]
        if late:
            add = [ast.If(py.both(late), add, [])]
        for name, got in reversed(o.choosing):
            among, x = ex.things(got, sc), ast.Name(variable(name), ast.Store())
            if name in things:  # by name; copies that differ in nothing are one answer
                pair = ast.Tuple([ast.Name(things[name], ast.Store()), x], ast.Store())
                add = [ast.For(pair, py.call("k_called", py.name("s"), py.call("k_list", among)), add, [])]
            else:
                add = [ast.For(x, py.call("k_list", among), add, [])]
        gate, early = self._gate(o, early)
        if early:
            add = [ast.If(py.both(early), add, [])]
        legal = (
            [py.assign("out", py.list_of([])), *add, ast.Return(py.name("out"))]
            if o.choosing
            else [*add, ast.Return(py.tuple_of([]))]
        )
        self.define(o.span, f"o{o.number}_legal", [*BASE, "r"], legal)
        body: list[ast.stmt] = [
            py.assign(variable(name), py.sub(py.name("w"), py.const(i)))
            for i, (name, _) in enumerate(o.choosing)
        ]
        for cost in o.costs:
            body += self.call_stmt(u.SCall(span=cost.span, call=cost), sc)
        body += self.block(o.body, sc)
        self.define(o.span, f"o{o.number}", [*BASE, "r", "w"], body)
        return {
            "number": o.number,
            "where": o.where,
            "legal": f"o{o.number}_legal",
            "body": f"o{o.number}",
            "once": o.once,
            "site": self.site(o.span),
            "anybody": o.by is not None and isinstance(o.by[1], ir.Noun) and o.by[1].det == "any",
            "kinds": self._taker_kinds(o),
            "gate": gate,
            "windows": [w.name for w in o.windows],
        }


def _is_for_all(test: ast.expr) -> bool:
    """Does a test look at nothing but the table? Not at who asks, what it stands on, or what is happening."""
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    return all(name == "s" or name.startswith("k_") for name in names)


def _used(head: list[ast.stmt], body: list[ast.stmt]) -> list[ast.stmt]:
    """Of the names that a rule's function would start with, those that it speaks of."""
    names = {node.id for part in body for node in ast.walk(part) if isinstance(node, ast.Name)}
    return [
        line for line in head if isinstance(line, ast.Assign) and getattr(line.targets[0], "id", "") in names
    ]
