"""Packs: where they lie, what their pack lines say, what they need. Nothing here parses a whole file.

A pack is text: `.box` files that begin with the same pack line.

    pack my.pack "My pack"
        version 1.2
        about "What it is"
        needs tic_tac_toe 1.0       at least 1.0, and the same first number

**Which file belongs to which pack.** A file with a pack line belongs to the pack that it names. A file
without one belongs to the pack of its folder, and that is the pack of the first file in that folder (by
name) that has a pack line; a folder in which no file has one belongs to the pack of the folder above. So a
pack is one file, or a folder, and a folder may hold a pack and, with pack lines of their own, further
packs beside or below it. The `.scene` files of a folder are that pack's scenes; they are no part of its
program. Names that begin with "." are passed over.

**Where packs are looked for.** A folder that directly holds `.box` files is one place; any other folder is
a folder of packs, and each folder in it is a place. Within one place, files of one id make one
pack. The same id in two places is a conflict (LB0403), unless both are the same files. Packs are looked for
in the folders given; in those that plugins register (expansions/ is registered that way); and, for each entry
point in the group "longbox.packs", in the folder of the package that it names, which is not imported.

**Names.** `Pack.names` gives each file the name that programs and histories use: `<pack id>/<path below the
pack's folder>`, the same on every machine. `Pack.shown` gives the name that a person is shown: the path as
it was given, or below the current folder, or `<folder of the pack>/<path>`.
"""

from __future__ import annotations

import difflib
import heapq
import importlib.metadata as metadata
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from longbox.dsl.problems import Problem, TextError, sorted_problems
from longbox.dsl.source import Source, Span
from longbox.kernel.errors import LongboxError

from .manager import Manager, make_manager

GROUP = "longbox.packs"
GIVEN = "folder"  # the origin of a pack in a folder that somebody named
STD = "std"  # the standard words: needed by every pack, shipped with the language
BYTES_MAX = 8_000_000  # more than any file that the parser takes
FOLDERS_MAX = 2_000  # below one place; more is somebody's home, not a pack

_WORD = r"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z][A-Za-z0-9_]*)*"
_ID = rf"{_WORD}(?:\.{_WORD})*"
_VERSION = r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,9}"
_END = r"[ \t]*(?:#.*)?"
_FIRST = re.compile(r"(?m)^[^\s#].*$")
_PACK_WORD = re.compile(r"pack(?![A-Za-z0-9_-])")
_PACK = re.compile(rf'pack[ \t]+({_ID})[ \t]+"([^"\n]*)"{_END}')
_PACK_AGAIN = re.compile(r"(?m)^pack[ \t]+[A-Za-z_]")
_GAME = re.compile(r'(?m)^game[ \t]+"')
_LINES = re.compile(
    rf'[ \t]+(?:version[ \t]+(?P<version>{_VERSION})|about[ \t]+"(?P<about>[^"]*)"'
    rf"|needs[ \t]+(?P<id>{_ID})(?:[ \t]+(?P<least>{_VERSION}))?){_END}"
)


# ---------------------------------------------------------------- what a pack is
@dataclass(frozen=True, slots=True)
class Need:
    """A pack that another one needs; `version` is the least that will do."""

    id: str
    version: str | None
    span: Span

    def __str__(self) -> str:
        return f"{self.id} {self.version}" if self.version else self.id


@dataclass(frozen=True)
class Pack:
    """A pack as its pack lines describe it."""

    id: str
    title: str
    version: str
    about: str
    needs: tuple[Need, ...]
    files: tuple[Path, ...]
    scenes: tuple[Path, ...]
    folder: Path
    is_game: bool
    labels: tuple[str, ...]  # what people are shown for each of the files
    span: Span  # its first pack line
    origin: str = ""  # where it was found, for people
    problems: tuple[Problem, ...] = ()  # of its own files; a pack that has some is not loaded

    @cached_property
    def names(self) -> dict[str, Path]:
        """Its files by the names that programs and histories use."""
        return {f"{self.id}/{file.relative_to(self.folder).as_posix()}": file for file in self.files}

    @property
    def shown(self) -> dict[str, Path]:
        """Its files by the names that people are shown, in the same order."""
        return dict(zip(self.labels, self.files))

    @property
    def place(self) -> str:
        """What a message calls the file with its pack line."""
        return self.span.file


