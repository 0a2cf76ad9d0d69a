"""What resolving makes of the text: statements and units of code with every clause read.

The emitter turns these into Python; nothing in them is text any more, but each keeps its place in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from . import ir
from .source import Span
from .types import T
from .vocabulary import AdjInfo, Phrase, WindowInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class S:
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class SCall(S):
    """A verb carried out; its result may get a name, its modifier a duration."""

    call: ir.Expr
    name: str = ""
    until: ir.ScopeRef | None = None
    doer: str = ""  # `X may VERB`: the name of who does it, if it is not you
    order: tuple[str, ir.Expr | None] | None = None  # how an `each` in it is ordered


@dataclass(frozen=True, slots=True, kw_only=True)
class SIf(S):
    tests: tuple[tuple[ir.Expr, Body], ...]
    otherwise: Body | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SEach(S):
    name: str
    among: ir.Expr
    order: tuple[tuple[str, ir.Expr | None], ...]  # how, and by or from whom; the first counts most
    test: ir.Expr | None
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class SChoice(S):
    label: ir.Text
    test: ir.Expr | None
    loops: tuple[tuple[str, ir.Expr], ...]  # (name, among): the answers are made for each of these
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class SAsk(S):
    who: ir.Expr
    prompt: str | ir.Text
    choices: tuple[SChoice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SChoose(S):
    name: str
    what: ir.Expr
    who: ir.Expr | None
    prompt: str | ir.Text


@dataclass(frozen=True, slots=True, kw_only=True)
class SChooseNumber(S):
    name: str
    low: ir.Expr
    high: ir.Expr
    who: ir.Expr | None
    prompt: str | ir.Text


@dataclass(frozen=True, slots=True, kw_only=True)
class SMay(S):
    who: ir.Expr | None
    call: ir.Expr
    name: str
    they: str  # the name under which the doer is known inside
    body: Body | None
    otherwise: Body | None
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SRepeat(S):
    how: str  # times, while, until, ever
    test: ir.Expr | None
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class SLet(S):
    name: str
    value: ir.Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class SNow(S):
    place: ir.Expr
    value: ir.Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class SStop(S):
    what: str  # nothing: this effect; "repeating"; or a scope


@dataclass(frozen=True, slots=True, kw_only=True)
class SAnswer(S):
    value: ir.Expr
    several: bool = False  # the answer is a set, whatever the value is


@dataclass(frozen=True, slots=True, kw_only=True)
class SOffer(S):
    window: WindowInfo
    who: ir.Expr
    must: bool
    repeated: bool
    prompt: str | ir.Text


@dataclass(frozen=True, slots=True, kw_only=True)
class SPrevent(S):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class SSecretly(S):
    name: str
    among: ir.Expr
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class SScope(S):
    word: str
    scope: str
    subject: ir.Expr | None
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class SLasting(S):
    """Rules or modifiers that last until something begins or ends."""

    until: ir.ScopeRef
    rules: tuple[RuleUnit, ...]


Stmt: TypeAlias = (
    SCall
    | SIf
    | SEach
    | SAsk
    | SChoose
    | SChooseNumber
    | SMay
    | SRepeat
    | SLet
    | SNow
    | SStop
    | SAnswer
    | SOffer
    | SPrevent
    | SSecretly
    | SScope
    | SLasting
)
Body: TypeAlias = tuple[Stmt, ...]


# ---------------------------------------------------------------- units of code
@dataclass(slots=True, kw_only=True)
class VerbUnit:
    phrase: Phrase
    body: Body
    needs: tuple[ir.Expr, ...]
    stages: tuple[str, ...]
    again: tuple[str, ...]  # stages whose rules look again when one of them has changed something
    told: str
    defaults: dict[str, ir.Expr]
    span: Span
    amid: Phrase | None = None


@dataclass(slots=True, kw_only=True)
class QueryUnit:
    """A query, value or relation. `value` is its expression, `body` its statements."""

    phrase: Phrase
    value: ir.Expr | None
    body: Body
    defaults: dict[str, ir.Expr]
    span: Span
    low: int | None = None
    high: int | None = None
    seen: bool = False  # anybody may ask it, from outside the rules too


@dataclass(slots=True, kw_only=True)
class AdjUnit:
    info: AdjInfo
    test: ir.Expr | None
    body: Body
    span: Span


@dataclass(slots=True, kw_only=True)
class RuleUnit:
    """A rule that watches. `where` is as in kernel/rules.py; `timing` one of before, after, instead of,
    whenever, forbid, modifier."""

    number: int
    timing: str
    where: tuple[object, ...]
    self_kind: str
    pattern: ir.Call | ir.ScopeRef | ir.Gets | None
    test: ir.Expr | None  # of a whenever rule
    guard: tuple[ir.Expr, ...]
    body: Body
    once: str | None
    stage: str
    names: dict[str, str]  # other names of slots: kind -> slot
    captured: tuple[str, ...]
    span: Span


@dataclass(slots=True, kw_only=True)
class OptionUnit:
    number: int
    where: tuple[object, ...]
    self_kind: str
    label: ir.Text
    windows: tuple[WindowInfo, ...]
    by: tuple[str, ir.Expr] | None  # (name, description) of who may
    guard: tuple[ir.Expr, ...]
    choosing: tuple[tuple[str, ir.Expr], ...]
    costs: tuple[ir.Expr, ...]
    once: str | None
    body: Body
    span: Span


@dataclass(slots=True, kw_only=True)
class AbilityUnit:
    name: str
    label: str
    face: str
    needs: tuple[ir.Expr, ...]
    body: Body
    self_kind: str
    span: Span
    function: str = ""


@dataclass(slots=True, kw_only=True)
class FaceUnit:
    name: str
    fields: dict[str, ir.Expr] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class DesignUnit:
    """A printed card: one for each combination of its `for each` words."""

    number: int
    kind: str
    name: str
    copies: int
    fields: dict[str, ir.Expr]
    faces: list[FaceUnit]
    abilities: list[AbilityUnit]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class XAnswer(S):
    """A seat answers the open question, then the next ones."""

    seat: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class XLook(S):
    """What a seat may answer now; `how` is offered (exactly these), allowed, refused, or idle (not asked)."""

    how: str
    seat: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class XDice(S):
    """The next results of chance: a face is a number, or the tuple of its words."""

    faces: tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class XMark(S):
    """`given`, `when` or `then` begins."""

    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class XAct(S):
    """A statement, carried out now."""

    stmt: Stmt
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class XExpect(S):
    test: ir.Expr
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class XOutcome(S):
    """How the game stands: won or lost by these seats, drawn, over, not over."""

    how: str
    seats: tuple[str, ...] = ()


SceneStep: TypeAlias = XAnswer | XLook | XDice | XMark | XAct | XExpect | XOutcome


@dataclass(slots=True, kw_only=True)
class SceneUnit:
    title: str
    cites: tuple[str, ...]
    seats: tuple[str, ...]
    settings: dict[str, str]
    seed: int
    steps: tuple[SceneStep, ...]
    trace: bool
    span: Span


@dataclass(slots=True)
class LimitUnit:
    kind: str
    text_kind: str
    test: ir.Expr


@dataclass(slots=True)
class Units:
    """All code of a program, resolved."""

    verbs: list[VerbUnit] = field(default_factory=list)
    queries: list[QueryUnit] = field(default_factory=list)
    adjectives: list[AdjUnit] = field(default_factory=list)
    modifiers: dict[int, tuple[ir.Gets, ...]] = field(default_factory=dict)
    rules: list[RuleUnit] = field(default_factory=list)
    options: list[OptionUnit] = field(default_factory=list)
    designs: list[DesignUnit] = field(default_factory=list)
    only_with: dict[str, tuple[str, object]] = field(default_factory=dict)  # file -> setting, value
    sections: dict[str, list[Body]] = field(default_factory=dict)
    limits: list[LimitUnit] = field(default_factory=list)
    scenes: list[SceneUnit] = field(default_factory=list)
    voices: dict[str, ir.Expr] = field(default_factory=dict)
    askers: dict[str, ir.Expr] = field(default_factory=dict)
    starts: dict[str, str] = field(default_factory=dict)
    kind_defaults: dict[str, dict[str, ir.Expr]] = field(default_factory=dict)
    conditions: dict[str, ir.Expr] = field(default_factory=dict)  # kinds known by a condition
    values: dict[str, tuple[T, ir.Expr | None, str]] = field(
        default_factory=dict
    )  # name -> type, start, kept per
    value_spans: dict[str, Span] = field(default_factory=dict)
    untold: set[str] = field(default_factory=set)  # states that are book-keeping
    orders: ir.Expr | None = None
    waits: tuple[str, ...] = ()
    chosen_orders: tuple[str, ...] = ()  # verbs whose `each X` is done in an order somebody chooses
