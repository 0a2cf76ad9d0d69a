"""Random texts that are well formed, for property tests: built rule by rule, as the grammar is.

A text is a list of `Piece`s: the tokens of a line, and the lines of the block below it. `laid_out`
writes it as no tidy author would: any margin, any blanks, comments and blank lines anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import strategies as st

WORDS = ["card", "hero", "deck", "amount", "far-off", "red_5", "of", "to", "it", "X", "top", "a1", "each"]
SIGNS = ["+", "-", "*", "<", ">", "<=", ">=", "!=", "=", "/"]
NO_BLANK_NEEDED_BEFORE = {",", ":", ")", "]", "?", "'s", "'"}


@dataclass
class Piece:
    tokens: list[str]
    block: list[Piece] = field(default_factory=list)


# -- words -------------------------------------------------------------------------------------------
name = st.lists(st.sampled_from(["card", "hero", "deck", "amount", "far-off", "X"]), min_size=1, max_size=3)
text = st.sampled_from(['"Gate"', '"{color} # one"', '"a  b"', '""', '"naïve – “x”"', '"it\'s | ok"'])
number = st.integers(0, 1200).map(str)
atom = st.one_of(st.sampled_from(WORDS), st.sampled_from(WORDS), number, text)


@st.composite
def clause(draw: st.DrawFn, depth: int = 2, longest: int = 5) -> list[str]:
    out: list[str] = []
    for _ in range(draw(st.integers(1, longest))):
        shape = draw(st.integers(0, 9))
        if shape == 9 and depth:
            out += ["(", *draw(clause(depth - 1)), ")"]
        elif shape == 8:
            out += [draw(st.sampled_from(SIGNS)), draw(atom)]
        elif shape == 7 and out:
            out += [draw(st.sampled_from(["'s", "'"])), draw(st.sampled_from(WORDS))]
        else:
            out.append(draw(atom))
    return out


def worded(inner: st.SearchStrategy[list[str]], *before: str) -> st.SearchStrategy[list[str]]:
    return inner.map(lambda tokens: [*before, *tokens])


def listed(inner: st.SearchStrategy[list[str]], low: int = 1) -> st.SearchStrategy[list[str]]:
    """Several, with commas."""
    return st.lists(inner, min_size=low, max_size=3).map(
        lambda all_: [t for k, tokens in enumerate(all_) for t in ([",", *tokens] if k else tokens)]
    )


@st.composite
def plain_clause(draw: st.DrawFn) -> list[str]:
    """A clause that begins with a word, as statements do."""
    return [draw(st.sampled_from(WORDS[:6])), *draw(clause())]


@st.composite
def kind_of_value(draw: st.DrawFn) -> list[str]:
    lead = draw(st.sampled_from([[], ["set", "of"], ["kind", "of"]]))
    return [*lead, *draw(name), *draw(st.sampled_from([[], ["?"]]))]


@st.composite
def pattern(draw: st.DrawFn) -> list[str]:
    out = [draw(st.sampled_from(["draw", "deal", "lay"]))]
    for _ in range(draw(st.integers(0, 3))):
        shape = draw(st.integers(0, 4))
        if shape == 0:
            out += ["card", "/", "cards"]
        elif shape == 1:
            out += ["(", *draw(name), ":", *draw(kind_of_value()), "=", *draw(clause(1, 3)), ")"]
        elif shape == 2:
            out += ["[", "from", "(", *draw(name), ":", *draw(kind_of_value()), ")", "]"]
        elif shape == 3:
            out += ["(", *draw(name), ":", *draw(kind_of_value()), ")", "'s"]
        else:
            out.append("to")
    return out


@st.composite
def mods(draw: st.DrawFn) -> list[str]:
    one = st.one_of(
        worded(clause(1), "if"),
        worded(name, "during"),
        worded(clause(1), "by"),
        worded(name, "once", "per"),
        st.just(["once"]),
        worded(clause(1), "costs"),
        worded(name, "from"),
        worded(name, "at"),
        st.just(["until passed"]),
        worded(clause(1), "choosing").map(lambda t: [*t, "called", "gift"]),
    )
    return [t for tokens in draw(st.lists(one, max_size=2)) for t in [",", *tokens]]


# -- statements --------------------------------------------------------------------------------------
@st.composite
def simple(draw: st.DrawFn) -> list[str]:
    return draw(
        st.one_of(
            plain_clause(),
            plain_clause().map(lambda t: [*t, "called", "pool"]),
            plain_clause().map(lambda t: [*t, "until", "end", "of", "turn"]),
            worded(plain_clause(), "choose"),
            st.tuples(name, clause()).map(lambda p: ["let", *p[0], "=", *p[1]]),
            worded(plain_clause(), "now"),
            st.sampled_from([["stop"], ["stop", "repeating"], ["prevent", "it"]]),
            worded(clause(), "answer"),
            st.tuples(plain_clause(), mods()).map(lambda p: ["offer", *p[0], *p[1]]),
            plain_clause().map(lambda t: ["you", "may", *t]),
        )
    )


@st.composite
def with_body(draw: st.DrawFn, head: list[str], depth: int) -> Piece:
    """A header with its block, or with one statement on the same line."""
    if draw(st.integers(0, 3)) == 0:
        return Piece([*head, ":", *draw(simple_after_colon())])
    return Piece([*head, ":"], draw(block(depth - 1)))


def simple_after_colon() -> st.SearchStrategy[list[str]]:
    return st.one_of(
        plain_clause(), st.just(["stop"]), worded(plain_clause(), "now"), worded(clause(), "answer")
    )


@st.composite
def statement(draw: st.DrawFn, depth: int) -> list[Piece]:
    if depth <= 0 or draw(st.booleans()):
        return [Piece(draw(simple()))]
    shape = draw(st.integers(0, 7))
    if shape == 0:
        out = [draw(with_body(["if", *draw(clause())], depth))]
        if draw(st.booleans()):
            out.append(draw(with_body(["else", "if", *draw(clause())], depth)))
        return [*out, draw(with_body(["else"], depth))]
    if shape == 1:
        head = ["for", "each", *draw(plain_clause()), "called", "victim", *draw(mods())]
        return [draw(with_body(head, depth))]
    if shape == 2:
        choices = [
            Piece([draw(text), "if", *draw(clause()), ":"], draw(block(depth - 1))),
            Piece(["for", "each", *draw(plain_clause()), ":"], [draw(with_body([draw(text)], depth))]),
        ]
        return [Piece(["ask", *draw(plain_clause()), ":"], choices)]
    if shape == 3:
        how = draw(st.sampled_from([["3", "times"], ["while", "it", "=", "X"], ["until", "it"], []]))
        return [draw(with_body(["repeat", *how], depth))]
    if shape == 4:
        word = draw(st.sampled_from(["phase", "step", "turn", "effect"]))
        return [draw(with_body([word, *draw(plain_clause())], depth))]
    if shape == 5:
        return [Piece(["until", "end", "of", "turn", ":"], [draw(rule(depth - 1))])]
    if shape == 6:
        return [draw(with_body(["secretly", "each", *draw(plain_clause())], depth))]
    return [draw(with_body(["you", "may", *draw(plain_clause())], depth))]


@st.composite
def block(draw: st.DrawFn, depth: int) -> list[Piece]:
    return [piece for _ in range(draw(st.integers(1, 3))) for piece in draw(statement(depth))]


@st.composite
def rule(draw: st.DrawFn, depth: int) -> Piece:
    word = draw(st.sampled_from(["before", "after", "instead of", "whenever", "forbid"]))
    head = [word, *draw(plain_clause()), *draw(mods())]
    return Piece(head) if word == "forbid" else draw(with_body(head, depth))


# -- declarations ------------------------------------------------------------------------------------
@st.composite
def card(draw: st.DrawFn) -> list[Piece]:
    lines = [Piece(draw(listed(plain_clause()))) for _ in range(draw(st.integers(0, 2)))]
    if draw(st.booleans()):
        lines.append(Piece(["face", draw(text), ":"], [Piece(draw(plain_clause())), draw(rule(1))]))
    if draw(st.booleans()):
        lines.append(draw(with_body([*draw(name), draw(text)], 2)))
    lines.append(Piece(["passive", ":"], draw(block(1))))
    tail = draw(st.sampled_from([[], ["x", "2"], [",", "x", "2"], ["for each  color for each trait  x 2"]]))
    return [Piece([*draw(name), draw(text), *tail], lines)]


@st.composite
def kind(draw: st.DrawFn) -> list[Piece]:
    members = [
        Piece(["has", *draw(name), ":", *draw(kind_of_value()), "=", *draw(clause()), ",", "hidden"]),
        Piece(["counter", *draw(name), ",", "0", "to", "5"]),
        Piece(["zone", *draw(name), ",", "hidden"]),
        Piece(["ability", *draw(name), *draw(mods())]),
        Piece(["you are", *draw(clause())]),
        draw(rule(2)),
    ]
    kept = [m for m in members if draw(st.booleans())]
    return [Piece(["kind", *draw(name), "is", *draw(name), ",", "plural", *draw(name)], kept)]


@st.composite
def board(draw: st.DrawFn) -> list[Piece]:
    rows = draw(st.lists(st.sampled_from(["| . . #", "|  .  S .", '| "a" :', "|"]), min_size=1, max_size=3))
    return [
        Piece(
            ["board", draw(text)],
            [
                Piece(["map", "squares", ":"], [Piece([row]) for row in rows]),
                Piece(['"."', "is", *draw(plain_clause()), ",", *draw(plain_clause())]),
                Piece(["lines", "of", "3"]),
            ],
        )
    ]


@st.composite
def phrase(draw: st.DrawFn) -> list[Piece]:
    sort = draw(st.sampled_from(["verb", "quiet verb", "query", "value", "relation", "modifier"]))
    head = [*sort.split(), *draw(pattern())]
    if sort == "query":
        return [Piece([*head, "->", *draw(kind_of_value()), ":", *draw(clause())])]
    if sort == "value":
        return [Piece([*head, "->", "number", "=", *draw(clause()), ",", "at", "least", "0"])]
    if sort == "relation":
        return [Piece([*head, ":", *draw(clause())])]
    lines = draw(block(3))
    if sort != "modifier" and draw(st.booleans()):
        lines = [Piece(["needs", *draw(clause())]), Piece(["told", "as", draw(text)]), *lines]
    return [Piece([*head, ":"], lines)]


@st.composite
def scene(draw: st.DrawFn) -> list[Piece]:
    steps = [
        Piece([draw(text), ":", draw(text), ",", draw(text)]),
        Piece([draw(text), "cannot", draw(text)]),
        Piece([draw(text), "is  offered", draw(text)]),
        *draw(statement(1)),
    ]
    return [
        Piece(
            ["scene", draw(text), "cites", "HI-A-1", ",", "HI-B2-12"],
            [
                Piece(["game", "a", ".", "b", ",", "3", "seats", ",", "with", "c"]),
                Piece(["seed", "4"]),
                Piece(["given", ":"], draw(block(2))),
                Piece(["when", ":"], steps),
                Piece(["then", ":"], [Piece(draw(plain_clause()))]),
            ],
        )
    ]


@st.composite
def small(draw: st.DrawFn) -> list[Piece]:
    return [
        Piece(
            draw(
                st.one_of(
                    st.just(["pack", "a", ".", "b", '"A"']),
                    worded(name, "zone"),
                    worded(name, "window"),
                    st.tuples(name, listed(name)).map(lambda p: ["words", *p[0], ":", *p[1]]),
                    st.just(["die", "d", ":", "hit", "+", "focus", ",", "6", ",", "hit"]),
                    st.tuples(name, kind_of_value(), clause()).map(
                        lambda p: ["state", *p[0], ":", *p[1], "=", *p[2]]
                    ),
                    st.tuples(name, name, clause()).map(
                        lambda p: ["adjective", *p[0], "for", *p[1], ":", *p[2]]
                    ),
                    st.tuples(name, name, clause()).map(
                        lambda p: ["limit", *p[0], "in", *p[1], "text", ":", *p[2]]
                    ),
                )
            )
        )
    ]


@st.composite
def section(draw: st.DrawFn) -> list[Piece]:
    return [Piece([draw(st.sampled_from(["setup", "round", "scoring"])), ":"], draw(block(3)))]


declarations = st.lists(
    st.one_of(small(), kind(), card(), phrase(), board(), section(), scene(), rule(2).map(lambda r: [r])),
    min_size=1,
    max_size=4,
)


# -- as no tidy author would write it ----------------------------------------------------------------
letters = st.characters(codec="utf-8", exclude_categories=("C", "Z"))
comment = st.text(letters, max_size=8).map(lambda t: "#" + t)
gap = st.sampled_from([" ", " ", " ", "  ", "\t", "     "])


@st.composite
def margin_noise(draw: st.DrawFn) -> str:
    """Blank lines and comments between two lines."""
    out = ""
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
        out += draw(st.sampled_from(["", "   "])) + "\n"
        if draw(st.integers(0, 2)) == 0:
            out += " " * draw(st.integers(0, 9)) + draw(comment) + "\n"
    return out


@st.composite
def line(draw: st.DrawFn, tokens: list[str], margin: int) -> str:
    out, brackets = " " * margin + tokens[0], int(tokens[0] in ("(", "["))
    for a, b in pairwise(tokens):
        if brackets and draw(st.integers(0, 19)) == 0:
            tail = " " + draw(comment) if draw(st.booleans()) else ""
            out += tail + "\n" + " " * draw(st.integers(1, 9)) + b
        elif b in NO_BLANK_NEEDED_BEFORE or a in ("(", "[", "/", ".") or b in ("/", "."):
            out += draw(st.sampled_from(["", "", " ", "  "])) + b
        else:
            out += draw(gap) + b
        brackets += (b in ("(", "[")) - (b in (")", "]"))
    if not tokens[0].startswith("|") and draw(st.integers(0, 4)) == 0:
        out += draw(st.sampled_from([" ", "  ", "        "])) + draw(comment)
    return out + draw(st.sampled_from(["", "", "  "]))


@st.composite
def laid_out(draw: st.DrawFn, pieces: list[Piece], margin: int) -> str:
    out = ""
    step = draw(st.integers(1, 6))
    for piece in pieces:
        out += draw(margin_noise()) + draw(line(piece.tokens, margin)) + "\n"
        if piece.block:
            out += draw(laid_out(piece.block, margin + step))
    return out


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A well-formed text, laid out at random."""
    out = "".join(draw(laid_out(pieces, 0)) for pieces in draw(declarations)) + draw(margin_noise())
    if draw(st.booleans()):
        out = out.rstrip("\n")
    return out.replace("\n", "\r\n") if draw(st.integers(0, 4)) == 0 else out
