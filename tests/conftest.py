"""What several tests share."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

# Before torch is imported: on matrices this small, threads only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
if os.environ.get("LGL_BENCH_TEST_WITHOUT_DGL"):
    # Here, and by the folder's sitecustomize.py in every process that a test starts.
    sys.modules["dgl"] = None  # type: ignore[assignment]
    _without = str(Path(__file__).parent / "support" / "without_dgl")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (_without, os.environ.get("PYTHONPATH"))))

import pytest
from hypothesis import settings

# How long one example takes says nothing on cores that are shared with other tests.
settings.register_profile("shared-cores", deadline=None)
settings.load_profile("shared-cores")

# Whoever imports it, as the search for doctests would, can import DGL no more.
collect_ignore = ["support/without_dgl"]
pytest_plugins = ["tests.support.runs", "tests.support.bundles"]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of a file go to one process, so that what they share is made once; files in the order they are found.

    Those of the package, whose doctests are quick, are last: no process waits long for the other.
    """
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What commands print has no width: processes that share the tests between them set one."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of the real data sets; the test is skipped where there is none."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("LGL_BENCH_REAL_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}; LGL_BENCH_REAL_DATA names its folder")
    return folder
