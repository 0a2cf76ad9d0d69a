"""A game in progress: questions, answers, forks, undo.

    game = Game(program, seed=1)
    game.questions            what is asked now
    game.answer("red 5")      nothing changes if it is not offered
    game.play(policy)         to the end, as fast as the machine can

Rules are plain functions and cannot be suspended. When no answer is there, the run unwinds; when one is given, the
table is taken back to the last step and the rules run again with the answers given since. What they produce
must equal what they produced before: every answer proves that the rules are deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .chance import Branch, Chance
from .errors import (
    EndGame,
    GameOver,
    IllegalAnswer,
    LongboxError,
    OverBudget,
    Paused,
    ReplayError,
    RuleError,
    StaleAnswer,
    UnclearAnswer,
)
from .fold import apply
from .program import Program, state_from_box
from .questions import Feed, Question
from .state import BUDGET, Event, Policy, State, Thing
from .turns import subject_of, walk

Act = Callable[[State], None]


class Game:
    """One game. Make it with a program and a seed, or take one up again with `Game.resume`."""

    def __init__(
        self,
        program: Program,
        seed: int = 0,
        seats: int | Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        chance: Chance | None = None,
        *,
        start: bool = True,
    ) -> None:
        self.program, self.seed = program, seed
        self.settings = dict(settings or {})
        self.seat_names = program.seat_names(seats)
        self._state = program.new_state(self.seat_names, seed, settings, chance)
        self._checkpoint = self._state  # what a run starts again from; until the first step, the open box
        self._since: list[tuple[Thing | None, str]] = []
        self._acts: list[Act] = []
        self._act_steps: list[int | None] = []  # where: the length of the log at the step, -1 in its middle
        self._questions: tuple[Question, ...] = ()
        self._started = False
        self._lazy = start  # run to the first question as soon as somebody looks

    # ------------------------------------------------------------ looking
    @property
    def state(self) -> State:
        if self._lazy and not self._started:
            self.start()
        return self._state

    @property
    def log(self) -> list[Event]:
        return self.state.log

    @property
    def decisions(self) -> int:
        return self.state.answers

    @property
    def over(self) -> bool:
        return self.state.outcome is not None

    @property
    def outcome(self) -> dict[str, Any] | None:
        return self.state.outcome

    @property
    def seats(self) -> list[Thing]:
        return self._state.of["seat"]

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions that are open now; several only where seats choose at the same time."""
        return self._questions if self.state else ()

    @property
    def question(self) -> Question | None:
        questions = self.questions
        return questions[0] if questions else None

    @property
    def pending(self) -> list[tuple[Thing | None, str]]:
        """Answers given, but not yet used because others must answer as well."""
        run = self._state.run
        return run.left if isinstance(run, Feed) else []

    # ------------------------------------------------------------ going on
    def start(self) -> None:
        """Run to the first question."""
        self._started = True
        self._checkpoint = self._state.copy()
        self._run(resumed=False)

    def play(self, policy: Policy, decisions_max: int = 1_000_000) -> Game:
        """Let a policy answer everything to the end: the fast path, without checkpoints."""
        if self._started:
            if self.over:
                return self
            self._rewind()
        state = self._state
        feed = Feed(self._since)

        def both(question: Question) -> str:
            try:
                return feed(question)
            except Paused:
                state.run = policy
                return policy(question)

        state.run = both if self._since else policy
        resumed, self._started = self._started and self._resumable(), True
        self._questions = ()
        self._guarded(lambda: walk(state, resumed, state.answers + decisions_max))
        self._since = []
        self._checkpoint = state
        return self

    def answer(self, key: str, seat: Thing | None = None) -> list[Event]:
        """Give an answer; returns the events that follow from it. A wrong one raises and changes nothing."""
        question = self._asked(seat)
        key = self.clear_key(question, key)
        before = len(self.log)
        who = seat if seat is not None else (question.seats[0] if len(question.seats) == 1 else None)
        self._again((who, key))
        return self.log[before:]

    def _asked(self, seat: Thing | None) -> Question:
        if self.over:
            raise StaleAnswer("the game is over")
        for question in self.questions:
            if seat is None or seat in question.seats:
                return question
        names = ", ".join(self._state.key[s] for q in self._questions for s in q.seats)
        whose = self._state.key[seat] if seat is not None and 0 <= seat < len(self._state.key) else str(seat)
        raise StaleAnswer(f"{whose} is not asked anything now; waiting for: {names}")

    @staticmethod
    def clear_key(question: Question, key: str) -> str:
        """The offered answer that is meant: the key itself, or what can only mean one of them."""
        if key in question.keys:
            return key
        low = key.strip().lower()
        close = [k for k in question.keys if k.lower() == low] or [
            k for k in question.keys if low and k.lower().startswith(low)
        ]
        if len(close) == 1:
            return close[0]
        if close:
            raise UnclearAnswer(f"{key!r} may mean: {', '.join(close)}")
        raise IllegalAnswer(f"{key!r} is not offered; the answers are: {', '.join(question.keys)}")

    def act(self, act: Act) -> None:
        """Do something that is no answer: for scenes. It becomes part of what is run again.

        It happens at the start of the step that waits, so that its question is asked anew. If the step has had
        an answer already, it happens while the question stands, and that question stays as it is.
        """
        if not self._started:
            self.start()
        self._acts.append(act)
        self._act_steps.append(None)
        try:
            self._again((ACT, str(len(self._acts) - 1)), same=False)
        except LongboxError:
            del self._acts[-1], self._act_steps[-1]
            raise

    @property
    def acts(self) -> list[tuple[Act, int | None]]:
        """The acts of a scene and where they happened: with the answers, what `resume` needs."""
        return list(zip(self._acts, self._act_steps, strict=True))

    # ------------------------------------------------------------ the one mechanism
    def _resumable(self) -> bool:
        log = self._checkpoint.log
        return any(log[at][0] == "stepped" for at in range(len(log) - 1, -1, -1))

    def _rewind(self) -> None:
        """Take the table back to the last step."""
        self._state = self._checkpoint.copy()
        self._state.budget = BUDGET

    def _again(self, given: tuple[Thing | None, str], same: bool = True) -> None:
        """Run again from the last step, with one more answer. On any error all is as it was."""
        old = self._state, self._questions, self._checkpoint, self._since
        start = len(self._checkpoint.log)
        self._since = [*self._since, given]
        self._rewind()
        try:
            self._run(resumed=self._resumable())
            if same:
                self._compare(old[0].log, start)
        except LongboxError:
            self._state, self._questions, self._checkpoint, self._since = old
            raise

    def _compare(self, before: list[Event], start: int) -> None:
        """What was produced before must have come out again."""
        now = self._state.log
        for at in range(start, len(before)):
            if at >= len(now) or now[at] != before[at]:
                raise ReplayError(
                    f"event {at} came out differently when it was run again",
                    at,
                    before[at],
                    now[at] if at < len(now) else None,
                )

    def _run(self, resumed: bool) -> None:
        state = self._state
        feed = _Driver(self, self._since)
        state.run = feed
        self._questions = ()
        try:
            self._guarded(lambda: self._walk(state, feed, resumed))
        except Paused as pause:
            self._questions = pause.questions

    def _walk(self, state: State, feed: _Driver, resumed: bool) -> None:
        """Walk on. Where an act is due, the walk is left at its step, and taken up again after the act."""
        while True:
            try:
                if resumed:
                    self._acts_due(state, feed)
                return walk(state, resumed)
            except _ActDue:
                resumed = True
            except GameOver:
                return
            except EndGame:
                return _to_scoring(state)

    def _acts_due(self, state: State, feed: _Driver) -> None:
        """Carry out the acts that come next, at the start of a step; the step may then be somebody else's."""
        here, done = len(self._checkpoint.log), False
        while (act := feed.next_act()) is not None and self._act_steps[act] in (None, here):
            self._act_steps[act], done = here, True
            feed.carry_out(act, state)
        if done:
            _step_again(state)

    def _guarded(self, run: Callable[[], None]) -> None:
        """Errors inside a text get the line they come from."""
        try:
            run()
        except RuleError as error:
            if not error.file:
                file, line = text_line(self.program, error)
                raise type(error)(error.what, file, line) from error
            raise
        except RecursionError as error:
            file, line = text_line(self.program, error)
            raise OverBudget("these texts call each other without coming to an end", file, line) from None
        except (TypeError, KeyError, IndexError, AttributeError, ValueError) as error:
            file, line = text_line(self.program, error)
            if not file:
                raise
            raise RuleError("this text asked something of nothing", file, line) from error

    # ------------------------------------------------------------ forks and undo
    def fork(self, chance: Chance | None = None) -> Game:
        """A copy that can go its own way, at any question; with other chance, it cannot know the draws to come."""
        if self._lazy and not self._started:
            self.start()
        new: Game = object.__new__(Game)
        new.__dict__.update(self.__dict__)
        new._since, new._acts, new._act_steps = self._since[:], self._acts[:], self._act_steps[:]
        new._state = self._state.copy()
        new._checkpoint = self._checkpoint.copy()
        if chance is not None:
            new._state.chance = new._checkpoint.chance = Branch(self._state.chance, self._state.draws, chance)
        return new

    def retraced(self) -> list[tuple[Any, ...]]:
        """What rules changed on the way here: the same answers are given again, and notes are taken.

        ("value", events before it, site, thing, gets or has, amount)   a modifier of a value
        ("slot", events before it, site, thing, cause, slot, old, new)  a rule before an act changed a slot of it
        """
        again = Game(self.program, self.seed, self.seat_names, self.settings, self._state.chance, start=False)
        again._acts, again._act_steps = self._acts[:], self._act_steps[:]
        notes: list[tuple[Any, ...]] = []
        again._state.trace = notes
        answers = [event for event in self.log if event[0] == "answered"]
        again._since = [(event[3][0], event[4]) for event in answers]
        again._started = True
        again._checkpoint = again._state.copy()
        again._run(resumed=False)
        return notes

    def at_step(self, state: State, left: list[tuple[Thing | None, str]]) -> None:
        """The walk reached a step: from here the game can be taken up again."""
        self._checkpoint = state.copy()
        self._since = left

    @classmethod
    def resume(
        cls,
        program: Program,
        seed: int,
        seats: Sequence[str],
        settings: Mapping[str, Any] | None,
        answers: Sequence[tuple[Thing | None, str]],
        expected: Sequence[Event] | None = None,
        chance: Chance | None = None,
        acts: Sequence[tuple[Act, int | None]] = (),
    ) -> Game:
        """Take up a game from its answers. With `expected`, its events must come out the same."""
        game = cls(program, seed, seats, settings, chance, start=False)
        game._since = list(answers)
        game._acts, game._act_steps = [act for act, _ in acts], [step for _, step in acts]
        game._started = True
        game._checkpoint = game._state.copy()
        try:
            game._run(resumed=False)
        except IllegalAnswer as error:
            if expected is not None:
                game._differ(expected)
            raise ReplayError(
                f"an answer of this history is not offered by its rules: {error}", len(game.log) - 1
            ) from error
        if expected is not None:
            game._differ(expected)
        return game

    def _differ(self, expected: Sequence[Event]) -> None:
        """Raise at the first event that differs from those expected."""
        now = self._state.log
        for at, event in enumerate(expected):
            if at >= len(now) or now[at] != event:
                raise ReplayError(f"event {at} differs", at, event, now[at] if at < len(now) else None)
        if len(now) > len(expected):
            raise ReplayError(
                f"event {len(expected)} is not in the history", len(expected), None, now[len(expected)]
            )


