"""Resolving rules: triggers, options, modifiers, scopes, and the comma parts behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import ir
from . import nodes as n
from . import units as u
from .explain import explain_value, near
from .reader import Env, Reader, read_text
from .resolve_clauses import Clauses
from .source import Span
from .trees import (
    all_mods,
    mod_name,
    same_as_you,
    substitute,
)
from .types import T
from .vocabulary import Phrase


class RuleReader(Clauses):
    """Rules that watch, wherever they stand."""

    def block(self, stmts: Sequence[n.Stmt], env: Env) -> u.Body:
        """Statements are read by the class that builds on this one."""
        raise NotImplementedError

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
            word = mod_name(mod)
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
                    self._note(out["saying"])
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
        self._note(label)
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
                    *([same_as_you(mods["by"], env)] if isinstance(mods["by"], ir.Expr) else []),
                ),
                choosing=tuple(mods["choosing"]),
                costs=tuple(mods["costs"]),
                once=mods["once"],
                body=body,
                span=decl.label.span,
            )
        )

    def _phrase_of(self, decl: n.Phrase) -> Phrase | None:
        return next((p for p in self.v.phrases if p.decl is decl), None)

    def _slot_env(self, phrase: Phrase) -> Env:
        env = self.base_env()
        for name, t in phrase.slots.items():
            env[name] = T(t.base, "set", t.maybe) if t.form == "desc" else t
        return env

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
