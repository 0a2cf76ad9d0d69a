"""Second pass: read every clause of every declaration, keeping the names in scope, and collect problems.

Nothing is executed. The result (`Units`) is what the emitter works from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from lark import UnexpectedInput

from . import ir
from . import nodes as n
from . import units as u
from .collect import DESIGNS_MAX, Collector, combinations, filled, find_verb, loop_words, scope_name
from .explain import bracketed, explain_phrase, explain_value, near
from .parse import parse_clause
from .problems import Problem
from .reader import Env, Reader, named_first, own_words, read_text
from .source import Span
from .types import ANY, NUMBER, TRUTH, T, article
from .vocabulary import Phrase, Vocabulary

ORDERS = (
    "turn order from",
    "turn order",
    "random order",
    "order chosen by",
    "descending order of",
    "order of",
)


class Resolver:
    """One resolver reads all packs of a game."""

    def __init__(self, collector: Collector) -> None:
        self.v: Vocabulary = collector.v
        self.problems = collector.problems
        self.units = u.Units()
        self.used: set[int] = set()  # numbers of phrases that some text uses
        self._rule_count = 0
        self._answer_type: T | None = None
        self._record: Phrase | None = None  # the verb whose pending record this text may change
        self._voice_types: dict[str, T] = {}
        self._words_of_card: dict[str, str] = {}

    def fail(self, code: str, span: Span, what: str, help_: str = "") -> None:
        self.problems.append(Problem(code, span, what, help_))

    # ------------------------------------------------------------ reading clauses
    def read(self, clause: n.Clause, env: Env, want: T = ANY) -> ir.Expr | None:
        reader = Reader(self.v, clause.items, env)
        got = [r for r in reader.whole() if self._acceptable(r, want)]
        if not got:
            self.problems.append(explain_value(clause, reader, want))
            return None
        return self.pick(clause, got)

    def _acceptable(self, r: ir.Expr, want: T) -> bool:
        if want.form == "desc":
            return r.type.form in ("desc", "set", "ask", "asks", "each") and r.type.base in self.v.kinds
        if want == ANY:
            return r.type.form not in ("some",) and r.type.base != "done"
        return self.v.fits(r.type, want) and r.type.form != "some"

    def truth(self, clause: n.Clause, env: Env) -> ir.Expr | None:
        """A condition. `any figure near self` by itself asks whether there is one."""
        reader = Reader(self.v, clause.items, env)
        got = [
            r for r in reader.whole() if (r.type.base == "truth" and not r.type.form) or r.type.form == "some"
        ]
        if not got:
            self.problems.append(explain_value(clause, reader, TRUTH))
            return None
        return self.pick(clause, got)

    def pick(self, clause: n.Clause, got: list[ir.Expr]) -> ir.Expr | None:
        """The best reading; a tie is a problem that shows both."""
        most = max((r.lits, own_words(r)) for r in got)
        top = named_first([r for r in got if (r.lits, own_words(r)) == most])
        distinct = list(dict.fromkeys(top))
        if len(distinct) > 1:
            distinct = self._narrowest(distinct)
        if len(distinct) > 1:
            shown = [bracketed(r) for r in distinct[:2]]
            if shown[0] == shown[1]:
                shown = [f"{bracketed(r)}, {article(str(r.type))}" for r in distinct[:2]]
            self.fail(
                "LB0207",
                clause.span,
                "this can be read in two ways",
                "use brackets or another word:\n  " + "\n  ".join(shown),
            )
            return None
        self._note(distinct[0])
        return distinct[0]

    def _narrowest(self, readings: list[ir.Expr]) -> list[ir.Expr]:
        """Among readings that differ only in the phrase chosen, the one declared for the narrowest kinds."""
        calls = [r for r in readings if isinstance(r, ir.Call)]
        if len(calls) != len(readings) or len({tuple(a.type for _, a in c.args) for c in calls}) > 1:
            return readings

        def width(c: ir.Call) -> int:
            return -sum(len(self.v.lineage(t.base)) for t in c.pattern.phrase.slots.values())

        least = min(map(width, calls))
        return [c for c in calls if width(c) == least]

    def _note(self, node: Any) -> None:
        if isinstance(node, ir.Call | ir.Rel) or (isinstance(node, ir.Gets) and node.pattern):
            self.used.add(node.pattern.phrase.number)  # type: ignore[union-attr]
        if isinstance(node, tuple):
            for x in node:
                self._note(x)
        elif isinstance(node, ir.Expr):
            for name in node.__dataclass_fields__:
                if name not in ("type", "span", "lits", "pattern"):
                    self._note(getattr(node, name))

    def phrase(self, clause: n.Clause, env: Env, sorts: Sequence[str], wild: bool = False) -> ir.Expr | None:
        reader = Reader(self.v, clause.items, env)
        got: list[ir.Expr] = []
        for sort in sorts:
            got += (
                reader.gets()
                if sort == "gets"
                else reader.has()
                if sort == "has"
                else reader.phrases(sort, wild)
            )
        if not got:
            self.problems.append(explain_phrase(clause, reader, "verb" if "verb" in sorts else "modifier"))
            return None
        return self.pick(clause, got)

    # ------------------------------------------------------------ declarations
    def resolve(self, decls: Iterable[n.Decl]) -> u.Units:
        every = list(decls)
        for decl in every:  # who "you" is decides the types of everything else
            if isinstance(decl, n.Kind) and str(decl.name) in self.v.kinds:
                for member in decl.members:
                    if isinstance(member, n.Voice) and member.word.value == "you are":
                        self._voice(str(decl.name), member.word, member.clause, self.base_env(str(decl.name)))
        for decl in every:
            self._declaration(decl)
        return self.units

    def base_env(self, self_kind: str = "") -> Env:
        env: Env = {"you": T(self.v.you if self.v.you in self.v.kinds else "seat")}
        for kind in self.v.lineage(self_kind) if self_kind else ():
            if kind in self._voice_types:
                env["you"] = self._voice_types[kind]
                break
        if self_kind:
            env["self"] = T(self_kind)
            env["owner"] = T("seat", maybe=True)
        else:
            env["self"] = T("thing")
        return env

    def _declaration(self, decl: n.Decl) -> None:
        match decl:
            case n.Kind() if str(decl.name) in self.v.kinds:
                self._kind(decl)
            case n.Card():
                self._card(decl)
            case n.CardTable():
                self._card_table(decl)
            case n.Verb():
                self._verb(decl)
            case n.Query() | n.Value() | n.Relation():
                self._query(decl)
            case n.Adjective():
                self._adjective(decl)
            case n.Modifier():
                self._modifier(decl)
            case n.State(name=name, type=_, default=default, traits=traits):
                self.units.value_spans[str(name)] = name.span
                self._state(str(name), default, traits.clauses)
            case n.Game():
                self._game(decl)
            case n.Section(word=word, block=block):
                body = self.block(block.stmts, self.base_env())
                self.units.sections.setdefault(word.value, []).append(body)
            case n.Option():
                self._option(decl, ("top",), "", self.base_env())
            case n.Limit(kind=kind, text_kind=text_kind, clause=clause):
                if self._known_kind(kind) and self._known_kind(text_kind):
                    env = {**self.base_env(str(text_kind)), "it": T(str(kind))}
                    if (test := self.truth(clause, env)) is not None:
                        self.units.limits.append(u.LimitUnit(str(kind), str(text_kind), test))
            case n.Trigger() | n.Whenever() | n.Forbid():
                self._rule(decl, ("top",), "", self.base_env())
            case n.Scene():
                pass  # read by scenes.py, which knows its game and its seats
            case n.Supply(kind=kind):
                self._known_kind(kind)

    def _known_kind(self, name: n.Name) -> bool:
        if str(name) in self.v.kinds:
            return True
        self.fail("LB0201", name.span, f"unknown kind '{name}'", near(str(name), list(self.v.kinds)))
        return False

    def _phrase_of(self, decl: n.Phrase) -> Phrase | None:
        return next((p for p in self.v.phrases if p.decl is decl), None)

    def _slot_env(self, phrase: Phrase) -> Env:
        env = self.base_env()
        for name, t in phrase.slots.items():
            env[name] = T(t.base, "set", t.maybe) if t.form == "desc" else t
        return env

    def _defaults(self, phrase: Phrase) -> dict[str, ir.Expr]:
        found = {}
        for name, clause in phrase.defaults.items():
            if (value := self.read(clause, self.base_env(), phrase.slots[name])) is not None:
                found[name] = value
        return found

    def _verb(self, decl: n.Verb) -> None:
        phrase = self._phrase_of(decl)
        if phrase is None or phrase.is_primitive:
            return
        env = self._slot_env(phrase)
        amid = None
        if decl.amid is not None:
            amid = find_verb(self.v, decl.amid)
            if amid is None:
                self.fail(
                    "LB0203",
                    decl.amid.span,
                    f"no verb is written '{decl.amid}'",
                    "write it with its slots in brackets",
                )
            else:
                env |= {k: t for k, t in amid.slots.items() if k not in env}
        if (subject := subject_slot(phrase)) is not None:  # in its body, "you" is who does it
            env["you"] = phrase.slots[subject]
        needs, stages, told, stmts = [], [], "", []
        for line in decl.lines:
            match line:
                case n.Needs(clause=clause):
                    if (test := self.truth(clause, env)) is not None:
                        needs.append(test)
                case n.Stages(names=names):
                    stages += [str(s) for s in names]
                case n.Told(text=text):
                    told = text.value.strip('"')
                case _:
                    stmts.append(line)
        self._answer_type = phrase.gives if phrase.gives.base != "done" else None
        outer, self._record = self._record, amid or phrase
        body = self.block(tuple(stmts), env)
        self._record, self._answer_type = outer, None
        self.units.verbs.append(
            u.VerbUnit(
                phrase=phrase,
                body=body,
                needs=tuple(needs),
                stages=tuple(stages),
                told=told,
                defaults=self._defaults(phrase),
                span=decl.pattern.span,
                amid=amid,
            )
        )

    def _query(self, decl: n.Query | n.Value | n.Relation) -> None:
        phrase = self._phrase_of(decl)
        if phrase is None or phrase.is_primitive:
            return
        env, value = self._slot_env(phrase), None
        body: u.Body = ()
        unit = u.QueryUnit(
            phrase=phrase, value=None, body=(), defaults=self._defaults(phrase), span=decl.pattern.span
        )
        if isinstance(decl, n.Value):
            value = self.read(decl.default, env, phrase.gives) if decl.default is not None else None
            for trait in decl.traits.clauses:
                if m := re.fullmatch(r"at (least|most) (\d+)", str(trait)):
                    setattr(unit, "low" if m[1] == "least" else "high", int(m[2]))
                else:
                    self.fail(
                        "LB0221",
                        trait.span,
                        f"'{trait}' says nothing about a value",
                        "known: at least 0, at most 5",
                    )
        else:
            for part in decl.body:
                if isinstance(part, n.Clause):
                    value = (
                        self.truth(part, env)
                        if phrase.gives == TRUTH
                        else self.read(part, env, _loose(phrase.gives))
                    )
                else:
                    self._answer_type = phrase.gives
                    body = self.block(part.stmts, env)
                    self._answer_type = None
            if not decl.body:
                self.fail(
                    "LB0107",
                    decl.pattern.span,
                    "this phrase has no meaning yet",
                    "write ':' and what it means",
                )
        unit.value, unit.body = value, body
        self.units.queries.append(unit)

    def _adjective(self, decl: n.Adjective) -> None:
        info = next((a for a in self.v.adjectives.get(str(decl.name), ()) if a.decl is decl), None)
        if info is None or (decl.mark and decl.mark.value == "primitive"):
            return
        if not decl.body:
            self.fail(
                "LB0107", decl.name.span, "this adjective has no meaning yet", "write ':' and what it means"
            )
            return
        env = {**self.base_env(), "it": T(info.kind), info.kind: T(info.kind)}
        meaning = decl.body[0]
        if isinstance(meaning, n.Block):
            self._answer_type = TRUTH
            body = self.block(meaning.stmts, env)
            self._answer_type = None
            self.units.adjectives.append(u.AdjUnit(info=info, test=None, body=body, span=decl.name.span))
        elif (test := self.truth(meaning, env)) is not None:
            self.units.adjectives.append(u.AdjUnit(info=info, test=test, body=(), span=decl.name.span))

    def _modifier(self, decl: n.Modifier) -> None:
        phrase = self._phrase_of(decl)
        if phrase is None:
            return
        env, found = self._slot_env(phrase), []
        for stmt in decl.block.stmts:
            if isinstance(stmt, n.Line):
                got = self.phrase(stmt.clause, env, ("gets", "has"))
                if isinstance(got, ir.Gets):
                    found.append(got)
            else:
                self.fail("LB0221", stmt.span, "a modifier is made of lines such as 'X gets +1 FIELD'")
        self.units.modifiers[phrase.number] = tuple(found)

    def _state(self, name: str, default: n.Clause | None, traits: Sequence[n.Clause]) -> None:
        t, kept = self.v.values[name], ""
        for trait in traits:
            if m := re.fullmatch(r"kept per (.+)", str(trait)):
                kept = self._scope(m[1], trait.span)
            else:
                self.fail(
                    "LB0221", trait.span, f"'{trait}' says nothing about a state", "known: kept per SCOPE"
                )
        value = self.read(default, self.base_env(), t) if default is not None else None
        self.units.values[name] = (t, value, kept)

    def _game(self, decl: n.Game) -> None:
        for line in decl.lines:
            if isinstance(line, n.Setting):
                value = (
                    self.read(line.default, self.base_env(), self.v.values[str(line.name)])
                    if line.default
                    else None
                )
                self.units.values[str(line.name)] = (self.v.values[str(line.name)], value, "")
                continue
            text = str(line.clauses[0])
            if m := re.fullmatch(r"simultaneous rules are ordered by (.+)", text):
                items = line.clauses[0].items[5:]
                self.units.orders = self.read(
                    n.Clause(line.clauses[0].span, items), self.base_env(), T("seats")
                )
            elif m := re.fullmatch(r"rules wait for (.+)", text):
                self.units.waits = (*self.units.waits, self._scope(m[1], line.clauses[0].span))

    # ------------------------------------------------------------ kinds and cards
    def _kind(self, decl: n.Kind) -> None:
        kind = str(decl.name)
        env = self.base_env(kind)
        if decl.when is not None and (test := self.truth(decl.when, {**env, "it": T(kind)})) is not None:
            self.units.conditions[kind] = test
        for member in decl.members:
            if isinstance(member, n.Field | n.Counter):
                info = self.v.kinds[kind].fields.get(str(member.name))
                if info is not None and info.kept:
                    info.kept = self._scope(info.kept, member.name.span)
            match member:
                case n.Field(name=name, default=default) if (
                    default is not None and str(name) in self.v.kinds[kind].fields
                ):
                    t = self.v.kinds[kind].fields[str(name)].type
                    if str(default) != "-" and (value := self.read(default, env, t)) is not None:
                        self.units.kind_defaults.setdefault(kind, {})[str(name)] = value
                case n.Voice(word=word, clause=clause) if word.value != "you are":
                    self._voice(kind, word, clause, env)
                case n.Option():
                    self._option(member, ("kind", kind), kind, dict(env))
                case n.Passive(block=block):
                    self._passive(block, ("kind", kind), kind, env)
                case n.Trigger() | n.Whenever() | n.Forbid():
                    self._rule(member, ("kind", kind), kind, dict(env))

    def _voice(self, kind: str, word: n.Word, clause: n.Clause, env: Env) -> None:
        if word.value == "you are":
            only = re.fullmatch(r"an? (.+)", str(clause))
            if only and only[1] in self.v.kinds:  # who it is, the text that resolves it says
                self._voice_types[kind] = T(only[1])
            elif (value := self.read(clause, env)) is not None:
                self.units.voices[kind] = value
                self._voice_types[kind] = value.type.one()
        elif word.value == "asks":
            if (value := self.read(clause, env, T("seats"))) is not None:
                self.units.askers[kind] = value
        elif word.value == "starts in":
            if str(clause) in self.v.zones:
                self.units.starts[kind] = str(clause)
            else:
                self.fail(
                    "LB0202",
                    clause.span,
                    f"no zone '{clause}' of the whole game",
                    near(str(clause), list(self.v.zones)),
                )
        elif str(clause) != "alike":
            self.fail("LB0221", clause.span, f"copies are '{clause}'?", "write: copies are alike")

    def _card(self, decl: n.Card) -> None:
        if not self._known_kind(decl.kind):
            return
        for words in self._combinations(decl):
            self._design(decl, words)

    def _card_table(self, decl: n.CardTable) -> None:
        """One card a row. A cell is read like the line `FIELD CELL` of a card; an empty one prints nothing."""
        if not self._known_kind(decl.kind):
            return
        for row in decl.rows:
            self._table_row(decl, row)

    def _table_row(self, decl: n.CardTable, row: n.Word) -> None:
        kind, env = str(decl.kind), self.base_env(str(decl.kind))
        cells = row.value[1:].split("|")
        if len(cells) != len(decl.columns):
            self.fail(
                "LB0222",
                row.span,
                f"this row has {len(cells)} columns, the table {len(decl.columns)}",
                "columns are: " + ", ".join(str(c) for c in decl.columns),
            )
            return
        made = u.DesignUnit(
            number=len(self.units.designs),
            kind=kind,
            name=cells[0].strip(),
            copies=1,
            fields={},
            faces=[],
            abilities=[],
            span=row.span,
        )
        self.units.designs.append(made)
        self._words_of_card = {}
        at = row.span.column + 1 + len(cells[0]) + 1
        for column, cell in zip(decl.columns[1:], cells[1:], strict=True):
            lead = len(cell) - len(cell.lstrip())
            span = Span(row.span.file, row.span.line, at + lead, row.span.line, at + lead + len(cell.strip()))
            at += len(cell) + 1
            if str(column) == "copies" and cell.strip().isdigit():
                made.copies = int(cell.strip())
            elif cell.strip():
                self._table_cell(made, column, cell.strip(), span, env)

    def _table_cell(self, made: u.DesignUnit, column: n.Name, cell: str, span: Span, env: Env) -> None:
        try:
            clauses = [parse_clause(span.file, part) for part in cell.split(",")]
        except UnexpectedInput:
            self.fail("LB0101", span, f"'{cell}' cannot be read as a value of '{column}'")
            return
        here = [_moved(c, span) for c in clauses]
        if cell in ("yes", "no") and len(here) == 1:
            made.fields[str(column)] = ir.Truth(type=TRUTH, span=span, value=cell == "yes")
            return
        first = n.Clause(span, (*(n.Word(span, "WORD", w.value) for w in column.words), *here[0].items))
        self._attribute(made, n.Attribute(span, (first, *here[1:])), env, None)

    def _combinations(self, decl: n.Card) -> list[dict[str, str]]:
        for loop in decl.loops:
            name, low, high = loop_words(loop)
            words = self.v.enums.get(name)
            if words is None:
                self.fail("LB0202", loop.text.span, f"no words '{name}'", near(name, list(self.v.enums)))
            elif low and (low not in words or high not in words):
                wrong = low if low not in words else high
                self.fail(
                    "LB0202", loop.text.span, f"'{wrong}' is no word of {name}", near(wrong, list(words))
                )
        found = combinations(self.v, decl)
        if len(found) > DESIGNS_MAX:
            self.fail(
                "LB0109",
                decl.name.span,
                f"this line makes more than {DESIGNS_MAX} cards",
                "use fewer 'for each'",
            )
            return []
        return found

    def _design(self, decl: n.Card, words: dict[str, str]) -> None:
        kind = str(decl.kind)
        env = self.base_env(kind)
        bound: Env = {**env, **{name: T(name) for name in words}}
        number = len(self.units.designs)
        copies = int(decl.copies.count.value) if decl.copies else 1
        name = filled(decl.name.value.strip('"'), words)
        if copies > 1000:
            self.fail(
                "LB0108",
                decl.copies.span if decl.copies else decl.span,
                f"{copies} copies are too many",
                "at most 1000",
            )
            copies = 1
        design = u.DesignUnit(
            number=number,
            kind=kind,
            name=name,
            copies=copies,
            fields={},
            faces=[],
            abilities=[],
            span=decl.name.span,
        )
        self.units.designs.append(design)
        self._words_of_card = words
        for line in decl.lines:
            if isinstance(line, n.Face):
                face = u.FaceUnit(name=line.name.value.strip('"'))
                design.faces.append(face)
                for inner in line.lines:
                    self._card_line(design, inner, bound, face)
            else:
                self._card_line(design, line, bound, None)

    def _card_line(self, design: u.DesignUnit, line: n.CardLine, env: Env, face: u.FaceUnit | None) -> None:
        where = ("design", design.number, face.name if face else "")
        match line:
            case n.Attribute():
                self._attribute(design, line, env, face)
            case n.Ability():
                self._ability(design, line, dict(env), face)
            case n.Passive(block=block):
                self._passive(block, where, design.kind, env)
            case n.Option():
                self._option(line, where, design.kind, dict(env))
            case n.Trigger() | n.Whenever() | n.Forbid():
                self._rule(line, where, design.kind, dict(env))
            case n.Face():
                self.fail("LB0221", line.span, "a face inside a face")

    def _attribute(self, design: u.DesignUnit, line: n.Attribute, env: Env, face: u.FaceUnit | None) -> None:
        fields = {k: f for k, f in self.v.fields_of(design.kind).items() if f.sort != "zone"}
        for k in self.v.kinds.values():  # a kind known by a condition lends its fields
            if k.when is not None and any(p in self.v.lineage(design.kind) for p in k.parents):
                fields |= {x: f for x, f in k.fields.items() if f.sort != "zone"}
        first = line.clauses[0]
        items = first.items
        into = face.fields if face else design.fields
        for count in range(len(items), 0, -1):
            name = " ".join(x.value for x in items[:count] if isinstance(x, n.Word))
            if name not in fields:
                continue
            want = fields[name].type
            rest = [n.Clause(_span(items[count:]), items[count:])] if items[count:] else []
            clauses = [*rest, *line.clauses[1:]]
            if name in into:
                self.fail("LB0213", first.span, f"'{name}' is printed twice on this card")
            value = self._attribute_value(clauses, want, env, first.span, name)
            if value is not None:
                into[name] = value
            return
        shown = str(first).split()[0]
        self.fail(
            "LB0210",
            items[0].span,
            f"{article(design.kind)} has no '{shown}'",
            near(shown, list(fields)) or f"{article(design.kind)} has: {', '.join(sorted(fields))}",
        )

    def _attribute_value(
        self, clauses: list[n.Clause], want: T, env: Env, span: Span, name: str
    ) -> ir.Expr | None:
        if not clauses:
            if want.base == "truth":
                return ir.Truth(type=TRUTH, span=span, value=True)
            self.fail("LB0222", span, f"'{name}' needs {article(str(want))}", f"write: {name} VALUE")
            return None
        if want.form == "set":
            values = [v for c in clauses if (v := self.read(c, env, want.one())) is not None]
            made: ir.Expr = ir.Nothing(type=want, span=span)
            for value in values:
                made = (
                    value
                    if isinstance(made, ir.Nothing)
                    else ir.Both(type=want, span=span, left=made, right=value)
                )
            return (
                made
                if len(values) > 1
                else ir.Both(type=want, span=span, left=made, right=ir.Nothing(type=want, span=span))
            )
        if len(clauses) > 1:
            self.fail("LB0222", clauses[1].span, f"'{name}' is one {want}, not several")
            return None
        if str(clauses[0]) == "-":
            return ir.Nothing(type=want, span=clauses[0].span)
        if self._words_of_card and any(
            isinstance(x, n.Word) and x.type == "STRING" for x in clauses[0].items
        ):
            clauses = [n.Clause(clauses[0].span, tuple(self._filled(x) for x in clauses[0].items))]
        word = self._words_of_card.get(str(clauses[0]))
        if word is not None and want.base in self.v.enums:
            return ir.WordValue(type=want.one(), span=clauses[0].span, value=word)
        return self.read(clauses[0], env, replace(want, maybe=True))

    def _filled(self, item: n.Item) -> n.Item:
        """A printed text with the words of this copy of the card in its braces."""
        if not isinstance(item, n.Word) or item.type != "STRING":
            return item
        text = filled(item.value, self._words_of_card)
        return n.Word(item.span, item.type, text)

    def _ability(self, design: u.DesignUnit, line: n.Ability, env: Env, face: u.FaceUnit | None) -> None:
        words = [x for x in line.clause.items if isinstance(x, n.Word)]
        name = " ".join(w.value for w in words if w.type == "WORD")
        label = next((w.value.strip('"') for w in words if w.type == "STRING"), "")
        known = self.v.abilities_of(design.kind)
        if name not in known:
            self.fail(
                "LB0208",
                line.clause.span,
                f"{article(design.kind)} has no ability '{name}'",
                near(name, list(known))
                or (f"{article(design.kind)} has: {', '.join(sorted(known))}" if known else ""),
            )
            return
        mods = n.Mods(line.mods.span, (*known[name].mods.items, *all_mods(line.mods, line.body).items))
        if any(isinstance(m, n.During) for m in mods.items):
            text = n.Word(line.clause.span, "STRING", f'"{label or name}"')
            plain = n.Body(line.span, n.Block(line.span, line.body.stmts))
            self._option(
                n.Option(line.span, text, mods, plain),
                ("design", design.number, face.name if face else ""),
                design.kind,
                env,
            )
            return
        body = self.block(line.body.stmts, env)
        design.abilities.append(
            u.AbilityUnit(
                name=name,
                label=label,
                face=face.name if face else "",
                body=body,
                self_kind=design.kind,
                span=line.clause.span,
            )
        )

    # ------------------------------------------------------------ rules
    def _passive(self, block: n.Block, where: tuple[object, ...], kind: str, env: Env) -> None:
        for stmt in block.stmts:
            if isinstance(stmt, n.Line):
                self._modifier_rule(stmt.clause, where, kind, env, (), ())
            elif isinstance(stmt, n.IfStmt) and not any(stmt.others):
                test = self.truth(stmt.test, env)
                for inner in stmt.body.stmts:
                    if isinstance(inner, n.Line) and test is not None:
                        self._modifier_rule(inner.clause, where, kind, env, (test,), ())
            elif isinstance(stmt, n.Trigger | n.Whenever | n.Forbid):
                self._rule(stmt, where, kind, dict(env))
            else:
                self.fail(
                    "LB0221",
                    stmt.span,
                    "a passive text is made of modifiers and rules",
                    "for example: host of self gets -1 defense",
                )

    def _modifier_rule(
        self,
        clause: n.Clause,
        where: tuple[object, ...],
        kind: str,
        env: Env,
        guard: tuple[ir.Expr, ...],
        captured: tuple[str, ...],
    ) -> list[u.RuleUnit]:
        got = self.phrase(clause, env, ("modifier", "gets", "has"))
        if got is None:
            return []
        return self._modifier_units(got, where, kind, guard, captured, clause.span)

    def _modifier_units(
        self,
        got: ir.Expr,
        where: tuple[object, ...],
        kind: str,
        guard: tuple[ir.Expr, ...],
        captured: tuple[str, ...],
        span: Span,
    ) -> list[u.RuleUnit]:
        made = []
        for gets in self._unfold(got):
            rule = u.RuleUnit(
                number=self._next_rule(),
                timing="modifier",
                where=where,
                self_kind=kind,
                pattern=gets,
                test=None,
                guard=guard,
                body=(),
                once=None,
                stage="",
                names={},
                captured=captured,
                span=span,
            )
            self.units.rules.append(rule)
            made.append(rule)
        return made

    def _unfold(self, got: ir.Expr) -> list[ir.Gets]:
        """A declared modifier stands for the lines of its block, with its slots filled in."""
        if isinstance(got, ir.Gets):
            return [got]
        assert isinstance(got, ir.Call)
        filled = dict(got.args)
        decl = got.pattern.phrase.decl
        if got.pattern.phrase.number not in self.units.modifiers and isinstance(decl, n.Modifier):
            self._modifier(decl)
        lines = self.units.modifiers.get(got.pattern.phrase.number, ())
        return [g for line in lines if isinstance(g := substitute(line, filled), ir.Gets)]

    def _next_rule(self) -> int:
        self._rule_count += 1
        return self._rule_count

    def _rule(
        self, decl: n.Rule, where: tuple[object, ...], kind: str, env: Env, captured: tuple[str, ...] = ()
    ) -> u.RuleUnit | None:
        number = self._next_rule()
        timing = (
            decl.timing.value
            if isinstance(decl, n.Trigger)
            else "whenever"
            if isinstance(decl, n.Whenever)
            else "forbid"
        )
        pattern: Any = None
        test, names = None, {}
        inner = dict(env)
        if isinstance(decl, n.Whenever):
            test = self.truth(decl.clause, inner)
            if test is None:
                return None
        else:
            pattern = self._event_pattern(decl.clause, env)
            if pattern is None:
                return None
            if isinstance(pattern, ir.Call):
                names = self._bind_slots(pattern, inner)
            elif pattern.subject is not None and pattern.subject.type.base in self.v.kinds:
                inner[pattern.subject.type.base] = pattern.subject.type.one()
        outer, self._record = (
            self._record,
            pattern.pattern.phrase if isinstance(pattern, ir.Call) else self._record,
        )
        written = decl.mods if isinstance(decl, n.Forbid) else all_mods(decl.mods, decl.body)
        mods = self._mods(written, inner, allowed=("only_if", "once", "at_stage", "from_zone"))
        where = self._from(mods, where)
        body = self.block(decl.body.stmts, inner) if not isinstance(decl, n.Forbid) else ()
        self._record = outer
        rule = u.RuleUnit(
            number=number,
            timing=timing,
            where=where,
            self_kind=kind,
            pattern=pattern,
            test=test,
            guard=tuple(mods["only_if"]),
            body=body,
            once=mods["once"],
            stage=mods["at_stage"],
            names=names,
            captured=captured,
            span=decl.clause.span,
        )
        self.units.rules.append(rule)
        return rule

    def _event_pattern(self, clause: n.Clause, env: Env) -> ir.Call | ir.ScopeRef | None:
        """What a rule watches: a verb with its slots narrowed, or the start or end of a scope."""
        ref = self._scope_ref(clause, env, quiet=True)
        if ref is not None:
            return ref
        got = self.phrase(clause, env, ("verb",), wild=True)
        if isinstance(got, ir.Call) and got.pattern.phrase.is_primitive:
            self.fail("LB0203", clause.span, "a rule cannot watch a primitive", "watch the verb that uses it")
            return None
        return got if isinstance(got, ir.Call) else None

    def _bind_slots(self, pattern: ir.Call, env: Env) -> dict[str, str]:
        """Slots are names in the rule; a slot narrowed to a kind is known by that kind, too."""
        names: dict[str, str] = {}
        env |= pattern.pattern.phrase.slots
        for slot, arg in pattern.args:
            if isinstance(arg, ir.Noun | ir.AnyValue) and arg.type.base in self.v.kinds:
                kind = arg.type.base
                env[slot] = T(kind)
                if kind not in env:
                    env[kind] = T(kind)
                    names[kind] = slot
        return names

    def _scope_ref(self, clause: n.Clause, env: Env, quiet: bool = False) -> ir.ScopeRef | None:
        """`end of attack`, `start of your turn`, `turn of any player`."""
        items = list(clause.items)
        words = [x.value if isinstance(x, n.Word) else "" for x in items]
        moment = ""
        if words[:2] in (["start", "of"], ["end", "of"]):
            moment, items = words[0], items[2:]
        elif words[:1] == ["next"]:
            moment, items = "start", items[1:]
        subject: ir.Expr | None = None
        words = [x.value if isinstance(x, n.Word) else "" for x in items]
        owners = {"your": "you", "its": "it"}
        if words and words[0] in owners and owners[words[0]] in env:
            subject = ir.Local(type=env[owners[words[0]]], span=items[0].span, name=owners[words[0]])
            items = items[1:]
        elif "'s" in words:
            at = words.index("'s")
            subject = self.read(n.Clause(clause.span, tuple(items[:at])), env)
            items = items[at + 1 :]
        elif "of" in words[1:]:
            at = words.index("of", 1)
            scope = " ".join(words[:at])
            if self._find_scope(scope):
                subject = self._subject(n.Clause(clause.span, tuple(items[at + 1 :])), env)
                items = items[:at]
        name = " ".join(x.value for x in items if isinstance(x, n.Word))
        if name.startswith("this "):
            name = name[5:]
        scope = self._find_scope(name)
        if scope and (
            moment
            or not any(
                True
                for p in self.v.patterns["verb"]
                if p.words and name.split()[0] in p.words[0] and scope not in self.v.scopes
            )
        ):
            return ir.ScopeRef(type=T("done"), span=clause.span, scope=scope, subject=subject, moment=moment)
        if not quiet:
            self.fail(
                "LB0220",
                clause.span,
                f"nothing called '{name}' begins or ends",
                near(name, list(self.v.scopes)) or "name a phase, step, turn, effect or verb",
            )
        return None

    def _subject(self, clause: n.Clause, env: Env) -> ir.Expr | None:
        reader = Reader(self.v, clause.items, env)
        got = [r for r in reader.whole() if r.type.base in self.v.kinds]
        if not got:
            self.problems.append(explain_value(clause, reader, T("thing")))
            return None
        return self.pick(clause, got)

    def _find_scope(self, name: str) -> str:
        """A scope by its name: a phase, step, turn or effect, or a verb by its words."""
        if name in self.v.scopes or name in ("root effect", "game", "round"):
            return name
        for p in self.v.patterns["verb"]:
            words = name.split()
            if len(words) == len(p.words) and all(
                w in forms for w, forms in zip(words, p.words, strict=True)
            ):
                return f"verb {p.phrase.number}"
        return ""

    def _scope(self, name: str, span: Span) -> str:
        found = self._find_scope(name)
        if not found:
            self.fail(
                "LB0220", span, f"nothing called '{name}' begins or ends", near(name, list(self.v.scopes))
            )
        return found

    def _mods(self, mods: n.Mods, env: Env, allowed: Sequence[str]) -> dict[str, Any]:
        """The comma parts behind a rule, option or loop. Names they bind are added to `env`."""
        out: dict[str, Any] = {
            "only_if": [],
            "once": None,
            "at_stage": "",
            "during": None,
            "by": None,
            "in_order": None,
            "costs": [],
            "choosing": [],
            "from_zone": None,
            "on_pass": "",
            "saying": None,
        }
        for mod in mods.items:
            word = _mod_name(mod)
            if word not in allowed:
                self.fail("LB0221", mod.span, f"'{word.replace('_', ' ')}' has no place here")
                continue
            match mod:
                case n.OnlyIf(clause=clause):
                    if (test := self.truth(clause, env)) is not None:
                        out["only_if"].append(test)
                case n.Once(per=per):
                    out["once"] = "" if per is None else self._scope(str(per), per.span)
                case n.AtStage(name=name):
                    out["at_stage"] = str(name)
                case n.During(clause=clause):
                    out["during"] = self._windows(clause, env)
                case n.By(clause=clause):
                    out["by"] = self._by(clause, env)
                    if "during" in allowed and isinstance(out["by"], tuple):
                        env["you"] = out["by"][1].type.one()
                case n.InOrder(clause=clause):
                    out["in_order"] = clause
                case n.Costs(clause=clause):
                    if (call := self.phrase(clause, env, ("verb",))) is not None:
                        out["costs"].append(call)
                case n.Choosing(clause=clause, name=name):
                    if (got := self._described(clause, env)) is not None:
                        bound = str(name) if name else got.type.base
                        env[bound] = got.type.one()
                        out["choosing"].append((bound, got))
                case n.FromZone(clause=clause):
                    out["from_zone"] = str(clause)
                    zones = {
                        f.name for k in self.v.kinds.values() for f in k.fields.values() if f.sort == "zone"
                    } | set(self.v.zones)
                    if str(clause) not in zones:
                        self.fail(
                            "LB0202", clause.span, f"no zone '{clause}'", near(str(clause), list(zones))
                        )
                case n.OnPass(word=said):
                    out["on_pass"] = said.value
                case n.Saying(text=text):
                    out["saying"] = read_text(self.v, text, env)
                    if out["saying"] is None:
                        self.fail("LB0203", text.span, "what stands between braces cannot be read")
        return out

    def _windows(self, clause: n.Clause, env: Env) -> tuple[Any, ...] | None:
        """`during W` or `during V or W`: an option may be open in several windows of one act, or of none."""
        found = []
        for name in str(clause).split(" or "):
            info = self.v.windows.get(name)
            if info is None:
                self.fail("LB0218", clause.span, f"no window '{name}'", near(name, list(self.v.windows)))
                return None
            found.append(info)
        if len({info.amid for info in found}) > 1:
            self.fail("LB0218", clause.span, "these windows open in different acts", "write the option twice")
            return None
        if found[0].amid is not None:
            env |= {k: t for k, t in found[0].amid.slots.items() if k not in ("you", "self")}
        return tuple(found)

    def _from(self, mods: dict[str, Any], where: tuple[object, ...]) -> tuple[object, ...]:
        return ("zone", where[1], mods["from_zone"]) if mods["from_zone"] and len(where) > 1 else where

    def _by(self, clause: n.Clause, env: Env) -> tuple[str, ir.Expr] | ir.Expr | None:
        reader = Reader(self.v, clause.items, env)
        got = [r for r in reader.whole() if r.type.base in self.v.kinds or r.type.base == "seats"]
        if not got:
            self.problems.append(explain_value(clause, reader, T("seats")))
            return None
        one = self.pick(clause, got)
        if isinstance(one, ir.Noun):
            env[one.type.base] = one.type.one()
            return one.type.base, one
        return one

    def _described(self, clause: n.Clause, env: Env) -> ir.Expr | None:
        """A description, or the words of an enumeration."""
        text = str(clause)
        for lead in ("a ", "an ", ""):
            if (
                text.startswith(lead)
                and (words := self.v.enums.get(text[len(lead) :])) is not None
                and text[len(lead) :] not in env
            ):
                return ir.AllWords(type=T(text[len(lead) :], "set"), span=clause.span, words=words)
        return self.read(clause, env, T("thing", "desc"))

    def _option(self, decl: n.Option, where: tuple[object, ...], kind: str, env: Env) -> None:
        number = self._next_rule()
        mods = self._mods(
            all_mods(decl.mods, decl.body),
            env,
            allowed=("only_if", "once", "during", "by", "costs", "choosing", "from_zone"),
        )
        windows = mods["during"]
        if windows is None:
            if not any(isinstance(m, n.During) for m in decl.mods.items):
                self.fail(
                    "LB0218",
                    decl.label.span,
                    "an option needs a window",
                    'write: option "...", during WINDOW: ...',
                )
            return
        outer, self._record = self._record, windows[0].amid
        label = read_text(self.v, decl.label, env)
        if label is None:
            self.fail("LB0203", decl.label.span, "what stands between braces cannot be read")
        body = self.block(decl.body.stmts, env)
        self._record = outer
        if label is None:
            return
        self.units.options.append(
            u.OptionUnit(
                number=number,
                where=self._from(mods, where),
                self_kind=kind,
                label=label,
                windows=windows,
                by=mods["by"] if isinstance(mods["by"], tuple) else None,
                guard=(
                    *mods["only_if"],
                    *([_same(mods["by"], env)] if isinstance(mods["by"], ir.Expr) else []),
                ),
                choosing=tuple(mods["choosing"]),
                costs=tuple(mods["costs"]),
                once=mods["once"],
                body=body,
                span=decl.label.span,
            )
        )

    # ------------------------------------------------------------ statements
    def block(self, stmts: Sequence[n.Stmt], env: Env) -> u.Body:
        """Statements share the names bound among them; an inner block's names end with it."""
        out: list[u.Stmt] = []
        for at, stmt in enumerate(stmts):
            made = self._stmt(stmt, env)
            if made is not None:
                out.append(made)
            if isinstance(stmt, n.Stop | n.Answer) and at + 1 < len(stmts):
                self.fail(
                    "LB0306",
                    stmts[at + 1].span,
                    "this line is never reached",
                    "the line above ends the effect",
                )
        return tuple(out)

    def _stmt(self, stmt: n.Stmt, env: Env) -> u.Stmt | None:
        handler = getattr(self, "_s_" + type(stmt).__name__.lower())
        made: u.Stmt | None = handler(stmt, env)
        return made

    def _s_line(self, s: n.Line, env: Env) -> u.Stmt | None:
        until = self._scope_ref(s.until, env) if s.until is not None else None
        sorts = ("verb", "modifier", "gets") if s.until is not None else ("verb",)
        got = self.phrase(s.clause, env, sorts)
        if got is None:
            return None
        if s.until is not None and (isinstance(got, ir.Gets) or got.pattern.phrase.sort == "modifier"):  # type: ignore[attr-defined]
            if until is None:
                return None
            captured = tuple(sorted(set(locals_in(got)) & set(env) - {"self", "you"}))
            rules = self._modifier_units(
                got,
                ("lasting", 0),
                env["self"].base if "self" in env else "",
                (),
                (*captured, "you"),
                s.clause.span,
            )
            for rule in rules:
                rule.where = ("lasting", rule.number)
            return u.SLasting(span=s.span, until=until, rules=tuple(rules))
        assert isinstance(got, ir.Call)
        name = str(s.name) if s.name is not None else ""
        if name:
            self._bind(s.name, env, self._result_type(got))  # type: ignore[arg-type]
        return u.SCall(span=s.clause.span, call=got, name=name, until=until)

    def _result_type(self, call: ir.Call) -> T:
        if call.pattern.phrase.gives.base not in ("done", "thing"):
            return call.pattern.phrase.gives
        for _, arg in call.args:
            if arg.type.base in self.v.kinds:
                return T(
                    arg.type.base,
                    "set"
                    if arg.type.form in ("set", "asks") and call.pattern.phrase.gives.base == "done"
                    else "",
                )
        return ANY

    def _bind(self, name: n.Name, env: Env, t: T) -> None:
        text = str(name)
        old = env.get(text)
        if (
            old is not None
            and old.base != t.base
            and "any" not in (old.base, t.base)
            and not (old.base in self.v.kinds and t.base in self.v.kinds and self.v.related(old.base, t.base))
        ):
            self.fail(
                "LB0213",
                name.span,
                f"'{text}' is already {article(env[text].base)} here",
                "choose another name after 'called'",
            )
        env[text] = t

    def _s_ifstmt(self, s: n.IfStmt, env: Env) -> u.Stmt | None:
        tests = [(self.truth(s.test, env), self.block(s.body.stmts, dict(env)))]
        otherwise = None
        for other in s.others:
            match other:
                case n.ElseIf(test=test, body=body):
                    tests.append((self.truth(test, env), self.block(body.stmts, dict(env))))
                case n.Otherwise(body=body):
                    otherwise = self.block(body.stmts, dict(env))
        if any(t is None for t, _ in tests):
            return None
        return u.SIf(span=s.test.span, tests=tuple(tests), otherwise=otherwise)  # type: ignore[arg-type]

    def _among(self, clause: n.Clause, name: n.Name | None, env: Env) -> tuple[str, ir.Expr, Env] | None:
        """What a loop goes through, the name of each, and the names inside."""
        text = str(clause)
        inner = dict(env)
        words = self.v.enums.get(text)
        if words is not None and text not in env:
            bound = str(name) if name else text
            inner[bound] = T(text)
            return bound, ir.AllWords(type=T(text, "set"), span=clause.span, words=words), inner
        if (m := re.fullmatch(r"(.+?) in (.+)", text)) and m[1] in self.v.enums:
            at = next(i for i, x in enumerate(clause.items) if isinstance(x, n.Word) and x.value == "in")
            got = self.read(
                n.Clause(_span(clause.items[at + 1 :]), clause.items[at + 1 :]), env, T(m[1], "set")
            )
            bound = str(name) if name else m[1]
            inner[bound] = T(m[1])
            return (bound, got, inner) if got is not None else None
        if m := re.fullmatch(r"number from (.+) to (.+)", text):
            return self._number_range(clause, name, inner)
        got = self._loop_source(clause, env)
        if got is None:
            return None
        bound = str(name) if name else self._loop_name(got)
        if name is not None:
            self._bind(name, inner, got.type.one())
        inner[bound] = got.type.one()
        inner["it"] = got.type.one()
        return bound, got, inner

    def _loop_source(self, clause: n.Clause, env: Env) -> ir.Expr | None:
        """`for each figure near self` names a description; `for each card in drawn` may name a set."""
        outer = {k: t for k, t in env.items() if not (t.base == k and t.form == "" and k in self.v.kinds)}
        reader = Reader(self.v, clause.items, {**env, **outer})
        got = [
            r
            for r in Reader(self.v, clause.items, outer).whole()
            if r.type.form in ("desc", "set") and r.type.base not in ("done",)
        ]
        got = got or [r for r in reader.whole() if r.type.form in ("desc", "set")]
        if not got:
            if str(clause).startswith("each "):
                self.fail("LB0221", clause.span, "'each' stands twice")
                return None
            self.problems.append(explain_value(clause, reader, T("thing", "desc")))
            return None
        return self.pick(clause, got)

    def _loop_name(self, got: ir.Expr) -> str:
        return got.kinds[0] if isinstance(got, ir.Noun) and len(got.kinds) == 1 else got.type.base

    def _number_range(
        self, clause: n.Clause, name: n.Name | None, env: Env
    ) -> tuple[str, ir.Expr, Env] | None:
        bounds = self._bounds(clause, 2, env)
        if bounds is None:
            return None
        bound = str(name) if name else "number"
        env[bound] = NUMBER
        return (
            bound,
            ir.Compare(type=T("number", "set"), span=clause.span, op="..", left=bounds[0], right=bounds[1]),
            env,
        )

    def _bounds(self, clause: n.Clause, start: int, env: Env) -> tuple[ir.Expr, ir.Expr] | None:
        items = clause.items
        at = next(
            (i for i, x in enumerate(items) if i > start and isinstance(x, n.Word) and x.value == "to"), None
        )
        if at is None:
            return None
        low = self.read(n.Clause(_span(items[start:at]), items[start:at]), env, NUMBER)
        high = (
            self.read(n.Clause(_span(items[at + 1 :]), items[at + 1 :]), env, NUMBER)
            if items[at + 1 :]
            else None
        )
        return (low, high) if low is not None and high is not None else None

    def _s_foreach(self, s: n.ForEach, env: Env) -> u.Stmt | None:
        found = self._among(s.clause, s.name, env)
        if found is None:
            return None
        name, among, inner = found
        mods = self._mods(s.mods, inner, allowed=("in_order", "only_if"))
        order = tuple(self._order(m.clause, env, among) for m in s.mods.items if isinstance(m, n.InOrder))
        body = self.block(s.body.stmts, inner)
        test = mods["only_if"][0] if mods["only_if"] else None
        return u.SEach(span=s.clause.span, name=name, among=among, order=order, test=test, body=body)

    def _order(self, clause: n.Clause | None, env: Env, among: ir.Expr) -> tuple[str, ir.Expr | None]:
        if clause is None:
            return "", None
        text = str(clause)
        for lead in ORDERS:
            count = len(lead.split())
            if not text.startswith(lead):
                continue
            rest = clause.items[count:]
            if lead in ("turn order", "random order") and not rest:
                return lead, None
            inner = n.Clause(_span(rest), rest) if rest else clause
            if lead.endswith("order of"):
                column = self.v.columns().get(str(inner))
                if column is None:  # any number worked out from `it`
                    return lead, self.read(inner, {**env, "it": among.type.one()}, NUMBER)
                return lead, ir.Ref(type=T("field"), span=inner.span, sort="field", name=column.name)
            if rest:
                want = T("seats") if lead == "order chosen by" else T("thing")
                return lead, self.read(inner, env, want)
        self.fail("LB0209", clause.span, f"no order '{text}'", "orders: " + ", ".join(ORDERS))
        return "", None

    def _s_ask(self, s: n.Ask, env: Env) -> u.Stmt | None:
        who = self.read(s.who, env, T("seats"))
        mods = self._mods(s.mods, env, allowed=("saying",))
        choices = self._choices(s.choices, env, ())
        if who is None:
            return None
        return u.SAsk(span=s.who.span, who=who, prompt=mods["saying"] or "what now?", choices=tuple(choices))

    def _choices(
        self, choices: Sequence[n.Choice | n.ChoiceEach], env: Env, loops: tuple[tuple[str, ir.Expr], ...]
    ) -> list[u.SChoice]:
        out: list[u.SChoice] = []
        for choice in choices:
            if isinstance(choice, n.ChoiceEach):
                found = self._among(choice.clause, choice.name, env)
                if found is not None:
                    out += self._choices(choice.choices, found[2], (*loops, (found[0], found[1])))
                continue
            label = read_text(self.v, choice.label, env)
            if label is None:
                self.fail("LB0203", choice.label.span, "what stands between braces cannot be read")
            test = (
                self.truth(choice.test, {**env, "nothing else": TRUTH}) if choice.test is not None else None
            )
            body = self.block(choice.body.stmts, dict(env))
            if label is not None:
                out.append(u.SChoice(span=choice.label.span, label=label, test=test, loops=loops, body=body))
        return out

    def _s_choose(self, s: n.Choose, env: Env) -> u.Stmt | None:
        mods = self._mods(s.mods, env, allowed=("by", "saying"))
        who = mods["by"][1] if isinstance(mods["by"], tuple) else mods["by"]
        text = str(s.clause)
        prompt = mods["saying"] or f"choose {text}"
        if text.startswith("a number from "):
            bounds = self._bounds(s.clause, 3, env)
            if bounds is None:
                self.fail(
                    "LB0203",
                    s.clause.span,
                    "'choose a number' needs both ends",
                    "write: choose a number from 0 to 5 called x",
                )
                return None
            name = str(s.name) if s.name else "number"
            env[name] = NUMBER
            return u.SChooseNumber(
                span=s.clause.span, name=name, low=bounds[0], high=bounds[1], who=who, prompt=prompt
            )
        words = text.split()
        if words[0] in ("a", "an") and " ".join(words[1:]) in self.v.enums:
            enum = " ".join(words[1:])
            name = str(s.name) if s.name else enum
            env[name] = T(enum)
            among = ir.AllWords(type=T(enum, "ask"), span=s.clause.span, words=self.v.enums[enum])
            return u.SChoose(span=s.clause.span, name=name, what=among, who=who, prompt=prompt)
        reader = Reader(self.v, s.clause.items, env)
        got = [r for r in reader.whole() if r.type.form in ("ask", "asks")]
        if not got:
            others = [r for r in reader.whole() if r.type.form in ("desc", "set", "each")]
            if others:
                self.fail(
                    "LB0214",
                    s.clause.span,
                    f"how many? '{text}'",
                    "say 'a', '2', 'up to 2' or 'any number of'",
                )
            else:
                self.problems.append(explain_value(s.clause, reader, T("thing", "ask")))
            return None
        one = self.pick(s.clause, got)
        if one is None:
            return None
        many = one.type.form == "asks"
        name = str(s.name) if s.name else self._loop_name(one)
        bound = T(
            one.type.base, "set" if many else "", maybe=not many
        )  # nothing, if there was none to choose
        if s.name is not None:
            self._bind(s.name, env, bound)
        env[name] = bound
        return u.SChoose(span=s.clause.span, name=name, what=one, who=who, prompt=prompt)

    def _s_may(self, s: n.May, env: Env) -> u.Stmt | None:
        who, they, inner = None, "", dict(env)
        if s.who is not None:
            reader = Reader(self.v, s.who.items, env)
            got = [r for r in reader.whole() if r.type.base in self.v.kinds or r.type.base == "seats"]
            if not got:
                self.problems.append(explain_value(s.who, reader, T("seats")))
                return None
            who = self.pick(s.who, got)
            if who is not None and who.type.base in self.v.kinds:
                they = who.type.base if isinstance(who, ir.Noun) else ""
                inner["they"] = who.type.one()
                if they:
                    inner[they] = who.type.one()
        call = self.phrase(s.clause, inner, ("verb",))
        name = ""
        if s.name is not None and isinstance(call, ir.Call):
            name = str(s.name)
            self._bind(s.name, inner, self._result_type(call))
        body = otherwise = None
        for rest in s.rest:
            if isinstance(rest, n.Body):
                body = self.block(rest.stmts, dict(inner))
            elif isinstance(rest, n.Otherwise):
                otherwise = self.block(rest.body.stmts, dict(inner))
        if call is None:
            return None
        return u.SMay(
            span=s.clause.span,
            who=who,
            call=call,
            name=name,
            they=they,
            body=body,
            otherwise=otherwise,
            prompt=str(s.clause),
        )

    def _s_mayline(self, s: n.MayLine, env: Env) -> u.Stmt | None:
        return self._s_may(n.May(s.span, s.who, s.clause, s.name, ()), env)

    def _s_repeattimes(self, s: n.RepeatTimes, env: Env) -> u.Stmt | None:
        items = s.clause.items
        last = items[-1]
        if not isinstance(last, n.Word) or last.value not in ("times", "time") or len(items) < 2:
            self.fail(
                "LB0221",
                s.clause.span,
                f"'repeat {s.clause}' does not say how often",
                "write: repeat 3 times, repeat while C or repeat until C",
            )
            return None
        count = self.read(n.Clause(_span(items[:-1]), items[:-1]), env, NUMBER)
        body = self.block(s.body.stmts, dict(env))
        return (
            u.SRepeat(span=s.clause.span, how="times", test=count, body=body) if count is not None else None
        )

    def _s_repeatwhile(self, s: n.RepeatWhile, env: Env) -> u.Stmt | None:
        test = self.truth(s.test, env)
        body = self.block(s.body.stmts, env)
        if isinstance(test, ir.Truth) and test.value and not _can_leave(body):
            self.fail("LB0307", s.test.span, "this loop cannot end", "'stop repeating' leaves a loop")
        return u.SRepeat(span=s.test.span, how="while", test=test, body=body) if test is not None else None

    def _s_repeatuntil(self, s: n.RepeatUntil, env: Env) -> u.Stmt | None:
        inner = dict(env)
        body = self.block(s.body.stmts, inner)
        test = self.truth(s.test, inner)
        return u.SRepeat(span=s.test.span, how="until", test=test, body=body) if test is not None else None

    def _s_repeatever(self, s: n.RepeatEver, env: Env) -> u.Stmt | None:
        body = self.block(s.body.stmts, dict(env))
        if not _can_leave(body):
            self.fail("LB0307", s.span, "this loop cannot end", "'stop repeating' leaves a loop")
        return u.SRepeat(span=s.span, how="ever", test=None, body=body)

    def _s_let(self, s: n.Let, env: Env) -> u.Stmt | None:
        value = self.read(s.clause, env)
        name = str(s.name)
        if value is None:
            env.setdefault(name, ANY)
            return None
        t = value.type
        if t.base == "nothing":
            t = replace(env.get(name, ANY), maybe=True)
        elif t.form in ("set", "asks", "desc"):
            t = T(t.base, "set")
        elif t.form in ("ask", "each"):
            t = T(t.base, maybe=t.form == "ask")
        self._bind(s.name, env, t)
        return u.SLet(span=s.clause.span, name=name, value=value)

    def _s_now(self, s: n.Now, env: Env) -> u.Stmt | None:
        items = s.clause.items
        for at, x in enumerate(items):
            if isinstance(x, n.Word) and x.value in ("is", "=") and 0 < at < len(items) - 1:
                place = self._place(n.Clause(_span(items[:at]), items[:at]), env)
                if place is None:
                    return None
                if not isinstance(place, ir.FieldOf | ir.GlobalValue | ir.Local):
                    self.fail(
                        "LB0211",
                        place.span,
                        f"'{n.text_of(items[:at])}' is not a place for a value",
                        "a field, a state or a slot",
                    )
                    return None
                want = replace(place.type, form="set" if place.type.form == "set" else "", maybe=True)
                value = self.read(n.Clause(_span(items[at + 1 :]), items[at + 1 :]), env, want)
                if isinstance(place, ir.FieldOf) and place.name == "name":
                    self.fail("LB0211", place.span, "a printed name cannot change")
                    return None
                return u.SNow(span=s.clause.span, place=place, value=value) if value is not None else None
        self.fail("LB0211", s.clause.span, "'now' needs a place and a value", "write: now PLACE is VALUE")
        return None

    def _place(self, clause: n.Clause, env: Env) -> ir.Expr | None:
        """Something that can be given a value: of several readings only such a one is meant."""
        got: list[ir.Expr] = [
            r
            for r in Reader(self.v, clause.items, env).whole()
            if isinstance(r, ir.FieldOf | ir.GlobalValue | ir.Local)
        ]
        return self.pick(clause, got) if got else self.read(clause, env)

    def _s_stop(self, s: n.Stop, env: Env) -> u.Stmt | None:
        if isinstance(s.what, n.Name):
            scope = self._scope(str(s.what), s.what.span)
            return u.SStop(span=s.span, what=scope) if scope else None
        return u.SStop(span=s.span, what="repeating" if s.what is not None else "")

    def _s_answer(self, s: n.Answer, env: Env) -> u.Stmt | None:
        if self._answer_type is None:
            self.fail(
                "LB0221",
                s.span,
                "'answer' has no place here",
                "only a query, or a verb with '->', gives an answer",
            )
            return None
        want = self._answer_type
        value = self.truth(s.clause, env) if want == TRUTH else self.read(s.clause, env, _loose(want))
        return u.SAnswer(span=s.clause.span, value=value) if value is not None else None

    def _s_offer(self, s: n.Offer, env: Env) -> u.Stmt | None:
        items = s.clause.items
        at = next((i for i, x in enumerate(items) if isinstance(x, n.Word) and x.value == "to"), None)
        if at is None or at == 0 or at == len(items) - 1:
            self.fail(
                "LB0212", s.clause.span, "'offer' needs a window and seats", "write: offer WINDOW to SEATS"
            )
            return None
        name = n.text_of(items[:at])
        info = self.v.windows.get(name)
        if info is None:
            self.fail("LB0218", _span(items[:at]), f"no window '{name}'", near(name, list(self.v.windows)))
            return None
        if info.amid is not None and self._record is not info.amid:
            self.fail(
                "LB0221",
                s.clause.span,
                f"'{name}' opens inside '{info.amid.text}'",
                "offer it in the body of that verb",
            )
        who = self.read(n.Clause(_span(items[at + 1 :]), items[at + 1 :]), env, T("seats"))
        mods = self._mods(s.mods, env, allowed=("on_pass",))
        passes = [m.word.value for m in s.mods.items if isinstance(m, n.OnPass)]
        del mods
        if who is None:
            return None
        return u.SOffer(
            span=s.clause.span,
            window=info,
            who=who,
            must="without passing" in passes,
            repeated="until passed" in passes,
        )

    def _s_prevent(self, s: n.Prevent, env: Env) -> u.Stmt | None:
        if self._record is None:
            self.fail(
                "LB0221",
                s.span,
                "nothing is about to happen here",
                "'prevent it' belongs in a before rule or an option of a window",
            )
        return u.SPrevent(span=s.span)

    def _s_secretly(self, s: n.Secretly, env: Env) -> u.Stmt | None:
        found = self._among(s.clause, s.name, env)
        if found is None:
            return None
        name, among, inner = found
        inner["you"] = among.type.one()
        return u.SSecretly(span=s.clause.span, name=name, among=among, body=self.block(s.body.stmts, inner))

    def _s_scope(self, s: n.Scope, env: Env) -> u.Stmt | None:
        name, clause = scope_name(s)
        last = s.clause.items[-1]
        if isinstance(last, n.Word) and last.value == "of":
            self.fail("LB0221", last.span, f"the {s.word.value} of whom?", f"write: {s.word.value} of X")
            return None
        subject = self.read(clause, env, T("thing")) if clause is not None else None
        inner = dict(env)
        if subject is not None and subject.type.base in self.v.kinds:
            inner["you"] = subject.type.one()
        return u.SScope(
            span=s.clause.span,
            word=s.word.value,
            scope=name,
            subject=subject,
            body=self.block(s.body.stmts, inner),
        )

    def _s_lasting(self, s: n.Lasting, env: Env) -> u.Stmt | None:
        until = self._scope_ref(s.until, env)
        rules: list[u.RuleUnit] = []
        kind = env["self"].base if "self" in env else ""
        for stmt in s.body.stmts:
            if isinstance(stmt, n.Trigger | n.Whenever | n.Forbid):
                rule = self._rule(stmt, ("lasting", 0), kind, dict(env))
                rules += [rule] if rule is not None else []
            elif isinstance(stmt, n.Line):
                rules += self._modifier_rule(stmt.clause, ("lasting", 0), kind, dict(env), (), ())
            else:
                self.fail("LB0221", stmt.span, "only rules and modifiers can last")
        for rule in rules:
            rule.where = ("lasting", rule.number)
            found = {x for part in (rule.pattern, rule.test, rule.guard, rule.body) for x in locals_in(part)}
            rule.captured = (*sorted(found & set(env) - {"self", "you"}), "you")
        return u.SLasting(span=s.until.span, until=until, rules=tuple(rules)) if until is not None else None

    def _s_passive(self, s: n.Passive, env: Env) -> u.Stmt | None:
        self.fail(
            "LB0221",
            s.span,
            "a passive text stands on a card or kind",
            "in an effect, write: X gets +1 FIELD until end of turn",
        )
        return None

    def _s_trigger(self, s: n.Trigger, env: Env) -> u.Stmt | None:
        self.fail(
            "LB0221", s.span, "a rule inside an effect needs a duration", "write it in an 'until ...:' block"
        )
        return None

    _s_whenever = _s_forbid = _s_trigger


