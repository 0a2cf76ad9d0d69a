"""Rules that watch: triggers, replacements, modifiers, durations, limits, options in windows, abilities.

The compiler lists for each verb, field and window the rules that can ever apply to it, and calls the functions
here with that list; where the list is empty it calls nothing. A rule is a tuple (see `Rule`); `where` says on
which things it works:

    ("top",)                   it stands by itself
    ("kind", kind)             on every thing of a kind that is in play
    ("design", number, face)   on every copy of a card in play, if that face is up ("" for any)
    ("zone", kind or number, zone)  on cards that lie in a zone of that name
    ("lasting", number)        while it lasts

Order: `before` rules stage by stage, in a stage in order of entering; `after` rules in order of entering, or as
the game says somebody chooses. Guards are tested when their turn comes, so a rule sees what those before it did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from .errors import OverBudget, RuleError, StopScope
from .fold import apply, put_field, put_value
from .questions import PASS, Prompt, alike, answer, answer_of, seats_asked, told_apart
from .state import EVENTS_MAX, REMOVED, State, Thing

RUNTIME = (
    "here",
    "spend",
    "bounded",
    "divide",
    "run_before",
    "run_instead",
    "after_hosts",
    "run_after",
    "possible",
    "whenever",
    "modified",
    "last",
    "end",
    "offer_each",
    "offer_shared",
    "resolve",
    "has_ability",
    "can_resolve",
    "voice",
    "borrow",
    "count_range",
    "faces_of",
    "refill",
    "in_turn_order",
    "drain",
    "chosen_order",
    "named",
    "enter",
    "open_root",
    "close_root",
    "new_root",
    "end_root",
    "leave",
    "label",
    "plain",
    "within",
)


class Rule(NamedTuple):
    """One watching rule. Functions are named, so that rules stay plain data."""

    number: int
    where: tuple[Any, ...]
    guard: Callable[..., bool] | None  # (s, c, me, values, record) -> does it apply?
    body: Callable[..., Any]  # (s, c, me, values, record)
    once: str | None  # None: no limit; "": once a game; else once per that scope
    site: int
    stage: int = 0
    again: bool = False  # in its stage, rules that did not apply look again once another has


# ---------------------------------------------------------------- where rules work
def here(s: State, kind: str) -> list[Thing]:
    """The things of a kind that are in play. Who asks must not change the list."""
    found = s.around.get(kind)
    if found is None:
        found = s.around[kind] = [t for t in s.of[kind] if s.in_play[t]]
    return found


def hosts(s: State, where: tuple[Any, ...]) -> list[tuple[Thing | None, tuple[Any, ...]]]:
    """The things a rule works on now, each with the values it captured."""
    sort = where[0]
    if sort == "design":
        if not (live := s.live[where[1]]):  # most cards are not in play
            return []
        face = where[2]
        return [(t, ()) for t in live if not face or s.face[t] == face]
    if sort == "kind":
        return [(t, ()) for t in here(s, where[1])]
    if sort == "top":
        return [(None, ())]
    if sort == "lasting":
        return [(entry[2], entry[3]) for entry in s.lasting if entry[1] == where[1]]
    assert sort == "zone", where
    what, zone = where[1:]
    lying = [t for place in s.called.get(zone, ()) for t in s.items[place]]
    if isinstance(what, str):
        names = s.program.narrower[what]
        return [(t, ()) for t in lying if s.kind[t] in names]
    return [(t, ()) for t in lying if s.design[t] == what]


Working = tuple[Rule, "Thing | None", tuple[Any, ...]]
_LATE = 1 << 60  # what lasts comes after what is printed


def working(s: State, rules: Sequence[Rule]) -> list[Working]:
    """The rules that have something to work on, each with it: stage by stage, in a stage in order of entering."""
    found: list[Working] = []
    alone = 0
    for rule in rules:
        where = rule.where
        sort = where[0]
        if sort == "design":  # most cards are not in play: this is what is asked most often
            if live := s.live[where[1]]:
                face = where[2]
                found += [(rule, t, ()) for t in live if not face or s.face[t] == face]
        elif sort == "top":
            found.append((rule, None, ()))
            alone += 1
        elif sort != "lasting" or s.lasting:
            found += [(rule, me, values) for me, values in hosts(s, where)]
    if len(found) > alone + 1:  # else the rules are in order already, see `Program`
        awake = s.awake
        found.sort(
            key=lambda one: (
                one[0].stage,
                -1 if one[1] is None else _LATE if one[0].where[0] == "lasting" else awake.get(one[1], -1),
            )
        )
    return found


def _still(s: State, rule: Rule, me: Thing | None) -> bool:
    """Does a rule still work on a thing, after what rules before it did?"""
    where = rule.where
    if where[0] == "design":
        return me in s.live[where[1]] and (not where[2] or s.face[me] == where[2])
    return where[0] != "kind" or me is None or s.in_play[me]


def voice(s: State, thing: Thing | None) -> Thing | None:
    """Who "you" is in the text of a thing: as its kind says, else its owner."""
    if thing is None:
        return None
    speaks = s.program.voices[s.kind[thing]]
    return s.owner[thing] if speaks is None else speaks(s, -1, thing, None)


# ---------------------------------------------------------------- budgets and numbers
def spend(s: State, things: Any) -> Any:
    """Charge a loop for what it will go through."""
    s.budget -= len(things) + 1
    if s.budget < 0 or len(s.log) - s.mark > EVENTS_MAX:
        raise OverBudget("this text has spent its budget of steps without coming to an end")
    return things


def bounded(number: int) -> int:
    if -1_000_000_000 <= number <= 1_000_000_000:
        return number
    raise RuleError(f"{number if abs(number) < 10**30 else 'a number'} is past the bound of 1000000000")


def divide(a: int, b: int) -> int:
    """Division rounds down."""
    if b == 0:
        raise RuleError("division by zero")
    return a // b


# ---------------------------------------------------------------- limits
def limit_ok(s: State, number: int, me: Thing | None, once: str | None) -> bool:
    if once is None:
        return True
    last_used = s.used.get((number, me))
    return last_used is None or (once != "" and last_used < s.began.get(once, 0))


def use(s: State, c: int, site: int, number: int, me: Thing | None, once: str | None) -> None:
    if once is not None:
        apply(s, ("used", c, site, number, me))


def _applies(
    s: State, c: int, rule: Rule, me: Thing | None, values: tuple[Any, ...], record: list[Any]
) -> bool:
    s.budget -= 1
    if rule.once is not None and not limit_ok(s, rule.number, me, rule.once):
        return False
    return rule.guard is None or bool(rule.guard(s, c, me, values, record))


def _carry_out(
    s: State, c: int, rule: Rule, me: Thing | None, values: tuple[Any, ...], record: list[Any]
) -> None:
    if s.budget < 0 or len(s.log) - s.mark > EVENTS_MAX:
        raise OverBudget("these rules call each other without coming to an end")
    use(s, c, rule.site, rule.number, me, rule.once)
    rule.body(s, c, me, values, record)


# ---------------------------------------------------------------- before, instead of, after
def run_before(s: State, c: int, record: list[Any], rules: Sequence[Rule]) -> bool:
    """Let rules change the record, stage by stage. False if one of them prevents the act."""
    due, at = working(s, rules), 0
    passed: list[Working] = []  # of a stage in which rules look again: those that have not applied yet
    while at < len(due):
        rule, me, values = one = due[at]
        at += 1
        if passed and passed[0][0].stage != rule.stage:
            passed = []
        if (me is None or _still(s, rule, me)) and _applies(s, c, rule, me, values, record):
            if s.trace is None:
                _carry_out(s, c, rule, me, values, record)
            else:
                _noted(s, c, one, record)
            if record[-1]:
                return False
            if passed and rule.again:
                due[at:at], passed = passed, []
        elif rule.again:
            passed.append(one)
    return True


def _noted(s: State, c: int, one: Working, record: list[Any]) -> None:
    """Carry a rule out, and note which slots it changed."""
    old, at = record[:-1], len(s.log)
    _carry_out(s, c, *one, record)
    for slot, (was, now) in enumerate(zip(old, record, strict=False)):
        if was != now and s.trace is not None:
            s.trace.append(("slot", at, one[0].site, one[1], c, slot, was, now))


def run_instead(s: State, c: int, record: list[Any], rules: Sequence[Rule], verb: str) -> bool:
    """The first rule that applies replaces the act. True if one did."""
    for rule, me, values in working(s, rules):
        if _applies(s, c, rule, me, values, record):
            apply(s, ("replaced", c, rule.site, verb, *map(plain, record[:-1])))
            _carry_out(s, len(s.log) - 1, rule, me, values, record)
            return True
    return False


def after_hosts(s: State, rules: Sequence[Rule]) -> list[Working]:
    """Who may react, taken before the act, so that a thing can react to its own end."""
    return working(s, rules)


def run_after(s: State, c: int, record: list[Any], rules: Sequence[Rule], before: list[Working]) -> None:
    """Rules that follow: of what was there before the act, then of what came with it."""
    now = working(s, rules)
    if not now:
        now = before
    elif before and now != before:
        now = list({(one[0].number, *one[1:]): one for one in (*before, *now)}.values())
    _follow(s, c, record, now)


def _follow(s: State, c: int, record: list[Any], due: list[Working]) -> None:
    ready = [one for one in due if _applies(s, c, *one, record)] if due else ()
    if not ready:
        return
    if waits := _waiting(s):
        for rule, me, values in ready:
            apply(s, ("queued", c, rule.site, (rule.number, me, values, tuple(map(plain, record)), waits)))
        return
    for rule, me, values in _ordered(s, c, ready):
        if limit_ok(s, rule.number, me, rule.once):
            _carry_out(s, c, rule, me, values, record)


def _waiting(s: State) -> tuple[str, ...]:
    """The running scopes whose end rules wait for."""
    return tuple(scope for scope in s.program.tables["waits"] if s.open.get(scope))


def _ordered(s: State, c: int, ready: list[Working]) -> Sequence[Working]:
    """Simultaneous rules of different things: as the game says, by entering or by somebody's choice."""
    chooser = s.program.tables["orders"]
    if (
        len(ready) < 2
        or chooser is None
        or len({(r.number, s.key[me] if me is not None else "") for r, me, _ in ready}) < 2
    ):
        return ready
    who = s.program.functions[chooser](s, c, None, None) if chooser else None
    order, left = [], list(ready)
    while len(left) > 1:
        labels = {
            f"{s.key[me]}" if me is not None else f"rule {r.number}": (r, me, v)
            for r, me, v in reversed(left)
        }
        if len(labels) < len(left):
            labels = {
                f"{label} ({i})": entry for i, (label, entry) in enumerate(zip(labels, left, strict=False), 1)
            }
        keys = sorted(labels)
        nxt = labels[answer(s, c, left[0][0].site, who, "which comes first?", keys)]
        order.append(nxt)
        left.remove(nxt)
    return order + left


