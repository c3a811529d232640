from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.report.parity.arms import preset_of, scored_as
from lgl_bench.report.parity.cells import Cell
from lgl_bench.report.parity.measured import merged, parameters_text, read_measured, write_measured
from lgl_bench.report.parity.run import write_tables
from lgl_bench.report.parity.switches import published_code
from tests.support.measurements import CELL, measured

SHIPPED = Path(__file__).parents[3] / "leaderboard" / "parity"

BEFORE_SWITCHES_WERE_NOTED = {"", "17112d4", "4d4a78b", "a664e93"}


def test_what_is_written_is_read_bit_for_bit(tmp_path):
    rows = measured(CELL, [(0.1 + 0.2, {"odin": 1 / 3}), (0.5, {"odin": None})])
    rows.append(replace(rows[0], fold="2", accuracy=None, auroc=None, skipped="diverged: the loss was nan, it says"))
    write_measured(rows, tmp_path / "measured.csv")
    assert read_measured(tmp_path / "measured.csv") == rows


def test_without_a_file_nothing_was_measured(tmp_path):
    assert read_measured(tmp_path / "measured.csv") == []


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [("stream,split", "split,stream", "other columns"), ("0.5", "half", "line 2: could not convert")],
)
def test_a_file_that_is_none_of_ours_is_refused(tmp_path, before, after, words):
    path = tmp_path / "measured.csv"
    write_measured(measured(CELL, [(0.5, {"odin": 0.25})]), path)
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(DataError, match=words):
        read_measured(path)


def test_a_later_measurement_of_a_seed_takes_the_place_of_the_earlier_one_as_a_whole():
    earlier = [row for seed in (0, 1) for row in measured(CELL, [(0.1, {"odin": 0.1})] * 2, seed=seed)]
    other = measured(CELL, [(0.3, {"odin": 0.3})], switch="layer")
    later = measured(CELL, [(0.2, {"odin": 0.2})], seed=1)
    assert merged([*other, *earlier], later) == [*earlier[:2], *later, *other]


def test_a_fit_that_another_command_has_graded_again_keeps_the_commit_that_measured_it():
    earlier = measured(CELL, [(0.1, {"odin": 0.1})] * 2)
    regraded = [replace(row, commit="abcdef0", created_at="2027-01-01T00:00:00Z", torch="9.0") for row in earlier]
    assert merged(earlier, regraded) == earlier
    again = [replace(row, fit_seconds=row.fit_seconds + 1) for row in regraded]
    assert merged(earlier, again) == again


def test_measurements_are_in_the_order_of_folds_as_numbers():
    rows = measured(CELL, [(number / 20, {"odin": 0.5}) for number in range(12)])
    assert merged(reversed(rows), []) == rows


def test_the_tables_that_ship_are_made_from_the_measurements_that_ship(tmp_path):
    (tmp_path / "measured.csv").write_bytes((SHIPPED / "measured.csv").read_bytes())
    write_tables(tmp_path, 3)
    for name in ("measured.csv", "parity.csv", "parity.md"):
        assert (tmp_path / name).read_bytes() == (SHIPPED / name).read_bytes(), name


def test_the_measurements_that_ship_have_the_parameters_of_today():
    rows = read_measured(SHIPPED / "measured.csv")
    assert len({(row.cell, row.switch, row.seed) for row in rows}) >= 447, "none may get lost"
    switches = published_code().switches
    for row in rows:
        switch = switches[row.switch] if row.switch else None
        # The oldest do not note what a switch with detectors of its own changed in training, nor these detectors.
        old = row.commit[:7] in BEFORE_SWITCHES_WERE_NOTED
        expected = preset_of(row.cell, None if old and switch and switch.detectors else switch)
        assert row.parameters == parameters_text(expected), row.run
        named = scored_as(row.cell, None if old else switch)
        assert row.expression == ("" if row.detector == "none" else named[row.detector]), row.run


def test_the_cells_that_ship_have_every_fold_of_every_seed():
    folds: dict[tuple[Cell, str, str, int], list[str]] = {}
    for row in read_measured(SHIPPED / "measured.csv"):
        folds.setdefault(row.run, []).append(row.fold)
    classes = {"cora": 7, "citeseer": 6, "pubmed": 3}
    for (cell, *_), found in folds.items():
        assert found == ([""] if cell.split == "transductive" else [str(k) for k in range(classes[cell.stream])])
