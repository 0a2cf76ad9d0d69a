"""A question in words: who is asked, what about, by which card or rule, and the answers in groups.

Nothing is said of what led to a question if the one who is asked may not see all of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from longbox.kernel import Game, Program, Question
from longbox.kernel.questions import DONE, NO, PASS, YES
from longbox.kernel.text import WIDTH, wrapped
from longbox.kernel.views import can_see

from .maps import in_columns
from .story import Story, chain
from .telling import capital
from .values import Values

LISTED_MAX = 12  # more answers than these are listed in columns
GROUPED_MIN = 5  # fewer are not worth grouping
ABOUT_MAX = 60  # longer lines do not help to see what a question is about
ENDS = (PASS, DONE)
_VOWEL = re.compile(r"[aeiou]", re.IGNORECASE)


# ---------------------------------------------------------------- what is asked
def prompt_text(question: Question, windows: Sequence[str] = ()) -> str:
    """What is asked, as a sentence for the one who is asked."""
    prompt = question.prompt
    if question.keys == [YES, NO]:
        return capital(prompt) if prompt.endswith("?") else f"{capital(prompt)}?"
    if prompt in windows:
        return f"{prompt}: what do you do?"
    if prompt.startswith("choose a number from ") and is_numbers(question.keys):
        return f"choose a number from {question.keys[0]} to {question.keys[-1]}"
    if question.things and not re.match(r"(choose|which)\b", prompt) and not prompt.endswith("?"):
        bare = re.match(r"(\d|up to |any number )", prompt) is not None
        return f"choose {'' if bare else 'an ' if _VOWEL.match(prompt) else 'a '}{prompt}"
    return prompt


def asked_text(names: Sequence[str], everybody: int) -> str:
    """Who is asked; any of them may answer."""
    if len(names) == everybody > 2:
        return "Anyone"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


class About:
    """What a question comes from, as the seat of a story may know it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._cards: dict[str, list[tuple[int, int, str]]] = {}
        texts = program.tables.get("texts", {})
        for design in program.designs:
            if design["file"] in texts:
                last = design["line"] + _height(texts[design["file"]], design["line"])
                self._cards.setdefault(design["file"], []).append((design["line"], last, design["name"]))

    def chain(self, game: Game, question: Question, story: Story) -> list[int]:
        """The events that led to it, nearest first; none if something among them may not be seen."""
        if not 0 < question.cause < len(game.log):  # in a secret choice, what led here is not told yet
            return []
        numbers = [number for number in chain(game.log, question.cause) if number > 0]
        clear = all(story.lines[number - 1].whole for number in numbers)
        return numbers if clear else []

    def line(self, game: Game, question: Question, story: Story) -> str:
        """`Oak Peg, play`, or what is being done; nothing if that is hidden or goes without saying."""
        numbers = self.chain(game, question, story)
        parts: list[str] = []
        for number in numbers:
            line = story.lines[number - 1]
            match line.seen:
                case ("did", _, _, str(verb), thing) if verb not in self.program.verbs:
                    parts.append(f"{game.state.key[thing]}, {verb.removesuffix(' of (thing)')}")
                    break
                case ("did", *_) if not parts and len(line.text) <= ABOUT_MAX:
                    parts.append(line.text)
                case ("answered", _, _, _, key) if key not in ("", *ENDS, YES, NO, *game.state.name):
                    parts.append(key)
                    break
        card = self.card(question.site) if numbers or question.cause < 1 else ""
        if card and not any(card in part for part in parts):
            parts.append(card)
        return " > ".join(reversed(parts))

    def card(self, site: int) -> str:
        """The card whose own text asks, if it is a card's."""
        file, line = self.program.site(site)
        found = [name for first, last, name in self._cards.get(file, ()) if first <= line <= last]
        return found[0] if found else ""

    def text(self, question: Question) -> str:
        """The line of text that asks."""
        file, number = self.program.site(question.site)
        lines = self.program.tables.get("texts", {}).get(file, "").split("\n")
        line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        return f"{file}:{number}: {line}" if line else f"{file}:{number}"


