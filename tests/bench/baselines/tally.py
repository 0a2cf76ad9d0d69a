"""An aggregate that counts. A module of its own: the library finds classes again by module and name."""

from uuid import UUID

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

NOTE = "x" * 73  # with the library's own fields, about 200 bytes a row


class Tally(Aggregate):
    """As little state as there can be, so that the library's own work is measured."""

    @event("Started")
    def __init__(self) -> None:
        self.count = 0

    @event("CardPlayed")
    def play(self, player: int, card: str, note: str) -> None:
        """One thing happened."""
        self.count += 1


class Tallies(Application[UUID]):
    """The application that keeps them."""


def trigger(tally: Tally, count: int) -> None:
    """Make that many things happen."""
    for number in range(count):
        tally.play(number % 2, "y-wild_draw_4", NOTE)
