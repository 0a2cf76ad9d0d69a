"""The one source of chance.

Draw number k of a game is a hash of its seed and k, so the source has no state but a count, forks cost
nothing, and whoever knows the seed can derive every draw again. The seed's commitment is published when a
game starts and the seed itself when it ends.
"""

from __future__ import annotations

from hashlib import blake2b, shake_128
from struct import unpack
from typing import Protocol


class Chance(Protocol):
    """What the kernel asks of a source. `at` is the number of the draw."""

    def pick(self, at: int, count: int) -> int:
        """A number from 0 up to, not including, `count`."""
        ...

    def order(self, at: int, count: int) -> list[int]:
        """The numbers from 0 up to `count`, in random order."""
        ...


class Seeded:
    """Chance derived from a seed."""

    __slots__ = ("_key", "_seed")

    def __init__(self, seed: int) -> None:
        self._seed, self._key = seed, b""

    @property
    def key(self) -> bytes:
        """Worked out when chance is first asked: many a game never does."""
        if not self._key:
            self._key = seed_bytes(self._seed)
        return self._key

    def pick(self, at: int, count: int) -> int:
        word = int.from_bytes(blake2b(b"pick%d" % at, key=self.key, digest_size=8).digest(), "little")
        return (word * count) >> 64

    def order(self, at: int, count: int) -> list[int]:
        """A Fisher-Yates shuffle; the bias of multiply-and-shift is below one in four thousand million."""
        words = unpack(f"<{count}I", shake_128(self.key + b"order%d" % at).digest(4 * count))
        order = list(range(count))
        for i in range(count - 1, 0, -1):
            j = (words[i] * (i + 1)) >> 32
            order[i], order[j] = order[j], order[i]
        return order


class Branch:
    """One source up to a draw, another from there on: a fork that does not know the draws to come."""

    __slots__ = ("_at", "_first", "_then")

    def __init__(self, first: Chance, at: int, then: Chance) -> None:
        self._first, self._at, self._then = first, at, then

    def pick(self, at: int, count: int) -> int:
        return (self._first if at < self._at else self._then).pick(at, count)

    def order(self, at: int, count: int) -> list[int]:
        return (self._first if at < self._at else self._then).order(at, count)


def seed_bytes(seed: int) -> bytes:
    """The seed as the 16 bytes that the draws are keyed with."""
    return blake2b(str(seed).encode(), digest_size=16, person=b"longbox seed").digest()


def commitment(seed: int, salt: str) -> str:
    """Binds a game to its seed without showing it: published at the start, checked at the end."""
    return blake2b(f"{seed}:{salt}".encode(), digest_size=16, person=b"longbox commit").hexdigest()
