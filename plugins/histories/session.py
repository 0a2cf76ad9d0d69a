"""A stored game that is being played.

An answer is checked and run, then saved with everything that followed from it, and only then acknowledged by
returning. If it cannot be saved, the game in memory is taken back to what is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock
from typing import Any

from longbox.kernel import (
    Event,
    Game,
    Program,
    Question,
    ReplayError,
    StaleAnswer,
    State,
    Thing,
    fold_history,
)
from longbox.kernel.chance import commitment
from longbox.kernel.fold import apply
from longbox.kernel.views import can_see, outcome_view

from .bodies import AnyBody, Decided, Repacked, Revealed, Sealed, Undone, encode, pack_events, wrap
from .errors import CannotUndo, HistoryError
from .store import Conflict, Row, Store
from .timeline import Step, Timeline

Clock = Callable[[], str]
CHANCE = frozenset({"shuffled", "picked", "rolled"})


def row_for(name: str, version: int, body: AnyBody, at: str = "") -> tuple[Row, str]:
    """A body as it is stored, and its hash."""
    state, mark = wrap(body.topic(), encode(body), at)
    return Row(name, version, body.topic(), state), mark


def resume(line: Timeline, program: Program, seed: int, steps: Sequence[Step] | None = None) -> Game:
    """The game that the stored answers lead to; its events must be those stored.

    Where the packs were changed on the way, lines of text may have moved: their places are not compared.
    """
    steps = line.steps if steps is None else steps
    answers, expected = [(step.seat, step.key) for step in steps], line.events_of(steps)
    settings, seats = line.started.settings, line.started.seats
    if not line.repacked:
        return Game.resume(program, seed, seats, settings, answers, expected)
    game = Game.resume(program, seed, seats, settings, answers)
    compare_loosely(expected, game.log)
    return game


def compare_loosely(expected: Sequence[Event], now: Sequence[Event]) -> None:
    """Raise at the first event that differs in more than its place in the text."""
    for at in range(max(len(expected), len(now))):
        old, new = (events[at] if at < len(events) else None for events in (expected, now))
        if old is None or new is None or (old[:2], old[3:]) != (new[:2], new[3:]):
            raise ReplayError(f"event {at} differs", at, old, new)


def differs(program: Program, error: ReplayError) -> str:
    """A replay that went another way, in words: which event, what it was and is, and the line of text."""
    event = error.actual or error.expected
    file, line = program.site(event[2]) if event else ("", 0)
    where = f" at {file}:{line}" if file else ""
    if error.event < 0 or (error.expected is None and error.actual is None):
        return f"{error}{where}"
    if error.event == 0 and error.expected and error.actual:
        return f"the box differs in: {', '.join(_parts(error.expected[3], error.actual[3]))}"
    stored, given = _short(error.expected), _short(error.actual)
    return f"event {error.event} differs{where}: stored is {stored}, the rules give {given}"


def _parts(stored: dict[str, Any], given: dict[str, Any]) -> list[str]:
    """In which parts two boxes differ."""
    return [part for part in sorted({*stored, *given}) if stored.get(part) != given.get(part)]


def _short(event: Event | None) -> str:
    said = "nothing" if event is None else repr((event[0], *event[3:]))
    return said if len(said) <= 200 else said[:197] + "..."


class Session:
    """One stored game, open for answers. Not shared between processes: whoever is first, wins."""

    def __init__(
        self,
        store: Store,
        line: Timeline,
        program: Program,
        sealed: Sealed,
        game: Game,
        *,
        reload: Callable[[], tuple[Timeline, Game]],
        clock: Clock | None = None,
        repack: Repacked | None = None,
    ) -> None:
        self.program, self.game = program, game
        self._store, self._line, self._sealed, self._clock = store, line, sealed, clock
        self._reload, self._repack = reload, repack
        self._lock = RLock()

    def __repr__(self) -> str:
        over = ", over" if self.over else ""
        return f"<Session {self.id}: {self._line.started.title}, {self.decisions} decisions{over}>"

    # ------------------------------------------------------------ looking
    @property
    def id(self) -> str:
        return self._line.id

    @property
    def question(self) -> Question | None:
        return self.game.question

    @property
    def questions(self) -> tuple[Question, ...]:
        return self.game.questions

    @property
    def decisions(self) -> int:
        """How many answers count; those that wait for others included."""
        return len(self._line.steps)

    @property
    def over(self) -> bool:
        return self.game.over

    @property
    def bots(self) -> dict[str, str]:
        return self._line.bots

    @property
    def events(self) -> list[Event]:
        """All stored events that count: `game.log`, unless the packs were changed on the way."""
        return self._line.events

    # ------------------------------------------------------------ going on
    def answer(self, key: str, seat: Thing | str | None = None) -> list[Event]:
        """Take an answer and save it with all that follows. When this returns, it is stored."""
        with self._lock:
            thing = self._seat(seat)
            who, meant = self._meant(key, thing)
            facts = self.game.answer(meant, thing)
            line = self._line
            decided = Decided(
                seat=who,
                key=meant,
                facts=pack_events(facts),
                prev="",
                decisions=len(line.steps) + 1,
                events=line.total + len(facts),
            )
            end = revealed(self.game, self._sealed, decided.decisions, decided.events) if self.over else None
            version = self._append([decided] if end is None else [decided, end])
            self._line.add(Step(version, who, meant, tuple(facts)))
            self._line.revealed = end
            return facts

    def _seat(self, seat: Thing | str | None) -> Thing | None:
        if not isinstance(seat, str):
            return seat
        for thing in self.game.seats:
            if self.game.state.key[thing] == seat:
                return thing
        raise StaleAnswer(
            f"nobody here is called {seat!r}; the seats are: {', '.join(self._line.started.seats)}"
        )

    def _meant(self, key: str, seat: Thing | None) -> tuple[Thing | None, str]:
        """Who answers, and the offered answer that is meant. What nobody asked, the game will refuse."""
        for question in self.game.questions:
            if seat is None or seat in question.seats:
                who = seat if seat is not None or len(question.seats) != 1 else question.seats[0]
                return who, Game.clear_key(question, key)
        return seat, key

    def _append(self, bodies: Sequence[AnyBody]) -> int:
        """Save bodies at the end of the chain, all or none. The number of the first of them."""
        if self._repack is not None:
            bodies = [self._repack, *bodies]
        line, at = self._line, self._clock() if self._clock else ""
        rows, head = [], line.head
        try:
            for number, body in enumerate(bodies, line.version + 1):
                row, head = row_for(line.id, number, chained(body, head), at)
                rows.append(row)
            self._store.save(rows)
        except Conflict:
            self._back()
            raise StaleAnswer(f"another answer was taken first; {self._waiting()}") from None
        except BaseException:
            self._back()
            raise
        first = line.version + 1 + (self._repack is not None)
        if self._repack is not None:
            line.packs, line.texts, line.repacked = self._repack.packs, self._repack.texts, True
            self._repack = None
        line.version, line.head = rows[-1].originator_version, head
        return first

    def _waiting(self) -> str:
        if self.over:
            return "the game is over now"
        names = dict.fromkeys(
            self.game.state.key[seat] for question in self.questions for seat in question.seats
        )
        return f"now waiting for: {', '.join(names)}"

    def _back(self) -> None:
        """To what is stored; if that cannot be read now, to what was known to be stored."""
        try:
            self._line, self.game = self._reload()
        except HistoryError:
            self.game = resume(self._line, self.program, int(self._sealed.seed))

    # ------------------------------------------------------------ undo
    def undo(self, seat: Thing | str | None = None) -> Step:
        """Take back the last decision: append that it is undone. Refuses past what anybody came to know."""
        with self._lock:
            line, who = self._line, self._seat(seat)
            step = self._undoable(who)
            before = line.steps[-2].version if len(line.steps) > 1 else 1
            shorter = resume(line, self.program, int(self._sealed.seed), line.steps[:-1])
            self._append(
                [
                    Undone(
                        seat=step.seat if who is None else who,
                        to=before,
                        prev="",
                        decisions=len(line.steps) - 1,
                        events=line.total - len(step.facts),
                    )
                ]
            )
            line.go_back(before)
            self.game = shorter
            return step

    def _undoable(self, seat: Thing | None) -> Step:
        """The last decision, if it may be taken back."""
        line = self._line
        if not line.steps:
            raise CannotUndo("there is nothing to undo: nobody has answered yet")
        if line.over:
            raise CannotUndo("the game is over and its seed is revealed; a fork can go on from any event")
        step = line.steps[-1]
        if seat is not None and step.seat not in (seat, None):
            raise CannotUndo(f"another seat has answered since: {self._called(step.seat)} answered last")
        why = what_was_learned(line.events_of(line.steps[:-1]), step.facts)
        if why:
            raise CannotUndo(f"this cannot be undone: {why}")
        return step

    def _called(self, seat: Thing | None) -> str:
        return "somebody" if seat is None else self.game.state.key[seat]


def chained(body: AnyBody, prev: str) -> AnyBody:
    """The body with the hash of the one before."""
    if isinstance(body, Decided | Undone | Repacked | Revealed):
        fields: dict[str, Any] = {name: getattr(body, name) for name in body.__struct_fields__}
        return type(body)(**(fields | {"prev": prev}))
    return body


def revealed(game: Game, sealed: Sealed, decisions: int, events: int) -> Revealed:
    outcome = outcome_view(game.state) or {}
    return Revealed(
        outcome=outcome, seed=sealed.seed, salt=sealed.salt, decisions=decisions, events=events, prev=""
    )


def commits(sealed: Sealed | Revealed) -> str:
    return commitment(int(sealed.seed), sealed.salt)


# ---------------------------------------------------------------- what cannot be unlearned
def what_was_learned(before: Sequence[Event], facts: Sequence[Event]) -> str:
    """Why these events cannot be taken back: chance was asked, or somebody saw something. Else nothing."""
    state = fold_history(before)
    for event in facts:
        if event[0] in CHANCE:
            return f"chance was asked ({event[0]})"
        things = _within(state, _things(event))
        seen = {(seat, thing) for thing in things for seat in state.of["seat"] if can_see(state, seat, thing)}
        apply(state, event)
        for thing in things:
            for seat in state.of["seat"]:
                if (seat, thing) not in seen and can_see(state, seat, thing):
                    return f"{state.key[seat]} has seen something new"
    return ""


def _things(event: Event) -> tuple[Thing, ...]:
    """The things whose sight an event may change."""
    match event[0]:
        case "moved" | "laid" | "shown" | "turned" | "owned":
            return (event[3],)
        case "swept":
            return tuple(event[3])
    return ()


def _within(state: State, things: Sequence[Thing]) -> list[Thing]:
    """These things and all that lies on them."""
    found = list(dict.fromkeys(things))
    for thing in found:
        found += [inner for inner in state.items.get(thing, ()) if inner not in found]
    return found
