from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.leaderboard.table.write import write_board
from tests.support.boards import board, row


@pytest.fixture
def path(tmp_path) -> Path:
    """A good table of three rows."""
    path = tmp_path / "board.csv"
    write_board(board(row(), row(detector="energy"), row(None, detector="odin")), path)
    return path


def test_what_is_written_is_read_back_exactly_and_written_the_same_again(path, tmp_path):
    frame = read_board(path)
    third = 1 / 3
    frame["accuracy_mean"] = third
    frame[["accuracy_lo", "accuracy_hi"]] = [-0.1, 1.1]
    frame["accuracy_reason"] = ""
    write_board(frame, tmp_path / "one.csv")
    again = read_board(tmp_path / "one.csv")
    assert again["accuracy_mean"].tolist() == [third] * 3
    write_board(again, tmp_path / "two.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    pd.testing.assert_frame_equal(frame, again, check_dtype=False)


def test_nothing_is_overwritten_unasked_and_nothing_wrong_is_written(path, tmp_path):
    before = path.read_bytes()
    with pytest.raises(UsageError, match="--force"):
        write_board(board(row(0.1)), path)
    with pytest.raises(DataError, match="row 1, column 'accuracy_mean'"):
        write_board(board(row(1.5)), path, force=True)
    assert path.read_bytes() == before
    write_board(board(row(0.1)), path, force=True)
    assert len(read_board(path)) == 1
    assert list(tmp_path.glob(".*")) == []
