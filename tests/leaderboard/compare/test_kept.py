from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lgl_bench.leaderboard.boards import open_board, pool
from lgl_bench.leaderboard.compare import testing
from lgl_bench.leaderboard.compare.kept import NAME
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.streams.store import write_stream
from tests.support.boards import growing_stream, run_with_a_floor


@pytest.fixture
def data(tmp_path) -> Path:
    write_stream(growing_stream(), tmp_path / "data" / "growing")
    return tmp_path / "data"


@pytest.fixture
def folder(tmp_path) -> Path:
    return run_with_a_floor(tmp_path / "run")


def test_what_was_tested_once_is_kept_until_the_year_rows_change(folder, data, monkeypatch):
    first = pool([open_board(folder)], testing.Tester(data)).frame
    assert (folder / NAME).is_file()

    def refuse(*given, **named):
        raise AssertionError("drawn again")

    with monkeypatch.context() as patch:
        patch.setattr(testing, "load_answers", refuse)
        # Not even the stream is asked for.
        again = pool([open_board(folder)], testing.Tester(data / "nowhere"))
        pd.testing.assert_frame_equal(again.frame, first)
        assert set(ranked(again.frame, runs=again.runs, tester=again.tester)["standing"]) > {"best", "behind"}
        with pytest.raises(AssertionError, match="drawn again"):
            pool([open_board(folder)], testing.Tester(data, draws=200))
        years = pd.read_parquet(folder / "years.parquet")
        years.assign(fit_seconds=2.0).to_parquet(folder / "years.parquet")
        with pytest.raises(AssertionError, match="drawn again"):
            pool([open_board(folder)], testing.Tester(data))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": 1}'])
def test_a_kept_file_that_is_none_is_made_again(folder, data, text):
    first = pool([open_board(folder)], testing.Tester(data)).frame
    whole = (folder / NAME).read_text()
    (folder / NAME).write_text(text)
    pd.testing.assert_frame_equal(pool([open_board(folder)], testing.Tester(data)).frame, first)
    assert (folder / NAME).read_text() == whole


def test_tests_that_lacked_the_labels_are_not_kept(folder, data):
    pool([open_board(folder)], testing.Tester(data / "nowhere"))
    assert not (folder / NAME).exists()
