"""Reading clauses: the ground that the rest of resolving stands on.

`Clauses` reads values, conditions and phrases, picks the one reading that is meant, and collects problems.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import ir
from . import nodes as n
from . import units as u
from .collect import (
    Collector,
)
from .explain import bracketed, explain_phrase, explain_value, near
from .problems import Problem
from .reader import Env, Reader, named_first, own_words
from .source import Span
from .types import ANY, TRUTH, T, article
from .vocabulary import Phrase, Vocabulary


class Clauses:
    """What every part of resolving shares: the vocabulary, the problems, and reading a clause."""

    def __init__(self, collector: Collector) -> None:
        self.v: Vocabulary = collector.v
        self.problems = collector.problems
        self.units = u.Units()
        self.used: set[int] = set()  # numbers of phrases that some text uses
        self._rule_count = 0
        self._file_lines: dict[str, dict[n.Attribute, bool]] = {}  # lines for all cards of a file: used?
        self._answer_type: T | None = None
        self._record: Phrase | None = None  # the verb whose pending record this text may change
        self._voice_types: dict[str, T] = {}
        self._words_of_card: dict[str, str] = {}

    def fail(self, code: str, span: Span, what: str, help_: str = "") -> None:
        self.problems.append(Problem(code, span, what, help_))

    # ------------------------------------------------------------ reading clauses
    def read(self, clause: n.Clause, env: Env, want: T = ANY) -> ir.Expr | None:
        reader = Reader(self.v, clause.items, env)
        got = [r for r in reader.whole() if self._acceptable(r, want)]
        if not got:
            self.problems.append(explain_value(clause, reader, want))
            return None
        return self.pick(clause, got)

    def _acceptable(self, r: ir.Expr, want: T) -> bool:
        if want.form == "desc":
            return r.type.form in ("desc", "set", "ask", "asks", "each") and r.type.base in self.v.kinds
        if want == ANY:
            return r.type.form not in ("some",) and r.type.base != "done"
        return self.v.fits(r.type, want) and r.type.form != "some"

    def truth(self, clause: n.Clause, env: Env) -> ir.Expr | None:
        """A condition. `any figure near self` by itself asks whether there is one."""
        reader = Reader(self.v, clause.items, env)
        got = [
            r for r in reader.whole() if (r.type.base == "truth" and not r.type.form) or r.type.form == "some"
        ]
        if not got:
            self.problems.append(explain_value(clause, reader, TRUTH))
            return None
        return self.pick(clause, got)

    def pick(self, clause: n.Clause, got: list[ir.Expr]) -> ir.Expr | None:
        """The best reading; a tie is a problem that shows both."""
        most = max((r.lits, own_words(r)) for r in got)
        top = named_first([r for r in got if (r.lits, own_words(r)) == most])
        distinct = list(dict.fromkeys(top))
        if len(distinct) > 1:
            distinct = self._narrowest(distinct)
        if len(distinct) > 1:
            shown = [bracketed(r) for r in distinct[:2]]
            if shown[0] == shown[1]:
                shown = [f"{bracketed(r)}, {article(str(r.type))}" for r in distinct[:2]]
            self.fail(
                "LB0207",
                clause.span,
                "this can be read in two ways",
                "use brackets or another word:\n  " + "\n  ".join(shown),
            )
            return None
        self._note(distinct[0])
        return distinct[0]

    def _narrowest(self, readings: list[ir.Expr]) -> list[ir.Expr]:
        """Among readings that differ only in the phrase chosen, the one declared for the narrowest kinds."""
        calls = [r for r in readings if isinstance(r, ir.Call)]
        if len(calls) != len(readings) or len({tuple(a.type for _, a in c.args) for c in calls}) > 1:
            return readings

        def width(c: ir.Call) -> int:
            return -sum(len(self.v.lineage(t.base)) for t in c.pattern.phrase.slots.values())

        least = min(map(width, calls))
        return [c for c in calls if width(c) == least]

    def _note(self, node: Any) -> None:
        if isinstance(node, ir.Call | ir.Rel) or (isinstance(node, ir.Gets) and node.pattern):
            self.used.add(node.pattern.phrase.number)  # type: ignore[union-attr]
        if isinstance(node, tuple):
            for x in node:
                self._note(x)
        elif isinstance(node, ir.Expr):
            for name in node.__dataclass_fields__:
                if name not in ("type", "span", "lits", "pattern"):
                    self._note(getattr(node, name))

    def phrase(self, clause: n.Clause, env: Env, sorts: Sequence[str], wild: bool = False) -> ir.Expr | None:
        reader = Reader(self.v, clause.items, env)
        got: list[ir.Expr] = []
        for sort in sorts:
            got += (
                reader.gets()
                if sort == "gets"
                else reader.has()
                if sort == "has"
                else reader.phrases(sort, wild)
            )
        if not got:
            self.problems.append(explain_phrase(clause, reader, "verb" if "verb" in sorts else "modifier"))
            return None
        return self.pick(clause, got)

    def base_env(self, self_kind: str = "") -> Env:
        env: Env = {"you": T(self.v.you if self.v.you in self.v.kinds else "seat")}
        for kind in self.v.lineage(self_kind) if self_kind else ():
            if kind in self._voice_types:
                env["you"] = self._voice_types[kind]
                break
        if self_kind:
            env["self"] = T(self_kind)
            env["owner"] = T("seat", maybe=True)
        else:
            env["self"] = T("thing")
        return env

    def _known_kind(self, name: n.Name) -> bool:
        if str(name) in self.v.kinds:
            return True
        self.fail("LB0201", name.span, f"unknown kind '{name}'", near(str(name), list(self.v.kinds)))
        return False
