"""Matrices and delays beside a board: what is drawn from them is what is drawn from the run folder."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.core.errors import DataError
from lgl_bench.core.files import remove
from lgl_bench.grading.beside import DELAYS_FILE, MATRIX_FILE, TESTS_FILE, beside, files_beside
from lgl_bench.grading.board_delays import CLASSES_FILE
from lgl_bench.grading.board_matrix import read_board_matrix, write_board_matrix
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.panels.delay import delay_panel
from lgl_bench.report.panels.strategies import year_grid_panel
from lgl_bench.runs.options import Settings
from tests.report.panels.test_strategies import matrix
from tests.support.report_boards import board_of, year_frame


def build(*words):
    return CliRunner().invoke(main, ["leaderboard", "build", *map(str, words)])


def panels(path, data):
    """The two panels that are not drawn from a CSV and its years."""
    sources = read_sources([path])
    rows = report_rows(sources, data)
    return delay_panel(rows, sources), year_grid_panel(rows, sources)


def test_without_its_run_folder_and_stream_a_board_shows_the_same_delays_and_matrices(
    engines, carry_out, out, data, tmp_path
):
    axes = {"strategies": ["finetune", "joint"], "detectors": ["msp", "good(msp)"], "thresholds": ["naive"]}
    carry_out(settings=Settings(out, offline=True, matrix=True), **axes)
    of_run = panels(out, data)
    board, again = tmp_path / "mine.csv", tmp_path / "again.csv"
    done = build(out, "--out", board)
    assert done.exit_code == 0, done.output
    assert "mine.matrix.parquet: their matrix; " in done.stdout and "mine.delays.parquet: their delays" in done.stdout
    remove(out)
    shutil.rmtree(data)
    assert build(board, "--out", again).exit_code == 0  # from a CSV they are taken over
    for path in (board, again):
        for there, here in zip(of_run, panels(path, data), strict=True):
            assert there.charts and [chart.title for chart in there.charts] == [chart.title for chart in here.charts]
            assert there.table is not None and here.table is not None and len(there.table.rows) > 2
            for a, b in zip(there.table.rows, here.table.rows, strict=True):
                assert list(b) == [pytest.approx(cell) if isinstance(cell, float) else cell for cell in a]


@pytest.mark.parametrize("kept", [None, b"no parquet"])
def test_a_run_whose_delays_are_gone_or_damaged_makes_a_board_without_them(engines, carry_out, out, tmp_path, kept):
    carry_out(detectors=["msp"], thresholds=["none"])
    (out / CLASSES_FILE).unlink()
    if kept is not None:
        (out / CLASSES_FILE).write_bytes(kept)
    board = tmp_path / "mine.csv"
    beside(board, DELAYS_FILE).write_bytes(b"of an older board")
    assert build(out, "--out", board, "--force").exit_code == 0
    assert len(read_board(board)) and not beside(board, DELAYS_FILE).exists()
    for path in (board, out):
        sources = read_sources([path])
        assert "no delays are beside a CSV" in delay_panel(report_rows(sources), sources).empty


def test_only_matrices_of_rows_of_the_board_are_beside_it_in_a_few_bytes(tmp_path):
    board = board_of(year_frame(strategy="finetune"))
    whole = pd.concat([matrix("finetune", 0.2), matrix("joint", 0.9), matrix("finetune", 0.3).assign(budget="paper")])
    path = write_board_matrix([whole], board, tmp_path / "mine.csv")
    assert path == tmp_path / "mine.matrix.parquet" and path.stat().st_size < 8000
    found = read_board_matrix(tmp_path / "mine.csv")
    assert set(found["strategy"]) == {"finetune"} and set(found["budget"]) == {"quick"} and len(found) == 12
    assert found["accuracy"].min() == pytest.approx(0.2)
    # Without any, the older one goes.
    assert write_board_matrix([matrix("joint", 0.9)], board, tmp_path / "mine.csv") is None and not path.exists()


@pytest.mark.parametrize("file", [MATRIX_FILE, DELAYS_FILE, TESTS_FILE])
def test_a_damaged_file_is_refused_with_what_to_do(tmp_path, file):
    board_of(year_frame()).to_csv(tmp_path / "mine.csv", index=False)
    path = beside(tmp_path / "mine.csv", file)
    assert path in files_beside(tmp_path / "mine.csv")
    path.write_bytes(b"no parquet")
    with pytest.raises(DataError, match="remove it, or make the board anew"):
        read_sources([tmp_path / "mine.csv"])
    pd.DataFrame({"stream": ["a"]}).to_parquet(path)
    with pytest.raises(DataError, match="has no column"):
        read_sources([tmp_path / "mine.csv"])
