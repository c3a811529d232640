from __future__ import annotations

import pandas as pd
import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.leaderboard.table.text import NOT_IN_TABLE, as_text, first_cells, read_text, read_tolerant
from lgl_bench.leaderboard.table.write import write_board
from tests.support.boards import board, row


@pytest.fixture
def path(tmp_path):
    """A table of two rows."""
    write_board(board(row(0.7), row(None, detector="energy")), tmp_path / "board.csv")
    return tmp_path / "board.csv"


def test_a_table_and_its_file_read_the_same_as_text(path):
    frame = board(row(0.7), row(None, detector="energy"))
    pd.testing.assert_frame_equal(as_text(frame), read_text(path))
    pd.testing.assert_frame_equal(read_text(path.read_bytes()), read_text(path))
    assert set(read_text(path).map(type).stack()) == {str}


def test_no_more_rows_are_read_than_asked_for(path):
    assert len(read_text(path, 1)) == 1
    assert first_cells(path)["detector"] == "msp"


def test_a_table_without_rows_has_no_first_cells(path):
    path.write_text(path.read_text().splitlines()[0] + "\n")
    assert first_cells(path) == {}


def test_a_tolerant_reader_fills_what_a_table_lacks_and_leaves_out_what_nobody_knows(tmp_path):
    path = tmp_path / "old.csv"
    path.write_text("stream,backbone,detector,accuracy_mean,odd\ncora,gcn,msp,0.8,1\ncora,gcn,energy,inf,2\n")
    found = read_tolerant(path, ["accuracy", "regret"])
    assert found["accuracy_mean"].iloc[0] == 0.8 and found["accuracy_mean"].isna().tolist() == [False, True]
    assert found["regret_mean"].isna().all() and set(found["regret_reason"]) == {NOT_IN_TABLE}
    assert set(found["trust"]) == {""} and set(found["label_delay"]) == {""}
    assert "odd" not in found and found["fit_seconds"].isna().all()


def test_a_tolerant_reader_still_names_the_cell_that_is_no_number(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("stream,backbone,detector,accuracy_mean\ncora,gcn,msp,0.8\ncora,gcn,energy,much\n")
    with pytest.raises(DataError, match="line 3, column accuracy_mean: 'much' is no number"):
        read_tolerant(path, ["accuracy"])


def test_a_tolerant_reader_refuses_what_is_no_leaderboard(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="no column 'stream'"):
        read_tolerant(path, ["accuracy"])


def test_a_tolerant_reader_takes_an_empty_file_for_a_table_without_rows(tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("")
    assert len(read_tolerant(path, ["accuracy"])) == 0
