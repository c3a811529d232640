from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lgl_bench.core.resources import shipped

ROOT = Path(__file__).resolve().parents[2]


def test_a_checkout_finds_its_manifests_at_the_top_level() -> None:
    assert shipped("data_manifests") == ROOT / "data_manifests"
    assert (shipped("data_manifests") / "cora.toml").is_file()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-q", "-w"]
    done = subprocess.run([*command, str(folder), str(ROOT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_a_wheel_carries_every_manifest(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    manifests = {path.name for path in (ROOT / "data_manifests").glob("*.toml")}
    assert "cora.toml" in manifests
    assert {f"lgl_bench/shipped/data_manifests/{name}" for name in manifests} <= names
    assert {"lgl_bench/shipped/benchmarks/temporal.toml", "lgl_bench/plans/paper/hyperparameters.csv"} <= names


def test_an_installed_wheel_finds_its_manifests_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "import lgl_bench; from lgl_bench.core.resources import shipped; "
        "from lgl_bench.streams.catalogue import manifests; "
        "print(lgl_bench.__file__); print(shipped('data_manifests')); print(len(manifests()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    place, folder, count = done.stdout.split("\n")[:3]
    assert Path(place).is_relative_to(tmp_path)
    assert Path(folder) == tmp_path / "site" / "lgl_bench" / "shipped" / "data_manifests"
    assert int(count) == len(list((ROOT / "data_manifests").glob("*.toml")))
