"""Turn structure: rounds, phases, steps and turns as data that the kernel walks.

The compiler flattens `setup`, `round` and `scoring` into instructions. Before each step the walk records a
`stepped` event with its position and its variables: the game can be taken up again there, and nowhere else does
the walk keep state.

    ("step", function, scope, subject, you, site, more)   run rules; a checkpoint
    ("open", scope, subject, slot, you, site, more, end)  a phase with steps inside begins; `end` if it is skipped
    ("close", scope, slot, you, site, more)
    ("test", function, you, target)                       go to target if it does not hold
    ("jump", target)
    ("each", function, slot, you, site, asks)             start a loop; ("next", slot, variable, end) takes the next
    ("let", function, slot, you)
    ("done",)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from .errors import EndGame, GameOver, OverBudget, StopScope
from .fold import apply
from .rules import enter, leave
from .state import EVENTS_MAX, State, Thing

SECTIONS = ("setup", "round", "scoring")


def walk(s: State, resumed: bool, answers_max: int = 1_000_000_000) -> None:
    """Walk until the game is over, or until a question raises Paused. `resumed`: the step at `s.pc` is recorded."""
    try:
        section = s.pc[0]
        while True:
            try:
                _section(s, section, s.pc[1] if resumed else 0, resumed, answers_max)
            except EndGame:
                section = "scoring"
            else:
                section = _following(s, section)
            resumed = False
            if not section:
                apply(s, ("finished", -1, 0, {"result": "ended", "winners": [], "losers": []}))
                return
    except GameOver:
        return


def _following(s: State, section: str) -> str:
    if section == "setup" and s.program.structure.get("round"):
        return "round"
    return ""


def _section(s: State, section: str, pc: int, resumed: bool, answers_max: int) -> None:
    code = s.program.structure.get(section)
    if not code:
        return
    functions = s.program.functions
    asking, watched = s.program.halts[section]
    frame: list[Any] = list(s.frame) if resumed else [None] * s.program.frame_sizes[section]
    log = s.log
    at_step = getattr(s.run, "at_step", None)
    while True:
        op = code[pc]
        what = op[0]
        if what == "step":
            _, function, scope, subject_of, you_slot, site, _ = op
            you: Thing | None = frame[you_slot] if you_slot is not None else None
            if resumed:
                resumed = False
                here = _step_event(s)
                subject = log[here][6]
            else:
                s.frame = tuple(frame)
                if subject_of is None:
                    subject = None
                elif subject_of.__class__ is int:
                    subject = frame[subject_of]
                else:
                    subject = functions[subject_of](s, -1, None, you)
                here = len(log)
                log.append(("stepped", -1, site, (section, pc), s.frame, scope, subject))
                s.pc = (section, pc)
                if scope:
                    s.began[scope] = here
                s.budget -= 1
                if s.budget < 0 or here - s.mark > EVENTS_MAX:
                    raise OverBudget(
                        "the game goes round and round without asking anybody", *s.program.site(site)
                    )
                if s.answers > answers_max:
                    raise OverBudget("no end after that many decisions", *s.program.site(site))
                if at_step is not None:
                    at_step(s)
            if subject is not None:
                you = subject
            try:
                if pc in watched:
                    _watched_step(s, here, op, subject, you)
                else:
                    functions[function](s, here, None, you)
                pc += 1
            except StopScope as stop:
                pc = _end_of(code, pc, stop)
        elif what == "next":
            things, at = frame[op[1]]
            if at >= len(things):
                pc = op[3]
            else:
                frame[op[1]] = (things, at + 1)
                frame[op[2]] = things[at]
                pc += 1
        elif what == "jump":
            pc = op[1]
        elif what == "done":
            return
        else:
            if pc in asking and not resumed:  # a game must be able to be taken up where it may ask something
                s.frame = tuple(frame)
                apply(s, ("stepped", -1, _site(op), (section, pc), s.frame, "", None))
                if at_step is not None:
                    at_step(s)
            resumed = False
            recorded = s.frame
            try:
                pc = _control(s, op, pc, frame)
            finally:  # a rule at the start or end of a scope may end the game: the table is as the events say
                s.frame = recorded


def halts(
    code: Sequence[tuple[Any, ...]], ruled: Collection[str], watched: Collection[str]
) -> tuple[frozenset[int], frozenset[int]]:
    """Where in a section somebody may be asked between its steps, and which of its steps have scopes that are watched."""
    asking = frozenset(pc for pc, op in enumerate(code) if _may_ask(op, ruled))
    steps = ((pc, op) for pc, op in enumerate(code) if op[0] == "step")
    return asking, frozenset(pc for pc, op in steps if any(name in watched for name in (op[2], *op[6])))


def _may_ask(op: tuple[Any, ...], ruled: Collection[str]) -> bool:
    """Can somebody be asked in this instruction: an order to choose, or rules that watch a phase?"""
    if op[0] == "each":
        return bool(op[5])
    if op[0] not in ("open", "close"):
        return False
    more = op[6] if op[0] == "open" else op[5]
    return any(name in ruled for name in (op[1], *more))


def _site(op: tuple[Any, ...]) -> int:
    site: int = op[4] if op[0] in ("each", "close") else op[5]
    return site


def _control(s: State, op: tuple[Any, ...], pc: int, frame: list[Any]) -> int:
    """Tests, loops and phases around the steps; returns where to go on."""
    functions = s.program.functions
    s.frame = tuple(frame)
    what = op[0]
    if what == "test":
        otherwise: int = op[3]
        return pc + 1 if functions[op[1]](s, -1, None, _you(frame, op[2])) else otherwise
    if what == "each":
        frame[op[2]] = (tuple(functions[op[1]](s, -1, None, _you(frame, op[3]))), 0)
    elif what == "let":
        frame[op[2]] = functions[op[1]](s, -1, None, _you(frame, op[3]))
    elif what == "open":
        subject = subject_of(s, frame, op[2], _you(frame, op[4]))
        frame[op[3]] = subject
        s.frame = tuple(frame)
        for name in (op[1], *op[6]):
            if enter(s, -1, op[5], name, subject) < 0:
                skipped: int = op[7]
                return skipped
    elif what == "close":
        for name in (*reversed(op[5]), op[1]):
            leave(s, -1, op[4], name, frame[op[2]])
    return pc + 1


def subject_of(s: State, frame: Sequence[Any], subject: str | int | None, you: Thing | None) -> Thing | None:
    """Whose scope it is: nobody's, a variable of the walk, or worked out."""
    if subject is None:
        return None
    found: Thing | None = (
        frame[subject] if isinstance(subject, int) else s.program.functions[subject](s, -1, None, you)
    )
    return found


