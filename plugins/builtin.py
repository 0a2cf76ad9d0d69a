"""The built-in plugin: Longbox's own packs, commands and bots, through the same hooks as anybody's.

Only names stand here. A module is imported when its command is run or its help is read, so that listing
stays quick. To add a command: write its module (`help`, `configure(parser)`, `run(args) -> int`) and name it
in COMMANDS.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .hookspecs import BotFactory, Command, RegisterBots, RegisterCommands, RegisterFolders, hookimpl

if TYPE_CHECKING:
    from .bots import Bot

# The name of a command, and the module that has it.
COMMANDS: dict[str, str] = {
    name: f"longbox.plugins.commands.{name}"
    for name in (
        "check",
        "cover",
        "fmt",
        "fork",
        "games",
        "list",
        "log",
        "new",
        "play",
        "show",
        "sim",
        "verify",
        "why",
    )
}

# The name of a bot, "module:factory", and a line of help.
BOTS: dict[str, tuple[str, str]] = {
    "first": ("longbox.plugins.bots:FirstBot", "always the first answer"),
    "greedy": ("longbox.plugins.bots:GreedyBot", "tries each answer on forks and takes what won most"),
    "random": ("longbox.plugins.bots:RandomBot", "each answer equally likely"),
    "sensible": ("longbox.plugins.bots:SensibleBot", "takes what leaves its seat standing best"),
}


@hookimpl
def longbox_find_packs(register: RegisterFolders) -> None:
    register.folder(expansions())


@hookimpl
def longbox_register_commands(register: RegisterCommands) -> None:
    for name, module in COMMANDS.items():
        register.command(name, LateCommand(module))


@hookimpl
def longbox_register_bots(register: RegisterBots) -> None:
    for name, (where, help) in BOTS.items():
        register.bot(name, late_factory(where), help)


def expansions() -> Path:
    """The folder of the packs that come with Longbox."""
    return Path(str(resources.files("longbox.expansions")))


class LateCommand:
    """A command whose module is imported when it is needed."""

    def __init__(self, module: str) -> None:
        self.module = module

    def _loaded(self) -> Command:
        return cast(Command, import_module(self.module))

    @property
    def help(self) -> str:
        return self._loaded().help

    def configure(self, parser: ArgumentParser) -> Any:
        return self._loaded().configure(parser)

    def run(self, args: Namespace) -> int:
        return self._loaded().run(args)


def late_factory(where: str) -> BotFactory:
    """A factory, named as "module:function", that is imported when it is called."""
    module, _, name = where.partition(":")

    def factory(seed: int) -> Bot:
        made: Bot = getattr(import_module(module), name)(seed)
        return made

    return factory
