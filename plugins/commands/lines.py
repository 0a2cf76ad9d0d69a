"""People at the keyboard, line by line: no colours, no boxes, nothing that moves. For screen readers too.

A `Sitting` asks whoever is to answer, takes what is typed for an answer or for a word to the program, and
lets bots answer for themselves. An answer is stored before anything is said about it; what is not understood
changes nothing.

Where hands are hidden and several people share the keyboard, it is passed on before anything is told, and
each person hears only what their seat may see.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from longbox.kernel import AnswerError, Game, LongboxError, Question, Thing, UnclearAnswer
from longbox.kernel.text import map_lines, table_lines, wrapped, zone_lines
from longbox.kernel.views import can_see, may_look, view

from ..bots import Table
from ..cli import WrongUse
from ..histories import Session
from .common import event_number
from .story import Looking, Reading, Story, as_printed, meant, merged, told, why

LOG_LINES = 20
TOLD_MAX = 40  # lines that are told at once
LISTED_MAX = 15  # more answers than these are listed in rows
HELP = """\
Type the number or the name of an answer; the beginning of a name is enough.
  answers       say the question and its answers again
  table         what lies on the table, as you may see it ('show' is the same)
  map           only the boards
  zone NAME     one place, with all that you may see in it
  card NAME     a card or another thing: its printed text, and how it is now if you may see it
  show NAME     a zone, card or thing
  seats         who sits where, and whose turn it is
  log [N]       the last N lines of the story, with the numbers of their events
  why [EVENT]   what led to an event (without a number: to the last line of the story)
  undo          take back your last answer, where nobody has learned anything from it
  help          this
  quit          stop; the game is stored, and longbox play goes on with it ('save and quit' is the same)
