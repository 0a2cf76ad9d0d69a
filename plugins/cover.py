"""Which lines of a game's text were run, measured by coverage.py through a file tracer of ours.

    recorder = Recorder(program, program_paths(program))
    with recorder.recording():
        ...                                 anything that runs the rules of this program
    cover = recorder.cover()                lines, missing lines and shares, file by file
    recorder.write_html(Path("html"))       coverage.py's own report, with the text

Compiled functions carry the name that the program has for their file, and the lines of its text; the tracer
leads from that name to the file. Lines that can be run are those that compiled functions have instructions
on: lines that only declare something are no part of it, nor are the standard words. An adjective or relation of
another file that the compiler writes in place counts as the line that uses it.

This module imports coverage.py, which comes with the extra `cover`.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from coverage import Coverage, CoverageException, CoveragePlugin, FileReporter, FileTracer

from longbox.kernel.errors import LongboxError
from longbox.kernel.program import Program

from .loader import STD_FILE

SUFFIX = ".box"
MODULE = "<module>"  # what Python calls code that is in no function
# What Python does at the head of a function on its own account: entering it, and leaving it at its end.
_ENTERING = frozenset({"RESUME", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR", "POP_TOP", "NOP"})
_LEAVING = frozenset({"LOAD_CONST", "LOAD_SMALL_INT", "RETURN_VALUE", "RETURN_CONST"})


# ---------------------------------------------------------------- lines that can be run
def executable_lines(program: Program) -> dict[str, set[int]]:
    """The lines that can be run, by the names of the files; every file of the packs is there."""
    found: dict[str, set[int]] = {name: set() for name in program.tables["texts"] if name != STD_FILE}
    for module in program.compiled.code:
        if module.co_filename in found:
            for function in functions_in(module):
                found[module.co_filename] |= lines_of(function)
    return found


def functions_in(code: CodeType) -> Iterator[CodeType]:
    """The functions of a module, and those inside of them."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from functions_in(inner)


def lines_of(function: CodeType) -> set[int]:
    """The lines of a function. Its head is one of them if something is worked out there, or if it is all."""
    head, lines = function.co_firstlineno, set()
    for step in dis.get_instructions(function):
        line = step.positions.lineno if step.positions else None
        if line is not None and (line != head or step.opname not in _ENTERING | _LEAVING):
            lines.add(line)
    return lines or {head}


# ---------------------------------------------------------------- what comes out
@dataclass(frozen=True)
class FileCover:
    """One file: its lines that can be run, those that were not, and these once more as ranges."""

    file: str
    lines: tuple[int, ...]
    missing: tuple[int, ...]
    ranges: str

    @property
    def covered(self) -> int:
        return len(self.lines) - len(self.missing)

    def as_data(self) -> dict[str, Any]:
        shares = counts(len(self.lines), self.covered)
        return {"file": self.file, **shares, "missing": self.ranges, "missing lines": list(self.missing)}


@dataclass(frozen=True)
class Cover:
    """All files of a program."""

    files: tuple[FileCover, ...]

    @property
    def lines(self) -> int:
        return sum(len(file.lines) for file in self.files)

    @property
    def covered(self) -> int:
        return sum(file.covered for file in self.files)

    @property
    def percent(self) -> float:
        return percent(self.lines, self.covered)

    def is_under(self, wanted: float) -> bool:
        """Whether less than this percentage was run; nothing is rounded."""
        return 100 * self.covered < wanted * self.lines

    def as_data(self) -> dict[str, Any]:
        return {
            "files": [file.as_data() for file in self.files],
            "total": counts(self.lines, self.covered),
        }

    def table(self) -> list[str]:
        """A table for people: a line for each file, then the total."""
        rows = [(f.file, len(f.lines), f.covered, f.ranges) for f in self.files]
        rows.append(("total", self.lines, self.covered, ""))
        width = max(len(row[0]) for row in rows)
        lines = [f"{'file':<{width}}  lines  covered  percent  missing"]
        for name, count, covered, ranges in rows:
            share = f"{percent(count, covered):.1f} %"
            lines.append(f"{name:<{width}}  {count:>5}  {covered:>7}  {share:>7}  {ranges}".rstrip())
        return lines


def percent(lines: int, covered: int) -> float:
    """To one place, rounded down: 100 means every line."""
    return 1000 * covered // lines / 10 if lines else 100.0


