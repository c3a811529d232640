"""What the tests of the docs share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lgl_bench.streams.store import write_stream
from tests.docs.walk import forgetting
from tests.graphs import small_stream
from tests.runs.conftest import InProcess


@pytest.fixture
def clean_registries() -> Iterator[None]:
    """What a test registers is gone after it."""
    with forgetting():
        yield


@pytest.fixture
def small_world(tmp_path, monkeypatch) -> Path:
    """An empty folder to work in, a data folder with a small stream, and runs in this process.

    One process is quicker than starting several for runs this small, and nothing depends on the machine's own data.
    """
    write_stream(small_stream(), tmp_path / "data" / "small")
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.setenv("LGL_BENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("lgl_bench.api.Pool", lambda *limits: InProcess())
    monkeypatch.chdir(folder)
    return folder
