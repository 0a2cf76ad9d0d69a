"""Indentation as tokens: a re-entrant replacement for lark.indenter.Indenter.

Lark's own keeps its state on the instance, so parses in two threads disturb each other, and its errors have
no position. Here the state lives in the generator, and every error says where it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from lark import Token, UnexpectedInput


class BadIndent(UnexpectedInput):
    """A line whose indentation fits no block. `tab` says whether tabs are to blame."""

    def __init__(self, message: str, token: Token, tab: bool = False) -> None:
        Exception.__init__(self, message)
        self.token, self.tab = token, tab
        self.line, self.column = token.line or 0, token.column or 0
        self.pos_in_stream = token.start_pos  # type: ignore[assignment]  # Lark declares it as nothing


class BlockIndenter:
    """Turns newlines into _INDENT and _DEDENT. Inside brackets newlines do not count."""

    always_accept = ("_NL",)
    OPEN = frozenset({"LPAR", "LSQB"})
    CLOSE = frozenset({"RPAR", "RSQB"})

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        levels, depth, token = [0], 0, None
        for token in stream:
            if token.type == "_NL":
                if not depth:
                    yield token
                    yield from self._margin(token, levels)
                continue
            yield token
            depth = max(0, depth + (token.type in self.OPEN) - (token.type in self.CLOSE))
        for _ in levels[1:]:  # the value "EOF" marks the ones that no line of text asked for
            yield (
                Token.new_borrow_pos("_DEDENT", "EOF", token)
                if token is not None
                else Token("_DEDENT", "EOF")
            )

    def _margin(self, token: Token, levels: list[int]) -> Iterator[Token]:
        margin = token[token.rfind("\n") + 1 :]
        width, end, row = len(margin), token.end_pos or 0, token.end_line
        here = Token("_INDENT", margin, end - width, row, 1, row, width + 1, end)
        if "\t" in margin:
            raise BadIndent("a tab in the margin", here, tab=True)
        if width > levels[-1]:
            levels.append(width)
            yield here
            return
        while width < levels[-1]:
            levels.pop()
            yield Token("_DEDENT", "", end, row, width + 1, row, width + 1, end)
        if width != levels[-1]:
            raise BadIndent(f"this line is indented by {width} spaces, its neighbours by {levels[-1]}", here)
