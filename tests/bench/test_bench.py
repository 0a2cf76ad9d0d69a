"""The benchmark compares like with like, and runs with or without its peers. No test here looks at a time."""

import json
import os
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

import pytest

from longbox.kernel import Game, Question
from longbox.plugins.loader import load_game

from . import cli
from .baselines import leduc, tictactoe, uno
from .baselines.hand_written import finished_games, table_in_mid_play
from .baselines.uno import DRAW, TRAIT, WILD, Uno
from .longbox_contenders import (
    EXPANSIONS,
    LENGTHS,
    MOVES_BEFORE_FORK,
    all_packs,
    compile_cached,
    game_in_mid_play,
    random_policy,
)
from .registry import SECTIONS, Contender, Slice, timed
from .report import as_json, as_text
from .rounds import Measurement, run_rounds


def _state(game: Uno) -> tuple[object, ...]:
    return game.hands, game.deck, game.played, game.target, game.player, game.direction, game.winner


def _hand(cards: Iterable[int]) -> Counter[int]:
    """Cards as a multiset: RLCard keeps a stale colour on a wild in hand, which no rule reads."""
    return Counter(card if TRAIT[card] < WILD else TRAIT[card] for card in cards)


@pytest.mark.peers
def test_hand_written_uno_is_rlcards_move_for_move() -> None:
    peer_uno = pytest.importorskip("rlcard.games.uno")
    names = pytest.importorskip("rlcard.games.uno.utils")

    def theirs(cards: Iterable[Any]) -> Counter[int]:
        return _hand(names.ACTION_SPACE[card.get_str()] for card in cards)

    for seed in range(40):
        peer, mine, policy = peer_uno.Game(), Uno(Random(seed)), Random(-seed - 1)
        peer.np_random = Random(seed)
        peer.init_game()
        while not peer.is_over():
            legal = sorted({names.ACTION_SPACE[action] for action in peer.get_legal_actions()})
            assert legal == sorted(mine.legal_actions())
            action = policy.choice(legal)
            peer.step(names.ACTION_LIST[action])
            mine.apply(action)
            assert peer.round.current_player == mine.player
            assert [theirs(player.hand) for player in peer.players] == [_hand(hand) for hand in mine.hands]
            assert theirs(peer.dealer.deck) == _hand(mine.deck)
            assert names.ACTION_SPACE[peer.round.target.get_str()] == mine.target
        assert peer.round.winner == [mine.winner]


def test_uno_folds_to_the_table_that_was_played() -> None:
    for seed in range(100):
        rng, log = Random(seed), list[dict[str, Any]]()
        game = Uno(rng, log)
        while game.winner is None:
            assert _state(uno.fold(log, rng)) == _state(game)
            game.apply(rng.choice(game.legal_actions()), log)
        assert _state(uno.fold(log, rng)) == _state(game)


def test_uno_offers_each_action_once() -> None:
    rng = Random(3)
    for _ in range(50):
        game = Uno(rng)
        while game.winner is None:
            actions = game.legal_actions()
            assert len(set(actions)) == len(actions) > 0
            assert actions == [DRAW] or DRAW not in actions
            game.apply(rng.choice(actions))


def test_game_to_be_copied_is_not_over_and_copies_are_independent() -> None:
    game, _ = table_in_mid_play()
    assert game.winner is None
    twin, before, rng = game.copy(), _state(game.copy()), Random(1)
    while twin.winner is None:
        twin.apply(rng.choice(twin.legal_actions()))
    assert _state(game) == before


def test_hands_and_games_have_their_known_mean_length() -> None:
    plays = {"tic_tac_toe": tictactoe.play, "uno": uno.play, "leduc": leduc.play}
    for name, (expected, tolerance, games) in LENGTHS.items():
        rng = Random(1)
        lengths = [plays[name](rng) for _ in range(4 * games)]
        assert mean(lengths) == pytest.approx(expected, abs=tolerance / 2)


def test_keeping_events_changes_no_game() -> None:
    for play in (leduc.play, tictactoe.play, uno.play):
        log = list[dict[str, Any]]()
        assert play(Random(9), log) == play(Random(9))
        assert log[-1]["type"] == "game_ended"
    assert all(log[0]["type"] == "dealt" for log in finished_games())


@pytest.mark.parametrize("name", LENGTHS)
def test_longbox_offers_each_answer_once(name: str) -> None:
    program, choose = load_game(name), random_policy(Random(2))

    def policy(question: Question) -> str:
        assert len(set(question.keys)) == len(question.keys) > 0
        return choose(question)

    for seed in range(30):
        assert Game(program, seed=seed).play(policy).over


