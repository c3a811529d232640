from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def empty_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of the test, with nothing in it; the user's own stays out of it."""
    monkeypatch.setenv("LGL_BENCH_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Three vertices and two edges in the layout for everybody."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "vertices.csv").write_text("id,time,label,f_a\n3,2001,a,1.0\n1,2000,b,2.0\n2,2000,a,0.5\n")
    (folder / "edges.csv").write_text("source,target\n3,1\n1,2\n")
    return folder
