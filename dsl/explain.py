"""Saying what is wrong with a clause that cannot be read, and what was probably meant."""
from __future__ import annotations

import difflib

from . import ir
from .nodes import Clause, Group, Word
from .problems import Problem
from .reader import Reader
from .source import Span
from .types import T, article
from .vocabulary import Lit, Pattern, SlotPart, Vocabulary

_COMMON = {
    "each", "every", "all", "a", "an", "one", "any", "no", "the", "another", "random", "is", "are", "not", "and", "or", "where",
    "it", "you", "self", "they", "up", "to", "nothing", "none", "yes", "other", "group", "gets", "get", "of", "number", "'s",
}


def known_words(v: Vocabulary, env: dict[str, T]) -> set[str]:
    """Every word that some name or phrase in scope has."""
    names = [*env, *v.values, *v.zones, *v.nouns, *v.adjectives, *v.enum_of, *v.enums, *v.cards, *v.die_names, *v.windows,
             *v.columns(), *v.all_abilities(), *v.scopes]
    names += [f.name for k in v.kinds.values() for f in k.fields.values()]
    words = {w for name in names for w in name.split()}
    for patterns in v.patterns.values():
        for p in patterns:
            for part in p.parts:
                if isinstance(part, Lit):
                    words |= part.forms
    return words | _COMMON


def unknown_words(reader: Reader) -> list[Word]:
    known = known_words(reader.v, reader.env)
    return [x for x in _flat(reader.t) if x.type == "WORD" and x.value not in known]


def _flat(items: list[Word | Group] | tuple[Word | Group, ...]) -> list[Word]:
    out: list[Word] = []
    for item in items:
        out += _flat(item.items) if isinstance(item, Group) else [item]
    return out


def near(word: str, among: set[str] | list[str]) -> str:
    """`did you mean ...?`, or nothing."""
    hit = difflib.get_close_matches(word, sorted(among), 1, 0.6)
    return f"did you mean '{hit[0]}'?" if hit else ""


def explain_value(clause: Clause, reader: Reader, want: T) -> Problem:
    """A clause that is no value of the wanted type."""
    shown = str(clause)
    if unknown := unknown_words(reader):
        word = unknown[0]
        return Problem("LB0202", word.span, f"unknown word '{word.value}'", near(word.value, known_words(reader.v, reader.env)))
    got = reader.whole()
    if got and want.base != "any":
        kind = got[0].type
        if kind.form == "desc":
            return _which(clause.span, shown, kind)
        return Problem("LB0205", clause.span, f"'{shown}' is {article(str(kind))}, but {article(str(want))} is needed here")
    wanted = f" as {article(str(want))}" if want.base != "any" else ""
    return Problem("LB0203", _smallest(reader, clause), f"cannot read '{shown}'{wanted}", _near_phrase(reader, ("query", "value", "relation")))


def explain_phrase(clause: Clause, reader: Reader, sort: str) -> Problem:
    """A clause that is no verb (or modifier): which one was meant, and which slot does not read?"""
    shown = str(clause)
    scored = _scored(reader, (sort,))
    for _, pattern in scored[:6]:
        if all(not reader.words.isdisjoint(forms) for forms in pattern.words):
            bad = _bad_slot(pattern, reader)
            if bad is not None:
                return bad
    if unknown := unknown_words(reader):
        word = unknown[0]
        help_ = near(word.value, known_words(reader.v, reader.env))
        if scored and scored[0][0] > 0.75:
            help_ = f"did you mean: {scored[0][1].phrase.text}"
        return Problem("LB0203" if word is _flat(reader.t)[0] else "LB0202", word.span,
                       f"no {sort} reads '{shown}'" if word is _flat(reader.t)[0] else f"unknown word '{word.value}' in '{shown}'", help_)
    if scored and scored[0][0] > 0.55:
        return Problem("LB0203", clause.span, f"no {sort} reads '{shown}'",
                       f"did you mean: {scored[0][1].phrase.text}      ({_where(scored[0][1])})")
    return Problem("LB0203", clause.span, f"no {sort} reads '{shown}'", f"declare it: {sort} {shown}")


def _where(p: Pattern) -> str:
    return f"{p.phrase.span.file}:{p.phrase.span.line}"


def _scored(reader: Reader, sorts: tuple[str, ...]) -> list[tuple[float, Pattern]]:
    """Phrases by how much of them stands in the clause, best first."""
    mine = [w for w in reader.w if w]
    scored: list[tuple[float, int, Pattern]] = []
    for sort in sorts:
        for number, p in enumerate(reader.v.patterns[sort]):
            lits = [part for part in p.parts if isinstance(part, Lit)]
            likeness = [max((difflib.SequenceMatcher(None, f, w).ratio() for f in part.forms for w in mine), default=0.0)
                        for part in lits]
            if likeness and min(likeness) >= 0.6:
                full = all(r == 1 for r in likeness)
                scored.append((sum(likeness) / len(likeness) + min(len(lits), 4) * 0.05 + full, -number, p))
    return [(score, p) for score, _, p in sorted(scored, key=lambda x: (-x[0], -x[1]))]


