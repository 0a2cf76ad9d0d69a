"""The hooks: what a plugin may add to Longbox. One function and one sentence each.

A plugin is a module (or any object) with some of these functions, marked with `hookimpl`; a distribution
names it in the entry point group "longbox.plugins". Longbox's own parts come in the same way (builtin.py).
Hooks only register; none is called while rules run. docs/hooks.md shows a whole plugin.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pluggy

if TYPE_CHECKING:
    from .bots import Bot

SPEC_VERSION = (1, 0)  # a plugin may say LONGBOX_SPEC = (1, 0): another major or a newer minor is refused

hookspec = pluggy.HookspecMarker("longbox")
hookimpl = pluggy.HookimplMarker("longbox")

BotFactory: TypeAlias = "Callable[[int], Bot]"  # from a seed


# ---------------------------------------------------------------- what the hooks are handed
class Command(Protocol):
    """A command of the `longbox` program: a module, or any object, with these three names."""

    @property
    def help(self) -> str: ...
    def configure(self, parser: ArgumentParser) -> Any: ...
    def run(self, args: Namespace) -> int: ...


class RegisterFolders(Protocol):
    def folder(self, path: str | PathLike[str]) -> None: ...


class RegisterCommands(Protocol):
    def command(self, name: str, command: Command) -> None: ...


class RegisterBots(Protocol):
    def bot(self, name: str, factory: BotFactory, help: str = "") -> None: ...


# ---------------------------------------------------------------- the hooks
@hookspec
def longbox_find_packs(register: RegisterFolders) -> None:
    """Call `register.folder(path)` for each folder that holds packs; nothing in it is ever executed."""


@hookspec
def longbox_register_commands(register: RegisterCommands) -> None:
    """Call `register.command(name, command)` for each command that `longbox` gets."""


@hookspec
def longbox_register_bots(register: RegisterBots) -> None:
    """Call `register.bot(name, factory, help)` for each bot, which the factory makes from a seed."""