def label_of(path: Path, name: str, given: bool) -> str:
    """A path as it was given, or below the current folder, or else a name that is the same everywhere."""
    if given or not path.is_absolute():
        return path.as_posix()
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return name


# ---------------------------------------------------------------- the pack line
@dataclass(frozen=True, slots=True)
class Header:
    """What the top of one file says. `id` is empty where there is no pack line."""

    file: str
    id: str = ""
    title: str = ""
    version: str = ""
    about: str = ""
    needs: tuple[Need, ...] = ()
    is_game: bool = False
    line: int = 1
    problems: tuple[Problem, ...] = ()

    @property
    def span(self) -> Span:
        return Span(self.file, self.line, 1, self.line, 5)


def read_header(file: str, text: str) -> Header:
    """Read the pack line of a text and the block below it, by lines; the rest is only searched for `game`."""
    first = _FIRST.search(text)
    is_game = _GAME.search(text) is not None
    if first is None or not _PACK_WORD.match(first[0]):
        return Header(file, is_game=is_game, problems=_stray_pack_lines(file, text, 0))
    line = text.count("\n", 0, first.start()) + 1
    pack = _PACK.fullmatch(first[0])
    if pack is None:
        bad = Problem(
            "LB0401",
            Span(file, line, 1, line, len(first[0]) + 1),
            "this pack line cannot be read",
            'write: pack my.pack "My pack"',
        )
        return Header(file, is_game=is_game, line=line, problems=(bad,))
    stray = _stray_pack_lines(file, text, first.end())
    header = Header(file, pack[1], pack[2], is_game=is_game, line=line, problems=stray)
    return _with_block(header, text[first.end() + 1 :])


def _stray_pack_lines(file: str, text: str, start: int) -> tuple[Problem, ...]:
    found = []
    for again in _PACK_AGAIN.finditer(text, start):
        line = text.count("\n", 0, again.start()) + 1
        found.append(
            Problem(
                "LB0401",
                Span(file, line, 1, line, 5),
                "a pack line in the middle of a file",
                "a file has one pack line, above everything else",
            )
        )
    return tuple(found)


def _with_block(header: Header, below: str) -> Header:
    """Add the indented lines. One that cannot be read is left to the compiler, which explains it better."""
    needs: list[Need] = []
    version = about = ""
    for number, text in enumerate(below.split("\n"), header.line + 1):
        if text[:1].strip("# \t"):
            break
        if found := _LINES.fullmatch(text):
            version, about = found["version"] or version, found["about"] or about
            if found["id"]:
                span = Span(header.file, number, found.start("id") + 1, number, found.end("id") + 1)
                needs.append(Need(found["id"], found["least"], span))
    return replace(header, version=version, about=about, needs=tuple(needs))


def read_text(path: Path) -> str:
    """A file as text: UTF-8, plain line ends, no mark at its start. Raises OSError or ValueError."""
    if path.stat().st_size > BYTES_MAX:
        raise ValueError(f"it has more than {BYTES_MAX} bytes")
    text = path.read_bytes().decode("utf-8-sig")
    return text.replace("\r\n", "\n")


def unreadable(file: str, error: Exception) -> Problem:
    """The problem of a file or folder that cannot be read."""
    match error:
        case UnicodeDecodeError():
            line = error.object.count(b"\n", 0, error.start) + 1
            what = f"this is no text: the byte {error.object[error.start]:#04x} cannot be read"
            return Problem("LB0408", Span(file, line, 1, line, 2), what, "save the file as UTF-8")
        case OSError():
            why = error.strerror or type(error).__name__
        case _:
            why = str(error)
    return Problem("LB0408", Span(file, 1, 1, 1, 2), f"cannot be read: {why}")


