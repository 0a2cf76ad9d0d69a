"""Resolving statements: each keeps the names in scope and reads its clauses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from . import ir
from . import nodes as n
from . import units as u
from .collect import (
    scope_name,
)
from .explain import explain_value, near
from .reader import Env, Reader, read_text
from .resolve_rules import RuleReader
from .trees import (
    can_leave,
    locals_in,
    loose,
    span_over,
)
from .types import ANY, NUMBER, TRUTH, T, article

ORDERS = (
    "turn order from",
    "turn order",
    "random order",
    "order chosen by",
    "descending order of",
    "order of",
)


class StatementReader(RuleReader):
    """Bodies of verbs, abilities, rules and sections."""

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
        order = None
        if s.order is not None:
            each = next((a for _, a in got.args if a.type.form == "each"), None)
            if each is None:
                self.fail(
                    "LB0209", s.order.span, "nothing here is done in an order", "an order belongs to 'each X'"
                )
            else:
                order = self._order(s.order.clause, env, each)
        return u.SCall(span=s.clause.span, call=got, name=name, until=until, order=order)

    def _result_type(self, call: ir.Call) -> T:
        gives = call.pattern.phrase.gives
        if gives.base not in ("done", "thing"):
            stops = gives.base == "number" and not call.pattern.phrase.is_primitive
            return T(gives.base, gives.form, gives.maybe or stops)  # what does not happen gives nothing
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
                n.Clause(span_over(clause.items[at + 1 :]), clause.items[at + 1 :]), env, T(m[1], "set")
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
        low = self.read(n.Clause(span_over(items[start:at]), items[start:at]), env, NUMBER)
        high = (
            self.read(n.Clause(span_over(items[at + 1 :]), items[at + 1 :]), env, NUMBER)
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
            inner = n.Clause(span_over(rest), rest) if rest else clause
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
            self._note(label)
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
        count = self.read(n.Clause(span_over(items[:-1]), items[:-1]), env, NUMBER)
        body = self.block(s.body.stmts, dict(env))
        return (
            u.SRepeat(span=s.clause.span, how="times", test=count, body=body) if count is not None else None
        )

    def _s_repeatwhile(self, s: n.RepeatWhile, env: Env) -> u.Stmt | None:
        test = self.truth(s.test, env)
        body = self.block(s.body.stmts, env)
        if isinstance(test, ir.Truth) and test.value and not can_leave(body):
            self.fail("LB0307", s.test.span, "this loop cannot end", "'stop repeating' leaves a loop")
        return u.SRepeat(span=s.test.span, how="while", test=test, body=body) if test is not None else None

    def _s_repeatuntil(self, s: n.RepeatUntil, env: Env) -> u.Stmt | None:
        inner = dict(env)
        body = self.block(s.body.stmts, inner)
        test = self.truth(s.test, inner)
        return u.SRepeat(span=s.test.span, how="until", test=test, body=body) if test is not None else None

    def _s_repeatever(self, s: n.RepeatEver, env: Env) -> u.Stmt | None:
        body = self.block(s.body.stmts, dict(env))
        if not can_leave(body):
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
                place = self._place(n.Clause(span_over(items[:at]), items[:at]), env)
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
                value = self.read(n.Clause(span_over(items[at + 1 :]), items[at + 1 :]), env, want)
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
        value = self.truth(s.clause, env) if want == TRUTH else self.read(s.clause, env, loose(want))
        several = want.form == "set"
        return u.SAnswer(span=s.clause.span, value=value, several=several) if value is not None else None

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
            self.fail(
                "LB0218", span_over(items[:at]), f"no window '{name}'", near(name, list(self.v.windows))
            )
            return None
        if info.amid is not None and self._record is not info.amid:
            self.fail(
                "LB0221",
                s.clause.span,
                f"'{name}' opens inside '{info.amid.text}'",
                "offer it in the body of that verb",
            )
        who = self.read(n.Clause(span_over(items[at + 1 :]), items[at + 1 :]), env, T("seats"))
        mods = self._mods(s.mods, env, allowed=("on_pass", "saying"))
        passes = [m.word.value for m in s.mods.items if isinstance(m, n.OnPass)]
        if who is None:
            return None
        return u.SOffer(
            span=s.clause.span,
            window=info,
            who=who,
            must="without passing" in passes,
            repeated="until passed" in passes,
            prompt=mods["saying"] or name,
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
