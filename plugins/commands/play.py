"""longbox play: start a game or go on with one, at the keyboard or with bots only."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress

from longbox.kernel.views import outcome_view

from ..bots import Table, derive, make_table, read_bots
from ..cli import FINE, STOPPED, WrongUse
from ..histories import ChangedRules, Histories, Session, UnknownGame
from ..histories.beginnings import checked_name
from ..packs import find_packs, near
from ..simulate import bot_factories
from .common import (
    add_db,
    add_format,
    add_packs,
    add_seats,
    add_with,
    as_wrong_use,
    db_file,
    example,
    folders_of,
    is_json,
    load_program,
    open_games,
    print_json,
    read_seats,
    read_settings,
    rules_for,
)
from .lines import HELP, Keyboard, Quit, Sitting
from .phases import Phases
from .story import Reading, Story, ending
from .telling import Teller

help = "play a game, or go on with a stored one"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "game", metavar="GAME|GAME_ID", help="a game (longbox games), or a stored one (longbox list)"
    )
    parser.add_argument(
        "--bots",
        metavar="BOTS",
        help="a bot for every seat but the first (greedy), or seat by seat (X=greedy,2=random)",
    )
    parser.add_argument("--seed", metavar="N", type=int, help="the same seed and answers give the same game")
    parser.add_argument("--auto", action="store_true", help="bots play all seats to the end")
    parser.add_argument(
        "--stdin", action="store_true", help="read answers from standard input even if it is no terminal"
    )
    parser.add_argument("--name", metavar="ID", help="what to call the new game")
    parser.add_argument("--embed", action="store_true", help="store the text of the rules with the game")
    parser.add_argument(
        "--allow-changed",
        action="store_true",
        help="go on with a stored game although its rules have changed",
    )
    add_seats(parser)
    add_with(parser)
    add_packs(parser)
    add_db(parser)
    add_format(parser)
    example(
        parser,
        "longbox play tic_tac_toe",
        "longbox play uno --seats Ann,Bob --bots Bob=greedy --name evening",
        "longbox play evening",
        "longbox play tic_tac_toe --auto --seed 1",
    )
    parser.epilog = f"{parser.epilog}\n\nWhile you play:\n{HELP}"


def run(args: Namespace) -> int:
    auto = args.auto or not (args.stdin or sys.stdin.isatty())
    with open_games(args, new=True) as histories:
        is_new = args.game in game_ids(args)
        session = started(histories, args, auto) if is_new else resumed(histories, args)
        names = who_plays(args, session.game.seat_names, session.bots, auto)
        table = make_table(session.game.seats, names, bot_factories(), derive("play", session.game.seed))
        try:
            if all(names):
                play_alone(session, table, quiet=is_json(args))
            else:
                play_lines(session, table, names)
        except KeyboardInterrupt:
            print()
            say_goodbye(session, args)
            return STOPPED
    say_goodbye(session, args)
    return FINE


# ---------------------------------------------------------------- which game
def game_ids(args: Namespace) -> list[str]:
    return [pack.id for pack in find_packs(folders_of(args))[0].values() if pack.is_game]


def started(histories: Histories, args: Namespace, auto: bool) -> Session:
    program = load_program(args, args.game)
    settings = read_settings(args.settings)
    with as_wrong_use():
        seats = program.seat_names(read_seats(args.seats))
        program.new_state(seats, 0, settings)
        check_free(histories, args)
    names = who_plays(args, seats, {}, auto)
    return histories.start(
        program,
        seed=args.seed,
        seats=seats,
        settings=settings,
        game_id=args.name,
        embed_text=args.embed,
        bots={seat: bot for seat, bot in zip(seats, names) if bot},
    )


def check_free(histories: Histories, args: Namespace) -> None:
    if args.name is None:
        return
    if args.name in game_ids(args):
        raise WrongUse(f"--name {args.name}: a game is called so; choose another")
    with suppress(UnknownGame):
        histories.started(checked_name(args.name))
        raise WrongUse(f"there is a stored game {args.name!r} already; play it, or choose another --name")


def resumed(histories: Histories, args: Namespace) -> Session:
    for option, given in (
        ("--seats", args.seats),
        ("--seed", args.seed),
        ("--set", args.settings),
        ("--name", args.name),
        ("--with", args.extra),
    ):
        if given not in (None, []):
            check_stored(histories, args)
            raise WrongUse(f"{args.game} is a stored game: {option} is for new ones")
    check_stored(histories, args)
    try:
        return histories.load(
            args.game, rules_for(histories, args.game, args), allow_changed=args.allow_changed
        )
    except ChangedRules as error:
        raise ChangedRules(
            str(error).replace("load it with allow_changed=True", "say --allow-changed")
        ) from None


def check_stored(histories: Histories, args: Namespace) -> None:
    """Neither a game nor a stored one: say so, with both in mind."""
    try:
        histories.started(args.game)
    except UnknownGame:
        games = game_ids(args)
        hint = (
            near(args.game, [*games, *(game.id for game in histories.list())])
            or f"the games are: {', '.join(games) or 'none'}"
        )
        what = f"there is no game and no stored game {args.game!r}"
        raise WrongUse(f"{what}; {hint} (longbox games and longbox list show all)") from None


def who_plays(
    args: Namespace, seats: Sequence[str], before: Mapping[str, str], auto: bool
) -> list[str | None]:
    """A bot or nobody (a person) for each seat: as said now, or as before. In `auto` no person is there."""
    known = list(bot_factories())
    with as_wrong_use():
        names = read_bots(args.bots, seats, known, None, spare_first=not auto)
    if not args.bots:
        names = [name if (name := before.get(seat)) in known else None for seat in seats]
    return [name or "random" for name in names] if auto else names


# ---------------------------------------------------------------- playing
def play_alone(session: Session, table: Table, quiet: bool) -> None:
    """Bots on every seat; the story is told as it is stored."""
    story = Story(Reading.of(session.program), None)
    phases = Phases(session.program)
    while True:
        new = story.follow(session.game.log)
        phases.follow(session.game.log, session.game.state)
        for line in Teller(story, phases.at).tell(new) if not quiet else ():
            print(line, flush=True)
        question = session.question
        if question is None:
            return
        bot = table.bot_for(question)
        assert bot is not None, "every seat has a bot"
        session.answer(bot(session.game, question), question.seats[0])


def play_lines(session: Session, table: Table, names: Sequence[str | None]) -> None:
    keyboard = Keyboard()
    keyboard.say(f"{session.program.title}, stored as {session.id}. Type 'help' for help.")
    with suppress(Quit):
        Sitting(session, table, keyboard, names).play()


def say_goodbye(session: Session, args: Namespace) -> None:
    where = f" --db {db_file(args)}" if args.db else ""
    if is_json(args):
        print_json(
            {
                "id": session.id,
                "game": session.program.game,
                "over": session.over,
                "decisions": session.decisions,
                "events": len(session.game.log),
                "outcome": outcome_view(session.game.state),
            }
        )
    elif session.over:
        print(f"The game is over: {ending(session.game)}. Look back with: longbox log {session.id}{where}")
    else:
        print(f"Stored as {session.id}. Go on with: longbox play {session.id}{where}")
