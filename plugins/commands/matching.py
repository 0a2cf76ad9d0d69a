"""Names as people type them: in full, by their beginning, or nearly right."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from longbox.kernel.text import MANY

from ..cli import WrongUse
from ..packs import near


def meant(typed: str, names: Iterable[str], what: str, guess: bool = False) -> str:
    """The one name that was typed, or whose beginning was; else the beginning of one of its words.

    With `guess`, a name that is nearly that, if no other is.
    """
    known, low = list(dict.fromkeys(names)), typed.strip().lower()
    ways = (
        lambda name: name == low,
        lambda name: name.startswith(low),
        lambda name: f" {low}" in name,
    )
    for fits in ways:
        close = [name for name in known if low and fits(name.lower())]
        if len(close) == 1:
            return close[0]
        if close:
            more = f" and {len(close) - MANY} more" if len(close) > MANY else ""
            raise WrongUse(f"{typed!r} may mean: {', '.join(close[:MANY])}{more}")
    lower = {name.lower(): name for name in known}
    if guess and len(close := get_close_matches(low, lower, 2, 0.8)) == 1:
        return lower[close[0]]
    hint = near(low, lower)
    for name in lower:
        hint = hint.replace(f"'{name}'", f"'{lower[name]}'")
    raise WrongUse(f"there is no {what} {typed!r}{'; ' + hint if hint else ''}")
