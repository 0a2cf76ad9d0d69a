"""A program: the rules of one game with its packs, compiled, and the box of things it is played with.

The compiler hands over plain tables and code objects (`Compiled`); here they become functions in one closed
namespace. The namespace holds the kernel's functions and nothing else: no builtins, no imports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from . import boards, fold, orders, questions, rules, runtime, turns
from .chance import Chance, Seeded
from .errors import LongboxError, OverBudget, RuleError, StopScope
from .state import BUDGET, THINGS_MAX, Event, State, Thing, attribute, state_class

SITE_LINES = 100_000  # a site is file number * SITE_LINES + line


@dataclass(frozen=True)
class Compiled:
    """What the compiler makes of the packs of a game: plain data and code, fit to be cached."""

    tables: dict[str, Any]
    code: tuple[CodeType, ...]


class Program:
    """The rules of a game, ready to run."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.tables = tables = compiled.tables
        self.game: str = tables["game"]
        self.title: str = tables["title"]
        self.files: list[str] = tables["files"]
        self.designs: list[dict[str, Any]] = tables["designs"]
        self.kinds: dict[str, dict[str, Any]] = tables["kinds"]
        self.dice: dict[str, list[Any]] = tables["dice"]
        self.asks_forced: bool = tables["asks_forced"]
        self.structure: dict[str, list[tuple[Any, ...]]] = tables["structure"]
        self.fields: dict[str, dict[str, Any]] = tables["fields"]
        self.values: dict[str, dict[str, Any]] = tables["values"]
        self.verbs: dict[str, dict[str, Any]] = tables["verbs"]
        self.board = boards.Boards(tables["boards"])
        self.functions = self._link(compiled.code)
        self.scope_rules = self._scope_rules()
        self.voices: dict[str, Callable[..., Thing | None] | None] = {
            kind: self.functions[spec["voice"]] if spec["voice"] else None
            for kind, spec in self.kinds.items()
        }
        self.narrower = {
            wide: frozenset(kind for kind, spec in self.kinds.items() if wide in spec["all"])
            for wide in {name for spec in self.kinds.values() for name in spec["all"]}
        }
        self.kept = {
            scope: tuple((name, self.values[name]["attr"], self.values[name]["default"]) for name in names)
            for scope, names in tables["kept"].items()
        }
        self.frame_sizes: dict[str, int] = tables["frame_sizes"]
        self.far_fields = frozenset(tables["far_fields"])
        self.abilities: dict[tuple[int, str, str], list[tuple[str, str, str | None]]] = {}  # kept by rules.py
        self.kept_fields: dict[str, list[tuple[str, str, str]]] = tables["kept_fields"]
        self.plain_starts = frozenset(  # fields that start at no or 0, and are never nothing
            spec["attr"]
            for spec in self.fields.values()
            if not spec["type"].endswith("?")
            and all(k["defaults"].get(spec["attr"]) in (False, 0, None) for k in self.kinds.values())
            and any(k["defaults"].get(spec["attr"]) is not None for k in self.kinds.values())
        )
        self.watched_scopes = frozenset({*self.scope_rules, *tables["scopes"]})
        self.halts = {
            section: turns.halts(code, self.scope_rules, self.watched_scopes)
            for section, code in self.structure.items()
        }
        self._boxes: dict[Any, State] = {}
        self._plain_settings = self._check_settings({})
        self._seat_names: dict[int | None, list[str]] = {}
        self._state_class = state_class(
            tuple(f["attr"] for f in self.fields.values()),
            tuple(v["attr"] for v in self.values.values()),
            tuple(tables["zone_attrs"]),
            frozenset(f["attr"] for f in self.fields.values() if f["fixed"]),
        )

    def _link(self, code: Sequence[CodeType]) -> dict[str, Any]:
        space: dict[str, Any] = {"__builtins__": {}, **RUNTIME, "k_lines": self.board.lines}
        space["k_printed"] = Printed(self)
        for part in code:
            exec(part, space)
        tables = self.tables
        watching = {row[0]: rule_of(space, row) for row in tables["rules"]}
        options = {row["number"]: option_of(space, row) for row in tables["options"]}
        space["k_rules"] = watching
        for name, numbers in tables["lists"].items():
            found = sorted((watching[n] for n in numbers), key=in_stages)
            space[name] = tuple(map(modifier_of, found) if name[0] in "VM" else found)
        for name, window in tables["window_lists"].items():
            space[name] = rules.stalls(options[n] for n in tables["windows"][window])
        return space

    def _scope_rules(self) -> dict[str, dict[str, tuple[rules.Rule, ...]]]:
        found: dict[str, dict[str, tuple[rules.Rule, ...]]] = {}
        for name in self.tables["lists"]:
            if name.startswith("scope "):
                _, when, scope = name.split(" ", 2)
                found.setdefault(scope, {})[when] = self.functions[name]
        return found

    def function(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = self.functions[name]
        return found

    # ------------------------------------------------------------ positions in the text
    def site(self, site: int) -> tuple[str, int]:
        """File and line of a place in the text."""
        file, line = divmod(site, SITE_LINES)
        return (self.files[file], line) if 0 <= file < len(self.files) else ("", line)

    def is_a(self, kind: str, wide: str) -> bool:
        return wide in self.kinds[kind]["all"]

    # ------------------------------------------------------------ the box
    def new_state(
        self,
        seats: Sequence[str],
        seed: int,
        settings: Mapping[str, Any] | None = None,
        chance: Chance | None = None,
    ) -> State:
        """A fresh table with everything in the box laid out, before the setup of the rules."""
        chosen = self._check_settings(settings) if settings else self._plain_settings
        mark = (tuple(seats), tuple(sorted(chosen.items())) if chosen else ())
        if mark not in self._boxes:
            if len(self._boxes) > 64:
                self._boxes.clear()
            self._boxes[mark] = self._open(list(seats), chosen)
        state = self._boxes[mark].copy()
        state.chance = chance or Seeded(seed)
        return state

    def seat_names(self, seats: int | Sequence[str] | None) -> list[str]:
        """The seats of a game, from a number of them or their names."""
        if seats is None or isinstance(seats, int):
            if seats not in self._seat_names:
                self._seat_names[seats] = self._named_seats(seats)
            return list(self._seat_names[seats])
        return self._named_seats(seats)

    def _named_seats(self, seats: int | Sequence[str] | None) -> list[str]:
        least, most = self.tables["seats"]
        names: list[str] = list(self.tables["seat_names"])
        if seats is None:
            seats = len(names) or least
        if isinstance(seats, int):
            kind = str(self.tables["seat_kind"]).capitalize()
            seats = [names[i] if i < len(names) else f"{kind} {i + 1}" for i in range(seats)]
        if not least <= len(seats) <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            raise LongboxError(f"{self.title} is for {wanted} seats, not {len(seats)}")
        if len(set(seats)) != len(seats):
            raise LongboxError("two seats have the same name")
        return list(seats)

    def _check_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        known: dict[str, dict[str, Any]] = self.tables["settings"]
        for name in settings:
            if name not in known:
                offer = ", ".join(known) or "none"
                raise LongboxError(f"{self.title} has no setting {name!r}; its settings: {offer}")
        return {
            name: read_setting(name, spec, settings[name]) if name in settings else spec["default"]
            for name, spec in known.items()
        }

    def _open(self, seats: list[str], settings: dict[str, Any]) -> State:
        s = self._blank()
        for zone in self.tables["zones"]:
            self._add(s, "zone", zone["name"], live=zone["live"], sight=zone["seen"])
        self.board.lay_out(s, self, settings)
        for name in seats:
            self._add(s, self.tables["seat_kind"], name)
        for kind, count in self.tables["supplies"]:
            for _ in range(count):
                self._add(s, kind, kind, place=self.tables["supply_zones"][kind])
        for number, design in enumerate(self.designs):
            if not boards.in_box(design["only"], settings):
                continue
            for _ in range(design["copies"]):
                self._add(s, design["kind"], design["name"], design=number, place=design["place"])
        for value in self.values.values():
            setattr(s, value["attr"], value["default"])
        for name, chosen in settings.items():
            setattr(s, attribute("g", name), self._setting_value(s, name, chosen))
        self._print_values(s)
        _make_keys(s, self)
        counts = Counter(s.name)
        s.unique = {name: thing for thing, name in enumerate(s.name) if counts[name] == 1}
        s.live = {number: [] for number, design in enumerate(self.designs) if design["watched"]}
        for thing, printed in enumerate(s.design):
            if s.in_play[thing] and printed in s.live:
                s.live[printed].append(thing)
        s.around = {}
        s.awake = {}  # what lies there from the start comes before all that enters
        s.log.append(("opened", -1, 0, box_of(s, self)))
        return s

    def _setting_value(self, s: State, name: str, chosen: Any) -> Any:
        """A setting of a kind is given by the printed name of a thing, one of several things by several names."""
        kind = self.tables["settings"][name]["type"]
        if kind not in self.kinds or chosen is None:
            return chosen
        if isinstance(chosen, tuple):
            return tuple(self._setting_thing(s, kind, one) for one in chosen)
        return self._setting_thing(s, kind, chosen)

    def _setting_thing(self, s: State, kind: str, chosen: str) -> Thing:
        for thing in s.of.get(kind, ()):
            if s.name[thing] == chosen:
                return thing
        offer = ", ".join(dict.fromkeys(s.name[t] for t in s.of.get(kind, ())))
        raise LongboxError(f"no {kind} is called {chosen!r}; there are: {offer}")

    def _blank(self) -> State:
        s = self._state_class()
        s.program = self
        s.run = _nobody
        s.chance = Seeded(0)
        for slot in (
            "log",
            "kind",
            "design",
            "name",
            "key",
            "lively",
            "owner",
            "place",
            "face",
            "facedown",
            "in_play",
            "lasting",
            "queue",
            *s.FIELDS,
            *s.ZONES,
        ):
            setattr(s, slot, [])
        for slot in (
            "items",
            "lineage",
            "of",
            "live",
            "around",
            "awake",
            "unique",
            "sight",
            "called",
            "shown",
            "borrowed",
            "used",
            "edges",
            "began",
            "open",
        ):
            setattr(s, slot, {})
        s.tricks = s.draws = s.answers = s.mark = 0
        s.trace = None
        s.drawn = []
        s.of = {kind: [] for kind in self.kinds}
        s.budget = BUDGET
        s.pc, s.frame, s.outcome, s.shared = ("setup", 0), (), None, False
        return s

    def describe(
        self,
        kind: str,
        name: str,
        design: int = -1,
        place: Thing | None = None,
        owner: Thing | None = None,
        live: bool = True,
        sight: str = "",
    ) -> dict[str, Any]:
        """What a new thing is, as the event that creates it says."""
        spec = self.kinds[kind]
        fields = dict(spec["defaults"])
        face = ""
        if design >= 0:
            fields |= self.designs[design]["fields"]
            if faces := self.designs[design]["faces"]:
                face = faces[0]["name"]
                fields |= faces[0]["fields"]
        made = {
            "kind": kind,
            "kinds": spec["all"],
            "design": design,
            "name": name,
            "key": name,
            "owner": owner,
            "place": place,
            "face": face,
            "fields": fields,
            "lively": live,
            "holds": self._holds(kind),
            "zones": {},
        }
        return made | {"sight": sight} if sight else made

    def _holds(self, kind: str) -> bool:
        """Can things lie in it? Zones and spaces always; the rest only where some text attaches things."""
        return kind == "zone" or bool(self.tables["attaches"]) or "space" in self.kinds[kind]["all"]

    def _add(
        self,
        s: State,
        kind: str,
        name: str,
        design: int = -1,
        place: Thing | None = None,
        live: bool = True,
        sight: str = "",
    ) -> Thing:
        new = self.describe(kind, name, design, place, live=live, sight=sight)
        thing = len(s.kind)
        fold.APPLY["created"](s, [new])
        for zone in self.kinds[kind]["zones"]:
            own = self._add(s, "zone", zone["name"], live=zone["live"], sight=zone["seen"])
            s.owner[own] = thing
            getattr(s, zone["attr"])[thing] = own
        if kind == self.tables["seat_kind"]:
            s.owner[thing] = thing
        return thing

    def _print_values(self, s: State) -> None:
        """Printed values that depend on the game (`3 per seat`) are worked out once the seats are known."""
        for thing, kind in enumerate(s.kind):
            names = [self.kinds[kind]["init"]]
            if s.design[thing] >= 0:
                design = self.designs[s.design[thing]]
                names += [design["init"], *(f["init"] for f in design["faces"][:1])]
            for name in filter(None, names):
                for attr, value in self.function(name)(s, -1, thing, None).items():
                    getattr(s, attr)[thing] = value

    def make(
        self,
        s: State,
        c: int,
        site: int,
        kind: str,
        count: int,
        place: Thing,
        name: str = "",
        design: int = -1,
    ) -> list[Thing]:
        """Create things in the middle of a game."""
        made: list[Thing] = []
        if count > THINGS_MAX:
            raise OverBudget(f"more than {THINGS_MAX} things")
        taken, number = set(s.key), 1
        for _ in range(count):
            new = self.describe(kind, name or kind, design, place)
            new["key"] = new["name"]
            while new["key"] in taken and not self.kinds[kind]["alike"]:
                number += 1
                new["key"] = f"{new['name']} #{number}"
            taken.add(new["key"])
            zones, first = self.kinds[kind]["zones"], len(s.kind)
            new["zones"] = {zone["attr"]: first + 1 + i for i, zone in enumerate(zones)}
            parts = [
                self.describe("zone", z["name"], owner=first, live=z["live"], sight=z["seen"]) for z in zones
            ]
            for name_of_init in filter(None, [self.kinds[kind]["init"]]):
                new["fields"] |= self.function(name_of_init)(s, c, first, None)
            made += fold.create(s, c, site, [new, *parts])[:1]
        return made

    def face_values(self, s: State, thing: Thing, face: str | None) -> tuple[str, dict[str, Any]]:
        """The face to turn to, and the printed values that come with it."""
        design = s.design[thing]
        faces = self.designs[design]["faces"] if design >= 0 else []
        names = [f["name"] for f in faces]
        if face is None and names:
            face = names[(names.index(s.face[thing]) + 1) % len(names)]
        if face is None or face not in names:
            raise RuleError(f"{s.key[thing]} has no face {face!r}; it has: {', '.join(names) or 'none'}")
        spec = faces[names.index(face)]
        base = self.kinds[s.kind[thing]]["defaults"] | self.designs[design]["fields"]
        differs = {attr for f in faces for attr in f["fields"]} | {
            attr for f in faces for attr in f["computed"]
        }
        values = {attr: base.get(attr) for attr in sorted(differs)} | spec["fields"]
        if spec["init"]:
            values |= self.function(spec["init"])(s, -1, thing, None)
        return face, values


class Printed(dict[tuple[int, str, str], bool]):
    """Is a value printed on a face of a design, be it a dash? By design, face and field; found out when first asked."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def __missing__(self, mark: tuple[int, str, str]) -> bool:
        number, face, field = mark
        self[mark] = number >= 0 and self._is_printed(
            self._program.designs[number], face, attribute("f", field)
        )
        return self[mark]

    @staticmethod
    def _is_printed(design: Mapping[str, Any], face: str, attr: str) -> bool:
        sides = [design, *(f for f in design["faces"] if f["name"] == face)]
        return any(attr in side["fields"] or attr in side["computed"] for side in sides)


def in_stages(rule: rules.Rule) -> tuple[Any, ...]:
    """The order of rules on nothing: by stage, those that stand by themselves before those on things."""
    return rule.stage, rule.where[0] != "top", rule.where[0] == "lasting", rule.number


def read_setting(name: str, spec: Mapping[str, Any], given: Any) -> Any:
    """A setting as it is given on a command line or in a scene, turned into a value of its type."""
    kind = spec["type"]
    if spec.get("several"):
        parts = given.split(",") if isinstance(given, str) else given
        one = {**spec, "several": False}
        return tuple(read_setting(name, one, p.strip() if isinstance(p, str) else p) for p in parts if p)
    if kind == "truth" and isinstance(given, str):
        if given.lower() not in ("yes", "no", "true", "false", "on", "off"):
            raise LongboxError(f"setting {name} is yes or no, not {given!r}")
        return given.lower() in ("yes", "true", "on")
    if kind == "number" and isinstance(given, str):
        if not given.lstrip("-").isdigit():
            raise LongboxError(f"setting {name} is a number, not {given!r}")
        return int(given)
    if spec.get("words") and given not in spec["words"]:
        raise LongboxError(f"setting {name} is one of: {', '.join(spec['words'])}; not {given!r}")
    return given


def _nobody(question: questions.Question) -> str:
    raise LongboxError(f"nobody is there to answer {question!r}")


def _make_keys(s: State, program: Program) -> None:
    """Every thing gets a name of its own; copies that are alike on purpose keep theirs."""
    seen: dict[str, int] = {}
    for thing, name in enumerate(s.name):
        kind = s.kind[thing]
        if kind == "zone":
            owner = s.owner[thing]
            s.key[thing] = name if owner is None else f"{s.key[owner]}'s {name}"
        elif program.kinds[kind]["alike"]:
            s.key[thing] = name
        else:
            count = seen[name] = seen.get(name, 0) + 1
            s.key[thing] = name if count == 1 else f"{name} #{count}"


# ---------------------------------------------------------------- the box as an event
_BOX_COLUMNS = ("kind", "design", "name", "key", "lively", "owner", "place", "face", "facedown", "in_play")


def box_of(s: State, program: Program) -> dict[str, Any]:
    """The table at the very start, as data: what a history needs to be read when its rules are gone."""
    return {
        "columns": {slot: getattr(s, slot)[:] for slot in _BOX_COLUMNS},
        "fields": {slot: getattr(s, slot)[:] for slot in s.FIELDS},
        "zones": {slot: getattr(s, slot)[:] for slot in s.ZONES},
        "values": {slot: getattr(s, slot) for slot in s.GLOBALS},
        "items": [[place, things[:]] for place, things in s.items.items()],
        "of": {kind: things[:] for kind, things in s.of.items()},
        "live": [[design, things[:]] for design, things in s.live.items()],
        "sight": [[zone, who] for zone, who in s.sight.items()],
        "drawn": s.drawn,
        "fixed": sorted(s.FIXED),
    }


def _lineages(s: State) -> dict[str, tuple[str, ...]]:
    """The kinds each kind belongs to, read off a table on which nothing was removed yet."""
    one_of = {s.kind[thing]: thing for things in s.of.values() for thing in things}
    members = {kind: set(things) for kind, things in s.of.items()}
    return {
        kind: tuple(wide for wide in s.of if thing in members[wide]) for kind, thing in sorted(one_of.items())
    }


def state_from_box(event: Event) -> State:
    """A table without any rules, from the first event of a history."""
    box = event[3]
    cls = state_class(
        tuple(box["fields"]), tuple(box["values"]), tuple(box["zones"]), frozenset(box["fixed"])
    )
    s = cls()
    s.run, s.chance, s.log = _nobody, Seeded(0), [event]
    for group in ("columns", "fields", "zones"):
        for slot, column in box[group].items():
            setattr(s, slot, list(column))
    for slot, value in box["values"].items():
        setattr(s, slot, value)
    s.items = {place: list(things) for place, things in box["items"]}
    s.of = {kind: list(things) for kind, things in box["of"].items()}
    s.live = {design: list(things) for design, things in box["live"]}
    s.lineage = _lineages(s)
    s.sight, s.drawn, s.called = dict(box["sight"]), box["drawn"], {}
    for zone in s.sight:
        s.called.setdefault(s.name[zone], []).append(zone)
    for slot in ("around", "awake", "unique", "shown", "borrowed", "used", "edges", "began", "open"):
        setattr(s, slot, {})
    s.lasting, s.queue, s.trace = [], [], None
    s.tricks = s.draws = s.answers = s.mark = 0
    s.budget, s.pc, s.frame, s.outcome, s.shared = BUDGET, ("setup", 0), (), None, False
    return s


def rule_of(space: Mapping[str, Any], row: Sequence[Any]) -> rules.Rule:
    number, where, guard, body, once, site, stage, again = row
    test = space[guard] if guard else None
    return rules.Rule(number, tuple(where), test, space[body], once, site, stage, again)


def modifier_of(rule: rules.Rule) -> rules.Modifier:
    """A rule that changes a value, laid out for the function that is called most of all."""
    design, face = rule.where[1:3] if rule.where[0] == "design" else (-1, "")
    return design, face, rule.guard, rule.body, rule


def option_of(space: Mapping[str, Any], row: Mapping[str, Any]) -> rules.Option:
    return rules.Option(
        row["number"],
        tuple(row["where"]),
        space[row["legal"]],
        space[row["body"]],
        row["once"],
        row["site"],
        row["anybody"],
        None if row["kinds"] is None else frozenset(row["kinds"]),
        space[row["gate"]] if row["gate"] else None,
    )


# ---------------------------------------------------------------- what emitted code may call
RUNTIME: dict[str, Any] = {
    **{
        f"k_{name}": getattr(fold, name)
        for name in (
            "move",
            "move_some",
            "move_to_bottom",
            "move_to_index",
            "move_all",
            "shuffle",
            "turn",
            "lay",
            "own",
            "put_field",
            "put_plain",
            "put_value",
            "put_number",
            "pick",
            "roll",
            "show",
        )
    },
    **{
        f"k_{name}": getattr(questions, name)
        for name in (
            "answer",
            "choose_menu",
            "called",
            "choose_thing",
            "choose_things",
            "choose_word",
            "choose_yes",
            "together",
            "must_be",
        )
    },
    **{f"k_{name}": getattr(boards, name) for name in boards.RUNTIME},
    **{f"k_{name}": getattr(orders, name) for name in orders.RUNTIME},
    **{f"k_{name}": getattr(rules, name) for name in rules.RUNTIME},
    **{f"k_{name}": getattr(runtime, name) for name in runtime.RUNTIME},
    "k_len": len,
    "k_sum": sum,
    "k_max": max,
    "k_min": min,
    "k_list": list,
    "k_tuple": tuple,
    "k_str": str,
    "k_range": range,
    "k_StopScope": StopScope,
}