def drain(s: State, c: int, scope: str, who: Any) -> None:
    """A scope is about to end: carry out the rules that waited for it, in an order that somebody chooses.

    It is still open, so rules that these set off wait for it as well and join. A scope inside another of its own
    kind leaves all to the outer one; a scope inside one of another kind has its own queue.
    """
    if s.open.get(scope, 0) != 1:
        return
    table: dict[int, Rule] = s.program.functions["k_rules"]
    while entries := list(dict.fromkeys(entry for entry in s.queue if scope in entry[4])):
        entry = entries[0]
        if len(entries) > 1:
            labels = {
                f"{s.key[e[1]] if e[1] is not None else 'rule'} {n}": e for n, e in enumerate(entries, 1)
            }
            entry = labels[answer(s, c, table[entry[0]].site, who, "which comes first?", list(labels))]
        rule = table[entry[0]]
        apply(s, ("unqueued", c, rule.site, entry))
        if limit_ok(s, rule.number, entry[1], rule.once):
            _carry_out(s, len(s.log) - 1, rule, entry[1], entry[2], list(entry[3]))


def possible(s: State, c: int, record: list[Any], forbids: Sequence[Rule]) -> bool:
    """No rule forbids it. Asks nothing and changes nothing, so it can be tested at any time."""
    for rule in forbids:
        guard = rule.guard
        for me, values in hosts(s, rule.where):
            if guard is None or guard(s, c, me, values, record):
                return False
    return True


