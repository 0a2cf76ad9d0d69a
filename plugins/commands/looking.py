"""One card or thing: what is printed on it, in the words of the text, and what has become of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from longbox.kernel import Program, State, Thing
from longbox.kernel.text import fields_text, listed, said, wrapped
from longbox.kernel.views import can_see, view

from .matching import meant
from .values import Values

_UNREAD = re.compile(r'("[^"]*"?)|\s*#.*')
_TEXTS = re.compile(r'"[^"]*"')


# ---------------------------------------------------------------- the text of a card
def block(text: str, number: int) -> list[str]:
    """A line of a text with all that is indented below it, without comments; before a row of a table its head."""
    lines = text.split("\n")
    first = lines[number - 1]
    if first.lstrip().startswith("|"):
        above = (_bare(line) for line in reversed(lines[:number]))
        head = next((line for line in above if line.strip() and _depth(line) < _depth(first)), "")
        return [head, first.rstrip()]
    found = [first]
    for line in lines[number:]:
        if line.strip() and not line.lstrip().startswith("#") and _depth(line) <= _depth(first):
            break
        found.append(line)
    return [line[_depth(first) :] for line in map(_bare, found) if line]


def _bare(line: str) -> str:
    """A line without its comment; a row of a table has none."""
    bare = line if line.lstrip().startswith("|") else _UNREAD.sub(lambda m: m[1] or "", line)
    return bare.rstrip()


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 10_000


@dataclass
class Print:
    """What stands on a card, or on one face of it."""

    values: list[str] = field(default_factory=list)  # health 3
    texts: list[str] = field(default_factory=list)  # abilities and rules
    tales: list[str] = field(default_factory=list)  # texts for people only
    faces: dict[str, Print] = field(default_factory=dict)

    def lines(self, up: str = "") -> Iterator[str]:
        """Values, then the face that is up, then texts and the other faces; what is only told comes last."""
        if self.values:
            yield ", ".join(self.values)
        yield from self.texts
        for name in sorted(self.faces, key=lambda name: name != up):
            yield f'{"this side up" if name == up else "other side"}, "{name}":'
            yield from (f"  {line}" for line in self.faces[name].lines())
        yield from (f'"{tale}"' for tale in self.tales)


def read_print(lines: Sequence[str], tales: Iterable[str]) -> Print:
    """The lines of a card sorted out. `tales` are the fields that hold texts for people."""
    found, names = Print(), sorted(tales, key=len, reverse=True)
    for head, below in _parts(lines):
        if m := re.fullmatch(r'face "(.*)":', head):
            found.faces[m[1]] = read_print(below, names)
        elif below or ":" in _TEXTS.sub("", head):
            found.texts += [f"{head} {below[0].strip()}"] if len(below) == 1 else [head, *below]
        elif tale := next((name for name in names if head.startswith(f'{name} "')), ""):
            found.tales.append(head[len(tale) :].strip().strip('"'))
        else:
            found.values.append(head)
    return found


def _parts(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each line of a block with those indented below it."""
    margin = min(map(_depth, lines), default=0)
    at = 0
    while at < len(lines):
        end = next((i for i in range(at + 1, len(lines)) if _depth(lines[i]) <= margin), len(lines))
        yield lines[at].strip(), [line[margin:] for line in lines[at + 1 : end]]
        at = end


def read_row(head: str, row: str, tales: Iterable[str]) -> Print:
    """A row of a table of cards, with the names of its columns."""
    columns = [name.strip() for name in head.partition(":")[2].split(",")]
    cells = [cell.strip() for cell in row.strip().removeprefix("|").split("|")]
    found = Print()
    for name, cell in list(zip(columns, cells))[1:]:
        if name in tales:
            found.tales.append(cell.strip('"'))
        elif cell and name != "copies":
            found.values.append(f"{name} {cell}")
    return found


