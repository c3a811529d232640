from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lgl_bench.core import registry as module
from lgl_bench.core.errors import DuplicateNameError, PluginError, UnknownNameError
from lgl_bench.core.registry import Registry, load_plugin


class One:
    pass


class Other:
    pass


def fresh(*modules: str) -> Registry[Any]:
    return Registry("detector", "lgl_bench.test_group", modules)


@dataclass
class Point:
    """An entry point, as importlib.metadata gives it."""

    name: str
    loader: Callable[[], object]

    def load(self) -> object:
        return self.loader()


def announce(monkeypatch: pytest.MonkeyPatch, *points: Point) -> None:
    groups = {"lgl_bench.test_group": points}
    monkeypatch.setattr(module, "entry_points", lambda group: groups.get(group, ()))


def test_a_decorated_plugin_is_found_under_its_name_and_stays_itself() -> None:
    registry = fresh()
    assert registry.register("one")(One) is One
    assert registry.get("one") is One
    assert "one" in registry
    assert "other" not in registry


def test_names_are_sorted_whatever_the_order_of_registration() -> None:
    registry = fresh()
    for name in ("zeta", "alpha", "mid"):
        registry.register(name)(name.upper())
    assert registry.names() == ["alpha", "mid", "zeta"]


def test_a_second_plugin_under_a_name_raises_and_both_are_named() -> None:
    registry = fresh()
    registry.register("odin")(One)
    with pytest.raises(DuplicateNameError, match="'odin'") as caught:
        registry.register("odin")(Other)
    assert f"{One.__module__}.One" in str(caught.value)
    assert f"{Other.__module__}.Other" in str(caught.value)
    assert registry.get("odin") is One


def test_the_same_plugin_may_be_registered_again() -> None:
    registry = fresh()
    registry.register("odin")(One)
    registry.register("odin")(One)
    assert registry.get("odin") is One


def test_an_unknown_name_is_answered_with_the_nearest_one() -> None:
    registry = fresh()
    registry.register("odin")(One)
    registry.register("energy")(Other)
    with pytest.raises(UnknownNameError) as caught:
        registry.get("ODN")
    assert str(caught.value) == (
        "unknown detector 'ODN'; did you mean 'odin'? 'lgl-bench list detectors' shows them all"
    )
    assert caught.value.exit_code == 2


def test_a_name_near_to_none_gets_no_guess() -> None:
    registry = fresh()
    registry.register("odin")(One)
    with pytest.raises(UnknownNameError, match="unknown detector 'quite another'") as caught:
        registry.get("quite another")
    assert "did you mean" not in str(caught.value)


def test_built_in_modules_are_imported_on_the_first_look_up_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lgl_test_builtin.py").write_text("LOADED = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "lgl_test_builtin", raising=False)
    registry = fresh("lgl_test_builtin")
    registry.register("one")(One)
    assert "lgl_test_builtin" not in sys.modules
    registry.names()
    assert sys.modules.pop("lgl_test_builtin").LOADED


def test_an_entry_point_of_the_group_is_found_and_one_of_another_group_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    announce(monkeypatch, Point("one", lambda: One))
    assert fresh().get("one") is One
    assert "one" not in Registry[Any]("head", "lgl_bench.another_group")


def test_entry_points_are_not_loaded_before_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    announce(monkeypatch, Point("one", lambda: loaded.append("one") or One))
    registry = fresh()
    assert not loaded
    registry.get("one")
    registry.get("one")
    assert loaded == ["one"]


def test_a_broken_entry_point_hides_no_other_and_tells_its_reason_when_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails() -> object:
        raise ImportError("No module named 'gone'")

    announce(monkeypatch, Point("broken", fails), Point("one", lambda: One))
    registry = fresh()
    assert registry.get("one") is One
    assert registry.names() == ["one"]
    assert registry.broken() == {"broken": "ImportError: No module named 'gone'"}
    with pytest.raises(PluginError, match="detector 'broken'.*ImportError: .* 'gone'.*uninstall"):
        registry.get("broken")


def test_an_entry_point_whose_module_also_registers_itself_is_no_duplicate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registry = fresh()
    announce(monkeypatch, Point("one", lambda: registry.register("one")(One)))
    assert registry.get("one") is One


def test_an_entry_point_under_a_name_that_is_taken_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    announce(monkeypatch, Point("one", lambda: Other))
    registry = fresh()
    registry.register("one")(One)
    with pytest.raises(DuplicateNameError, match="One.*Other"):
        registry.names()


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Registry[Any]:
    """A registry that a plugin file can import."""
    registry = fresh()
    monkeypatch.setattr(module, "shared_for_tests", registry, raising=False)
    return registry


PLUGIN = """
from lgl_bench.core.registry import shared_for_tests

@shared_for_tests.register("mine")
class Mine:
    pass
"""


def test_a_plugin_file_registers_what_it_decorates_and_its_classes_can_be_imported_again(
    tmp_path: Path, shared: Registry[Any]
) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    load_plugin(tmp_path / "mine.py")
    found = shared.get("mine")
    assert getattr(sys.modules[found.__module__], found.__qualname__) is found


def test_a_plugin_file_that_fails_is_named_with_its_error_and_leaves_no_module(tmp_path: Path) -> None:
    path = tmp_path / "failing.py"
    path.write_text("1 / 0\n")
    with pytest.raises(PluginError, match="failing.py failed on import: ZeroDivisionError: division by zero"):
        load_plugin(path)
    assert "lgl_bench_plugin_failing" not in sys.modules


