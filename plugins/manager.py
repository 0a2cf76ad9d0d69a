"""The plugin manager: who takes part, and what each of them adds.

    manager = make_manager()          the built-in plugin, and every installed one
    manager.commands()                name -> Registered(command, by which plugin)
    manager.problems                  what was wrong with a plugin

One bad plugin never stops the others: it is reported and left out, with all that it wanted to add. With
`strict` the first problem is raised instead. The order is fixed (built in first, then by name), so nothing
depends on the order of installation; the first to register a name keeps it, the second is a problem that
names both.
"""

from __future__ import annotations

import difflib
import importlib.metadata as metadata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from inspect import isroutine
from os import PathLike, fspath
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

import pluggy

from longbox.kernel.errors import LongboxError

from . import builtin, hookspecs
from .hookspecs import SPEC_VERSION, BotFactory, Command

GROUP = "longbox.plugins"
BUILTIN = "longbox"  # the name of our own plugin
PREFIX = "longbox_"

T = TypeVar("T")
BAD = (Exception, SystemExit)  # what a plugin may throw at us


class PluginError(LongboxError):
    """A plugin that cannot be used; raised in strict mode only."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a plugin."""

    plugin: str
    what: str

    def __str__(self) -> str:
        return f"plugin {self.plugin}: {self.what}"


@dataclass(frozen=True, slots=True)
class Registered(Generic[T]):
    """Something that a plugin added under a name."""

    name: str
    value: T
    plugin: str
    help: str = ""


@dataclass(slots=True)
class Register:
    """What the hooks are handed: notes what one plugin adds, checks the names, and does nothing else."""

    entries: list[tuple[str, Any, str]] = field(default_factory=list)

    def folder(self, path: str | PathLike[str]) -> None:
        folder = Path(fspath(path))
        self._note(str(folder), folder, "")

    def command(self, name: str, command: Command) -> None:
        self._note(name, command, "")

    def bot(self, name: str, factory: BotFactory, help: str = "") -> None:
        if not callable(factory):
            raise TypeError(f"the factory of bot {name!r} cannot be called")
        self._note(name, factory, help)

    def _note(self, name: str, value: Any, help: str) -> None:
        if not isinstance(name, str) or not name or name != name.strip():
            raise TypeError(f"{name!r} is no name")
        self.entries.append((name, value, help))


