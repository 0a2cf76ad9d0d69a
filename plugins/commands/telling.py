"""The story between two questions: what happened, below what caused it, without what goes without saying.

A log has a line for every event. A story leaves out what its line above says already, puts small changes behind
the line they belong to, and tells in one line what happens again and again. Everything comes from the lines of a
`Story`, so nobody is told more than they may see. `log` still has every line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from longbox.kernel.text import MANY, Names, face, listed, word, wrapped

from .maps import split_copy
from .story import Line, Story

CHANGES = frozenset(
    "created moved swept shuffled turned laid owned set now shown rolled lasts borrowed finished".split()
)
BESIDE = 3  # as many changes stand behind the line they belong to


@dataclass
class Node:
    """One line of the story, and what is told below it."""

    line: Line
    text: str
    kids: list[Node] = field(default_factory=list)
    does: bool = False  # has it changed anything, seen or not?
    beside: str = ""  # small changes that stand behind the line

    @property
    def sort(self) -> str:
        return str(self.line.event[0])

    def says(self, names: Iterable[str]) -> bool:
        """Is all of that said in its line?"""
        low = self.text.lower()
        return all(split_copy(name)[0].lower() in low for name in names)


class Teller:
    """Tells the new lines of a story. `headings` gives the events at which a part of the game begins."""

    def __init__(self, story: Story, headings: Mapping[int, str] | None = None) -> None:
        self.story, self.headings = story, headings or {}
        self.names: Names = story.names()
        tables = story.reading.tables  # what is kept for a part of the game only is book-keeping
        self._kept = {name for fields in tables.get("kept_fields", {}).values() for _, name, _ in fields}
        self._kept |= {name for name, spec in tables["values"].items() if spec.get("kept")}

    def tell(self, lines: Sequence[Line]) -> list[str]:
        """What these lines come to, indented, each begun with a capital letter."""
        lines = _without_undone(lines)
        roots = self._trimmed(self._nodes(lines), None)
        shown: list[str] = []
        for node in merge(roots):
            shown += self._shown(node, 0)
        return _without_empty(shown)

    def _shown(self, node: Node, depth: int) -> Iterator[str]:
        yield from wrapped("  " * depth + capital(node.text + node.beside))
        for kid in node.kids:
            yield from self._shown(kid, depth + 1)

    # ------------------------------------------------------------ the tree
    def _nodes(self, lines: Sequence[Line]) -> list[Node]:
        """Lines below their causes, as long as the order of events stays as it was."""
        roots: list[Node] = []
        nodes: dict[int, Node] = {}
        path: list[Node] = []
        causes = {line.number: line.cause for line in lines}
        for line in lines:
            heading = self.headings.get(line.number)
            above = None if heading or line.event[0] == "finished" else self._above(line, nodes, causes)
            for number in self._chain(line.cause, causes) if line.event[0] in CHANGES else ():
                if number in nodes:
                    nodes[number].does = True
            if not heading and not self._is_told(line, nodes):
                continue
            while path and path[-1] is not above:
                path.pop()
            node = nodes[line.number] = Node(line, f"-- {heading} --" if heading else self._text(line))
            (path[-1].kids if path else roots).append(node)
            path.append(node)
        return roots

    @staticmethod
    def _chain(number: int, causes: Mapping[int, int]) -> Iterator[int]:
        while number >= 0:
            yield number
            number = causes.get(number, -1)

    def _above(self, line: Line, nodes: Mapping[int, Node], causes: Mapping[int, int]) -> Node | None:
        """The line that something is told below. Answers in a row stand side by side."""
        above = (nodes[number] for number in self._chain(line.cause, causes) if number in nodes)
        return next((node for node in above if {node.sort, line.event[0]} != {"answered"}), None)

    def _is_told(self, line: Line, nodes: Mapping[int, Node]) -> bool:
        """Not: whose something is, where it goes later, and what starts anew with a part of the game."""
        if not line.told or line.event[0] == "owned":
            return False
        if line.event[0] not in ("set", "now"):
            return True
        cause = self.story.lines[line.cause - 1].event[0] if line.cause > 0 else ""
        kept = isinstance(line.event[-1], bool) and line.event[-2] in self._kept
        kept = kept or bool(self._spec(line).get("untold"))
        return cause != "began" and not kept and self._spec(line).get("type", "").rstrip("?") != "zone"

    def _spec(self, line: Line) -> Mapping[str, str]:
        table = self.story.reading.tables["fields" if line.event[0] == "set" else "values"]
        found: Mapping[str, str] = table.get(line.seen[-2], {}) if len(line.seen) > 4 else {}
        return found

    # ------------------------------------------------------------ words
    def _text(self, line: Line) -> str:
        match line.seen:
            case ("set", _, _, thing, name, value):
                return f"{self.names.thing(thing)}{self._change(line, name, value)}"
            case ("now", _, _, name, value):
                return f"{name}{self._change(line, '', value)}"
            case ("rolled", _, _, die, faces):
                return f"{dice(die, len(faces))}: {listed(map(face, faces)) if faces else 'none'}"
            case ("swept", _, _, things, source, to) if len(set(map(self.names.thing, things))) > MANY:
                return f"{len(things)} things move from {self.names.thing(source)} to {self.names.thing(to)}"
            case ("replaced", *_):
                return f"instead of: {line.text.removeprefix('replaced: ')}"
            case ("answered", _, _, seats, str(key)) if len(seats) > 1 and key:
                return key if ": " in key else f"the group: {key}"
            case ("did", _, _, str(verb), thing) if verb not in self.story.reading.tables["verbs"]:
                return f"{self.names.thing(thing)}: {verb.removesuffix(' of (thing)')}"
        return line.text

    def _change(self, line: Line, name: str, value: object) -> str:
        """`: focus 3 (+2)`, ` is tired`, ` is not tired any more`, `: leader Ann`."""
        if isinstance(value, bool) and name:
            return f" is {name}" if value else f" is not {name} any more"
        shown = self.names.value(value, bool(self._spec(line).get("thing", False)))
        new = f"{name} {shown}".strip()
        if isinstance(value, int) and isinstance(line.old, int) and not self._spec(line).get("thing"):
            return f": {new} ({value - line.old:+})"
        return f": {new}"

    def _slots(self, line: Line) -> list[str]:
        """What a verb was done with, in words."""
        spec = self.story.reading.tables["verbs"].get(line.seen[3], {"slots": [{"thing": True}]})
        said_so = zip(line.seen[4:], spec["slots"], strict=False)
        return [
            part
            for value, slot in said_so
            for part in ([self.names.value(v, slot["thing"]) for v in _each(value)])
        ]

    # ------------------------------------------------------------ leaving out
    def _trimmed(self, nodes: list[Node], above: Node | None) -> list[Node]:
        """What is told below a line; what goes without saying is left out, and what it led to moves up."""
        kept: list[Node] = []
        for node in nodes:
            if self._goes_without_saying(node, above):
                kept += self._trimmed(node.kids, above)
                continue
            node.kids = merge(self._trimmed(node.kids, node))
            if self._is_empty(node, above):
                continue
            if node.sort == "answered" and self._is_said(node, node.kids):
                kept += node.kids
                continue
            if kept and kept[-1].sort == "answered" and not kept[-1].kids and self._is_said(kept[-1], [node]):
                kept.pop()
            self._put_beside(node)
            kept.append(node)
        return kept

    def _goes_without_saying(self, node: Node, above: Node | None) -> bool:
        line = node.line
        match node.sort:
            case "did":
                slots = self._slots(line)
                doing = above is not None and above.sort in ("did", "replaced")
                return bool(doing and slots and not self._has_words(line) and above and above.says(slots))
            case "moved" | "swept":
                doing = above is not None and above.sort == "did"
                what = [self.names.thing(t) for t in _each(line.seen[3])]
                return bool(doing and above and above.says([*what, self.names.thing(line.seen[5])]))
            case "set" | "now" if self._spec(line).get("thing"):
                value = line.seen[-1]
                if value is None:
                    return True
                return above is not None and above.says(self.names.thing(v) for v in _each(value))
        return False

    def _is_empty(self, node: Node, above: Node | None) -> bool:
        """A verb that did nothing, unless its author says how to tell it, or an answer is kept from us."""
        if node.sort != "did" or node.kids or node.does or self._has_words(node.line):
            return False
        return above is None or above.sort != "answered" or bool(above.line.seen[4])

    def _has_words(self, line: Line) -> bool:
        return bool(self.story.reading.tables["verbs"].get(line.seen[3], {}).get("told"))

    @staticmethod
    def _is_said(answered: Node, after: Sequence[Node]) -> bool:
        """Does what follows say what was answered? So does whatever follows an answer that is kept from us."""
        key = str(answered.line.seen[4])
        says = bool(after) and after[0].sort in ("did", "moved") and after[0].says(key.split(": "))
        return says or (bool(after) and not key)

    def _put_beside(self, node: Node) -> None:
        """Changes of what a line speaks of stand behind it: `Ann takes 2 blows (bruises 3)`."""
        if node.sort != "did":
            return
        beside = {
            kid.line.seen[3:5]: kid  # of several changes the last counts
            for kid in node.kids
            if _leaf(kid, "set")
            and len(kid.line.seen) > 5
            and node.says([self.names.thing(kid.line.seen[3])])
        }
        if not 0 < len(beside) <= BESIDE:
            return
        node.beside = f" ({', '.join(map(self._briefly, beside.values()))})"
        node.kids = [kid for kid in node.kids if kid.sort != "set" or kid.line.seen[3:5] not in beside]

    def _briefly(self, node: Node) -> str:
        """`focus 3`, `tired`, `not tired`"""
        name, value = node.line.seen[4:6]
        if isinstance(value, bool):
            return str(name) if value else f"not {name}"
        return f"{name} {self.names.value(value, bool(self._spec(node.line).get('thing')))}"


def _without_undone(lines: Sequence[Line]) -> list[Line]:
    """A truth that comes and goes again between two questions is not told."""
    first: dict[object, object] = {}
    last: dict[object, object] = {}
    for line in lines:
        if line.event[0] == "set" and isinstance(line.event[5], bool):
            first.setdefault(line.event[3:5], bool(line.old))
            last[line.event[3:5]] = line.event[5]
    undone = {what for what, old in first.items() if last[what] == old}
    return [
        replace(line, told=False) if line.event[0] == "set" and line.event[3:5] in undone else line
        for line in lines
    ]


def _each(value: object) -> Sequence[object]:
    return value if isinstance(value, tuple | list) else (value,)


def dice(die: str, count: int) -> str:
    """`3 white dice`"""
    head, _, last = die.rpartition(" ")
    many = "dice" if last == "die" else f"{last}s"
    return f"{count} {head} {last if count == 1 else many}".replace("  ", " ")


def capital(text: str) -> str:
    """With a capital letter, unless it begins with the name of a space."""
    first = text.split(" ", 1)[0].rstrip(":")
    return text if any(c.isdigit() for c in first) else text[:1].upper() + text[1:]


# ---------------------------------------------------------------- the same again and again
def merge(nodes: Sequence[Node]) -> list[Node]:
    """Lines side by side that say alike become one."""
    for how in (_shuffles, _moves, _alike_changes, _again):
        nodes = [one for run in _runs(nodes, how) for one in run]
    return list(nodes)


Joiner = Callable[[list[Node]], "list[Node] | None"]


def _runs(nodes: Sequence[Node], how: tuple[Callable[[Node], object], Joiner]) -> Iterator[list[Node]]:
    """Runs of nodes with the same key, joined; a key of nothing joins nothing."""
    key, join = how
    for alike, run in groupby(nodes, key):
        group = list(run)
        yield (join(group) or group) if alike is not None and len(group) > 1 else group


def _leaf(node: Node, *sorts: str) -> bool:
    return node.sort in sorts and not node.kids and len(node.line.seen) > 3


def _joined(group: list[Node], text: str) -> list[Node]:
    return [Node(group[-1].line, text, group[-1].kids, True)]


def _shuffle_key(node: Node) -> object:
    return "shuffled" if _leaf(node, "shuffled") else None


def _join_shuffles(group: list[Node]) -> list[Node]:
    names = dict.fromkeys(node.text.removesuffix(" is shuffled") for node in group)
    return _joined(group, f"{listed(names)} {'are' if len(names) > 1 else 'is'} shuffled")


def _move_key(node: Node) -> object:
    return (node.line.seen[4],) if _leaf(node, "moved") and node.line.moved else None


def _join_moves(group: list[Node]) -> list[Node] | None:
    """From one place: to one other place, or each to its own."""
    moves = [node.line.moved for node in group if node.line.moved]
    ways = list(dict.fromkeys(way for _, way in moves))
    names = [name for name, _ in moves]
    if len(ways) == 1:
        more = len(names) - MANY if len(set(names)) > MANY else 0
        shown = f"{', '.join(names[:MANY])} and {more} more" if more else listed(names)
        return _joined(group, f"{shown} move {ways[0]}")
    source, _, _ = ways[0].rpartition(" to ")
    if not source:
        return None
    targets = [way.rpartition(" to ")[2] for _, way in moves]
    if len(set(names)) == 1:
        return _joined(group, f"{listed(names)} move {source} to {listed(targets)}")
    return _joined(group, f"{source}: {listed(f'{name} to {to}' for name, to in zip(names, targets))}")


def _change_key(node: Node) -> object:
    return (
        (node.line.seen[4], word(node.line.seen[5]))
        if _leaf(node, "set") and len(node.line.seen) > 5
        else None
    )


def _join_changes(group: list[Node]) -> list[Node]:
    """`Ann and Bob: coins 3`"""
    who = [node.text.removesuffix(_tail(node)) for node in group]
    tail = _tail(group[0]).partition(" (")[0]
    tail = tail.replace(" is ", " are ", 1) if len(set(who)) > 1 and tail.startswith(" is ") else tail
    return _joined(group, f"{listed(who)}{tail}")


def _tail(node: Node) -> str:
    """What the line of a change says after the thing it speaks of."""
    for start in (f": {node.line.seen[4]} ", f" is {node.line.seen[4]}", f" is not {node.line.seen[4]} "):
        if start in node.text:
            return node.text[node.text.rindex(start) :]
    return ""


def _again_key(node: Node) -> object:
    return None if node.sort == "answered" else _whole(node)


def _whole(node: Node) -> tuple[object, ...]:
    return (node.text, node.beside, *map(_whole, node.kids))


def _join_again(group: list[Node]) -> list[Node]:
    first = group[0]
    return [Node(first.line, f"{first.text} ({len(group)} times)", first.kids, True, first.beside)]


_shuffles = (_shuffle_key, _join_shuffles)
_moves = (_move_key, _join_moves)
_alike_changes = (_change_key, _join_changes)
_again = (_again_key, _join_again)


def _without_empty(lines: Sequence[str]) -> list[str]:
    """Of headings without anything below them only the last stays."""
    kept = []
    for line, after in zip(lines, [*lines[1:], ""]):
        if not (line.startswith("-- ") and after.startswith("-- ")):
            kept.append(line)
    return kept
