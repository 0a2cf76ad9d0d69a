"""Questions and answers.

A rule that needs an answer calls one of the functions here, as an ordinary call. Who answers is the table's
`run`: a policy (simulation), a recording (replay), or a driver that raises `Paused` when no answer is there.
Answers are stable keys: the name of a thing, the label of a choice, a number as text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from .errors import IllegalAnswer, Paused, RuleError
from .state import BUDGET, State, Thing

PASS = "pass"
DONE = "done"
YES, NO = "yes", "no"


Prompt: TypeAlias = str | tuple[Any, ...]  # words, or words with things (and tuples of them) in between


class Question:
    """What somebody is asked: the seats that may answer, the place in the text, and the legal answers."""

    __slots__ = ("_prompt", "cause", "keys", "seats", "site", "state", "things")

    def __init__(
        self,
        state: State,
        seats: tuple[Thing, ...],
        cause: int,
        site: int,
        prompt: Prompt,
        keys: list[str],
        things: Sequence[Thing | None] = (),
    ) -> None:
        self.state = state
        self.seats = seats
        self.cause = cause
        self.site = site
        self._prompt = prompt
        self.keys = keys
        self.things = things

    @property
    def prompt(self) -> str:
        """What is asked, in words. Things are named as those who are asked may know them."""
        if isinstance(self._prompt, str):
            return self._prompt
        return "".join(part if isinstance(part, str) else self._called(part) for part in self._prompt)

    def _called(self, what: Thing | tuple[Thing, ...] | None) -> str:
        from .text import UNSEEN, listed
        from .views import can_see

        things = what if isinstance(what, tuple) else () if what is None else (what,)
        seen = (all(can_see(self.state, seat, thing) for seat in self.seats) for thing in things)
        return listed(self.state.key[t] if known else UNSEEN for t, known in zip(things, seen, strict=True))

    def __contains__(self, key: object) -> bool:
        return key in self.keys

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        names = ", ".join(self.state.key[seat] for seat in self.seats)
        return f"<{names}: {self.prompt}: {' | '.join(self.keys)}>"


def seats_asked(s: State, who: Any) -> tuple[Thing, ...]:
    """A seat itself, the owner of a thing, several of either, or (nobody named) all seats together."""
    seats = s.of["seat"]
    if who in seats:
        return (who,)
    if isinstance(who, list | tuple):
        owners = [one if one in seats else s.owner[one] for one in who]
        if owners and all(owner in seats for owner in owners):
            return tuple(dict.fromkeys(owners))  # type: ignore[arg-type]
        return tuple(seats)  # one that is nobody's is everybody's
    owner = None if who is None else s.owner[who]
    return (owner,) if owner in seats else tuple(seats)


def answer(
    s: State, c: int, site: int, who: Any, prompt: Prompt, keys: list[str], things: Sequence[Any] = ()
) -> str:
    """Ask, and record the answer. Its event's number is `len(s.log) - 1`."""
    seats = (who,) if who in s.of["seat"] else seats_asked(s, who)
    return answer_of(s, c, site, seats, prompt, keys, things)


def answer_of(
    s: State,
    c: int,
    site: int,
    seats: tuple[Thing, ...],
    prompt: Prompt,
    keys: list[str],
    things: Sequence[Any] = (),
) -> str:
    """The same, of seats that are known already."""
    key = s.run(Question(s, seats, c, site, prompt, keys, things))
    log = s.log
    log.append(("answered", c, site, seats, key))
    s.answers += 1
    s.mark = len(log)
    s.budget = BUDGET
    return key


def choose_menu(
    s: State,
    c: int,
    site: int,
    who: Any,
    prompt: Prompt,
    entries: Sequence[tuple[str, tuple[Any, ...]]],
    named: Sequence[int],
) -> Any:
    """One of the labelled answers of an `ask`; always asked, even if there is only one.

    An entry is its branch and what its loops stand at; `named` tells which of these the label of a branch names.
    """
    if not entries:
        return None
    if len({label for label, _ in entries}) < len(entries):
        entries = _labels_apart(s, entries, named)
    menu = dict(reversed(entries))  # of equal labels the first counts
    keys = list(dict.fromkeys(label for label, _ in entries))
    return menu[answer(s, c, site, who, prompt, keys)]