Where an answer has the name of such a word, put a / before the word: /log."""


class Quit(Exception):
    """The person at the keyboard has had enough for now."""


class Keyboard:
    """Where lines come from and go to."""

    def read(self, prompt: str) -> str:
        """The next line; the end of the input is the same as quitting."""
        try:
            typed = input(prompt)
        except EOFError:
            self.say("")
            raise Quit from None
        if not sys.stdin.isatty():
            self.say(typed)  # as a terminal would show it
        return typed.strip()

    def say(self, *lines: str) -> None:
        for line in lines:
            print(line, flush=True)

    def turn_page(self) -> None:
        """Move what was said out of sight, by plain empty lines."""
        if sys.stdout.isatty():
            self.say(*[""] * shutil.get_terminal_size().lines)


class Sitting:
    """One stored game, with people on some of its seats."""

    def __init__(
        self, session: Session, table: Table, keyboard: Keyboard, bots: Sequence[str | None] = ()
    ) -> None:
        self.session, self.table, self.keyboard = session, table, keyboard
        self.bots = dict(zip(self.game.seats, bots))  # what they are called
        self.people = [seat for seat in self.game.seats if table.bots[seat] is None]
        self.secret = len(self.people) > 1 and has_secrets(self.game)
        self.viewer: Thing | None = None  # who has the keyboard
        self._stories = {seat: Story(Reading.of(session.program), seat) for seat in self.people}
        self._heard = dict.fromkeys(self.people, 0)  # up to which event each of them has heard the story
        self._words: dict[str, Callable[[str], None]] = {
            "answers": self._answers,
            "table": self._table,
            "map": self._map,
            "zone": self._zone,
            "card": self._card,
            "show": self._show,
            "seats": self._seats,
            "log": self._log,
            "why": self._why,
            "undo": self._undo,
            "help": self._help,
            "quit": self._quit,
            "save": self._quit,
            "exit": self._quit,
            "?": self._help,
        }

    @property
    def game(self) -> Game:
        return self.session.game

    @property
    def story(self) -> Story:
        """The story as the one at the keyboard may hear it."""
        return self._stories[self.viewer if self.viewer is not None else self.people[0]]

    def name(self, seat: Thing) -> str:
        return self.game.state.key[seat]

    # ------------------------------------------------------------ the sitting
    def play(self) -> None:
        """Until the game is over, or somebody quits."""
        while (question := self._bots_answer()) is not None:
            self._turn(question)
        self._tell()

    def _bots_answer(self) -> Question | None:
        """Let bots answer as long as one is asked; then the question that is for a person."""
        while not self.game.over:
            asked = next(
                ((q, bot) for q in self.game.questions if (bot := self.table.bot_for(q)) is not None), None
            )
            if asked is None:
                return self.game.question
            question, bot = asked
            self.session.answer(bot(self.game, question), question.seats[0])
        return None

    def _turn(self, question: Question) -> None:
        """Ask one person, until the question is answered or has changed."""
        self._hand_over([seat for seat in question.seats if seat in self.people])
        self._tell()
        self._show_question(question)
        while self.game.question is question:
            typed = self.keyboard.read("> ")
            if typed:
                self._take(typed, question)

    def _hand_over(self, asked: Sequence[Thing]) -> None:
        """Give the keyboard to who is asked. A question to several people may be read by any of them."""
        if self.viewer in asked:
            return
        if self.secret:
            self.keyboard.turn_page()
            self.keyboard.read(f"Pass the keyboard to {self.name(asked[0])}, press Enter. ")
        self.viewer = asked[0]

    def _tell(self) -> None:
        """Say what is new to the one at the keyboard; without secrets, all the others hear it as well."""
        self.story.follow(self.game.log)
        reader = self.viewer if self.viewer is not None else self.people[0]
        heard = self._heard[reader]
        new = merged([line for line in told(self.story.lines) if line.number >= heard])
        if len(new) > TOLD_MAX:
            self.keyboard.say(f"({len(new) - TOLD_MAX} lines before this; 'log {len(new)}' says them all)")
        self.keyboard.say(*(part for line in new[-TOLD_MAX:] for part in wrapped(line.show())))
        for seat in [reader] if self.secret else self.people:
            self._heard[seat] = len(self.game.log)

    # ------------------------------------------------------------ the question
    def _show_question(self, question: Question) -> None:
        self.keyboard.say(
            "",
            *self._own_cards(),
            f"{self._asked(question)}: {question.prompt}",
            *listed_answers(question.keys),
        )

    def _asked(self, question: Question) -> str:
        return " and ".join(self.name(seat) for seat in question.seats)

    def _own_cards(self) -> Iterator[str]:
        """What only the viewer sees of the places that belong to them."""
        state = self.game.state
        for zone, sight in state.sight.items():
            if sight == "owner" and may_look(state, self.viewer, zone) and state.items[zone]:
                yield from wrapped(
                    f"{state.key[zone]}: {', '.join(state.key[thing] for thing in state.items[zone])}"
                )

    def _take(self, typed: str, question: Question) -> None:
        """An answer, or a word to the program."""
        word, _, rest = typed.removeprefix("/").partition(" ")
        try:
            key = None if typed.startswith("/") else exact_answer(question, typed, bool(rest))
            if key is None and word.lower() in self._words:
                self._words[word.lower()](rest.strip())
            else:
                self._answer(key or Game.clear_key(question, typed), question)
        except UnclearAnswer as error:
            self.keyboard.say(f"{error}. Say more of it.")
        except AnswerError as error:
            self.keyboard.say(f"{error}. Nothing has changed; 'help' says what can be typed.")
        except WrongUse as error:
            self.keyboard.say(*wrapped(f"{error}" if str(error).endswith("?") else f"{error}."))

    def _answer(self, key: str, question: Question) -> None:
        seat = self.viewer if self.viewer in question.seats else question.seats[0]
        try:
            self.session.answer(key, seat)
        except AnswerError:
            self._forget()  # somebody else answered: the game in memory is now the stored one
            raise
        self._tell()

    def _forget(self) -> None:
        """What was heard of is gone: the game is shorter now, or went another way."""
        for seat, story in self._stories.items():
            story.take_back(self.game.log)
            self._heard[seat] = min(self._heard[seat], len(self.game.log))

    # ------------------------------------------------------------ words
    def _answers(self, rest: str) -> None:
        assert self.game.question is not None, "asked while a question is open"
        self._show_question(self.game.question)

    def _table(self, rest: str) -> None:
        self.keyboard.say(*(table_lines(self._view(), self._printed()) or ["The table is empty."]))

    def _view(self) -> dict[str, Any]:
        return view(self.game.state, self.viewer, self.game.questions)

    def _printed(self) -> frozenset[tuple[str, str, str]]:
        return as_printed(self.game.log, self.story.reading)

    def _map(self, rest: str) -> None:
        self.keyboard.say(*(map_lines(self._view()) or ["This game has no map."]))

    def _zone(self, rest: str) -> None:
        """One zone; by its bare name (`hand`) every one of that name."""
        names = self._zones()
        if not names:
            raise WrongUse("this game has no zones")
        if not rest:
            raise WrongUse(f"zone NAME: the zones are {', '.join(dict.fromkeys(names.values()))}")
        alike = [key for key, name in names.items() if name.lower() == rest.lower()]
        for key in alike or [meant(rest, names, "zone")]:
            self.keyboard.say(*zone_lines(self._view(), key, self._printed()))

    def _zones(self) -> dict[str, str]:
        """The zones of the table by their full names, with their bare ones."""
        state = self.game.state
        return {state.key[zone]: state.name[zone] for zone in state.sight if zone > 1}

    def _card(self, rest: str) -> None:
        if not rest:
            raise WrongUse("card NAME: which one? Say its name, or the beginning of it")
        looking = self._looking()
        self.keyboard.say(*looking.lines(looking.find(rest)))

    def _looking(self) -> Looking:
        return Looking(self.game.state, self.viewer, self.session.program)

    def _show(self, rest: str) -> None:
        """`show map`, `show card NAME`, or the name of a zone, card or thing; alone, the table."""
        word, _, name = rest.partition(" ")
        more = {"table": self._table, "map": self._map, "seats": self._seats}
        if not rest:
            self._table("")
        elif word.lower() in ("card", "zone") and name:
            self._words[word.lower()](name.strip())
        elif rest.lower() in more:
            more[rest.lower()]("")
        else:
            self._show_named(rest)

    def _show_named(self, typed: str) -> None:
        looking, zones = self._looking(), self._zones()
        if typed.lower() in map(str.lower, zones.values()):
            self._zone(typed)
            return
        name = looking.find(typed, zones, "zone, card or thing")
        if name in zones:
            self._zone(name)
        else:
            self.keyboard.say(*looking.lines(name))

    def _seats(self, rest: str) -> None:
        asked = {seat for question in self.game.questions for seat in question.seats}
        for seat in self.game.seats:
            bot = self.table.bots[seat] is not None
            who = (
                f"a bot ({self.bots.get(seat) or 'unnamed'})"
                if bot
                else "you"
                if seat == self.viewer
                else "a person"
            )
            self.keyboard.say(f"{self.name(seat)}: {who}{', is asked now' if seat in asked else ''}")
        if running := list(self._running()):
            self.keyboard.say(f"Now: {', '.join(running)}")

    def _running(self) -> Iterator[str]:
        """The rounds, turns and phases that have begun and not ended, as the viewer may know them."""
        state, log = self.game.state, self.game.log
        step = next((at for at in range(len(log) - 1, 0, -1) if log[at][0] == "stepped"), None)
        begun = {state.began[scope] for scope, count in state.open.items() if count and scope in state.began}
        events = sorted(begun | ({step} if step is not None else set()))
        for at in sorted(
            {log[at][2]: at for at in reversed(events)}.values()
        ):  # not `phase` besides its name
            scope, subject = log[at][5:7] if log[at][0] == "stepped" else log[at][3:5]
            if isinstance(subject, int) and can_see(state, self.viewer, subject):
                yield f"{scope or 'step'} of {state.key[subject]}"
            elif scope:
                yield str(scope)

    def _log(self, rest: str) -> None:
        count = int(rest) if rest.isdecimal() else LOG_LINES
        lines = merged(told(self.story.lines))
        self.keyboard.say(*(line.show(numbered=True) for line in lines[max(0, len(lines) - count) :]))
        if not lines:
            self.keyboard.say("Nothing has happened yet.")

    def _why(self, rest: str) -> None:
        lines = told(self.story.lines)
        if not rest and not lines:
            self.keyboard.say("Nothing has happened yet.")
            return
        number = event_number(rest, len(self.game.log)) if rest else lines[-1].number
        for cause in why(self.game.log, number, self._open_story()):
            self.keyboard.say(*cause.lines())

    def _open_story(self) -> Story:
        """The whole story where nothing is hidden from anybody, else the viewer's."""
        if hides(self.game):
            return self.story
        story = Story(self.story.reading, None)
        story.follow(self.game.log)
        return story

    def _undo(self, rest: str) -> None:
        """Back to the last question that a person answered. Where there are secrets, only to one's own."""
        try:
            self.session.undo(self.viewer if self.secret and not self._bot_was_last() else None)
            while not self._people_asked():
                self.session.undo()
        except LongboxError as error:
            self.keyboard.say(undo_refused(error))
            return
        finally:
            self._forget()
        self.keyboard.say("Taken back.")

    def _bot_was_last(self) -> bool:
        last = next((event for event in reversed(self.game.log) if event[0] == "answered"), None)
        return last is not None and not self.game.pending and self.table.bots[last[3][0]] is not None

    def _people_asked(self) -> bool:
        return any(self.table.bot_for(question) is None for question in self.game.questions)

    def _help(self, rest: str) -> None:
        self.keyboard.say(HELP)

    def _quit(self, rest: str) -> None:
        raise Quit