def _you(frame: list[Any], slot: int | None) -> Thing | None:
    return None if slot is None else frame[slot]


def _end_of(code: list[tuple[Any, ...]], pc: int, stop: StopScope) -> int:
    """Where the running scope that is stopped closes; the innermost one of that name."""
    for at in range(pc - 1, -1, -1):
        op = code[at]
        if op[0] == "open" and stop.scope in (op[1], *op[6]) and op[7] > pc:
            end: int = op[7]
            return end - 1
    raise stop


def _step_event(s: State) -> int:
    """The number of the `stepped` event that a resumed walk stands at."""
    for at in range(len(s.log) - 1, -1, -1):
        if s.log[at][0] == "stepped":
            return at
    raise AssertionError("a walk is resumed at a step")


def _watched_step(s: State, here: int, op: tuple[Any, ...], subject: Thing | None, you: Thing | None) -> None:
    """A step that rules watch, or until which something lasts."""
    scopes = [scope for scope in (op[2], *op[6]) if scope in s.program.watched_scopes]
    for scope in scopes:
        if enter(s, here, op[5], scope, subject) < 0:
            return
    try:
        s.program.functions[op[1]](s, here, None, you)
    except StopScope as stop:
        if stop.scope not in scopes:
            raise
    for scope in reversed(scopes):
        leave(s, here, op[5], scope, subject)