def _height(text: str, line: int) -> int:
    """How many lines lie below the first of a card; a row of a table has none."""
    lines = text.split("\n")
    if lines[line - 1].lstrip().startswith("|"):
        return 0
    count = 0
    for below in lines[line:]:
        if below.strip() and not below.startswith((" ", "#")):
            break
        count += 1
    return count


# ---------------------------------------------------------------- answers
def is_numbers(keys: Sequence[str]) -> bool:
    return all(key.lstrip("-").isdecimal() for key in keys)


@dataclass
class Group:
    """Answers that belong together: whose they are, and what is done in all of them."""

    actor: str = ""
    label: str = ""
    entries: list[tuple[str, str]] = field(default_factory=list)  # key, what of it is listed


class Answers:
    """The answers to a question in the order in which they are listed and numbered."""

    def __init__(
        self, question: Question, values: Values | None = None, others: Collection[str] = ()
    ) -> None:
        self.question, self.values = question, values
        self.others = others  # answers that are not listed: bots may give them
        self.groups = self._groups()
        self.keys = [key for group in self.groups for key, _ in group.entries]

    def _groups(self) -> list[Group]:
        """By who acts, then by what is done; what needs no card comes first, passing last."""
        keys = [key for key in self.question.keys if key not in self.others]
        if self.question.things or len(keys) < GROUPED_MIN or not any(": " in key for key in keys):
            return [Group(entries=[(key, key) for key in keys])]
        actors = _actors(keys)
        found: dict[tuple[str, str], Group] = {}
        for key in (key for key in keys if key not in ENDS):
            actor, rest = _split(key) if _split(key)[0] in actors else ("", key)
            card, label = _split(rest)
            group = found.setdefault((actor, label if card else ""), Group(actor, label if card else ""))
            group.entries.append((key, card or rest))
        groups = sorted(
            found.values(), key=lambda g: (actors.index(g.actor) if g.actor else -1, g.label != "")
        )
        ends = [(key, key) for key in keys if key in ENDS]
        return [*groups, Group(entries=ends)] if ends else groups

    def lines(self, spaces: Sequence[str] = ()) -> list[str]:
        """By number and name. Of many `spaces` that a map shows, only how many they are."""
        keys = self.keys
        if is_numbers(keys):
            return wrapped(f"  {', '.join(keys)}")
        numbers = {key: number for number, key in enumerate(keys, 1)}
        return [*self._listed(numbers, spaces), *self._not_listed()]

    def _not_listed(self) -> list[str]:
        """Who else could act."""
        if not self.others:
            return []
        who = list(dict.fromkeys(key.partition(": ")[0] for key in self.others))
        played = "is played by a bot" if len(who) == 1 else "are played by bots"
        return wrapped(
            f"  ({' and '.join(who)} {played}: 'bots' lets them act, 'answers all' lists what they can do)"
        )

    def _listed(self, numbers: Mapping[str, int], spaces: Sequence[str]) -> list[str]:
        keys = self.keys
        if len(spaces) > LISTED_MAX:
            rest = [f"{numbers[key]} {key}" for key in keys if key not in spaces]
            return [
                f"  one of the {len(spaces)} spaces that stand in [brackets], by its name",
                *in_columns(rest),
            ]
        if len(self.groups) > 1:
            return list(self._grouped(numbers))
        if spaces or len(keys) > LISTED_MAX or self._are_short():
            return in_columns([f"{numbers[key]} {key}" for key in keys])
        return [line for key in keys for line in wrapped(f"  {numbers[key]} {key}{self._stats(key)}")]

    def _are_short(self) -> bool:
        """Names of spaces, and the like: they go side by side."""
        return len(self.keys) > 3 and all(len(key) <= 3 or key in (*ENDS,) for key in self.keys)

    def _grouped(self, numbers: Mapping[str, int]) -> Iterator[str]:
        actor = ""
        for group in self.groups:
            if group.actor != actor:
                actor = group.actor
                yield from [f"  {actor}:"] if actor else []
            margin = "    " if actor else "  "
            entries = [f"{numbers[key]} {said}" for key, said in group.entries]
            lead = f"{margin}{group.label}: " if group.label else margin
            yield from _hanging(lead, entries)

    def _stats(self, key: str) -> str:
        """What helps to choose a thing: its values, and where it is."""
        at = self.question.keys.index(key)
        things = self.question.things
        thing = things[at] if at < len(things) else None
        if thing is None or self.values is None or not can_see(self.values.state, self.values.seat, thing):
            return ""
        state, place = self.values.state, self.values.state.place[thing]
        on_board = place is not None and place not in state.sight and state.key[place] not in key
        where = state.key[place] if on_board and place is not None else ""
        told = "; ".join(filter(None, [where, self.values.short(thing)]))
        return f" ({told})" if told else ""