# ---------------------------------------------------------------- looking
class Looking:
    """One seat (nobody: the referee) looks at one thing.

    What is printed may be read by all, since the rules are; where a thing lies and what is on it is shown only to
    those who may see it. Nothing that is said depends on what is hidden.
    """

    def __init__(self, state: State, seat: Thing | None, program: Program | None) -> None:
        self.state, self.seat, self.program = state, seat, program
        self.shown = view(state, seat)
        self._seen_things = [t for t in range(len(state.kind)) if can_see(state, seat, t)]
        self._printed = {state.key[t]: state.name[t] for t in self._seen_things}
        self.designs = program.designs if program else []

    def names(self) -> list[str]:
        """What can be looked at: what was printed, and what is seen on the table."""
        on_table = (thing["name"] for thing in self.shown["things"])
        return list(dict.fromkeys([*(design["name"] for design in self.designs), *on_table]))

    def find(self, typed: str, more: Iterable[str] = (), what: str = "card or thing") -> str:
        """The name that is meant. Copies of one card count as one, unless one of them is named in full."""
        known = [*self.names(), *more]
        exact = [name for name in known if name.lower() == typed.strip().lower()]
        if exact:
            return exact[0]
        once = dict.fromkeys(self._printed.get(name, name) for name in known)
        return meant(re.sub(r" #\d+$", "", typed.strip()), once, what, guess=True)

    def as_data(self, name: str) -> dict[str, Any]:
        texts = [
            {"kind": d["kind"], "copies": d["copies"], "text": self._text(d)} for d in self._designs_of(name)
        ]
        return {"name": name, "printed": texts, "things": self._seen(name)}

    def _designs_of(self, name: str) -> list[dict[str, Any]]:
        return [design for design in self.designs if design["name"] in (name, self._printed.get(name))]

    def _seen(self, name: str) -> list[dict[str, Any]]:
        """Things of that name; by the printed name, every copy that is seen."""
        return [
            thing
            for thing in self.shown["things"]
            if name in (thing["name"], self._printed.get(thing["name"]))
        ]

    def lines(self, name: str) -> list[str]:
        seen = self._seen(name)
        up = {thing["face"] for thing in seen if thing.get("face")}
        lines: list[str] = []
        for design in self._designs_of(name):
            copies = f", {design['copies']} copies" if design["copies"] > 1 else ""
            lines.append(f"{design['name']}: {design['kind']}{copies}")
            lines += [f"  {line}" for line in self._print(design).lines(up.pop() if len(up) == 1 else "")]
        told = [tuple(self._now(thing)) for thing in seen]
        for one in dict.fromkeys(told):
            lines += [f"{told.count(one)} x {one[0]}" if told.count(one) > 1 else one[0], *one[1:]]
        return [part for line in lines for part in wrapped(line)] + (
            [] if seen else ["None of it is to be seen on the table."]
        )

    # ------------------------------------------------------------ printed
    def _text(self, design: dict[str, Any]) -> list[str]:
        texts = self.program.tables.get("texts", {}) if self.program else {}
        return block(texts[design["file"]], design["line"]) if design["file"] in texts else []

    def _print(self, design: dict[str, Any]) -> Print:
        assert self.program is not None, "a design comes from a program"
        tales = [name for name, spec in self.program.fields.items() if spec["type"].rstrip("?") == "text"]
        text = self._text(design)
        is_row = len(text) == 2 and text[1].lstrip().startswith("|")
        found = read_row(text[0], text[1], tales) if is_row else read_print(text[1:], tales)
        found.values += self._printed_elsewhere(design, text)
        return found

    def _printed_elsewhere(self, design: dict[str, Any], text: Sequence[str]) -> Iterator[str]:
        """Values that the file gives all its cards."""
        assert self.program is not None, "a design comes from a program"
        own = "\n".join(text)
        for name, spec in self.program.fields.items():
            value = design["fields"].get(spec["attr"])
            if value not in (None, False, ()) and not re.search(rf"\b{re.escape(name)}\b", own):
                yield name if value is True else f"{name} {said(value)}"

    # ------------------------------------------------------------ now
    def _now(self, thing: dict[str, Any]) -> Iterator[str]:
        """`Oak Peg: peg, in tray, of Ann, Ready side up`, what has changed, and what is on it."""
        parts = [thing["kind"]]
        parts += [f"{self._on(thing)} {thing['place']}"] if thing.get("place") else []
        parts += [f"of {thing['owner']}"] if thing.get("owner") else []
        parts += [f'"{thing["face"]}" up'] if thing.get("face") else []
        yield f"{thing['name']}: {', '.join(parts)}"
        if now := self._values(thing):
            yield f"  now: {now}"
        if on_it := [x["name"] for x in self.shown["things"] if x.get("place") == thing["name"]]:
            yield f"  on it: {listed(on_it)}"

    def _on(self, thing: dict[str, Any]) -> str:
        """Things are in zones, and on spaces and other things."""
        zones = (zone["zone"] for zone in self.shown["zones"])
        return "in" if thing["place"] in zones else "on"

    def _values(self, thing: dict[str, Any]) -> str:
        if self.program is None:  # without rules nobody knows what was printed
            return fields_text(thing.get("printed", {}) | thing.get("fields", {}))
        number = next(
            t for t in self._seen_things if self.state.key[t] == thing["name"] and self._is_there(t, thing)
        )
        return ", ".join(Values(self.state, self.seat, self.program).changes(number))

    def _is_there(self, number: Thing, thing: dict[str, Any]) -> bool:
        place = self.state.place[number]
        return (None if place is None else self.state.key[place]) == thing.get("place")
