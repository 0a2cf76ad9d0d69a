"""Stage 2: read one clause with the phrases that the packs in scope declare.

An exact-span chart parser: `expr(i, j, level)` gives every typed reading of the words i up to j. What makes it
deterministic:

1. A slot ends where the next literal word of its phrase stands. All ends are tried, the types decide.
2. In a verb a slot holds a whole expression. In a query, relation or adjective it holds one operand: bracket
   `+ - = and or` there.
3. Two slots may touch only if one of them is a number, a counter, a die or a word of an enumeration.
4. A filter (`figures near X`) belongs to a description, never to one known thing.
5. A name in scope hides the description of the same word: inside `for each figure`, `figure` is that figure. Only a
   slot that wants a kind still reads the description.
6. Of several readings the one that used most literal words wins. A tie is a problem: use brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from lark import UnexpectedInput

from . import ir
from .nodes import Clause, Group, Item, Word
from .parse import parse_clause
from .source import Span
from .types import ANY, DONE, NOTHING, NUMBER, TEXT, TRUTH, T
from .vocabulary import Lit, PartInfo, Pattern, SlotPart, Vocabulary

Env = dict[str, T]
Slots = tuple[tuple[str, ir.Expr], ...]

OR, AND, NOT, COMPARE, SUM, PRODUCT, OPERAND = range(7)
DETERMINERS = {
    "each": "each",
    "every": "each",
    "all": "all",
    "a": "a",
    "an": "a",
    "one": "a",
    "another": "another",
    "any": "any",
    "no": "no",
    "the": "the",
    "random": "random",
}
COMPARISONS = {"=", "!=", "<", ">", "<=", ">="}
POSSESSIVES = {"your": "you", "its": "it", "their": "they"}
MATCHES_MAX = 3  # readings of one type that are kept: enough to show a tie


def expand(items: tuple[Item, ...]) -> list[Item]:
    """`your hand` is read as `you's hand`."""
    out: list[Item] = []
    for item in items:
        if isinstance(item, Word) and item.type == "WORD" and item.value in POSSESSIVES:
            out += [Word(item.span, "WORD", POSSESSIVES[item.value]), Word(item.span, "POSS", "'s")]
        else:
            out.append(item)
    return out


class Reader:
    def __init__(self, vocab: Vocabulary, items: tuple[Item, ...] | list[Item], env: Env) -> None:
        self.v, self.env = vocab, env
        self.t = expand(tuple(items))
        self.n = len(self.t)
        self.w = [_word(item) for item in self.t]
        self.words = {w for w in self.w if w}
        self.memo: dict[tuple[int, int, int], list[ir.Expr]] = {}
        self.queries = [p for s in ("query", "value") for p in vocab.patterns[s] if p.may_match(self.words)]
        self.relations = [p for p in vocab.patterns["relation"] if p.may_match(self.words)]

    def span(self, i: int, j: int) -> Span:
        return self.t[i].span.to(self.t[max(i, j - 1)].span)

    def text(self, i: int, j: int) -> str:
        return " ".join("()" if isinstance(x, Group) else x.value for x in self.t[i:j])

    # ------------------------------------------------------------ phrases
    def phrases(self, sort: str, wild: bool = False) -> list[ir.Expr]:
        """Every reading of the whole clause as a phrase of a sort."""
        out: list[ir.Expr] = []
        for p in self.v.patterns[sort]:
            if p.may_match(self.words):
                for slots, lits in self.match(p.parts, 0, 0, self.n, OR, wild):
                    out.append(
                        ir.Call(
                            type=p.phrase.gives, span=self.span(0, self.n), lits=lits, pattern=p, args=slots
                        )
                    )
        return out

    def match(
        self, parts: tuple[PartInfo, ...], k: int, i: int, j: int, level: int, wild: bool
    ) -> Iterator[tuple[Slots, int]]:
        """Every way to lay the parts from k on over the words i up to j."""
        if k == len(parts):
            if i == j:
                yield (), 0
            return
        part = parts[k]
        if isinstance(part, Lit):
            if i < j and self.w[i] in part.forms:
                for slots, lits in self.match(parts, k + 1, i + 1, j, level, wild):
                    yield slots, lits + 1
            return
        after = parts[k + 1] if k + 1 < len(parts) else None
        if (
            wild and isinstance(after, SlotPart) and i < j and self.w[i] == "any"
        ):  # one `any` for two neighbours
            here = self.span(i, i + 1)
            both = (
                (part.name, ir.AnyValue(type=part.type, span=here)),
                (after.name, ir.AnyValue(type=after.type, span=here)),
            )
            for slots, lits in self.match(parts, k + 2, i + 1, j, level, wild):
                yield both + slots, lits
        for end in [j] if after is None else range(i + 1, j):
            if end <= i or (isinstance(after, Lit) and self.w[end] not in after.forms):
                continue
            rest = list(self.match(parts, k + 1, end, j, level, wild))
            if rest:
                for reading in self.slot(part, i, end, level, wild):
                    for slots, lits in rest:
                        yield ((part.name, reading), *slots), lits + reading.lits

    def slot(self, part: SlotPart, i: int, j: int, level: int, wild: bool) -> list[ir.Expr]:
        """Readings of the words i up to j that a slot takes."""
        if wild and self.w[i] == "any" and (j == i + 1 or self.text(i + 1, j) in (part.name, part.type.base)):
            return [
                ir.AnyValue(type=part.type, span=self.span(i, j))
            ]  # whichever: no test, and no limit cuts it
        found = [
            r
            for r in self.expr(i, j, level)
            if self._takes(part.type, r, wild)
            or (
                level == OR
                and r.type.form == "asks"
                and not part.type.form
                and self.v.fits(r.type.one(), part.type)
            )
        ]
        return best(named_first([*found, *self.special(i, j, part.type)]))

    def _takes(self, want: T, r: ir.Expr, wild: bool) -> bool:
        if self.v.fits(r.type, want):
            return not (r.type.form == "some" and not wild)
        return (
            wild
            and r.type.form in ("some", "desc", "set", "each", "ask")
            and self.v.fits(r.type.one(), want.one())
        )

    def special(self, i: int, j: int, want: T) -> list[ir.Expr]:
        """Slots that take a name of the language: a counter, a field, an ability, a die."""
        text, span = self.text(i, j), self.span(i, j)
        column = self.v.columns().get(text)
        if want.base == "counter" and column is not None and column.sort == "counter":
            return [ir.Ref(type=T("counter"), span=span, sort="counter", name=text)]
        if want.base == "field" and column is not None:
            return [ir.Ref(type=T("field"), span=span, sort="field", name=text)]
        if want.base == "ability" and text in self.v.all_abilities():
            return [ir.Ref(type=T("ability"), span=span, sort="ability", name=text)]
        return []

    # ------------------------------------------------------------ expressions
    def whole(self) -> list[ir.Expr]:
        return self.expr(0, self.n, OR)

    def expr(self, i: int, j: int, level: int = OR) -> list[ir.Expr]:
        if i >= j:
            return []
        key = (i, j, level)
        found = self.memo.get(key)
        if found is None:
            self.memo[key] = []
            found = self.memo[key] = best(self._expr(i, j, level))
        return found

    def _expr(self, i: int, j: int, level: int) -> list[ir.Expr]:
        if level == OPERAND:
            return self.operand(i, j)
        out = list(self.expr(i, j, level + 1))
        if level in (OR, AND):
            out += self.logic(i, j, level)
        elif level == NOT and self.w[i] == "not":
            out += [
                ir.Not(type=TRUTH, span=self.span(i, j), lits=r.lits, inner=r)
                for r in self.expr(i + 1, j, NOT)
                if _truthy(r.type)
            ]
        elif level == COMPARE:
            out += self.compare(i, j)
        elif level in (SUM, PRODUCT):
            out += self.arithmetic(i, j, level)
        return out

    def logic(self, i: int, j: int, level: int) -> list[ir.Expr]:
        out: list[ir.Expr] = []
        op, span = "or" if level == OR else "and", self.span(i, j)
        for k in self.at(i, j, {op}):
            for a, b in product(self.expr(i, k, level), self.expr(k + 1, j, level + 1)):
                lits = a.lits + b.lits
                if _truthy(a.type) and _truthy(b.type):
                    out.append(ir.Logic(type=TRUTH, span=span, lits=lits, op=op, left=a, right=b))
                elif op == "and" and self._things(a.type) and self._things(b.type):
                    kind = self.v.common([a.type.base, b.type.base])
                    out.append(ir.Both(type=T(kind, "set"), span=span, lits=lits, left=a, right=b))
                elif op == "and" and a.type.base == b.type.base == "roll":
                    out.append(ir.Both(type=T("roll"), span=span, lits=lits, left=a, right=b))
        return out

    def _things(self, t: T) -> bool:
        return t.base in self.v.kinds and t.form in ("", "set", "asks", "ask")

    def arithmetic(self, i: int, j: int, level: int) -> list[ir.Expr]:
        out: list[ir.Expr] = []
        ops, span = ({"+", "-"} if level == SUM else {"*", "/"}), self.span(i, j)
        for k in self.at(i + 1, j, ops):
            op = self.text(k, k + 1)
            for a, b in product(self.expr(i, k, level), self.expr(k + 1, j, level + 1)):
                lits = a.lits + b.lits
                if self._number(a.type) and self._number(b.type):
                    out.append(
                        ir.Arith(
                            type=T("number", maybe=a.type.maybe or b.type.maybe),
                            span=span,
                            lits=lits,
                            op=op,
                            left=a,
                            right=b,
                        )
                    )
                elif (
                    op == "-"
                    and a.type.form == "set"
                    and b.type.base in self.v.kinds
                    and self._things(b.type)
                ):
                    out.append(ir.Without(type=a.type, span=span, lits=lits, left=a, right=b))
        if level == SUM and self.text(i, i + 1) in ("+", "-"):
            for r in self.expr(i + 1, j, PRODUCT):
                if self._number(r.type):
                    out.append(
                        r
                        if self.text(i, i + 1) == "+"
                        else ir.Negative(type=NUMBER, span=span, lits=r.lits, inner=r)
                    )
        return out

    @staticmethod
    def _number(t: T) -> bool:
        return t.base in ("number", "any") and not t.form

    def compare(self, i: int, j: int) -> list[ir.Expr]:
        out: list[ir.Expr] = []
        span = self.span(i, j)
        for k in self.at(i + 1, j, COMPARISONS):
            for a, b in product(self.expr(i, k, SUM), self.expr(k + 1, j, SUM)):
                if self._comparable(a.type, b.type):
                    out.append(
                        ir.Compare(
                            type=TRUTH,
                            span=span,
                            lits=a.lits + b.lits,
                            op=self.text(k, k + 1),
                            left=a,
                            right=b,
                        )
                    )
        for k in self.at(i + 1, j, {"is", "are"}):
            start = k + 1
            negated = start < j and self.w[start] == "not"
            start += negated
            if self.text(start, j) == "running":
                out += self.running(i, k, negated, span)
            for a in self.expr(i, k, SUM):
                if a.type.form != "desc":
                    out += [
                        ir.Is(type=TRUTH, span=span, lits=a.lits + r.lits, negated=negated, subject=a, test=r)
                        for r in self.predicate(a, start, j)
                    ]
        return out

    def running(self, i: int, k: int, negated: bool, span: Span) -> list[ir.Expr]:
        """`turn is running`, `turn of h is running`, `your turn is running`"""
        out: list[ir.Expr] = []
        found: list[tuple[str, ir.Expr | None]] = [(self.text(i, k), None)]
        for at in self.at(i + 1, k, {"of"}):
            found += [
                (self.text(i, at), r)
                for r in named_first(self.expr(at + 1, k, OPERAND))[:1]
                if r.type.base in self.v.kinds
            ]
        for at in range(i + 1, k):
            if self.w[at] == "'s":
                found += [
                    (self.text(at + 1, k), r)
                    for r in named_first(self.expr(i, at, OPERAND))[:1]
                    if r.type.base in self.v.kinds
                ]
        for name, subject in found:
            if name in self.v.scopes:
                test: ir.Expr = ir.Running(type=TRUTH, span=span, lits=2, scope=name, subject=subject)
                out.append(ir.Not(type=TRUTH, span=span, lits=2, inner=test) if negated else test)
        return out

    def _comparable(self, a: T, b: T) -> bool:
        if a.form in ("desc", "some") or b.form in ("desc", "some", "each"):
            return False
        if "done" in (a.base, b.base):
            return False
        return self.v.fits(b, a) or self.v.fits(a, b)

    def predicate(self, a: ir.Expr, i: int, j: int) -> list[ir.Expr]:
        """What may follow `X is`: nothing, an adjective, a relation, a description, a value."""
        if i >= j:
            return []
        out: list[ir.Expr] = []
        text, kind, span = self.text(i, j), a.type.base, self.span(i, j)
        if text in ("nothing", "none"):
            return [ir.Nothing(type=NOTHING, span=span)]
        if kind in self.v.kinds:
            if adj := self.adjective(text, kind, span):
                out.append(adj)
            for p in self.relations:
                first = p.parts[0]
                if isinstance(first, SlotPart) and self.v.fits(T(kind), first.type.one()):
                    for slots, lits in self.match(p.parts, 1, i, j, OPERAND, False):
                        out.append(ir.Rel(type=TRUTH, span=span, lits=lits, pattern=p, args=slots))
        for r in self.expr(i, j, OPERAND):
            if r.type == NOTHING or (r.type.form == "desc" and text in self.env):
                continue
            if (
                r.type.form in ("desc", "ask", "some")
                and kind in self.v.kinds
                and r.type.base in self.v.kinds
            ):
                if self.v.related(kind, r.type.base):
                    out.append(r)
            elif self.v.fits(r.type, a.type.one()) or self.v.fits(a.type.one(), r.type):
                out.append(r)
        if any(isinstance(r, ir.Adj) for r in out):  # `it is not figure`: the adjective is meant
            named = any(isinstance(r, ir.Local) for r in out)
            out = [
                r
                for r in out
                if not (isinstance(r, ir.Noun) and r.det == "") and not (named and isinstance(r, ir.Adj))
            ]
        return named_first(out)

    def adjective(self, text: str, kind: str, span: Span) -> ir.Adj | None:
        """An adjective that can be said of a kind: a declared one, or a word of one of its fields."""
        declared = tuple(a.kind for a in self.v.adjectives.get(text, ()) if self.v.related(kind, a.kind))
        if declared:
            return ir.Adj(type=TRUTH, span=span, name=text, kinds=declared)
        fields = tuple(
            sorted(
                {
                    f.name
                    for k in (*self.v.lineage(kind), *self.v.narrower(kind))
                    for f in self.v.kinds[k].fields.values()
                    if f.type.base in self.v.enum_of.get(text, ())
                }
            )
        )
        if fields:
            return ir.Adj(type=TRUTH, span=span, name=text, fields=fields)
        flag = self.v.find_field(kind, text)
        if flag is not None and flag.type.base == "truth" and not flag.type.form:
            return ir.Adj(type=TRUTH, span=span, name=text, flag=True)
        return None

    # ------------------------------------------------------------ operands
    def operand(self, i: int, j: int) -> list[ir.Expr]:
        item, text, span = self.t[i], self.text(i, j), self.span(i, j)
        if j == i + 1:
            if isinstance(item, Group):
                inner = Reader(self.v, item.items, self.env)
                return [_respan(r, span) for r in inner.whole()] if inner.n else []
            if item.type == "NUMBER":
                return [ir.Number(type=NUMBER, span=span, value=int(text))]
            if item.type == "STRING":
                return self.quoted(item)
        out: list[ir.Expr] = []
        if text in ("yes", "no") and j == i + 1:
            out.append(ir.Truth(type=TRUTH, span=span, value=text == "yes"))
        if text in ("nothing", "none"):
            out.append(ir.Nothing(type=NOTHING, span=span))
        out += self.named(text, span)
        out += self.possessive(i, j)
        out += self.noun(i, j)
        for p in self.queries:
            if text in self.env and len(p.words) == len(p.parts):
                continue  # a name in scope hides a query of the same words
            for slots, lits in self.match(p.parts, 0, i, j, OPERAND, False):
                out.append(ir.Call(type=self._given(p, slots), span=span, lits=lits, pattern=p, args=slots))
        if self.w[i] == "random" and j > i + 1:
            for r in self.expr(i + 1, j, OPERAND):
                if r.type.form == "set" or isinstance(r, ir.Noun):
                    among = _as_set(r)
                    out.append(ir.RandomOf(type=T(r.type.base), span=span, lits=r.lits + 1, among=among))
        return out

    def _given(self, p: Pattern, slots: Slots) -> T:
        """What a query gives; one that gives things of whatever kind it was handed keeps that kind."""
        gives = p.phrase.gives
        if gives.base == "thing" and gives.form == "set" and slots and p.phrase.is_primitive:
            first = slots[0][1].type
            if first.base in self.v.kinds:
                return T(first.base, "set")
        if (
            gives.base == "seat"
            and slots
            and p.phrase.is_primitive
            and self.v.is_a(slots[0][1].type.base, "seat")
        ):
            return T(slots[0][1].type.base, gives.form)
        if (
            gives.maybe is False
            and any(a.type.maybe for _, a in slots)
            and p.phrase.is_primitive
            and gives.base in self.v.kinds
        ):
            return T(gives.base, gives.form, True)
        return gives

    def named(self, text: str, span: Span) -> list[ir.Expr]:
        v, out = self.v, list[ir.Expr]()
        if text in self.env:
            out.append(ir.Local(type=self.env[text], span=span, name=text))
        elif text in v.values:
            out.append(ir.GlobalValue(type=v.values[text], span=span, name=text))
        elif text in v.zones:
            out.append(ir.GlobalZone(type=T("zone"), span=span, name=text))
        if text in v.die_names:
            out.append(ir.Ref(type=T("die"), span=span, sort="die", name=v.die_names[text]))
        if text in v.windows:
            out.append(ir.Ref(type=T("window"), span=span, sort="window", name=text))
        if text in v.cards:
            out.append(ir.CardRef(type=T(v.cards[text]), span=span, name=text))
        for enum in v.enum_of.get(text, ()):
            out.append(ir.WordValue(type=T(enum), span=span, value=text))
        if text in v.enums and text not in self.env:
            out.append(ir.AllWords(type=T(text, "set"), span=span, words=v.enums[text]))
        if text in ("group", "the group"):
            out.append(ir.Group(type=T("seats"), span=span))
        return out

    def quoted(self, item: Word) -> list[ir.Expr]:
        name = item.value.strip('"')
        out: list[ir.Expr] = []
        if (text := read_text(self.v, item, self.env)) is not None:
            out.append(text)
        if name in self.v.cards:
            out.append(ir.CardRef(type=T(self.v.cards[name]), span=item.span, name=name))
        return out

    def possessive(self, i: int, j: int) -> list[ir.Expr]:
        out: list[ir.Expr] = []
        for k in range(j - 2, i, -1):
            if self.w[k] != "'s":
                continue
            name = self.text(k + 1, j)
            for owner in self.expr(i, k, OPERAND):
                if owner.type.form in ("desc", "some") or owner.type.base not in self.v.kinds:
                    continue
                if (
                    isinstance(owner, ir.Noun)
                    and k > i + 1
                    and any(not isinstance(f, ir.Adj) for f in owner.filters)
                ):
                    continue  # a description with a filter owns something only in brackets
                if isinstance(owner, ir.Call) and k > i + 1:
                    continue  # and so does a phrase: `(seat after p)'s hand`
                found = self.v.find_field(owner.type.base, name)
                if found is None:
                    continue
                form = "" if owner.type.form in ("", "ask") else owner.type.form
                made = T(
                    found.type.base,
                    found.type.form
                    or ("set" if form == "set" else form if found.type.base in self.v.kinds else ""),
                    found.type.maybe or owner.type.maybe,
                )
                cls = ir.ZoneOf if found.sort == "zone" else ir.FieldOf
                out.append(cls(type=made, span=self.span(i, j), lits=owner.lits, owner=owner, name=name))
            break
        return out

    # ------------------------------------------------------------ noun phrases
    def noun(self, i: int, j: int) -> list[ir.Expr]:
        out: list[ir.Expr] = []
        for det, count, start in self.determiners(i, j):
            for base, kinds, end, lits, many, adjs in self.described(start, j):
                other = "other" in adjs or det == "another"
                said = [self.adjective(a, base, self.span(start, end)) for a in adjs if a != "other"]
                tests: list[ir.Filter] = [a for a in said if a is not None]
                if len(tests) < len(said):
                    continue
                if det == "nearest":
                    tests.append(self._nearest(self.span(i, start)))
                for filters, more in self.filters(base, end, j):
                    out.append(
                        ir.Noun(
                            type=_noun_type(det, base, many),
                            span=self.span(i, j),
                            lits=lits + more,
                            det=det,
                            kinds=kinds,
                            filters=(*tests, *filters),
                            count=count,
                            other=other,
                        )
                    )
        return out

    def _nearest(self, span: Span) -> ir.Best:
        """`the nearest X`: to the thing whose text this is, else to you; somebody chooses among equals."""
        to = "self" if "self" in self.env and self.env["self"].base != "thing" else "you"
        return ir.Best(
            type=TRUTH,
            span=span,
            lits=1,
            field="",
            sign=0,
            to=ir.Local(type=self.env[to], span=span, name=to),
        )

    def determiners(self, i: int, j: int) -> Iterator[tuple[str, ir.Expr | None, int]]:
        """(determiner, its number, where the description begins)"""
        w = self.w[i]
        if w == "up" and i + 2 < j and self.w[i + 1] == "to":
            yield from (("up to", r, end) for r, end in self._counts(i + 2, j))
            return
        nearest = (
            i + 1
            if w == "nearest"
            else i + 2
            if w in ("the", "a") and self.w[i + 1 : i + 2] == ["nearest"]
            else 0
        )
        if nearest and nearest < j:
            yield "nearest", None, nearest
            return
        if w == "any" and i + 3 < j and self.w[i + 1 : i + 3] == ["number", "of"]:
            yield "any number", None, i + 3
            return
        if w in DETERMINERS and i + 1 < j:
            yield DETERMINERS[w], None, i + 1
        if w not in DETERMINERS:
            yield from (("count", r, end) for r, end in self._counts(i, j))
        yield "", None, i

    def _counts(self, i: int, j: int) -> Iterator[tuple[ir.Expr, int]]:
        """A number before a description: `2 cards`, `(n + 1) cards`, `H - 2 drones`."""
        for end in range(i + 1, min(j, i + 6)):
            if self.text(end, end + 1) not in ("+", "-", "*", "/", "'s"):
                for r in self.expr(i, end, SUM):
                    if self._number(r.type):
                        yield r, end

    def described(self, i: int, j: int) -> Iterator[tuple[str, tuple[str, ...], int, int, bool, list[str]]]:
        """adjective* kind (or kind)*: (kind, kinds, end, literal words, is plural, adjectives)"""
        for k in range(i, j):
            adjs = self.adjectives_at(i, k)
            if adjs is None:
                continue
            for end in range(min(j, k + 4), k, -1):
                noun = self.v.nouns.get(self.text(k, end))
                if noun is None:
                    continue
                kind, many = noun
                yield kind, (kind,), end, len(adjs), many, adjs
                yield from self._or_kinds(kind, end, j, adjs, many)

    def _or_kinds(
        self, kind: str, end: int, j: int, adjs: list[str], many: bool
    ) -> Iterator[tuple[str, tuple[str, ...], int, int, bool, list[str]]]:
        kinds = [kind]
        while end < j and self.w[end] == "or":
            for stop in range(min(j, end + 5), end + 1, -1):
                noun = self.v.nouns.get(self.text(end + 1, stop))
                if noun is not None:
                    kinds.append(noun[0])
                    end = stop
                    yield self.v.common(kinds), tuple(kinds), end, len(adjs) + len(kinds), many, adjs
                    break
            else:
                return

    def adjectives_at(self, i: int, k: int) -> list[str] | None:
        out: list[str] = []
        while i < k:
            for end in range(k, i, -1):
                text = self.text(i, end)
                if (
                    text in self.v.adjectives
                    or text in self.v.enum_of
                    or text == "other"
                    or self.v.is_flag(text)
                ):
                    out.append(text)
                    i = end
                    break
            else:
                return None
        return out

    def filters(
        self, kind: str, i: int, j: int, depth: int = 0
    ) -> Iterator[tuple[tuple[ir.Filter, ...], int]]:
        if i == j:
            yield (), 0
            return
        if depth > 3:
            return
        if self.w[i] == "where":
            inner = self._with({**self.env, "it": T(kind)})
            for r in inner.expr(i + 1, j):
                if _truthy(r.type):
                    yield (ir.Where(type=TRUTH, span=self.span(i, j), lits=r.lits, test=r),), r.lits + 1
        yield from self.superlatives(kind, i, j, depth)
        for p in self.relations:
            first = p.parts[0]
            if not isinstance(first, SlotPart) or not self.v.fits(T(kind), first.type.one()):
                continue
            for end in range(i + 1, j + 1):
                for slots, lits in self.match(p.parts, 1, i, end, OPERAND, False):
                    rel = ir.Rel(type=TRUTH, span=self.span(i, end), lits=lits, pattern=p, args=slots)
                    for more, m in self.filters(kind, end, j, depth + 1):
                        yield (rel, *more), lits + m

    def superlatives(
        self, kind: str, i: int, j: int, depth: int
    ) -> Iterator[tuple[tuple[ir.Filter, ...], int]]:
        """`with the most FIELD`, `with the least FIELD`, `nearest to X`."""
        lead = self.w[i : i + 3]
        if lead[:2] == ["with", "the"] and lead[2:] in (["most"], ["least"]):
            for end in range(i + 4, j + 1):
                if self.text(i + 3, end) in self.v.columns():
                    best_ = ir.Best(
                        type=TRUTH,
                        span=self.span(i, end),
                        lits=3,
                        field=self.text(i + 3, end),
                        sign=1 if lead[2] == "most" else -1,
                    )
                    for more, m in self.filters(kind, end, j, depth + 1):
                        yield (best_, *more), 3 + m
            if i + 3 < j and isinstance(group := self.t[i + 3], Group):
                inner = Reader(self.v, group.items, {**self.env, "it": T(kind)})
                for r in inner.whole():
                    if self._number(r.type):
                        sign = 1 if lead[2] == "most" else -1
                        best_ = ir.Best(
                            type=TRUTH, span=self.span(i, i + 4), lits=3, field="", sign=sign, value=r
                        )
                        for more, m in self.filters(kind, i + 4, j, depth + 1):
                            yield (best_, *more), 3 + m + r.lits
        if lead[:2] == ["nearest", "to"]:
            for end in range(i + 3, j + 1):
                for r in self.expr(i + 2, end, OPERAND):
                    if r.type.base in self.v.kinds and r.type.form in ("", "set"):
                        best_ = ir.Best(type=TRUTH, span=self.span(i, end), lits=2, field="", sign=0, to=r)
                        for more, m in self.filters(kind, end, j, depth + 1):
                            yield (best_, *more), 2 + m + r.lits

    def _with(self, env: Env) -> Reader:
        """The same words, read with other names in scope."""
        inner = Reader.__new__(Reader)
        inner.__dict__.update(self.__dict__)
        inner.env, inner.memo = env, {}
        return inner

    # ------------------------------------------------------------ modifiers
    def gets(self) -> list[ir.Expr]:
        """`X gets +1 FIELD`, `VALUE gets -1`: the built-in modifier. With a sign, so it is never a verb."""
        out: list[ir.Expr] = []
        span = self.span(0, self.n) if self.n else None
        for k in self.at(1, self.n, {"gets", "get"}):
            if k + 1 >= self.n or self.text(k + 1, k + 2) not in ("+", "-"):
                continue
            assert span is not None
            for p in self.queries:
                if p.phrase.sort == "value":
                    for slots, lits in self.match(p.parts, 0, 0, k, OPERAND, True):
                        out += [
                            ir.Gets(
                                type=DONE,
                                span=span,
                                lits=lits + 1,
                                how="gets",
                                subject=None,
                                field="",
                                pattern=p,
                                args=slots,
                                amount=a,
                            )
                            for a in self.expr(k + 1, self.n, SUM)
                            if self._number(a.type)
                        ]
            for end in range(k + 3, self.n):
                column = self.v.columns().get(self.text(end, self.n))
                if column is None:
                    continue
                for a in self.expr(k + 1, end, SUM):
                    if self._number(a.type):
                        out += [
                            ir.Gets(
                                type=DONE,
                                span=span,
                                lits=s.lits + 1,
                                how="gets",
                                subject=s,
                                field=column.name,
                                pattern=None,
                                args=(),
                                amount=a,
                            )
                            for s in self.expr(0, k, OPERAND)
                            if s.type.base in self.v.kinds and s.type.form != "desc"
                        ]
        return out

    def has(self) -> list[ir.Expr]:
        """In a passive text `X's FIELD is VALUE` replaces the printed value."""
        out: list[ir.Expr] = []
        for k in self.at(1, self.n, {"is"}):
            for p in self.queries:
                if p.phrase.sort == "value":
                    for slots, lits in self.match(p.parts, 0, 0, k, OPERAND, True):
                        out += [
                            ir.Gets(
                                type=DONE,
                                span=self.span(0, self.n),
                                lits=lits + 1,
                                how="has",
                                subject=None,
                                field="",
                                pattern=p,
                                args=slots,
                                amount=a,
                            )
                            for a in self.expr(k + 1, self.n, SUM)
                            if self.v.fits(a.type, p.phrase.gives)
                        ]
            for a in self.expr(0, k, OPERAND):
                if isinstance(a, ir.FieldOf):
                    out += [
                        ir.Gets(
                            type=DONE,
                            span=self.span(0, self.n),
                            lits=a.lits + r.lits,
                            how="has",
                            subject=a.owner,
                            field=a.name,
                            pattern=None,
                            args=(),
                            amount=r,
                        )
                        for r in self.expr(k + 1, self.n, SUM)
                        if self.v.fits(r.type, a.type)
                    ]
        return out

    def at(self, i: int, j: int, marks: set[str]) -> list[int]:
        """Where one of these words or signs stands, from the right."""
        return [
            k
            for k in range(j - 1, i - 1, -1)
            if isinstance(x := self.t[k], Word) and x.type != "STRING" and x.value in marks
        ]


# ---------------------------------------------------------------- texts with {braces}
_BRACES = re.compile(r"\{([^{}]*)\}")


def read_text(vocab: Vocabulary, item: Word, env: Env) -> ir.Text | None:
    """A quoted text; what stands between braces is read as an expression. Nothing if that cannot be read."""
    raw = item.value.strip('"')
    parts: list[str | ir.Expr] = []
    for number, piece in enumerate(_BRACES.split(raw)):
        if number % 2 == 0:
            if piece:
                parts.append(piece)
            continue
        found = read_braces(vocab, item, piece, env)
        if len(found) != 1:
            return None
        parts.append(found[0])
    return ir.Text(type=TEXT, span=item.span, parts=tuple(parts))


def read_braces(vocab: Vocabulary, item: Word, piece: str, env: Env) -> list[ir.Expr]:
    try:
        clause: Clause = parse_clause(item.span.file, piece)
    except UnexpectedInput:
        return []
    readings = named_first(Reader(vocab, clause.items, env).whole())
    found = [r for r in readings if r.type.form in ("", "set", "desc")]
    most = max((r.lits for r in found), default=0)
    return [_respan(r, item.span) for r in found if r.lits == most]


# ---------------------------------------------------------------- choosing among readings
def best(readings: list[ir.Expr]) -> list[ir.Expr]:
    """Per type, the readings that used most literal words; ties stay, and are reported at the top."""
    top: dict[T, list[ir.Expr]] = {}
    for r in readings:
        have = top.setdefault(r.type, [])
        if not have or r.lits > have[0].lits:
            top[r.type] = [r]
        elif r.lits == have[0].lits and r not in have and len(have) < MATCHES_MAX:
            have.append(r)
    return [r for kept in top.values() for r in kept]


_NAMES = (ir.Local, ir.GlobalValue, ir.GlobalZone, ir.CardRef)


def named_first(readings: list[ir.Expr]) -> list[ir.Expr]:
    """A name in scope hides the description of the same word."""
    if any(isinstance(r, _NAMES) for r in readings):
        return [r for r in readings if not isinstance(r, ir.Noun)]
    return readings


def own_words(r: ir.Expr) -> int:
    """Literal words of the outermost phrase: among equals the longer phrase is meant."""
    return sum(isinstance(p, Lit) for p in r.pattern.parts) if isinstance(r, ir.Call) else 0


def _truthy(t: T) -> bool:
    """A condition, or `any X` and `no X`, which ask whether there is one."""
    return t.form == "some" or (t.base == "truth" and not t.form)


def _noun_type(det: str, kind: str, many: bool) -> T:
    form = {
        "each": "each",
        "nearest": "ask",
        "a": "ask",
        "another": "ask",
        "any": "some",
        "no": "some",
        "the": "",
        "all": "set",
        "random": "",
        "up to": "asks",
        "any number": "asks",
        "count": "asks",
    }.get(det)
    if form is None:
        form = "set" if many else "desc"
    return T(kind, form)


def _as_set(r: ir.Expr) -> ir.Expr:
    from dataclasses import replace

    return replace(r, type=r.type.set_of(), det="all") if isinstance(r, ir.Noun) else r


def _respan(r: ir.Expr, span: Span) -> ir.Expr:
    from dataclasses import replace

    return replace(r, span=span)


def _word(item: Item) -> str:
    if isinstance(item, Group) or item.type in ("STRING", "NUMBER", "OP", "EQ", "SLASH", "COMMA"):
        return ""
    return "'s" if item.type == "POSS" else item.value


__all__ = ["ANY", "Env", "Reader", "best", "named_first", "own_words", "read_braces", "read_text"]
