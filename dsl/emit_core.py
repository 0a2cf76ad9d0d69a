"""What all emitting shares: the closed world, positions, defining functions."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import Any

from longbox.kernel.program import SITE_LINES
from longbox.kernel.state import attribute

from . import ir
from . import pyast as py
from . import units as u
from .analysis import Analysis, walk
from .emit_expr import Expressions, Maker, Scope, local
from .primitives import Primitives
from .source import Source, Span
from .vocabulary import Phrase, Vocabulary

BASE = ["s", "c", "me", "you"]


class Core:
    """The program as the emitter sees it, and the functions made so far."""

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
        self.gates: dict[
            str, str
        ] = {}  # conditions of options that are the same for everybody, by what they say
        self._file = self.files[0]  # the file whose text is being emitted
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
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]

    def relation_meaning(self, phrase: Phrase) -> ir.Rel | None:
        """The other relation that a relation is a name for: `relation (a) near (b): a is within 1 of b`."""
        unit = next((q for q in self.units.queries if q.phrase is phrase), None)
        first = next(iter(phrase.slots), None)
        match unit.value if unit else None:
            case ir.Is(negated=False, subject=ir.Local(name=name), test=ir.Rel(args=args) as meaning) if (
                name == first
                and all(
                    isinstance(a, ir.Number)
                    or (isinstance(a, ir.Local) and a.name in phrase.slots and a.name != first)
                    for _, a in args
                )
            ):
                return meaning
        return None

    def source_kind(self, f: ir.Rel, wanted: tuple[str, ...]) -> str:
        """What is known of the things a relation leads to: spaces along a line; else anything that lies in places."""
        if f.pattern.phrase.skeleton == "_ adjacent to _":
            return "space"
        if f.pattern.phrase.skeleton == "_ within _ of _":
            return "space" if all(self.v.is_a(k, "space") for k in wanted) else ""
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

    # ------------------------------------------------------------ whenever
    @cached_property
    def _awaited(self) -> dict[int, tuple[frozenset[str], bool]]:
        """What each `whenever` rule looks at, in what it calls as well: fields by name, and whether at places."""
        return {r.number: self._looks_at(r.test) for r in self._whenever}

    def _looks_at(self, test: Any) -> tuple[frozenset[str], bool]:
        fields: set[str] = set()
        places = False
        left, seen = [test], set[object]()
        while left:
            for x in walk(left.pop()):
                match x:
                    case ir.FieldOf(name=name):
                        fields.add(name)
                        places |= name in self.analysis.modified  # passive texts come and go with their cards
                    case ir.GlobalValue(name=name):
                        fields.add(f"the {name}")  # no field has such a name
                    case ir.Adj(name=name, flag=flag, fields=enums):
                        fields.update([name] if flag else enums)
                    case ir.Noun() | ir.Rel() | ir.ZoneOf() | ir.GlobalZone():
                        places = True
                    case ir.Call() if x.pattern.phrase.number in self.analysis.modified_values:
                        places = True
                for meaning in self._meanings(x):
                    if id(meaning) not in seen:
                        seen.add(id(meaning))
                        left.append(meaning)
        return frozenset(fields), places

    def _meanings(self, x: Any) -> list[Any]:
        """The texts that a word of the game stands for: of a phrase, an adjective, a kind known by a condition."""
        match x:
            case ir.Call() | ir.Rel():
                return [q for q in self.units.queries if q.phrase is x.pattern.phrase]
            case ir.Adj(name=name):
                known = self.v.adjectives.get(name, ())
                return [self.adjectives[a.number] for a in known if a.number in self.adjectives]
            case ir.Noun(kinds=kinds):
                return [self.units.conditions[k] for k in kinds if k in self.units.conditions]
        return []

    def list_state_checks(self) -> None:
        """A scene may change what no rule changes: the checks that follow must be known all the same."""
        for name in (*self.v.columns(), *(f"the {value}" for value in self.v.values)):
            self.whenever_field(name)
        self.whenever_moves()
        self.whenever_any()

    def whenever_field(self, name: str) -> list[ast.stmt]:
        readers = [number for number, (fields, _) in self._awaited.items() if name in fields]
        return self._check_call(attribute("H", name), readers)

    def whenever_moves(self) -> list[ast.stmt]:
        return self._check_call("H_", [number for number, (_, places) in self._awaited.items() if places])

    def whenever_any(self) -> list[ast.stmt]:
        return self._check_call("H", list(self._awaited))

    def _check_call(self, name: str, rules: list[int]) -> list[ast.stmt]:
        if not rules:
            return []
        self.lists[name] = rules
        return [py.expression(py.call("k_whenever", py.name("s"), py.name("c"), py.name(name)))]


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
    from .trees import locals_in

    return locals_in(e)
