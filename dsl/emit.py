"""Resolved text to Python: functions with the lines of the text, and the tables that go with them.

The emitter makes one module for each file, compiled with the file's name and line numbers, so that tracebacks,
debuggers, profilers and coverage show the text. Functions are named by number: v12 (verb), q3 (query), a4
(adjective), g5/b5 (guard and body of a rule), o6 (option), t7 (ability), i8 (printed values), x9 (a step).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import CodeType
from typing import Any

from longbox.kernel.program import SITE_LINES, Compiled
from longbox.kernel.state import attribute

from . import ir
from . import pyast as py
from . import units as u
from .analysis import Analysis, walk
from .emit_expr import Expressions, Maker, Scope, _again, local, variable
from .primitives import Primitives
from .resolve import subject_slot
from .source import Source, Span
from .structure import flatten
from .types import T
from .vocabulary import Phrase, Vocabulary

BASE = ["s", "c", "me", "you"]


class Emitter:
    def __init__(
        self,
        vocab: Vocabulary,
        units: u.Units,
        sources: dict[str, Source],
        boards: list[dict[str, Any]],
        header: dict[str, Any],
    ) -> None:
        self.v, self.units, self.sources, self.header = vocab, units, sources, header
        self.files = list(sources)
        self._lines = {name: source.lines() for name, source in sources.items()}
        self.analysis = Analysis(vocab, units)
        self.boards = boards
        self.zone_ids = {
            name: i for i, name in enumerate(vocab.zones)
        }  # the box is 0, what is removed lies in 1
        self.field_numbers = {name: i for i, name in enumerate(vocab.columns())}
        self.kind_numbers = {name: i for i, name in enumerate(vocab.kinds)}
        self.queries = {q.phrase.number: q for q in units.queries}
        self.verbs = {v.phrase.number: v for v in units.verbs}
        self.adjectives = {a.info.number: a for a in units.adjectives}
        self.nullable = self._nullable()
        self.expressions = Expressions(self)
        self.primitives = Primitives(self)
        self.counter = 0
        self.functions: dict[str, list[ast.stmt]] = {name: [] for name in self.files}
        self.rule_table: list[tuple[Any, ...]] = []
        self.lists: dict[str, list[int]] = {}
        self._whenever: list[u.RuleUnit] = [r for r in units.rules if r.timing == "whenever"]
        self._by_number = {r.number: r for r in units.rules}

    # ------------------------------------------------------------ small services
    def site(self, span: Span) -> int:
        file = self.files.index(span.file) if span.file in self.sources else 0
        return file * SITE_LINES + span.line

    def site_of(self, line: int, sc: Scope) -> int:
        return self.files.index(self._file) * SITE_LINES + line

    def source_text(self, span: Span) -> str:
        lines = self._lines.get(span.file)
        if lines is None or span.line != span.end_line:
            return ""
        return (
            lines[span.line - 1][span.column - 1 : span.end_column - 1]
            .removeprefix("a ")
            .removeprefix("an ")
            .removeprefix("the ")
        )

    def source_kind(self, f: ir.Rel) -> str:
        """What is known of the things a relation leads to: spaces along a line; else anything that lies in places."""
        if f.pattern.phrase.skeleton == "_ adjacent to _":
            return "space"
        if f.pattern.phrase.skeleton == "_ along _":
            kinds = {spec["kind"] for board in self.boards for spec in board["spaces"]}
            return next(iter(kinds)) if len(kinds) == 1 else "space"
        if f.pattern.phrase.skeleton == "_ among _":
            base = dict(f.args)["b"].type.base
            return base if base in self.v.kinds else ""
        return ""

    def _nullable(self) -> set[str]:
        """Fields that may be nothing: without a start value, printed as '-', or set to nothing."""
        found = {f.name for f in self.v.columns().values() if f.sort == "field" and f.type.base != "truth"}
        defaults = {name for fields in self.units.kind_defaults.values() for name in fields}
        minus = {
            name
            for d in self.units.designs
            for fields in (d.fields, *(f.fields for f in d.faces))
            for name, value in fields.items()
            if isinstance(value, ir.Nothing)
        }
        unset = {
            node.place.name
            for node in walk(self.units)
            if isinstance(node, u.SNow)
            and isinstance(node.place, ir.FieldOf)
            and (isinstance(node.value, ir.Nothing) or node.value.type.maybe)
        }
        return (found - defaults) | minus | unset

    def scope(self, names: dict[str, Maker], text_kind: str = "") -> Scope:
        asker = None
        for kind in self.v.lineage(text_kind) if text_kind else ():
            if kind in self.units.askers:
                asker = self.units.askers[kind]
                break
        return Scope(
            names={"you": local("you"), "self": local("me"), **names}, text_kind=text_kind, asker=asker
        )

    def _card_scope(self, kind: str, more: dict[str, Maker] | None = None) -> Scope:
        owner: Maker = lambda: py.sub(py.attr(py.name("s"), "owner"), py.name("me"))  # noqa: E731  (a name for a maker)
        return self.scope({"owner": owner, **(more or {})}, kind)

    def define(self, span: Span, identifier: str, params: list[str], body: list[ast.stmt]) -> str:
        made = py.at_line(py.function(identifier, params, body), span.line)
        self.functions[span.file if span.file in self.functions else self.files[0]].append(made)
        return identifier

    def body(self, stmts: u.Body, sc: Scope, span: Span) -> list[ast.stmt]:
        self._file = span.file if span.file in self.functions else self.files[0]
        return self.block(stmts, sc)

    # ------------------------------------------------------------ whole programs
    def emit(self) -> Compiled:
        for query in self.units.queries:
            self._query(query)
        for adjective in self.units.adjectives:
            self._file = adjective.span.file
            sc = self.scope({"it": local("l_it"), adjective.info.kind: local("l_it")})
            meaning: list[ast.stmt] = (
                [ast.Return(self.expressions.truth(adjective.test, sc))]
                if adjective.test is not None
                else [*self.block(adjective.body, sc), ast.Return(py.const(False))]
            )
            self.define(adjective.span, f"a{adjective.info.number}", [*BASE, "l_it"], meaning)
        for kind, test in self.units.conditions.items():
            self._file = test.span.file
            sc = self.scope({"it": local("l_it"), "self": local("l_it")})
            self.define(
                test.span,
                f"w_{self.kind_numbers[kind]}",
                [*BASE, "l_it"],
                [ast.Return(self.expressions.truth(test, sc))],
            )
        for verb in self.units.verbs:
            self._verb(verb)
        for rule in self.units.rules:
            self._rule(rule)
        for name in sorted(self.analysis.modified):
            self._modified_field(name)
        options = [self._option(o) for o in self.units.options]
        designs = [self._design(d) for d in self.units.designs]
        flat = {word: flatten(self, word, bodies) for word, bodies in self.units.sections.items()}
        structure, frames = (
            {w: code for w, (code, _) in flat.items()},
            {w: count for w, (_, count) in flat.items()},
        )
        kinds = self._kinds()
        voices = {
            kind: self._expression_function(f"y{self.kind_numbers[kind]}", value, kind)
            for kind, value in self.units.voices.items()
        }
        for kind, spec in kinds.items():
            spec["voice"] = next((voices[k] for k in self.v.lineage(kind) if k in voices), None)
        orders = (
            self._expression_function("k_orders", self.units.orders, "")
            if self.units.orders is not None
            else None
        )
        self._scope_lists()
        tables = {
            **self.header,
            "files": self.files,
            "kinds": kinds,
            "zones": self._zones(),
            "fields": self._fields(),
            "values": self._values(),
            "designs": designs,
            "dice": {k: list(v) for k, v in self.v.dice.items()},
            "boards": self.boards,
            "verbs": self._verb_table(),
            "structure": structure,
            "frame_sizes": frames,
            "rules": self.rule_table,
            "lists": self.lists,
            "options": options,
            "windows": {
                w.name: [o["number"] for o in options if w.name in o["windows"]]
                for w in self.v.windows.values()
            },
            "window_lists": {f"W{w.number}": w.name for w in self.v.windows.values()},
            "zone_attrs": sorted(
                {
                    attribute("z", f.name)
                    for k in self.v.kinds.values()
                    for f in k.fields.values()
                    if f.sort == "zone"
                }
            ),
            "waits": list(self.units.waits),
            "orders": orders,
            "kept": self.analysis.kept,
            "kept_fields": self._kept_fields(),
            "scopes": sorted(self.analysis.scopes),
            "supplies": self.header["supplies"],
            "attaches": self.analysis.attaches,
            "supply_zones": {
                z.removesuffix(" supply"): self.zone_ids[z] for z in self.v.zones if z.endswith(" supply")
            },
        }
        return Compiled(tables, self._compile())

    def _compile(self) -> tuple[CodeType, ...]:
        code = []
        for file, functions in self.functions.items():
            if functions:
                module = ast.Module(list(functions), [])
                code.append(compile(module, file, "exec", dont_inherit=True))
        return tuple(code)

    def _expression_function(self, identifier: str, value: ir.Expr, kind: str) -> str:
        self._file = value.span.file
        sc = self._card_scope(kind)
        body = (
            self.expressions.who(value, sc)
            if value.type.base in ("seats", *self.v.kinds)
            else self.expressions.emit(value, sc)
        )
        return self.define(value.span, identifier, BASE, [ast.Return(body)])

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
            body.append(ast.Return(value))
        else:
            body += self.block(unit.body, sc)
            body.append(ast.Return(py.const(False if phrase.gives.base == "truth" else None)))
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
        if scope in self.units.waits:
            tail.append(py.expression(py.call("k_drain", py.name("s"), py.name("c"), py.name("you"))))
        tail.append(ast.Return(py.name("out")))
        self.define(unit.span, f"v{number}", ["s", "c", "site", "me", "you", *params, *more], head + tail)

    def _guarded(self, scope: str, body: list[ast.stmt]) -> ast.stmt:
        """Statements that `stop SCOPE` may leave."""
        other = ast.If(
            py.compare(py.attr(py.name("stopped"), "scope"), ast.NotEq(), py.const(scope)),
            [ast.Raise(None, None)],
            [],
        )
        return ast.Try(body, [ast.ExceptHandler(py.name("k_StopScope"), "stopped", [other])], [], [])

    def _record_names(self, phrase: Phrase, skip: set[str] | None = None) -> dict[str, Maker]:
        return {k: held(i) for i, k in enumerate(phrase.slots) if k not in (skip or set())}

    def _recorded(self, slot: str, t: T, sc: Scope) -> ast.expr:
        value = sc.names[slot]()
        return py.call("k_tuple", value) if t.form in ("set", "desc") else value

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

    def has_needs(self, phrase: Phrase) -> bool:
        unit = self.verbs.get(phrase.number)
        return unit is not None and bool(
            unit.needs or any(r.timing == "forbid" for r in self.analysis.watchers.get(phrase.number, ()))
        )

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
            guard = self.define(
                rule.span, f"g{number}", ["s", "c", "me", "w", "r"], [*head, ast.Return(py.both(tests))]
            )
        if rule.timing == "modifier":
            assert isinstance(rule.pattern, ir.Gets)
            amount = self.expressions.emit(rule.pattern.amount, sc)
            body: list[ast.stmt] = [
                *self._rule_head(rule),
                ast.Return(py.tuple_of([py.const(rule.pattern.how), amount])),
            ]
        else:
            body = [*self._rule_head(rule), *self.block(rule.body, sc)]
        self.define(rule.span, f"b{number}", ["s", "c", "me", "w", "r"], body)
        stage = 0
        if isinstance(rule.pattern, ir.Call):
            unit = self.verbs.get(rule.pattern.pattern.phrase.number)
            if unit and rule.stage in unit.stages:
                stage = unit.stages.index(rule.stage) + 1
        self.rule_table.append(
            (number, rule.where, guard, f"b{number}", rule.once, self.site(rule.span), stage)
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
                self.lists.setdefault("H", []).append(rule.number)

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
                *ex.limits(arg, value, inner),
            ]
        if arg.type.form == "set":
            return [py.compare(value(), ast.In(), ex.as_list(arg, sc))]
        return [py.compare(value(), ast.Eq(), ex.emit(arg, sc))]

    # ------------------------------------------------------------ options
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
                *ex.kind_tests(noun.kinds, local("you"), sc, ""),
                *ex.filter_tests(noun, local("you"), replace(sc, depth=1)),
            ]
        chosen = {name for name, _ in o.choosing}
        from .resolve import locals_in

        late: list[ast.expr] = []
        for test in o.guard:
            (late if chosen & set(locals_in(test)) else early).append(ex.truth(test, sc))
        for cost in o.costs:
            (late if chosen & set(locals_in(cost)) else early).extend(self.can_do(cost, sc))
        label = ex.text(o.label, sc)
        for name, got in o.choosing:
            key = (
                py.sub(py.attr(py.name("s"), "key"), py.name(variable(name)))
                if got.type.base in self.v.kinds
                else py.name(variable(name))
            )
            if not any(isinstance(p, ir.Expr) for p in o.label.parts):
                label = py.call("k_label", label, key)
        values = py.tuple_of(py.name(variable(name)) for name, _ in o.choosing)
        add: list[ast.stmt] = [
            py.expression(py.method(py.name("out"), "append", py.tuple_of([label, values])))
        ]
        if late:
            add = [ast.If(py.both(late), add, [])]
        for name, got in reversed(o.choosing):
            add = [
                ast.For(ast.Name(variable(name), ast.Store()), py.call("k_list", ex.things(got, sc)), add, [])
            ]
        if early:
            add = [ast.If(py.both(early), add, [])]
        legal = [py.assign("out", py.list_of([])), *add, ast.Return(py.name("out"))]
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
            "windows": [w.name for w in o.windows],
        }

    def can_do(self, call: ir.Expr, sc: Scope) -> list[ast.expr]:
        """Tests that a verb could be carried out: its needs hold and there is something to choose."""
        assert isinstance(call, ir.Call)
        phrase, ex = call.pattern.phrase, self.expressions
        tests: list[ast.expr] = []
        args = dict(call.args)
        asking = [a for a in args.values() if isinstance(a, ir.Noun) and a.type.form in ("ask", "asks")]
        for a in asking:
            if a.type.form == "ask":
                tests.append(py.negate(py.negate(ex.things(a, sc))))
        if not asking and self.has_needs(phrase):
            given = {k: ex.argument(a, phrase.slots[k], sc) for k, a in args.items() if a.type.form != "each"}
            if len(given) == len(args):
                tests.append(
                    py.call(
                        f"n{phrase.number}",
                        py.name("s"),
                        py.name("c"),
                        ex.me(sc),
                        ex.you(sc),
                        *self._ordered(phrase, given, sc),
                    )
                )
        return tests

    def _ordered(self, phrase: Phrase, given: dict[str, ast.expr], sc: Scope) -> list[ast.expr]:
        unit = self.verbs.get(phrase.number)
        defaults = unit.defaults if unit else {}
        out = []
        for k in phrase.slots:
            if k in given:
                out.append(given[k])
            elif k in defaults:
                out.append(self.expressions.argument(defaults[k], phrase.slots[k], sc))
            else:
                out.append(py.const(None))
        return out

    # ------------------------------------------------------------ cards, kinds, tables
    def _design(self, d: u.DesignUnit) -> dict[str, Any]:
        abilities = []
        for at, a in enumerate(d.abilities):
            self._file = a.span.file
            a.function = self.define(
                a.span, f"t{d.number}_{at}", BASE, self.block(a.body, self._card_scope(d.kind))
            )
            abilities.append((a.name, a.face, a.label, a.function))
        watched = (
            any(r.where[:2] == ("design", d.number) for r in self.units.rules)
            or any(o.where[:2] == ("design", d.number) for o in self.units.options)
            or self._borrowable()
        )
        constants, computed = self._constants(d.fields)
        faces = []
        for at, f in enumerate(d.faces):
            fixed, later = self._constants(f.fields)
            faces.append(
                {
                    "name": f.name,
                    "fields": fixed,
                    "computed": [attribute("f", k) for k in later],
                    "init": self._init(f"i{d.number}_{at}", later, d.kind, d.span),
                }
            )
        place = next(
            (self.zone_ids[self.units.starts[k]] for k in self.v.lineage(d.kind) if k in self.units.starts), 0
        )
        return {
            "kind": d.kind,
            "name": d.name,
            "copies": d.copies,
            "fields": constants,
            "faces": faces,
            "abilities": abilities,
            "computed": [attribute("f", k) for k in computed],
            "init": self._init(f"i{d.number}", computed, d.kind, d.span),
            "place": place,
            "watched": watched,
            "file": d.span.file,
            "line": d.span.line,
        }

    def _borrowable(self) -> bool:
        return (
            any(
                isinstance(x, ir.Call) and x.pattern.phrase.skeleton == "_ borrow the text of _"
                for x in walk(self.units.verbs)
            )
            if not hasattr(self, "_borrow_known")
            else self._borrow_known
        )

    def _constants(self, fields: dict[str, ir.Expr]) -> tuple[dict[str, Any], dict[str, ir.Expr]]:
        """Printed values that are plain, by attribute, and those that must be worked out."""
        plain, later = {}, {}
        for name, value in fields.items():
            known, constant = constant_of(value)
            if known:
                plain[attribute("f", name)] = constant
            else:
                later[name] = value
        return plain, later

    def _init(self, identifier: str, later: dict[str, ir.Expr], kind: str, span: Span) -> str | None:
        if not later:
            return None
        self._file = span.file
        sc = self._card_scope(kind)
        keys: list[ast.expr | None] = [py.const(attribute("f", name)) for name in later]
        values = [
            self.expressions.argument(value, self.v.columns()[name].type, sc) for name, value in later.items()
        ]
        return self.define(span, identifier, BASE, [ast.Return(ast.Dict(keys, values))])

    def _kinds(self) -> dict[str, dict[str, Any]]:
        out: dict[str, dict[str, Any]] = {}
        for name, info in self.v.kinds.items():
            defaults: dict[str, ir.Expr] = {}
            plain: dict[str, Any] = {}
            for k in reversed(self.v.lineage(name)):
                defaults |= self.units.kind_defaults.get(k, {})
                for f in self.v.kinds[k].fields.values():
                    if f.sort == "counter":
                        plain[attribute("f", f.name)] = 0
                    elif f.sort == "field" and f.type.base == "truth":
                        plain[attribute("f", f.name)] = False
            fixed, later = self._constants(defaults)
            zones = [
                f
                for k in reversed(self.v.lineage(name))
                for f in self.v.kinds[k].fields.values()
                if f.sort == "zone"
            ]
            out[name] = {
                "all": list(self.v.lineage(name)),
                "defaults": plain | fixed,
                "voice": None,
                "alike": self._alike(name),
                "init": self._init(f"i_{self.kind_numbers[name]}", later, name, info.span),
                "zones": [
                    {"name": f.name, "attr": attribute("z", f.name), "live": f.live, "seen": f.seen}
                    for f in zones
                ],
                "when": f"w_{self.kind_numbers[name]}" if name in self.units.conditions else None,
            }
        out["zone"] = {
            "all": ["zone"],
            "defaults": {},
            "voice": None,
            "alike": False,
            "init": None,
            "zones": [],
            "when": None,
        }
        return out

    def _alike(self, kind: str) -> bool:
        return any(self.v.kinds[k].alike for k in self.v.lineage(kind))

    def _zones(self) -> list[dict[str, Any]]:
        return [{"name": z.name, "live": z.live, "seen": z.seen} for z in self.v.zones.values()]

    def _fields(self) -> dict[str, dict[str, Any]]:
        out = {}
        for f in self.v.columns().values():
            if f.name in ("owner", "name"):
                continue
            out[f.name] = {
                "attr": attribute("f", f.name),
                "type": str(f.type),
                "low": f.low,
                "high": f.high,
                "sort": f.sort,
                "seen": f.seen,
                "fixed": self.analysis.is_fixed(f.name) and not f.kept,
                "thing": f.type.base in self.v.kinds,
            }
        return out

    def _kept_fields(self) -> dict[str, list[tuple[str, str, str]]]:
        """Scope -> fields that start anew with it, as (kind, name, attribute)."""
        out: dict[str, list[tuple[str, str, str]]] = {}
        for kind in self.v.kinds.values():
            for f in kind.fields.values():
                if f.kept:
                    out.setdefault(f.kept, []).append((kind.name, f.name, attribute("f", f.name)))
        return out

    def _values(self) -> dict[str, dict[str, Any]]:
        out = {}
        for name, (t, value, kept) in self.units.values.items():
            known, constant = (
                constant_of(value) if value is not None else (True, False if t.base == "truth" else None)
            )
            out[name] = {
                "attr": attribute("g", name),
                "type": str(t),
                "default": constant if known else None,
                "kept": kept,
                "thing": t.base in self.v.kinds,
            }
        return out

    def _verb_table(self) -> dict[str, dict[str, Any]]:
        out = {}
        for unit in self.units.verbs:
            slots = [
                {
                    "name": k,
                    "type": str(t),
                    "thing": t.base in self.v.kinds or t.base in ("place", "zone", "seats"),
                }
                for k, t in unit.phrase.slots.items()
            ]
            out[told_name(unit.phrase)] = {"slots": slots, "told": unit.told}
        return out

    # ------------------------------------------------------------ whenever
    def whenever_field(self, name: str) -> list[ast.stmt]:
        readers = [
            r
            for r in self._whenever
            if any(isinstance(x, ir.FieldOf) and x.name == name for x in walk(r.test))
        ]
        return self._check_call() if readers else []

    def whenever_moves(self) -> list[ast.stmt]:
        readers = [
            r
            for r in self._whenever
            if any(isinstance(x, ir.Noun | ir.Rel | ir.ZoneOf | ir.GlobalZone) for x in walk(r.test))
        ]
        return self._check_call() if readers else []

    def whenever_any(self) -> list[ast.stmt]:
        return self._check_call() if self._whenever else []

    def _check_call(self) -> list[ast.stmt]:
        self.lists.setdefault("H", [])
        return [py.expression(py.call("k_whenever", py.name("s"), py.name("c"), py.name("H")))]

    # ------------------------------------------------------------ statements
    def block(self, stmts: u.Body, sc: Scope) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in stmts:
            for made in self.stmt(s, sc):
                out.append(py.at_line(made, s.span.line))
        return out

    def stmt(self, s: u.Stmt, sc: Scope) -> list[ast.stmt]:
        ex = self.expressions
        match s:
            case u.SCall():
                return self.call_stmt(s, sc)
            case u.SIf(tests=tests, otherwise=otherwise):
                rest = self.block(otherwise, self._inner(sc)) if otherwise else []
                for test, body in reversed(tests):
                    rest = [
                        ast.If(
                            py.bare(ex.truth(test, sc)),
                            self.block(body, self._inner(sc)) or [ast.Pass()],
                            rest,
                        )
                    ]
                return rest
            case u.SEach():
                return self.each_stmt(s, sc)
            case u.SAsk():
                return self.ask_stmt(s, sc)
            case u.SChoose():
                sc.names[s.name] = local(variable(s.name))
                return [py.assign(variable(s.name), self.chosen(s, sc)), self._answered()]
            case u.SChooseNumber(name=name, low=low, high=high):
                sc.names[name] = local(variable(name))
                numbers = py.call(
                    "k_range", ex.emit(low, sc), ast.BinOp(ex.emit(high, sc), ast.Add(), py.const(1))
                )
                return [
                    py.assign(
                        variable(name),
                        py.call(
                            "k_choose_word",
                            *self.lead(s.span),
                            self.who(s.who, sc),
                            self.prompt(s.prompt, sc),
                            numbers,
                        ),
                    )
                ]
            case u.SMay():
                return self.may_stmt(s, sc)
            case u.SRepeat():
                return self.repeat_stmt(s, sc)
            case u.SLet(name=name, value=value):
                made = (
                    ex.as_list(value, sc)
                    if value.type.form in ("set", "asks", "desc")
                    else ex.emit(value, sc)
                )
                if value.type.form in ("set", "desc") or value.type.base == "roll":
                    made = py.call("k_list", made)
                if isinstance(value, ir.Arith):
                    made = py.call("k_bounded", made)
                sc.names.setdefault(name, local(variable(name)))
                place = sc.names[name]()
                if isinstance(place, ast.Subscript):
                    return [ast.Assign([py.store(place)], made)]
                return [py.assign(place.id, made)]  # type: ignore[attr-defined]
            case u.SNow():
                return self.now_stmt(s, sc)
            case u.SStop(what=""):
                return [ast.Return(py.const(None))]
            case u.SStop(what="repeating"):
                return [ast.Break()]
            case u.SStop(what=scope):
                return [ast.Raise(py.call("k_StopScope", py.const(scope)), None)]
            case u.SAnswer(value=value):
                if value.type.base == "truth" or value.type.form == "some":
                    return [ast.Return(ex.truth(value, sc))]
                return [
                    ast.Return(
                        ex.as_list(value, sc)
                        if value.type.form in ("set", "desc", "asks")
                        else ex.emit(value, sc)
                    )
                ]
            case u.SOffer():
                return self.offer_stmt(s, sc)
            case u.SPrevent():
                return [
                    ast.Assign([py.store(py.sub(py.name("r"), py.const(-1)))], py.const(True)),
                    ast.Return(py.const(None)),
                ]
            case u.SSecretly():
                return self.secretly_stmt(s, sc)
            case u.SScope():
                return self.scope_stmt(s, sc)
            case u.SLasting():
                return self.lasting_stmt(s, sc)
        raise AssertionError(s)

    @staticmethod
    def _answered() -> ast.stmt:
        """What follows a choice is caused by the answer, if one was given."""
        last = py.sub(py.sub(py.attr(py.name("s"), "log"), py.const(-1)), py.const(0))
        now = py.assign(
            "c", ast.BinOp(py.call("k_len", py.attr(py.name("s"), "log")), ast.Sub(), py.const(1))
        )
        return ast.If(py.compare(last, ast.Eq(), py.const("answered")), [now], [])

    def lead(self, span: Span) -> list[ast.expr]:
        return [py.name("s"), py.name("c"), py.const(self.site(span))]

    @staticmethod
    def _inner(sc: Scope) -> Scope:
        return replace(sc, names=dict(sc.names))

    def who(self, who: ir.Expr | None, sc: Scope) -> ast.expr:
        return self.expressions.who(who, sc) if who is not None else self.expressions.asked(sc)

    def chosen(self, s: u.SChoose, sc: Scope) -> ast.expr:
        ex, what = self.expressions, s.what
        if isinstance(what, ir.AllWords):
            return py.call(
                "k_choose_word",
                *self.lead(s.span),
                self.who(s.who, sc),
                self.prompt(s.prompt, sc),
                py.const(what.words),
            )
        assert isinstance(what, ir.Noun)
        if what.type.form == "asks":
            least, most = ex.how_many(what, sc)
            return py.call(
                "k_choose_things",
                *self.lead(s.span),
                self.who(s.who, sc),
                self.prompt(s.prompt, sc),
                ex.things(what, sc),
                least,
                most,
            )
        return py.call(
            "k_choose_thing",
            *self.lead(s.span),
            self.who(s.who, sc),
            self.prompt(s.prompt, sc),
            ex.things(what, sc),
        )

    def prompt(self, prompt: str | ir.Text, sc: Scope) -> ast.expr:
        return py.const(prompt) if isinstance(prompt, str) else self.expressions.text(prompt, sc)

    # ---- calls
    def call_stmt(self, s: u.SCall, sc: Scope) -> list[ast.stmt]:
        """A verb: its `each` slots become loops, its questions are asked from left to right."""
        call = s.call
        assert isinstance(call, ir.Call)
        plain = [
            a for a in call.args if a[1].type.form not in ("each", "ask", "asks")
        ]  # worked out once, before any loop
        return self._slots(s, call, [*plain, *(a for a in call.args if a not in plain)], {}, sc)

    def _slots(
        self, s: u.SCall, call: ir.Call, left: list[tuple[str, ir.Expr]], done: dict[str, ast.expr], sc: Scope
    ) -> list[ast.stmt]:
        if not left:
            return self._finish_call(s, call, done, sc)
        (slot, arg), rest = left[0], left[1:]
        ex, want = self.expressions, call.pattern.phrase.slots[slot]
        if arg.type.form == "each" and want.base != "seats":
            x = ex._fresh(sc)
            inner = self._slots(
                s,
                call,
                rest,
                {**done, slot: py.list_of([py.name(x)]) if want.form == "set" else py.name(x)},
                self._inner(sc),
            )
            things = self._each_things(arg, sc)
            return [
                ast.For(
                    ast.Name(x, ast.Store()),
                    py.call("k_spend", py.name("s"), py.call("k_list", things)),
                    inner,
                    [],
                )
            ]
        if arg.type.form == "ask" and isinstance(arg, ir.Noun) and want.form != "desc":
            x = ex._fresh(sc)
            among = ex.things(arg, sc, "", None)
            if not rest and self.has_needs(call.pattern.phrase):
                y = ex._fresh(sc)
                given = {**done, slot: py.list_of([py.name(y)]) if want.form == "set" else py.name(y)}
                test = py.call(
                    f"n{call.pattern.phrase.number}",
                    py.name("s"),
                    py.name("c"),
                    ex.me(sc),
                    ex.you(sc),
                    *self._ordered(call.pattern.phrase, given, sc),
                )
                among = py.comprehension(py.name(y), y, among, [test])
            ask = py.call(
                "k_choose_thing", *self.lead(arg.span), ex.asked(sc), py.const(ex.prompt(arg)), among
            )
            value: ast.expr = py.list_of([py.name(x)]) if want.form == "set" else py.name(x)
            inner = self._slots(s, call, rest, {**done, slot: value}, sc)
            return [py.assign(x, ask), ast.If(py.compare(py.name(x), ast.IsNot(), py.const(None)), inner, [])]
        if arg.type.form == "asks" and isinstance(arg, ir.Noun) and want.form == "":
            x = ex._fresh(sc)
            inner = self._slots(s, call, rest, {**done, slot: py.name(x)}, self._inner(sc))
            return [ast.For(ast.Name(x, ast.Store()), ex.emit(arg, sc), inner, [])]
        made = ex.argument(arg, want, sc)
        if (
            call.pattern.phrase.skeleton in ("move _ to _", "move _ to top of _")
            and slot == "what"
            and not arg.type.form
            and arg.type.base in self.v.kinds
        ):
            made = ex.emit(arg, sc)  # one thing: no list is needed
        if self._needs_temp(call.pattern.phrase, made):
            x = ex._fresh(sc)
            before: list[ast.stmt] = [py.assign(x, made)]
            inner = self._slots(s, call, rest, {**done, slot: py.name(x)}, sc)
            if self._skips(arg, want):
                inner = [ast.If(py.compare(py.name(x), ast.IsNot(), py.const(None)), inner, [])]
            return before + inner
        if self._skips(arg, want) and ex._simple(made):
            inner = self._slots(s, call, rest, {**done, slot: made}, sc)
            return [ast.If(py.compare(ex.argument(arg, want, sc), ast.IsNot(), py.const(None)), inner, [])]
        return self._slots(s, call, rest, {**done, slot: made}, sc)

    def _skips(self, arg: ir.Expr, want: T) -> bool:
        """A verb with nothing in a slot that needs something does nothing."""
        if want.form or want.maybe:
            return False
        return (arg.type.maybe and (want.base in self.v.kinds or want.base in ("place", "zone"))) or (
            want.base == "number" and self.expressions.may_be_nothing(arg)
        )

    def _each_things(self, arg: ir.Expr, sc: Scope) -> ast.expr:
        if isinstance(arg, ir.FieldOf | ir.ZoneOf):
            return self.expressions.emit(arg, sc)
        return self.expressions.things(arg, sc)

    def _needs_temp(self, phrase: Phrase, made: ast.expr) -> bool:
        """Arguments of primitives may be written twice, so they must be simple."""
        if isinstance(made, ast.List) and len(made.elts) == 1 and Expressions._simple(made.elts[0]):
            return False
        return not Expressions._simple(made) and not (isinstance(made, ast.List) and not made.elts)

    def _finish_call(
        self, s: u.SCall, call: ir.Call, given: dict[str, ast.expr], sc: Scope
    ) -> list[ast.stmt]:
        phrase, ex = call.pattern.phrase, self.expressions
        raw = dict(call.args)
        if phrase.is_primitive:
            giving = self.primitives.giving(phrase, given, raw, sc, s.span.line)
            if giving is not None:
                return self._bound(s, giving, sc)
            until = self._until(s.until, sc) if s.until is not None else None
            made = self.primitives.act(phrase, given, raw, sc, s.span.line, until)
            if s.name:
                first = next((given[k] for k, a in call.args if a.type.base in self.v.kinds), py.const(None))
                made = [*made, *self._bound(s, first, sc)]
            return made
        unit = self.verbs.get(phrase.number)
        if unit is not None and not s.name and not s.doer and self._can_inline(unit, given, sc):
            return self._inlined(unit, given, sc)
        more = [py.name("r")] if unit is not None and unit.amid is not None else []
        speaker = sc.bind("you", sc.names[s.doer]) if s.doer else sc
        run = py.call(
            f"v{phrase.number}",
            *self.lead(s.span),
            ex.me(sc),
            ex.you(speaker),
            *self._ordered(phrase, given, speaker),
            *more,
        )
        if s.name and phrase.gives.base == "done":
            first = next((given[k] for k, a in call.args if a.type.base in self.v.kinds), py.const(None))
            return [py.expression(run), *self._bound(s, first, sc)]
        return self._bound(s, run, sc)

    def _can_inline(self, unit: u.VerbUnit, given: dict[str, ast.expr], sc: Scope) -> bool:
        """A small quiet verb that nobody watches is written where it is used."""
        number = unit.phrase.number
        return (
            unit.phrase.mark == "quiet"
            and not unit.needs
            and unit.amid is None
            and number not in self.analysis.watchers
            and number not in self.analysis.recursive
            and f"verb {number}" not in self.analysis.scopes
            and sc.inlined < 3
            and unit.phrase.gives.base == "done"
            and unit.span.file == self._file
            and len(unit.body) <= 4
            and all(k in given and Expressions._simple(given[k]) for k in unit.phrase.slots)
            and _binds_nothing(unit.body)
        )

    def _inlined(self, unit: u.VerbUnit, given: dict[str, ast.expr], sc: Scope) -> list[ast.stmt]:
        names = {k: _again(given[k]) for k in unit.phrase.slots}
        inner = replace(
            sc,
            names={"you": lambda: self.expressions.you(sc), "self": lambda: self.expressions.me(sc), **names},
            inlined=sc.inlined + 1,
        )
        return self.block(unit.body, inner)

    def _bound(self, s: u.SCall, value: ast.expr, sc: Scope) -> list[ast.stmt]:
        if not s.name:
            return [py.expression(value)]
        sc.names[s.name] = local(variable(s.name))
        return [py.assign(variable(s.name), value)]

    # ---- loops
    def each_stmt(self, s: u.SEach, sc: Scope) -> list[ast.stmt]:
        ex = self.expressions
        inner = self._inner(sc)
        x = variable(s.name)
        inner.names[s.name] = inner.names["it"] = local(x)
        body = self.block(s.body, inner)
        if s.test is not None:
            body = [ast.If(ex.truth(s.test, inner), body, [])]
        body = self._still_there(s.among, x, body)
        among = self.in_order(s, sc)
        return [
            ast.For(
                ast.Name(x, ast.Store()), py.call("k_spend", py.name("s"), among), body or [ast.Pass()], []
            )
        ]

    def _still_there(self, among: ir.Expr, x: str, body: list[ast.stmt]) -> list[ast.stmt]:
        return body

    def in_order(self, s: u.SEach, sc: Scope) -> ast.expr:
        """What a loop goes through, fixed when it starts, in the order the text says."""
        things = self.expressions.things(s.among, sc)
        for how, by in reversed(s.order):
            things = self._ordered_by(s, how, by, things, sc)
        return things if s.order else py.call("k_list", things)

    def _ordered_by(self, s: u.SEach, how: str, by: ir.Expr | None, things: ast.expr, sc: Scope) -> ast.expr:
        ex = self.expressions
        match how:
            case "random order":
                return py.call("k_random_order", *self.lead(s.span), things)
            case "turn order":
                return py.call("k_in_turn_order", py.name("s"), things, py.const(None))
            case "turn order from":
                return (
                    py.call("k_in_turn_order", py.name("s"), things, ex.emit(by, sc))
                    if by is not None
                    else things
                )
            case "order chosen by":
                return py.call("k_chosen_order", *self.lead(s.span), things, self.who(by, sc))
            case "order of" | "descending order of":
                assert by is not None
                value = (
                    ex.read_field(by.name, py.name("x"))
                    if isinstance(by, ir.Ref)
                    else ex.emit(by, sc.bind("it", local("x")))
                )
                read = py.lambda_of(["x"], value)
                return py.call("k_sort_by", read, things, py.const(how.startswith("descending")))
        return things

    def repeat_stmt(self, s: u.SRepeat, sc: Scope) -> list[ast.stmt]:
        ex = self.expressions
        inner = sc if s.how == "while" else self._inner(sc)
        body = self.block(s.body, inner)
        charge: ast.stmt = py.expression(py.call("k_over_budget", py.name("s")))
        match s.how:
            case "times":
                assert s.test is not None
                loop = py.call("k_range", ex.emit(s.test, sc))
                return [ast.For(ast.Name("x_n", ast.Store()), loop, [charge, *body], [])]
            case "while":
                assert s.test is not None
                return [ast.While(ex.truth(s.test, sc), [charge, *body], [])]
            case "until":
                assert s.test is not None
                return [
                    ast.While(
                        py.const(True),
                        [charge, *body, ast.If(ex.truth(s.test, inner), [ast.Break()], [])],
                        [],
                    )
                ]
        return [ast.While(py.const(True), [charge, *body], [])]

    # ---- questions
    def ask_stmt(self, s: u.SAsk, sc: Scope) -> list[ast.stmt]:
        """Build the menu, ask, carry out the branch that was chosen. Equal labels are one answer."""
        ex = self.expressions
        menu, picked = ex._fresh(sc), ex._fresh(sc)
        out: list[ast.stmt] = [py.assign(menu, ast.Dict([], []))]
        branches: list[tuple[list[str], u.SChoice]] = []
        outer, sc = sc, self._inner(sc)
        sc.names["nothing else"] = lambda: py.negate(py.name(menu))
        for number, choice in enumerate(s.choices):
            inner = self._inner(sc)
            names: list[str] = []
            for name, _ in choice.loops:
                inner.names[name] = inner.names["it"] = local(variable(name))
                names.append(name)
            entry = py.tuple_of([py.const(number), *(py.name(variable(n)) for n in names)])
            add: list[ast.stmt] = [
                py.expression(py.method(py.name(menu), "setdefault", ex.text(choice.label, inner), entry))
            ]
            hoisted = choice.test is not None and not ({*names, "it"} & set(_names(choice.test)))
            if choice.test is not None and not hoisted:
                add = [ast.If(ex.truth(choice.test, inner), add, [])]
            before: Scope = sc
            scopes = [sc]
            for name, _ in choice.loops:
                before = self._inner(before)
                before.names[name] = before.names["it"] = local(variable(name))
                scopes.append(before)
            for at, (name, among) in reversed(list(enumerate(choice.loops))):
                add = [self._plain_loop(variable(name), ex.things(among, scopes[at]), add)]
            if hoisted and choice.test is not None:
                add = [ast.If(ex.truth(choice.test, sc), add, [])]
            out += [py.at_line(a, choice.span.line) for a in add]
            branches.append((names, choice))
        out.append(
            py.assign(
                picked,
                py.call(
                    "k_choose_menu",
                    *self.lead(s.span),
                    self.who(s.who, sc),
                    self.prompt(s.prompt, sc),
                    py.name(menu),
                ),
            )
        )
        rest: list[ast.stmt] = []
        sc = outer
        for number, (names, choice) in reversed(list(enumerate(branches))):
            inner = self._inner(sc)
            for n in names:
                inner.names[n] = inner.names["it"] = local(variable(n))
            unpack: list[ast.stmt] = [
                py.assign(variable(n), py.sub(py.name(picked), py.const(i + 1))) for i, n in enumerate(names)
            ]
            cause = py.assign(
                "c", ast.BinOp(py.call("k_len", py.attr(py.name("s"), "log")), ast.Sub(), py.const(1))
            )
            body = [*unpack, cause, *self.block(choice.body, inner)]
            test = py.compare(py.sub(py.name(picked), py.const(0)), ast.Eq(), py.const(number))
            rest = [py.at_line(ast.If(test, body, rest), choice.span.line)]
        out.append(ast.If(py.compare(py.name(picked), ast.IsNot(), py.const(None)), rest or [ast.Pass()], []))
        return out

    @staticmethod
    def _plain_loop(x: str, things: ast.expr, body: list[ast.stmt]) -> ast.stmt:
        """A loop that changes nothing it goes through: a filtered list need not be made first."""
        if (
            isinstance(things, ast.ListComp)
            and len(things.generators) == 1
            and isinstance(things.elt, ast.Name)
        ):
            loop = things.generators[0]
            assert isinstance(loop.target, ast.Name)
            for node in ast.walk(ast.Module([ast.Expr(t) for t in loop.ifs], [])):
                if isinstance(node, ast.Name) and node.id == loop.target.id:
                    node.id = x
            inner: list[ast.stmt] = [ast.If(py.both(loop.ifs), body, [])] if loop.ifs else body
            return ast.For(ast.Name(x, ast.Store()), loop.iter, inner, [])
        return ast.For(ast.Name(x, ast.Store()), things, body, [])

    def may_stmt(self, s: u.SMay, sc: Scope) -> list[ast.stmt]:
        ex = self.expressions
        inner = self._inner(sc)
        out: list[ast.stmt] = []
        if s.who is not None and s.who.type.form == "each":
            x = ex._fresh(sc)
            one = replace(s, who=ir.Local(type=s.who.type.one(), span=s.who.span, name="they"))
            inner.names["they"] = local(x)
            return [
                ast.For(
                    ast.Name(x, ast.Store()),
                    py.call("k_list", ex.things(s.who, sc)),
                    self.may_stmt(one, inner),
                    [],
                )
            ]
        if s.who is not None:
            x = ex._fresh(sc)
            out.append(py.assign(x, self.expressions.who(s.who, sc)))
            inner.names["they"] = local(x)
            if s.who.type.base in self.v.kinds:
                inner.asker = ir.Local(type=s.who.type.one(), span=s.who.span, name="they")
            if s.they:
                inner.names[s.they] = local(x)
            asked: ast.expr = py.name(x)
        else:
            asked = ex.asked(sc)
        tests = [
            *self.can_do(s.call, inner),
            py.call("k_choose_yes", *self.lead(s.span), asked, py.const(s.prompt)),
        ]
        doer = "they" if s.who is not None and s.who.type.base in self.v.kinds else ""
        body = self.call_stmt(u.SCall(span=s.span, call=s.call, name=s.name, doer=doer), inner)
        inner.asker = sc.asker
        if s.body:
            body += self.block(s.body, inner)
        rest = self.block(s.otherwise, self._inner(inner)) if s.otherwise else []
        if s.name:
            sc.names[s.name] = local(variable(s.name))
            out.append(py.assign(variable(s.name), py.const(None)))
        choice: ast.stmt = ast.If(py.both(tests), body, rest)
        if s.who is not None and (s.who.type.form == "ask" or s.who.type.maybe):
            choice = ast.If(py.compare(py.name(x), ast.IsNot(), py.const(None)), [choice], [])
        return [*out, choice]

    def offer_stmt(self, s: u.SOffer, sc: Scope) -> list[ast.stmt]:
        if not any(s.window in o.windows for o in self.units.options):
            return []  # no text loaded could do anything there
        shared = s.who.type.form in ("set", "asks") or isinstance(s.who, ir.Group)
        record = py.name("r") if s.window.amid is not None else py.list_of([py.const(False)])
        if isinstance(s.who, ir.Group):
            who: ast.expr = py.sub(py.attr(py.name("s"), "of"), py.const("seat"))
        else:
            who = (
                self.expressions.as_list(s.who, sc)
                if s.who.type.form != "each"
                else self.expressions.things(s.who, sc)
            )
        made = py.call(
            "k_offer_shared" if shared else "k_offer_each",
            *self.lead(s.span),
            py.const(s.window.name),
            who,
            record,
            py.name(f"W{s.window.number}"),
            py.const(s.must),
            py.const(s.repeated),
        )
        out: list[ast.stmt] = [py.expression(made)]
        if s.window.amid is not None:
            out.append(ast.If(py.sub(py.name("r"), py.const(-1)), [ast.Return(py.const(None))], []))
        return out

    def secretly_stmt(self, s: u.SSecretly, sc: Scope) -> list[ast.stmt]:
        inner = self._inner(sc)
        x, f = variable(s.name), self.expressions._fresh(sc)
        for name in (s.name, "it", "you"):
            inner.names[name] = local(x)
        cause = self.expressions._fresh(sc)  # inside, the cause changes with each answer
        block = py.function(f, ["s", x], [py.assign("c", py.name(cause)), *self.block(s.body, inner)])
        things = py.call("k_list", self.expressions.things(s.among, sc))
        return [
            py.assign(cause, py.name("c")),
            block,
            py.expression(py.call("k_together", py.name("s"), things, py.name(f))),
        ]

    # ---- changes, scopes, durations
    def now_stmt(self, s: u.SNow, sc: Scope) -> list[ast.stmt]:
        ex = self.expressions
        value = (
            ex.argument(s.value, s.place.type, sc) if s.place.type.form == "set" else ex.truth(s.value, sc)
        )
        if s.place.type.form == "set" or (s.place.type.base == "roll" and not isinstance(s.place, ir.Local)):
            value = py.call("k_tuple", value)  # what is kept cannot be changed in place
        match s.place:
            case ir.GlobalValue(name=name):
                put_it = "k_put_number" if s.place.type.base == "number" else "k_put_value"
                return [
                    py.expression(
                        py.call(
                            put_it, *self.lead(s.span), py.const(name), py.const(attribute("g", name)), value
                        )
                    )
                ]
            case ir.FieldOf(owner=owner, name="owner"):
                return [py.expression(py.call("k_own", *self.lead(s.span), ex.emit(owner, sc), value))]
            case ir.FieldOf(owner=owner, name=name):
                column = py.attr(py.name("s"), attribute("f", name))
                info = self.v.columns()[name]
                if info.low is not None or info.high is not None:
                    value = py.call("k_within", value, py.const(info.low), py.const(info.high))
                put_it = "k_put_field" if info.type.base in ("number", "any") else "k_put_plain"
                put: ast.stmt = py.expression(
                    py.call(put_it, *self.lead(s.span), ex.emit(owner, sc), py.const(name), column, value)
                )
                if owner.type.maybe:
                    put = ast.If(py.compare(ex.emit(owner, sc), ast.IsNot(), py.const(None)), [put], [])
                return [put, *self.whenever_field(name)]
            case ir.Local(name=name):
                place = sc.names[name]()
                if isinstance(place, ast.Subscript):
                    return [ast.Assign([py.store(place)], value)]
                assert isinstance(place, ast.Name)
                return [py.assign(place.id, value)]
        raise AssertionError(s.place)

    def scope_stmt(self, s: u.SScope, sc: Scope) -> list[ast.stmt]:
        ex = self.expressions
        inner = self._inner(sc)
        out: list[ast.stmt] = []
        subject: ast.expr = py.const(None)
        if s.subject is not None:
            x = ex._fresh(sc)
            out.append(py.assign(x, ex.emit(s.subject, sc)))
            subject = py.name(x)
            inner.names["you"] = local(x)
        names = [
            n for n in self.scope_names(s) if n in self.analysis.scopes or n in self.analysis.scope_watchers
        ]
        if not names:
            return out + self.block(s.body, inner)
        made: list[ast.stmt] = self.block(s.body, inner)
        for name in reversed(names):
            e = ex._fresh(sc)
            if name == "root effect" and s.word == "root effect":
                made = [
                    py.assign(e, py.call("k_new_root", *self.lead(s.span))),
                    *made,
                    py.expression(
                        py.call("k_end_root", py.name("s"), py.name(e), py.const(self.site(s.span)))
                    ),
                ]
                continue
            if name == "root effect":
                made = [
                    py.assign(e, py.call("k_open_root", *self.lead(s.span))),
                    *made,
                    py.expression(
                        py.call("k_close_root", py.name("s"), py.name(e), py.const(self.site(s.span)))
                    ),
                ]
                continue
            body = [self._guarded(name, made)] if self._stopped(name) else made
            body.append(
                py.expression(
                    py.call(
                        "k_leave",
                        py.name("s"),
                        py.name(e),
                        py.const(self.site(s.span)),
                        py.const(name),
                        subject,
                    )
                )
            )
            enter = py.call("k_enter", *self.lead(s.span), py.const(name), subject)
            made = [py.assign(e, enter), ast.If(py.compare(py.name(e), ast.GtE(), py.const(0)), body, [])]
        return out + made

    def scope_names(self, s: u.SScope) -> list[str]:
        """An effect is also, if it is the outermost, the root effect; a named phase is also a phase."""
        names = ["root effect"] if s.word in ("effect", "root effect") else []
        return list(dict.fromkeys([*names, s.word, s.scope]))

    def _stopped(self, scope: str) -> bool:
        return any(isinstance(x, u.SStop) and x.what == scope for x in walk(self.units))

    def _until(self, until: ir.ScopeRef, sc: Scope) -> ast.expr:
        subject = self.expressions.emit(until.subject, sc) if until.subject is not None else py.const(None)
        return py.tuple_of(
            [
                py.const(until.moment or "end"),
                py.const(until.scope),
                subject,
                py.call("k_len", py.attr(py.name("s"), "log")),
            ]
        )

    def lasting_stmt(self, s: u.SLasting, sc: Scope) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for rule in s.rules:
            values = py.tuple_of(
                self.expressions.you(sc) if name == "you" else sc.names[name]() for name in rule.captured
            )
            out.append(
                py.expression(
                    py.call(
                        "k_last",
                        *self.lead(s.span),
                        py.const(rule.number),
                        self.expressions.me(sc),
                        values,
                        self._until(s.until, sc),
                    )
                )
            )
        return out


def held(place: int) -> Maker:
    """A slot of the pending record `r`."""
    return lambda: py.sub(py.name("r"), py.const(place))


def told_name(phrase: Phrase) -> str:
    """The stable name under which a verb is recorded: its words, with its slots by name."""
    parts = next(p for p in [phrase.text])
    out, depth, skip = "", 0, False
    for char in parts:
        if char == "(":
            depth += 1
            skip = False
        if char == ":" and depth:
            skip = True
        if char == ")":
            depth -= 1
            skip = False
        if not skip:
            out += char
    return out


def constant_of(value: ir.Expr | None) -> tuple[bool, Any]:
    """(is it plain?, its value) of a printed value."""
    match value:
        case None | ir.Nothing():
            return True, () if value is not None and value.type.form == "set" else None
        case ir.Number(value=v) | ir.Truth(value=v) | ir.WordValue(value=v):
            return True, v
        case ir.Negative(inner=ir.Number(value=v)):
            return True, -v
        case ir.Text(parts=parts) if all(isinstance(p, str) for p in parts):
            return True, "".join(str(p) for p in parts)
        case ir.Both(left=left, right=right) if value.type.base not in ("roll",):
            a, b = constant_of(left), constant_of(right)
            if a[0] and b[0]:
                return True, (*_as_tuple(a[1]), *_as_tuple(b[1]))
    return False, None


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _binds_nothing(body: u.Body) -> bool:
    """Only verbs, changes and conditions: no name is bound, nothing is left early."""
    for s in body:
        match s:
            case u.SCall(name="", until=None) | u.SNow(place=ir.FieldOf() | ir.GlobalValue()):
                continue
            case u.SIf(tests=tests, otherwise=otherwise):
                if not all(_binds_nothing(b) for _, b in tests) or not _binds_nothing(otherwise or ()):
                    return False
            case _:
                return False
    return True


def _names(e: ir.Expr) -> list[str]:
    from .resolve import locals_in

    return locals_in(e)


Flattener = Callable[[Emitter, str, Sequence[u.Body]], list[tuple[Any, ...]]]