def whenever(s: State, c: int, rules: Sequence[Rule]) -> None:
    """State checks: each runs when its condition comes to hold, and again only after it ceased to."""
    for rule in rules:
        for me, values in hosts(s, rule.where):
            s.budget -= 1
            holds = rule.guard is None or bool(rule.guard(s, c, me, values, [False]))
            if holds is s.edges.get((rule.number, me), False):
                continue
            apply(s, ("edged", c, rule.site, rule.number, me, holds))
            if holds and limit_ok(s, rule.number, me, rule.once):
                _carry_out(s, len(s.log) - 1, rule, me, values, [False])


# ---------------------------------------------------------------- modifiers
Modifier = tuple[
    int, str, "Callable[..., bool] | None", "Callable[..., Any]", Rule
]  # design or -1, face, ...


def modified(
    s: State,
    base: Any,
    subject: tuple[Any, ...],
    rules: Sequence[Modifier],
    low: int | None,
    high: int | None,
) -> Any:
    """A value with all that changes it: what replaces it first, then increases, then decreases, then bounds.

    A modifier's body gives ("has", value) or ("gets", amount); its guard tests whether it speaks of `subject`.
    """
    up = down = 0
    awake = s.live
    for design, face, guard, body, rule in rules:
        if design >= 0:
            if not (live := awake[design]):
                continue
            on: Any = [(t, ()) for t in live if not face or s.face[t] == face]
        else:
            on = hosts(s, rule.where)
        for me, values in on:
            if guard is None or guard(s, -1, me, values, subject):
                how, amount = body(s, -1, me, values, subject)
                if s.trace is not None:
                    s.trace.append(("value", len(s.log), rule.site, me, how, amount))
                if how == "has":
                    base = amount
                elif amount > 0:
                    up += amount
                else:
                    down += amount
    if not isinstance(base, int) or isinstance(base, bool):
        return base
    raised = base + up
    if low is not None and raised + down < low:
        return low
    return raised + down if high is None else min(high, raised + down)


