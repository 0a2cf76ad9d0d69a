"""The options, who takes part, and what `--only` selects."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import longbox_contenders
from .baselines import (
    chess_peer,
    eventsourcing_peer,
    hand_written,
    pettingzoo_peer,
    python_compiler,
    rlcard_peer,
    sqlite_rows,
)
from .registry import SECTIONS, Contender
from .report import as_json, as_text
from .rounds import run_rounds

EVERYONE: tuple[Contender, ...] = (
    *longbox_contenders.CONTENDERS,
    *hand_written.CONTENDERS,
    *rlcard_peer.CONTENDERS,
    *pettingzoo_peer.CONTENDERS,
    *chess_peer.CONTENDERS,
    *sqlite_rows.CONTENDERS,
    *eventsourcing_peer.CONTENDERS,
    *python_compiler.CONTENDERS,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report. The status is 1 if a contender failed, never because of a time."""
    parser = _parser()
    options = parser.parse_args(arguments)
    chosen = select(options.only)
    if not chosen:
        parser.error(f"--only {' '.join(options.only)} names nobody; see --list")
    if options.list:
        print("\n".join(f"{contender.section}: {contender.name}" for contender in chosen))
        return 0
    measurements = run_rounds(chosen, options.rounds, options.seconds, _tell)
    write = as_json if options.format == "json" else as_text
    _hand_over(write(measurements, options.rounds, options.seconds), options.out)
    return int(any(measurement.failed for measurement in measurements))


def select(names: Sequence[str]) -> list[Contender]:
    """Those whom any of the names means, with the references of their sections, section by section.

    A number says little without the reference taken in the same minute, so a reference comes along unasked.
    """
    meant = [one for one in EVERYONE if not names or any(_means(name, one) for name in names)]
    sections = {one.section for one in meant}
    references = {(section.name, name) for section in SECTIONS for name in section.references}
    asked = set(meant)
    return [
        one
        for section in SECTIONS
        for one in EVERYONE
        if one.section == section.name
        and section.name in sections
        and (one in asked or (one.section, one.name) in references)
    ]


def _means(name: str, contender: Contender) -> bool:
    """A section (`games/uno`), its first or last part (`games`, `uno`), or a piece of a contender's name."""
    parts = contender.section.split("/")
    return name in (contender.section, parts[0], parts[-1]) or name.lower() in contender.name.lower()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("run.py", description="Longbox against its peers, as ratios in one run.")
    add = parser.add_argument
    add("--rounds", type=_rounds, default=5, metavar="N", help="interleaved rounds (5)")
    add("--seconds", type=_seconds, default=0.3, metavar="S", help="a contender's slice of a round (0.3)")
    add("--only", nargs="+", default=[], metavar="NAME", help="sections, or parts of contenders' names")
    add("--list", action="store_true", help="say who would run, and stop")
    add("--format", choices=("text", "json"), default="text")
    add("--out", type=Path, metavar="FILE", help="write the report here, not to standard output")
    return parser


def _rounds(text: str) -> int:
    rounds = int(text)
    if rounds < 1:
        raise argparse.ArgumentTypeError("at least one round is needed")
    return rounds


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 3600:
        raise argparse.ArgumentTypeError("a slice is longer than nothing and shorter than an hour")
    return seconds


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _hand_over(text: str, out: Path | None) -> None:
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")
