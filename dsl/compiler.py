"""The stages from text to program, in order. No stage imports a later one.

parse      text to trees, file by file; all problems of a file
collect    what the packs declare: kinds, fields, words, phrases
resolve    every clause read with that vocabulary; names, types, scopes
check      what only the whole shows: circles, things never used
emit       Python, with the lines of the text, and tables
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from longbox.kernel.program import Compiled

from . import nodes as n
from .boards import BoardReader
from .check import check
from .collect import Collector
from .emit import Emitter
from .explain import near
from .parse import parse
from .problems import Problem, TextError, sorted_problems
from .resolve import Resolver
from .source import Source, Span
from .units import Units
from .vocabulary import Vocabulary

COMPILER_VERSION = 1
STD = "std.box"


@cache
def standard() -> Source:
    """The standard vocabulary, as shipped."""
    return Source(STD, resources.files("longbox.grammar").joinpath("std.box").read_text("utf-8"))


@dataclass
class Checked:
    """Packs that were read: what is wrong with them, and what they say."""

    sources: dict[str, Source]
    problems: list[Problem]
    vocab: Vocabulary
    units: Units
    header: dict[str, Any] = field(default_factory=dict)
    boards: list[dict[str, Any]] = field(default_factory=list)

    @property
    def errors(self) -> list[Problem]:
        return [p for p in self.problems if not p.is_warning]

    def show(self) -> str:
        return "\n".join(p.show(self.sources.get(p.span.file)) for p in self.problems)


@cache
def parse_cached(source: Source) -> tuple[tuple[n.Decl, ...], tuple[Problem, ...]]:
    """Parsing depends on nothing but the text, so it is done once."""
    decls, problems = parse(source)
    return tuple(decls), tuple(problems)


def read_packs(texts: Iterable[Source]) -> Checked:
    """All stages but the last. Executes nothing."""
    sources = {STD: standard()} | {s.name: s for s in texts}
    decls: list[n.Decl] = []
    problems: list[Problem] = []
    for source in sources.values():
        found, wrong = parse_cached(source)
        decls += found
        problems += wrong
    collector = Collector()
    collector.problems += problems
    collector.collect(decls)
    boards = read_boards(decls, collector)
    resolver = Resolver(collector)
    units = resolver.resolve(decls)
    for board in boards:
        board["only"] = units.only_with.get(board.pop("file"))
    checked = Checked(sources, resolver.problems, collector.v, units, boards=boards)
    checked.header = read_header(decls, collector.v, checked.problems)
    checked.problems += check(collector.v, units, decls, resolver.used)
    checked.problems = sorted_problems(checked.problems)
    return checked


def read_boards(decls: Sequence[n.Decl], collector: Collector) -> list[dict[str, Any]]:
    """The boards, and their spaces as names that any text may use."""
    drawn = [d for d in decls if isinstance(d, n.Board)]
    chosen = {d.span.file for d in decls if isinstance(d, n.FileBlock) and d.is_chosen}
    several = sum(b.span.file not in chosen for b in drawn) > 1
    read: list[dict[str, Any]] = []
    for board in drawn:
        alone = not several or board.span.file in chosen  # of boards that a setting chooses, one is there
        made = BoardReader(collector.v, board, collector.fail, not alone).read()
        read.append({**made, "file": board.span.file})
        collector.name_spaces(made["spaces"])
    return read


def compile_packs(texts: Sequence[Source]) -> Compiled:
    """Text to a program that the kernel can run, or every reason why not."""
    checked = read_packs(texts)
    if checked.errors:
        raise TextError(checked.errors, checked.sources)
    return emitter_of(checked).emit()


def emitter_of(checked: Checked) -> Emitter:
    if not checked.header.get("game"):
        span = Span(next(reversed(checked.sources)), 1, 1, 1, 2)
        raise TextError(
            [Problem("LB0405", span, "no file here declares a game", 'write: game "Name"')], checked.sources
        )
    return Emitter(checked.vocab, checked.units, checked.sources, checked.boards, checked.header)


# ---------------------------------------------------------------- the game block
_SEATS = re.compile(r"seats (\d+)(?: to (\d+))?")


def read_header(decls: Sequence[n.Decl], vocab: Vocabulary, problems: list[Problem]) -> dict[str, Any]:
    """What the `game` and `pack` lines say."""
    header: dict[str, Any] = {
        "game": "",
        "title": "",
        "seats": (2, 2),
        "seat_kind": "seat",
        "seat_names": [],
        "cooperative": False,
        "asks_forced": False,
        "settings": {},
        "supplies": [],
        "packs": [],
    }
    pack_of: dict[str, str] = {}
    for decl in decls:
        match decl:
            case n.Pack(path=path, title=title):
                pack_of[decl.span.file] = str(path)
                version = next(
                    (line.version.value for line in decl.lines if isinstance(line, n.PackVersion)), "0"
                )
                header["packs"].append(
                    {
                        "id": str(path),
                        "title": title.value.strip('"'),
                        "version": version,
                        "file": decl.span.file,
                    }
                )
            case n.Supply(count=count, kind=kind) if str(kind) in vocab.kinds:
                header["supplies"].append((str(kind), int(count.value)))
            case n.Game(title=title, lines=lines):
                if header["game"]:
                    problems.append(
                        Problem(
                            "LB0301",
                            title.span,
                            "a second game in these packs",
                            f"the first is {header['game']}",
                        )
                    )
                header["game"], header["title"] = pack_of.get(decl.span.file, "game"), title.value.strip('"')
                for line in lines:
                    _game_line(line, header, vocab, problems)
    for decl in decls:  # what an expansion says about the seats counts more than the game's own line
        for said in decl.lines if isinstance(decl, n.Pack) else ():
            if isinstance(said, n.PackSeats):
                most = said.most or said.least
                _seats(header, said.span, int(said.least.value), int(most.value), problems)
    return header


def _seats(header: dict[str, Any], span: Span, least: int, most: int, problems: list[Problem]) -> None:
    header["seats"] = (least, most)
    if not 1 <= least <= most <= 20:
        problems.append(Problem("LB0222", span, "a game has 1 to 20 seats"))
        header["seats"] = (1, 2)


def _game_line(
    line: n.GameLine | n.Setting, header: dict[str, Any], vocab: Vocabulary, problems: list[Problem]
) -> None:
    if isinstance(line, n.Setting):
        t = vocab.values[str(line.name)]
        header["settings"][str(line.name)] = {
            "type": t.base,
            "default": () if t.form == "set" else _plain(line.default, t.base),
            "several": t.form == "set",
            "words": list(vocab.enums.get(t.base, ())),
        }
        return
    first = str(line.clauses[0])
    if m := _SEATS.fullmatch(first):
        _seats(header, line.span, int(m[1]), int(m[2] or m[1]), problems)
    elif m := re.fullmatch(r"seats named (.+)", first):
        header["seat_names"] = [m[1], *(str(c) for c in line.clauses[1:])]
        header["seats"] = (len(header["seat_names"]), len(header["seat_names"]))
        return
    elif m := re.fullmatch(r"each seat is an? (.+)", first):
        if m[1] in vocab.kinds and vocab.is_a(m[1], "seat"):
            header["seat_kind"] = m[1]
        else:
            problems.append(
                Problem(
                    "LB0201",
                    line.clauses[0].span,
                    f"'{m[1]}' is no kind of seat",
                    near(m[1], list(vocab.kinds)) or f"declare it: kind {m[1]} is seat",
                )
            )
    elif m := re.fullmatch(r"you are an? (.+)", first):
        if m[1] not in vocab.kinds:
            problems.append(
                Problem(
                    "LB0201", line.clauses[0].span, f"unknown kind '{m[1]}'", near(m[1], list(vocab.kinds))
                )
            )
    elif first == "forced choices are asked":
        header["asks_forced"] = True
    elif first == "cooperative":
        header["cooperative"] = True
    elif not first.startswith(
        ("simultaneous rules are ordered by ", "rules wait for ", "order is chosen for ")
    ):
        problems.append(
            Problem(
                "LB0406",
                line.clauses[0].span,
                f"'{first}' says nothing about a game",
                "known: seats 2 to 4; seats named X, O; each seat is a KIND; you are a KIND; cooperative; "
                "forced choices are asked; "
                "simultaneous rules are ordered by WHO; rules wait for VERB; order is chosen for VERB; "
                "setting NAME: TYPE = VALUE",
            )
        )
    for extra in line.clauses[1:]:
        if str(extra) == "cooperative":
            header["cooperative"] = True
        else:
            problems.append(
                Problem("LB0406", extra.span, f"'{extra}' says nothing about seats", "known: cooperative")
            )


def _plain(clause: n.Clause | None, kind: str) -> Any:
    if clause is None:
        return False if kind == "truth" else None
    text = str(clause)
    if kind == "truth":
        return text == "yes"
    return int(text) if kind == "number" and text.isdigit() else text.strip('"')