def last(
    s: State,
    c: int,
    site: int,
    number: int,
    me: Thing | None,
    values: tuple[Any, ...],
    until: tuple[Any, ...],
) -> None:
    """A modifier or rule begins to last. `until` is (start or end, scope, subject or nothing)."""
    apply(s, ("lasts", c, site, s.tricks, number, me, values, until))


def lapse(s: State, c: int, site: int, when: str, scope: str, subject: Thing | None) -> None:
    """End what lasted until this moment."""
    for entry in [e for e in s.lasting if e[4][0] == when and e[4][1] == scope]:
        if entry[4][2] is None or entry[4][2] == subject:
            if when == "start" and entry[4][3] >= len(s.log) - 1:
                continue
            apply(s, ("lapsed", c, site, entry[0]))
            if entry[1] < 0:
                apply(s, ("returned", c, site, entry[2], entry[3][0]))


def borrow(s: State, c: int, site: int, thing: Thing, source: Thing, until: tuple[Any, ...] | None) -> None:
    """A thing has the printed text of another as well, for a time or for good."""
    design = s.design[source]
    if design < 0:
        raise RuleError(f"{s.key[source]} has no printed text to borrow")
    apply(s, ("borrowed", c, site, thing, design))
    if until is not None:
        last(s, c, site, -1, thing, (design,), until)


