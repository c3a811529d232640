"""Parity runs on a small stream, in this process, with models of two steps."""

from __future__ import annotations

import runpy
from dataclasses import asdict
from pathlib import Path

import pytest

from lgl_bench.plans.budget import BUDGETS, Budget, Caps
from lgl_bench.report.parity.cells import Cell, cells_of
from lgl_bench.report.parity.measured import measured_in, read_measured, write_measured
from lgl_bench.report.parity.run import run_cells, write_tables
from lgl_bench.report.parity.switches import published_code
from lgl_bench.runs.options import Settings
from lgl_bench.runs.store import RunStore
from tests.support.bundles import plugins_forgotten
from tests.support.measurements import measured

SWITCHES = published_code().switches
SPENT = ("fit_seconds", "created_at")


@pytest.fixture(autouse=True)
def small(data, monkeypatch):
    """A budget of two steps, and no plugin that stays."""
    monkeypatch.setitem(BUDGETS, "paper", Budget("paper", version=1, seeds=10, caps=Caps(4, 2, 2, 0.01, 0.5)))
    # As if the running script had registered the plugins: no process of their own has to be started for them.
    monkeypatch.setattr("lgl_bench.report.parity.run.load_plugin", lambda path: runpy.run_path(str(path)))
    with plugins_forgotten():
        yield


def run(out: Path, cells, *switches: str, seeds: int = 1, listener=None, only_left=False) -> dict[str, str]:
    settings = Settings(out, engine="in-process", jobs=1, device="cpu", real_only=True, offline=True)
    chosen = [SWITCHES[name] for name in switches]
    return run_cells(list(cells), chosen, settings, seeds, listener, only_left=only_left)


def figures(rows):
    return [{name: value for name, value in asdict(row).items() if name not in SPENT} for row in rows]


def test_a_run_is_an_ordinary_run_folder_of_the_paper_budget(out):
    assert not run(out, cells_of("still", "60-20-20", ("gcn",), ("gdoc",)))
    found = measured_in(out)
    assert {row.detector: row.expression for row in found} == {"gdoc": "gdoc", "good": "good(gdoc,alpha=0.6)"}
    folds = [row.fold for row in found if row.detector == "gdoc"]
    assert len(folds) > 2 and folds == [str(number) for number in range(len(folds))]
    for row in found:
        assert not row.skipped and 0 <= row.accuracy <= 1 and 0 <= row.auroc <= 1 and row.n_new > 0
        assert len(row.stream_checksum) == 64 and row.torch and row.parameters.startswith("layers=")
    for name in ("plan.json", "years.parquet", "leaderboard.csv"):
        assert (out / name).is_file()
    assert len(list((out / "fits").iterdir())) == len(folds)


def test_an_interrupted_run_goes_on_where_it_stopped(out, tmp_path):
    cells = list(cells_of("still", "60-20-20", ("gcn",), ("softmax", "gdoc")))
    done: list[str] = []

    def interrupt(event) -> None:
        done.extend([event.unit.key] if event.kind == "done" else [])
        if len(done) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(out, cells, listener=interrupt)
    kept = {path.name for path in (out / "fits").iterdir() if RunStore(out).fit(path.name)}
    assert kept and not measured_in(out)
    before = {key: (out / "fits" / key / "model.safetensors").stat().st_mtime_ns for key in kept}
    again: list[str] = []
    run(out, cells, listener=lambda event: again.extend([event.unit.key] if event.kind == "done" else []))
    assert again and not kept & set(again)
    assert before == {key: (out / "fits" / key / "model.safetensors").stat().st_mtime_ns for key in kept}
    run(tmp_path / "whole", cells)
    assert figures(measured_in(out)) == figures(measured_in(tmp_path / "whole"))


def test_a_seed_that_was_interrupted_is_no_measurement_when_another_cell_is_graded(out):
    def interrupt(event) -> None:
        if event.kind == "done":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(out, cells_of("still", "60-20-20", ("gcn",), ("gdoc",)), listener=interrupt)
    run(out, cells_of("still", "60-20-20", ("gcn",), ("isomax+",)))
    assert "gdoc" in (out / "leaderboard.csv").read_text(encoding="utf-8")
    assert {row.head for row in measured_in(out)} == {"isomax+"}


def test_a_finished_run_trains_nothing_again_and_another_seed_only_that(out):
    cells = list(cells_of("still", "60-20-20", ("gcn",), ("gdoc",)))
    seen: list[int] = []
    run(out, cells, listener=lambda event: seen.append(event.unit.chain.seed))
    assert set(seen) == {0}
    seen.clear()
    run(out, cells, listener=lambda event: seen.append(event.unit.chain.seed))
    assert not seen
    run(out, cells, seeds=2, listener=lambda event: seen.append(event.unit.chain.seed))
    assert set(seen) == {1} and {row.seed for row in measured_in(out)} == {0, 1}