ACT = -7  # marks an act among the answers, in place of a seat
_Since = list[tuple["Thing | None", str]]


class _ActDue(Exception):
    """The walk has reached the step at which an act happened before."""


class _Driver(Feed):
    """The feed of a game that may pause. Among its answers stand the acts of a scene."""

    def __init__(self, game: Game, answers: _Since) -> None:
        super().__init__(answers)
        self._game = game

    def __call__(self, question: Question) -> str:
        while (act := self.next_act()) is not None:
            self._game._act_steps[act] = -1
            self.carry_out(act, question.state)
        return super().__call__(question)

    def next_act(self) -> int | None:
        """The number of the act that comes next, if it is not an answer that does."""
        at = self.first()
        return int(self.answers[at][1]) if at < len(self.answers) and self.answers[at][0] == ACT else None

    def carry_out(self, act: int, state: State) -> None:
        self._taken[self.answers.index((ACT, str(act)))] = True
        self._game._acts[act](state)

    def at_step(self, state: State) -> None:
        self._game.at_step(state, self.left)
        act = self.next_act()
        if act is not None and self._game._act_steps[act] == len(state.log):
            raise _ActDue


def _step_again(state: State) -> None:
    """If an act has changed whose step it is, say so, as the walk does."""
    section, pc = state.pc
    op = state.program.structure[section][pc]
    if op[0] != "step":
        return
    _, _, scope, whose, you, site, _ = op
    if whose is not None:
        subject = subject_of(state, state.frame, whose, state.frame[you] if you is not None else None)
        if subject != state.log[state.began[scope]][6]:
            apply(state, ("stepped", -1, site, (section, pc), state.frame, scope, subject))


def _to_scoring(state: State) -> None:
    """An act has ended the game: what remains is the scoring."""
    before, count = state.pc, len(state.log)
    state.pc = ("scoring", 0)
    walk(state, False)
    if not any(event[0] == "stepped" for event in state.log[count:]):
        state.pc = before


def fold_history(events: Sequence[Event]) -> State:
    """The table that a history leads to, without running any rule."""
    state = state_from_box(events[0])
    for event in events[1:]:
        apply(state, event)
    return state


def text_line(program: Program, error: BaseException) -> tuple[str, int]:
    """The innermost line of text on the way to an error."""
    trace, found = error.__traceback__, ("", 0)
    files = set(program.files)
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in files:
            found = (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return found