# ---------------------------------------------------------------- scopes
def begin(s: State, c: int, site: int, scope: str, subject: Thing | None) -> int:
    apply(s, ("began", c, site, scope, subject))
    here = len(s.log) - 1
    if s.lasting:
        lapse(s, here, site, "start", scope, subject)
    return here


def end(s: State, c: int, site: int, scope: str, subject: Thing | None) -> None:
    apply(s, ("ended", c, site, scope))
    if s.lasting:
        lapse(s, len(s.log) - 1, site, "end", scope, subject)


def enter(s: State, c: int, site: int, scope: str, subject: Thing | None) -> int:
    """A scope begins, if no rule forbids or replaces it: its event's number, or -1."""
    lists = s.program.scope_rules.get(scope, {})
    record: list[Any] = [subject, False]
    if "forbid" in lists and not possible(s, c, record, lists["forbid"]):
        apply(s, ("prevented", c, site, scope, subject))
        return -1
    if "instead" in lists and run_instead(s, c, record, lists["instead"], scope):
        return -1
    here = begin(s, c, site, scope, subject)
    for name, attr, value in s.program.kept.get(scope, ()):
        if getattr(s, attr) != value:
            put_value(s, here, site, name, attr, value)
    for kind, name, attr in s.program.kept_fields.get(scope, ()):
        _start_anew(s, here, site, kind, name, attr)
    if "start" in lists and not run_before(s, here, record, lists["start"]):
        end(s, here, site, scope, subject)
        return -1
    return here


def _start_anew(s: State, c: int, site: int, kind: str, name: str, attr: str) -> None:
    column, kinds = getattr(s, attr), s.program.kinds
    if attr in s.program.plain_starts and not any(column):
        return  # nothing has been changed
    starts = {narrow: kinds[narrow]["defaults"].get(attr) for narrow in {s.kind[t] for t in s.of[kind]}}
    kind_of = s.kind
    for thing in [t for t in s.of[kind] if column[t] != starts[kind_of[t]]]:
        put_field(s, c, site, thing, name, column, starts[kind_of[thing]])


ROOT = "root effect"


def open_root(s: State, c: int, site: int) -> int:
    """The outermost effect (an option, an ability, an `effect`) begins: its event; inside another: -1."""
    if ROOT not in s.program.watched_scopes or s.open.get(ROOT):
        return -1
    return enter(s, c, site, ROOT, None)


def new_root(s: State, c: int, site: int) -> tuple[int, list[tuple[str, str, Any]]]:
    """A root effect of its own, inside another: what is kept per root starts anew, and comes back afterwards."""
    kept = [(name, attr, getattr(s, attr)) for name, attr, _ in s.program.kept.get(ROOT, ())]
    return enter(s, c, site, ROOT, None), kept if s.open.get(ROOT, 0) > 1 else []


def end_root(s: State, root: tuple[int, list[tuple[str, str, Any]]], site: int) -> None:
    if root[0] >= 0:
        leave(s, root[0], site, ROOT, None)
        for name, attr, value in root[1]:
            put_value(s, root[0], site, name, attr, value)


def close_root(s: State, root: int, site: int) -> None:
    if root >= 0:
        leave(s, root, site, ROOT, None)


def leave(s: State, c: int, site: int, scope: str, subject: Thing | None) -> None:
    """A scope ends: what lasted until then lapses, and rules that watch its end run."""
    lists = s.program.scope_rules.get(scope, {})
    if "end" in lists:
        _follow(s, c, [subject, False], working(s, lists["end"]))
    end(s, c, site, scope, subject)