# ---------------------------------------------------------------- helpers
def _span(items: Sequence[n.Item]) -> Span:
    return items[0].span.to(items[-1].span)


def _moved(clause: n.Clause, span: Span) -> n.Clause:
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


def _loose(t: T) -> T:
    """What a query may be defined by: a set may be given as a description in the plural."""
    return replace(t, maybe=True)


def _mod_name(mod: n.Mod) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in type(mod).__name__).lstrip("_")


def _same(who: ir.Expr, env: Env) -> ir.Expr:
    you = ir.Local(type=env["you"], span=who.span, name="you")
    return ir.Compare(type=TRUTH, span=who.span, op="=", left=you, right=who)


def _can_leave(body: u.Body) -> bool:
    """Is there anything in a loop that may end it: a stop, an answer, or a verb (which may end the game)?"""
    for s in body:
        match s:
            case u.SStop() | u.SAnswer() | u.SCall() | u.SOffer() | u.SMay():
                return True
            case u.SIf(tests=tests, otherwise=otherwise):
                if any(_can_leave(b) for _, b in tests) or (otherwise and _can_leave(otherwise)):
                    return True
            case u.SEach(body=inner) | u.SRepeat(body=inner) | u.SScope(body=inner) | u.SSecretly(body=inner):
                if _can_leave(inner):
                    return True
            case u.SAsk(choices=choices):
                if any(_can_leave(c.body) for c in choices):
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