class Manager(pluggy.PluginManager):
    """Registers plugins one by one and asks them in a fixed order."""

    def __init__(self, strict: bool = False) -> None:
        super().__init__("longbox")
        self.strict = strict
        self.problems: list[Problem] = []
        self.add_hookspecs(hookspecs)

    # ------------------------------------------------------------ taking plugins in
    def add(self, plugin: Any, name: str) -> bool:
        """Register one plugin; a bad one is reported and left out."""
        try:
            if self.has_plugin(name):
                raise PluginError("another plugin has this name")
            check_version(plugin)
            self._check_hooks(plugin)
            self._register(plugin, name)
            return True
        except BAD as error:
            self._report(name, error)
            return False

    def _register(self, plugin: Any, name: str) -> None:
        try:
            self.register(plugin, name)
        except Exception:
            if self.get_plugin(name) is plugin:  # pluggy may stop half-way
                self.unregister(name=name)
            raise

    def load(self) -> None:
        """Take in every installed plugin, in the order of their names."""
        for entry in sorted(metadata.entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
            if self.is_blocked(entry.name):
                continue
            try:
                plugin = entry.load()
            except BAD as error:
                self._report(entry.name, error, f"{entry.value} cannot be imported: ")
                continue
            self.add(plugin, entry.name)

    def _check_hooks(self, plugin: Any) -> None:
        """Pluggy passes over a hook that nobody calls, and over an unmarked function; authors should know."""
        known = [name for name in vars(hookspecs) if name.startswith(PREFIX)]
        for name in (n for n in dir(plugin) if n.startswith(PREFIX) and isroutine(getattr(plugin, n))):
            options = self.parse_hookimpl_opts(plugin, name)
            near = difflib.get_close_matches(name, known, 1)
            if name not in known and (near or options is not None):
                help_ = f"did you mean {near[0]!r}?" if near else f"the hooks are: {', '.join(known)}"
                raise PluginError(f"there is no hook {name!r}; {help_}")
            if name in known and options is None:
                raise PluginError(f"{name} is not marked: put @longbox.plugins.hookspecs.hookimpl above it")
            if options is not None and (options.get("wrapper") or options.get("hookwrapper")):
                raise PluginError(f"{name} is a wrapper; hooks only register, there is nothing to wrap")

    def _report(self, plugin: str, error: BaseException, where: str = "") -> None:
        what = str(error) if isinstance(error, PluginError) else f"{type(error).__name__}: {error}"
        problem = Problem(plugin, where + what)
        if self.strict:
            raise PluginError(str(problem)) from error
        if problem not in self.problems:
            self.problems.append(problem)

    # ------------------------------------------------------------ asking them
    def each(self, hook: str, make: Callable[[], T]) -> Iterator[tuple[str, T]]:
        """Call a hook plugin by plugin, each with a fresh `register`; one that fails is left out."""
        implementations = getattr(self.hook, hook).get_hookimpls()
        implementations.sort(key=lambda i: (i.plugin_name != BUILTIN, i.plugin_name))
        for implementation in implementations:
            register = make()
            try:
                implementation.function(*(register for _ in implementation.argnames))
            except BAD as error:
                self._report(implementation.plugin_name, error, f"{hook}: ")
                continue
            yield implementation.plugin_name, register

    def folders(self) -> list[Registered[Path]]:
        """The folders that hold packs; two plugins may well name the same one."""
        found = [row for rows in self._asked("longbox_find_packs") for row in rows]
        return list({row.name: row for row in reversed(found)}.values())[::-1]

    def commands(self) -> dict[str, Registered[Command]]:
        return self._by_name("command", self._asked("longbox_register_commands"))

    def bots(self) -> dict[str, Registered[BotFactory]]:
        return self._by_name("bot", self._asked("longbox_register_bots"))

    def _asked(self, hook: str) -> Iterator[list[Registered[Any]]]:
        for plugin, register in self.each(hook, Register):
            yield [Registered(name, value, plugin, help) for name, value, help in register.entries]

    def _by_name(self, sort: str, answers: Iterable[list[Registered[T]]]) -> dict[str, Registered[T]]:
        found: dict[str, Registered[T]] = {}
        for row in (row for rows in answers for row in rows):
            first = found.setdefault(row.name, row)
            if first is not row:
                taken = f"{sort} {row.name!r} is already registered by plugin {first.plugin}"
                self._report(row.plugin, PluginError(taken))
        return dict(sorted(found.items()))


def check_version(plugin: Any) -> None:
    """Refuse a plugin that was written for other hooks than these."""
    need = getattr(plugin, "LONGBOX_SPEC", SPEC_VERSION)
    if not (isinstance(need, tuple) and len(need) == 2 and all(isinstance(n, int) for n in need)):
        raise PluginError(f"LONGBOX_SPEC is {need!r}; write a pair of numbers, such as {SPEC_VERSION}")
    if need[0] != SPEC_VERSION[0] or need[1] > SPEC_VERSION[1]:
        raise PluginError("it needs hooks of version {}.{}; these are {}.{}".format(*need, *SPEC_VERSION))


def make_manager(installed: bool = True, strict: bool = False, plugins: Iterable[ModuleType] = ()) -> Manager:
    """The built-in plugin, those handed in, and the installed ones unless they are not wanted."""
    manager = Manager(strict)
    manager.add(builtin, BUILTIN)
    for plugin in plugins:
        manager.add(plugin, plugin.__name__)
    if installed:
        manager.load()
    return manager
