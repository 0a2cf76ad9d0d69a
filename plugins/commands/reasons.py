"""Why a number is what it is: each rule and each modifier that had a part in it, with its card and its line.

Nothing of this is kept while a game is played. The same answers are run again with notes on (`Game.retraced`), and
the notes that belong to the act in question are told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from longbox.kernel import Event, Game
from longbox.kernel.rules import ROOT
from longbox.kernel.text import wrapped

from .story import Line, Reading, Story, chain


def number_line(story: Story, number: int) -> Line | None:
    """The last line of the story in which an act has that number in one of its slots."""
    verbs = story.reading.tables["verbs"]
    for line in reversed(story.lines):
        if line.told and line.event[0] == "did" and line.event[3] in verbs:
            slots = verbs[line.event[3]]["slots"]
            for slot, value in zip(slots, line.event[4:], strict=False):
                if slot["type"] == "number" and value == number:
                    return line
    return None


def reasons(game: Game, line: Line, reading: Reading) -> list[str]:
    """The line itself, and below it what was said at first and all that changed it, in the order in which it did."""
    found = [line.text]
    acts = [at for at in reversed(_in_its_effect(game.log, line.number)) if game.log[at][0] == "did"]
    notes = game.retraced()
    for at, below in zip(acts, [*acts[1:], -1], strict=True):
        found += _of_act(game, at, below, notes, reading)
    if len(found) == 1:  # nothing changed it: it is what the text says
        found.append(f"  {_text(game, None, line.event[2], reading)}")
    return [part for text in found for part in wrapped(text)]


def _in_its_effect(log: Sequence[Event], number: int) -> list[int]:
    """What caused an event, inside the effect that it belongs to: an effect of its own takes no number from around it."""
    start = _root(log, number)
    return [at for at in chain(log, number) if at >= start]


def _root(log: Sequence[Event], number: int) -> int:
    """Where the innermost root effect begins that runs at an event; -1 if none does."""
    ended = 0
    for at in range(number, -1, -1):
        if log[at][0] in ("began", "ended") and log[at][3] == ROOT:
            if log[at][0] == "began" and not ended:
                return at
            ended += 1 if log[at][0] == "ended" else -1
    return -1


def _of_act(
    game: Game, at: int, below: int, notes: Sequence[tuple[Any, ...]], reading: Reading
) -> Iterator[str]:
    """What rules did to the slots of one act, and modifiers to the values that it asked for on the way below."""
    event = game.log[at]
    slots = reading.tables["verbs"].get(event[3], {}).get("slots", [])
    before = _last_alike(game.log, at)
    changes = [
        note
        for note in notes
        if note[0] == "slot" and note[4] == event[1] and before < note[1] <= at and isinstance(note[6], int)
    ]
    values = [note for note in notes if note[0] == "value" and at < note[1] <= below]
    if not changes and not values:
        return
    for slot, spec in enumerate(slots):
        if spec["type"] == "number":
            first = next((note[6] for note in changes if note[5] == slot), event[4 + slot])
            yield f"  {first}: {_text(game, None, event[2], reading)}"
    for note in changes:
        if note[5] < len(slots) and slots[note[5]]["type"] == "number":
            yield f"  {note[7] - note[6]:+}: {_text(game, note[3], note[2], reading)}"
    for note in values:
        amount = f"{note[5]:+}" if note[4] == "gets" and isinstance(note[5], int) else f"is {note[5]}"
        yield f"  value {amount}: {_text(game, note[3], note[2], reading)}"


def _last_alike(log: Sequence[Event], at: int) -> int:
    """The act before, of the same verb and the same cause: the notes up to it are its own."""
    verb, cause = log[at][3], int(log[at][1])
    for number in range(at - 1, max(cause, 0), -1):
        if log[number][0] in ("did", "prevented") and log[number][1] == cause and log[number][3] == verb:
            return number
    return cause


def _text(game: Game, thing: int | None, site: int, reading: Reading) -> str:
    file, line = reading.place(("", -1, site))
    whose = f"{game.state.key[thing]}, " if thing is not None else ""
    return f"{whose}{file}:{line}: {reading.text(file, line)}"
