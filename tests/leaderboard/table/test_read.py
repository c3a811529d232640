from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.leaderboard.table import read as reading
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.leaderboard.table.write import write_board
from tests.support.boards import board, figures, row


@pytest.fixture
def path(tmp_path) -> Path:
    """A good table of three rows."""
    path = tmp_path / "board.csv"
    write_board(board(row(), row(detector="energy"), row(None, detector="odin")), path)
    return path


def spoil(path: Path, line: int, column: str, value: str) -> None:
    """Puts a value into a cell; lines are counted as an editor does."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame.loc[line - 2, column] = value
    frame.to_csv(path, index=False)


def test_undefined_is_an_empty_cell_with_its_reason(path):
    assert "nan" not in path.read_text().lower().replace("nanos", "")
    frame = read_board(path)
    assert np.isnan(frame.loc[2, "accuracy_mean"]) and frame.loc[2, "accuracy_reason"] == "nobody looked"


def test_an_interval_may_leave_the_range_of_the_metric(tmp_path):
    write_board(board(row(0.89, std=0.2)), tmp_path / "wide.csv")
    assert read_board(tmp_path / "wide.csv").loc[0, "accuracy_hi"] > 1


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("accuracy_mean", "high", "'high' is not a number"),
        ("accuracy_mean", "nan", "'nan' is no number"),
        ("accuracy_mean", "inf", "is not finite"),
        ("accuracy_mean", "1.5", "is above 1"),
        ("fpr95_mean", "-0.5", "is below 0"),
        ("mcc_mean", "-1.01", "is below -1"),
        ("accuracy_n_seeds", "3.5", "'3.5' is not a whole number"),
        ("accuracy_n_seeds", "-3", "is below 0"),
        ("suite_version", "", "must be filled"),
        ("stream", "", "must be filled"),
        ("trust", "certain", "is none of printed, self-reported, recomputed, rescored, reproduced"),
        ("auroc_weighted_lo", "0.9", "lo <= mean <= hi must hold"),
        ("auroc_weighted_hi", "", "give both ends or neither"),
        ("auroc_weighted_mean", "", "say why there is no value"),
        ("stream_checksum", "", "only printed rows have no checksum"),
        ("budget_version", "0", "only printed rows have no budget version"),
        ("interval", "guess", "is none of bootstrap, student"),
        ("schema_version", "1", "reads version 4"),
    ],
)
def test_a_wrong_cell_is_named_with_file_line_column_and_value(path, column, value, said):
    spoil(path, 3, column, value)
    with pytest.raises(DataError) as caught:
        read_board(path)
    message = str(caught.value)
    assert str(path) in message and "line 3" in message and f"'{column}'" in message and said in message


def test_several_wrong_cells_are_told_at_once_and_the_rest_counted(path):
    for line in (2, 3, 4):
        spoil(path, line, "peak_memory_mb", "-1")
        spoil(path, line, "fit_seconds", "-1")
    with pytest.raises(DataError, match=r"line 2.*line 2.*line 3.*and 3 more"):
        read_board(path)


def test_the_line_is_right_where_a_cell_before_it_has_line_breaks(path):
    spoil(path, 2, "submitter", "a\nb\nc")
    spoil(path, 3, "mcc_mean", "7")
    with pytest.raises(DataError, match="line 5, column 'mcc_mean'"):
        read_board(path)


def test_a_second_row_with_the_same_key_is_refused_with_both_rows(path):
    spoil(path, 4, "detector", "msp")
    with pytest.raises(DataError, match="line 4.*same key as data row 1"):
        read_board(path)


@pytest.mark.parametrize("column", ["stream", "mcc_hi", "git_commit", "schema_version"])
def test_a_missing_column_is_named(path, column):
    pd.read_csv(path, dtype=str, keep_default_na=False).drop(columns=column).to_csv(path, index=False)
    with pytest.raises(DataError, match=f"column '{column}' is missing"):
        read_board(path)


def test_a_column_nobody_knows_and_half_a_metric_are_named(path):
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame.assign(colour="red").to_csv(path, index=False)
    with pytest.raises(DataError, match="column 'colour' is unknown"):
        read_board(path)
    frame.assign(zeal_mean="0.5").to_csv(path, index=False)
    with pytest.raises(DataError, match="column 'zeal_std' is missing"):
        read_board(path)


def test_a_whole_metric_of_ones_own_is_kept_and_its_range_is_free(tmp_path):
    write_board(board(row(**figures("delay", 3.5, 0.5, 3))), tmp_path / "own.csv")
    assert read_board(tmp_path / "own.csv").loc[0, "delay_mean"] == 3.5


def test_the_order_of_columns_does_not_matter(path):
    frame = read_board(path)
    text = pd.read_csv(path, dtype=str, keep_default_na=False)
    text[sorted(text.columns)].to_csv(path, index=False)
    pd.testing.assert_frame_equal(read_board(path), frame)


def test_a_column_given_twice_is_refused(path):
    first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([first + ",stream", *(line + ",x" for line in rest)]))
    with pytest.raises(DataError, match="'stream' is there twice"):
        read_board(path)


def test_a_row_with_too_few_cells_is_refused(path):
    path.write_text(path.read_text() + "temporal,1,dblp-easy\n")
    with pytest.raises(DataError, match="Expected .* columns, got 3"):
        read_board(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"PAR1 not a table", "column 'schema_version' is missing"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, content, said):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(DataError, match=said):
        read_board(tmp_path / "x.csv")


def test_a_header_alone_a_missing_file_and_bytes_that_are_no_text_are_refused(path, tmp_path):
    header = path.read_text().splitlines()[0]
    (tmp_path / "header.csv").write_text(header + "\n")
    with pytest.raises(DataError, match="has no rows"):
        read_board(tmp_path / "header.csv")
    with pytest.raises(DataError, match="does not exist"):
        read_board(tmp_path / "none.csv")
    path.write_bytes(path.read_bytes().replace(b"msp", b"\xff\xff\xff"))
    with pytest.raises(DataError, match="cannot be read"):
        read_board(path)


def test_text_may_be_huge_look_like_a_formula_or_hold_quotes(path):
    odd = '=HYPERLINK("http://x")' + "x" * 200_000
    spoil(path, 2, "chosen", odd)
    spoil(path, 3, "submitter", 'a "b", c')
    frame = read_board(path)
    assert frame.loc[0, "chosen"] == odd and frame.loc[1, "submitter"] == 'a "b", c'


def test_a_file_read_in_many_blocks_is_read_as_one(tmp_path, monkeypatch):
    frame = board(*(row(detector=f"d{i}", submitter="line\n" * (i % 50)) for i in range(200)))
    write_board(frame, tmp_path / "blocks.csv")
    monkeypatch.setattr(reading, "_BLOCK", 5000)
    pd.testing.assert_frame_equal(read_board(tmp_path / "blocks.csv"), frame, check_dtype=False)


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(path):
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert len(read_board(path)) == 3


def test_a_hundred_thousand_rows_are_read_in_seconds_and_the_last_one_is_checked(path, tmp_path):
    header, line, *_ = path.read_text().splitlines()
    lines = [line.replace(",msp,", f",d{i},") for i in range(100_000)]
    many = tmp_path / "many.csv"
    many.write_text("\n".join([header, *lines]) + "\n")
    start = time.process_time()
    assert len(read_board(many)) == 100_000
    assert time.process_time() - start < 10
    lines[-1] = lines[-1].replace(",self-reported,", ",certain,")
    many.write_text("\n".join([header, *lines]) + "\n")
    with pytest.raises(DataError, match="line 100001, column 'trust': 'certain'"):
        read_board(many)


def test_more_rows_than_any_board_has_are_refused(path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_ROWS", 2)
    with pytest.raises(DataError, match="more than 2 rows; split it"):
        read_board(path)
