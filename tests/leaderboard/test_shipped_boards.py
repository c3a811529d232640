"""The boards of the repository: their commits and streams exist, and their rows follow from the year rows beside."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from functools import cache

import numpy as np
import pandas as pd
import pytest

from lgl_bench.grading.beside import DELAYS_FILE, MATRIX_FILE, TESTS_FILE, beside
from lgl_bench.grading.board_years import CURVES, read_board_years
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.build import board_rows
from lgl_bench.leaderboard.table.names import Fact, metric_column
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.metrics import metrics
from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.panels.gallery import gallery
from lgl_bench.streams.catalogue import is_twin, manifests, twin
from lgl_bench.streams.checksum import stream_checksum
from tests.support.blocks import ROOT
from tests.support.report_boards import board_of, year_frame

BOARDS = sorted((ROOT / "leaderboard").glob("*.csv"))
PRINTED = sorted((ROOT / "leaderboard" / "published").glob("*.csv"))
LARGEST = 300_000
"""Bytes of the matrices or of the delays beside a board."""
COUNTED = ("n_new", "failed_years", "failed_seeds")
TOO_FEW_STREAMS = {"critical"}
"""Panels that no board of record can fill: ranks over streams take six real ones under one suite and budget."""
SINGLE = 1e-6
"""Grades beside a board are in single precision."""


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@cache
def checksum(stream: str) -> str | None:
    """What the stream must have: by its manifest, or that of the twin as it is made today."""
    return stream_checksum(twin(stream)) if is_twin(stream) else manifests()[stream].stream_checksum


def test_there_are_boards_and_printed_figures():
    assert BOARDS and PRINTED


@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_every_row_names_a_commit_of_the_history(path):
    if _git("rev-parse", "--is-shallow-repository") != "false":
        pytest.skip("no git, or a clone without its history: commits cannot be looked up")
    rows = read_board(path)
    assert (rows[Fact.TRUST] != "printed").all()
    for commit in set(rows[Fact.GIT_COMMIT]):
        assert len(commit) == 40 and _git("merge-base", "--is-ancestor", commit, "HEAD") is not None, commit


@pytest.mark.parametrize("path", PRINTED, ids=lambda path: path.stem)
def test_printed_rows_name_no_commit_and_no_stream(path):
    rows = read_board(path)
    assert (rows[Fact.TRUST] == "printed").all()
    assert set(rows[Fact.GIT_COMMIT]) == set(rows["stream_checksum"]) == {""}


@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_every_row_has_the_checksum_that_its_stream_must_have(path):
    rows = read_board(path)
    for stream, found in rows.groupby("stream")["stream_checksum"].unique().items():
        assert list(found) == [checksum(str(stream))], stream


@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_a_board_has_its_year_rows_beside_it(path):
    assert read_board_years(path) is not None, f"make it again: python -m benchmarks.record run {path.stem}"


@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_every_row_is_made_again_from_its_year_rows(path):
    years = read_board_years(path)
    assert years is not None
    assert list(_differences(read_board(path), board_rows(years))) == []


def test_every_panel_of_the_site_has_data_from_the_boards_alone(tmp_path):
    sources = read_sources(BOARDS)
    rows = [row for row in report_rows(sources, tmp_path) if not row.place.twin]
    drawn = gallery(rows, sources)
    assert {panel.name for panel in drawn} >= {"strategies", "year-grids", "delay"}
    empty = {panel.name: panel.empty for panel in drawn if not panel.charts}
    assert {name: why for name, why in empty.items() if name not in TOO_FEW_STREAMS} == {}
    assert all("too few streams" in empty[name] for name in TOO_FEW_STREAMS), "take it out of TOO_FEW_STREAMS"


@pytest.mark.parametrize("board", BOARDS, ids=lambda path: path.stem)
def test_what_lies_beside_a_board_is_small(board):
    for file in (MATRIX_FILE, DELAYS_FILE, TESTS_FILE):
        path = beside(board, file)
        assert not path.is_file() or path.stat().st_size < LARGEST, path.name


def test_a_row_that_does_not_follow_from_its_year_rows_is_noticed():
    years = year_frame()
    board = board_of(years)
    assert list(_differences(board, board_rows(years))) == []
    column = metric_column("auroc_weighted", "mean")
    changed = board.assign(**{column: board[column] + 0.001})
    assert list(_differences(changed, board_rows(years))) == [column]
    assert list(_differences(board, board_rows(years[years["seed"] < 2]))) != []
    assert list(_differences(board[1:], board_rows(years))) == ["methods"]


def _differences(board: pd.DataFrame, again: pd.DataFrame) -> Iterator[str]:
    """Columns in which a board differs from its rows made again."""
    pairs = board.merge(again, on=list(KEY), how="outer", suffixes=("", "_again"), indicator=True)
    if (pairs["_merge"] != "both").any():
        yield "methods"
        return
    yield from (name for name in _recomputed(board) if not _same(pairs[name], pairs[f"{name}_again"]))


def _recomputed(board: pd.DataFrame) -> list[str]:
    """Columns that follow from the grades beside a board; the others need grades that are not kept there."""
    from_curves = [name for name in metrics.names() if metrics.year_column(name) in CURVES]
    parts = [metric_column(name, part) for name in from_curves for part in ("mean", "std", "n_seeds", "n_years")]
    return [*(name for name in parts if name in board), *COUNTED, Fact.FIT_SECONDS, Fact.PEAK_MEMORY_MB]


def _same(one: pd.Series, other: pd.Series) -> bool:
    a, b = (column.to_numpy(dtype=np.float64) for column in (one, other))
    return bool(np.allclose(a, b, rtol=SINGLE, atol=SINGLE, equal_nan=True))
