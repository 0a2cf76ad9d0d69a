"""The pytest plugin: every *.scene file is collected, every scene is a test.

A scene may use the packs that Longbox finds anyway, those in the folders named by the ini setting
`longbox_packs`, and those it lies among: in the folders above it, up to pytest's root, and in those beside
the topmost of these. A scene with a `trace` line is also compared with a file beside it,
`__scenes__/<file>/<scene>.events`. syrupy keeps it: --snapshot-update writes it.

pytest loads this module in every project that has Longbox installed, so the rest is imported only when there
is a scene. Items are `pytest.Function`s, and the folder is not called `__snapshots__`: else syrupy would
take traces for unused ones and delete them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from syrupy.extensions.single_file import SingleFileSnapshotExtension

    from longbox.dsl.scenes import Scene
    from longbox.dsl.source import Source

    from .packs import Pack

FOLDER = "__scenes__"
_PACKS = pytest.StashKey["dict[Path, dict[str, Pack]]"]()


# ---------------------------------------------------------------- hooks
def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("longbox")
    group.addoption(
        "--longbox-rules", action="store_true", help="list the rules that the collected scenes cite"
    )
    parser.addini("longbox_packs", "folders with packs that scenes may use", type="paths", default=[])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SceneFile | None:
    return SceneFile.from_parent(parent, path=file_path) if file_path.suffix == ".scene" else None


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> list[str]:
    if not config.getoption("longbox_rules"):
        return []
    cited: dict[str, list[str]] = {}
    for item in items:
        for rule in item.scene.unit.cites if isinstance(item, SceneItem) else ():
            cited.setdefault(rule, []).append(item.nodeid)
    lines = [f"{rule}  {nodeid}" for rule, nodes in sorted(cited.items()) for nodeid in nodes]
    return [*lines, f"{len(cited)} rules are cited"]


# ---------------------------------------------------------------- collecting
class SceneFile(pytest.File):
    """A file of scenes. If anything in it cannot be read, all problems are shown and nothing is run."""

    def collect(self) -> Iterator[SceneItem]:
        from longbox.dsl.problems import TextError
        from longbox.dsl.scenes import read_scenes

        try:
            source = source_of(self.path)
            scenes = read_scenes(source, self._find)
        except TextError as error:
            raise self.CollectError(error.show()) from None
        except (OSError, ValueError) as error:
            raise self.CollectError(f"{self.path.name} cannot be read: {error}") from None
        for scene in scenes:
            yield SceneItem.from_parent(
                self, name=scene.slug, originalname=scene.slug, callobj=play, scene=scene
            )

    def _find(self, game: str, packs: tuple[str, ...]) -> list[Source]:
        """The texts of a game, with packs and all that they need."""
        from .loader import sources_of
        from .packs import closure

        return sources_of(closure(packs_for(self.config, self.path), [game, *packs]))


def source_of(path: Path) -> Source:
    from longbox.dsl.source import Source

    from .packs import label_of, read_text

    return Source(label_of(path, path.name, given=False), read_text(path))


def packs_for(config: pytest.Config, scene: Path) -> dict[str, Pack]:
    """Every pack that a scene may use: looked for once for each folder."""
    from .packs import find

    known = config.stash.setdefault(_PACKS, {})
    if scene.parent not in known:
        finds = find([Path(folder) for folder in config.getini("longbox_packs")])
        for folder in folders_around(scene, config.rootpath):
            finds.look(folder, "beside the scene")
        known[scene.parent] = finds.packs
    return known[scene.parent]


def folders_around(scene: Path, root: Path) -> list[Path]:
    """The folders above a scene that hold packs, and those beside the topmost of them."""
    above = [folder for folder in scene.parents if _holds_packs(folder) and folder.is_relative_to(root)]
    if not above or above[-1] == root:
        return above
    beside = sorted(
        folder for folder in above[-1].parent.iterdir() if folder.is_dir() and _holds_packs(folder)
    )
    return [*above, *(folder for folder in beside if folder not in above)]


def _holds_packs(folder: Path) -> bool:
    return not folder.name.startswith(".") and any(folder.glob("*.box"))


# ---------------------------------------------------------------- running
class SceneItem(pytest.Function):
    """One scene."""

    def __init__(self, *, scene: Scene, **rest: Any) -> None:
        super().__init__(**rest)
        self.scene = scene
        self.extra_keyword_matches.update({scene.title, *scene.unit.cites})

    def reportinfo(self) -> tuple[Path, int, str]:
        line = self.scene.unit.span.line
        return self.path, line - 1, f'{self.path.name}:{line} scene "{self.scene.title}"'

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]  # text, as pytest allows
        from longbox.dsl.scene_run import SceneFailed

        return (
            excinfo.value.show() if isinstance(excinfo.value, SceneFailed) else super().repr_failure(excinfo)
        )


def play(request: pytest.FixtureRequest) -> None:
    """What every item calls: run its scene, then look at its trace."""
    from longbox.dsl.scene_run import run

    item = request.node
    assert isinstance(item, SceneItem)
    lines = run(item.scene)
    if item.scene.unit.trace:
        compare_trace(request, item, lines)


def compare_trace(request: pytest.FixtureRequest, item: SceneItem, lines: list[str]) -> None:
    if not request.config.pluginmanager.has_plugin("syrupy"):
        pytest.fail(
            "a trace is kept by syrupy, which is not here: pip install 'longbox[test]'", pytrace=False
        )
    from syrupy.terminal import disable_color

    wanted = request.getfixturevalue("snapshot").use_extension(event_log())
    if lines != wanted:  # no assert: the plugin's asserts are not rewritten
        with disable_color() if request.config.option.no_colors else nullcontext():
            diff = "\n".join(wanted.get_assert_diff())
        pytest.fail(f"the trace differs (--snapshot-update accepts it):\n{diff}", pytrace=False)


@cache
def event_log() -> type[SingleFileSnapshotExtension]:
    """The traces of scenes as files, one for each scene."""
    from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

    class EventLog(SingleFileSnapshotExtension):
        _write_mode = WriteMode.TEXT
        file_extension = "events"
        snapshot_dirname = FOLDER

        @classmethod
        def dirname(cls, *, test_location: Any) -> str:
            path = Path(test_location.filepath)
            return str(path.parent / FOLDER / path.stem)

        def owns_snapshot_collection(self, *, filepath: str, test_location: Any) -> bool:
            """A trace is unused only if its scene keeps none any more."""
            if _is_kept(Path(filepath)):
                return False
            return super().owns_snapshot_collection(filepath=filepath, test_location=test_location)

        def serialize(self, data: Any, **_: Any) -> str:
            return "\n".join(data) + "\n"

    return EventLog


def _is_kept(trace: Path) -> bool:
    from longbox.dsl.scenes import traced_in

    scene = trace.parents[1].parent / f"{trace.parent.name}.scene"
    try:
        traced = traced_in(source_of(scene)) if scene.exists() else set()
    except (OSError, ValueError):
        return True
    return traced is None or trace.stem in traced
