from __future__ import annotations

import tomllib
from types import SimpleNamespace

import pytest

from lgl_bench.backbones import backbones
from lgl_bench.checks import check_plugin
from lgl_bench.core.errors import UsageError
from lgl_bench.core.registry import load_plugin
from lgl_bench.detectors import detectors
from lgl_bench.strategies import strategies
from lgl_bench.submissions.scaffold import scaffold
from lgl_bench.thresholds import thresholds

REGISTRIES = {"detector": detectors, "backbone": backbones, "threshold": thresholds, "strategy": strategies}


@pytest.mark.parametrize("kind", REGISTRIES)
def test_a_new_package_passes_the_battery_as_written(kind, tmp_path):
    files = scaffold(kind, "my-idea-2", tmp_path)
    assert set(files) == {"pyproject.toml", "README.md", "my_idea_2/__init__.py", "tests/test_my_idea_2.py"}
    with REGISTRIES[kind].temporarily():
        load_plugin(tmp_path / "my_idea_2" / "__init__.py")
        results = check_plugin(REGISTRIES[kind].plural, "my-idea-2")
        found = REGISTRIES[kind].get("my-idea-2")
    assert results
    assert [f"{r.check}: {r.reason}" for r in results if r.status == "failed"] == []
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    assert project["entry-points"][REGISTRIES[kind].group] == {"my-idea-2": f"my_idea_2:{found.__name__}"}


@pytest.mark.parametrize(
    "name", ["My", "1x", "a b", "../x", "-x", "x-", "a--b", "x" * 41, "", "class", "json", "lgl-bench", "msp"]
)
def test_a_name_that_cannot_be_used_is_refused_and_nothing_is_written(name, tmp_path):
    with pytest.raises(UsageError, match="name"):
        scaffold("detector", name, tmp_path / "package")
    assert not (tmp_path / "package").exists()


def test_nothing_is_overwritten_without_force(tmp_path):
    scaffold("detector", "my-idea", tmp_path)
    mine = tmp_path / "my_idea" / "__init__.py"
    mine.write_text("my work")
    (tmp_path / "README.md").unlink()
    with pytest.raises(UsageError, match=r"pyproject\.toml exists already.*--force"):
        scaffold("detector", "my-idea", tmp_path)
    assert mine.read_text() == "my work"
    assert not (tmp_path / "README.md").exists()
    scaffold("detector", "my-idea", tmp_path, force=True)
    assert "my work" not in mine.read_text()


def test_another_kind_has_no_package(tmp_path):
    with pytest.raises(UsageError, match="protocol"):
        scaffold("protocol", "mine", tmp_path)


def test_the_name_of_a_plugin_of_ones_own_can_be_used_again(tmp_path):
    with detectors.temporarily():
        detectors.register("my-idea")(SimpleNamespace(__module__="my_idea"))
        assert scaffold("detector", "my-idea", tmp_path)
