from __future__ import annotations

from pathlib import Path

import pytest

from lgl_bench.tuning import objective as tune_score
from lgl_bench.tuning.study import open_storage
from tests.support.tuning import Tuner


@pytest.fixture(scope="session")
def empty(tmp_path_factory) -> Path:
    """A database without studies: making its tables takes longer than most of the tests."""
    path = tmp_path_factory.mktemp("tune") / "tuning.db"
    open_storage(f"sqlite:///{path}")
    return path


@pytest.fixture
def tune(tmp_path, monkeypatch, empty) -> Tuner:
    tuner = Tuner(tmp_path, empty)
    original = tune_score.train

    def counted(*arguments):
        tuner.fits += 1
        return original(*arguments)

    monkeypatch.setattr(tune_score, "train", counted)
    return tuner
