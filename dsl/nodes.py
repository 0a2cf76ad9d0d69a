"""The tree of a file: one frozen class for each rule of grammar/longbox.lark.

A class takes its rule's children in order; a field of tuple type at the end takes all that remain. `build`
does that for every node, so a new rule needs a class here and nothing else. Clauses are kept as tokens:
stage 2 (reader.py) reads them once the vocabulary is known.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from lark import Token, Tree

from .source import Span, span_of


@dataclass(frozen=True, slots=True)
class Word:
    """One token of a clause: a word, number, text, operator or possessive."""

    span: Span
    type: str
    value: str


@dataclass(frozen=True, slots=True)
class Node:
    span: Span


@dataclass(frozen=True, slots=True)
class Group(Node):
    items: tuple[Item, ...]


Item: TypeAlias = Word | Group


@dataclass(frozen=True, slots=True)
class Clause(Node):
    items: tuple[Item, ...]

    def __str__(self) -> str:
        return text_of(self.items)


@dataclass(frozen=True, slots=True)
class Name(Node):
    words: tuple[Word, ...]

    def __str__(self) -> str:
        return " ".join(w.value for w in self.words)


@dataclass(frozen=True, slots=True)
class Type(Node):
    words: tuple[Word, ...]

    def __str__(self) -> str:
        return " ".join(w.value for w in self.words if w is not None).replace(" ?", "?")


@dataclass(frozen=True, slots=True)
class Path(Node):
    words: tuple[Word, ...]

    def __str__(self) -> str:
        return ".".join(w.value for w in self.words)


# ---------------------------------------------------------------- packs and games
@dataclass(frozen=True, slots=True)
class PackVersion(Node):
    version: Word


@dataclass(frozen=True, slots=True)
class PackNeeds(Node):
    path: Path
    version: Word | None


@dataclass(frozen=True, slots=True)
class PackAbout(Node):
    text: Word


@dataclass(frozen=True, slots=True)
class PackSeats(Node):
    least: Word
    most: Word | None


@dataclass(frozen=True, slots=True)
class Pack(Node):
    path: Path
    title: Word
    lines: tuple[PackVersion | PackNeeds | PackAbout | PackSeats, ...]


@dataclass(frozen=True, slots=True)
class GameLine(Node):
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Setting(Node):
    name: Name
    type: Type
    default: Clause | None


@dataclass(frozen=True, slots=True)
class Game(Node):
    title: Word
    lines: tuple[GameLine | Setting, ...]


# ---------------------------------------------------------------- what exists
@dataclass(frozen=True, slots=True)
class Parents(Node):
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Traits(Node):
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Field(Node):
    name: Name
    type: Type
    default: Clause | None
    traits: Traits


@dataclass(frozen=True, slots=True)
class Counter(Node):
    name: Name
    traits: Traits


@dataclass(frozen=True, slots=True)
class ZoneDecl(Node):
    name: Name
    traits: Traits


@dataclass(frozen=True, slots=True)
class AbilityDecl(Node):
    name: Name
    mods: Mods


@dataclass(frozen=True, slots=True)
class Voice(Node):
    """`you are OWNER` and `asks THE GROUP`: who speaks and who is asked in the text of a kind."""

    word: Word
    clause: Clause


@dataclass(frozen=True, slots=True)
class Kind(Node):
    name: Name
    parents: Parents | None
    plural: Name | None
    when: Clause | None
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Words(Node):
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class State(Node):
    name: Name
    type: Type
    default: Clause | None
    traits: Traits


@dataclass(frozen=True, slots=True)
class Supply(Node):
    count: Word
    kind: Name


@dataclass(frozen=True, slots=True)
class FaceSpec(Node):
    parts: tuple[Name | Word, ...]


@dataclass(frozen=True, slots=True)
class Die(Node):
    name: Name
    faces: tuple[FaceSpec, ...]


@dataclass(frozen=True, slots=True)
class Map(Node):
    clause: Clause
    rows: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Legend(Node):
    mark: Word
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Border(Node):
    clause: Clause
    rows: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class BoardLine(Node):
    clause: Clause


@dataclass(frozen=True, slots=True)
class Board(Node):
    name: Word
    traits: Traits
    parts: tuple[Map | Legend | Border | BoardLine, ...]


@dataclass(frozen=True, slots=True)
class ForWords(Node):
    text: Word


@dataclass(frozen=True, slots=True)
class Copies(Node):
    count: Word


@dataclass(frozen=True, slots=True)
class Card(Node):
    kind: Name
    name: Word
    parts: tuple[ForWords | Copies | CardLine | None, ...]

    @property
    def lines(self) -> tuple[CardLine, ...]:
        return tuple(p for p in self.parts if p is not None and not isinstance(p, ForWords | Copies))

    @property
    def loops(self) -> tuple[ForWords, ...]:
        return tuple(p for p in self.parts if isinstance(p, ForWords))

    @property
    def copies(self) -> Copies | None:
        return next((p for p in self.parts if isinstance(p, Copies)), None)


@dataclass(frozen=True, slots=True)
class CardTable(Node):
    """Cards as rows: the first column is the name."""

    kind: Name
    parts: tuple[Name | Word, ...]

    @property
    def columns(self) -> tuple[Name, ...]:
        return tuple(p for p in self.parts if isinstance(p, Name))

    @property
    def rows(self) -> tuple[Word, ...]:
        return tuple(p for p in self.parts if isinstance(p, Word))


@dataclass(frozen=True, slots=True)
class Face(Node):
    name: Word
    lines: tuple[CardLine, ...]


@dataclass(frozen=True, slots=True)
class Attribute(Node):
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class FileBlock(Node):
    """Values of every card of a file that has such a field, and the setting that puts the file into the box."""

    word: Word
    lines: tuple[Attribute, ...]

    @property
    def is_chosen(self) -> bool:
        """Does a setting decide whether the file is in the box?"""
        return any(str(line.clauses[0]).startswith("only with ") for line in self.lines)


@dataclass(frozen=True, slots=True)
class Ability(Node):
    clause: Clause
    mods: Mods
    body: RuleBody | Body


# ---------------------------------------------------------------- vocabulary
@dataclass(frozen=True, slots=True)
class Literal(Node):
    forms: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Slot(Node):
    name: Name
    type: Type
    default: Clause | None


@dataclass(frozen=True, slots=True)
class Optional(Node):
    parts: tuple[Part, ...]


Part: TypeAlias = Literal | Slot | Optional


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return _pattern_text(self.parts)


@dataclass(frozen=True, slots=True)
class Needs(Node):
    clause: Clause


@dataclass(frozen=True, slots=True)
class Stages(Node):
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Told(Node):
    text: Word


@dataclass(frozen=True, slots=True)
class Verb(Node):
    mark: Word | None
    pattern: Pattern
    gives: Type | None
    amid: Clause | None
    lines: tuple[Needs | Stages | Told | Stmt, ...]


@dataclass(frozen=True, slots=True)
class Query(Node):
    mark: Word | None
    pattern: Pattern
    gives: Type
    traits: Traits
    body: tuple[Clause | Block, ...]


@dataclass(frozen=True, slots=True)
class Value(Node):
    pattern: Pattern
    gives: Type
    default: Clause | None
    traits: Traits


@dataclass(frozen=True, slots=True)
class Relation(Node):
    mark: Word | None
    pattern: Pattern
    body: tuple[Clause | Block, ...]


@dataclass(frozen=True, slots=True)
class Adjective(Node):
    mark: Word | None
    name: Name
    kind: Name
    body: tuple[Clause | Block, ...]


@dataclass(frozen=True, slots=True)
class Modifier(Node):
    pattern: Pattern
    block: Block


@dataclass(frozen=True, slots=True)
class Window(Node):
    name: Name
    amid: Clause | None
    traits: Traits


# ---------------------------------------------------------------- rules
@dataclass(frozen=True, slots=True)
class Section(Node):
    word: Word
    block: Block


@dataclass(frozen=True, slots=True)
class Option(Node):
    label: Word
    mods: Mods
    body: RuleBody | Body


@dataclass(frozen=True, slots=True)
class Limit(Node):
    kind: Name
    text_kind: Name
    clause: Clause


@dataclass(frozen=True, slots=True)
class Passive(Node):
    block: Block


@dataclass(frozen=True, slots=True)
class Trigger(Node):
    timing: Word
    clause: Clause
    mods: Mods
    body: RuleBody | Body


@dataclass(frozen=True, slots=True)
class Whenever(Node):
    clause: Clause
    mods: Mods
    body: Body


@dataclass(frozen=True, slots=True)
class Forbid(Node):
    clause: Clause
    mods: Mods


@dataclass(frozen=True, slots=True)
class OnlyIf(Node):
    clause: Clause


@dataclass(frozen=True, slots=True)
class During(Node):
    clause: Clause


@dataclass(frozen=True, slots=True)
class By(Node):
    clause: Clause


@dataclass(frozen=True, slots=True)
class InOrder(Node):
    clause: Clause


@dataclass(frozen=True, slots=True)
class Once(Node):
    word: Word
    per: Clause | None


@dataclass(frozen=True, slots=True)
class Costs(Node):
    clause: Clause


@dataclass(frozen=True, slots=True)
class Choosing(Node):
    clause: Clause
    name: Name | None


@dataclass(frozen=True, slots=True)
class FromZone(Node):
    clause: Clause


@dataclass(frozen=True, slots=True)
class AtStage(Node):
    name: Name


@dataclass(frozen=True, slots=True)
class OnPass(Node):
    word: Word


@dataclass(frozen=True, slots=True)
class Saying(Node):
    text: Word


Mod: TypeAlias = (
    Saying | OnlyIf | During | By | InOrder | Once | Costs | Choosing | FromZone | AtStage | OnPass
)


@dataclass(frozen=True, slots=True)
class Mods(Node):
    items: tuple[Mod, ...]


# ---------------------------------------------------------------- statements
@dataclass(frozen=True, slots=True)
class Block(Node):
    stmts: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Body(Node):
    """A block, or one statement on the same line."""

    inner: Block | Stmt

    @property
    def stmts(self) -> tuple[Stmt, ...]:
        return self.inner.stmts if isinstance(self.inner, Block) else (self.inner,)


@dataclass(frozen=True, slots=True)
class CostsLine(Node):
    clause: Clause


@dataclass(frozen=True, slots=True)
class ChoosingLine(Node):
    clause: Clause
    name: Name | None


@dataclass(frozen=True, slots=True)
class RuleBody(Node):
    """The block of a rule: `needs`, `costs` and `choosing` lines, which are as good as comma parts, then statements."""

    parts: tuple[Needs | CostsLine | ChoosingLine | Stmt, ...]

    @property
    def stmts(self) -> tuple[Stmt, ...]:
        return tuple(p for p in self.parts if not isinstance(p, Needs | CostsLine | ChoosingLine))

    @property
    def mods(self) -> tuple[Mod, ...]:
        made: list[Mod] = []
        for part in self.parts:
            match part:
                case Needs(span=span, clause=clause):
                    made.append(OnlyIf(span, clause))
                case CostsLine(span=span, clause=clause):
                    made.append(Costs(span, clause))
                case ChoosingLine(span=span, clause=clause, name=name):
                    made.append(Choosing(span, clause, name))
        return tuple(made)


@dataclass(frozen=True, slots=True)
class Line(Node):
    clause: Clause
    name: Name | None
    until: Clause | None
    order: InOrder | None


@dataclass(frozen=True, slots=True)
class ElseIf(Node):
    test: Clause
    body: Body


@dataclass(frozen=True, slots=True)
class Otherwise(Node):
    body: Body


@dataclass(frozen=True, slots=True)
class IfStmt(Node):
    test: Clause
    body: Body
    others: tuple[ElseIf | Otherwise | None, ...]


@dataclass(frozen=True, slots=True)
class ForEach(Node):
    clause: Clause
    name: Name | None
    mods: Mods
    body: Body


@dataclass(frozen=True, slots=True)
class Choice(Node):
    label: Word
    test: Clause | None
    body: Body


@dataclass(frozen=True, slots=True)
class ChoiceEach(Node):
    clause: Clause
    name: Name | None
    choices: tuple[Choice | ChoiceEach, ...]


@dataclass(frozen=True, slots=True)
class Ask(Node):
    who: Clause
    mods: Mods
    choices: tuple[Choice | ChoiceEach, ...]


@dataclass(frozen=True, slots=True)
class Choose(Node):
    clause: Clause
    name: Name | None
    mods: Mods


@dataclass(frozen=True, slots=True)
class May(Node):
    who: Clause | None
    clause: Clause
    name: Name | None
    rest: tuple[Body | Otherwise | None, ...]


@dataclass(frozen=True, slots=True)
class MayLine(Node):
    who: Clause | None
    clause: Clause
    name: Name | None


@dataclass(frozen=True, slots=True)
class RepeatTimes(Node):
    clause: Clause
    body: Body


@dataclass(frozen=True, slots=True)
class RepeatWhile(Node):
    test: Clause
    body: Body


@dataclass(frozen=True, slots=True)
class RepeatUntil(Node):
    test: Clause
    body: Body


@dataclass(frozen=True, slots=True)
class RepeatEver(Node):
    body: Body


@dataclass(frozen=True, slots=True)
class Let(Node):
    name: Name
    clause: Clause


@dataclass(frozen=True, slots=True)
class Now(Node):
    clause: Clause


@dataclass(frozen=True, slots=True)
class Stop(Node):
    what: Word | Name | None


@dataclass(frozen=True, slots=True)
class Answer(Node):
    clause: Clause


@dataclass(frozen=True, slots=True)
class Offer(Node):
    clause: Clause
    mods: Mods


@dataclass(frozen=True, slots=True)
class Prevent(Node):
    pass


@dataclass(frozen=True, slots=True)
class Secretly(Node):
    clause: Clause
    name: Name | None
    body: Body


@dataclass(frozen=True, slots=True)
class Scope(Node):
    word: Word
    clause: Clause
    mods: Mods
    body: Body


@dataclass(frozen=True, slots=True)
class Lasting(Node):
    until: Clause
    body: Body


# ---------------------------------------------------------------- scenes
@dataclass(frozen=True, slots=True)
class WithPack(Node):
    path: Path


@dataclass(frozen=True, slots=True)
class Use(Node):
    clause: Clause


@dataclass(frozen=True, slots=True)
class Uses(Node):
    game: Path
    more: tuple[WithPack | Use, ...]


@dataclass(frozen=True, slots=True)
class Seed(Node):
    number: Word


@dataclass(frozen=True, slots=True)
class Dice(Node):
    faces: tuple[FaceSpec, ...]


@dataclass(frozen=True, slots=True)
class Answers(Node):
    who: Word
    keys: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Offered(Node):
    who: Word
    keys: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Allowed(Node):
    who: Word
    keys: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Refused(Node):
    who: Word
    keys: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Idle(Node):
    who: Word


@dataclass(frozen=True, slots=True)
class Act(Node):
    stmt: Stmt


@dataclass(frozen=True, slots=True)
class Expect(Node):
    clause: Clause


@dataclass(frozen=True, slots=True)
class Given(Node):
    steps: tuple[SceneStep, ...]


@dataclass(frozen=True, slots=True)
class When(Node):
    steps: tuple[SceneStep, ...]


@dataclass(frozen=True, slots=True)
class Then(Node):
    steps: tuple[SceneStep, ...]


@dataclass(frozen=True, slots=True)
class Trace(Node):
    pass


@dataclass(frozen=True, slots=True)
class Scene(Node):
    title: Word
    parts: tuple[Word | Uses | Seed | Given | Dice | When | Then | Trace | None, ...]


@dataclass(frozen=True, slots=True)
class Start(Node):
    decls: tuple[Decl, ...]


SceneStep: TypeAlias = Answers | Offered | Allowed | Refused | Idle | Act | Expect
Rule: TypeAlias = Trigger | Whenever | Forbid
Simple: TypeAlias = Line | Choose | Let | Now | Stop | Answer | Offer | Prevent | MayLine
Stmt: TypeAlias = (
    Simple
    | IfStmt
    | ForEach
    | Ask
    | May
    | RepeatTimes
    | RepeatWhile
    | RepeatUntil
    | RepeatEver
    | Secretly
    | Scope
    | Lasting
    | Rule
    | Passive
)
Member: TypeAlias = Field | Counter | ZoneDecl | AbilityDecl | Voice | Option | Passive | Rule
CardLine: TypeAlias = Attribute | Ability | Face | Passive | Option | Rule
Phrase: TypeAlias = Verb | Query | Value | Relation | Modifier
Decl: TypeAlias = (
    Pack
    | Game
    | Kind
    | Words
    | State
    | ZoneDecl
    | Supply
    | Die
    | Board
    | Window
    | Phrase
    | Adjective
    | Option
    | Section
    | Limit
    | Rule
    | Card
    | CardTable
    | FileBlock
    | Scene
)


# ---------------------------------------------------------------- from Lark's tree
def _snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")


def _node_classes() -> dict[str, tuple[type[Node], int, bool]]:
    """Rule name -> its class, how many fields it has, and whether the last one takes the rest."""
    found: dict[str, tuple[type[Node], int, bool]] = {}
    for cls in Node.__subclasses__():
        own = [f for f in fields(cls) if f.name != "span"]
        rest = bool(own) and str(own[-1].type).startswith("tuple[")
        found[_snake(cls.__name__)] = (cls, len(own), rest)
    return found


_CLASSES = _node_classes()


def build(file: str, tree: Tree[Token] | Token | None) -> Any:
    """Turn Lark's tree into nodes, children before parents."""
    if tree is None:
        return None
    if isinstance(tree, Token):
        return Word(span_of(file, tree), tree.type, str(tree))
    children = [build(file, child) for child in tree.children]
    cls, count, rest = _CLASSES[str(tree.data)]
    if rest:
        children = [*children[: count - 1], tuple(children[count - 1 :])]
    children += [None] * (count - len(children))
    return cls(span_of(file, tree.meta), *children)


def text_of(items: tuple[Item, ...]) -> str:
    """A clause as text again, brackets and all."""
    out = ""
    for item in items:
        piece = f"({text_of(item.items)})" if isinstance(item, Group) else item.value
        tight = isinstance(item, Word) and item.type in ("POSS", "COMMA")
        out += piece if tight or not out else " " + piece
    return out


def _pattern_text(parts: tuple[Part, ...]) -> str:
    out: list[str] = []
    for part in parts:
        match part:
            case Literal(forms=forms):
                out.append("/".join(w.value for w in forms))
            case Slot(name=name, type=kind):
                out.append(f"({name}: {kind})")
            case Optional(parts=inner):
                out.append(f"[{_pattern_text(inner)}]")
    return " ".join(out).replace(" 's", "'s")