@pytest.mark.parametrize(
    ("backbone", "head", "switch"),
    [
        ("gcn", "softmax", "odin-step"),
        ("gcn", "gdoc", "weights"),
        ("gcn", "isomax+", "layer"),
        ("graphsage", "gdoc", "one-epoch"),
        ("graph-mlp", "isomax+", "graph-mlp-batches"),
    ],
)
def test_a_cell_with_a_switch_is_graded_as_ours_is(out, backbone, head, switch):
    assert not run(out, [Cell("still", "60-20-20", backbone, head)], switch)
    found = measured_in(out)
    ours, theirs = ([row for row in found if row.switch == name] for name in ("", switch))
    assert {row.switch for row in found} == {"", switch}
    assert [(row.detector, row.fold, row.n_new) for row in ours] == [
        (row.detector, row.fold, row.n_new) for row in theirs
    ]
    assert [row.auroc for row in ours] != [row.auroc for row in theirs]


def test_what_only_scores_differently_trains_nothing(out):
    cells = [Cell("still", "60-20-20", "gcn", "softmax")]
    run(out, cells)
    fits = {path.name for path in (out / "fits").iterdir()}
    run(out, cells, "odin-step")
    assert {path.name for path in (out / "fits").iterdir()} == fits


def test_rows_of_switches_stay_if_their_plugins_are_not_loaded(out):
    cells = [Cell("still", "60-20-20", "gcn", "gdoc")]
    with plugins_forgotten():
        run(out, cells, "weights")
    before = figures(measured_in(out))
    run(out, cells)
    assert figures(measured_in(out)) == before and {row.switch for row in measured_in(out)} == {"", "weights"}


def test_the_transductive_check_has_an_accuracy_and_no_auroc(out, monkeypatch):
    monkeypatch.setattr("lgl_bench.report.parity.cells.printed_checks", lambda: {("cora-twin", "graph-mlp"): 0.5})
    check = [
        cell for cell in cells_of("cora-twin", "60-20-20", ("graph-mlp",), ("softmax",)) if cell.detector == "none"
    ]
    run(out, check, "lr")
    (row,) = measured_in(out)
    assert (row.split, row.fold, row.auroc, row.expression) == ("transductive", "", None, "") and row.accuracy > 0


def test_what_was_measured_earlier_stays_until_a_run_has_the_same(out):
    cell = Cell("still", "60-20-20", "gcn", "gdoc")
    other = Cell("still", "60-20-20", "gat", "gdoc")
    earlier = [*measured(cell, [(0.25, {"gdoc": 0.25})]), *measured(other, [(0.5, {"gdoc": 0.5})])]
    out.mkdir()
    write_measured(earlier, out / "measured.csv")
    run(out, [cell])
    rows = {(row.backbone, row.detector): row for row in write_tables(out, 1)}
    assert rows["gat", "gdoc"].auroc_ours == 0.5 and rows["gat", "gdoc"].commit == "0123456"
    assert rows["gcn", "gdoc"].fit_seconds != 1.0 and "good" in {detector for _, detector in rows}
    kept = read_measured(out / "measured.csv")
    assert [row for row in kept if row.backbone == "gat"] == earlier[1:]
    assert write_tables(out, 1) == list(rows.values()), "what a run has measured is not measured twice"


@pytest.mark.parametrize(
    ("printed", "seeds", "ran"),
    [
        pytest.param(0.25, 1, set(), id="near"),
        pytest.param(0.5, 1, set(), id="explained by the layer"),
        pytest.param(0.9, 1, {"weights"}, id="not explained, and the layer was measured"),
        pytest.param(9.0, 2, {"", "layer", "weights"}, id="too few seeds, and nothing can explain it"),
    ],
)
def test_only_what_is_left_is_run(out, monkeypatch, printed, seeds, ran):
    cell = Cell("still", "60-20-20", "gcn", "gdoc")
    known = {("still", "60-20-20", "gcn", "gdoc"): (printed, printed)}
    monkeypatch.setattr("lgl_bench.report.parity.table._printed", lambda: known)
    out.mkdir()
    layer = measured(cell, [(0.5, {"gdoc": 0.5})], switch="layer")
    write_measured([*measured(cell, [(0.25, {"gdoc": 0.25})]), *layer], out / "measured.csv")
    run(out, [cell], "layer", "weights", seeds=seeds, only_left=True)
    assert {row.switch for row in measured_in(out)} == ran