# ---------------------------------------------------------------- one place: from files to packs
@dataclass(slots=True)
class Place:
    """A folder (or one file) whose files are grouped into packs, with what was read of it."""

    root: Path
    origin: str
    files: dict[Path, Header] = field(default_factory=dict)
    scenes: list[Path] = field(default_factory=list)
    lost: dict[Path, Problem] = field(default_factory=dict)  # files that cannot be read
    problems: list[Problem] = field(default_factory=list)
    is_too_large: bool = False

    def label(self, path: Path) -> str:
        """What to call a file before its pack is known."""
        top = self.root if self.root.is_dir() else self.root.parent
        return label_of(path, f"{top.name}/{path.relative_to(top).as_posix()}", self.origin == GIVEN)

    def read(self) -> None:
        for path in self._walk():
            if path.suffix == ".scene":
                self.scenes.append(path)
                continue
            label = self.label(path)
            try:
                self.files[path] = read_header(label, read_text(path))
            except (OSError, ValueError) as error:
                self.lost[path] = unreadable(label, error)

    def _walk(self) -> list[Path]:
        if not self.root.is_dir():
            return [self.root]
        found: list[Path] = []
        for count, (folder, inner, names) in enumerate(os.walk(self.root, onerror=self._unlisted)):
            if count == FOLDERS_MAX:
                self._stop()
                break
            inner[:] = sorted(name for name in inner if not name.startswith((".", "__pycache__")))
            texts = [name for name in names if name.endswith((".box", ".scene")) and name[0] != "."]
            paths = (Path(folder, name) for name in texts)
            found += (path for path in paths if path.is_file())  # and no pipe, which would never end
        return sorted(found, key=lambda path: path.relative_to(self.root).parts)

    def _stop(self) -> None:
        self.is_too_large = True
        self.problems.append(
            Problem(
                "LB0408",
                Span(self.label(self.root), 1, 1, 1, 2),
                f"there are more than {FOLDERS_MAX} folders below this one",
                "name the folder that holds the packs",
            )
        )

    def _unlisted(self, error: OSError) -> None:
        self.problems.append(unreadable(self.label(Path(error.filename)), error))

    def packs(self) -> list[Pack]:
        """Group what was read. Files that belong nowhere become problems."""
        owners = self._owners()
        members: dict[str, list[Path]] = {}
        for path, header in self.files.items():
            if owner := header.id or self._owner(path, owners):
                members.setdefault(owner, []).append(path)
            else:
                self.problems += header.problems or [no_pack_line(header)]
        lost: dict[str, list[Problem]] = {}
        for path, problem in self.lost.items():
            self.problems.append(problem)
            lost.setdefault(self._owner(path, owners), []).append(problem)
        return [self._pack(id_, paths, lost.get(id_, []), owners) for id_, paths in sorted(members.items())]

    def _owners(self) -> dict[Path, str]:
        """Each folder's own pack."""
        owners: dict[Path, str] = {}
        for path, header in self.files.items():
            if header.id:
                owners.setdefault(path.parent, header.id)
        return owners

    def _owner(self, path: Path, owners: Mapping[Path, str]) -> str:
        """The pack of the nearest folder, up to the top of this place, that has one."""
        for folder in path.parents:
            if folder in owners:
                return owners[folder]
            if folder == self.root:
                break
        return ""

    def _pack(self, id_: str, paths: list[Path], lost: list[Problem], owners: Mapping[Path, str]) -> Pack:
        headers = [self.files[path] for path in paths]
        scenes = [path for path in self.scenes if self._owner(path, owners) == id_]
        folder = Path(os.path.commonpath([path.parent for path in paths]))
        made = pack_of(id_, headers, tuple(paths), tuple(scenes), folder)
        problems = (*made.problems, *lost)
        self.problems += made.problems
        return replace(made, origin=self.origin, problems=problems)


