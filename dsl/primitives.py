"""What the primitives of grammar/std.box become: one small function each, by the words of the phrase."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from longbox.kernel.state import attribute

from . import ir
from . import pyast as py
from .types import T
from .vocabulary import Phrase

if TYPE_CHECKING:
    from .emit_core import Core
    from .emit_expr import Scope

Args = dict[str, ast.expr]
Query = Callable[[Args], ast.expr]


def _s(field: str) -> ast.expr:
    return py.attr(py.name("s"), field)


def _col(field: str, thing: ast.expr) -> ast.expr:
    return py.sub(_s(field), thing)


def _items(place: ast.expr) -> ast.expr:
    return py.sub(_s("items"), place)


def _k(function: str, *args: ast.expr) -> ast.expr:
    return py.call(f"k_{function}", py.name("s"), *args)


def _printed(what: ast.expr, field: ast.expr) -> ast.expr:
    """Looked up in place: whether a thing is of a kind may hang on it, so it is asked of very many."""
    if not isinstance(what, ast.Name):
        return py.call(py.lambda_of(["x"], _printed(py.name("x"), field)), what)
    mark = py.tuple_of([_col("design", what), _col("face", py.name(what.id)), field])
    return py.sub(py.name("k_printed"), mark)


QUERIES: dict[str, Query] = {
    "_ in _": lambda a: py.compare(_col("place", a["a"]), ast.Eq(), a["b"]),
    "_ on _": lambda a: py.compare(_col("place", a["a"]), ast.Eq(), a["b"]),
    "_ attached to _": lambda a: py.compare(_col("place", a["a"]), ast.Eq(), a["b"]),
    "_ adjacent to _": lambda a: _k("adjacent", a["a"], a["b"]),
    "_ within _ of _": lambda a: py.compare(_k("distance", a["a"], a["b"]), ast.LtE(), a["n"]),
    "_ named _": lambda a: py.compare(_col("name", a["a"]), ast.Eq(), a["b"]),
    "_ along _": lambda a: py.compare(a["a"], ast.In(), _k("along", a["b"])),
    "_ among _": lambda a: py.compare(a["a"], ast.In(), a["b"]),
    "top of _": lambda a: py.call("k_top", _items(a["pile"])),
    "bottom of _": lambda a: py.call("k_bottom", _items(a["pile"])),
    "top _ card of _": lambda a: py.call("k_top_some", _items(a["pile"]), a["n"]),
    "position of _": lambda a: _k("position", a["what"]),
    "face of _": lambda a: _col("face", a["what"]),
    "host of _": lambda a: _k("host", a["what"]),
    "place of _": lambda a: _col("place", a["what"]),
    "space of _": lambda a: _k("space_of", a["what"]),
    "space named _": lambda a: _k("spaces_named", a["name"]),
    "neighbour of _ to the _": lambda a: _k("beside", a["where"], a["way"]),
    "distance from _ to _ through _": lambda a: (
        _k("distance_through", a["a"], a["b"], a["ok"]) if "ok" in a else _k("distance", a["a"], a["b"])
    ),
    "nearest of _ to _": lambda a: _k("nearest", a["what"], a["where"]),
    "shortest paths from _ to _ through _": lambda a: _k("shortest_paths", a["a"], a["b"], a["ok"]),
    "length of _": lambda a: py.call("k_len", a["p"]),
    "value of _ on _": lambda a: _k("counter_value", a["what"], a["where"]),
    "number of _": lambda a: py.call("k_len", a["what"]),
    "larger of _ and _": lambda a: py.call("k_max", a["a"], a["b"]),
    "smaller of _ and _": lambda a: py.call("k_min", a["a"], a["b"]),
    "remainder of _ by _": lambda a: py.call("k_remainder", a["a"], a["b"]),
    "number of _ in _": lambda a: py.call("k_faces_of", a["pool"], a["f"]),
    "number of results from _ to _ in _": lambda a: py.call("k_count_range", a["pool"], a["a"], a["b"]),
    "total of _": lambda a: py.call("k_sum", a["pool"]),
    "best of _": lambda a: py.call("k_best_face", a["pool"]),
    "result of _": lambda a: py.call("k_result", a["pool"]),
    "_ has ability _": lambda a: _k("has_ability", a["card"], a["a"]),
    "_ can resolve _ of _": lambda a: _k("can_resolve", a["card"], a["a"], a["who"]),
    "_ print _": lambda a: _printed(a["what"], a["f"]),
    "_ include _": lambda a: py.compare(a["one"], ast.In(), ast.BoolOp(ast.Or(), [a["all"], py.const(())])),
    "seat after _": lambda a: _k("seat_after", a["s"]),
    "seats from _": lambda a: _k("seats_from", a["s"]),
    "order of _": lambda a: _k("seat_order", a["s"]),
}


class Primitives:
    def __init__(self, em: Core) -> None:
        self.em = em

    # ------------------------------------------------------------ values
    def query(self, phrase: Phrase, args: Args, sc: Scope, line: int) -> ast.expr:
        special: dict[str, Callable[[], ast.expr]] = {
            "_ along _": lambda: py.compare(
                args["a"],
                ast.In(),
                py.sub(py.name("k_lines"), args["b"])
                if phrase.slots["b"].base == "line"
                else _k("along", args["b"]),
            ),
            "total _ of _": lambda: py.call("k_sum", self._each_field(args, sc)),
            "highest _ of _": lambda: py.call("k_highest", self._each_field(args, sc)),
            "lowest _ of _": lambda: py.call("k_lowest", self._each_field(args, sc)),
        }
        made = special[phrase.skeleton]() if phrase.skeleton in special else QUERIES[phrase.skeleton](args)
        return py.at_line(made, line)  # type: ignore[no-any-return]

    def _field_reader(self, args: Args) -> ast.expr:
        """The field named in a slot, as a function of a thing."""
        field = args["f"]
        assert isinstance(field, ast.Constant | ast.Name | ast.Subscript)
        if isinstance(field, ast.Constant):
            return py.lambda_of(["x"], self.em.expressions.read_field(str(field.value), py.name("x")))
        return py.lambda_of(["x"], _k("counter_value", field, py.name("x")))

    def _each_field(self, args: Args, sc: Scope) -> ast.expr:
        return py.call("k_field_list", self._field_reader(args), args["what"])

    def adjective(self, name: str, value: ast.expr) -> ast.expr:
        match name:
            case "face up":
                return py.negate(_col("facedown", value))
            case "face down":
                return _col("facedown", value)
            case "empty":
                return py.negate(_items(value))
            case "in play":
                return _col("in_play", value)
        raise AssertionError(name)

    def source(self, f: ir.Rel, sc: Scope, kinds: tuple[str, ...]) -> ast.expr | None:
        """A relation that says where to look, so that a description need not go through everything."""
        ex = self.em.expressions
        args = dict(f.args)
        match f.pattern.phrase.skeleton:
            case "_ in _" | "_ on _" | "_ attached to _":
                if args["b"].type.maybe:
                    return py.call("k_items_of", py.name("s"), ex.emit(args["b"], sc))
                return _items(ex.emit(args["b"], sc))
            case "_ among _":
                return ex.as_list(args["b"], sc)
            case "_ along _" if args["b"].type.base == "line":
                return py.sub(py.name("k_lines"), ex.emit(args["b"], sc))
            case "_ along _":
                return _k("along", ex.emit(args["b"], sc))
            case "_ adjacent to _" if all(self.em.v.is_a(k, "space") for k in kinds):
                return _k("neighbours", ex.emit(args["b"], sc))
            case "_ within _ of _" if all(self.em.v.is_a(k, "space") for k in kinds):
                return _k("spaces_within", ex.emit(args["n"], sc), ex.emit(args["b"], sc))
            case "_ within _ of _" if not any(self.em.v.is_a("space", k) or k == "line" for k in kinds):
                return _k("things_within", ex.emit(args["n"], sc), ex.emit(args["b"], sc))
        return None

    # ------------------------------------------------------------ acts
    def act(
        self,
        phrase: Phrase,
        args: Args,
        raw: dict[str, ir.Expr],
        sc: Scope,
        line: int,
        until: ast.expr | None,
    ) -> list[ast.stmt]:
        """A primitive verb as statements; arguments are simple, so they may be used twice."""
        site = py.const(self.em.site_of(line, sc))
        lead = [py.name("s"), py.name("c"), site]

        def do(function: str, *more: ast.expr) -> list[ast.stmt]:
            return [py.expression(py.call(f"k_{function}", *lead, *more))]

        moved = self.em.whenever_moves()
        match phrase.skeleton:
            case "move _ to _" | "move _ to top of _":
                if raw["what"].type.form in ("", "ask", "each"):
                    return (
                        do(
                            "move" if not raw["what"].type.maybe else "move_some",
                            raw_one(args["what"]),
                            args["where"],
                        )
                        + moved
                    )
                return do("move_all", args["what"], args["where"]) + moved
            case "move _ to bottom of _":
                loop = ast.For(
                    ast.Name("x_m", ast.Store()),
                    py.call("k_list", args["what"]),
                    do("move_to_bottom", py.name("x_m"), args["where"]),
                    [],
                )
                return [loop, *moved]
            case "move _ to position _ of _":
                at = ast.BinOp(args["n"], ast.Sub(), py.const(1))
                return do("move_to_index", args["what"], args["where"], at) + moved
            case "remove _ from the game":
                return do("move_all", args["what"], py.const(1)) + moved
            case "attach _ to _":
                return do("move", args["what"], args["host"]) + moved
            case "shuffle _":
                return do("shuffle", args["pile"])
            case "refill _ from _ for _ card":
                return do("refill", args["pile"], args["discard"], args["n"])
            case "lay _ face up" | "lay _ face down":
                down = py.const(phrase.skeleton.endswith("down"))
                return [
                    ast.For(
                        ast.Name("x_m", ast.Store()),
                        py.call("k_list", args["what"]),
                        do("lay", py.name("x_m"), down),
                        [],
                    )
                ]
            case "flip _":
                return do("turn", args["what"], py.const(None)) + self.em.whenever_any()
            case "flip _ to _":
                return do("turn", args["what"], args["face"]) + self.em.whenever_any()
            case "reveal _ to _":
                return do("show", args["what"], py.call("k_seats_asked", py.name("s"), args["who"]))
            case "put _ _ on _":
                return self._change(lead, args, raw["what"], args["n"])
            case "take _ _ from _":
                return self._change(lead, args, raw["what"], ast.UnaryOp(ast.USub(), args["n"]))
            case "clear _ of _":
                inner = {"where": py.name("x_m"), "what": args["what"]}
                body = self._change(lead, inner, raw["what"], py.const(-2_000_000_000))
                return [
                    ast.For(
                        ast.Name("x_m", ast.Store()),
                        py.call("k_list", args["what_set"] if "what_set" in args else args["where"]),
                        body,
                        [],
                    )
                ]
            case "resolve _ of _" | "resolve _ of _ for _":
                who = args.get("who", py.const(None))
                body = do("resolve", args["what"], py.name("x_m"), who)
                return [ast.For(ast.Name("x_m", ast.Store()), py.call("k_list", args["card"]), body, [])]
            case "_ borrow the text of _":
                return do("borrow", args["who"], args["card"], until or py.const(None))
            case "_ win":
                return do("win", args["who"])
            case "_ lose":
                return do("lose", args["who"])
            case "_ win because _":
                return do("win", args["who"], args["reason"])
            case "_ lose because _":
                return do("lose", args["who"], args["reason"])
            case "draw game":
                return do("draw")
            case "end game":
                return [py.expression(py.call("k_end_game", *lead))]
            case "roll _ more _ into _":

                def more(pool: ast.expr) -> ast.stmt:
                    return py.expression(
                        py.method(pool, "extend", py.call("k_roll", *lead, args["n"], args["d"]))
                    )

                return self._in_pool(raw["pool"], args["pool"], lead, more)
            case "reroll _ _ of _ with _":

                def again(pool: ast.expr) -> ast.stmt:
                    return do("reroll", args["n"], args["f"], pool, args["d"])[0]

                return self._in_pool(raw["pool"], args["pool"], lead, again)
            case "reroll a die of _ with _" | "reroll up to _ die of _ with _":
                asked = self.em.expressions.asked(sc)
                least, most = (py.const(0), args["n"]) if "n" in args else (py.const(1), py.const(1))

                def chosen(pool: ast.expr) -> ast.stmt:
                    return do("reroll_chosen", asked, pool, args["d"], least, most)[0]

                return self._in_pool(raw["pool"], args["pool"], lead, chosen)
        raise AssertionError(phrase.skeleton)

    def _in_pool(
        self, raw: ir.Expr, pool: ast.expr, lead: list[ast.expr], change: Callable[[ast.expr], ast.stmt]
    ) -> list[ast.stmt]:
        """Change a roll: one that only has a name in place, one that the game keeps by an event."""
        if not isinstance(raw, ir.GlobalValue):
            return [change(pool)]
        keep = py.call(
            "k_put_value",
            *lead,
            py.const(raw.name),
            py.const(attribute("g", raw.name)),
            py.call("k_tuple", py.name("x_p")),
        )
        return [py.assign("x_p", py.call("k_list", pool)), change(py.name("x_p")), py.expression(keep)]

    def giving(
        self, phrase: Phrase, args: Args, raw: dict[str, ir.Expr], sc: Scope, line: int
    ) -> ast.expr | None:
        """Primitive verbs with a result."""
        lead = [py.name("s"), py.name("c"), py.const(self.em.site_of(line, sc))]
        match phrase.skeleton:
            case "roll _ _":
                return py.call("k_roll", *lead, args["n"], args["d"])
            case "create _ _ in _":
                what = raw["what"]
                kind = what.kinds[0] if isinstance(what, ir.Noun) else what.type.base
                return py.call("k_make", *lead, py.const(kind), args["n"], args["where"])
        return None

    def _change(self, lead: list[ast.expr], args: Args, what: ir.Expr, delta: ast.expr) -> list[ast.stmt]:
        if isinstance(what, ir.Ref):
            info = self.em.v.columns()[what.name]
            column = _s(attribute("f", what.name))
            made: list[ast.stmt] = [
                py.expression(
                    py.call(
                        "k_change",
                        *lead,
                        args["where"],
                        py.const(what.name),
                        column,
                        delta,
                        py.const(info.low),
                        py.const(info.high),
                    )
                )
            ]
            return made + self.em.whenever_field(what.name)
        return [
            py.expression(py.call("k_change_named", *lead, args["where"], args["what"], delta)),
            *self.em.whenever_any(),
        ]


def raw_one(node: ast.expr) -> ast.expr:
    """The single element of a list made for a set slot."""
    return node.elts[0] if isinstance(node, ast.List) and len(node.elts) == 1 else node


__all__ = ["Primitives", "T"]
