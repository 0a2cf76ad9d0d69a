"""Scenes: small tests in text. Here they are read and compiled; scene_run.py runs them.

A file of scenes is parsed like any text. Each scene is then read with the vocabulary of its game and packs,
and its statements and conditions become functions with the lines of the .scene file, which live beside the
program's own. A game is compiled once, whatever the number of its scenes (`rules_of`).

The world of a compiled game is closed: a field that no text writes is shared between tables, a scope that no
text names is never entered. A scene that needs more than its game's text does (it writes such a field, it
brings rules of its own) gets the game compiled anew, together with its file; `_fits` decides. A file of
scenes may also declare things: then it is one more text of the game.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import CodeType
from typing import Any

from longbox.kernel.errors import LongboxError
from longbox.kernel.program import Program

from . import ir
from . import nodes as n
from . import pyast as py
from . import units as u
from .analysis import Analysis, walk
from .collect import Collector, face_value
from .compiler import Checked, emitter_of, parse_cached, read_packs
from .emit import Emitter
from .emit_core import BASE
from .emit_expr import Maker, Scope
from .explain import near
from .problems import Problem, TextError
from .reader import Env
from .resolve import Resolver
from .source import Source, Span
from .types import T

# The texts of a game with further packs; raises TextError or LongboxError.
Find = Callable[[str, tuple[str, ...]], Sequence[Source]]
Function = Callable[..., Any]

BORROW = "_ borrow the text of _"
_HAS = re.compile(r'("[^"]*"(?: and "[^"]*")*) (?:has|have) (won|lost)')
_STANDS = re.compile(r"(?:the )?game is (drawn|over|not over)")


# ---------------------------------------------------------------- what comes out
@dataclass(frozen=True, slots=True)
class Detail:
    """A part of a condition whose value is shown when the condition does not hold."""

    text: str
    value: Function
    is_thing: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """A scene that is ready to run."""

    unit: u.SceneUnit
    slug: str
    program: Program
    functions: dict[int, Function]  # number of a step -> what it does or tests
    details: dict[int, tuple[Detail, ...]]
    results: tuple[Sequence[object], ...]  # what chance may give, see results_of
    structure: frozenset[int]  # sites of the text of setup, round and scoring

    @property
    def title(self) -> str:
        return self.unit.title


def slug(title: str) -> str:
    """A title as the name of a test and of its trace: `three_in_a_row_wins`."""
    made = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")[:120].rstrip("_")
    return made if made[:1].isalpha() else f"scene_{made}".rstrip("_")


def traced_in(source: Source) -> set[str] | None:
    """The slugs of the scenes that keep a trace; nothing if the file cannot be parsed. Reads no game."""
    decls, problems = parse_cached(source)
    traced = [d for d in decls if isinstance(d, n.Scene) and _parts(d, n.Trace)]
    return None if problems else {slug(_text(d.title)) for d in traced}


def read_scenes(source: Source, find: Find) -> list[Scene]:
    """Every scene of a file, compiled. Raises TextError with all that is wrong with it."""
    decls, problems = parse_cached(source)
    file = _File(source, find, list(problems))
    scenes = [d for d in decls if isinstance(d, n.Scene)]
    file.check_titles(scenes)
    file.own = any(not isinstance(d, n.Scene) for d in decls)
    for uses, group in file.by_game(scenes).items():
        file.compile(uses, group)
    if file.problems:
        raise TextError(file.problems, {**file.sources, source.name: source})
    return sorted(file.made, key=lambda scene: scene.unit.span.line)


# ---------------------------------------------------------------- games, compiled once
@dataclass(frozen=True, eq=False)
class Rules:
    """A game with its packs: what was read, the emitter that knows all of it, and the program."""

    checked: Checked
    emitter: Emitter
    program: Program


@lru_cache(maxsize=64)
def rules_of(texts: tuple[Source, ...]) -> Rules:
    """Compile a game. Raises TextError."""
    return _compiled(_checked(texts))


def _checked(texts: tuple[Source, ...]) -> Checked:
    checked = read_packs(texts)
    if checked.errors:
        raise TextError(checked.errors, checked.sources)
    return checked


def _compiled(checked: Checked) -> Rules:
    emitter = emitter_of(checked)
    return Rules(checked, emitter, Program(emitter.emit()))


# ---------------------------------------------------------------- one file
@dataclass(frozen=True, slots=True)
class _Uses:
    """The game and packs that a scene plays with."""

    game: str
    packs: tuple[str, ...]


@dataclass
class _File:
    source: Source
    find: Find
    problems: list[Problem]
    own: bool = False  # it declares more than scenes: that belongs to the packs of its scenes
    sources: dict[str, Source] = field(default_factory=dict)
    made: list[Scene] = field(default_factory=list)

    def fail(self, span: Span, what: str, help_: str = "", code: str = "LB0501") -> None:
        self.problems.append(Problem(code, span, what, help_))

    def check_titles(self, scenes: Sequence[n.Scene]) -> None:
        seen: dict[str, n.Scene] = {}
        for scene in scenes:
            first = seen.setdefault(slug(_text(scene.title)), scene)
            if first is not scene:
                self.fail(
                    scene.title.span,
                    f"two scenes called {scene.title.value}",
                    f"the first is on line {first.title.span.line}",
                )

    def by_game(self, scenes: Sequence[n.Scene]) -> dict[_Uses, list[n.Scene]]:
        groups: dict[_Uses, list[n.Scene]] = {}
        for scene in scenes:
            found = _parts(scene, n.Uses)
            if not found and not self.own:
                self.fail(scene.title.span, "this scene has no game", "write: game NAME")
                continue
            for again in found[1:]:
                self.fail(again.span, "a second game in one scene", "make it a scene of its own")
            packs = tuple(str(x.path) for one in found for x in one.more if isinstance(x, n.WithPack))
            groups.setdefault(_Uses(str(found[0].game) if found else "", packs), []).append(scene)
        return groups

    def compile(self, uses: _Uses, scenes: list[n.Scene]) -> None:
        try:
            self._compile(uses, scenes)
        except TextError as error:
            self.problems += error.problems
            self.sources |= error.sources
        except LongboxError as error:
            span = next((x.game.span for x in _parts(scenes[0], n.Uses)), scenes[0].title.span)
            self.fail(span, str(error), code="LB0402")

    def _compile(self, uses: _Uses, scenes: list[n.Scene]) -> None:
        texts = tuple(self.find(uses.game, uses.packs)) if uses.game else ()
        if self.own:
            texts = (*texts, self.source)
        rules, units = rules_of(texts), u.Units()
        found = _Reader(self, rules.checked, rules.program, units).read(scenes)
        if not self.problems and not _fits(rules.emitter, units):
            checked = _checked((*texts, self.source))
            found = _Reader(self, checked, rules.program, checked.units).read(scenes)
            rules = _compiled(checked)
        if not self.problems:
            self.made += _emit(rules, self.source, found)


def _fits(emitter: Emitter, units: u.Units) -> bool:
    """Do these scenes stay within what the compiled game allows for?"""
    known, need = emitter.analysis, Analysis(emitter.v, units)
    return not (
        units.rules
        or any(known.is_fixed(name) for name in need.written - {"owner"})
        or (need.writes_any and not known.writes_any)
        or need.scopes - known.scopes
        or need.made_kinds - known.made_kinds
        or _emptied(units) - emitter.nullable - {"owner"}
        or any(isinstance(x, ir.Call) and x.pattern.phrase.skeleton == BORROW for x in walk(units.scenes))
    )


def _emptied(units: u.Units) -> set[str]:
    """The fields that scenes may set to nothing."""
    return {
        x.place.name
        for x in walk(units.scenes)
        if isinstance(x, u.SNow) and isinstance(x.place, ir.FieldOf)
        if isinstance(x.value, ir.Nothing) or x.value.type.maybe
    }


# ---------------------------------------------------------------- reading
class _Reader:
    """Reads scenes with the vocabulary of one game."""

    def __init__(self, file: _File, checked: Checked, program: Program, units: u.Units) -> None:
        self.file, self.checked, self.program, self.units = file, checked, program, units
        collector = Collector()
        collector.v, collector.problems = checked.vocab, file.problems
        for design in checked.units.designs:  # also the names made of words: "{color} {trait}"
            checked.vocab.cards.setdefault(design.name, design.kind)
        self.resolver = Resolver(collector)
        self.resolver.units = units
        numbers = [*(r.number for r in checked.units.rules), *(o.number for o in checked.units.options)]
        self.resolver._rule_count = 1 + max(numbers, default=0)
        self.lines = file.source.lines()

    def read(self, scenes: Sequence[n.Scene]) -> list[u.SceneUnit]:
        found = [self._scene(scene) for scene in scenes]
        self.units.scenes += found
        return found

    def _scene(self, decl: n.Scene) -> u.SceneUnit:
        seats, settings = self._table(decl)
        kind = str(self.checked.header["seat_kind"])
        env = self.resolver.base_env()
        del env["self"]
        env |= {name: T(space) for name, space in spaces_of(self.checked).items()}
        env |= {name: T(kind) for name in seats}
        steps: list[u.SceneStep] = []
        for part in decl.parts:
            steps += self._part(part, env, seats)
        if not any(isinstance(s, u.XAnswer | u.XLook | u.XAct | u.XExpect | u.XOutcome) for s in steps):
            self.file.fail(decl.title.span, "nothing happens in this scene", "write 'when:' and 'then:'")
        return u.SceneUnit(
            title=_text(decl.title),
            cites=tuple(p.value for p in decl.parts if isinstance(p, n.Word)),
            seats=seats,
            settings=settings,
            seed=next((int(s.number.value) for s in _parts(decl, n.Seed)), 1),
            steps=tuple(steps),
            trace=bool(_parts(decl, n.Trace)),
            span=decl.title.span,
        )

    def _table(self, decl: n.Scene) -> tuple[tuple[str, ...], dict[str, str]]:
        """Who sits at the table, and what was agreed."""
        number: int | None = None
        names: list[str] = []
        settings: dict[str, str] = {}
        for use in (x for one in _parts(decl, n.Uses) for x in one.more if isinstance(x, n.Use)):
            said = str(use.clause)
            if m := re.fullmatch(r"(\d+) seats?", said):
                number = int(m[1])
            elif m := re.fullmatch(r'(?:seats? )?"([^"]*)"', said):
                names.append(m[1])
            elif m := re.fullmatch(r"(.+?) = (.+)", said):
                settings[m[1]] = m[2].strip('"')
            else:
                self.file.fail(
                    use.span,
                    f"'{said}' says nothing about a game",
                    'known: 3 seats; seats "Ann", "Bob"; SETTING = VALUE; with PACK',
                )
        try:
            seats = self.program.seat_names(names or number)
            self.program.new_state(seats, 0, settings)
        except LongboxError as error:
            self.file.fail(next((x.span for x in _parts(decl, n.Uses)), decl.title.span), str(error))
            return (), settings
        return tuple(seats), settings

    def _part(self, part: Any, env: Env, seats: tuple[str, ...]) -> Iterator[u.SceneStep]:
        match part:
            case n.Dice(faces=faces):
                for spec in faces:
                    self._check_face(spec)
                yield u.XDice(span=part.span, faces=tuple(face_value(spec) for spec in faces))
            case n.Given(steps=steps) | n.When(steps=steps) | n.Then(steps=steps):
                yield u.XMark(span=part.span, word=type(part).__name__.lower())
                for step in steps:
                    yield from self._step(step, env, seats)

    def _check_face(self, spec: n.FaceSpec) -> None:
        value = face_value(spec)
        if not isinstance(value, int) and not any(value in results for results in results_of(self.checked)):
            words = {
                str(w)
                for results in results_of(self.checked)
                for r in results
                if isinstance(r, tuple)
                for w in r
            }
            shown = " + ".join(str(p) if isinstance(p, n.Name) else p.value for p in spec.parts)
            self.file.fail(
                spec.span, f"no die shows '{shown}', and it is no word of a list", near(shown, list(words))
            )

    def _step(self, step: n.SceneStep, env: Env, seats: tuple[str, ...]) -> Iterator[u.SceneStep]:
        match step:
            case n.Answers(who=who, keys=keys):
                yield u.XAnswer(span=step.span, seat=self._seat(who, seats), keys=tuple(map(_text, keys)))
            case (
                n.Offered(who=who, keys=keys) | n.Allowed(who=who, keys=keys) | n.Refused(who=who, keys=keys)
            ):
                how = type(step).__name__.lower()
                yield u.XLook(
                    span=step.span, how=how, seat=self._seat(who, seats), keys=tuple(map(_text, keys))
                )
            case n.Idle(who=who):
                yield u.XLook(span=step.span, how="idle", seat=self._seat(who, seats))
            case n.Act(stmt=stmt):
                for made in self.resolver.block((stmt,), env):
                    yield u.XAct(span=made.span, stmt=made, text=self.lines[stmt.span.line - 1].strip())
            case n.Expect(clause=clause):
                yield from self._expect(clause, env, seats)

    def _seat(self, who: n.Word, seats: tuple[str, ...]) -> str:
        name = _text(who)
        if seats and name not in seats:
            self.file.fail(
                who.span,
                f"nobody here is called {who.value}",
                near(name, list(seats)) or f"the seats are: {', '.join(seats)}",
            )
        return name

    def _expect(self, clause: n.Clause, env: Env, seats: tuple[str, ...]) -> Iterator[u.SceneStep]:
        said = str(clause)
        if m := _HAS.fullmatch(said):
            words = [x for x in clause.items if isinstance(x, n.Word) and x.type == "STRING"]
            yield u.XOutcome(span=clause.span, how=m[2], seats=tuple(self._seat(w, seats) for w in words))
        elif m := _STANDS.fullmatch(said):
            yield u.XOutcome(span=clause.span, how=m[1])
        elif (test := self.resolver.truth(clause, env)) is not None:
            for x in _asking(test):
                self.file.fail(
                    x.span,
                    "a condition may not ask anybody or roll dice",
                    "say 'the', 'any' or 'all'",
                    "LB0224",
                )
            yield u.XExpect(span=clause.span, test=test, text=said)


def results_of(checked: Checked) -> list[Sequence[object]]:
    """What chance may give: the faces of each die, and the words of each list as faces of one word."""
    return [*checked.vocab.dice.values(), *([(w,) for w in words] for words in checked.vocab.enums.values())]


def spaces_of(checked: Checked) -> dict[str, str]:
    """The spaces of the boards by name, with their kinds: in a scene `b2` is that space.

    A word that the game itself uses keeps its meaning.
    """
    v = checked.vocab
    taken = {*v.values, *v.zones, *v.cards, *v.enum_of, *v.enums, *v.nouns, *v.windows, *v.die_names}
    spaces = [spec for board in checked.boards for spec in board["spaces"]]
    found: dict[str, str] = {}
    for (
        spec
    ) in spaces:  # on boards that are never there together the same name may be a space of another kind
        if spec["name"] not in taken:
            found[spec["name"]] = v.common([spec["kind"], found.get(spec["name"], spec["kind"])])
    return found


def _parts(scene: n.Scene, cls: type[Any]) -> list[Any]:
    return [part for part in scene.parts if isinstance(part, cls)]


def _text(word: n.Word) -> str:
    return word.value.strip('"')


def _asking(test: ir.Expr) -> Iterator[ir.Expr]:
    tested = {id(x.test) for x in walk(test) if isinstance(x, ir.Is)}
    for x in walk(test):
        if isinstance(x, ir.RandomOf) or (
            isinstance(x, ir.Noun) and x.type.form in ("ask", "asks") and x.det != "the"
        ):
            if id(x) not in tested:
                yield x


# ---------------------------------------------------------------- emitting
def _emit(rules: Rules, source: Source, units: Sequence[u.SceneUnit]) -> list[Scene]:
    """Functions for every statement and condition, in one module named after the file."""
    em = rules.emitter
    if source.name not in em.files:
        em.files.append(source.name)  # the program's own list of files: sites and errors can name this one
    em.sources[source.name], em._lines[source.name] = source, source.lines()
    em.functions[source.name] = []
    spaces = spaces_of(rules.checked)
    writers = [_Writer(em, source, number, unit, spaces) for number, unit in enumerate(units)]
    for writer in writers:
        writer.write()
    space = dict(rules.program.functions)
    exec(_module(em, source.name), space)
    results = tuple(results_of(rules.checked))
    structure = frozenset(em.site(x.span) for x in walk(rules.checked.units.sections))
    return [w.scene(rules.program, space, results, structure) for w in writers]


def _module(em: Emitter, file: str) -> CodeType:
    return compile(ast.Module(list(em.functions[file]), []), file, "exec", dont_inherit=True)


class _Writer:
    """Writes the functions of one scene. Names that its statements bind live in `w`, from one to the next."""

    def __init__(
        self, em: Emitter, source: Source, number: int, unit: u.SceneUnit, spaces: Iterable[str]
    ) -> None:
        self.em, self.source, self.number, self.unit = em, source, number, unit
        self.named: dict[str, Maker] = {name: _space(name) for name in spaces}
        self.named |= {name: _seat(at) for at, name in enumerate(unit.seats)}
        self.identifiers: dict[int, str] = {}
        self.details: dict[int, list[tuple[str, str, bool]]] = {}

    def write(self) -> None:
        for at, step in enumerate(self.unit.steps):
            if isinstance(step, u.XAct):
                self.identifiers[at] = self._define(step.span, f"e{self.number}_{at}", self._act(step))
            elif isinstance(step, u.XExpect):
                self.em._file = self.source.name
                test = self.em.expressions.truth(step.test, self._scope())
                self.identifiers[at] = self._define(step.span, f"e{self.number}_{at}", [ast.Return(test)])
                self.details[at] = list(self._details(step.test, f"e{self.number}_{at}"))

    def _scope(self) -> Scope:
        return self.em.scope(dict(self.named))

    def _define(self, span: Span, identifier: str, body: list[ast.stmt]) -> str:
        return self.em.define(span, identifier, [*BASE, "w"], body)

    def _act(self, step: u.XAct) -> list[ast.stmt]:
        sc = self._scope()
        before = dict(sc.names)
        body = self.em.body((step.stmt,), sc, step.span)
        for name, maker in sc.names.items():
            if maker is not before.get(name):
                kept = _kept(name)
                body.append(py.at_line(ast.Assign([py.store(kept())], maker()), step.span.line))
                self.named[name] = kept
        return body

    def _details(self, test: ir.Expr, prefix: str) -> Iterator[tuple[str, str, bool]]:
        sc = self._scope()
        for at, part in enumerate(_shown(test)):
            value = self._value(part, sc)
            is_thing = part.type.base in self.em.v.kinds or part.type.base in ("place", "zone", "seats")
            yield (
                self._said(part.span),
                self._define(part.span, f"{prefix}_{at}", [ast.Return(value)]),
                is_thing,
            )

    def _value(self, e: ir.Expr, sc: Scope) -> ast.expr:
        if isinstance(e, ir.Noun) and e.type.form in ("some", "set", "desc", "each"):
            return self.em.expressions.things(e, sc)
        return (
            self.em.expressions.as_list(e, sc)
            if e.type.form in ("set", "asks")
            else self.em.expressions.emit(e, sc)
        )

    def _said(self, span: Span) -> str:
        return (
            self.source.line(span.line)[span.column - 1 : span.end_column - 1]
            if span.line == span.end_line
            else "it"
        )

    def scene(
        self,
        program: Program,
        space: dict[str, Any],
        results: tuple[Sequence[object], ...],
        structure: frozenset[int],
    ) -> Scene:
        return Scene(
            self.unit,
            slug(self.unit.title),
            program,
            {at: space[name] for at, name in self.identifiers.items()},
            {
                at: tuple(Detail(said, space[name], is_thing) for said, name, is_thing in found)
                for at, found in self.details.items()
            },
            results,
            structure,
        )


def _seat(at: int) -> Maker:
    return lambda: py.sub(py.sub(py.attr(py.name("s"), "of"), py.const("seat")), py.const(at))


def _space(name: str) -> Maker:
    return lambda: py.call("k_spaces_named", py.name("s"), py.const(name))


def _kept(name: str) -> Callable[[], ast.Subscript]:
    return lambda: ast.Subscript(py.name("w"), py.const(name), ast.Load())


def _shown(test: ir.Expr) -> Iterable[ir.Expr]:
    """The parts of a condition whose values explain why it does not hold."""
    match test:
        case ir.Logic(left=left, right=right):
            return [*_shown(left), *_shown(right)]
        case ir.Not(inner=inner):
            return _shown(inner)
        case ir.Compare(left=left, right=right):
            return [x for x in (left, right) if _varies(x)]
        case ir.Is(subject=ir.Noun() as some, test=ir.Rel() | ir.Adj() as where, negated=False) if (
            some.type.form == "some"
        ):
            return [replace(some, filters=(*some.filters, where), span=test.span)]
        case ir.Is(subject=subject, test=value):
            return [x for x in (subject, value) if _varies(x)]
        case ir.Noun() if test.type.form == "some":
            return [test]
        case ir.Call(args=args):
            return [x for _, x in args if _varies(x)]
    return []


_VARYING = ir.Local | ir.GlobalValue | ir.FieldOf | ir.ZoneOf | ir.Call | ir.Arith | ir.Both | ir.Without


def _varies(e: ir.Expr) -> bool:
    if isinstance(e, ir.Noun):
        return e.type.form in ("some", "set", "each", "")
    return isinstance(e, _VARYING)
