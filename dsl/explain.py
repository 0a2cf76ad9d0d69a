"""Saying what is wrong with a clause that cannot be read, and what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from . import ir
from .nodes import Clause, Group, Word
from .problems import Problem
from .reader import Reader
from .source import Span
from .types import T, article
from .vocabulary import Lit, PartInfo, Pattern, SlotPart, Vocabulary

_COMMON = frozenset(
    """
    each every all a an one any no the another random is are not and or where it you self they up to nothing
    none yes other group gets get of number 's
""".split()
)


def known_words(v: Vocabulary, env: dict[str, T]) -> set[str]:
    """Every word that some name or phrase in scope has."""
    names = [
        *env,
        *v.values,
        *v.zones,
        *v.nouns,
        *v.adjectives,
        *v.enum_of,
        *v.enums,
        *v.cards,
        *v.die_names,
        *v.windows,
        *v.columns(),
        *v.all_abilities(),
        *v.scopes,
    ]
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
    hit = difflib.get_close_matches(word, sorted(among), 1, 0.7 if len(word) > 3 else 0.6)
    return f"did you mean '{hit[0]}'?" if hit else ""


def said(t: T) -> str:
    """A type in a sentence: `a card`, `each card`, `a set of card`."""
    text = str(t.sure())
    return text if t.form in ("each", "ask", "asks", "some") else article(text)


def explain_value(clause: Clause, reader: Reader, want: T) -> Problem:
    """A clause that is no value of the wanted type."""
    shown = str(clause)
    if unknown := unknown_words(reader):
        return _unknown(unknown[0], known_words(reader.v, reader.env))
    got = reader.whole()
    if got and want.base != "any":
        kind = got[0].type
        if kind.form == "desc":
            return _which(clause.span, shown, kind)
        return Problem(
            "LB0205",
            clause.span,
            f"'{shown}' is {said(kind)}, but {said(want)} is needed here",
            _instead(kind, want),
        )
    wanted = f" as {said(want)}" if want.base != "any" else ""
    help_ = (
        "write: a number from 0 to 5"
        if shown == "a number"
        else _near_phrase(reader, ("query", "value", "relation"))
    )
    return Problem("LB0203", _smallest(reader, clause), f"cannot read '{shown}'{wanted}", help_)


def _instead(have: T, want: T) -> str:
    """How to make a value of another type of one."""
    if want.base == "truth" and not want.form:
        return "compare it with something, for example: X = 1" if have.base == "number" else ""
    if want.base == "number" and have.form == "set":
        return "write: number of (...)"
    return ""


def _unknown(word: Word, known: set[str]) -> Problem:
    return Problem("LB0202", word.span, f"unknown word '{word.value}'", near(word.value, known))


def explain_phrase(clause: Clause, reader: Reader, sort: str) -> Problem:
    """A clause that is no verb (or modifier): which one was meant, and which slot does not read?"""
    scored = _scored(reader, (sort,))
    for _, pattern in scored[:6]:
        if (bad := _bad_slot(pattern, reader)) is not None:
            return bad
    if unknown := unknown_words(reader):
        return _unknown_in_phrase(clause, reader, sort, unknown[0], scored)
    what = f"no {sort} reads '{clause}'"
    if scored and scored[0][0] > 0.55:
        return Problem("LB0203", clause.span, what, _meant(scored[0][1]))
    return Problem("LB0203", clause.span, what, f"declare it: {sort} {clause}")


def _unknown_in_phrase(
    clause: Clause, reader: Reader, sort: str, word: Word, scored: list[tuple[float, Pattern]]
) -> Problem:
    if scored and scored[0][0] > 0.75:
        help_ = f"did you mean: {scored[0][1].phrase.text}"
    else:
        help_ = near(word.value, known_words(reader.v, reader.env))
    if word is _flat(reader.t)[0]:
        return Problem(
            "LB0203", word.span, f"no {sort} reads '{clause}'", help_ or f"declare it: {sort} {clause}"
        )
    return Problem("LB0202", word.span, f"unknown word '{word.value}' in '{clause}'", help_)


def _where(p: Pattern) -> str:
    return f"{p.phrase.span.file}:{p.phrase.span.line}"


def _meant(p: Pattern) -> str:
    return f"did you mean: {p.phrase.text}      ({_where(p)})"


def _scored(reader: Reader, sorts: tuple[str, ...]) -> list[tuple[float, Pattern]]:
    """Phrases by how much of them stands in the clause, best first. A word or two may be missing."""
    mine = [w for w in reader.w if w]
    scored: list[tuple[float, int, Pattern]] = []
    for sort in sorts:
        for number, p in enumerate(reader.v.patterns[sort]):
            lits = [_likeness(part, mine) for part in p.parts if isinstance(part, Lit)]
            there = [x for x in lits if x >= 0.6]
            if lits[0] < 0.6 or (lits[0] < 1 and len(there) * 2 <= len(lits) > 1):
                continue
            full = all(x == 1 for x in lits)
            scored.append((sum(there) / len(lits) + min(len(there), 4) * 0.05 + full, -number, p))
    return [(score, p) for score, _, p in sorted(scored, key=lambda x: (-x[0], -x[1]))]


def _likeness(part: Lit, words: list[str]) -> float:
    return max((difflib.SequenceMatcher(None, f, w).ratio() for f in part.forms for w in words), default=0.0)


def _near_phrase(reader: Reader, sorts: tuple[str, ...]) -> str:
    scored = _scored(reader, sorts)
    return _meant(scored[0][1]) if scored else ""


def _bad_slot(p: Pattern, reader: Reader) -> Problem | None:
    """Lay down the literal words only, then say which slot does not read, or what is missing at the end."""
    complete = all(not reader.words.isdisjoint(forms) for forms in p.words)
    i = 0
    for k, part in enumerate(p.parts):
        if isinstance(part, Lit):
            if i < reader.n and reader.w[i] in part.forms:
                i += 1
                continue
            return _missing(p, part, reader, i)
        end = _slot_end(p, k, reader, i)
        if end <= i:
            return _missing(p, part, reader, i)
        if not reader.slot(part, i, end, 0, False):
            return _slot_problem(p, part, reader, i, end) if complete else None
        i = end
    return None


def _slot_end(p: Pattern, k: int, reader: Reader, i: int) -> int:
    """Where a slot ends: at the next word of the phrase, or with the clause."""
    after = p.parts[k + 1] if k + 1 < len(p.parts) else None
    if after is None:
        return reader.n
    if isinstance(after, Lit):
        return next((x for x in range(i, reader.n) if reader.w[x] in after.forms), reader.n)
    return min(i + 1, reader.n)


def _missing(p: Pattern, part: Lit | SlotPart, reader: Reader, i: int) -> Problem | None:
    if i < reader.n or i == 0:
        return None
    what = f"'{part.shown}'" if isinstance(part, Lit) else f"({part.name}: {part.type})"
    span = reader.span(reader.n - 1, reader.n)
    return Problem(
        "LB0204",
        Span(span.file, span.line, span.end_column, span.line, span.end_column + 1),
        f"{what} is missing",
        f"the phrase is: {p.phrase.text}",
    )


def _slot_problem(p: Pattern, part: SlotPart, reader: Reader, i: int, end: int) -> Problem:
    text, span = reader.text(i, end), reader.span(i, end)
    got: list[ir.Expr] = reader.expr(i, end)
    phrase = f"the phrase is: {p.phrase.text}      ({_where(p)})"
    if got:
        kind = got[0].type
        if kind.form == "desc":
            return _which(span, text, kind)
        return Problem(
            "LB0205",
            span,
            f"'{text}' is {said(kind)}, but ({part.name}: {part.type}) needs {said(part.type)}",
            phrase,
        )
    known = known_words(reader.v, reader.env)
    bad = [x for x in _flat(reader.t[i:end]) if x.type == "WORD" and x.value not in known]
    if bad:
        return _unknown(bad[0], known)
    return Problem("LB0204", span, f"cannot read '{text}' as ({part.name}: {part.type})", phrase)


def _which(span: Span, text: str, kind: T) -> Problem:
    return Problem(
        "LB0214",
        span,
        f"which {kind.base}? '{text}' only describes one",
        f"say '{article(text)}' to choose one, 'each {text}' for all in turn, "
        f"or 'the {text}' if there is exactly one",
    )


def _smallest(reader: Reader, clause: Clause) -> Span:
    """The first stretch that nothing reads, or the whole clause."""
    for i in range(reader.n):
        around = ((a, b) for a in range(i + 1) for b in range(i + 1, reader.n + 1))
        if reader.w[i] not in _COMMON and not any(reader.expr(a, b) for a, b in around):
            return reader.t[i].span
    return clause.span


def bracketed(r: ir.Expr) -> str:
    """A reading with its slots in brackets, to show two readings side by side."""
    match r:
        case ir.Call(pattern=p, args=args):
            return _laid_out(p.parts, args)
        case ir.Noun(det=det, kinds=kinds, filters=filters):
            before = [f.name for f in filters if isinstance(f, ir.Adj)]
            behind = [_filter(f) for f in filters if not isinstance(f, ir.Adj)]
            return " ".join(filter(None, [det, *before, " or ".join(kinds), *behind]))
        case ir.FieldOf(owner=owner, name=name) | ir.ZoneOf(owner=owner, name=name):
            return f"({bracketed(owner)})'s {name}"
        case ir.Compare() | ir.Arith() | ir.Logic():
            return f"({bracketed(r.left)}) {r.op} ({bracketed(r.right)})"
        case ir.Is(negated=negated, subject=a, test=b):
            return f"({bracketed(a)}) is {'not ' if negated else ''}({bracketed(b)})"
        case ir.Rel(pattern=p, args=args):
            return _laid_out(p.parts[1:], args)
        case ir.Local() | ir.GlobalValue() | ir.GlobalZone() | ir.CardRef() | ir.Ref() | ir.Adj():
            return r.name
        case ir.Number(value=value) | ir.WordValue(value=value):
            return str(value)
    return type(r).__name__.lower()


def _laid_out(parts: Sequence[PartInfo], args: Sequence[tuple[str, ir.Expr]]) -> str:
    filled = dict(args)
    return " ".join(x.shown if isinstance(x, Lit) else f"({bracketed(filled[x.name])})" for x in parts)


def _filter(f: ir.Expr) -> str:
    return "where (...)" if isinstance(f, ir.Where) else bracketed(f)
