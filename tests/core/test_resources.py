from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import lgl_bench
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


def test_a_wheel_is_what_an_index_takes(wheel: Path) -> None:
    pytest.importorskip("twine", reason="twine comes with the extra test")
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", str(wheel)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "PASSED" in done.stdout, done.stdout + done.stderr


def test_a_wheel_in_a_clean_environment_has_the_command(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index"]
    done = subprocess.run([*install, str(wheel)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # What it depends on is taken from here; the checkout is not, because a path in a .pth file reads no other one.
    (site,) = home.glob("lib/*/site-packages")
    (site / "here.pth").write_text(sysconfig.get_path("purelib") + "\n")
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    given = {"env": clean, "cwd": tmp_path, "capture_output": True, "text": True, "check": True}
    where = subprocess.run([str(python), "-c", "import lgl_bench; print(lgl_bench.__file__)"], **given)
    assert Path(where.stdout.strip()) == site / "lgl_bench" / "__init__.py"
    version = subprocess.run([str(home / "bin" / "lgl-bench"), "--version"], **given)
    assert lgl_bench.__version__ in version.stdout
    plan = subprocess.run([str(home / "bin" / "lgl-bench"), "run", "--suite", "smoke", "--dry-run", "--json"], **given)
    assert json.loads(plan.stdout)["suite"] == "smoke"


def test_the_image_is_made_by_the_commands_of_the_readme() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    commands = {line.partition(" ")[0]: line.partition(" ")[2] for line in lines if line and not line.startswith("#")}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    install, _, _ = commands["RUN"].partition(" && ")
    shown = install.replace("--no-cache-dir ", "").replace("'.[report]'", ".")
    assert shown == "pip install -c constraints.txt -e ." and shown in readme
    assert commands["FROM"].startswith("python:3.11")
    assert commands["ENTRYPOINT"] == '["lgl-bench"]'
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    copied = commands["COPY"].split()[:-1]
    assert all((ROOT / name).exists() for name in copied) and not set(copied) & set(ignored)