def test_longbox_game_to_be_copied_stands_at_a_question_and_copies_are_independent() -> None:
    game, rng = game_in_mid_play(), Random(1)
    assert game.decisions == MOVES_BEFORE_FORK and game.question is not None
    before, events = game.state.snapshot(), list(game.log)
    twin = game.fork()
    assert game.state.copy().snapshot() == twin.state.snapshot() == before
    assert twin.play(random_policy(rng)).over
    game.fork().answer(rng.choice(game.question.keys))
    assert (game.state.snapshot(), game.log) == (before, events)


def test_every_text_in_expansions_is_compiled() -> None:
    files = [file.read_text(encoding="utf-8") for file in EXPANSIONS.rglob("*.box")]
    assert {text for texts in all_packs() for text in texts.values()} == set(files)


def test_measuring_the_cache_leaves_the_users_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGBOX_CACHE", str(tmp_path))
    compile_cached()(0.001)
    assert os.environ["LONGBOX_CACHE"] == str(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore")  # the peers' own
def test_every_longbox_contender_can_be_measured(tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    assert cli.main([*"--rounds 1 --seconds 0.001 --only longbox --format json --out".split(), str(out)]) == 0
    results = json.loads(out.read_text(encoding="utf-8"))["results"]
    longbox = {one["section"]: one["status"] for one in results if one["contender"].startswith("Longbox")}
    assert set(longbox.values()) == {"measured"}
    assert set(longbox) == {section.name for section in SECTIONS}


def test_every_contender_has_a_section_and_a_name_of_its_own() -> None:
    names = [(one.section, one.name) for one in cli.EVERYONE]
    assert len(set(names)) == len(names)
    assert {section for section, _ in names} == {section.name for section in SECTIONS}
    assert {(section.name, name) for section in SECTIONS for name in section.references} <= set(names)


def test_only_brings_the_references_along() -> None:
    chosen = {(one.section, one.name) for one in cli.select(["games/uno"])}
    assert ("games/uno", "RLCard env.step") in chosen
    assert {section for section, _ in chosen} == {"games/uno"}
    chosen = {(one.section, one.name) for one in cli.select(["pettingzoo"])}
    assert chosen == {("games/tic_tac_toe", name) for name in ("PettingZoo raw", "hand-written with events")}


def test_rounds_alternate_their_order() -> None:
    order: list[str] = []

    def noting(name: str) -> Slice:
        def spend(seconds: float) -> tuple[int, float]:
            order.append(name)
            return 1, 1.0

        return spend

    contenders = [Contender("fork", name, partial(noting, name)) for name in "ab"]
    run_rounds(contenders, rounds=3, seconds=0.01, tell=lambda _: None)
    assert "".join(order) == "ab" + "ab" + "ba" + "ab"


def test_missing_and_broken_contenders_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    def missing() -> Slice:
        raise ModuleNotFoundError("No module named 'nobody'", name="nobody")

    def broken() -> Slice:
        raise ValueError("oh")

    def fine() -> Slice:
        return timed(lambda: 10)

    setups = {"missing": missing, "broken": broken, "hand-written copy": fine}
    contenders = [Contender("fork", name, setup) for name, setup in setups.items()]
    results = run_rounds(contenders, rounds=2, seconds=0.001, tell=lambda _: None)
    problems = [result.problem for result in results]
    assert problems == ["not installed (nobody)", "failed: ValueError: oh", None]
    assert [result.failed for result in results] == [False, True, False]
    assert "not installed (nobody)" in as_text(results, 2, 0.001)
    assert "ValueError: oh" in capsys.readouterr().err


def test_ratio_is_taken_inside_each_round() -> None:
    slow = Measurement(Contender("fork", "RLCard deepcopy", lambda: timed(lambda: 1)), [100.0, 50.0, 100.0])
    fast = Measurement(Contender("fork", "Longbox", lambda: timed(lambda: 1)), [300.0, 150.0, 200.0])
    assert fast.ratio_to(slow) == 3.0
    record = json.loads(as_json([fast, slow], 3, 1.0))["results"][0]
    assert record["ratios"] == {"RLCard deepcopy": 3.0}
    assert record["by_round"] == [300.0, 150.0, 200.0]


@pytest.mark.filterwarnings("ignore")  # the peers' own
def test_command_writes_its_report(tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    options = "--rounds 1 --seconds 0.01 --only hand-written --format json --out".split()
    assert cli.main([*options, str(out)]) == 0
    results = json.loads(out.read_text(encoding="utf-8"))["results"]
    measured = [one for one in results if one["contender"].startswith("hand-written")]
    assert measured and all(one["status"] == "measured" and one["per_second"] > 0 for one in measured)


def test_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--only", "nobody"])
    assert "names nobody" in capsys.readouterr().err
