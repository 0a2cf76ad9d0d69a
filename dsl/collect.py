"""First pass over the trees: gather what the packs declare into a Vocabulary.

Names first (kinds, words, cards), then what needs their types (fields, phrases). Two declarations of one name
are a problem that names both places; a second `kind` of the same name only adds members.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

from . import nodes as n
from .explain import near
from .problems import Problem
from .source import Span
from .types import BASIC, DONE, TRUTH, T, plural_of
from .vocabulary import (
    STARTERS,
    AdjInfo,
    FieldInfo,
    Lit,
    Pattern,
    Phrase,
    SlotPart,
    Vocabulary,
    WindowInfo,
    skeleton_of,
    slots_of,
    variants,
)

SEEN = {
    "seen by nobody": "nobody",
    "hidden": "nobody",
    "seen by owner": "owner",
    "seen by all": "all",
    "open": "all",
}
_BOUNDS = re.compile(r"(\d+) to (\d+)")


class Collector:
    def __init__(self) -> None:
        self.v = Vocabulary()
        self.problems: list[Problem] = []
        self._declared: dict[tuple[str, str], Span] = {}
        self._parent_spans: dict[tuple[str, str], Span] = {}
        for name in ("box", "removed"):
            self.v.zones[name] = FieldInfo(name, "zone", T("zone"), "", Span("std.box", 1, 1, 1, 2))

    def collect(self, decls: Iterable[n.Decl]) -> None:
        every = list(decls)
        for decl in every:
            self._names(decl)
        self._check_kinds()
        for decl in every:
            self._typed(decl)
        for decl in every:
            for scope in scopes_in(decl):
                self.v.scopes.add(scope)
        for decl in every:
            if isinstance(decl, n.Window) and decl.amid is not None:
                self._amid(decl)
        self._check_overlaps()

    def fail(self, code: str, span: Span, what: str, help_: str = "") -> None:
        self.problems.append(Problem(code, span, what, help_))

    def _declare(self, sort: str, name: str, span: Span) -> bool:
        first = self._declared.setdefault((sort, name), span)
        if first is not span:
            self.fail(
                "LB0301",
                span,
                f"{sort} '{name}' is declared twice",
                f"first declared at {first.file}:{first.line}",
            )
        return first is span

    # ------------------------------------------------------------ names
    def _names(self, decl: n.Decl) -> None:
        match decl:
            case n.Kind(name=name, parents=parents, plural=plural, when=when):
                self._kind_spans(decl)
                self._kind(
                    decl,
                    str(name),
                    [str(p) for p in parents.names] if parents else [],
                    str(plural) if plural else None,
                    when,
                )
            case n.Words(names=(head, *words)):
                known = self.v.enums.setdefault(str(head), ())  # a second list of the same name adds to it
                for word in words:
                    if self._declare(f"word of {head}", str(word), word.span):
                        known += (str(word),)
                        self.v.enum_of.setdefault(str(word), []).append(str(head))
                self.v.enums[str(head)] = known
            case n.Die(name=name, faces=faces):
                if self._declare("die", str(name), name.span):
                    self._die(str(name), faces)
            case n.ZoneDecl(name=name) if str(name) in ("box", "removed"):
                self.fail("LB0301", name.span, f"every game has the zone '{name}'", "choose another name")
            case n.ZoneDecl(name=name, traits=traits):
                if self._declare("zone", str(name), name.span):
                    self.v.zones[str(name)] = self._zone(str(name), traits, name.span, "")
            case n.Supply(kind=kind):
                self.v.zones[f"{kind} supply"] = FieldInfo(f"{kind} supply", "zone", T("zone"), "", kind.span)
            case n.Window(name=name):
                if self._declare("window", str(name), name.span):
                    self.v.windows[str(name)] = WindowInfo(str(name), decl, len(self.v.windows))
            case n.Game(lines=lines):
                said = [str(line.clauses[0]) for line in lines if isinstance(line, n.GameLine)]
                for pattern in (
                    r"each seat is an? (.+)",
                    r"you are an? (.+)",
                ):  # the second one, if there, counts
                    for text in said:
                        if m := re.fullmatch(pattern, text):
                            self.v.you = m[1]

    def _kind_spans(self, decl: n.Kind) -> None:
        for parent in decl.parents.names if decl.parents else ():
            self._parent_spans[str(decl.name), str(parent)] = parent.span

    def _kind(
        self, decl: n.Kind, name: str, parents: list[str], plural: str | None, when: n.Clause | None
    ) -> None:
        info = self.v.kinds.get(name)
        if info is None:
            if name in BASIC:
                self.fail(
                    "LB0301", decl.name.span, f"'{name}' is a type of the language", "choose another name"
                )
                return
            info = self.v.add_kind(
                name, decl.name.span, parents or ([] if name == "thing" else ["thing"]), plural
            )
        elif parents:
            info.parents += [p for p in parents if p not in info.parents]
            self.v._lineage.clear()
        info.when = info.when or when
        info.members += decl.members

    def _die(self, name: str, faces: tuple[n.FaceSpec, ...]) -> None:
        self.v.dice[name] = [face_value(f) for f in faces]
        head, _, last = name.rpartition(" ")
        many = (head + " " + ("dice" if last == "die" else plural_of(last))).strip()
        self.v.die_names |= {name: name, many: name}
        for face in faces:
            for part in face.parts:
                word = str(part) if isinstance(part, n.Name) else ""
                if word and "face" not in self.v.enum_of.setdefault(word, []):
                    self.v.enum_of[word].append("face")

    def _check_kinds(self) -> None:
        for info in list(self.v.kinds.values()):
            for parent in info.parents:
                if parent not in self.v.kinds:
                    span = self._parent_spans.get((info.name, parent), info.span)
                    self.fail("LB0201", span, f"unknown kind '{parent}'", near(parent, list(self.v.kinds)))
            info.parents = [p for p in info.parents if p in self.v.kinds]
        for info in self.v.kinds.values():
            if any(info.name in self.v.lineage(p) for p in info.parents):
                self.fail(
                    "LB0302",
                    info.span,
                    f"kind '{info.name}' is, in the end, itself",
                    "take one 'is' of the circle away",
                )
        if any(p.code == "LB0302" for p in self.problems):
            for info in self.v.kinds.values():
                info.parents = [] if info.name == "thing" else ["thing"]
            self.v._lineage.clear()

    # ------------------------------------------------------------ what needs types
    def _typed(self, decl: n.Decl) -> None:
        match decl:
            case n.Kind(name=name, members=members) if str(name) in self.v.kinds:
                for member in members:
                    self._member(str(name), member)
            case n.State(name=name, type=kind):
                if self._declare("state", str(name), name.span):
                    self.v.values[str(name)] = self.type_of(kind)
            case n.Game(lines=lines):
                for line in lines:
                    if isinstance(line, n.Setting) and self._declare("state", str(line.name), line.name.span):
                        self.v.values[str(line.name)] = self.type_of(line.type)
                        self.v.settings.append(str(line.name))
            case n.Adjective(name=name, kind=kind):
                if str(kind) not in self.v.kinds:
                    self.fail(
                        "LB0201", kind.span, f"unknown kind '{kind}'", near(str(kind), list(self.v.kinds))
                    )
                    return
                if decl.mark is not None and decl.mark.value == "primitive" and decl.span.file != "std.box":
                    self.fail(
                        "LB0221",
                        decl.mark.span,
                        "only the standard pack has primitives",
                        "write what it means, in text",
                    )
                elif self._declare("adjective", f"{name} for {kind}", name.span):
                    number = sum(len(a) for a in self.v.adjectives.values())
                    self.v.adjectives.setdefault(str(name), []).append(
                        AdjInfo(str(name), str(kind), decl, number)
                    )
            case n.Card(kind=kind, name=name):
                for words in combinations(self.v, decl):
                    self.v.cards.setdefault(filled(name.value.strip('"'), words), str(kind))
            case n.CardTable(kind=kind, rows=rows):
                for row in rows:
                    self.v.cards.setdefault(row.value[1:].split("|")[0].strip(), str(kind))
            case n.Board(parts=parts):
                for space, of_kind in named_spaces(parts):
                    self.v.cards.setdefault(space, of_kind if of_kind in self.v.kinds else "space")
            case n.Verb() | n.Query() | n.Value() | n.Relation() | n.Modifier():
                self._phrase(decl)

    def name_spaces(self, spaces: Iterable[dict[str, Any]]) -> None:
        """Spaces can be named in texts (`move self to d2`); a word that the game itself uses keeps its meaning."""
        v = self.v
        taken = {*v.values, *v.zones, *v.enum_of, *v.enums, *v.nouns, *v.windows, *v.die_names}
        for spec in spaces:
            name, known = spec["name"], v.cards.get(spec["name"], spec["kind"])
            if name not in taken and v.is_a(known, "space"):
                v.cards[name] = v.common([known, spec["kind"]])

    def type_of(self, kind: n.Type) -> T:
        found = self.v.read_type(str(kind))
        if found is None:
            text = str(kind).rstrip("?").removeprefix("set of ").removeprefix("kind of ")
            self.fail(
                "LB0206",
                kind.span,
                f"unknown type '{text}'",
                near(text, [*BASIC, *self.v.kinds, *self.v.enums]),
            )
            return T("any")
        return found

    def _member(self, kind: str, member: n.Member) -> None:
        info = self.v.kinds[kind]
        match member:
            case n.Field(name=name, type=type_, default=default, traits=traits):
                made = FieldInfo(
                    str(name), "field", self.type_of(type_), kind, name.span, default, traits=traits.clauses
                )
                self._bounds(made, traits)
                self._add_field(kind, made)
            case n.Counter(name=name, traits=traits):
                made = FieldInfo(
                    str(name), "counter", T("number"), kind, name.span, low=0, traits=traits.clauses
                )
                self._bounds(made, traits)
                self._add_field(kind, made)
            case n.ZoneDecl(name=name, traits=traits):
                self._add_field(kind, self._zone(str(name), traits, name.span, kind))
            case n.AbilityDecl(name=name):
                if str(name) in info.abilities and info.abilities[str(name)] is not member:
                    self.fail("LB0301", name.span, f"ability '{name}' of {kind} is declared twice")
                info.abilities[str(name)] = member
            case n.Voice(word=word) if word.value == "copies are":
                info.alike = True

    def _add_field(self, kind: str, made: FieldInfo) -> None:
        info = self.v.kinds[kind]
        if made.name in info.fields:
            first = info.fields[made.name].span
            self.fail(
                "LB0301",
                made.span,
                f"'{made.name}' of {kind} is declared twice",
                f"first declared at {first.file}:{first.line}",
            )
            return
        for other in self.v.kinds.values():
            twin = other.fields.get(made.name)
            if twin is not None and (twin.type.sure() != made.type.sure() or twin.sort != made.sort):
                self.fail(
                    "LB0301",
                    made.span,
                    f"'{made.name}' is {twin.sort} of type {twin.type} in {other.name}, and of type {made.type} here",
                    f"use another name, or the type of {twin.span.file}:{twin.span.line}",
                )
                return
        info.fields[made.name] = made
        self.v._columns = None

    def _bounds(self, made: FieldInfo, traits: n.Traits) -> None:
        for trait in traits.clauses:
            text = str(trait)
            if m := _BOUNDS.fullmatch(text):
                made.low, made.high = int(m[1]), int(m[2])
            elif m := re.fullmatch(r"at least (\d+)", text):
                made.low = int(m[1])
            elif m := re.fullmatch(r"at most (\d+)", text):
                made.high = int(m[1])
            elif text == "any number":
                made.low = None
            elif text in SEEN:
                made.seen = SEEN[text]
            elif text == "for people":
                made.for_people = True
            elif m := re.fullmatch(r"kept per (.+)", text):
                made.kept = m[1]
            elif text == "untold":
                made.untold = True
            else:
                self.fail(
                    "LB0221",
                    trait.span,
                    f"'{text}' says nothing about a field",
                    "known: kept per turn, 0 to 5, at least 0, at most 5, any number, untold, hidden, seen by owner, "
                    "seen by all, for people",
                )

    def _zone(self, name: str, traits: n.Traits, span: Span, kind: str) -> FieldInfo:
        made = FieldInfo(name, "zone", T("zone"), kind, span)
        for trait in traits.clauses:
            text = str(trait)
            if text in SEEN:
                made.seen = SEEN[text]
            elif text == "live":
                made.live = True
            else:
                self.fail(
                    "LB0221",
                    trait.span,
                    f"'{text}' says nothing about a zone",
                    "known: hidden, seen by owner, seen by all, open, live",
                )
        return made

    # ------------------------------------------------------------ phrases
    def _phrase(self, decl: n.Verb | n.Query | n.Value | n.Relation | n.Modifier) -> None:
        sort = type(decl).__name__.lower()
        match decl:
            case n.Verb(gives=gives):
                given = self.type_of(gives) if gives is not None else DONE
            case n.Query(gives=gives) | n.Value(gives=gives):
                given = self.type_of(gives)
            case n.Relation():
                given = TRUTH
            case _:
                given = DONE
        mark = getattr(decl, "mark", None)
        if mark is not None and mark.value == "primitive" and decl.span.file != "std.box":
            self.fail(
                "LB0221", mark.span, "only the standard pack has primitives", "write what it means, in text"
            )
            return
        slots = {str(s.name): self.type_of(s.type) for s in slots_of(decl.pattern.parts)}
        defaults = {str(s.name): s.default for s in slots_of(decl.pattern.parts) if s.default is not None}
        every = variants(self.v, decl.pattern.parts, isinstance(decl, n.Verb))
        phrase = Phrase(
            sort,
            len(self.v.phrases),
            str(decl.pattern),
            slots,
            defaults,
            given,
            decl,
            mark.value if mark else "",
            decl.pattern.span,
            skeleton_of(every[0]),
        )
        if not self._check_pattern(decl, every, slots, defaults):
            return
        self.v.phrases.append(phrase)
        for parts in every:
            words = tuple(p.forms for p in parts if isinstance(p, Lit))
            self.v.patterns[sort].append(Pattern(phrase, tuple(parts), words))

    def _check_pattern(
        self, decl: Any, every: list[list[Any]], slots: dict[str, T], defaults: dict[str, n.Clause]
    ) -> bool:
        """A phrase needs words of its own, slots that can be told apart, and a default for what may be left out."""
        span = decl.pattern.span
        for parts in every:
            if not any(isinstance(p, Lit) for p in parts):
                self.fail("LB0216", span, "a phrase needs at least one word of its own")
                return False
            for part in parts:
                if isinstance(part, Lit) and (bad := part.forms & {"may", "called", "until"}):
                    self.fail(
                        "LB0217",
                        span,
                        f"'{min(bad)}' ends a clause, so no phrase can use it",
                        "choose another word",
                    )
                    return False
            first = parts[0]
            subject = any(
                isinstance(v[0], SlotPart) for v in every
            )  # `h turns around`: then it can be told apart
            if (
                isinstance(decl, n.Verb | n.Modifier)
                and isinstance(first, Lit)
                and (bad := first.forms & STARTERS)
                and not subject
            ):
                self.fail(
                    "LB0217",
                    span,
                    f"'{min(bad)}' already begins a statement of the language",
                    "begin the phrase with another word",
                )
                return False
            for a, b in pairwise(parts):
                if (
                    isinstance(a, SlotPart)
                    and isinstance(b, SlotPart)
                    and not (self._narrow(a.type) or self._narrow(b.type))
                ):
                    self.fail(
                        "LB0215",
                        span,
                        f"nothing shows where ({a.name}) ends and ({b.name}) begins",
                        f"put a word between them, for example: ({a.name}: {a.type}) to ({b.name}: {b.type})",
                    )
                    return False
        return True

    def _narrow(self, t: T) -> bool:
        return t.base in ("number", "counter", "die", "face") or t.base in self.v.enums

    def _amid(self, decl: n.Window) -> None:
        assert decl.amid is not None
        found = find_verb(self.v, decl.amid)
        if found is None:
            self.fail(
                "LB0203",
                decl.amid.span,
                f"no verb is written '{decl.amid}'",
                "write the verb with its slots in brackets: give (n) cards to (p)",
            )
            return
        self.v.windows[str(decl.name)].amid = found

    def _check_overlaps(self) -> None:
        """Two phrases with the same words and slots of the same types could never be told apart."""
        seen: dict[tuple[Any, ...], Phrase] = {}
        for sort, patterns in self.v.patterns.items():
            for p in list(patterns):
                shape = (
                    sort,
                    *(tuple(sorted(x.forms)) if isinstance(x, Lit) else x.type.sure() for x in p.parts),
                )
                first = seen.setdefault(shape, p.phrase)
                if first is not p.phrase:
                    self.fail(
                        "LB0304",
                        p.phrase.span,
                        f"this {sort} reads like another: {first.text}",
                        f"that one is declared at {first.span.file}:{first.span.line}; change a word of one of them",
                    )
                    patterns.remove(p)


def find_verb(v: Vocabulary, clause: n.Clause) -> Phrase | None:
    """The verb that a clause names, its slots in brackets by name: `give (n) cards to (p)`."""
    wanted = [
        x.items[0].value if isinstance(x, n.Group) and x.items and isinstance(x.items[0], n.Word) else x.value  # type: ignore[union-attr]
        for x in clause.items
    ]
    for p in v.patterns["verb"]:
        if len(p.parts) == len(wanted) and all(
            (w in part.forms) if isinstance(part, Lit) else (w == part.name)
            for part, w in zip(p.parts, wanted, strict=True)
        ):
            return p.phrase
    return None


DESIGNS_MAX = 5000  # cards that one line may make
_RANGE = re.compile(r"(.+?) from (.+) to (.+)")


def combinations(v: Vocabulary, decl: n.Card) -> list[dict[str, str]]:
    """`for each color for each trait from one to nine`: every combination of these words; none if one is unknown."""
    found: list[dict[str, str]] = [{}]
    for loop in decl.loops:
        name, low, high = loop_words(loop)
        words = v.enums.get(name, ())
        if low:
            if low not in words or high not in words:
                return []
            words = words[words.index(low) : words.index(high) + 1]
        if len(found) > DESIGNS_MAX:
            break  # told when the card is resolved
        found = [{**one, name: word} for one in found for word in words]
    return found


def loop_words(loop: n.ForWords) -> tuple[str, str, str]:
    """(name of the words, first, last) of a card's `for each`; first and last may be left out."""
    text = " ".join(loop.text.value.split()[2:])
    m = _RANGE.fullmatch(text)
    return (m[1], m[2], m[3]) if m else (text, "", "")