def _labels_apart(
    s: State, entries: Sequence[tuple[str, tuple[Any, ...]]], named: Sequence[int]
) -> list[tuple[str, tuple[Any, ...]]]:
    """Equal labels are one answer, unless they name things that differ: those are told apart."""
    groups: dict[tuple[str, int], list[Thing]] = {}
    for label, entry in entries:
        if at := named[entry[0]]:
            group = groups.setdefault((label, entry[0]), [])
            if not any(alike(s, entry[at], other) for other in group):
                group.append(entry[at])
    called = {mark: dict(zip(group, told_apart(s, group), strict=True)) for mark, group in groups.items()}
    out: list[tuple[str, tuple[Any, ...]]] = []
    for label, entry in entries:
        if at := named[entry[0]]:
            thing: Thing = entry[at]
            apart = called[label, entry[0]].get(thing, s.name[thing])
            label = label.replace(s.name[thing], apart, 1)
        out.append((label, entry))
    return out


def choose_thing(
    s: State, c: int, site: int, who: Any, prompt: Prompt, things: Sequence[Thing]
) -> Thing | None:
    """One of several things: none if there is none, without asking if there is only one."""
    if not things:
        return None
    keys, things = offered(s, things)
    if len(keys) == 1 and not s.program.asks_forced:
        return things[0]
    return things[keys.index(answer(s, c, site, who, prompt, keys, things))]


def offered(s: State, things: Sequence[Thing]) -> tuple[list[str], Sequence[Thing]]:
    """What things are called in a question: by name, and by place or number only where copies of a name differ.

    Copies that differ in nothing are one answer.
    """
    names = s.name
    keys = [names[t] for t in things]
    if len(set(keys)) == len(keys):
        return keys, things
    groups: dict[str, list[Thing]] = {}
    kept: list[Thing] = []
    for thing in things:
        others = groups.setdefault(names[thing], [])
        if not any(alike(s, thing, other) for other in others):
            others.append(thing)
            kept.append(thing)
    called = {
        t: text for group in groups.values() for t, text in zip(group, told_apart(s, group), strict=True)
    }
    return [called[t] for t in kept], kept


def told_apart(s: State, copies: Sequence[Thing]) -> list[str]:
    """Names for copies that differ: by where on the board they are, by their numbers, else by what is on them."""
    if len(copies) == 1:
        return [s.name[copies[0]]]
    places = [s.place[t] for t in copies]
    if len(set(places)) == len(places) and not any(p is None or s.kind[p] == "zone" for p in places):
        spaces = s.program.board.next_to
        return [
            f"{s.name[t]} {'on' if p in spaces else 'in'} {s.key[p]}"
            for t, p in zip(copies, places, strict=True)
            if p is not None
        ]
    keys = [s.key[t] for t in copies]
    if len(set(keys)) == len(keys):
        return keys
    marked = [f"{s.name[t]}{marks}" for t, marks in zip(copies, _marks(s, copies), strict=True)]
    return marked if len(set(marked)) == len(marked) else [f"{m} #{n}" for n, m in enumerate(marked, 1)]


def _marks(s: State, copies: Sequence[Thing]) -> list[str]:
    """In what copies differ, in words: numbers and truths."""
    said: list[list[str]] = [[] for _ in copies]
    for name, info in s.program.fields.items():
        column = getattr(s, info["attr"])
        if info["attr"] not in s.CHANGING or info["thing"] or len({column[t] for t in copies}) == 1:
            continue
        for words, value in zip(said, (column[t] for t in copies), strict=True):
            if isinstance(value, int) and value:
                words.append(name if value is True else f"{name} {value}")
    return [f" ({', '.join(words)})" if words else "" for words in said]


def called(s: State, things: Sequence[Thing]) -> list[tuple[str, Thing]]:
    """What things are called in answers, each with the thing."""
    if len(things) < 2:  # asked for every option of every window: mostly of nothing
        return [(s.name[t], t) for t in things]
    return list(zip(*offered(s, things), strict=True))


def alike(s: State, a: Thing, b: Thing) -> bool:
    """Do two copies differ in nothing but their number? Same place, same values, nothing on them, nothing lasting."""
    if s.place[a] != s.place[b]:
        return False
    for column in s.changing():
        if column[a] != column[b]:
            return False
    for column in (s.kind, s.design, s.face, s.facedown, s.owner):
        if column[a] != column[b]:
            return False
    if s.items.get(a) or s.items.get(b) or a in s.borrowed or b in s.borrowed:
        return False
    if s.program.kinds[s.kind[a]]["alike"]:
        return True
    if any(getattr(s, slot)[a] != getattr(s, slot)[b] for slot in s.FIELDS):
        return False
    marked = {thing for _, thing in s.used} | {
        x for entry in s.lasting for x in (entry[2], *entry[3]) if isinstance(x, int)
    }
    return a not in marked and b not in marked


