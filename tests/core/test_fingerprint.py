"""Digests of code: a helper that changes is noticed wherever it is used, and nowhere else."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from lgl_bench.backbones import backbones
from lgl_bench.core import fingerprint
from lgl_bench.core.fingerprint import closure, digest, package_files, plugin_files
from lgl_bench.core.registry import load_plugin
from lgl_bench.detectors import detectors
from lgl_bench.plans import fits as units
from lgl_bench.plans.fits import ChainSpec, ProtocolSetting, unit_key
from lgl_bench.runs import answer_digests
from lgl_bench.runs.answer_digests import named_digest

# What `RUN_CODE` imports from `plans` and `runs` without being covered by a digest, and why that is right.
IN_THE_KEY = {
    "plans.paper_presets": "parameters are in the key one by one",
    "plans.fits": "describes the key itself",
    "runs.devices": "memory is measured, and the device is in the key",
    "plans.suited": "says which detectors are planned, and their expressions are named",
}


@pytest.fixture
def changed(monkeypatch):
    """Makes one line of a file of the package another one, as far as digests can see."""
    _clear()
    read = fingerprint.read_source

    def change(name: str) -> None:
        monkeypatch.setattr(
            fingerprint, "read_source", lambda path: read(path) + b"# x\n" * path.as_posix().endswith(name)
        )
        _clear()

    yield change
    monkeypatch.undo()
    _clear()


def _clear() -> None:
    cached = (fingerprint.content_digest, fingerprint.imported)
    for function in (*cached, units._digest_of, units._fit_code, answer_digests._answer_code):
        function.cache_clear()


def key_of(backbone: str = "gcn", head: str = "softmax") -> str:
    protocol = ProtocolSetting("temporal")
    return unit_key(ChainSpec("s", None, protocol, backbone, head, (), 1, 0.1, 0), "prefix", 2000, "", "")


def test_a_line_in_a_helper_of_a_detector_changes_the_answers_of_those_that_use_it_and_of_no_other(changed):
    names = ("odin", "good(odin)", "odin|gdoc", "msp", "good(msp)", "msp|gdoc")
    before, key = {name: named_digest(name) for name in names}, key_of()
    changed("detectors/perturb.py")
    assert {name for name in names if named_digest(name) != before[name]} == {"odin", "good(odin)", "odin|gdoc"}
    assert key_of() == key


@pytest.mark.parametrize(
    "name",
    [
        "kernels/loops.py",
        "kernels/choice.py",
        "backbones/layers/sparse.py",
        "backbones/gcn.py",
        "heads/softmax.py",
        "training/batches.py",
        "strategies/history.py",
        "strategies/offers.py",
        "protocols/temporal.py",
        "protocols/subgraph.py",
        "streams/stream.py",
        "streams/tensors.py",
        "core/seeds.py",
        "core/types.py",
        "runs/answering.py",
        "runs/worker.py",
    ],
)
def test_a_line_in_code_below_the_fit_changes_its_key(changed, name):
    before = key_of()
    changed(name)
    assert key_of() != before


@pytest.mark.parametrize("name", ["detectors/mapping.py", "detectors/good.py", "runs/scoring.py", "detectors/msp.py"])
def test_a_line_in_what_makes_answers_changes_them(changed, name):
    before = named_digest("msp")
    changed(name)
    assert named_digest("msp") != before


def test_a_line_in_a_threshold_changes_its_decisions_alone(changed):
    before = {name: named_digest(name) for name in ("msp", "msp|gdoc", "msp|naive")}
    changed("thresholds/gdoc.py")
    assert {name for name in before if named_digest(name) != before[name]} == {"msp|gdoc"}


def test_code_that_only_grades_or_shows_changes_nothing(changed):
    before = key_of(), named_digest("odin|gdoc")
    for name in ("metrics/ranking.py", "leaderboard/build.py", "grading/years.py", "cli/run.py"):
        changed(name)
        assert (key_of(), named_digest("odin|gdoc")) == before


def test_every_module_of_runs_that_answers_are_made_with_is_covered_or_is_in_the_key():
    for file in package_files(*units.RUN_CODE):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = (getattr(node, "module", None) or "").removeprefix("lgl_bench.")
            if isinstance(node, ast.ImportFrom) and name.startswith(("plans.", "runs.")):
                assert name in units.RUN_CODE or name in IN_THE_KEY, f"{file.name} imports {name}"


def test_the_code_of_a_built_in_plugin_holds_no_library_wherever_that_is_installed():
    package = Path(fingerprint.__file__).parents[1]
    files = closure(plugin_files(backbones.get("gcn")))
    assert files and all(path.is_relative_to(package) for path in files)


PLUGIN = """
import json

import numpy as np

from helper_of_mine import scale
from lgl_bench.detectors import Detector, detectors


@detectors.register("with-a-helper")
class WithHelper(Detector):
    def score(self, model, graph):
        return np.zeros(graph.num_vertices) * scale()
"""


def test_a_plugin_has_the_files_beside_it_that_it_imports_and_no_library(tmp_path, monkeypatch):
    helper = tmp_path / "helper_of_mine.py"
    helper.write_text("from deeper.part import scale\n")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "__init__.py").touch()
    part = tmp_path / "deeper" / "part.py"
    part.write_text("from . import other\n\ndef scale():\n    return 1\n")
    (tmp_path / "deeper" / "other.py").touch()
    (tmp_path / "unused.py").touch()
    (tmp_path / "plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    with detectors.temporarily():
        load_plugin(tmp_path / "plugin.py")
        files = closure(plugin_files(detectors.get("with-a-helper")))
    own = {path.relative_to(tmp_path).as_posix() for path in files if path.is_relative_to(tmp_path)}
    assert own == {"plugin.py", "helper_of_mine.py", "deeper/__init__.py", "deeper/part.py", "deeper/other.py"}
    package = Path(fingerprint.__file__).parents[1]
    assert all(path.is_relative_to(tmp_path) or path.is_relative_to(package) for path in files)
    before = digest(files)
    part.write_text("from . import other\n\ndef scale():\n    return 2.5\n")
    assert digest(files) != before


def test_imports_are_followed_through_cycles_and_a_file_that_is_no_python_counts_by_its_bytes(tmp_path):
    (tmp_path / "a.py").write_text("import b\n")
    (tmp_path / "b.py").write_text("import a\nimport broken\n")
    (tmp_path / "broken.py").write_text("def (:\n")
    assert {path.name for path in closure([tmp_path / "a.py"])} == {"a.py", "b.py", "broken.py"}


def test_packages_of_an_environment_below_this_one_are_libraries_too(tmp_path, monkeypatch):
    library = tmp_path / "below" / "site-packages" / "library_of_a_test"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text("class Base:\n    pass\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "plugin_of_a_test.py").write_text(
        "from library_of_a_test import Base\n\nclass Mine(Base):\n    pass\n"
    )
    monkeypatch.syspath_prepend(library.parent)
    monkeypatch.syspath_prepend(tmp_path / "mine")
    found = plugin_files(importlib.import_module("plugin_of_a_test").Mine)
    assert found == [tmp_path / "mine" / "plugin_of_a_test.py"] and closure(found) == found
