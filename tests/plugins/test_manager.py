"""Plugins: one bad one never stops the others, order is fixed, conflicts name both."""

from __future__ import annotations

import inspect
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from longbox.plugins import builtin, hookspecs
from longbox.plugins.hookspecs import hookimpl
from longbox.plugins.manager import BUILTIN, Manager, PluginError, make_manager

DOCS = Path(__file__).resolve().parents[2] / "docs" / "hooks.md"
HOOKS = {name: hook for name, hook in vars(hookspecs).items() if name.startswith("longbox_")}


def plugin(*functions: Callable[..., Any], **values: Any) -> ModuleType:
    """A module with these hooks."""
    module = ModuleType("made_up")
    for function in functions:
        setattr(module, function.__name__, function)
    vars(module).update(values)
    return module


class Hello:
    """A command, and the least that one needs."""

    help = "says hello"

    def configure(self, parser: ArgumentParser) -> None:
        parser.add_argument("--loud", action="store_true")

    def run(self, args: Namespace) -> int:
        return 0


def adds_command(name: str = "hello") -> ModuleType:
    @hookimpl
    def longbox_register_commands(register: hookspecs.RegisterCommands) -> None:
        register.command(name, Hello())

    return plugin(longbox_register_commands)


def problems(manager: Manager) -> list[str]:
    return [str(problem) for problem in manager.problems]


# ---------------------------------------------------------------- what plugins add
def test_a_plugin_adds_a_folder_a_command_and_a_bot(tmp_path: Path) -> None:
    @hookimpl
    def longbox_find_packs(register: hookspecs.RegisterFolders) -> None:
        register.folder(tmp_path)

    @hookimpl
    def longbox_register_bots(register: hookspecs.RegisterBots) -> None:
        register.bot("first", lambda seed: lambda game, question: question.keys[0], "takes the first answer")

    manager = Manager()
    assert manager.add(plugin(longbox_find_packs, longbox_register_bots), "one")
    assert manager.add(adds_command(), "two")
    assert [(row.value, row.plugin) for row in manager.folders()] == [(tmp_path, "one")]
    assert manager.commands()["hello"].value.help == "says hello"
    assert manager.bots()["first"].help == "takes the first answer"
    assert manager.problems == []


def test_the_built_in_plugin_uses_the_same_hooks() -> None:
    manager = make_manager(installed=False, strict=True)
    assert [(row.value, row.plugin) for row in manager.folders()] == [(builtin.expansions(), BUILTIN)]
    assert set(manager.commands()) == set(builtin.COMMANDS)
    assert set(manager.bots()) == set(builtin.BOTS)


def test_listing_commands_imports_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(builtin.COMMANDS, "missing", "longbox.plugins.no_such_module")
    command = make_manager(installed=False, strict=True).commands()["missing"].value
    with pytest.raises(ModuleNotFoundError):
        print(command.help)


def test_a_late_command_and_a_late_bot_are_the_real_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        sys.modules,
        "made_up",
        plugin(
            help="x",
            run=lambda args: 7,
            configure=lambda parser: None,
            make=lambda seed: lambda game, question: f"{seed}",
        ),
    )
    monkeypatch.setitem(builtin.COMMANDS, "x", "made_up")
    monkeypatch.setitem(builtin.BOTS, "x", ("made_up:make", "help"))
    manager = make_manager(installed=False, strict=True)
    assert manager.commands()["x"].value.run(Namespace()) == 7
    question: Any = None
    assert manager.bots()["x"].value(3)(question, question) == "3"


# ---------------------------------------------------------------- bad plugins
def _raises(error: BaseException) -> ModuleType:
    @hookimpl
    def longbox_register_commands(register: hookspecs.RegisterCommands) -> None:
        register.command("half", Hello())
        raise error

    return plugin(longbox_register_commands)


@hookimpl
def longbox_register_comands(register: Any) -> None: ...


@hookimpl
def longbox_do_magic(register: Any) -> None: ...


def longbox_find_packs(register: Any) -> None: ...


@hookimpl(specname="longbox_find_packs")
def other_argument(registry: Any) -> None: ...


@hookimpl(wrapper=True)
def longbox_register_bots(register: Any) -> Any:
    yield


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (plugin(longbox_register_comands), "did you mean 'longbox_register_commands'?"),
        (plugin(longbox_do_magic), "there is no hook 'longbox_do_magic'"),
        (plugin(longbox_find_packs), "longbox_find_packs is not marked"),
        (plugin(other_argument), "registry"),
        (plugin(longbox_register_bots), "is a wrapper"),
        (plugin(LONGBOX_SPEC=(2, 0)), "it needs hooks of version 2.0; these are 1.0"),
        (plugin(LONGBOX_SPEC=(1, 1)), "it needs hooks of version 1.1; these are 1.0"),
        (plugin(LONGBOX_SPEC="1.0"), "LONGBOX_SPEC is '1.0'"),
    ],
)
def test_a_bad_plugin_is_refused_and_said_why(bad: ModuleType, said: str) -> None:
    manager = Manager()
    assert not manager.add(bad, "bad")
    assert manager.add(adds_command(), "good")
    assert len(manager.problems) == 1 and manager.problems[0].plugin == "bad"
    assert said in manager.problems[0].what
    assert not manager.has_plugin("bad") and list(manager.commands()) == ["hello"]
    with pytest.raises(PluginError, match="plugin bad: "):
        Manager(strict=True).add(bad, "bad")