def filled(text: str, words: dict[str, str]) -> str:
    """A printed text with the words of one copy in its braces."""
    return re.sub(r"\{([^{}]*)\}", lambda m: words.get(m[1].strip(), m[0]), text)


def named_spaces(parts: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Spaces with a printed name, and their kind."""
    for part in parts:
        if isinstance(part, n.Legend):
            for clause in part.clauses[1:]:
                if m := re.fullmatch(r'called "(.+)"', str(clause)):
                    yield m[1], str(part.clauses[0])
        elif isinstance(part, n.BoardLine):
            if m := re.fullmatch(r'space "(.+)" is (.+)', str(part.clause)):
                yield m[1], m[2]
            elif m := re.fullmatch(r'\S+ is called "(.+)"', str(part.clause)):
                yield m[1], "space"


def face_value(face: n.FaceSpec) -> object:
    """A face: a number, or the tuple of its symbols."""
    parts: list[object] = [int(p.value) if isinstance(p, n.Word) else str(p) for p in face.parts]
    if len(parts) == 1 and isinstance(parts[0], int):
        return parts[0]
    return tuple(p for p in parts if p != "blank")


def scopes_in(node: Any) -> Iterator[str]:
    """The names of all phases, steps, turns and effects in a tree."""
    if isinstance(node, n.Scope):
        yield scope_name(node)[0]
        yield node.word.value
    for name in getattr(node, "__dataclass_fields__", ()):
        value = getattr(node, name)
        for child in value if isinstance(value, tuple) else (value,):
            if hasattr(child, "__dataclass_fields__") and not isinstance(child, Span):
                yield from scopes_in(child)


def scope_name(node: n.Scope) -> tuple[str, n.Clause | None]:
    """`turn of mover` is the scope "turn" of somebody; `phase night` is the scope "night"."""
    items = node.clause.items
    at = next((i for i, x in enumerate(items) if isinstance(x, n.Word) and x.value == "of"), None)
    words = items if at is None else items[:at]
    name = " ".join(x.value for x in words if isinstance(x, n.Word)) or node.word.value
    subject = n.Clause(node.clause.span, items[at + 1 :]) if at is not None and items[at + 1 :] else None
    return name, subject


Fail = Callable[[str, Span, str, str], None]
