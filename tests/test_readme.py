"""The README is true: the game it shows is the game, and what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_readme_shows_tic_tac_toe_whole() -> None:
    shown = re.search(r"```box\n(.*?)```", README, re.S)
    assert shown is not None
    game = (ROOT / "expansions" / "tic_tac_toe" / "tic_tac_toe.box").read_text("utf-8")
    assert shown[1] == game
    assert game.count("\n") < 45


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        if "rules" in page.parts:
            continue
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_cards_it_shows_are_the_cards() -> None:
    shown = re.search(r"as their authors wrote them:\n\n```\n(.*?)```", README, re.S)
    assert shown is not None
    texts = [path.read_text("utf-8") for path in (ROOT / "expansions").rglob("*.box")]
    for card in shown[1].strip().split("\n\n"):
        assert any(card in text for text in texts), card