# ---------------------------------------------------------------- options in windows
class Option(NamedTuple):
    """An option that is open during a window. `legal` lists what may be done, as (label, values)."""

    number: int
    where: tuple[Any, ...]
    legal: Callable[..., Sequence[tuple[str, tuple[Any, ...]]]]
    body: Callable[..., Any]
    once: str | None
    site: int
    anybody: bool = False  # whoever fits may take it, and not only the one whose text it is on
    kinds: frozenset[str] | None = None  # of which kinds one must be to take it; nothing: of any
    gate: Callable[[State], bool] | None = None  # what it needs that is the same for everybody


Offered = tuple[Option, "Thing | None", "Thing | None", tuple[Any, ...]]


class Stall(NamedTuple):
    """Options of a window that stand side by side in the same place, under the same conditions."""

    where: tuple[Any, ...]
    anybody: bool
    kinds: frozenset[str] | None
    gate: Callable[[State], bool] | None
    options: tuple[Option, ...]


def stalls(options: Iterable[Option]) -> tuple[Stall, ...]:
    """The options of a window, in their order, as `_within_reach` wants them."""
    alike = groupby(options, key=lambda o: (o.where, o.anybody, o.kinds, o.gate))
    return tuple(Stall(*mark, tuple(some)) for mark, some in alike)


Reach = list[tuple[Option, "Thing | None"]]  # options, each with the thing it stands on


def _within_reach(s: State, stalls: Sequence[Stall], who: Sequence[Thing]) -> dict[Thing, Reach]:
    """What each of them may look at now: the options that are theirs, or anybody's."""
    found: dict[Thing, Reach] = {you: [] for you in who}
    standing: dict[tuple[Any, ...], list[tuple[Thing | None, Thing | None]]] = {}
    open_now: dict[Callable[[State], bool], bool] = {}
    for where, anybody, kinds, gate, options in stalls:
        if where[0] == "design" and not s.live[where[1]]:  # most cards are not in play
            continue
        if gate is not None:
            is_open = open_now.get(gate)
            if is_open is None:
                is_open = open_now[gate] = gate(s)
            if not is_open:
                continue
        if anybody:
            on: list[tuple[Thing | None, Thing | None]] = [(me, None) for me, _ in hosts(s, where)]
        elif where in standing:
            on = standing[where]
        else:
            on = standing[where] = [(me, voice(s, me)) for me, _ in hosts(s, where)]
        for option in options:
            for me, whose in on:
                if whose is None:
                    for you, reach in found.items():
                        if kinds is None or s.kind[you] in kinds:
                            reach.append((option, me))
                elif whose in found and (kinds is None or s.kind[whose] in kinds):
                    found[whose].append((option, me))
    return found


def _offered(s: State, c: int, you: Thing, record: list[Any], reach: Reach) -> dict[str, Offered]:
    """All that somebody may do now, by label."""
    found: dict[str, Offered] = {}
    for option, me in reach:
        if option.once is not None and not limit_ok(s, option.number, me, option.once):
            continue
        for label, values in option.legal(s, c, me, you, record):
            if me is None or me == you:
                found.setdefault(label, (option, me, you, values))
                continue
            said = _said(s.name[me], label)
            twin = found[said][1] if said in found else None
            if twin is not None and twin != me:
                if alike(s, me, twin):  # another copy of the same: one answer is enough
                    continue
                said = _said(told_apart(s, [me, twin])[0], label)
            found.setdefault(said, (option, me, you, values))
    return found


def _said(name: str, label: str) -> str:
    return f"{name}: {label}" if label else name


def _take(s: State, c: int, chosen: Offered, record: list[Any]) -> None:
    option, me, you, values = chosen
    use(s, c, option.site, option.number, me, option.once)
    root = open_root(s, c, option.site)
    try:
        option.body(s, len(s.log) - 1, me, you, record, values)
    except StopScope:  # it stops something around it: the effect is over all the same
        close_root(s, root, option.site)
        raise
    close_root(s, root, option.site)