# ---------------------------------------------------------------- answers
def has_secrets(game: Game) -> bool:
    """Is there anything that one seat may see and another may not?"""
    hands = any(sight == "owner" for sight in game.state.sight.values())
    return hands or any(spec["seen"] == "owner" for spec in game.program.fields.values())


def hides(game: Game) -> bool:
    """Is there anything on the table that some seat may not see?"""
    state = game.state
    closed = any(sight != "all" for sight in state.sight.values()) or any(state.facedown)
    return closed or any(spec["seen"] != "all" for spec in game.program.fields.values())


def undo_refused(error: LongboxError) -> str:
    """Why an answer stays. What another seat has seen is not for the one at the keyboard."""
    if "has seen" in str(error):
        return "This cannot be undone: somebody has seen something new."
    return f"{error}."


def is_numbers(keys: Sequence[str]) -> bool:
    return all(key.lstrip("-").isdecimal() for key in keys)


def listed_answers(keys: Sequence[str]) -> list[str]:
    """Answers by number and name; answers that are numbers themselves only by name."""
    if is_numbers(keys):
        return [f"  {', '.join(keys)}"]
    numbered = [f"{number} {key}" for number, key in enumerate(keys, 1)]
    if len(keys) > LISTED_MAX:
        whole = (line.replace(" ", "\0") for line in numbered)  # no line ends within an answer
        return [line.replace("\0", " ") for line in wrapped(f"  {'; '.join(whole)}")]
    return [f"  {line}" for line in numbered]


def exact_answer(question: Question, typed: str, several: bool = False) -> str | None:
    """The answer of that name, or of that number in the list; of `several` words the beginning is enough."""
    keys = question.keys
    named = [key for key in keys if key == typed] or [key for key in keys if key.lower() == typed.lower()]
    if named:
        return named[0]
    if typed.isdecimal() and 1 <= int(typed) <= len(keys) and not is_numbers(keys):
        return keys[int(typed) - 1]
    close = [key for key in keys if several and key.lower().startswith(typed.lower())]
    return close[0] if len(close) == 1 else None
