"""Interleaved rounds: each round gives every contender one slice, every second round in reverse order.

A shared machine changes speed from one minute to the next. Contenders of a section run within seconds of each
other, a ratio is taken inside each round, and the median of those ratios is reported; so both sides of a
ratio met the same machine. Setup and a warm-up come first, and the collector is emptied before every slice.
"""

import gc
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from .registry import Contender, Slice

WARM_UP = 0.2
"""The warm-up, as a part of a slice."""


@dataclass(slots=True)
class Measurement:
    """One contender's rate in each round, or the problem that kept it from running."""

    contender: Contender
    rates: list[float] = field(default_factory=list)
    problem: str | None = None
    failed: bool = False

    @property
    def rate(self) -> float | None:
        """The median number of units a second."""
        return None if self.problem or not self.rates else median(self.rates)

    def ratio_to(self, reference: "Measurement") -> float | None:
        """How many times as fast as the reference, the median over the rounds."""
        if self.rate is None or reference.rate is None:
            return None
        return median(mine / theirs for mine, theirs in zip(self.rates, reference.rates, strict=True))


def run_rounds(
    contenders: Sequence[Contender], rounds: int, seconds: float, tell: Callable[[str], None]
) -> list[Measurement]:
    """Set everyone up, warm up, then measure."""
    tell(f"setting up and warming up {len(contenders)} contenders")
    entries = [_set_up(contender, seconds * WARM_UP) for contender in contenders]
    gc.collect()
    gc.freeze()  # what the imports left behind is nobody's garbage: keep it out of everyone's collections
    try:
        for number in range(rounds):
            tell(f"round {number + 1} of {rounds}")
            for measurement, spend in entries if number % 2 == 0 else reversed(entries):
                _measure(measurement, spend, seconds)
    finally:
        gc.unfreeze()
    return [measurement for measurement, _ in entries]


def _set_up(contender: Contender, seconds: float) -> tuple[Measurement, Slice]:
    measurement = Measurement(contender)
    try:
        spend = contender.setup()
        spend(seconds)
        return measurement, spend
    except ModuleNotFoundError as error:
        measurement.problem = f"not installed ({error.name or error})"
    except Exception as error:  # one contender's bug must not take the others' numbers with it
        _fail(measurement, error)
    return measurement, _never


def _measure(measurement: Measurement, spend: Slice, seconds: float) -> None:
    if measurement.problem:
        return
    gc.collect()
    try:
        units, elapsed = spend(seconds)
        measurement.rates.append(units / elapsed)
    except Exception as error:  # as above
        _fail(measurement, error)


def _fail(measurement: Measurement, error: Exception) -> None:
    traceback.print_exception(error, file=sys.stderr)
    measurement.problem = f"failed: {type(error).__name__}: {error}"
    measurement.failed = True


def _never(seconds: float) -> tuple[int, float]:
    raise AssertionError("a contender that could not be set up was measured")