def counts(lines: int, covered: int) -> dict[str, Any]:
    return {"lines": lines, "covered": covered, "percent": percent(lines, covered)}


# ---------------------------------------------------------------- measuring
class Recorder:
    """Notes which lines of a program's files are run. `paths`: where they lie, by their names."""

    def __init__(self, program: Program, paths: Mapping[str, Path]) -> None:
        lines = executable_lines(program)
        self.files = {name: str(paths[name].resolve()) for name in lines}
        self.plugin = BoxPlugin(
            [
                BoxFile(name, path, program.tables["texts"][name], frozenset(lines[name]))
                for name, path in self.files.items()
            ]
        )
        self.coverage = self._coverage()

    def _coverage(self) -> Coverage:
        """A measurement of these files alone: no settings of the user's, nothing written."""
        check_tracer()
        made = Coverage(
            data_file=None,
            config_file=False,
            check_preimported=False,
            source_dirs=sorted({str(Path(path).parent) for path in self.files.values()}),
            plugins=[lambda register: register.add_file_tracer(self.plugin)],
        )
        made.set_option("run:core", "ctrace")  # the only one that listens to file tracers
        made.set_option("run:disable_warnings", ["no-data-collected"])
        return made

    @contextmanager
    def recording(self) -> Iterator[None]:
        self.coverage.start()
        try:
            yield
        finally:
            self.coverage.stop()

    def cover(self) -> Cover:
        """What was run so far."""
        self._know_all()
        return Cover(tuple(self._file(name, path) for name, path in self.files.items()))

    def _file(self, name: str, path: str) -> FileCover:
        _, lines, _, missing, ranges = self.coverage.analysis2(path)
        return FileCover(name, tuple(lines), tuple(missing), ranges)

    def _know_all(self) -> None:
        """coverage.py takes a file of which nothing was run for Python, unless it is told."""
        data = self.coverage.get_data()
        data.add_lines({path: set() for path in self.files.values()})
        data.add_file_tracers(dict.fromkeys(self.files.values(), self.plugin._coverage_plugin_name))

    def write_html(self, folder: Path, title: str) -> None:
        """coverage.py's report: an index, and a page with the text of each file."""
        self._know_all()
        try:
            self.coverage.html_report(list(self.files.values()), directory=str(folder), title=title)
        except CoverageException as error:
            raise LongboxError(f"{folder}: the report cannot be written: {error}") from error


def check_tracer() -> None:
    """Only coverage.py's tracer in C listens to file tracers, and not every Python has it."""
    try:
        import coverage.tracer  # noqa: F401
    except ImportError:
        raise LongboxError("longbox cover needs coverage.py's C tracer, which is not there") from None


# ---------------------------------------------------------------- what coverage.py asks
@dataclass(frozen=True)
class BoxFile:
    """A file of a program: its name there, where it lies, its text, and its lines that can be run."""

    name: str
    path: str
    text: str
    lines: frozenset[int]


class BoxPlugin(CoveragePlugin):
    """Tells coverage.py which code is of which file."""

    def __init__(self, files: Sequence[BoxFile]) -> None:
        self.by_name = {file.name: file for file in files}
        self.by_path = {file.path: file for file in files}

    def file_tracer(self, filename: str) -> FileTracer | None:
        """`filename` was made into a path of this machine; the code itself has the true name."""
        return BoxTracer(self.by_name) if filename.endswith(SUFFIX) else None

    def file_reporter(self, filename: str) -> FileReporter:
        return BoxReporter(self.by_path[filename])


class BoxTracer(FileTracer):
    """Leads from code to its file. Lines need no translation."""

    def __init__(self, by_name: Mapping[str, BoxFile]) -> None:
        self.by_name = by_name

    def has_dynamic_source_filename(self) -> bool:
        return True

    def dynamic_source_filename(self, filename: str, frame: FrameType) -> str | None:
        """Nothing for the code that only defines the functions: it runs whenever a program is made."""
        code = frame.f_code
        found = self.by_name.get(code.co_filename) if code.co_name != MODULE else None
        return found.path if found else None


class BoxReporter(FileReporter):
    """Describes a file in reports."""

    def __init__(self, file: BoxFile) -> None:
        super().__init__(file.path)
        self.file = file

    def relative_filename(self) -> str:
        return self.file.name

    def source(self) -> str:
        return self.file.text

    def lines(self) -> set[int]:
        return set(self.file.lines)
