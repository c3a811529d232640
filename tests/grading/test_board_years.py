"""Year rows beside a board."""

from __future__ import annotations

import pandas as pd
import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.core.errors import DataError
from lgl_bench.grading.board_years import read_board_years, write_board_years, years_beside
from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.site import build_site
from tests.support.report_boards import board_of, write_run
from tests.support.report_boards import year_frame as plain_years


def year_frame(*given, **changes):
    """Year rows of a stream with a checksum, which a board that is written must have."""
    return plain_years(*given, stream_checksum="0" * 64, **changes)


def _build(tmp_path, *sources, out="mine.csv", force=False):
    command = ["leaderboard", "build", *map(str, sources), "--out", str(tmp_path / out)]
    return CliRunner().invoke(main, [*command, *(["--force"] if force else [])])


def test_a_board_made_from_a_run_folder_has_its_years_beside_it_and_shows_the_same_curves(tmp_path):
    run = write_run(tmp_path / "run", year_frame(key="f" * 64))
    done = _build(tmp_path, run)
    assert done.exit_code == 0 and "mine.years.parquet: their years" in done.output, done.output
    of_run, of_board = (report_rows(read_sources([path])) for path in (run, tmp_path / "mine.csv"))
    assert [row.detector for row in of_run] == [row.detector for row in of_board]
    for a, b in zip(of_run, of_board, strict=True):
        assert a.curve is not None and b.curve is not None and a.curve.at == b.curve.at
        assert b.curve.means("auroc") == pytest.approx(a.curve.means("auroc"), abs=1e-6)
        assert a.curve.test == b.curve.test and a.curve.n_new == b.curve.n_new
    build_site([tmp_path / "mine.csv"], tmp_path / "site")
    assert 'class="chart wide"' in (tmp_path / "site" / "figures.html").read_text(encoding="utf-8")


def test_the_file_is_a_few_bytes_per_row_and_names_no_fit(tmp_path):
    years = year_frame(["one", "two"], years=range(2000, 2020), seeds=3, key="f" * 64)
    path = write_board_years([years], board_of(years), tmp_path / "mine.csv")
    assert path == tmp_path / "mine.years.parquet" == years_beside(tmp_path / "mine.csv")
    assert path.stat().st_size < 20 * len(years)
    found = read_board_years(tmp_path / "mine.csv")
    assert found is not None and len(found) == len(years) and set(found["key"]) == {""}


def test_boards_put_together_keep_the_years_of_each_and_nothing_of_rows_that_are_not_there(tmp_path):
    runs = [write_run(tmp_path / name, year_frame(streams=[name])) for name in ("one", "two")]
    _build(tmp_path, runs[0], out="one.csv")
    _build(tmp_path, tmp_path / "one.csv", runs[1], out="both.csv")
    both = read_board_years(tmp_path / "both.csv")
    assert both is not None and set(both["stream"]) == {"one", "two"}
    years = year_frame(streams=["one", "two"])
    board = board_of(years)
    write_board_years([years], board[board["stream"] == "one"], tmp_path / "part.csv")
    part = read_board_years(tmp_path / "part.csv")
    assert part is not None and set(part["stream"]) == {"one"}


def test_years_of_an_older_board_are_replaced_only_when_asked_and_never_stay_beside_a_new_one(tmp_path):
    run = write_run(tmp_path / "run", year_frame())
    board_of(year_frame()).to_csv(tmp_path / "table.csv", index=False)
    _build(tmp_path, run)
    assert _build(tmp_path, run).exit_code == 2
    (tmp_path / "mine.csv").unlink()
    refused = _build(tmp_path, tmp_path / "table.csv")
    assert refused.exit_code == 2 and "mine.years.parquet exists already" in refused.output
    assert _build(tmp_path, tmp_path / "table.csv", force=True).exit_code == 0
    assert not years_beside(tmp_path / "mine.csv").exists() and read_board_years(tmp_path / "mine.csv") is None


def test_a_damaged_file_is_refused_with_what_to_do(tmp_path):
    board_of(year_frame()).to_csv(tmp_path / "mine.csv", index=False)
    years_beside(tmp_path / "mine.csv").write_bytes(b"no parquet")
    with pytest.raises(DataError, match=r"mine\.years\.parquet .*; remove it, or make the board anew"):
        read_sources([tmp_path / "mine.csv"])
    pd.DataFrame({"stream": ["a"]}).to_parquet(years_beside(tmp_path / "mine.csv"))
    with pytest.raises(DataError, match="has no column"):
        read_sources([tmp_path / "mine.csv"])