def no_pack_line(header: Header) -> Problem:
    return Problem(
        "LB0401",
        Span(header.file, 1, 1, 1, 2),
        "this file belongs to no pack",
        'begin it, or another file of its folder, with: pack my.pack "My pack"',
    )


def pack_of(
    id_: str, headers: Sequence[Header], files: tuple[Path, ...], scenes: tuple[Path, ...], folder: Path
) -> Pack:
    """One pack from the headers of its files; what the first of them says counts."""
    naming = next((h for h in headers if h.id), headers[0])
    versions = [h for h in headers if h.version]
    problems = [problem for header in headers for problem in header.problems]
    problems += [_two_versions(id_, versions[0], h) for h in versions if h.version != versions[0].version]
    return Pack(
        id=id_,
        title=naming.title,
        version=versions[0].version if versions else "0",
        about=next((h.about for h in headers if h.about), ""),
        needs=_needs(headers),
        files=files,
        scenes=scenes,
        folder=folder,
        is_game=any(h.is_game for h in headers),
        labels=tuple(h.file for h in headers),
        span=naming.span,
        problems=tuple(problems),
    )


def _needs(headers: Sequence[Header]) -> tuple[Need, ...]:
    """What the files need, each once; of two versions of one pack the higher counts."""
    needs: dict[str, Need] = {}
    for need in (need for header in headers for need in header.needs):
        first = needs.setdefault(need.id, need)
        if numbers(need.version or "0") > numbers(first.version or "0"):
            needs[need.id] = need
    return tuple(needs.values())


def _two_versions(id_: str, first: Header, other: Header) -> Problem:
    return Problem(
        "LB0407",
        other.span,
        f"pack {id_} has version {other.version} here, but {first.version} in {first.file}",
        "write the version in one file only",
    )


# ---------------------------------------------------------------- looking around
@dataclass(slots=True)
class Finds:
    """All packs that were found, and all that was wrong on the way."""

    packs: dict[str, Pack] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what went wrong with plugins
    is_too_large: bool = False  # a folder was not searched to its end

    def look(self, root: Path, origin: str = GIVEN) -> None:
        """Take in every pack below a folder, or the one in a file."""
        label = label_of(root, root.name, origin == GIVEN)
        try:
            places = places_in(root)
        except OSError as error:
            self.problems.append(unreadable(label, error))
            return
        for place in (Place(path, origin) for path in places):
            place.read()
            for pack in place.packs():
                self.add(pack)
            self.problems += place.problems
            self.is_too_large |= place.is_too_large

    def add(self, pack: Pack) -> None:
        if pack.id == STD:
            self.problems.append(std_taken(pack))
            return
        first = self.packs.setdefault(pack.id, pack)
        if first is pack or _same_files(first, pack):
            return
        ours_first = first.origin == GIVEN != pack.origin  # a person looks for it in their own file
        here, there = (first, pack) if ours_first else (pack, first)
        clash = Problem(
            "LB0403",
            here.span,
            f"pack {pack.id} is in {here.place} and in {there.place}",
            "rename one of them, or take one away",
        )
        self.problems.append(clash)
        self.packs[pack.id] = replace(first, problems=(*first.problems, clash))


def std_taken(pack: Pack) -> Problem:
    return Problem(
        "LB0403",
        pack.span,
        f"pack std is in {pack.place} and in std.box",
        "std is the name of the standard words; choose another",
    )


def places_in(root: Path) -> list[Path]:
    """The folder itself if it directly holds texts, else each folder in it. Raises OSError."""
    if not root.is_dir():
        root.stat()
        return [root]
    inside = sorted((p for p in root.iterdir() if not p.name.startswith(".")), key=lambda p: p.name)
    if any(p.suffix == ".box" and p.is_file() for p in inside):
        return [root]
    return [p for p in inside if p.is_dir() and p.name != "__pycache__"]