def test_a_plugin_file_that_takes_a_name_is_refused_and_leaves_no_module(tmp_path: Path, shared: Registry[Any]) -> None:
    shared.register("mine")(One)
    path = tmp_path / "taking.py"
    path.write_text(PLUGIN)
    with pytest.raises(PluginError, match="taking.py cannot be used.*'mine' is registered already.*One"):
        load_plugin(path)
    assert "lgl_bench_plugin_taking" not in sys.modules
    assert shared.get("mine") is One


def test_a_plugin_file_that_is_missing_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="none.py does not exist") as caught:
        load_plugin(tmp_path / "none.py")
    assert caught.value.exit_code == 2


def test_a_plugin_file_must_be_a_python_file(tmp_path: Path) -> None:
    (tmp_path / "plugin.txt").write_text("")
    with pytest.raises(PluginError, match=r"plugin.txt is no Python file; its name must end in \.py"):
        load_plugin(tmp_path / "plugin.txt")


def test_only_built_in_plugins_are_seen_and_no_package_is_loaded_while_a_strangers_files_are_read(monkeypatch) -> None:
    loaded: list[str] = []

    def load() -> object:
        loaded.append("other")
        return Other

    announce(monkeypatch, Point("other", load))
    registry = fresh()
    registry.register("one")(One)
    registry.register("own")(Registry)
    with module.only_built_in():
        assert registry.names() == ["own"]
        assert "one" not in registry
        with pytest.raises(UnknownNameError):
            registry.get("one")
        assert loaded == []
    assert registry.names() == ["one", "other", "own"]
    assert registry.is_built_in("own")
    assert not registry.is_built_in("one")
    assert not registry.is_built_in("nobody")


@pytest.mark.parametrize("name", ["two words", "a\nb", "../up", "Upper", "5th", "", "a" * 61, "plus+plus", "caf\u00e9"])
def test_a_name_that_no_expression_can_ask_for_is_refused(name: str) -> None:
    with pytest.raises(PluginError, match="cannot be the name of a detector") as caught:
        fresh().register(name)(One)
    assert str(caught.value).isprintable()


def test_an_announced_plugin_with_such_a_name_is_broken_and_the_others_work(monkeypatch: pytest.MonkeyPatch) -> None:
    announce(monkeypatch, Point("two words", lambda: One), Point("other", lambda: Other))
    registry = fresh()
    assert registry.names() == ["other"] and "two words" in registry.broken()


def test_a_plugin_is_built_in_only_if_it_is_defined_where_it_claims_to_be() -> None:
    class Claims:
        __module__ = "lgl_bench.core.registry"

    registry = fresh()
    registry.register("own")(Registry)
    registry.register("claims")(Claims)
    assert registry.is_built_in("own")
    assert not registry.is_built_in("claims") and not registry.is_built_in("nobody")


def test_asking_what_is_built_in_loads_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    announce(monkeypatch, Point("one", lambda: loaded.append("one") or One))
    assert not fresh().is_built_in("one") and not loaded


def test_what_comes_from_a_file_or_a_package_can_be_loaded_elsewhere_and_what_a_script_registers_cannot(
    tmp_path: Path, shared: Registry[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    announce(monkeypatch, Point("announced", lambda: Other))
    (tmp_path / "mine.py").write_text(PLUGIN)
    load_plugin(tmp_path / "mine.py")
    shared.register("scripted")(One)
    assert shared.names() == ["announced", "mine", "scripted"]
    assert [shared.loadable(name) for name in shared.names()] == [True, True, False]
    (file,) = shared.files().values()
    assert file.path == str(tmp_path / "mine.py") and file.source == PLUGIN.encode()


def test_a_plugin_file_that_is_loaded_again_replaces_what_it_registered(tmp_path: Path, shared: Registry[Any]) -> None:
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN)
    load_plugin(path)
    first = shared.get("mine")
    path.write_text(PLUGIN + "    edited = True\n")
    load_plugin(path)
    assert shared.get("mine") is not first and shared.get("mine").edited


def test_a_plugin_file_that_exits_is_an_error_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit('bye')\n")
    with pytest.raises(PluginError, match="leaving.py failed on import: SystemExit: bye"):
        load_plugin(tmp_path / "leaving.py")


def test_what_is_registered_temporarily_is_forgotten_and_all_is_as_before(monkeypatch, tmp_path: Path) -> None:
    registry = fresh()
    announce(monkeypatch, Point("announced", lambda: Other), Point("broken", lambda: 1 / 0))
    registry.register("one")(One)
    monkeypatch.setattr(module, "registry_of_a_test", registry, raising=False)
    file = tmp_path / "mine_of_a_test.py"
    file.write_text(
        "from lgl_bench.core.registry import registry_of_a_test\n\n\n"
        "@registry_of_a_test.register('mine')\nclass Mine:\n    pass\n"
    )
    with pytest.raises(KeyError, match="whatever"), registry.temporarily():
        registry.register("two")(Other)
        load_plugin(file)
        assert registry.names() == ["announced", "mine", "one", "two"] and set(registry.files()) == {"mine"}
        assert "lgl_bench_plugin_mine_of_a_test" in sys.modules
        raise KeyError("whatever")
    assert registry.names() == ["announced", "one"] and registry.files() == {}
    assert registry.broken() == {"broken": "ZeroDivisionError: division by zero"}
    assert registry.get("announced") is Other and registry.loadable("announced")
    assert "lgl_bench_plugin_mine_of_a_test" not in sys.modules
    registry.register("two")(One)
    assert registry.get("two") is One


@pytest.mark.parametrize("name", ["external", "external-mine"])
def test_no_plugin_takes_the_name_of_answers_made_outside(name):
    with pytest.raises(PluginError, match="it stands for answers made outside lgl-bench"):
        Registry("detector", "nobody").register(name)(object())
