"""The results as a table for people (`text`, which is also Markdown) and as JSON."""

import importlib.metadata
import json
import os
import platform
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from .registry import SECTIONS, Section
from .rounds import Measurement

PACKAGES = ("longbox", "rlcard", "pettingzoo", "chess", "eventsourcing", "numpy")


def environment() -> dict[str, Any]:
    """The versions that the numbers depend on."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "sqlite": sqlite3.sqlite_version,
        "packages": {name: version for name in PACKAGES if (version := _version(name)) is not None},
    }


def as_text(measurements: Sequence[Measurement], rounds: int, seconds: float) -> str:
    """One Markdown table a section."""
    facts = environment()
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    lines = [
        f"{rounds} interleaved rounds of {seconds:g} s a contender; medians, of the rounds' ratios too.",
        f"{facts['python']}, SQLite {facts['sqlite']}, {facts['cpus']} CPUs; {packages or 'no peers'}",
    ]
    for section, rows in _by_section(measurements):
        lines += ["", f"{section.name}: {section.title}", "", *_table(section, rows)]
    return "\n".join(lines) + "\n"


def as_json(measurements: Sequence[Measurement], rounds: int, seconds: float) -> str:
    """Everything that was measured, each round included."""
    results = [_record(section, row, rows) for section, rows in _by_section(measurements) for row in rows]
    whole = {"environment": environment(), "rounds": rounds, "seconds": seconds, "results": results}
    return json.dumps(whole, indent=2) + "\n"


def _by_section(measurements: Sequence[Measurement]) -> Iterator[tuple[Section, list[Measurement]]]:
    for section in SECTIONS:
        rows = [row for row in measurements if row.contender.section == section.name]
        if rows:
            yield section, rows


def _record(section: Section, row: Measurement, rows: Sequence[Measurement]) -> dict[str, Any]:
    record: dict[str, Any] = {"section": section.name, "contender": row.contender.name, "unit": section.unit}
    if row.rate is None:
        return record | {"status": row.problem or "no round was run"}
    return record | {
        "status": "measured",
        "per_second": round(row.rate, 2),
        "min": round(min(row.rates), 2),
        "max": round(max(row.rates), 2),
        "by_round": [round(rate, 2) for rate in row.rates],
        "ratios": {name: round(ratio, 4) for name, ratio in _ratios(section, row, rows) if ratio is not None},
    }


def _ratios(
    section: Section, row: Measurement, rows: Sequence[Measurement]
) -> Iterator[tuple[str, float | None]]:
    by_name = {other.contender.name: other for other in rows}
    for name in section.references:
        if name in by_name:
            yield name, row.ratio_to(by_name[name])


def _table(section: Section, rows: Sequence[Measurement]) -> list[str]:
    references = [name for name, _ in _ratios(section, rows[0], rows)]
    head = ["contender", f"{section.unit}/s", "min - max", "each", *(f"x {name}" for name in references)]
    cells = [head, *(_cells(section, row, rows) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return [_line(row, widths) for row in (head, rule, *cells[1:])]


def _cells(section: Section, row: Measurement, rows: Sequence[Measurement]) -> list[str]:
    ratios = [_short(ratio) for _, ratio in _ratios(section, row, rows)]
    if row.rate is None:
        return [f"{row.contender.name}: {row.problem or 'no round was run'}", "", "", "", *ratios]
    spread = f"{_whole(min(row.rates))} - {_whole(max(row.rates))}"
    return [row.contender.name, _whole(row.rate), spread, _each(row.rate), *ratios]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *numbers = cells
    padded = [name.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])]
    return "| " + " | ".join(padded) + " |"


def _whole(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def _short(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def _each(rate: float) -> str:
    seconds = 1 / rate
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
