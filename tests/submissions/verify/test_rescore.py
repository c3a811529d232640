from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import safetensors.torch
import torch
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.core.errors import UsageError
from lgl_bench.streams.catalogue import load
from lgl_bench.submissions.bundle.layout import BundleError
from lgl_bench.submissions.bundle.pack import submit
from lgl_bench.submissions.verify.verify import verify
from tests.support.bundles import Forged

QUANTILE = "rejected:good(energy(temperature=1.0),alpha=0.5)|quantile(q=0.1)"


@pytest.fixture(scope="module")
def plain(base) -> Path:
    """A bundle of built-in methods, with thresholds that learn from scores and one that is told the truth."""
    axes = {"detectors": ["msp", "good(energy, alpha=0.5)"], "thresholds": ["quantile"], "thresholds_on": "all"}
    out = base.carry_out("plain", seeds=1, **axes)
    submit(out, base.folder / "plain-bundle")
    return base.folder / "plain-bundle"


@pytest.fixture
def cheat(plain, tmp_path) -> Forged:
    return Forged(Path(shutil.copytree(plain, tmp_path / "cheat")))


def is_new(base, frame) -> np.ndarray:
    """Whether each vertex of the last year's answers is of a class that nobody could know."""
    stream = load("small", base.data)
    classes = pd.Series(stream.labels, index=stream.ids)
    return (classes[frame["vertex"]] == 4).to_numpy()


def weights_of(cheat, position=2) -> Path:
    return cheat.folder / "fits" / f"{cheat.plan()['fits'][position]}.safetensors"


def caught(cheat, base, *words):
    """The bundle passes verify as it is, and answering again finds what was forged."""
    cheat.regrade(base.data)
    found = verify(cheat.folder, base.data)
    assert found.differences == []
    assert set(found.frame["trust"]) == {"recomputed"}
    again = verify(cheat.folder, base.data, rescore=True)
    assert all(any(word in text for text in again.differences) for word in words), again.differences
    assert set(again.frame["trust"]) == {"recomputed"}
    return found.frame


def test_built_in_methods_answer_again_to_the_last_bit(plain, base):
    result = verify(plain, base.data, rescore=True, tolerance=0.0)
    assert result.differences == []
    assert set(result.frame["trust"]) == {"rescored"}
    assert {"quantile(q=0.1)", "oracle", ""} <= set(result.frame["threshold"])


@pytest.mark.parametrize(
    "axes",
    [
        {"select": "t1", "detectors": ["odin", "good(auto)"], "backbones": ["graph-mlp"]},
        {"select": "prequential", "detectors": ["good(energy)"], "thresholds": ["naive"]},
        {"suite": "static", "streams": ["still"], "detectors": ["isomax+", "gdoc"], "thresholds": ["none"]},
        {"history": 2, "label_delay": 1, "restart": "cold", "detectors": ["knn", "mahalanobis"]},
        {"label_delay_for": {"small": 1}, "detectors": ["msp"]},
    ],
)
def test_choices_histories_and_static_splits_are_rescored_too(base, tmp_path, axes):
    submit(base.carry_out(tmp_path.name, seeds=1, **axes), tmp_path / "bundle")
    result = verify(tmp_path / "bundle", base.data, rescore=True, tolerance=0.0)
    assert result.differences == []
    assert set(result.frame["trust"]) == {"rescored"}


def test_rows_of_plugins_stay_recomputed_beside_rows_that_are_rescored(base):
    result = verify(base.bundle, base.data, rescore=True)
    assert result.differences == []
    foreign = result.frame["detector"].str.contains("margin-of-mine")
    assert set(result.frame["trust"][foreign]) == {"recomputed"}
    assert set(result.frame["trust"][~foreign]) == {"rescored"}


def test_the_truth_written_into_the_answers_of_msp_is_caught(cheat, base):
    cheat.change_table(
        cheat.answers(2), lambda frame: frame.assign(**{"novelty:msp": is_new(base, frame).astype(float)})
    )
    frame = caught(cheat, base, "novelty:msp")
    assert frame[(frame["detector"] == "msp") & (frame["threshold"] == "")]["auroc_weighted_mean"].item() == 1.0


def test_forged_decisions_of_a_threshold_are_caught(cheat, base):
    cheat.change_table(cheat.answers(2), lambda frame: frame.assign(**{QUANTILE: is_new(base, frame)}))
    caught(cheat, base, QUANTILE)