def test_a_module_that_only_looks_like_a_hook_is_left_alone() -> None:
    assert Manager(strict=True).add(plugin(longbox_dowager=ModuleType("longbox_dowager")), "fine")


@pytest.mark.parametrize("error", [RuntimeError("no"), SystemExit(3), TypeError("no")])
def test_a_hook_that_raises_adds_nothing_and_stops_nobody(error: BaseException) -> None:
    manager = Manager()
    manager.add(_raises(error), "bad")
    manager.add(adds_command(), "good")
    assert list(manager.commands()) == ["hello"]
    assert problems(manager) == [f"plugin bad: longbox_register_commands: {type(error).__name__}: {error}"]
    assert list(manager.commands()) == ["hello"] and len(manager.problems) == 1
    manager.strict = True
    with pytest.raises(PluginError):
        manager.commands()


def test_two_plugins_with_one_command_are_a_problem_that_names_both() -> None:
    manager = Manager()
    manager.add(adds_command(), "zebra")
    manager.add(adds_command(), "ant")
    assert manager.commands()["hello"].plugin == "ant"
    assert problems(manager) == ["plugin zebra: command 'hello' is already registered by plugin ant"]


def test_what_is_built_in_cannot_be_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(builtin.COMMANDS, "hello", "somewhere")
    manager = make_manager(installed=False)
    manager.add(adds_command(), "ant")
    assert manager.commands()["hello"].plugin == BUILTIN
    assert problems(manager) == ["plugin ant: command 'hello' is already registered by plugin longbox"]


def test_two_plugins_of_one_name_are_a_problem() -> None:
    manager = Manager()
    manager.add(adds_command("one"), "same")
    assert not manager.add(adds_command("two"), "same")
    assert list(manager.commands()) == ["one"]
    assert problems(manager) == ["plugin same: another plugin has this name"]


@pytest.mark.parametrize("name", ["", " padded", None])
def test_a_name_that_is_none_is_refused(name: Any) -> None:
    manager = Manager()
    manager.add(adds_command(name), "bad")
    assert manager.commands() == {} and len(manager.problems) == 1


def test_order_does_not_depend_on_the_order_of_installation() -> None:
    orders = []
    for names in (["b", "a", "c"], ["c", "b", "a"]):
        manager = make_manager(installed=False)
        for name in names:
            manager.add(adds_command(f"by {name}"), name)
        orders.append([row.plugin for row in manager.commands().values() if row.name.startswith("by ")])
    assert orders == [["a", "b", "c"]] * 2


# ---------------------------------------------------------------- entry points
def installed(folder: Path, name: str, module: str, text: str) -> None:
    """Lay out an installed distribution with one plugin."""
    (folder / f"{module}.py").write_text(text, "utf-8")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[longbox.plugins]\n{name} = {module}\n", "utf-8")


def test_installed_plugins_load_and_a_broken_one_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = (
        "from longbox.plugins.hookspecs import hookimpl\n"
        "@hookimpl\ndef longbox_find_packs(register):\n    register.folder('somewhere')\n"
    )
    installed(tmp_path, "broken", "lb_broken_plugin", "import no_such_module_anywhere\n")
    installed(tmp_path, "quits", "lb_quitting_plugin", "raise SystemExit(1)\n")
    installed(tmp_path, "works", "lb_working_plugin", good)
    monkeypatch.syspath_prepend(str(tmp_path))
    manager = make_manager()
    assert ("somewhere", "works") in [(row.name, row.plugin) for row in manager.folders()]
    assert [p.plugin for p in manager.problems] == ["broken", "quits"]
    assert "lb_broken_plugin cannot be imported: ModuleNotFoundError" in manager.problems[0].what
    with pytest.raises(PluginError, match="broken"):
        make_manager(strict=True)
    assert make_manager(installed=False).problems == []


# ---------------------------------------------------------------- the contract
@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_is_documented_with_its_signature_and_one_sentence(name: str) -> None:
    arguments = ", ".join(inspect.signature(HOOKS[name]).parameters)
    text = DOCS.read_text("utf-8")
    assert f"### `{name}({arguments})`" in text
    assert (HOOKS[name].__doc__ or "").strip() in text.replace("\n", " ")


def test_every_hook_begins_with_the_prefix_and_takes_a_register() -> None:
    assert HOOKS and all(list(inspect.signature(hook).parameters) == ["register"] for hook in HOOKS.values())


def test_the_plugin_shown_in_the_docs_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = DOCS.read_text("utf-8").split("```python\n")[1].split("```")[0]
    module = ModuleType("shown")
    module.__file__ = str(tmp_path / "shown.py")
    exec(example, vars(module))
    manager = make_manager(installed=False, strict=True)
    manager.add(module, "shown")
    assert manager.commands()["hello"].value.run(Namespace(loud=True)) == 0
    question: Any = Namespace(keys=["left", "right"])
    assert manager.bots()["last"].value(1)(question, question) == "right"
    assert manager.folders()[-1].value == tmp_path / "packs"


def test_listing_imports_neither_the_parser_nor_the_compiler() -> None:
    code = (
        "import sys\nfrom longbox.plugins.loader import games\nassert games()\n"
        "print([m for m in ('lark', 'eventsourcing', 'longbox.dsl.compiler') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