def _same_files(one: Pack, other: Pack) -> bool:
    return [p.resolve() for p in one.files] == [p.resolve() for p in other.files]


def find(folders: Sequence[Path] = (), installed: bool = True, manager: Manager | None = None) -> Finds:
    """Look in the folders given, in those that plugins register, and in installed packages."""
    finds = Finds()
    for folder in folders:
        finds.look(Path(folder))
    manager = manager or make_manager(installed)
    for registered in manager.folders():
        finds.look(registered.value, f"plugin {registered.plugin}")
    if installed:
        for name, folder in installed_folders(finds.problems):
            finds.look(folder, f"installed: {name}")
    finds.packs = dict(sorted(finds.packs.items()))
    finds.notes = [str(problem) for problem in manager.problems]
    return finds


def find_packs(folders: Sequence[Path] = (), installed: bool = True) -> tuple[dict[str, Pack], list[Problem]]:
    """Every pack by its id, and every problem: with files, with names, with what packs need."""
    finds = find(folders, installed)
    return finds.packs, sorted_problems([*finds.problems, *need_problems(finds.packs, finds.packs)])


# ---------------------------------------------------------------- installed packages
def installed_folders(problems: list[Problem]) -> Iterator[tuple[str, Path]]:
    """The folders that installed distributions name, in the order of their names. Imports none of them."""
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
        folders = package_folders(entry.value.partition(":")[0].strip())
        if not folders:
            problems.append(
                Problem(
                    "LB0408",
                    Span(f"entry point {entry.name}", 1, 1, 1, 2),
                    f"{entry.value!r} is no package with a folder of its own",
                    f"in {GROUP} name the package whose folder holds the .box files",
                )
            )
        for folder in folders:
            yield entry.name, folder


def package_folders(name: str) -> list[Path]:
    """The folders of a package, located part by part: Python's own look-up would import the parents.

    A module inside a package counts as that package. A module outside of any has no folder of its own.
    """
    folders: list[str] = []
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        inner = _locations(".".join(parts[:depth]), parts[depth - 1], folders if depth > 1 else None)
        if inner is None:
            return []
        if not inner and depth == len(parts):
            break
        folders = inner
    return [path for path in map(Path, folders) if path.is_dir()]


def _locations(full: str, last: str, path: list[str] | None) -> list[str] | None:
    """Where a package lies; an empty list for a plain module; nothing if there is none."""
    for finder in sys.meta_path:
        try:
            spec = finder.find_spec(full, path)
            if spec is not None:
                return [str(place) for place in spec.submodule_search_locations or ()]
        except Exception:  # a namespace below a parent that is not imported, or somebody's odd finder
            continue
    folders = [os.path.join(folder, last) for folder in path or ()]
    return [folder for folder in folders if os.path.isdir(folder)] or None


# ---------------------------------------------------------------- what packs need
def need_problems(packs: Mapping[str, Pack], ids: Iterable[str]) -> list[Problem]:
    """What is wrong with the needs of these packs and of all that they need."""
    reached = _reached(packs, ids)
    problems = []
    for pack in (packs[id_] for id_ in reached):
        problems += [problem for need in pack.needs if (problem := _need_problem(packs, pack, need))]
    return problems + _circles(packs, reached)


def _reached(packs: Mapping[str, Pack], ids: Iterable[str]) -> list[str]:
    found: set[str] = set()
    todo = [id_ for id_ in ids if id_ in packs]
    while todo:
        if (id_ := todo.pop()) not in found:
            found.add(id_)
            todo += [need.id for need in packs[id_].needs if need.id in packs]
    return sorted(found)


