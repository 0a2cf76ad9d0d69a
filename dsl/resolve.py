"""Second pass: read every clause of every declaration, keeping the names in scope, and collect problems.

Nothing is executed. The result (`Units`) is what the emitter works from. The work is split by subject:
resolve_clauses, resolve_rules, resolve_statements, resolve_cards; declarations are here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from . import ir
from . import nodes as n
from . import units as u
from .collect import (
    find_verb,
)
from .resolve_cards import CardReader
from .trees import (
    loose,
    subject_slot,
)
from .types import TRUTH, T
from .vocabulary import Phrase

AGAIN = " again"  # behind the name of a stage


class Resolver(CardReader):
    """One resolver reads all packs of a game."""

    # ------------------------------------------------------------ declarations
    def resolve(self, decls: Iterable[n.Decl]) -> u.Units:
        every = list(decls)
        for decl in every:  # who "you" is decides the types of everything else
            if isinstance(decl, n.Kind) and str(decl.name) in self.v.kinds:
                for member in decl.members:
                    if isinstance(member, n.Voice) and member.word.value == "you are":
                        self._voice(str(decl.name), member.word, member.clause, self.base_env(str(decl.name)))
        for decl in every:
            if isinstance(decl, n.FileBlock):
                self._file_block(decl)
        for decl in every:
            self._declaration(decl)
        self._unused_file_lines()
        return self.units

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

    def _check_told(self, text: n.Word, told: str, phrase: Phrase) -> None:
        """An event keeps the slots of its act and nothing else, so it can be told of these alone."""
        for name in re.findall(r"\{([^{}]*)\}", told):
            if name not in phrase.slots:
                known = ", ".join(f"{{{slot}}}" for slot in phrase.slots) or "none"
                self.fail(
                    "LB0203",
                    text.span,
                    f"'{name}' is no slot of this verb, and what is told can name only slots",
                    f"the slots are {known}; for anything else write a verb that has it as a slot",
                )

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
        needs, stages, again, told, stmts = [], list[str](), list[str](), "", []
        for line in decl.lines:
            match line:
                case n.Needs(clause=clause):
                    if (test := self.truth(clause, env)) is not None:
                        needs.append(test)
                case n.Stages(names=names):
                    stages += [str(s).removesuffix(AGAIN) for s in names]
                    again += [str(s).removesuffix(AGAIN) for s in names if str(s).endswith(AGAIN)]
                case n.Told(text=text):
                    told = text.value.strip('"')
                    self._check_told(text, told, phrase)
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
                again=tuple(again),
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
        if not isinstance(decl, n.Relation):
            self._query_traits(decl, unit)
        if isinstance(decl, n.Value):
            value = self.read(decl.default, env, phrase.gives) if decl.default is not None else None
        else:
            for part in decl.body:
                if isinstance(part, n.Clause):
                    value = (
                        self.truth(part, env)
                        if phrase.gives == TRUTH
                        else self.read(part, env, loose(phrase.gives))
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

    def _query_traits(self, decl: n.Query | n.Value, unit: u.QueryUnit) -> None:
        is_value = isinstance(decl, n.Value)
        for trait in decl.traits.clauses:
            if str(trait) == "seen by all":
                unit.seen = True
            elif is_value and (m := re.fullmatch(r"at (least|most) (\d+)", str(trait))):
                setattr(unit, "low" if m[1] == "least" else "high", int(m[2]))
            else:
                self.fail(
                    "LB0221",
                    trait.span,
                    f"'{trait}' says nothing about a {'value' if is_value else 'query'}",
                    "known: at least 0, at most 5, seen by all" if is_value else "known: seen by all",
                )

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

    def _state(self, name: str, default: n.Clause | None, traits: Sequence[n.Clause]) -> None:
        t, kept = self.v.values[name], ""
        for trait in traits:
            if m := re.fullmatch(r"kept per (.+)", str(trait)):
                kept = self._scope(m[1], trait.span)
            elif str(trait) == "untold":
                self.units.untold.add(name)
            else:
                self.fail(
                    "LB0221",
                    trait.span,
                    f"'{trait}' says nothing about a state",
                    "known: kept per SCOPE, untold",
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
            elif m := re.fullmatch(r"order is chosen for (.+)", text):
                verb = self._scope(m[1], line.clauses[0].span)
                self.units.chosen_orders = (*self.units.chosen_orders, verb)
