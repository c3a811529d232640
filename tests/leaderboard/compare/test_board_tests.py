"""Tests beside a board: without its run folder and stream, its rows are told apart as the answers told them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.grading.beside import TESTS_FILE, beside
from lgl_bench.leaderboard.boards import open_board, pool
from lgl_bench.leaderboard.compare.board_tests import read_board_tests
from lgl_bench.leaderboard.compare.boards import compare
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.table.names import BOARD_FILE
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.leaderboard.table.write import write_board
from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.streams.store import write_stream
from tests.support.boards import growing_stream, made_up_run

METHODS = {"random": 0.0, "msp": 1.0, "good(msp,alpha=0.5)": 1.15, "knn": 1.1}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A run folder, the board that was built from it, and the data folder of its stream."""
    folder = tmp_path_factory.mktemp("tests-beside")
    stream = growing_stream()
    write_stream(stream, folder / "data" / stream.name)
    run = made_up_run(folder / "run", stream, METHODS, noise=0.3)
    write_board(open_board(run).frame, run / BOARD_FILE)
    out = folder / "mine.csv"
    done = CliRunner(env={"LGL_BENCH_DATA": str(folder / "data")}).invoke(
        main, ["leaderboard", "build", str(run), "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    assert "mine.tests.parquet: their tests" in done.stdout
    return run, out, folder / "data"


def copied(board: Path, folder: Path) -> Path:
    """A board in another folder with nothing but the tests beside it."""
    for path in (board, beside(board, TESTS_FILE)):
        shutil.copy(path, folder)
    return folder / board.name


def standings(path: Path) -> dict[str, str]:
    pooled = pool([open_board(path)])
    rows = ranked(pooled.frame, runs=pooled.runs, tester=pooled.tester)
    return dict(zip(rows["detector"], rows["standing"], strict=True))


def within(path: Path, data: Path | None) -> pd.DataFrame:
    return compare([open_board(path)], within=True, metrics=["auroc_weighted"], data_dir=data).rows


def test_a_csv_tells_rows_apart_as_its_run_folder_does(made, tmp_path, monkeypatch):
    run, out, data = made
    alone = copied(out, tmp_path)
    monkeypatch.setenv("LGL_BENCH_DATA", str(data))
    of_run, rows = standings(run), within(run, data)
    monkeypatch.setenv("LGL_BENCH_DATA", str(tmp_path))
    assert standings(alone) == of_run
    again = within(alone, tmp_path)
    assert set(again["test"]) == {"bootstrap"}
    figures = ["difference", "lo", "hi", "p_holm", "years_p"]
    np.testing.assert_allclose(again[figures].to_numpy(float), rows[figures].to_numpy(float), rtol=1e-9)
    assert again["verdict"].tolist() == rows["verdict"].tolist()


def test_without_the_file_only_the_spread_over_seeds_is_compared(made, tmp_path):
    _, out, data = made
    alone = copied(out, tmp_path)
    paired = within(alone, data)
    beside(alone, TESTS_FILE).unlink()
    spread = within(alone, data)
    assert set(spread["test"]) == {"welch"}
    assert not np.allclose(spread["p_holm"], paired["p_holm"])


def test_the_report_of_a_csv_says_of_good_what_that_of_the_run_folder_says(made, tmp_path):
    run, out, data = made
    alone = copied(out, tmp_path)
    of_run, of_csv = (
        {row.detector: row.over_base for row in report_rows(read_sources([path]), data) if row.over_base}
        for path in (run, alone)
    )
    (there,), (here,) = of_run.values(), of_csv.values()
    assert here.paired and here.verdict == there.verdict
    assert (here.lo, here.hi) == (pytest.approx(there.lo), pytest.approx(there.hi))


def test_tests_of_other_rows_do_not_count(made, tmp_path):
    _, out, data = made
    alone = copied(out, tmp_path)
    rows = read_board(alone)
    changed = rows["detector"] == "msp"
    rows.loc[changed, "auroc_weighted_mean"] += 0.001
    write_board(rows, alone, force=True)
    tests = within(alone, data).set_index("detector")["test"]
    assert tests["msp"] == "welch" and tests["random"] == "bootstrap"


def test_rows_of_two_csvs_have_no_test_between_them(made, tmp_path):
    _, out, data = made
    alone = copied(out, tmp_path)
    found = compare([open_board(out), open_board(alone)], metrics=["auroc_weighted"], data_dir=data)
    assert set(found.rows["test"]) == {"welch"}


def test_a_board_made_from_a_csv_takes_over_the_tests_of_its_rows(made, tmp_path):
    _, out, _ = made
    again = tmp_path / "again.csv"
    done = CliRunner().invoke(main, ["leaderboard", "build", str(out), "--out", str(again)])
    assert done.exit_code == 0, done.output
    first, second = read_board_tests(out), read_board_tests(again)
    assert first is not None and second is not None and first.tests == second.tests


@pytest.mark.parametrize(
    "cells", [{"seeds": np.nan}, {"seeds": 0.0}, {"test": "mine"}, {"years": np.inf}, {"a_mean": np.nan}, {"a": "[["}]
)
def test_what_nobody_tested_does_not_count(made, tmp_path, cells):
    _, out, data = made
    alone = copied(out, tmp_path)
    path = beside(alone, TESTS_FILE)
    pd.read_parquet(path).assign(**cells).to_parquet(path)
    assert set(within(alone, data)["test"]) == {"welch"}