def offer_each(
    s: State,
    c: int,
    site: int,
    prompt: Prompt,
    who: Sequence[Thing],
    record: list[Any],
    options: Sequence[Stall],
    must: bool,
    repeated: bool,
) -> bool:
    """Ask one after the other. Who has nothing to do is not asked. True if anybody did something."""
    acted, quiet = False, 0
    while quiet < len(who):
        for you in who:
            legal = _offered(s, c, you, record, _within_reach(s, options, (you,))[you])
            if not legal:
                quiet += 1
            else:
                keys = list(legal) if must else [*legal, PASS]
                key = answer(s, c, site, you, prompt, keys)
                if key == PASS and not must:
                    quiet += 1
                else:
                    quiet, acted = 0, True
                    _take(s, len(s.log) - 1, legal[key], record)
                    if record[-1]:
                        return True
            if quiet >= len(who):
                break
        if not repeated:
            break
        spend(s, who)
    return acted


def offer_shared(
    s: State,
    c: int,
    site: int,
    prompt: Prompt,
    who: Sequence[Thing],
    record: list[Any],
    options: Sequence[Stall],
    must: bool,
    repeated: bool,
) -> bool:
    """One question for all of them together: anybody may act for any of them.

    An answer begins with the name of who acts, unless that is the one seat that is asked.
    """
    acted = False
    asked = seats_asked(s, tuple(who))
    while True:
        legal: dict[str, Offered] = {}
        for you, reach in _within_reach(s, options, who).items():
            name = f"{s.key[you]}: " if len(who) > 1 and asked != (you,) else ""
            for label, offered in _offered(s, c, you, record, reach).items():
                legal[name + label] = offered
        if not legal:
            return acted
        keys = list(legal) if must else [*legal, PASS]
        key = answer_of(s, c, site, asked, prompt, keys)
        if key == PASS and not must:
            return acted
        acted = True
        _take(s, len(s.log) - 1, legal[key], record)
        if record[-1] or not repeated:
            return True
        spend(s, who)


# ---------------------------------------------------------------- printed abilities
def _abilities(s: State, thing: Thing, name: str) -> list[tuple[str, str, str | None]]:
    """(label, function, guard) of each text of that name on the face that is up, borrowed ones included."""
    if thing in s.borrowed:
        return [
            one for d in (s.design[thing], *s.borrowed[thing]) for one in _printed(s, d, s.face[thing], name)
        ]
    return _printed(s, s.design[thing], s.face[thing], name)


def _printed(s: State, design: int, face: str, name: str) -> list[tuple[str, str, str | None]]:
    """What a design has on a face; kept, since it never changes."""
    known = s.program.abilities.get((design, face, name))
    if known is None:
        rows = s.program.designs[design]["abilities"] if design >= 0 else ()
        known = [tuple(row[2:]) for row in rows if row[0] == name and row[1] in ("", face)]
        s.program.abilities[design, face, name] = known
    return known


def has_ability(s: State, thing: Thing, name: str) -> bool:
    known = s.program.abilities.get((s.design[thing], s.face[thing], name))
    if known is None or thing in s.borrowed:
        return bool(_abilities(s, thing, name))
    return bool(known)


def _open_abilities(s: State, thing: Thing, name: str, you: Thing | None) -> list[tuple[str, str]]:
    """Those whose `needs` hold."""
    functions = s.program.functions
    return [
        (label, function)
        for label, function, guard in _abilities(s, thing, name)
        if guard is None or functions[guard](s, -1, thing, you)
    ]


def can_resolve(s: State, thing: Thing | None, name: str, you: Thing | None) -> bool:
    return thing is not None and bool(_open_abilities(s, thing, name, you))


def choose_ability(s: State, c: int, site: int, thing: Thing, name: str, you: Thing | None) -> str | None:
    texts = _open_abilities(s, thing, name, you)
    if len(texts) < 2:
        return texts[0][1] if texts else None
    menu = {label or str(n): function for n, (label, function) in enumerate(texts, 1)}
    return menu[answer(s, c, site, you, f"which text of {s.key[thing]}?", list(menu))]


