"""The command `longbox`: finds the command that is meant, runs it, and turns every error into one clear line.

Commands are registered through the hook `longbox_register_commands`, ours as well as anybody's. Only the one
that is run is imported.

Exit codes: 0 all is well, 1 problems were found, 2 the command was used wrongly. 130: stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from importlib import metadata

from longbox.dsl.problems import TextError
from longbox.kernel.errors import LongboxError

from .hookspecs import Command
from .manager import make_manager
from .packs import near

FINE, PROBLEMS, WRONG_USE, STOPPED = 0, 1, 2, 130
DEBUG = "LONGBOX_DEBUG"


class WrongUse(LongboxError):
    """What was typed cannot be done; nothing was."""


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point. Returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    plain_streams()
    try:
        code = guarded(lambda: dispatch(words))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:  # in the very last moment, when all is done
        return STOPPED
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain at exit, so it gets another one.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE


def plain_streams() -> None:
    """A terminal that cannot show a character shows a stand-in; it never stops the program."""
    for stream in (sys.stdout, sys.stderr):
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="backslashreplace")


def guarded(run: Callable[[], int]) -> int:
    """Run a command; what goes wrong becomes a line on standard error and an exit code."""
    try:
        return run()
    except SystemExit as stop:  # argparse has said what was wrong, or has shown its help
        return stop.code if isinstance(stop.code, int) else FINE
    except KeyboardInterrupt:
        complain("stopped")
        return STOPPED
    except BrokenPipeError:
        raise
    except TextError as error:
        print(error.show(), file=sys.stderr)
        return PROBLEMS
    except WrongUse as error:
        complain(str(error))
        return WRONG_USE
    except LongboxError as error:
        complain(str(error))
        return PROBLEMS
    except OSError as error:
        complain(f"{error.filename or 'a file'}: {error.strerror or error}")
        return PROBLEMS
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        what = f"{type(error).__name__}: {error}"
        complain(f"an error in Longbox itself: {what} (set {DEBUG}=1 to see where, and report it)")
        return PROBLEMS


def complain(what: str) -> None:
    print(f"longbox: {what}", file=sys.stderr)


# ---------------------------------------------------------------- which command
def dispatch(words: list[str]) -> int:
    manager = make_manager()
    commands = {name: row.value for name, row in manager.commands().items()}
    for problem in manager.problems:
        complain(str(problem))
    if not words:
        overview(commands)
        return WRONG_USE
    match words[0]:
        case "-h" | "--help" | "help" if len(words) == 1:
            overview(commands)
            return FINE
        case "help":
            return run_command(words[1], commands, ["--help"])
        case "-V" | "--version":
            print(f"longbox {version()}")
            return FINE
    return run_command(words[0], commands, words[1:])


def run_command(name: str, commands: dict[str, Command], words: list[str]) -> int:
    if name not in commands:
        hint = near(name, commands) or f"the commands are: {', '.join(commands)}"
        raise WrongUse(f"there is no command {name!r}; {hint}")
    command = commands[name]
    parser = ArgumentParser(
        prog=f"longbox {name}", description=command.help, formatter_class=RawDescriptionHelpFormatter
    )
    command.configure(parser)
    return command.run(parser.parse_args(words))


def overview(commands: dict[str, Command]) -> None:
    print("usage: longbox COMMAND ...\n")
    print("Games written as text: play them, check them, look at how they went.\n\ncommands:")
    for name, command in commands.items():
        print(f"  {name:<8} {help_of(command)}")
    print("\nlongbox COMMAND --help says more about each, with an example.")


def help_of(command: Command) -> str:
    """One command that cannot be imported must not hide the others."""
    try:
        return command.help
    except Exception as error:
        return f"(cannot be loaded: {error})"


def version() -> str:
    try:
        return metadata.version("longbox")
    except metadata.PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    from .cli import (
        main as run_main,
    )  # not this copy of the module: commands import its errors by their full name

    sys.exit(run_main())
