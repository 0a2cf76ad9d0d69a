"""Expressions after reading: every clause becomes one of these, typed, with its place in the text.

Two readings are the same if these are equal; places in the text do not count. `lits` is the number of literal
words a reading used: of several readings the one with most wins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from .source import Span
from .types import T

if TYPE_CHECKING:
    from .vocabulary import Pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Expr:
    type: T
    span: Span = field(compare=False)
    lits: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Expr):
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth(Expr):
    value: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Expr):
    """A quoted text. Parts are texts and expressions between {braces}."""

    parts: tuple[str | Expr, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordValue(Expr):
    """A word of an enumeration, or a face of a die."""

    value: str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class AllWords(Expr):
    """All words of an enumeration, or a stretch of them."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing(Expr):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Expr):
    """All seats together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Local(Expr):
    """A name bound in this text: a slot, a loop variable, `you`, `self`, `it`."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalValue(Expr):
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalZone(Expr):
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref(Expr):
    """A name of the language used as a value: a counter, field, ability, die, window."""

    sort: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRef(Expr):
    """A printed name."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldOf(Expr):
    owner: Expr
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneOf(Expr):
    owner: Expr
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Adj(Expr):
    """An adjective as a test of something. `kinds` are those it is declared for; word: of an enumeration."""

    name: str
    kinds: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    flag: bool = False  # the name of a truth field


@dataclass(frozen=True, slots=True, kw_only=True)
class Rel(Expr):
    """A relation as a test of something: its first slot is what is tested."""

    pattern: Pattern
    args: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Where(Expr):
    test: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Best(Expr):
    """`with the most FIELD` (sign 1), `with the least FIELD` (-1), `nearest to X` (0): narrows to the best, ties stay."""

    field: str
    sign: int
    to: Expr | None = None
    value: Expr | None = None  # any number worked out from `it`, instead of a field


Filter: TypeAlias = Adj | Rel | Where | Best


@dataclass(frozen=True, slots=True, kw_only=True)
class Noun(Expr):
    """`[determiner] adjective* kind (or kind)* filter*`"""

    det: str
    kinds: tuple[str, ...]
    filters: tuple[Filter, ...]
    count: Expr | None = None
    other: bool = False  # "another", "other": not the one who speaks


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Expr):
    """A phrase with its slots filled: a query, a value, a verb, a modifier."""

    pattern: Pattern
    args: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyValue(Expr):
    """In the pattern of a rule: whatever it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare(Expr):
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Is(Expr):
    """`X is [not] ...`: an adjective, a relation, a description, the same value, nothing."""

    negated: bool
    subject: Expr
    test: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Logic(Expr):
    op: str  # and, or
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Not(Expr):
    inner: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Arith(Expr):
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Negative(Expr):
    inner: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Both(Expr):
    """Several things together: `self and the cards in hand`."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Without(Expr):
    """A set less some of it: `cards in hand - chosen`."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomOf(Expr):
    among: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Gets(Expr):
    """`X gets +1 FIELD` or `VALUE gets +1`; `how` is gets or has."""

    how: str
    subject: Expr | None
    field: str
    pattern: Pattern | None
    args: tuple[tuple[str, Expr], ...]
    amount: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Running(Expr):
    """`turn of h is running`"""

    scope: str
    subject: Expr | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeRef(Expr):
    """A running scope in a rule's pattern or a duration: `turn of any player`, `end of attack`."""

    scope: str
    subject: Expr | None
    moment: str = ""  # start, end, or nothing in a rule's pattern