def resolve(s: State, c: int, site: int, name: str, thing: Thing, you: Thing | None = None) -> bool:
    """Carry out a printed ability; of several, one is chosen. False if the thing has none."""
    you = voice(s, thing) if you is None else you
    function = choose_ability(s, c, site, thing, name, you)
    if function is None:
        return False
    do_ability(s, c, site, thing, name, function, you)
    return True


def do_ability(
    s: State, c: int, site: int, thing: Thing, name: str, function: str, you: Thing | None
) -> None:
    s.budget -= 5
    if s.budget < 0 or len(s.log) - s.mark > EVENTS_MAX:
        raise OverBudget("these abilities call each other without coming to an end")
    root = open_root(s, c, site)
    apply(s, ("did", c, site, f"{name} of (thing)", thing))
    try:
        s.program.functions[function](s, len(s.log) - 1, thing, you)
    except StopScope:
        close_root(s, root, site)
        raise
    close_root(s, root, site)


# ---------------------------------------------------------------- dice, orders, decks
def faces_of(rolled: Sequence[Any], face: Any) -> int:
    """How often a symbol lies on top: a face may show several, and one of them twice."""
    return sum((f.count(face) if isinstance(f, tuple | list) else f == face) for f in rolled)


def count_range(rolled: Sequence[Any], low: int, high: int) -> int:
    return sum(low <= f <= high for f in rolled if isinstance(f, int))


def refill(s: State, c: int, site: int, deck: Thing, discard: Thing, wanted: int) -> None:
    """A deck that is short takes its discard pile, shuffled, underneath."""
    from .fold import move_all, shuffle

    if len(s.items[deck]) >= wanted or not s.items[discard]:
        return
    left = tuple(s.items[deck])
    shuffle(s, c, site, discard)
    move_all(s, c, site, tuple(s.items[discard]), deck)
    move_all(s, c, site, left, deck)


def in_turn_order(s: State, things: Sequence[Thing], first: Thing | None) -> list[Thing]:
    """In the order of their seats, starting with one of them."""
    if first is None and things == s.of["seat"]:
        return list(things)
    order = {seat: at for at, seat in enumerate(s.of["seat"])}
    count = len(order)

    def seat_at(thing: Thing) -> int:
        return order.get(thing, order.get(s.owner[thing] if s.owner[thing] is not None else -1, count))  # type: ignore[arg-type]

    start = seat_at(first) if first is not None else 0
    return sorted(things, key=lambda t: ((seat_at(t) - start) % count if count else 0, things.index(t)))


def chosen_order(s: State, c: int, site: int, things: Sequence[Thing], who: Any) -> list[Thing]:
    from .questions import choose_order

    return choose_order(s, c, site, who, "which comes next?", things)


def named(s: State, name: str, kind: str) -> Thing:
    """The thing with a printed name; of several copies the first in play, else the first."""
    if (one := s.unique.get(name)) is not None:
        return one
    found = [t for t in s.of[kind] if s.name[t] == name]
    if not found:  # all of them may have left the game
        found = [t for t, n in enumerate(s.name) if n == name and kind in s.lineage[s.kind[t]]]
    if not found:
        found = [t for t in s.items[REMOVED] if s.name[t] == name and kind in s.lineage[s.kind[t]]]
    if not found:
        raise RuleError(f"there is no {kind} called {name!r}")
    return next((t for t in found if s.in_play[t]), found[0])


def label(text: str, chosen: Any) -> str:
    """The label of an option that speaks of something chosen."""
    return f"{text}: {chosen}"


def plain(value: Any) -> Any:
    """A value as an event keeps it."""
    return tuple(value) if isinstance(value, list) else value


def within(value: Any, low: int | None, high: int | None) -> Any:
    if value is None:
        return None
    if low is not None and value < low:
        return low
    return high if high is not None and value > high else value
