"""Expressions to Python.

Every emitted function has `s` (the table), `c` (the causing event), `me` (whose text this is) and `you` among its
parameters. A name of the text is looked up in the `Scope`, which says what Python expression stands for it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longbox.kernel.state import attribute

from . import ir
from . import pyast as py
from .analysis import walk
from .source import Span
from .types import T
from .vocabulary import Phrase, SlotPart

if TYPE_CHECKING:
    from .emit_core import Core

Maker = Callable[[], ast.expr]
INLINE_DEPTH = 4
BUILT_IN = {"owner": "owner", "name": "name"}
_ARTICLE = re.compile(r"^(a|an|the) ")


@dataclass
class Scope:
    """Names of a text, and what stands for each in Python."""

    names: dict[str, Maker]
    text_kind: str = ""  # the kind whose text this is
    depth: int = 0  # how many loops inside one expression
    inlined: int = 0
    asker: ir.Expr | None = None
    seen: frozenset[int] = field(default_factory=frozenset)
    called: dict[str, Maker] = field(default_factory=dict)  # what chosen things are called in an answer

    def bind(self, name: str, maker: Maker) -> Scope:
        return replace(self, names={**self.names, name: maker})


class _Anything(dict[str, Maker]):
    """Names for a question about an expression that will not be emitted."""

    def __missing__(self, key: str) -> Maker:
        return local("x")

    def __contains__(self, key: object) -> bool:
        return True


def local(identifier: str) -> Maker:
    return lambda: py.name(identifier)


def variable(name: str) -> str:
    return attribute("l", name)


class Expressions:
    """Emits expressions. `em` knows the whole program."""

    def __init__(self, em: Core) -> None:
        self.em = em
        self.v = em.v

    def emit(self, e: ir.Expr, sc: Scope) -> ast.expr:
        made = self._emit(e, sc)
        return py.at_line(made, e.span.line)  # type: ignore[no-any-return]

    def _emit(self, e: ir.Expr, sc: Scope) -> ast.expr:
        match e:
            case ir.Number(value=value) | ir.Truth(value=value) | ir.WordValue(value=value):
                return py.const(value)
            case ir.Nothing() | ir.Group():
                return py.const(None) if not e.type.form else py.list_of([])
            case ir.Text():
                return self.text(e, sc)
            case ir.AllWords(words=words):
                return py.const(words)
            case ir.Local(name=name):
                return sc.names[name]()
            case ir.GlobalValue(name=name):
                return py.attr(py.name("s"), attribute("g", name))
            case ir.GlobalZone(name=name):
                return py.const(self.em.zone_ids[name])
            case ir.Ref(name=name):
                return py.const(name)
            case ir.CardRef(name=name):
                return py.call("k_named", py.name("s"), py.const(name), py.const(e.type.base))
            case ir.FieldOf():
                return self.field(e, sc)
            case ir.ZoneOf(owner=owner, name=name) if owner.type.maybe:
                return py.call("k_get", py.attr(py.name("s"), attribute("z", name)), self.emit(owner, sc))
            case ir.Running(scope=scope, subject=None):
                count = py.method(py.attr(py.name("s"), "open"), "get", py.const(scope), py.const(0))
                return py.compare(count, ast.Gt(), py.const(0))
            case ir.Running(scope=scope, subject=subject) if subject is not None:
                return py.call("k_running", py.name("s"), py.const(scope), self.emit(subject, sc))
            case ir.ZoneOf(owner=owner, name=name):
                return py.sub(py.attr(py.name("s"), attribute("z", name)), self.emit(owner, sc))
            case ir.Noun():
                return self.noun(e, sc)
            case ir.Call():
                return self.call(e, sc)
            case ir.Compare():
                return self.compare(e, sc)
            case ir.Is():
                return self.is_(e, sc)
            case ir.Logic(op=op, left=left, right=right):
                parts = [self.truth(left, sc), self.truth(right, sc)]
                return py.both(parts) if op == "and" else py.either(parts)
            case ir.Not(inner=inner):
                return py.negate(self.truth(inner, sc))
            case ir.Arith():
                return self.arithmetic(e, sc)
            case ir.Negative(inner=inner):
                return ast.UnaryOp(ast.USub(), self.emit(inner, sc))
            case ir.Both(left=left, right=right):
                one, two = (
                    py.call("k_list", self.as_list(x, sc)) for x in (left, right)
                )  # a kept set is a tuple
                return ast.BinOp(one, ast.Add(), two)
            case ir.Without(left=left, right=right):
                x = self._fresh(sc)
                test = py.compare(py.name(x), ast.NotIn(), self.as_list(right, sc))
                return py.comprehension(py.name(x), x, self.as_list(left, sc), [test])
            case ir.RandomOf(among=among):
                return py.call("k_pick", py.name("s"), py.name("c"), self.site(e), self.things(among, sc))
        raise AssertionError(e)

    def you(self, sc: Scope) -> ast.expr:
        return sc.names["you"]() if "you" in sc.names else py.name("you")

    def me(self, sc: Scope) -> ast.expr:
        return sc.names["self"]() if "self" in sc.names else py.name("me")

    def _voices(self, sc: Scope) -> dict[str, Maker]:
        return {k: v for k, v in sc.names.items() if k in ("you", "self")}

    def site(self, e: ir.Expr) -> ast.expr:
        return py.const(self.em.site(e.span))

    # ------------------------------------------------------------ conditions
    def truth(self, e: ir.Expr, sc: Scope) -> ast.expr:
        """A condition; `any X` is whether there is one."""
        if isinstance(e, ir.Noun) and e.type.form == "some":
            found = self.things(e, sc)
            return py.at_line(py.negate(found) if e.det == "no" else py.negate(py.negate(found)), e.span.line)  # type: ignore[no-any-return]
        return self.emit(e, sc)

    def compare(self, e: ir.Compare, sc: Scope) -> ast.expr:
        left, right = self.emit(e.left, sc), self.emit(e.right, sc)
        if e.op == "..":
            return py.call("k_range", left, ast.BinOp(right, ast.Add(), py.const(1)))
        if e.op in ("=", "!="):
            if isinstance(e.right, ir.Nothing) or isinstance(e.left, ir.Nothing):
                return py.compare(left, ast.Is() if e.op == "=" else ast.IsNot(), right)
            return py.compare(left, ast.Eq() if e.op == "=" else ast.NotEq(), right)
        ops = {"<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE}
        if self.may_be_nothing(e.left) or self.may_be_nothing(e.right):
            return py.call("k_ordered", py.const(e.op), left, right)
        return py.compare(left, ops[e.op](), right)

    def may_be_nothing(self, e: ir.Expr) -> bool:
        if isinstance(e, ir.FieldOf):
            return e.name in self.em.nullable or e.owner.type.maybe
        if isinstance(e, ir.Arith):
            return self.may_be_nothing(e.left) or self.may_be_nothing(e.right)
        if isinstance(e, ir.Call) and self._sure(e.pattern.phrase, e.args, Scope(names=_Anything())):
            return True
        return e.type.maybe or e.type.base in ("any", "nothing")

    def is_(self, e: ir.Is, sc: Scope) -> ast.expr:
        subject = e.subject
        if (
            isinstance(subject, ir.Noun)
            and subject.type.form == "some"
            and isinstance(e.test, ir.Rel)
            and not e.negated
        ):
            return self.truth(
                replace(subject, filters=(*subject.filters, e.test)), sc
            )  # `no card is in hand`: look there
        if isinstance(subject, ir.Noun) and subject.type.form in ("some", "set", "each"):
            x = self._fresh(sc)
            inner = replace(sc, depth=sc.depth + 1)
            test = self.test(e.test, lambda: py.name(x), subject.type, inner)
            if subject.type.form != "some":  # all of them are
                wrong = test if e.negated else py.negate(test)
                return py.negate(py.comprehension(py.const(1), x, self.things(subject, sc), [wrong]))
            found = self.things(subject, sc, x, [py.negate(test) if e.negated else test])
            return py.negate(found) if subject.det == "no" else py.negate(py.negate(found))
        value = self.emit(subject, sc)
        if self._simple(value):
            made = self.test(e.test, lambda: self.emit(subject, sc), subject.type, sc)
        else:
            x = self._fresh(sc)
            made = py.call(py.lambda_of([x], self.test(e.test, lambda: py.name(x), subject.type, sc)), value)
        return py.negate(made) if e.negated else made

    def test(self, test: ir.Expr, value: Maker, t: T, sc: Scope) -> ast.expr:
        """Whether something is what follows `is`."""
        match test:
            case ir.Nothing():
                return py.compare(value(), ast.Is(), py.const(None))
            case ir.Truth(value=wanted):
                return value() if wanted else py.negate(value())
            case ir.Adj() | ir.Rel():
                said = (
                    self.adjective(test, value, sc)
                    if isinstance(test, ir.Adj)
                    else self.relation(test, value, sc)
                )
                return py.both([py.compare(value(), ast.IsNot(), py.const(None)), said]) if t.maybe else said
            case ir.Noun() if test.type.form in ("desc", "ask", "some"):
                inner = replace(sc, depth=sc.depth + 1)
                tests = [
                    *self.kind_tests(test.kinds, value, sc, t.base),
                    *self.filter_tests(test, value, inner),
                ]
                sure = py.compare(value(), ast.IsNot(), py.const(None))
                return py.both([sure, *tests])
        other = self.emit(test, sc)
        if test.type.form == "set" and t.form != "set":
            return py.compare(value(), ast.In(), other)
        return py.compare(value(), ast.Eq(), other)

    def adjective(self, a: ir.Adj, value: Maker, sc: Scope) -> ast.expr:
        if a.flag:
            return self.read_field(a.name, value())
        if a.fields:
            tests: list[ast.expr] = []
            for name in a.fields:
                column = self.read_field(name, value())
                many = self.v.columns()[name].type.form == "set"
                tests.append(
                    py.compare(py.const(a.name), ast.In(), ast.BoolOp(ast.Or(), [column, py.const(())]))
                    if many
                    else py.compare(column, ast.Eq(), py.const(a.name))
                )
            return py.either(tests)
        made = [self._one_adjective(a, kind, value, sc) for kind in a.kinds]
        if len(made) == 1:
            return made[0]
        cases = [
            py.both([*self.kind_tests((kind,), value, sc, ""), one])
            for kind, one in zip(a.kinds, made, strict=True)
        ]
        return py.either(cases)

    def _one_adjective(self, a: ir.Adj, kind: str, value: Maker, sc: Scope) -> ast.expr:
        info = next(i for i in self.v.adjectives[a.name] if i.kind == kind)
        if info.decl.mark is not None and info.decl.mark.value == "primitive":
            return self.em.primitives.adjective(a.name, value())
        unit = self.em.adjectives.get(info.number)
        if unit is None:
            return py.const(False)
        if unit.test is not None and self._can_inline(unit.test, [value()], sc):
            names = {**self._voices(sc), "it": value, kind: value}
            inner = replace(sc, names=names, text_kind="", inlined=sc.inlined + 1)
            return self._relined(self.truth(unit.test, inner), unit.span.file)
        return py.call(f"a{info.number}", py.name("s"), py.name("c"), self.me(sc), self.you(sc), value())

    def relation(self, r: ir.Rel, value: Maker, sc: Scope) -> ast.expr:
        phrase = r.pattern.phrase
        if (
            loose := _loose(r)
        ) is not None:  # `in a panel` holds if there is such a panel: a test asks nobody
            name, noun = loose
            x = self._fresh(sc)
            one = ir.Local(type=noun.type.one(), span=noun.span, name=x)
            inner = replace(sc, depth=sc.depth + 1).bind(x, local(x))
            bound = replace(r, args=tuple((k, one if k == name else a) for k, a in r.args))
            every = replace(noun, det="all", type=noun.type.set_of())
            return py.negate(py.negate(self.things(every, sc, x, [self.relation(bound, value, inner)])))
        first = r.pattern.parts[0]
        assert isinstance(first, SlotPart)
        args = {first.name: value(), **{k: self.argument(a, phrase.slots[k], sc) for k, a in r.args}}
        made = self.query(phrase, args, sc, r.span.line)
        sure = self._sure(phrase, r.args, sc)
        return py.both([*sure, made]) if sure else made

    def _sure(self, phrase: Phrase, args: tuple[tuple[str, ir.Expr], ...], sc: Scope) -> list[ast.expr]:
        """Tests that slots which need something do not get nothing."""
        return [
            py.compare(self.emit(a, sc), ast.IsNot(), py.const(None))
            for k, a in args
            if a.type.maybe
            and not a.type.form
            and not phrase.slots[k].maybe
            and not phrase.slots[k].form
            and phrase.slots[k].base != "any"
        ]

    # ------------------------------------------------------------ fields
    def field(self, e: ir.FieldOf, sc: Scope) -> ast.expr:
        if e.owner.type.form in ("set", "asks", "each") and not isinstance(e.owner, ir.Local):
            x = self._fresh(sc)
            return py.comprehension(self.read_field(e.name, py.name(x)), x, self.things(e.owner, sc), [])
        if e.owner.type.maybe:  # a field of nothing is nothing
            x = self._fresh(sc)
            read = py.lambda_of([x], self.read_field(e.name, py.name(x)))
            if e.name in self.em.analysis.modified:
                return py.call("k_of_some", read, self.emit(e.owner, sc))
            column = BUILT_IN.get(e.name) or attribute("f", e.name)
            return py.call("k_get", py.attr(py.name("s"), column), self.emit(e.owner, sc))
        return self.read_field(e.name, self.emit(e.owner, sc))

    def read_field(self, name: str, thing: ast.expr) -> ast.expr:
        if name in BUILT_IN:
            return py.sub(py.attr(py.name("s"), BUILT_IN[name]), thing)
        if name in self.em.analysis.modified:
            return py.call(f"m_{self.em.field_numbers[name]}", py.name("s"), thing)
        return py.sub(py.attr(py.name("s"), attribute("f", name)), thing)

    # ------------------------------------------------------------ numbers and texts
    def arithmetic(self, e: ir.Arith, sc: Scope) -> ast.expr:
        left, right = self.emit(e.left, sc), self.emit(e.right, sc)
        if self.may_be_nothing(e.left) or self.may_be_nothing(e.right):
            return py.call("k_arithmetic", py.const(e.op), left, right)
        if e.op == "/":
            return py.call("k_divide", left, right)
        op = {"+": ast.Add(), "-": ast.Sub(), "*": ast.Mult()}[e.op]
        made = ast.BinOp(left, op, right)
        return py.call("k_bounded", made) if e.op == "*" else made

    def text(self, e: ir.Text, sc: Scope) -> ast.expr:
        if all(isinstance(p, str) for p in e.parts):
            return py.const("".join(p for p in e.parts if isinstance(p, str)))
        values: list[ast.expr] = []
        for part in e.parts:
            if isinstance(part, str):
                values.append(py.const(part))
            else:
                values.append(ast.FormattedValue(self.shown(part, sc), -1, None))
        return ast.JoinedStr(values)

    def later(self, e: ir.Text, sc: Scope) -> ast.expr:
        """A text in parts that are put together only if somebody reads it: see `Question.prompt`."""
        if all(isinstance(p, str) for p in e.parts):
            return self.text(e, sc)
        plain = [
            p for p in e.parts if not isinstance(p, str) and p.type.base in self.v.kinds and not p.type.form
        ]
        return py.tuple_of(
            py.const(p)
            if isinstance(p, str)
            else self.emit(p, sc)
            if p in plain
            else py.call("k_str", self.shown(p, sc))
            for p in e.parts
        )

    def shown(self, e: ir.Expr, sc: Scope) -> ast.expr:
        """A value as players read it: things by their names, several with commas, yes and no, nothing."""
        if isinstance(e, ir.Local) and e.name in sc.called:
            return sc.called[e.name]()
        things = e.type.base in self.v.kinds or e.type.base == "zone"
        if things and not e.type.form and not e.type.maybe:
            return py.sub(py.attr(py.name("s"), "key"), self.emit(e, sc))
        if things:
            value = self.as_list(e, sc) if e.type.form else self.emit(e, sc)
            return py.call("k_named_things", py.name("s"), value)
        if e.type.form or e.type.maybe or e.type.base == "truth":
            return py.call("k_said", self.truth(e, sc) if e.type.base == "truth" else self.emit(e, sc))
        return self.emit(e, sc)

    # ------------------------------------------------------------ phrases
    def call(self, e: ir.Call, sc: Scope) -> ast.expr:
        phrase = e.pattern.phrase
        args = {k: self.argument(a, phrase.slots[k], sc) for k, a in e.args}
        made = self.query(phrase, args, sc, e.span.line)
        sure = self._sure(phrase, e.args, sc)
        if not sure:
            return made
        nothing: ast.expr = (
            py.const(False)
            if phrase.gives.base == "truth"
            else py.list_of([])
            if phrase.gives.form
            else py.const(None)
        )
        return ast.IfExp(py.both(sure), made, nothing)

    def argument(self, a: ir.Expr, want: T, sc: Scope) -> ast.expr:
        """An expression as a slot wants it: a list for a set, one value for one."""
        if want.base == "seats":
            return self.who(a, sc)
        if want.form == "set" or want.form == "desc":
            return (
                self.as_list(a, sc)
                if want.base != "any" or a.type.form in ("set", "asks")
                else self.emit(a, sc)
            )
        return self.emit(a, sc)

    def who(self, a: ir.Expr, sc: Scope) -> ast.expr:
        return self.things(a, sc) if a.type.form in ("set", "asks", "each") else self.emit(a, sc)

    def query(self, phrase: Phrase, args: dict[str, ast.expr], sc: Scope, line: int) -> ast.expr:
        if phrase.is_primitive:
            return self.em.primitives.query(phrase, args, sc, line)
        unit = self.em.queries[phrase.number]
        ordered = [
            args[k]
            if k in args
            else self.emit(unit.defaults[k], sc)
            if k in unit.defaults
            else py.const(None)
            for k in phrase.slots
        ]
        if (
            phrase.sort != "value"
            and unit.value is not None
            and phrase.number not in sc.seen
            and phrase.number not in self.em.analysis.recursive
            and self._can_inline(unit.value, ordered, sc)
        ):
            makers = {k: _again(node) for k, node in zip(phrase.slots, ordered, strict=True)}
            inner = replace(
                sc,
                names={**self._voices(sc), **makers},
                text_kind="",  # the words of the game are no card's text: no limit cuts them
                inlined=sc.inlined + 1,
                seen=sc.seen | {phrase.number},
            )
            if phrase.gives.form == "set":
                made = self.as_list(unit.value, inner)
            elif phrase.gives.base == "truth":
                made = self.truth(unit.value, inner)
            else:
                made = self.emit(unit.value, inner)
            return py.at_line(self._relined(made, unit.span.file), line)  # type: ignore[no-any-return]
        return py.call(f"q{phrase.number}", py.name("s"), py.name("c"), self.me(sc), self.you(sc), *ordered)

    def _relined(self, made: ast.expr, file: str) -> ast.expr:
        """What comes from another file counts as the line that uses it: its own lines are taken away."""
        if file != self.em._file:
            for node in ast.walk(made):
                for mark in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
                    node.__dict__.pop(mark, None)  # some are attributes of the class as well
        return made

    def _can_inline(self, value: ir.Expr, args: list[ast.expr], sc: Scope) -> bool:
        return sc.inlined < INLINE_DEPTH and all(self._simple(a) for a in args) and not _asks(value)

    @staticmethod
    def _simple(node: ast.expr) -> bool:
        """Cheap enough to be written twice."""
        if isinstance(node, ast.Name | ast.Constant):
            return True
        if isinstance(node, ast.Attribute):
            return isinstance(node.value, ast.Name)
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant | ast.Name):
            return False
        return isinstance(node.value, ast.Name) or (
            isinstance(node.value, ast.Attribute) and isinstance(node.value.value, ast.Name)
        )

    # ------------------------------------------------------------ noun phrases
    def noun(self, e: ir.Noun, sc: Scope) -> ast.expr:
        match e.type.form:
            case "some":
                return self.truth(e, sc)
            case "ask":
                return py.call(
                    "k_choose_thing",
                    py.name("s"),
                    py.name("c"),
                    self.site(e),
                    self.asked(sc),
                    self.prompt(e, sc),
                    self.things(e, sc),
                )
            case "asks":
                least, most = self.how_many(e, sc)
                return py.call(
                    "k_choose_things",
                    py.name("s"),
                    py.name("c"),
                    self.site(e),
                    self.asked(sc),
                    self.prompt(e, sc),
                    self.things(e, sc),
                    least,
                    most,
                )
        if e.det == "the":
            return py.call("k_must_be", py.name("s"), self.things(e, sc), py.const(self._bare_words(e)))
        if e.det == "random":
            return py.call("k_pick", py.name("s"), py.name("c"), self.site(e), self.things(e, sc))
        return self.things(e, sc)

    def _bare_words(self, e: ir.Noun) -> str:
        return _ARTICLE.sub("", self.em.source_text(e.span)) or " or ".join(e.kinds)

    def prompt(self, e: ir.Noun, sc: Scope) -> ast.expr:
        """What a question for things says, if the text does not say it: which ones."""
        return self.spoken(e.span, e, sc, bare=True) or py.const(" or ".join(e.kinds))

    def spoken(
        self, span: Span, node: ir.Expr, sc: Scope, lead: str = "", bare: bool = False
    ) -> ast.expr | None:
        """The words of a text, with what its own names stand for in their place: see `Question.prompt`."""
        text = self.em.source_text(span)
        if not text:
            return None
        parts: list[ast.expr] = []
        done = len(text) - len(_ARTICLE.sub("", text)) if bare else 0
        for one in sorted(self._own_names(span, node, sc), key=lambda x: x.span.column):
            start, end = one.span.column - span.column, one.span.end_column - span.column
            if start >= done:
                parts += [py.const(lead + text[done:start]), self._spoken_value(one, sc)]
                lead, done = "", end
        return py.tuple_of([*parts, py.const(text[done:])]) if parts else py.const(lead + text[done:])

    def _own_names(self, span: Span, node: ir.Expr, sc: Scope) -> list[ir.Local]:
        """The names in a text that only its author knows; not `you` and `it`."""
        return [
            x
            for x in walk(node)
            if isinstance(x, ir.Local)
            and x.name not in ("you", "it", "they")
            and x.name in sc.names
            and (x.type.base in (*self.v.kinds, "zone", "number", "text", *self.v.enums))
            and (x.span.file, x.span.line) == (span.file, span.line)
            and self.em.source_text(x.span) == x.name
        ]

    def _spoken_value(self, e: ir.Local, sc: Scope) -> ast.expr:
        value = self.emit(e, sc)
        if e.type.base not in self.v.kinds and e.type.base != "zone":
            return py.call("k_str", value)
        return py.call("k_tuple", value) if e.type.form in ("set", "desc") else value

    def how_many(self, e: ir.Noun, sc: Scope) -> tuple[ast.expr, ast.expr]:
        if e.det == "any number":
            return py.const(0), py.const(1_000_000)
        assert e.count is not None
        count = self.emit(e.count, sc)
        return (py.const(0) if e.det == "up to" else count), (
            count if e.det == "up to" else self.emit(e.count, sc)
        )

    def asked(self, sc: Scope) -> ast.expr:
        """Who is asked when the text does not say: as the kind says, else `you`."""
        if sc.asker is not None:
            return self._relined(self.who(sc.asker, sc), sc.asker.span.file)
        return self.you(sc)

    def as_list(self, e: ir.Expr, sc: Scope) -> ast.expr:
        """Any expression as a list of things or words."""
        if isinstance(e, ir.Noun) and e.type.form in ("set", "desc", "each"):
            return self.things(e, sc)
        if isinstance(e, ir.Nothing):
            return py.list_of([])
        made = self.emit(e, sc)
        if (
            e.type.form in ("set", "asks")
            or e.type.base == "roll"
            or isinstance(e, ir.AllWords | ir.Both | ir.Without)
        ):
            return made
        if e.type.form in ("ask",) or e.type.maybe:
            return py.call("k_some", made)
        return py.list_of([made])

    def things(self, e: ir.Expr, sc: Scope, x: str = "", more: list[ast.expr] | None = None) -> ast.expr:
        """The list a description stands for, without asking anybody."""
        if not isinstance(e, ir.Noun):
            return self.as_list(e, sc)
        x = x or self._fresh(sc)
        inner = replace(sc, depth=sc.depth + 1)
        source, tests, rest = self.source(e, x, sc)
        value = local(x)
        best = [f for f in rest if isinstance(f, ir.Best)]
        rest = tuple(f for f in rest if not isinstance(f, ir.Best))
        tests += self.filter_tests(replace(e, filters=rest), value, inner)
        tests += self.limits(e.kinds, value, inner)
        if sc.depth >= 1 and not _is_line(source):
            source = py.call("k_spend", py.name("s"), source)
        if best:
            found: ast.expr = py.comprehension(py.name(x), x, source, tests) if tests else source
            for f in best:
                found = self._best(f, found, inner)
            return py.comprehension(py.name(x), x, found, more) if more else found
        tests += more or []
        if not tests:
            return source
        return py.comprehension(py.name(x), x, source, tests)

    def _best(self, f: ir.Best, among: ast.expr, sc: Scope) -> ast.expr:
        if f.to is not None:
            near = self.as_list(f.to, sc)
            return py.call("k_nearest_to", py.name("s"), among, near)
        read = (
            self.emit(f.value, sc.bind("it", local("x")))
            if f.value is not None
            else self.read_field(f.field, py.name("x"))
        )
        return py.call("k_extreme", py.lambda_of(["x"], read), among, py.const(f.sign))

    def source(self, e: ir.Noun, x: str, sc: Scope) -> tuple[ast.expr, list[ast.expr], tuple[ir.Filter, ...]]:
        """The smallest collection to go through, the tests it needs, and the filters that are left."""
        value = local(x)
        for at, f in enumerate(e.filters):
            f = self.plain_relation(f)
            if not isinstance(f, ir.Rel) or not f.pattern.phrase.is_primitive or _loose(f):
                continue
            found = self.em.primitives.source(f, sc, e.kinds)
            if found is not None:
                rest = (*e.filters[:at], *e.filters[at + 1 :])
                return found, self.kind_tests(e.kinds, value, sc, self.em.source_kind(f, e.kinds)), rest
        if any(self.v.kinds[k].when is not None for k in e.kinds):
            wide = self.v.common(
                [p for k in e.kinds for p in (self.v.kinds[k].parents if self.v.kinds[k].when else [k])]
            )
            return self._here(wide), self.kind_tests(e.kinds, value, sc, wide), e.filters
        source: ast.expr = self._here(e.kinds[0])
        for kind in e.kinds[1:]:
            source = ast.BinOp(source, ast.Add(), self._here(kind))
        return source, [], e.filters

    def plain_relation(self, f: ir.Filter) -> ir.Filter:
        """A relation that only renames a relation of the language (`near`: is within 1 of) as what it means."""
        if not isinstance(f, ir.Rel) or f.pattern.phrase.is_primitive:
            return f
        meaning = self.em.relation_meaning(f.pattern.phrase)
        if meaning is None:
            return f
        given = dict(f.args)
        args = tuple(
            (k, given[a.name] if isinstance(a, ir.Local) else replace(a, span=f.span))
            for k, a in meaning.args
        )
        return self.plain_relation(replace(meaning, args=args, span=f.span))

    def _here(self, kind: str) -> ast.expr:
        """A description without a place speaks of what is in play; seats, spaces and lines always are."""
        if any(self.v.is_a(kind, k) for k in ("seat", "space", "line")):
            return py.sub(py.attr(py.name("s"), "of"), py.const(kind))
        known = py.method(py.attr(py.name("s"), "around"), "get", py.const(kind))
        return py.either([known, py.call("k_here", py.name("s"), py.const(kind))])

    def kind_tests(self, kinds: tuple[str, ...], value: Maker, sc: Scope, known: str) -> list[ast.expr]:
        """Tests that something is of one of these kinds; none if it cannot be anything else."""
        if known and all(k in kinds or any(w in kinds for w in self.v.lineage(k)) for k in [known]):
            return []
        if (
            not known
            and self.em.analysis.made_kinds
            and all(
                any(self.v.is_a(m, k) and self.v.kinds[k].when is None for k in kinds)
                for m in self.em.analysis.made_kinds
            )
        ):
            return []
        plain = [k for k in kinds if self.v.kinds[k].when is None]
        tests: list[ast.expr] = []
        if plain:
            names = sorted({n for k in plain for n in self.v.narrower(k)})
            kind = py.sub(py.attr(py.name("s"), "kind"), value())
            tests.append(
                py.compare(kind, ast.Eq(), py.const(names[0]))
                if len(names) == 1
                else py.compare(kind, ast.In(), py.const(frozenset(names)))
            )
        for k in kinds:
            if self.v.kinds[k].when is not None and k in self.em.units.conditions:
                tests.append(self._condition(k, value, sc))
        return [py.either(tests)] if len(tests) > 1 else tests

    def _condition(self, kind: str, value: Maker, sc: Scope) -> ast.expr:
        """Whether something is of a kind that has a `when`."""
        test = self.em.units.conditions[kind]
        if self._can_inline(test, [value()], sc):
            names = {**self._voices(sc), "it": value, "self": value}
            inner = replace(sc, names=names, text_kind="", inlined=sc.inlined + 1)
            return self._relined(self.truth(test, inner), test.span.file)
        number = self.em.kind_numbers[kind]
        return py.call(f"w_{number}", py.name("s"), py.name("c"), self.me(sc), self.you(sc), value())

    def filter_tests(self, e: ir.Noun, value: Maker, sc: Scope) -> list[ast.expr]:
        tests: list[ast.expr] = []
        if e.other:
            who = (
                sc.names.get("self")
                if sc.text_kind and any(self.v.is_a(sc.text_kind, k) for k in e.kinds)
                else sc.names.get("you")
            )
            tests.append(py.compare(value(), ast.NotEq(), (who or local("you"))()))
        for f in e.filters:
            match f:
                case ir.Adj():
                    tests.append(self.adjective(f, value, sc))
                case ir.Rel():
                    tests.append(self.relation(f, value, sc))
                case ir.Where(test=test):
                    tests.append(self.truth(test, sc.bind("it", value)))
                case ir.Best():
                    whole = self.things(replace(e, det="all", type=e.type.set_of()), sc)
                    return [*tests, py.compare(value(), ast.In(), whole)]
        return tests

    def limits(self, kinds: Iterable[str], value: Maker, sc: Scope) -> list[ast.expr]:
        """`limit KIND in KIND text`: a filter on every description in such texts."""
        found: list[ast.expr] = []
        for limit in self.em.units.limits:
            if (
                sc.text_kind
                and self.v.is_a(sc.text_kind, limit.text_kind)
                and any(self.v.is_a(k, limit.kind) for k in kinds)
            ):
                found.append(
                    self._relined(self.truth(limit.test, sc.bind("it", value)), limit.test.span.file)
                )
        return found

    def _fresh(self, sc: Scope) -> str:
        self.em.counter += 1
        return f"x{self.em.counter}"


def _loose(r: ir.Rel) -> tuple[str, ir.Noun] | None:
    """A slot of a relation that is filled with just any of some things."""
    for name, a in r.args:
        if isinstance(a, ir.Noun) and a.type.form == "ask" and not r.pattern.phrase.slots[name].form:
            return name, a
    return None


def _again(node: ast.expr) -> Maker:
    """A simple node, made anew each time it is used."""
    import copy

    return lambda: (
        copy.copy(node) if not isinstance(node, ast.Subscript | ast.Attribute) else copy.deepcopy(node)
    )


def _is_line(source: ast.expr) -> bool:
    """The spaces of a line are few: no loop over them needs a budget."""
    return (
        isinstance(source, ast.Subscript)
        and isinstance(source.value, ast.Name)
        and source.value.id == "k_lines"
    )


def _asks(value: ir.Expr) -> bool:
    from .analysis import walk

    return any(
        (isinstance(x, ir.Noun) and x.type.form in ("ask", "asks")) or isinstance(x, ir.RandomOf)
        for x in walk(value)
    )
