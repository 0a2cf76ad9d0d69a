"""Running a scene, strictly.

Every question is answered on purpose, and a scene ends at a quiet point. A scene that passes is also

- folded: its history alone, without any rule, leads to the same table;
- replayed: its answers and statements, fed in from the start, give the same events one by one;
- undone: taken back to before its last answer and answered again, it comes to the same.

`run` returns what happened, as lines; `SceneFailed` says what did not hold, where, and what led to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from longbox.kernel import Game, LongboxError, Question, ReplayError, RuleError, State, Thing, fold_history
from longbox.kernel.chance import Chance, Seeded
from longbox.kernel.errors import Paused
from longbox.kernel.game import ACT
from longbox.kernel.state import Event
from longbox.kernel.text import Names, is_told, outcome_text, render_event

from . import units as u
from .explain import near
from .scenes import Scene
from .source import Span

EVENTS_SHOWN = 8
ANSWERS_SHOWN = 40


class SceneFailed(Exception):
    """Something in a scene did not hold."""

    def __init__(
        self, span: Span, what: str, details: Sequence[str] = (), events: Sequence[str] = ()
    ) -> None:
        self.span, self.what, self.details, self.events = span, what, tuple(details), tuple(events)
        super().__init__(self.show())

    def show(self) -> str:
        lines = [f"{self.span.file}:{self.span.line}: {self.what}", *(f"    {line}" for line in self.details)]
        if self.events:
            lines += ["the last events:", *(f"    {line}" for line in self.events)]
        return "\n".join(lines)


def run(scene: Scene) -> list[str]:
    """Run a scene and all its checks; returns its trace."""
    stage = Stage(scene)
    stage.play()
    stage.check_end()
    trace = stage.trace()
    stage.check_fold()
    stage.check_replay()
    stage.check_undo()
    return trace


# ---------------------------------------------------------------- chance
class LoadedChance:
    """Chance whose next results can be fixed by what they show; then the seed goes on."""

    def __init__(
        self, then: Chance, results: Sequence[Sequence[object]], fixed: dict[int, int] | None = None
    ) -> None:
        self.then, self.results = then, results
        self.waiting: list[tuple[object, Span]] = []
        self.since = 0
        self.fixed: dict[int, int] = dict(fixed or {})  # number of the draw -> its result

    def load(self, faces: Sequence[object], span: Span, since: int) -> None:
        """Fix the next results; draws made before number `since` keep theirs when they are made again."""
        self.waiting += [(face, span) for face in faces]
        self.since = since

    def pick(self, at: int, count: int) -> int:
        if at not in self.fixed and self.waiting and at >= self.since:
            self.fixed[at] = self._index(self.waiting[0][0], count)
            del self.waiting[0]
        return self.fixed[at] if at in self.fixed else self.then.pick(at, count)

    def order(self, at: int, count: int) -> list[int]:
        return self.then.order(at, count)

    def _index(self, face: object, count: int) -> int:
        """Which of `count` results shows this: a face, a word, or else a number counted from 1."""
        found = {
            list(results).index(face) for results in self.results if len(results) == count and face in results
        }
        if not found and isinstance(face, int) and 1 <= face <= count:
            found = {face - 1}
        if len(found) != 1:
            why = "none of them is" if not found else "more than one sort of them has"
            raise RuleError(f"the next result of chance is one of {count}; {why} {shown_face(face)}")
        return found.pop()


def shown_face(face: object) -> str:
    return " + ".join(map(str, face)) or "blank" if isinstance(face, tuple) else str(face)


# ---------------------------------------------------------------- the stage
@dataclass
class Stage:
    """A scene on its way."""

    scene: Scene
    names: dict[str, Any] = field(default_factory=dict)  # what its statements have bound
    inputs: list[tuple[Thing | None, str]] = field(
        default_factory=list
    )  # answers and acts, as the kernel has them
    acts: list[u.XAct] = field(default_factory=list)
    marks: dict[int, int] = field(default_factory=dict)  # act -> length of the log when it began
    asked: dict[tuple[Thing, ...], list[str]] = field(default_factory=dict)  # questions answered, in order
    running: u.XAct | None = None  # an act that waits for an answer
    last: tuple[Game, int] | None = None  # the game before the last answer, and the number of inputs then
    begun: tuple[int, int] | None = None  # length of the log and number of acts at the first `when`
    step: int = -1  # the event of the step that the game stands at
    first: set[int] = field(default_factory=set)  # sites of the first questions of that step
    before: set[int] = field(default_factory=set)  # sites of the questions open when the last `when` began

    def __post_init__(self) -> None:
        unit, program = self.scene.unit, self.scene.program
        self.here = unit.span
        self.chance = LoadedChance(Seeded(unit.seed), self.scene.results)
        self.game = Game(program, unit.seed, unit.seats, unit.settings, self.chance, start=False)
        self.text = Names.of(self.game.state, program.tables)
        self.seats = dict(zip(unit.seats, self.game.seats, strict=True))

    def play(self) -> None:
        self._try(self.game.start)
        self._look_around(fresh=True)
        for at, step in enumerate(self.scene.unit.steps):
            self.here = step.span
            self._step(at, step)

    def _step(self, at: int, step: u.SceneStep) -> None:
        match step:
            case u.XMark(word=word):
                self._mark(word)
            case u.XDice(faces=faces):
                self.chance.load(faces, step.span, self.game.state.draws)
            case u.XAnswer(seat=seat, keys=keys):
                for key in keys:
                    self._answer(seat, key)
            case u.XAct():
                self._act(at, step)
            case u.XLook():
                self._look(step)
            case u.XExpect():
                self._expect(at, step)
            case u.XOutcome():
                self._outcome(step)

    def _mark(self, word: str) -> None:
        if word == "when":
            self.begun = self.begun or (len(self.game.log), len(self.acts))
            self.before = {q.site for q in self.game.questions}

    # ------------------------------------------------------------ answers and statements
    def _answer(self, seat: str, key: str) -> None:
        question = self._question(seat)
        if key not in question.keys:
            raise self._failed(f"{seat} is not offered {key!r}", [near(key, question.keys), *self._open()])
        self.last = self.game.fork(), len(self.inputs)
        self.asked.setdefault(question.seats, []).append(self._shown(question))
        self._try(lambda: self.game.answer(key, self.seats[seat]))
        self.inputs.append((self.seats[seat], key))
        self._look_around(fresh=False)

    def _question(self, seat: str) -> Question:
        thing = self.seats[seat]
        for question in self.game.questions:
            if thing in question.seats:
                return question
        raise self._failed(f"{seat} is not asked anything", self._open())

    def _act(self, at: int, step: u.XAct) -> None:
        if self.running is not None:
            raise self._failed(f"'{self.running.text}' is not finished", self._open())
        if self.game.over:
            raise self._failed("the game is over", [self._how_it_stands()])
        number, you = len(self.acts), self._you()
        self.acts.append(step)
        function = self.scene.functions[at]

        def act(state: State) -> None:
            self.marks[number], self.running = len(state.log), step
            try:
                function(state, -1, None, you, self.names)
            except Paused:
                raise
            except Exception:
                self.running = None
                raise
            self.running = None

        self._try(lambda: self.game.act(act))
        self.inputs.append((ACT, str(number)))
        self._look_around(fresh=self.game.acts[number][1] != -1)

    def _you(self) -> Thing | None:
        asked = [seat for question in self.game.questions for seat in question.seats]
        return asked[0] if len(asked) == 1 else None

    def _try(self, go: Any) -> None:
        """Errors of the kernel become failures of the scene."""
        try:
            go()
        except ReplayError as error:
            raise self._failed(f"not deterministic: {error}", self._both(error)) from None
        except LongboxError as error:
            raise self._failed(str(error), self._open()) from None

    def _look_around(self, fresh: bool) -> None:
        """Note where the game stands: the first question of a step is a quiet one."""
        log = self.game.log
        step = next((at for at in range(len(log) - 1, -1, -1) if log[at][0] == "stepped"), -1)
        if (fresh or step != self.step) and self.running is None:
            self.step, self.first = step, {q.site for q in self.game.questions}

    # ------------------------------------------------------------ looking
    def _look(self, look: u.XLook) -> None:
        if look.how == "idle":
            if any(self.seats[look.seat] in q.seats for q in self.game.questions):
                raise self._failed(f"{look.seat} is asked", self._open())
            return
        question = self._question(look.seat)
        missing = [key for key in look.keys if key not in question.keys]
        more = [key for key in question.keys if key not in look.keys]
        if look.how == "refused":
            if len(missing) < len(look.keys):
                found = [key for key in look.keys if key in question.keys]
                raise self._failed(f"{look.seat} is offered {_list(found)}", self._open())
        elif missing or (look.how == "offered" and more):
            details = [f"not offered: {_list(missing)}"] if missing else []
            details += [f"offered too: {_list(more)}"] if more and look.how == "offered" else []
            verb = "is offered" if look.how == "offered" else "can"
            raise self._failed(f"expected: {look.seat} {verb} {_list(look.keys)}", details)

    def _expect(self, at: int, step: u.XExpect) -> None:
        state, you = self.game.state.copy(), self._you()
        try:
            if self.scene.functions[at](state, -1, None, you, self.names):
                return
        except (LongboxError, TypeError, KeyError, IndexError, AttributeError, ValueError) as error:
            raise self._failed(f"expected: {step.text}", [f"it cannot be worked out: {error}"]) from None
        raise self._failed(f"expected: {step.text}", self._details(at, state, you))

    def _details(self, at: int, state: State, you: Thing | None) -> list[str]:
        lines: dict[str, str] = {}
        for detail in self.scene.details[at]:
            try:
                value = detail.value(state, -1, None, you, self.names)
            except (LongboxError, TypeError, KeyError, IndexError, AttributeError, ValueError) as error:
                lines[detail.text] = f"cannot be worked out: {error}"
                continue
            lines[detail.text] = self.text.value(value, detail.is_thing)
        lines = {text: value for text, value in lines.items() if text != value}
        width = max(map(len, lines), default=0)
        return [f"{text:{width}} : {value}" for text, value in lines.items()]

    def _outcome(self, step: u.XOutcome) -> None:
        outcome = self.game.outcome
        match step.how:
            case "over":
                holds = outcome is not None
            case "not over":
                holds = outcome is None
            case "drawn":
                holds = outcome is not None and outcome["result"] == "drawn"
            case how:
                named = {self.seats[seat] for seat in step.seats}
                holds = outcome is not None and named == set(outcome["winners" if how == "won" else "losers"])
        if not holds:
            wanted = f"{_list(step.seats)} has {step.how}" if step.seats else f"the game is {step.how}"
            raise self._failed(f"expected: {wanted}", [self._how_it_stands()])

    def _how_it_stands(self) -> str:
        outcome = self.game.outcome
        return "the game is not over" if outcome is None else outcome_text(self.text, outcome)

    # ------------------------------------------------------------ at the end
    def check_end(self) -> None:
        """The scene ends at a quiet point, and everything it was given was used."""
        if self.running is not None:
            raise self._failed(f"'{self.running.text}' is not finished", self._open())
        if self.game.pending:
            raise self._failed("an answer still waits for those of others", self._open())
        if self.chance.waiting:
            face, self.here = self.chance.waiting[0]
            raise self._failed(f"nothing took {shown_face(face)} from the dice")
        quiet = self.first | self.before | self.scene.structure
        if any(q.site not in quiet for q in self.game.questions):
            raise self._failed("the scene ends in the middle of an effect", self._open())

    def check_fold(self) -> None:
        """Law: the history alone leads to the table."""
        folded, live = fold_history(self.game.log).snapshot(), self.game.state.snapshot()
        wrong = [
            f"{slot}: {folded[slot]!r} is not {live[slot]!r}" for slot in live if folded[slot] != live[slot]
        ]
        if wrong:
            raise self._failed("folding the history gives another table", wrong)

    def check_replay(self) -> None:
        """Law: the same answers give the same events."""
        unit = self.scene.unit
        chance = LoadedChance(Seeded(unit.seed), self.scene.results, self.chance.fixed)

        def again() -> None:
            table = (self.scene.program, unit.seed, unit.seats, unit.settings)
            game = Game.resume(*table, self.inputs, self.game.log, chance, self.game.acts)
            self._same(game, "the replay")

        self._try(again)

    def check_undo(self) -> None:
        """Law: what is taken back and answered again comes out the same."""
        if self.last is None:
            return
        game, count = self.last
        acts = self.game.acts

        def again() -> None:
            for seat, key in self.inputs[count:]:
                if seat == ACT:
                    game.act(acts[int(key)][0])
                else:
                    game.answer(key, seat)
            self._same(game, "the game after an undo")

        self._try(again)

    def _same(self, game: Game, what: str) -> None:
        mine, other = self.game.log, game.log
        at = next(
            (i for i, (a, b) in enumerate(zip(mine, other, strict=False)) if a != b),
            min(len(mine), len(other)),
        )
        if at < max(len(mine), len(other)):
            pair = [log[at] if at < len(log) else None for log in (mine, other)]
            raise ReplayError(f"{what} differs at event {at}", at, *pair)
        if [self._shown(q) for q in game.questions] != [self._shown(q) for q in self.game.questions]:
            raise ReplayError(f"{what} waits at another question")
        if game.state.snapshot() != self.game.state.snapshot():
            raise ReplayError(f"{what} comes to another table")

    # ------------------------------------------------------------ in words
    def _failed(self, what: str, details: Sequence[str] = ()) -> SceneFailed:
        self.text.keys = self.game.state.key
        lines = [line for event in self.game.log if (line := self._line(event))]
        return SceneFailed(self.here, what, [line for line in details if line], lines[-EVENTS_SHOWN:])

    def _both(self, error: ReplayError) -> list[str]:
        pair = (("expected", error.expected), ("actual", error.actual))
        return [f"{word}: {self._line(event) or event}" for word, event in pair if event is not None]

    def _open(self) -> list[str]:
        """What is asked now, and of whom."""
        return [f"asked: {self._shown(q)}" for q in self.game.questions] or [self._how_it_stands()]

    def _shown(self, question: Question) -> str:
        keys = question.keys[:ANSWERS_SHOWN]
        more = f" | and {len(question.keys) - len(keys)} more" if len(question.keys) > len(keys) else ""
        return f"{self.text.thing(question.seats)}: {question.prompt}: {' | '.join(keys)}{more}"

    def _line(self, event: Event) -> str:
        if event[0] == "stepped" and event[5]:
            return render_event(self.text, event)
        return render_event(self.text, event) if is_told(event) else ""

    def trace(self) -> list[str]:
        """Everything from `when` on, one line each: statements, questions, answers, and events below them."""
        self.text.keys = self.game.state.key
        first, count = self.begun or (1, 0)
        first = min([first, *(at for act, at in self.marks.items() if act >= count)])
        asked = {seats: iter(lines) for seats, lines in self.asked.items()}
        starts: dict[int, list[str]] = {}
        for act in range(count, len(self.acts)):
            starts.setdefault(self.marks[act], []).append(f"> {self.acts[act].text}")
        out: list[str] = []
        depths = self._depths()
        for at, event in enumerate(self.game.log):
            new = starts.get(at, [])
            if event[0] == "answered":
                new = [*new, f"? {next(asked[event[3]])}"]
            if line := self._line(event):
                new = [*new, "  " * depths[at] + line]
            out += new if at >= first else []
        return [
            *out,
            *starts.get(len(self.game.log), []),
            *(f"? {self._shown(q)}" for q in self.game.questions),
        ]

    def _depths(self) -> list[int]:
        """How deep each event lies below the answer or statement that it follows from."""
        log, depths = self.game.log, list[int]()
        for event in log:
            cause = event[1]
            outer = cause < 0 or event[0] in ("answered", "stepped") or log[cause][0] == "stepped"
            depths.append(0 if outer else depths[cause] + 1)
        return depths


def _list(words: Sequence[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)
