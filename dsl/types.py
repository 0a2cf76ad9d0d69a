"""Types of the language.

A type is a base (a kind, an enumeration, or one of BASIC) and a form: what a determiner made of it.

    ""      one thing or value               the figure, target, 3
    set     several at once                  figures, all cards in hand
    each    one after the other              each figure
    ask     somebody chooses one             a figure
    asks    somebody chooses some            up to 2 cards
    some    whether there is one, or none    any figure, no figure
    desc    only a description               figure near self
"""

from __future__ import annotations

from dataclasses import dataclass, replace

BASIC = frozenset(
    {
        "number",
        "truth",
        "text",
        "zone",
        "place",
        "die",
        "roll",
        "face",
        "ability",
        "counter",
        "field",
        "window",
        "seats",
        "path",
        "any",
        "nothing",
        "done",
    }
)


@dataclass(frozen=True, slots=True)
class T:
    base: str
    form: str = ""
    maybe: bool = False

    def __str__(self) -> str:
        lead = {
            "set": "set of ",
            "each": "each ",
            "ask": "a ",
            "asks": "some ",
            "some": "any ",
            "desc": "kind of ",
        }
        return lead.get(self.form, "") + self.base + ("?" if self.maybe else "")

    def one(self) -> T:
        return T(self.base)

    def set_of(self) -> T:
        return T(self.base, "set")

    def sure(self) -> T:
        return replace(self, maybe=False)


NUMBER, TRUTH, TEXT, ANY, DONE, NOTHING = (
    T(b) for b in ("number", "truth", "text", "any", "done", "nothing")
)


def article(text: str) -> str:
    """`a figure`, `an owl`."""
    return ("an " if text[:1].lower() in "aeiou" else "a ") + text


def plural_of(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    if word.endswith(("s", "x", "ch", "sh")) or (word.endswith("o") and word[-2:-1] not in "aeiou"):
        return word + "es"
    return word + "s"
