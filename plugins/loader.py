"""From the id of a game to a program that runs: packs are found, ordered, compiled or taken from a cache.

    program = load_game("uno")
    program = load_game("tic_tac_toe", extra=["my.pack"], folders=[Path("packs")])
    program = program_from_texts(pack_texts(program))      the same program, from its texts alone
    result = check_paths([Path("packs")])                  every problem; runs nothing

Both ways to a program meet in `program_from_texts`: the texts, by the names that histories use, decide
everything, so a history that holds the texts can be run again anywhere. Added to the compiler's tables are

    packs           id, title, version, hash and files of each pack, in order, the standard words first
    content_hash    of the whole program
    texts           the text of each file by its name
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from longbox.dsl.problems import Problem, TextError, sorted_problems
from longbox.dsl.source import Source, Span
from longbox.kernel.errors import LongboxError
from longbox.kernel.program import Compiled, Program

from . import codecache
from .packs import (
    STD,
    Finds,
    Header,
    Pack,
    closure,
    find,
    find_packs,
    listed,
    near,
    pack_of,
    places_in,
    read_header,
    read_text,
    sources_for,
    std_taken,
    unreadable,
)

if TYPE_CHECKING:
    from longbox.dsl.compiler import Checked

STD_FILE = "std.box"
PROGRAMS_MAX = 64  # programs kept in this process
Arranged: TypeAlias = list[tuple[Pack, dict[str, str]]]  # packs in order, each with its texts by name
CLIMB_MAX = 3  # folders up, to find the pack of a file


# ---------------------------------------------------------------- hashes
def content_hash(texts: Mapping[str, str]) -> str:
    """The hash of texts and their names, in order."""
    digest = blake2b(digest_size=16)
    for part in (p for pair in texts.items() for p in pair):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


@cache
def standard_text() -> str:
    """The standard words, as shipped. The compiler has them too, but importing it takes its time."""
    return resources.files("longbox.grammar").joinpath(STD_FILE).read_text("utf-8")


# ---------------------------------------------------------------- from texts to a program
_programs: OrderedDict[str, Program] = OrderedDict()


def program_from_texts(texts: Mapping[str, str], cache: bool = True) -> Program:
    """Compile texts, named as `pack_texts` names them; in which order they come does not matter.

    Without a text named std.box the standard words are those shipped. `cache=False` compiles in any case.
    """
    packs = arranged(texts)
    ordered = {name: text for _, files in packs for name, text in files.items()}
    mark = content_hash(ordered)
    if cache and mark in _programs:
        _programs.move_to_end(mark)
        return _programs[mark]
    program = _linked(_compiled(ordered, cache), packs, ordered, mark)
    if cache:
        _programs[mark] = program
        if len(_programs) > PROGRAMS_MAX:
            _programs.popitem(last=False)
    return program


def arranged(texts: Mapping[str, str]) -> Arranged:
    """The packs that these texts are of, each with its texts, in the order in which they are compiled."""
    groups: dict[str, dict[str, Header]] = {}
    for name in sorted(texts, key=lambda n: n.split("/")):
        if name != STD_FILE:
            header = read_header(name, texts[name])
            groups.setdefault(header.id or name.partition("/")[0], {})[name] = header
    packs = {id_: _pack_of_texts(id_, list(group.values())) for id_, group in groups.items()}
    if STD in packs:
        raise TextError([std_taken(packs[STD])])
    try:
        order = closure(packs, packs)
    except TextError as error:
        raise TextError(error.problems, {name: Source(name, text) for name, text in texts.items()}) from None
    standard = {STD_FILE: texts.get(STD_FILE, standard_text())}
    first = pack_of(STD, [read_header(*row) for row in standard.items()], (Path(STD_FILE),), (), Path())
    return [(first, standard), *((pack, {name: texts[name] for name in groups[pack.id]}) for pack in order)]


def _pack_of_texts(id_: str, headers: list[Header]) -> Pack:
    files = tuple(Path(header.file) for header in headers)
    return pack_of(id_, headers, files, (), Path(id_))


def _compiled(texts: Mapping[str, str], cache: bool) -> Compiled:
    key = codecache.key_of(texts)
    if cache and (found := codecache.load(key)) is not None:
        return found
    from longbox.dsl.compiler import compile_packs  # late: with a warm cache no compiler is needed

    made = compile_packs([Source(name, text) for name, text in texts.items()])
    if cache:
        codecache.store(key, made)
    return made


def _linked(compiled: Compiled, packs: Arranged, texts: dict[str, str], mark: str) -> Program:
    rows = [
        {
            "id": pack.id,
            "title": pack.title,
            "version": pack.version,
            "hash": content_hash(files),
            "files": list(files),
        }
        for pack, files in packs
    ]
    game = next((pack.id for pack, _ in packs if pack.is_game), compiled.tables["game"])
    more = {"game": game, "packs": rows, "content_hash": mark, "texts": texts}
    return Program(Compiled({**compiled.tables, **more}, compiled.code))


def pack_texts(program: Program) -> dict[str, str]:
    """The texts that a program was made from, with the standard words: all it takes to make it again."""
    return dict(program.tables["texts"])


def program_paths(program: Program, folders: Sequence[Path] = ()) -> dict[str, Path]:
    """Where the files of a program lie on this machine, by name; what is not found is left out."""
    packs = find(folders).packs
    return {
        name: path
        for row in program.tables["packs"]
        if row["id"] in packs
        for name, path in packs[row["id"]].names.items()
        if name in program.files
    }


# ---------------------------------------------------------------- from the id of a game
def games(folders: Sequence[Path] = (), installed: bool = True) -> list[Pack]:
    """The packs that are games, by their ids."""
    return [pack for pack in find_packs(folders, installed)[0].values() if pack.is_game]


def load_game(
    game_id: str, extra: Sequence[str] = (), folders: Sequence[Path] = (), cache: bool = True
) -> Program:
    """A game, with further packs on top, ready to run.

    Raises LongboxError if there is no such game or pack, and TextError, with every problem, for wrong texts.
    """
    finds = find(folders)
    _check_game(game_id, finds)
    for id_ in extra:
        _check_known(id_, finds, finds.packs, "pack")
    packs = closure(finds.packs, [game_id, *extra])
    try:
        return program_from_texts(texts_of(packs), cache)
    except TextError as error:
        _explain(packs, error)
        raise


def texts_of(packs: Iterable[Pack]) -> dict[str, str]:
    """The texts of packs by the names that programs use. Raises TextError for an unreadable file."""
    texts: dict[str, str] = {}
    for pack in packs:
        for label, (name, path) in zip(pack.labels, pack.names.items()):
            try:
                texts[name] = read_text(path)
            except (OSError, ValueError) as error:
                raise TextError([unreadable(label, error)]) from error
    return texts


def _check_game(game_id: str, finds: Finds) -> None:
    _check_known(game_id, finds, [id_ for id_, pack in finds.packs.items() if pack.is_game], "game")


def _check_known(id_: str, finds: Finds, known: Iterable[str], sort: str) -> None:
    known = list(known)
    if id_ in known:
        return
    if id_ in finds.packs:
        needs = ", ".join(need.id for need in finds.packs[id_].needs)
        raise LongboxError(f"{id_!r} is no game" + (f", but something to add to: {needs}" if needs else ""))
    help_ = " ".join(filter(None, [near(id_, known), listed(sort, known)]))
    trouble = [*(p.show() for p in sorted_problems(finds.problems)), *finds.notes]
    raise LongboxError("\n".join([f"there is no {sort} {id_!r}; {help_}", *trouble]))


def _explain(packs: Sequence[Pack], error: TextError) -> None:
    """Raise the same problems, with the paths of the files instead of the names that programs use."""
    from longbox.dsl.compiler import read_packs

    checked = read_packs(sources_of(packs))
    if checked.errors:
        raise TextError(checked.errors, checked.sources) from error


def sources_of(packs: Iterable[Pack]) -> list[Source]:
    """The texts of packs as people know them: by path where that says something."""
    found: dict[str, Source] = {}
    for pack in packs:
        for label, (name, text) in zip(pack.labels, texts_of([pack]).items()):
            shown = name if label in found else label
            found[shown] = Source(shown, text)
    return list(found.values())


# ---------------------------------------------------------------- checking
@dataclass
class PathsChecked:
    """What `check_paths` found: the packs that were checked, what is wrong with them, and what they say."""

    packs: list[Pack] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    checked: dict[str, Checked] = field(default_factory=dict)  # by pack: what the compiler read of it

    @property
    def errors(self) -> list[Problem]:
        return [p for p in self.problems if not p.is_warning]

    def show(self) -> str:
        return "\n".join(p.show(self.sources.get(p.span.file)) for p in self.problems)

    def add(self, problems: Iterable[Problem], sources: Mapping[str, Source]) -> None:
        self.problems = sorted_problems([*self.problems, *problems])
        self.sources |= sources


def check_paths(paths: Sequence[Path], folders: Sequence[Path] = ()) -> PathsChecked:
    """Check the packs at these paths, each with all it needs. Executes nothing.

    A path is a file, the folder of a pack (or a part of it), or a folder of packs. What the packs need is
    looked for at the same paths, in `folders`, among the packs that come along and the installed ones. A
    warning counts only if it holds in every pack checked here that has the file in it: a phrase of one pack
    may be there for another's sake.
    """
    result, finds = PathsChecked(), Finds()
    wanted = [id_ for path in paths for id_ in _look_at(Path(path), finds)]
    wrong = finds.problems
    finds.problems = []
    for pack in find(folders).packs.values():
        finds.add(pack)
    result.packs = [finds.packs[id_] for id_ in sorted(set(wanted))]
    result.add(wrong, sources_for(wrong, finds.packs))
    for pack in result.packs:
        _check_pack(pack, finds.packs, result)
    result.add(_warnings(result), {})
    return result


def _look_at(path: Path, finds: Finds) -> list[str]:
    """Take in what lies at a path; gives the packs to check.

    A file, or a folder inside a pack, brings the whole pack along, but not the problems of its neighbours.
    """
    home, here = home_of(path), Finds()
    here.look(home)
    if here.is_too_large and path.is_file():
        home, here = path, Finds()
        here.look(home)
    for pack in here.packs.values():
        finds.add(pack)
    own = [pack for pack in here.packs.values() if _is_at(pack, path)]
    about = [p for p in here.problems if home == path or _is_below(Path(p.span.file), path)]
    if not own and not about:
        about = [
            Problem(
                "LB0401",
                Span(path.as_posix(), 1, 1, 1, 2),
                "there is no pack here",
                'a pack is a .box file that begins with: pack my.pack "My pack"',
            )
        ]
    finds.problems += about
    return [pack.id for pack in own]


def home_of(path: Path) -> Path:
    """The folder to look in for the packs at a path: where the whole of them is."""
    if not path.exists() or (path.is_dir() and not _is_place(path)):
        return path
    home = path if path.is_dir() else path.parent
    mine, above = path_id(path), Path(os.path.abspath(home))
    for _ in range(CLIMB_MAX):
        above = above.parent
        owner = path_id(above)
        if owner and (not mine or f"{mine}.".startswith(f"{owner}.")):
            home, mine = _short(above), owner
        elif mine:
            break
    return home


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _is_place(folder: Path) -> bool:
    try:
        return places_in(folder) == [folder]
    except OSError:
        return False


def path_id(path: Path) -> str:
    """The pack that a file names, or that the first file of a folder names; nothing if none does."""
    try:
        files = sorted(path.glob("*.box")) if path.is_dir() else [path]
    except OSError:
        return ""
    return next(filter(None, map(_file_id, files)), "")


def _file_id(file: Path) -> str:
    try:
        return read_header("", read_text(file)).id if file.suffix == ".box" and file.is_file() else ""
    except (OSError, ValueError):
        return ""


def _is_at(pack: Pack, path: Path) -> bool:
    """Whether a path is a file of this pack, or a folder with some of its files."""
    return any(_is_below(file, path) for file in (*pack.files, *pack.scenes))


def _is_below(file: Path, path: Path) -> bool:
    return file.resolve().is_relative_to(path.resolve())


def _check_pack(pack: Pack, packs: Mapping[str, Pack], result: PathsChecked) -> None:
    from longbox.dsl.compiler import read_packs

    try:
        needed = closure(packs, [pack.id])
        checked = read_packs(sources_of(needed))
    except TextError as error:
        result.add(error.problems, error.sources)
        return
    result.checked[pack.id] = checked
    result.add(checked.errors, checked.sources)


def _warnings(result: PathsChecked) -> list[Problem]:
    """Those about the packs asked for that every reading of their file agrees on."""
    own = {label for pack in result.packs for label in pack.labels}
    readings = list(result.checked.values())
    found = [p for checked in readings for p in checked.problems if p.is_warning and p.span.file in own]
    return [p for p in found if all(p in c.problems for c in readings if p.span.file in c.sources)]