def choose_word(s: State, c: int, site: int, who: Any, prompt: Prompt, values: Sequence[Any]) -> Any:
    """One of several words or numbers."""
    keyed = {str(v): v for v in values}
    if len(keyed) <= 1:
        return next(iter(keyed.values()), None)
    return keyed[answer(s, c, site, who, prompt, list(keyed))]


def choose_things(
    s: State, c: int, site: int, who: Any, prompt: Prompt, things: Sequence[Thing], least: int, most: int
) -> list[Thing]:
    """Several things, one question each; `done` ends it once enough are chosen."""
    most = min(most, len(things))
    least = min(least, most)
    if least == len(things):
        return list(things)
    chosen: list[Thing] = []
    while len(chosen) < most:
        keys, left = offered(s, [t for t in things if t not in chosen])
        if len(chosen) >= least:
            keys = [*keys, DONE]
        count = f" ({len(chosen) + 1} of {most})"
        said = prompt + count if isinstance(prompt, str) else (*prompt, count)
        key = answer(s, c, site, who, said, keys, left)
        if key == DONE and len(chosen) >= least:
            break
        chosen.append(left[keys.index(key)])
    return chosen


def choose_yes(s: State, c: int, site: int, who: Any, prompt: Prompt) -> bool:
    return answer(s, c, site, who, prompt, [YES, NO]) == YES


def choose_order(
    s: State, c: int, site: int, who: Any, prompt: Prompt, things: Sequence[Thing]
) -> list[Thing]:
    """All of them, in an order that somebody chooses."""
    left, order = list(things), list[Thing]()
    while len(left) > 1:
        keys, offer = offered(s, left)
        chosen = (
            offer[0] if len(keys) == 1 else offer[keys.index(answer(s, c, site, who, prompt, keys, offer))]
        )
        order.append(chosen)
        left.remove(chosen)
    return order + left


def together(s: State, who: Sequence[Thing], block: Callable[[State, Thing], None]) -> None:
    """Run a block for several seats at once: nobody sees what another does until all have answered.

    With a policy or a complete recording this is a plain loop. Otherwise each block is tried on a copy first,
    so that the questions of all seats are open at the same time and answers may come in any order.
    """
    waiting: list[Question] = []
    feed = s.run
    if isinstance(feed, Feed):
        here = feed.position()
        for one in who:
            trial = s.copy()
            try:
                block(trial, one)
            except Paused as pause:
                waiting += pause.questions
        feed.rewind(here)
    if waiting:
        raise Paused(*waiting)
    for one in who:
        block(s, one)


class Feed:
    """Answers given so far, seat by seat; where they end, the run pauses.

    Each recorded answer names the seat that gave it, so that answers to questions which are open at the same
    time may come in any order.
    """

    def __init__(self, answers: Sequence[tuple[Thing | None, str]] = ()) -> None:
        self.answers = list(answers)
        self._taken: list[bool] = [False] * len(self.answers)
        self._first = 0  # all before this one are taken

    def __call__(self, question: Question) -> str:
        for at in range(self.first(), len(self.answers)):
            seat, key = self.answers[at]
            if not self._taken[at] and (seat is None or seat in question.seats):
                if key not in question.keys:
                    raise IllegalAnswer(
                        f"{key!r} is not offered; the answers are: {', '.join(question.keys)}"
                    )
                self._taken[at] = True
                return key
        raise Paused(question)

    def first(self) -> int:
        """The place of the first answer that no question has taken."""
        while self._first < len(self._taken) and self._taken[self._first]:
            self._first += 1
        return self._first

    def add(self, seat: Thing | None, key: str) -> None:
        self.answers.append((seat, key))
        self._taken.append(False)

    def position(self) -> list[bool]:
        return self._taken[:]

    def rewind(self, position: list[bool]) -> None:
        self._taken, self._first = position[:], 0

    @property
    def left(self) -> list[tuple[Thing | None, str]]:
        """Answers that no question has taken yet."""
        return [self.answers[at] for at in range(self.first(), len(self.answers)) if not self._taken[at]]


def must_be(s: State, value: Any, what: str) -> Any:
    """`the X`: exactly one must exist."""
    if len(value) != 1:
        raise RuleError(f"'the {what}' needs exactly one, but there are {len(value)}")
    return value[0]
