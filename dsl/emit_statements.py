"""Statements to Python: calls with their questions and loops, menus, changes, scopes, durations."""

from __future__ import annotations

import ast
from dataclasses import replace

from longbox.kernel.state import attribute

from . import ir
from . import pyast as py
from . import units as u
from .analysis import walk
from .emit_core import Core, _binds_nothing, _names
from .emit_expr import Expressions, Scope, _again, local, variable
from .source import Span
from .types import T
from .vocabulary import Phrase


class Statements(Core):
    """Emits the bodies of everything."""

    def body(self, stmts: u.Body, sc: Scope, span: Span) -> list[ast.stmt]:
        """Statements that stand in the file of `span`."""
        self._file = span.file if span.file in self.functions else self.files[0]
        return self.block(stmts, sc)

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
            case u.SAnswer(value=value, several=several):
                if value.type.base == "truth" or value.type.form == "some":
                    return [ast.Return(ex.truth(value, sc))]
                return [
                    ast.Return(
                        ex.as_list(value, sc)
                        if several or value.type.form in ("set", "desc", "asks")
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
                self.choose_prompt(s, sc),
                ex.things(what, sc),
                least,
                most,
            )
        return py.call(
            "k_choose_thing",
            *self.lead(s.span),
            self.who(s.who, sc),
            self.choose_prompt(s, sc),
            ex.things(what, sc),
        )

    def choose_prompt(self, s: u.SChoose, sc: Scope) -> ast.expr:
        """As the text says, or the words of the choice themselves."""
        said = isinstance(s.prompt, ir.Text)
        spoken = None if said else self.expressions.spoken(s.span, s.what, sc, lead="choose ")
        return spoken or self.prompt(s.prompt, sc)

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
        made = self._slots(s, call, [*plain, *(a for a in call.args if a not in plain)], {}, sc)
        if s.name and isinstance(made[-1], ast.If | ast.For):  # it may not happen: then its result is nothing
            return [py.assign(variable(s.name), py.const(None)), *made]
        return made

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
            if (
                s.order is None
                and not s.name
                and f"verb {call.pattern.phrase.number}" in self.units.chosen_orders
            ):
                return self._each_in_order(s.span, things, x, inner, sc)
            if s.order is not None:
                things = self._ordered_by(s.span, *s.order, things, sc)
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
            ask = py.call("k_choose_thing", *self.lead(arg.span), ex.asked(sc), ex.prompt(arg, sc), among)
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

    def _each_in_order(
        self, span: Span, things: ast.expr, x: str, inner: list[ast.stmt], sc: Scope
    ) -> list[ast.stmt]:
        """What is done to each is a function, so that its order can be tried out."""
        f, cause = self.expressions._fresh(sc), self.expressions._fresh(sc)
        return [
            py.assign(cause, py.name("c")),
            py.function(f, ["s", x], [py.assign("c", py.name(cause)), *inner]),
            py.expression(
                py.call(
                    "k_each_in_order",
                    *self.lead(span),
                    self.expressions.asked(sc),
                    py.call("k_spend", py.name("s"), py.call("k_list", things)),
                    py.name(f),
                )
            ),
        ]

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
            text_kind="",
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
            things = self._ordered_by(s.span, how, by, things, sc)
        return things if s.order else py.call("k_list", things)

    def _ordered_by(self, span: Span, how: str, by: ir.Expr | None, things: ast.expr, sc: Scope) -> ast.expr:
        ex = self.expressions
        match how:
            case "random order":
                return py.call("k_random_order", *self.lead(span), things)
            case "turn order":
                return py.call("k_in_turn_order", py.name("s"), things, py.const(None))
            case "turn order from":
                return (
                    py.call("k_in_turn_order", py.name("s"), things, ex.emit(by, sc))
                    if by is not None
                    else things
                )
            case "order chosen by":
                return py.call("k_chosen_order", *self.lead(span), things, self.who(by, sc))
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
        out: list[ast.stmt] = [py.assign(menu, py.list_of([]))]
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
                py.expression(
                    py.method(py.name(menu), "append", py.tuple_of([ex.text(choice.label, inner), entry]))
                )
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
                    py.const(tuple(self._named_in_label(choice) for _, choice in branches)),
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
    def _named_in_label(choice: u.SChoice) -> int:
        """Which of its loops goes over things that the label names, counted from 1; 0 if none does."""
        named = {p.name for p in choice.label.parts if isinstance(p, ir.Local)}
        for at, (name, among) in enumerate(choice.loops, 1):
            if name in named and isinstance(among, ir.Noun):
                return at
        return 0

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
        doer = "they" if s.who is not None and s.who.type.base in self.v.kinds else ""
        tests = [
            *self.can_do(s.call, inner, doer),
            py.call(
                "k_choose_yes",
                *self.lead(s.span),
                asked,
                ex.spoken(s.span, s.call, inner) or py.const(s.prompt),
            ),
        ]
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
            self.prompt(s.prompt, sc),
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
                    ),
                    *self.whenever_field(f"the {name}"),
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

    def has_needs(self, phrase: Phrase) -> bool:
        unit = self.verbs.get(phrase.number)
        return unit is not None and bool(
            unit.needs or any(r.timing == "forbid" for r in self.analysis.watchers.get(phrase.number, ()))
        )

    def can_do(self, call: ir.Expr, sc: Scope, doer: str = "") -> list[ast.expr]:
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
                speaker = sc.bind("you", sc.names[doer]) if doer else sc
                tests.append(
                    py.call(
                        f"n{phrase.number}",
                        py.name("s"),
                        py.name("c"),
                        ex.me(sc),
                        ex.you(speaker),
                        *self._ordered(phrase, given, speaker),
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
                made = self.expressions.argument(defaults[k], phrase.slots[k], sc)
                out.append(self.expressions._relined(made, defaults[k].span.file))
            else:
                out.append(py.const(None))
        return out

    def _guarded(self, scope: str, body: list[ast.stmt]) -> ast.stmt:
        """Statements that `stop SCOPE` may leave."""
        other = ast.If(
            py.compare(py.attr(py.name("stopped"), "scope"), ast.NotEq(), py.const(scope)),
            [ast.Raise(None, None)],
            [],
        )
        return ast.Try(body, [ast.ExceptHandler(py.name("k_StopScope"), "stopped", [other])], [], [])
