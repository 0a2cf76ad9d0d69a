"""What packs declare: kinds, fields, zones, words, phrases. The passes that follow look everything up here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from . import nodes as n
from .source import Span
from .types import BASIC, T, plural_of

# Words that begin a statement, so that no verb may begin with them. docs/language.md lists them.
STARTERS = frozenset(
    {
        "if",
        "else",
        "for",
        "ask",
        "choose",
        "may",
        "repeat",
        "let",
        "now",
        "stop",
        "answer",
        "offer",
        "prevent",
        "secretly",
        "phase",
        "step",
        "turn",
        "effect",
        "before",
        "after",
        "instead",
        "until",
        "whenever",
        "forbid",
        "passive",
        "needs",
        "stages",
        "told",
        "costs",
        "choosing",
    }
)


@dataclass(slots=True)
class FieldInfo:
    """A field, counter or zone of a kind. Fields of one name in several kinds share a column and a type."""

    name: str
    sort: str  # field, counter, zone
    type: T
    kind: str
    span: Span
    default: n.Clause | None = None
    low: int | None = None
    high: int | None = None
    traits: tuple[n.Clause, ...] = ()
    seen: str = "all"
    live: bool = False
    kept: str = ""  # a scope with which it starts anew
    for_people: bool = False  # printed to be read; no text need look at it
    untold: bool = False  # book-keeping of the rules, of no interest to players


@dataclass(slots=True)
class KindInfo:
    name: str
    span: Span
    parents: list[str] = field(default_factory=list)
    plural: str = ""
    when: n.Clause | None = None
    fields: dict[str, FieldInfo] = field(default_factory=dict)
    abilities: dict[str, n.AbilityDecl] = field(default_factory=dict)
    members: list[n.Member] = field(default_factory=list)
    alike: bool = False


@dataclass(frozen=True, slots=True)
class Lit:
    forms: frozenset[str]
    shown: str


@dataclass(frozen=True, slots=True)
class SlotPart:
    name: str
    type: T


PartInfo: TypeAlias = Lit | SlotPart


@dataclass(eq=False, slots=True)
class Phrase:
    """A declared phrase: one verb, query, value, relation or modifier, with all its variants."""

    sort: str
    number: int
    text: str
    slots: dict[str, T]
    defaults: dict[str, n.Clause]
    gives: T
    decl: n.Verb | n.Query | n.Value | n.Relation | n.Modifier
    mark: str  # primitive, quiet or nothing
    span: Span
    skeleton: str  # literal words, with _ for slots; names a primitive

    @property
    def is_primitive(self) -> bool:
        return self.mark == "primitive"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way to write a phrase: its optional parts are there or not."""

    phrase: Phrase
    parts: tuple[PartInfo, ...]
    words: tuple[frozenset[str], ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self.phrase is other.phrase and self.parts == other.parts

    def __hash__(self) -> int:
        return hash((id(self.phrase), self.parts))

    def may_match(self, words: set[str]) -> bool:
        return all(not words.isdisjoint(forms) for forms in self.words)


@dataclass(slots=True)
class AdjInfo:
    name: str
    kind: str
    decl: n.Adjective
    number: int


@dataclass(slots=True)
class WindowInfo:
    name: str
    decl: n.Window
    number: int
    amid: Phrase | None = None


class Vocabulary:
    """Everything declared by the packs of a game."""

    def __init__(self) -> None:
        self.kinds: dict[str, KindInfo] = {}
        self.nouns: dict[str, tuple[str, bool]] = {}  # word(s) -> kind, is plural
        self.enums: dict[str, tuple[str, ...]] = {}
        self.enum_of: dict[str, list[str]] = {}
        self.values: dict[str, T] = {}  # values of the whole game
        self.settings: list[str] = []  # those that are agreed before a game
        self.zones: dict[str, FieldInfo] = {}
        self.dice: dict[str, list[object]] = {}
        self.die_names: dict[str, str] = {}
        self.windows: dict[str, WindowInfo] = {}
        self.adjectives: dict[str, list[AdjInfo]] = {}
        self.patterns: dict[str, list[Pattern]] = {
            s: [] for s in ("verb", "query", "value", "relation", "modifier")
        }
        self.phrases: list[Phrase] = []
        self.cards: dict[str, str] = {}  # printed name -> kind
        self.scopes: set[str] = set()
        self.you = "seat"
        self._lineage: dict[str, tuple[str, ...]] = {}
        self._columns: dict[str, FieldInfo] | None = None

    # ------------------------------------------------------------ kinds
    def lineage(self, kind: str) -> tuple[str, ...]:
        """A kind and all it is, nearest first."""
        found = self._lineage.get(kind)
        if found is None:
            order: dict[str, None] = {}
            queue = [kind]
            while queue:
                name = queue.pop(0)
                if name in self.kinds and name not in order:
                    order[name] = None
                    queue += self.kinds[name].parents
            found = self._lineage[kind] = tuple(order)
        return found

    def is_a(self, kind: str, wide: str) -> bool:
        if kind == wide or wide in self.lineage(kind):
            return True
        info = self.kinds.get(wide)  # known by a condition: tested when it runs
        return info is not None and info.when is not None and any(self.is_a(kind, p) for p in info.parents)

    def related(self, a: str, b: str) -> bool:
        """Can one thing be both?"""
        return (
            self.is_a(a, b) or self.is_a(b, a) or any(self.is_a(k, a) and self.is_a(k, b) for k in self.kinds)
        )

    def narrower(self, kind: str) -> Iterator[str]:
        return (k for k in self.kinds if kind in self.lineage(k))

    def common(self, kinds: Iterable[str]) -> str:
        names = list(kinds)
        for wide in self.lineage(names[0]):
            if all(wide in self.lineage(k) for k in names):
                return wide
        return "thing"

    def find_field(self, kind: str, name: str) -> FieldInfo | None:
        """A field of a kind, of a wider one, or (tested when it runs) of a narrower one."""
        for k in self.lineage(kind):
            if name in self.kinds[k].fields:
                return self.kinds[k].fields[name]
        for k in self.narrower(kind):
            if name in self.kinds[k].fields:
                return self.kinds[k].fields[name]
        when = self.kinds[kind].when if kind in self.kinds else None
        return self.columns().get(name) if when is not None else None

    def fields_of(self, kind: str) -> dict[str, FieldInfo]:
        found: dict[str, FieldInfo] = {}
        for k in reversed(self.lineage(kind)):
            found |= self.kinds[k].fields
        return found

    def columns(self) -> dict[str, FieldInfo]:
        """Every field and counter by name, whatever its kind."""
        if self._columns is None:
            self._columns = {
                f.name: f for k in self.kinds.values() for f in k.fields.values() if f.sort != "zone"
            }
        return self._columns

    def is_flag(self, name: str) -> bool:
        """A truth field is an adjective as well."""
        found = self.columns().get(name)
        return found is not None and found.type.base == "truth"

    def abilities_of(self, kind: str) -> dict[str, n.AbilityDecl]:
        found: dict[str, n.AbilityDecl] = {}
        for k in reversed(self.lineage(kind)):
            found |= self.kinds[k].abilities
        return found

    def all_abilities(self) -> set[str]:
        return {a for k in self.kinds.values() for a in k.abilities}

    def add_kind(self, name: str, span: Span, parents: list[str], plural: str | None) -> KindInfo:
        info = KindInfo(name, span, parents)
        head, _, last = name.rpartition(" ")
        info.plural = plural or (head + " " + plural_of(last)).strip()
        self.kinds[name] = info
        self.nouns[name] = (name, False)
        self.nouns[info.plural] = (name, True)
        return info

    # ------------------------------------------------------------ types
    def read_type(self, text: str) -> T | None:
        """A type as written: `number`, `figure?`, `set of card`, `kind of thing`."""
        maybe = text.endswith("?")
        text = text.rstrip("? ")
        for lead, form in (("set of ", "set"), ("kind of ", "desc")):
            if text.startswith(lead):
                inner = self.read_type(text[len(lead) :])
                return T(inner.base, form, maybe) if inner else None
        base = text
        if base not in BASIC and base not in self.kinds and base not in self.enums:
            if text not in self.nouns:
                return None
            base = self.nouns[text][0]
        return T(base, "", maybe)

    def fits(self, have: T, want: T) -> bool:
        """May something of one type stand where the other is wanted? A narrower kind may be asked of a wider
        name (tested when it runs); a forgotten determiner may not pass for a set."""
        if want.base == "any":
            return want.form != "set" or have.form in ("set", "asks") or have.base in ("roll", "path", "any")
        if have.base == "any":
            return True
        if have.base == "nothing":
            return want.maybe or want.base in self.kinds or want.base in self.enums
        if want.base == "place":
            return have.base == "zone" or (have.form in ("", "each", "ask") and have.base in self.kinds)
        if want.base == "seats":
            return have.base == "seats" or (
                have.base in self.kinds and have.form in ("", "set", "each", "asks", "ask")
            )
        if want.base == "field":
            return have.base in ("counter", "field")
        if want.base == "face" and have.base == "number":
            return not have.form
        if have.base not in self.kinds or want.base not in self.kinds:
            return have.base == want.base and self._forms_fit(have.form, want.form)
        if not (
            self.is_a(have.base, want.base)
            or (have.form != "desc" and self.related(have.base, want.base))
            or (have.form == "desc" and self.is_a(want.base, have.base))
        ):
            return False
        return self._forms_fit(have.form, want.form)

    @staticmethod
    def _forms_fit(have: str, want: str) -> bool:
        if want == "set":
            return have in ("set", "", "ask", "asks", "each")
        if want == "desc":
            return have in ("desc", "set", "ask")
        return have in ("", "each", "ask")


# ---------------------------------------------------------------- patterns
def variants(vocab: Vocabulary, parts: tuple[n.Part, ...], verb: bool = False) -> list[list[PartInfo]]:
    """Every way to write a pattern, the fullest first."""
    out: list[list[PartInfo]] = [[]]
    for at, part in enumerate(parts):
        match part:
            case n.Literal(forms=forms):
                words = ["'s" if w.type == "POSS" else w.value for w in forms]
                spread = {"your": "you", "its": "it", "their": "they"}.get(
                    words[0]
                )  # read as two words, see reader.py
                if verb and at > 0 and isinstance(parts[at - 1], n.Slot) and at == 1 and len(words) == 1:
                    words += plain_forms(words[0])
                more: list[list[PartInfo]] = [
                    [Lit(frozenset(words), words[0])]
                    if spread is None or len(words) > 1
                    else [Lit(frozenset({spread}), spread), Lit(frozenset({"'s"}), "'s")]
                ]
            case n.Slot(name=name, type=kind):
                more = [[SlotPart(str(name), vocab.read_type(str(kind)) or T("any"))]]
            case n.Optional(parts=inner):
                more = [*variants(vocab, inner), []]
        out = [a + b for a in out for b in more]
    return out


def plain_forms(word: str) -> list[str]:
    """`hits` behind a subject is also said `you hit`."""
    if not word.endswith("s") or word.endswith("ss") or len(word) < 3 or word in ("is", "has", "was", "gets"):
        return []
    return [word[:-1], word[:-2]] if word.endswith(("ches", "shes", "xes", "oes")) else [word[:-1]]


def slots_of(parts: tuple[n.Part, ...]) -> Iterator[n.Slot]:
    for part in parts:
        match part:
            case n.Slot():
                yield part
            case n.Optional(parts=inner):
                yield from slots_of(inner)


def skeleton_of(parts: Iterable[PartInfo]) -> str:
    return " ".join(p.shown if isinstance(p, Lit) else "_" for p in parts)
