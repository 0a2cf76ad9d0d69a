"""Resolving kinds and cards: printed values, abilities, faces, tables of cards."""

from __future__ import annotations

import re
from dataclasses import replace

from lark import UnexpectedInput

from . import ir
from . import nodes as n
from . import units as u
from .collect import (
    DESIGNS_MAX,
    combinations,
    filled,
    loop_words,
)
from .explain import near
from .parse import parse_clause
from .reader import Env
from .resolve_statements import StatementReader
from .source import Span
from .trees import (
    all_mods,
    locals_in,
    moved_to,
    span_over,
)
from .types import TRUTH, T, article


class CardReader(StatementReader):
    """What is printed, and the text on it."""

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

    def _file_block(self, decl: n.FileBlock) -> None:
        """Lines are values, as on a card; `only with SETTING VALUE` says when the cards and boards are in the box."""
        file = decl.span.file
        for line in decl.lines:
            if str(line.clauses[0]).startswith("only with "):
                self._only_with(file, line.clauses[0])
            else:
                self._file_lines.setdefault(file, {})[line] = False

    def _only_with(self, file: str, clause: n.Clause) -> None:
        said = str(clause).removeprefix("only with ")
        for name in sorted(self.v.settings, key=len, reverse=True):
            if said == name or said.startswith(name + " "):
                value = said.removeprefix(name).strip().strip('"')
                t = self.v.values[name]
                if (t.base == "truth") != (value == ""):
                    break
                self.units.only_with[file] = (name, value == "" or (int(value) if value.isdigit() else value))
                return
        self.fail(
            "LB0202",
            clause.span,
            f"'{said}' is no setting of the game with its value",
            "write: only with SETTING VALUE; the settings are: " + (", ".join(self.v.settings) or "none"),
        )

    def _print_file_lines(self, design: u.DesignUnit, env: Env) -> None:
        """What the file says of all its cards holds unless the card says it itself."""
        printed = {*design.fields, *(name for face in design.faces for name in face.fields)}
        lines = self._file_lines.get(design.span.file, {})
        for line in lines:
            words = [x.value for x in line.clauses[0].items if isinstance(x, n.Word)]
            known = self.v.fields_of(design.kind)
            name = next((w for i in range(len(words), 0, -1) if (w := " ".join(words[:i])) in known), None)
            if name is not None:
                lines[line] = True
                if name not in printed:
                    self._attribute(design, line, env, None)

    def _unused_file_lines(self) -> None:
        for lines in self._file_lines.values():
            for line, used in lines.items():
                if not used:
                    self.fail(
                        "LB0210",
                        line.span,
                        f"no card of this file has '{str(line.clauses[0]).split()[0]}'",
                        "a line here is a value that a kind of card in this file has, or: only with SETTING VALUE",
                    )

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
        self._print_file_lines(made, env)

    def _table_cell(self, made: u.DesignUnit, column: n.Name, cell: str, span: Span, env: Env) -> None:
        try:
            clauses = [parse_clause(span.file, part) for part in cell.split(",")]
        except UnexpectedInput:
            self.fail("LB0101", span, f"'{cell}' cannot be read as a value of '{column}'")
            return
        here = [moved_to(c, span) for c in clauses]
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
        self._print_file_lines(design, bound)

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
            rest = [n.Clause(span_over(items[count:]), items[count:])] if items[count:] else []
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
        single = self.read(clauses[0], env, replace(want, maybe=True))
        if single is not None and (wrong := set(self._words_of_card) & set(locals_in(single))):
            self.fail(
                "LB0222",
                clauses[0].span,
                f"'{clauses[0]}' cannot be worked out from '{min(wrong)}'",
                f"print the word itself, as a field of type {min(wrong)}, and let a rule look at that",
            )
            return None
        return single

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
        needs = self._mods(mods, env, allowed=("only_if",))["only_if"]
        body = self.block(line.body.stmts, env)
        design.abilities.append(
            u.AbilityUnit(
                name=name,
                label=label,
                face=face.name if face else "",
                needs=tuple(needs),
                body=body,
                self_kind=design.kind,
                span=line.clause.span,
            )
        )
