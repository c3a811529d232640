from __future__ import annotations

from pathlib import Path

import pytest

from lgl_bench.streams.stream import Stream
from tests.support.importing import import_, lists
from tests.support.plain_graphs import Plain
from tests.support.stream_files import VERTICES, table


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    """A stream with a sparse feature matrix, imported."""
    assert import_(tmp_path, table(tmp_path / "source", "parquet", VERTICES | lists(2.0))).exit_code == 0
    return tmp_path / "data" / "mine"


@pytest.fixture(params=["dense", "sparse"])
def small(request: pytest.FixtureRequest) -> Stream:
    return Plain(
        born={5: 2000, 3: 2001, 9: 2001, 1: 2003},
        label={5: 0, 3: 1, 9: -1, 1: 2},
        features={5: (1.0, 0.0), 3: (0.0, 1.0), 9: (0.0, 0.0), 1: (2.0, 3.0)},
        edges=[(5, 3), (3, 1), (9, 5)],
        split=None,
        sparse=request.param == "sparse",
    ).stream()
