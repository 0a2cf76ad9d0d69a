"""People at the keyboard, line by line: no colours, no boxes, nothing that moves. For screen readers too.

A `Sitting` asks whoever is to answer, takes what is typed for an answer or for a word to the program, and
lets bots answer for themselves. An answer is stored before anything is said about it; what is not understood
changes nothing.

Where hands are hidden and several people share the keyboard, it is passed on before anything is told, and
each person hears only what their seat may see.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from longbox.kernel import AnswerError, Game, LongboxError, Question, Thing, UnclearAnswer
from longbox.kernel.questions import PASS
from longbox.kernel.text import MANY, listed, table_lines, wrapped, zone_lines
from longbox.kernel.views import can_see, may_look, view

from ..bots import Table
from ..cli import WrongUse
from ..histories import Session
from .asking import About, Answers, asked_text, chosen, inner_match, offered_spaces, prompt_text, refusal
from .common import event_number
from .looking import Looking
from .maps import Marks, map_lines, place_lines
from .matching import meant
from .passing import Passing, may_pass_round
from .phases import Phases
from .previews import Previews
from .reasons import number_line, reasons
from .sharing import bot_answer, bot_answers, only_bots_can_act
from .sights import Seer
from .story import Reading, Story, as_printed, merged, pointers, told, why
from .telling import Teller
from .values import Values

LOG_LINES = 20
PREVIEWED_MAX = 12  # answers that are looked at when none is named
TOLD_MAX = 40  # lines that are told at once
HELP = """\
Type the number or the name of an answer; the beginning of a name or of a word in it is enough.
  answers       say the question and its answers again ('answers all': also those in which bots act)
  bots          let a bot act, where people and bots are asked together
  ?             what the question is about: what led to it, and the line of text that asks ('why?' is the same)
  table         what lies on the table, as you may see it ('show' is the same)
  map           the boards ('map list': only who is where; 'map off', 'map on': with questions or not)
  zone NAME     one place, with all that you may see in it
  card NAME     a card or another thing: what is printed on it, and how it is now if you may see it
  show NAME     a zone, card or thing, or what else the game lets everybody look at (listed below)
  pass round    pass, and go on passing out of your turn until the round is over
  seats         who sits where, and whose turn it is
  log [N]       the last N lines of all that happened, with the numbers of their events
  why [EVENT]   what led to an event (without a number: to the last line of the log)
  why 3?        of the last 3 in the story: all that made it more or less, with the card and the line
  preview [ANSWER]  what an answer would lead to, as far as that can be known; alone: of each answer in short
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
        self.viewer: Thing | None = None  # who has the keyboard
        reading, open_answers = Reading.of(session.program), not has_secrets(self.game)
        self._stories = {seat: Story(reading, seat, open_answers) for seat in self.people}
        self._heard = dict.fromkeys(self.people, 0)  # up to which event each of them has heard the story
        seer = Seer(self.game, None)
        self._phases = Phases(session.program, turns=seer.has_headline)
        self._headed = ""  # the part of the game whose head was last shown
        self._plurals = {name: kind["plural"] for name, kind in session.program.kinds.items()}
        self._marks, self._maps = Marks(), True
        self._about = About(session.program)
        self._passing = Passing()
        self._words: dict[str, Callable[[str], None]] = {
            "answers": self._answers,
            "bots": self._bots,
            "table": self._table,
            "map": self._map,
            "zone": self._zone,
            "card": self._card,
            "show": self._show,
            "pass": self._pass,
            "seats": self._seats,
            "log": self._log,
            "preview": self._preview,
            "why": self._why,
            "undo": self._undo,
            "help": self._help,
            "quit": self._quit,
            "save": self._quit,
            "exit": self._quit,
            "?": self._explain,
            "why?": self._explain,
        }

    @property
    def game(self) -> Game:
        return self.session.game

    @property
    def story(self) -> Story:
        """The story as the one at the keyboard may hear it."""
        return self._stories[self.reader]

    @property
    def reader(self) -> Thing:
        """Who reads what is said."""
        return self.viewer if self.viewer is not None else self.people[0]

    @property
    def secret(self) -> bool:
        """Does somebody at the keyboard know now what another may not?"""
        return len(self.people) > 1 and keeps_secrets(self.game)

    def name(self, seat: Thing) -> str:
        return self.game.state.key[seat]

    # ------------------------------------------------------------ the sitting
    def play(self) -> None:
        """Until the game is over, or somebody quits."""
        while (question := self._bots_answer()) is not None:
            if not self._passes(question):
                self._turn(question)
        self._tell()

    def _passes(self, question: Question) -> bool:
        """Whoever passes for the round is not asked, and the keyboard stays where it is."""
        self._phases.follow(self.game.log, self.game.state)
        if not self._passing.covers(self.game, question, self._phases.round):
            return False
        self.session.answer(PASS, question.seats[0])
        return True

    def _bots_answer(self) -> Question | None:
        """Let bots answer as long as one is asked; then the question that is for a person."""
        while not self.game.over:
            asked = next(
                ((q, bot) for q in self.game.questions if (bot := self.table.bot_for(q)) is not None), None
            )
            if asked is None:
                question = self.game.question
                assert question is not None, "a game that is not over asks something"
                theirs = self._theirs(question)
                if not only_bots_can_act(question, theirs):
                    return question
                self._let_bots_act(question, theirs)
                continue
            question, bot = asked
            self.session.answer(bot(self.game, question), question.seats[0])
        return None

    def _theirs(self, question: Question) -> dict[str, Thing]:
        """The answers to a question of people and bots in which a bot acts."""
        return bot_answers(self.game, question, self.table) if len(self.game.questions) == 1 else {}

    def _let_bots_act(self, question: Question, theirs: dict[str, Thing]) -> str:
        key = bot_answer(self.game, question, self.table, theirs)
        self.session.answer(key, question.seats[0])
        return key

    def _turn(self, question: Question) -> None:
        """Ask one person, until the question is answered or has changed."""
        self._hand_over([seat for seat in question.seats if seat in self.people])
        self._tell()
        self._head()
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
        self._phases.follow(self.game.log, self.game.state)
        heard = self._heard[self.reader]
        new = Teller(self.story, self._phases.at).tell([x for x in self.story.lines if x.number >= heard])
        if len(new) > TOLD_MAX:
            self.keyboard.say(f"({len(new) - TOLD_MAX} lines before this; 'log {len(new)}' says more)")
        self.keyboard.say(*new[-TOLD_MAX:])
        for seat in [self.reader] if self.secret else self.people:
            self._heard[seat] = len(self.game.log)

    def _head(self) -> None:
        """At the first question of a new part of the game: how the table stands, as the text puts it."""
        last = max(self._phases.at, default=0)
        part = f"{last} {self._phases.at.get(last)}"
        if part != self._headed:
            self._headed = part
            seer = Seer(self.game, self.reader)
            self.keyboard.say(*(self._drawing() if self._maps and seer.signs() else ()), *seer.headline())

    # ------------------------------------------------------------ the question
    def _show_question(self, question: Question) -> None:
        spaces = offered_spaces(question, self._drawn()) if self._maps else []
        about = self._about.line(self.game, question, self.story)
        self.keyboard.say(
            "",
            *(self._drawing(spaces) if spaces else ()),
            *self._own_cards(),
            *(wrapped(f"({about})") if about else ()),
            *wrapped(f"{self._asked(question)}: {prompt_text(question, list(self._windows()))}"),
            *self._listed(question).lines(spaces),
            *(
                ["  ('pass round': also from now on, until the round is over)"]
                if self._is_reaction(question)
                else ()
            ),
        )

    def _is_reaction(self, question: Question) -> bool:
        return self._phases.round > 0 and may_pass_round(self.game, question)

    def _listed(self, question: Question, all_of_them: bool = False) -> Answers:
        return Answers(question, self._values(), () if all_of_them else self._theirs(question))

    def _values(self) -> Values:
        return Values(self.game.state, self.viewer, self.session.program)

    def _windows(self) -> Iterator[str]:
        yield from self.session.program.tables["windows"]

    def _drawn(self) -> list[str]:
        state = self.game.state
        return [state.key[space] for _, spaces in state.drawn for space, _, _ in spaces]

    def _asked(self, question: Question) -> str:
        asked = [self.name(seat) for seat in self.game.seats if seat in question.seats]
        return asked_text(asked, len(self.game.seats))

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
        keys = self._listed(question).keys
        try:
            key = None if typed.startswith("/") else chosen(keys, typed, bool(rest))
            if key is None and word.lower() in self._words:
                self._words[word.lower()](rest.strip())
            else:
                self._answer(key or self._meant(typed, question), question)
        except UnclearAnswer as error:
            self.keyboard.say(*wrapped(f"{error}. Say more of it."))
        except AnswerError as error:
            self.keyboard.say(*wrapped(f"{error}. Nothing has changed; 'help' says what can be typed."))
        except WrongUse as error:
            self.keyboard.say(*wrapped(f"{error}" if str(error).endswith(("?", ".")) else f"{error}."))

    def _meant(self, typed: str, question: Question) -> str:
        """An answer of which only a part was typed."""
        try:
            return Game.clear_key(question, typed)
        except UnclearAnswer:
            raise
        except AnswerError:
            if (key := inner_match(question.keys, typed)) is not None:
                return key
            raise WrongUse(refusal(question.keys, typed)) from None

    def _answer(self, key: str, question: Question) -> None:
        seat = self.viewer if self.viewer in question.seats else question.seats[0]
        theirs = self._theirs(question) if key == PASS else {}  # who passes, passes for the bots as well
        try:
            if theirs:
                self._let_bots_act(question, theirs)
            else:
                self.session.answer(key, seat)
        except AnswerError:
            self._forget()  # somebody else answered: the game in memory is now the stored one
            raise
        self._tell()

    def _forget(self) -> None:
        """What was heard of is gone: the game is shorter now, or went another way."""
        self._passing.forget()
        for seat, story in self._stories.items():
            story.take_back(self.game.log)
            self._heard[seat] = min(self._heard[seat], len(self.game.log))

    # ------------------------------------------------------------ words
    def _answers(self, rest: str) -> None:
        """The question again; `answers all`: with those in which bots act."""
        question = self.game.question
        assert question is not None, "asked while a question is open"
        if rest.lower() == "all":
            self.keyboard.say(*self._listed(question, all_of_them=True).lines())
        else:
            self._show_question(question)

    def _bots(self, rest: str) -> None:
        """Let a bot act, where people and bots are asked together."""
        question = self.game.question
        assert question is not None, "asked while a question is open"
        theirs = self._theirs(question)
        if not theirs:
            raise WrongUse("there is nothing here that a bot could do")
        if self._let_bots_act(question, theirs) == PASS:
            self.keyboard.say("They pass.")
        self._tell()

    def _pass(self, rest: str) -> None:
        """Pass now, and whenever asked out of turn, until the next round."""
        question = self.game.question
        assert question is not None, "asked while a question is open"
        if rest.lower() not in ("round", "the round", "rest"):
            raise WrongUse("'pass' is not offered here; 'pass round' passes for the rest of a round")
        if not self._is_reaction(question):
            raise WrongUse("'pass round' is for questions out of your turn that may be passed")
        self._passing.begin(question.seats[0], self._phases.round)
        self._answer(PASS, question)

    def _table(self, rest: str) -> None:
        shown = self._view()
        lines = self._drawing(legend=False)
        lines += table_lines(shown, self._printed(), self._aside())
        self.keyboard.say(*(lines or ["The table is empty."]))

    def _drawing(self, offered: Sequence[str] = (), legend: bool = True) -> list[str]:
        """The boards, with the signs that the text gives to things."""
        signs = Seer(self.game, self.viewer).signs()
        return map_lines(self._view(), self._marks, offered, self._plurals, legend, signs)

    def _view(self) -> dict[str, Any]:
        return view(self.game.state, self.viewer, self.game.questions)

    def _aside(self) -> list[str]:
        """Fields that only say where a thing goes later."""
        return pointers(self.session.program.fields)

    def _printed(self) -> frozenset[tuple[str, str, str]]:
        return as_printed(self.game.log, self.story.reading)

    def _map(self, rest: str) -> None:
        """The boards, with what a question offers; or whether they are drawn with questions."""
        if rest.lower() in ("on", "off"):
            self._maps = rest.lower() == "on"
            self.keyboard.say(f"Maps are {'' if self._maps else 'not '}drawn with questions.")
            return
        shown = self._view()
        lines = [] if rest.lower() == "list" else self._drawing()
        lines = lines or place_lines(shown, self._spaces(), self._plurals)
        none = "Nothing is on the map." if self._spaces() else "This game has no map."
        self.keyboard.say(*(lines or [none]))

    def _spaces(self) -> list[str]:
        state = self.game.state
        return [state.key[space] for space in state.of.get("space", ())]

    def _explain(self, rest: str) -> None:
        """What the question is about: what led to it, and the line of text that asks."""
        question = self.game.question
        assert question is not None, "asked while a question is open"
        clear = self._about.chain(self.game, question, self.story)
        self.keyboard.say(f"{self._asked(question)}: {prompt_text(question, list(self._windows()))}")
        if clear or not 0 < question.cause < len(self.game.log) or not hides(self.game):
            self.keyboard.say(*wrapped(f"  asked at {self._about.text(question)}"))
        for cause in why(self.game.log, question.cause, self._open_story()) if clear else ():
            if cause.name in ("did", "answered", "replaced"):
                self.keyboard.say(*cause.lines())

    def _zone(self, rest: str) -> None:
        """One zone; by its bare name (`hand`) every one of that name."""
        names = self._zones()
        if not names:
            raise WrongUse("this game has no zones")
        if not rest:
            raise WrongUse(f"zone NAME: the zones are {', '.join(dict.fromkeys(names.values()))}")
        alike = [key for key, name in names.items() if name.lower() == rest.lower()]
        held = [key for key in alike if any(z["zone"] == key and z["count"] for z in self._view()["zones"])]
        for key in held or self._likely(alike) or [meant(rest, names, "zone")]:
            lines = zone_lines(self._view(), key, self._printed(), self._aside())
            self.keyboard.say(*lines, *self._stats_in(key, lines[1:]))

    def _likely(self, zones: Sequence[str]) -> list[str]:
        """Of empty zones with the same name the one that is meant: one's own, else that of something in play."""
        state = self.game.state
        owners = {state.key[zone]: state.owner[zone] for zone in state.sight}
        own = [z for z in zones if (o := owners[z]) is not None and self.viewer in (o, state.owner[o])]
        here = [z for z in zones if (o := owners[z]) is not None and state.in_play[o]]
        return (own or here or list(zones))[:1]

    def _stats_in(self, zone: str, told: Sequence[str]) -> list[str]:
        """The values of what lies in a zone, if they are few, and unless a line tells of them or the name does."""
        state, values = self.game.state, self._values()
        place = next(z for z in state.sight if state.key[z] == zone)
        alike: dict[str, list[str]] = {}
        for thing in state.items[place]:
            short = values.short(thing) if can_see(state, self.viewer, thing) else ""
            new = not any(line.strip().startswith(state.key[thing]) for line in told)
            if new and not all(word in state.name[thing] for word in re.findall(r"\w+", short)[1::2]):
                alike.setdefault(short, []).append(state.name[thing])
        if len(alike) > MANY:
            return []
        return [line for short, names in alike.items() for line in wrapped(f"  {listed(names)}: {short}")]

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
        seer = Seer(self.game, self.viewer)
        if (lines := seer.lines(typed, self._values().told)) is not None:
            self.keyboard.say(*lines)
            return
        name = looking.find(typed, [*zones, *seer.names()], "zone, card or thing")
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
        if rest.endswith("?") and rest[:-1].strip().isdecimal():
            self._why_number(int(rest[:-1]))
            return
        lines = told(self.story.lines)
        if not rest and not lines:
            self.keyboard.say("Nothing has happened yet.")
            return
        number = event_number(rest, len(self.game.log)) if rest else lines[-1].number
        for cause in why(self.game.log, number, self._open_story()):
            self.keyboard.say(*cause.lines())

    def _why_number(self, number: int) -> None:
        """Each rule and modifier that had a part in a number of the story."""
        line = number_line(self.story, number)
        if line is None:
            raise WrongUse(f"nothing that happened has the number {number} in it")
        self.keyboard.say(*reasons(self.game, line, self.story.reading))

    def _preview(self, rest: str) -> None:
        """What an answer would lead to; alone, the same of every answer in short."""
        question = self.game.question
        assert question is not None, "asked while a question is open"
        keys = self._listed(question).keys
        previews = Previews(self.game, question, self.story)
        if rest:
            key = chosen(keys, rest, " " in rest) or self._meant(rest, question)
            self.keyboard.say(*(previews.lines(key) or ["Nothing would happen at once."]))
            return
        for key in keys[:PREVIEWED_MAX]:
            short = "; ".join(line.strip() for line in previews.lines(key)) or "nothing at once"
            self.keyboard.say(*wrapped(f"  {key}: {short}"))
        if len(keys) > PREVIEWED_MAX:
            self.keyboard.say(f"  and {len(keys) - PREVIEWED_MAX} more: preview ANSWER")

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
        if uses := Seer(self.game, self.viewer).uses():
            self.keyboard.say("In this game, besides:", *(f"  show {use}" for use in uses))

    def _quit(self, rest: str) -> None:
        raise Quit


# ---------------------------------------------------------------- answers
def has_secrets(game: Game) -> bool:
    """Can there be anything that one seat may see and another may not?"""
    hands = any(sight == "owner" for sight in game.state.sight.values())
    return hands or any(spec["seen"] == "owner" for spec in game.program.fields.values())


def keeps_secrets(game: Game) -> bool:
    """Is there anything now that one seat knows and another may not?"""
    state = game.state
    if len(game.questions) > 1 or game.pending:  # all choose at once, unseen by the others
        return True
    hands = any(sight == "owner" and state.items[zone] for zone, sight in state.sight.items())
    shown = any(len(seats) < len(game.seats) for seats in state.shown.values())
    return hands or shown or any(_holds(game, spec) for spec in game.program.fields.values())


def _holds(game: Game, spec: dict[str, Any]) -> bool:
    """Is there a value that only the owner of a thing may see?"""
    column: list[Any] = getattr(game.state, spec["attr"]) if spec["seen"] == "owner" else []
    return any(value not in (None, False, 0, ()) for value in column)


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
