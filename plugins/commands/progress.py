"""A progress bar: one plain line on standard error, only where that is a terminal."""

from __future__ import annotations

import sys
from time import monotonic

WIDTH = 30
EVERY = 0.1  # seconds between two looks


class Progress:
    """Says how far something has come. Without a terminal it says nothing."""

    def __init__(self, total: int, what: str) -> None:
        self.total, self.what = total, what
        self._shown = sys.stderr.isatty() and total > 1
        self._next = 0.0

    def tell(self, count: int) -> None:
        now = monotonic()
        if self._shown and (now >= self._next or count == self.total):
            self._next = now + EVERY
            filled = WIDTH * count // self.total
            print(
                f"\r[{'#' * filled}{'.' * (WIDTH - filled)}] {count} of {self.total} {self.what}",
                end="",
                file=sys.stderr,
                flush=True,
            )

    def done(self) -> None:
        if self._shown:
            print("\r" + " " * (WIDTH + 40) + "\r", end="", file=sys.stderr, flush=True)
