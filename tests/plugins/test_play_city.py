"""Heroes Incorporated at one keyboard: the city as a grid, hands that stay hidden, reactions that can be waved off."""

from __future__ import annotations

from pathlib import Path

from running import Longbox

from longbox.plugins.histories import Histories

DRAFT = ["", "1", "1", "", "1", "1", "", "1", "", "1"]  # Enter: the keyboard was passed on
PLACED = ["", "1", "a1", "", "1", "b2", "", "c4", "", "d5"]


def sitting(longbox: Longbox, *typed: str) -> list[str]:
    lines = "".join(f"{line}\n" for line in (*DRAFT, *PLACED, *typed))
    words = ("--stdin", "--seed", "6", "--seats", "Ann,Bob", "--set", "first seat=1", "--name", "city")
    ran = longbox("play", "heroes_incorporated", *words, stdin=lines)
    assert ran.code == 0, ran.err
    return ran.lines


def screens(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Who had the keyboard, and what was said to them."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("Pass the keyboard to "):
            found.append((line.split()[4].rstrip(","), []))
        elif found:
            found[-1][1].append(line)
    return found


def test_the_city_is_a_grid_with_numbers_crimes_and_heroes(longbox: Longbox) -> None:
    lines = sitting(longbox, "", "map")
    grid = lines[lines.index("> map") + 1 :]
    grid = grid[: next(at for at, line in enumerate(grid) if line.startswith("  '--")) + 1]
    assert sum(line.startswith("  |a") for line in grid) == 5
    drawn = "\n".join(grid)
    for sign in ("Titan/1", "Silver King/2", "!A", "!E", "3 Heart of Crime", "4 First Federal", "2 Pet Shop"):
        assert sign in drawn, sign
    assert any(
        line.startswith("  Ann: 0 of 36 points; markers: 4 coloured, 1 white; cards: 3;") for line in lines
    )


def test_nobody_reads_the_hand_of_another(longbox: Longbox, db: Path) -> None:
    shown = screens(sitting(longbox, "", "table", "zone hand"))
    with Histories(db) as histories:
        state = histories.load("city").game.state
    hands = {
        state.key[seat]: [state.name[card] for card in state.items[state.z_hand[seat]]]  # type: ignore[attr-defined]
        for seat in state.of["seat"]
    }
    assert all(len(cards) == 3 for cards in hands.values()) and len(shown) > 6
    for who, lines in shown:
        text = "\n".join(lines)
        own, other = hands[who], hands["Bob" if who == "Ann" else "Ann"]
        assert not any(card in text for card in other if card not in own), who
    assert all(card in "\n".join(line for _, lines in shown for line in lines) for card in hands["Ann"])