def _near_phrase(reader: Reader, sorts: tuple[str, ...]) -> str:
    scored = _scored(reader, sorts)
    return f"did you mean: {scored[0][1].phrase.text}      ({_where(scored[0][1])})" if scored else ""


def _bad_slot(p: Pattern, reader: Reader) -> Problem | None:
    """Lay down the literal words only, then say which slot does not read."""
    i = 0
    for k, part in enumerate(p.parts):
        if isinstance(part, Lit):
            if i < reader.n and reader.w[i] in part.forms:
                i += 1
                continue
            return _missing(p, part, reader, i)
        end = _slot_end(p, k, reader, i)
        if end is None or end <= i:
            return None if end is None else _missing(p, part, reader, i)
        if not reader.slot(part, i, end, 0, False):
            return _slot_problem(p, part, reader, i, end)
        i = end
    return None


def _slot_end(p: Pattern, k: int, reader: Reader, i: int) -> int | None:
    after = p.parts[k + 1] if k + 1 < len(p.parts) else None
    if after is None:
        return reader.n
    if isinstance(after, Lit):
        return next((x for x in range(i, reader.n) if reader.w[x] in after.forms), None)
    return i + 1


def _missing(p: Pattern, part: Lit | SlotPart, reader: Reader, i: int) -> Problem | None:
    if i < reader.n or i == 0:
        return None
    what = f"'{part.shown}'" if isinstance(part, Lit) else f"({part.name}: {part.type})"
    span = reader.span(reader.n - 1, reader.n)
    return Problem("LB0204", Span(span.file, span.line, span.end_column, span.line, span.end_column + 1),
                   f"{what} is missing", f"the phrase is: {p.phrase.text}")


def _slot_problem(p: Pattern, part: SlotPart, reader: Reader, i: int, end: int) -> Problem:
    text, span = reader.text(i, end), reader.span(i, end)
    got: list[ir.Expr] = reader.expr(i, end)
    if got:
        kind = got[0].type
        if kind.form == "desc":
            return _which(span, text, kind)
        return Problem("LB0205", span, f"'{text}' is {article(str(kind))}, but ({part.name}: {part.type}) needs {article(str(part.type))}",
                       f"the phrase is: {p.phrase.text}      ({_where(p)})")
    known = known_words(reader.v, reader.env)
    bad = [x for x in _flat(reader.t[i:end]) if x.type == "WORD" and x.value not in known]
    if bad:
        return Problem("LB0202", bad[0].span, f"unknown word '{bad[0].value}'", near(bad[0].value, known))
    return Problem("LB0204", span, f"cannot read '{text}' as ({part.name}: {part.type})", f"the phrase is: {p.phrase.text}      ({_where(p)})")


def _which(span: Span, text: str, kind: T) -> Problem:
    return Problem("LB0214", span, f"which {kind.base}? '{text}' only describes one",
                   f"say '{article(text)}' to choose one, 'each {text}' for all in turn, or 'the {text}' if there is exactly one")


def _smallest(reader: Reader, clause: Clause) -> Span:
    """The first stretch that nothing reads, or the whole clause."""
    for i in range(reader.n):
        if not any(reader.expr(a, b) for a in range(i + 1) for b in range(i + 1, reader.n + 1)) and reader.w[i] not in _COMMON:
            return reader.t[i].span
    return clause.span


def bracketed(r: ir.Expr) -> str:
    """A reading with its slots in brackets, to show two readings side by side."""
    match r:
        case ir.Call(pattern=p, args=args):
            filled = dict(args)
            return " ".join(x.shown if isinstance(x, Lit) else f"({bracketed(filled[x.name])})" for x in p.parts)
        case ir.Noun(det=det, kinds=kinds, filters=filters):
            return " ".join(filter(None, [det, *(f.name for f in filters if isinstance(f, ir.Adj)), " or ".join(kinds),
                                          *(_filter(f) for f in filters if not isinstance(f, ir.Adj))]))
        case ir.FieldOf(owner=owner, name=name) | ir.ZoneOf(owner=owner, name=name):
            return f"({bracketed(owner)})'s {name}"
        case ir.Compare(op=op, left=a, right=b) | ir.Arith(op=op, left=a, right=b) | ir.Logic(op=op, left=a, right=b):
            return f"({bracketed(a)}) {op} ({bracketed(b)})"
        case ir.Is(negated=negated, subject=a, test=b):
            return f"({bracketed(a)}) is {'not ' if negated else ''}({bracketed(b)})"
        case ir.Rel(pattern=p, args=args):
            filled = dict(args)
            return " ".join(x.shown if isinstance(x, Lit) else f"({bracketed(filled[x.name])})" for x in p.parts[1:])
        case ir.Local(name=name) | ir.GlobalValue(name=name) | ir.GlobalZone(name=name) | ir.CardRef(name=name) | ir.Ref(name=name) | ir.Adj(name=name):
            return name
        case ir.Number(value=value) | ir.WordValue(value=value):
            return str(value)
    return type(r).__name__.lower()


def _filter(f: ir.Expr) -> str:
    return "where (...)" if isinstance(f, ir.Where) else bracketed(f)
