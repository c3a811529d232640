"""Nothing imports DGL unless it is asked for, and a run needs none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.test_portable_imports import modules

WITHOUT = str(Path(__file__).parent / "support" / "without_dgl")
IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
found = {"dgl": sys.modules.get("dgl")}
print(found)
"""


def without_dgl(*command: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(filter(None, (WITHOUT, os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=False)


def test_every_module_is_imported_without_dgl() -> None:
    names = [name for name in modules() if name != "lgl_bench.kernels.with_dgl"]
    done = without_dgl("-c", IMPORT_ALL, *names)
    assert done.returncode == 0 and done.stdout.strip() == "{'dgl': None}", done.stderr


def test_no_module_imports_dgl_where_it_is_installed() -> None:
    names = [name for name in modules() if name != "lgl_bench.kernels.with_dgl"]
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.strip() == "{'dgl': None}", done.stdout + done.stderr


@pytest.mark.parametrize("kernels", ["native", "torch"])
def test_a_run_needs_no_dgl_and_says_what_computed_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernels) -> None:
    monkeypatch.setenv("LGL_BENCH_KERNELS", kernels)
    command = "-m lgl_bench.cli run --suite smoke --budget smoke --backbone gcn --detector energy --seeds 1 --jobs 1"
    folders = ("--out", str(tmp_path / "out"), "--data-dir", str(tmp_path / "data"))
    done = without_dgl(*command.split(), *folders)
    assert done.returncode == 0, done.stderr
    board = pd.read_csv(tmp_path / "out" / "leaderboard.csv", keep_default_na=False)
    assert set(board["kernels"]) == {kernels} and set(board["dgl"]) == {""}


def test_dgl_kernels_are_refused_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LGL_BENCH_KERNELS", "dgl")
    done = without_dgl("-m", "lgl_bench.cli", "run", "--suite", "smoke", "--out", str(tmp_path / "out"))
    assert done.returncode == 2 and "DGL is not installed" in done.stderr, done.stderr