def _split(key: str) -> tuple[str, str]:
    """`Oak Peg: play` is what is done with Oak Peg; else the whole is what is done."""
    first, colon, rest = key.partition(": ")
    return (first, rest) if colon else ("", key)


def _actors(keys: Sequence[str]) -> list[str]:
    """Where answers are for several to act, each begins with the one who acts; the seat itself may go without.

    Where some have no such beginning, they are actors only if there are fewer of them than things to do.
    """
    parts = [_split(key) for key in keys if key not in ENDS]
    firsts = [first for first, _ in parts if first]
    labels = {label for first, label in parts if first}
    several = len(firsts) == len(parts) or len(set(firsts)) < len(labels)
    return list(dict.fromkeys(firsts)) if several and len(set(firsts)) < len(firsts) else []


def _hanging(lead: str, entries: Sequence[str]) -> Iterator[str]:
    """Entries after a lead; where they go on below, they stand below each other."""
    line = lead
    for entry in entries:
        if len(line) + len(entry) + 3 > WIDTH and line.strip() and line != lead:
            yield line.rstrip()
            line = " " * len(lead)
        line += ("" if line.endswith(" ") and line.strip(" ") in ("", lead.strip(" ")) else "   ") + entry
    yield line.rstrip()


def chosen(keys: Sequence[str], typed: str, several: bool = False) -> str | None:
    """The answer of that name, or of that number in the list; of `several` words the beginning is enough."""
    named = [key for key in keys if key == typed] or [key for key in keys if key.lower() == typed.lower()]
    if named:
        return named[0]
    if typed.isdecimal() and 1 <= int(typed) <= len(keys) and not is_numbers(keys):
        return keys[int(typed) - 1]
    close = [key for key in keys if several and key.lower().startswith(typed.lower())]
    return close[0] if len(close) == 1 else None


def inner_match(keys: Sequence[str], typed: str) -> str | None:
    """The one answer in which a word begins so: `peg` for `Oak Peg: play`."""
    low = typed.strip().lower()
    close = [key for key in keys if low and re.search(rf"(?<![^\s:]){re.escape(low)}", key.lower())]
    return close[0] if len(close) == 1 else None


def refusal(keys: Sequence[str], typed: str) -> str:
    """What to say to something that is not offered."""
    near = get_close_matches(typed.lower(), [key.lower() for key in keys], 1, 0.6)
    if near:
        meant = next(key for key in keys if key.lower() == near[0])
        return f"{typed!r} is not offered; did you mean {meant!r}? Nothing has changed."
    offer = (
        f"the answers are: {', '.join(keys)}" if len(keys) <= LISTED_MAX else "'answers' lists the answers"
    )
    return f"{typed!r} is not offered; {offer}. Nothing has changed; 'help' says what can be typed."


def offered_spaces(question: Question, drawn: Sequence[str]) -> list[str]:
    """The spaces of drawn boards that a question offers, if it is mainly about them."""
    spaces = [key for key in question.keys if key in set(drawn)]
    return spaces if len(spaces) > 1 and 2 * len(spaces) >= len(question.keys) else []
