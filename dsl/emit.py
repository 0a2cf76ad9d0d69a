"""Resolved text to Python: functions with the lines of the text, and the tables that go with them.

The emitter makes one module for each file, compiled with the file's name and line numbers, so that tracebacks,
debuggers, profilers and coverage show the text. Functions are named by number: v12 (verb), q3 (query), a4
(adjective), g5/b5 (guard and body of a rule), o6 (option), t7 (ability), i8 (printed values), x9 (a step).

The work is split: emit_expr (expressions), emit_statements, emit_rules; whole programs, cards and tables are here.
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from longbox.kernel.program import Compiled
from longbox.kernel.state import attribute

from . import ir
from . import pyast as py
from . import units as u
from .analysis import walk
from .emit_core import BASE, constant_of, told_name
from .emit_expr import local, variable
from .emit_rules import Rules
from .source import Span
from .structure import flatten


class Emitter(Rules):
    """Emits whole programs."""

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
        self.list_state_checks()
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
            "queries": self._query_table(),
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
            "far_fields": self.analysis.far_fields() if self.units.chosen_orders else [],
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

    # ------------------------------------------------------------ cards, kinds, tables
    def _design(self, d: u.DesignUnit) -> dict[str, Any]:
        abilities = []
        for at, a in enumerate(d.abilities):
            self._file = a.span.file
            sc = self._card_scope(d.kind)
            a.function = self.define(a.span, f"t{d.number}_{at}", BASE, self.block(a.body, sc))
            guard = None
            if a.needs:
                tests = py.both([self.expressions.truth(t, sc) for t in a.needs])
                guard = self.define(a.span, f"t{d.number}_{at}_ok", BASE, [ast.Return(tests)])
            abilities.append((a.name, a.face, a.label, a.function, guard))
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
            "only": self.units.only_with.get(d.span.file),
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
                    elif f.sort == "field" and f.type.form == "set":
                        plain[attribute("f", f.name)] = ()
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
                "plural": info.plural,
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
            "plural": "zones",
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
                "untold": f.untold,
                "fixed": self.analysis.is_fixed(f.name) and not f.kept,
                "thing": f.type.base in self.v.kinds or f.type.base == "zone",
                "modified": self.field_numbers[f.name] if f.name in self.analysis.modified else None,
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
                "untold": name in self.units.untold,
                "thing": t.base in self.v.kinds or t.base == "zone",
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

    def _query_table(self) -> dict[str, dict[str, Any]]:
        """Queries, values and relations by their words, with types for slots: for those who ask from outside.

        A function is called with the state, a cause (-1), self and you (both may be nothing), then the slots.
        `reads` says of each slot whether the text looks at it.
        """
        out = {}
        made = {f.name: f for part in self.functions.values() for f in part if isinstance(f, ast.FunctionDef)}
        for unit in self.units.queries:
            function = f"q{unit.phrase.number}"
            names = {x.id for x in ast.walk(made[function]) if isinstance(x, ast.Name)}
            types = [str(t) for t in unit.phrase.slots.values()]
            left = iter(types)
            words = [f"({next(left)})" if w == "_" else w for w in unit.phrase.skeleton.split(" ")]
            out[" ".join(words)] = {
                "function": function,
                "slots": types,
                "reads": [variable(slot) in names for slot in unit.phrase.slots],
                "type": str(unit.phrase.gives),
                "seen": unit.seen,
            }
        return out