def _need_problem(packs: Mapping[str, Pack], pack: Pack, need: Need) -> Problem | None:
    if need.id == STD:
        return None
    if need.id not in packs:
        return Problem(
            "LB0402",
            need.span,
            f"pack {pack.id} needs {need}, which is not here",
            near(need.id, packs) or "install it, or name the folder that holds it",
        )
    have = packs[need.id]
    if need.version and not fits(have.version, need.version):
        return Problem(
            "LB0407",
            need.span,
            f"pack {pack.id} needs {need}, but the one in {have.place} has version {have.version}",
            f"from {need.version} on will do, as long as the first number is the same",
        )
    return None


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def fits(have: str, need: str) -> bool:
    """At least that version, and the same first number. 1.0 and 1 are the same."""
    width = 10
    mine, least = (numbers(v) + (0,) * (width - len(numbers(v))) for v in (have, need))
    return mine[0] == least[0] and mine >= least


def _circles(packs: Mapping[str, Pack], ids: Sequence[str]) -> list[Problem]:
    """One problem for each circle, at the need that closes it."""
    problems: list[Problem] = []
    stuck = _stuck(packs, ids)
    while stuck:
        trail = [min(stuck)]
        while (need := next(n for n in packs[trail[-1]].needs if n.id in stuck)).id not in trail:
            trail.append(need.id)
        circle = trail[trail.index(need.id) :]
        shown = " -> ".join([*circle, need.id])
        problems.append(
            Problem(
                "LB0404",
                need.span,
                f"these packs need each other: {shown}",
                "move what both need into a pack of its own",
            )
        )
        stuck = _stuck(packs, stuck.difference(circle))
    return problems


def _stuck(packs: Mapping[str, Pack], ids: Iterable[str]) -> set[str]:
    """Those of these packs that are in a circle, or need one that is."""
    among = [packs[id_] for id_ in ids]
    return {pack.id for pack in among}.difference(pack.id for pack in _in_order(among))


def closure(packs: Mapping[str, Pack], ids: Iterable[str]) -> list[Pack]:
    """These packs and all they need, each after what it needs; the order of `ids` does not matter.

    Raises LongboxError for an unknown id; TextError for needs that cannot be met and for unreadable files.
    """
    ids = list(ids)
    for id_ in ids:
        if id_ not in packs:
            raise LongboxError(f"there is no pack {id_!r}; {near(id_, packs) or listed('pack', packs)}")
    reached = _reached(packs, ids)
    problems = [*(p for id_ in reached for p in packs[id_].problems), *need_problems(packs, ids)]
    if problems:
        raise TextError(problems, sources_for(problems, packs))
    return _in_order([packs[id_] for id_ in reached])


def _in_order(packs: Sequence[Pack]) -> list[Pack]:
    """Those that are needed first; by name where the needs leave it open."""
    by_id = {pack.id: pack for pack in packs}
    waits = {pack.id: {n.id for n in pack.needs if n.id in by_id} for pack in packs}
    ready = [id_ for id_, needs in waits.items() if not needs]
    heapq.heapify(ready)
    done: list[Pack] = []
    while ready:
        id_ = heapq.heappop(ready)
        done.append(by_id[id_])
        for other, needs in waits.items():
            if id_ in needs:
                needs.discard(id_)
                if not needs:
                    heapq.heappush(ready, other)
    return done


# ---------------------------------------------------------------- showing
def near(word: str, among: Iterable[str]) -> str:
    """`did you mean ...?`, or nothing."""
    hit = difflib.get_close_matches(word, sorted(among), 1, 0.6)
    return f"did you mean '{hit[0]}'?" if hit else ""


def listed(sort: str, names: Iterable[str]) -> str:
    return f"the {sort}s are: {', '.join(names) or 'none'}"


def sources_for(problems: Iterable[Problem], packs: Mapping[str, Pack]) -> dict[str, Source]:
    """The texts that problems point to, as far as they can be read, so that their lines can be shown."""
    files = {problem.span.file for problem in problems}
    found: dict[str, Source] = {}
    for pack in packs.values():
        for name, path in pack.shown.items():
            if name in files:
                try:
                    found[name] = Source(name, read_text(path))
                except (OSError, ValueError):
                    continue
    return found
