"""Whatever weights are kept, answers and rows are the same bytes, in one run and in several."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest

from lgl_bench.detectors import Detector, detectors
from lgl_bench.plans.plan_file import read_plan
from lgl_bench.runs.options import Settings
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.store import write_stream
from lgl_bench.thresholds import Threshold, thresholds
from lgl_bench.training import lifelong
from tests.support.graphs import small_stream

METHODS = {"backbones": ["graph-mlp"], "detectors": ["good(energy)", "distance-of-mine"]}
THRESHOLDS = ["quantile", "cut-of-mine"]
CLAIMED = ["fit_seconds", "peak_memory_mb", "created_at"]


class Distance(Detector):
    """How far an embedding lies from the mean of those the earlier model saw: it depends on calibration."""

    bounded = False

    def fit(self, model, train, fit_vertices, calibration):
        seen = calibration.model.outputs(calibration.graph).embeddings[calibration.vertices]
        self.mean_ = seen.double().mean(dim=0)

    def score(self, model, graph):
        return (model.outputs(graph).embeddings.double() - self.mean_).norm(dim=1).numpy()


class Cut(Threshold):
    """The median of the calibration scores."""

    def fit(self, train, calibration, seed):
        self.cut_ = float(np.median(calibration.novelty[calibration.scored]))

    def reject(self, test):
        return test.novelty[test.scored] > self.cut_


@pytest.fixture
def plugins(engines, data):
    """A detector and a threshold of one's own; and a stream of four tasks, so that weights are let go in between."""
    write_stream(small_stream(times=tuple(range(6)), growth=(30,) * 6, births=(3, 0, 1, 0, 1, 0)), data / "long")
    with detectors.temporarily(), thresholds.temporarily():
        detectors.register("distance-of-mine")(Distance)
        thresholds.register("cut-of-mine")(Cut)
        yield


@pytest.fixture
def run(carry_out, tmp_path):
    """Runs in a folder per setting of checkpoints."""

    def run_in(checkpoints, **axes):
        settings = Settings(tmp_path / checkpoints, offline=True, checkpoints=checkpoints)
        return carry_out(settings=settings, streams=["long"], **{**METHODS, "thresholds": THRESHOLDS, **axes})

    return run_in


def digests(result) -> dict[str, object]:
    """The answers by their bytes, the year rows and the board without what is claimed."""
    found: dict[str, object] = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (result.folder / "answers").iterdir()
    }
    found["years"] = result.years.drop(columns=CLAIMED, errors="ignore").to_csv()
    found["board"] = pd.read_csv(result.folder / "leaderboard.csv", dtype=str).drop(columns=CLAIMED).to_csv()
    return found


@pytest.mark.usefixtures("plugins")
def test_the_three_settings_of_checkpoints_give_the_same_bytes(run):
    kept = run("all")
    assert not kept.counts.failed and {"quantile", "cut-of-mine"} <= {
        threshold.partition("(")[0] for threshold in kept.frame["threshold"]
    }
    for checkpoints in ("last", "none"):
        assert digests(run(checkpoints)) == digests(kept)


@pytest.mark.usefixtures("plugins")
def test_detectors_and_thresholds_added_in_a_later_run_have_the_same_bytes_whatever_was_kept(run):
    whole = digests(run("all"))
    for checkpoints in ("last", "none"):
        run(checkpoints, detectors=["energy"], thresholds=["none"])
        later = run(checkpoints)
        assert not later.counts.failed
        found = digests(later)
        assert {name: found[name] for name in whole if name.endswith(".parquet")} == {
            name: whole[name] for name in whole if name.endswith(".parquet")
        }


@pytest.mark.usefixtures("plugins")
def test_a_fit_that_is_made_again_and_comes_out_differently_is_a_failure_and_changes_nothing(run, monkeypatch):
    first = run("none", detectors=["energy"], thresholds=["none"], backbones=["gcn"])
    before = digests(first)
    train = lifelong.train

    def other(model, task, training, seed, *rest):
        return train(model, task, training, seed + 1, *rest)

    monkeypatch.setattr(lifelong, "train", other)
    later = run("none", detectors=["energy", "msp"], thresholds=["none"], backbones=["gcn"])
    reasons = set(later.counts.failed.values())
    assert any("made again because its weights are not there, came out differently" in reason for reason in reasons)
    assert any("which 3 goes on from, are not there" in reason for reason in reasons)
    found = digests(later)
    assert {name: found[name] for name in before if name.endswith("parquet")} == {
        name: before[name] for name in before if name.endswith("parquet")
    }
    assert later.frame.set_index("detector").loc["energy(temperature=1.0)", "failed_years"] == 0
    assert "msp" not in set(later.frame["detector"])


@pytest.mark.usefixtures("plugins")
def test_a_parent_whose_file_is_gone_is_made_again_before_anything_is_calibrated_with_it(run, tmp_path):
    whole = digests(run("all"))
    short = {"detectors": ["energy"], "thresholds": ["none"]}
    store = RunStore(run("last", **short).folder)
    for key in read_plan(store.folder).fits:
        store.drop_weights(key)
    found = digests(run("last"))
    assert {name: found[name] for name in whole if name.endswith("parquet")} == {
        name: whole[name] for name in whole if name.endswith("parquet")
    }


@pytest.mark.usefixtures("plugins")
def test_force_does_everything_again_and_keeps_the_answers_of_other_runs(run, engines, carry_out):
    run("all", detectors=["msp"], thresholds=["quantile"], backbones=["gcn"])
    first = run("all", detectors=["energy"], thresholds=["none"], backbones=["gcn"])
    settings = Settings(first.folder, offline=True, force=True)
    again = carry_out(settings=settings, streams=["long"], backbones=["gcn"], detectors=["energy"], thresholds=["none"])
    assert len(engines[-1].seen) == len(again.plan.all_units) and all(one.weights is None for one in engines[-1].seen)
    assert digests(again) == digests(first) and "msp" in set(again.frame["detector"])