@pytest.mark.parametrize(
    ("column", "value"), [("class_pred", 0), ("confidence", 0.5), ("neighbour:energy(temperature=1.0)", 0.5)]
)
def test_forged_predictions_confidences_and_neighbour_means_are_caught(cheat, base, column, value):
    cheat.change_table(cheat.answers(2), lambda frame: frame.assign(**{column: value}))
    caught(cheat, base, column)


def test_weights_of_another_year_do_not_give_the_answers(cheat, base):
    # As many classes are known in the third year as in the second: shapes alone do not tell.
    shutil.copy(weights_of(cheat, 1), weights_of(cheat, 2))
    caught(cheat, base, "class_pred", "novelty:msp")


def test_fits_without_weights_keep_their_rows_recomputed_and_say_so(cheat, base):
    weights_of(cheat, 0).unlink()
    cheat.seal()
    result = verify(cheat.folder, base.data, rescore=True)
    assert result.differences == []
    assert set(result.frame["trust"]) == {"recomputed"}
    # The year after it is calibrated with its model.
    assert any("2 fits cannot be rescored: the bundle has no weights" in note for note in result.notes)


def test_a_detector_that_is_called_failed_but_answers_is_noted_and_its_row_is_not_rescored(cheat, base):
    key = cheat.plan()["fits"][2]
    cheat.change_json(f"fits/{key}.json", lambda fields: fields.update(failed={"msp": "bad luck"}))
    cheat.change_table(cheat.answers(2), lambda f: f.drop(columns=[c for c in f if ":msp" in c]))
    cheat.regrade(base.data)
    result = verify(cheat.folder, base.data, rescore=True)
    assert any("msp is recorded as failed, but it answers here" in note for note in result.notes)
    trust = result.frame.set_index(["detector", "threshold"])["trust"]
    assert trust["msp", ""] == "recomputed"
    assert trust["good(energy(temperature=1.0),alpha=0.5)", ""] == "rescored"


def change_weights(path, change) -> None:
    tensors = safetensors.torch.load(path.read_bytes())
    change(tensors)
    path.write_bytes(safetensors.torch.save(tensors))


def first_nan(tensors):
    next(iter(tensors.values())).view(-1)[0] = float("nan")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (first_nan, "not finite"),
        (lambda t: t.update(extra=torch.zeros(1)), "'extra' has no place"),
        (lambda t: t.pop(min(t)) is None or t.update(x=torch.zeros(4000)), "is missing|bytes"),
        (lambda t: t.update({k: v.half() for k, v in t.items()}), "bytes"),
        (lambda t: t.update({k: v.view(torch.int32) for k, v in t.items()}), "int32"),
        (lambda t: t.update({k: v.reshape(-1) for k, v in t.items()}), "of shape"),
        (lambda t: t.update(big=torch.zeros(1 << 20)), "bytes"),
    ],
)
def test_weights_that_are_not_their_models_are_refused_by_name(cheat, base, change, words):
    change_weights(weights_of(cheat), change)
    cheat.seal()
    with pytest.raises(BundleError, match=words) as caught:
        verify(cheat.folder, base.data, rescore=True)
    assert weights_of(cheat).name in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"\x02\0\0\0\0\0\0\0{}"])
def test_bytes_that_are_no_weights_are_refused(cheat, base, data):
    size = weights_of(cheat).stat().st_size
    for padded in (data, data.ljust(size, b"\0")):
        weights_of(cheat).write_bytes(padded)
        cheat.seal()
        with pytest.raises(BundleError, match="safetensors"):
            verify(cheat.folder, base.data, rescore=True)
    # Without answering again nobody opens them.
    assert verify(cheat.folder, base.data).differences == []


def test_a_tolerance_is_not_negative(plain, base):
    with pytest.raises(UsageError, match="--tolerance"):
        verify(plain, base.data, rescore=True, tolerance=-1)


def test_the_command_counts_rows_by_their_trust_and_says_what_is_claimed(base, tmp_path):
    def run(*options):
        given = ["verify", str(base.bundle), "--data-dir", str(base.data), "--rescore", *options]
        return CliRunner().invoke(main, given)

    about = json.loads(run("--json").stdout)
    assert about["trust"] == "recomputed"
    assert set(about["rows_by_trust"]) == {"recomputed", "rescored"}
    assert sum(about["rows_by_trust"].values()) == about["rows"]
    assert {"fit_seconds", "torch", "git_commit"} <= set(about["claimed"])
    said = run("--out", str(tmp_path / "board.csv"))
    assert "trust = rescored: " in said.stdout
    assert "the word of who ran it" in said.stderr
    assert set(pd.read_csv(tmp_path / "board.csv")["trust"]) == {"recomputed", "rescored"}
