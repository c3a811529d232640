"""What models answer for every year goes with a bundle, and every figure is made again from it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from lgl_bench.submissions.bundle.pack import submit
from lgl_bench.submissions.reproduce.reproduce import reproduce
from lgl_bench.submissions.verify.verify import verify
from tests.support.bundles import Forged
from tests.support.refusals import first, refused

TEXT = """name = "years"
version = 1
title = "every model on every year"
protocol = "temporal"
streams = ["small"]
backbones = ["gcn"]
strategies = ["finetune", "replay(size=9)"]
detectors = ["msp"]
matrix = true
"""


@pytest.fixture(scope="module")
def plain(base) -> Path:
    (base.folder / "years.toml").write_text(TEXT)
    out = base.carry_out("years", suite=str(base.folder / "years.toml"), seeds=1)
    submit(out, base.folder / "years-bundle")
    return base.folder / "years-bundle"


@pytest.fixture
def cheat(plain, tmp_path) -> Forged:
    return Forged(Path(shutil.copytree(plain, tmp_path / "cheat")))


def row_of(cheat, position=2) -> Path:
    return cheat.folder / "fits" / f"{cheat.plan()['fits'][position]}.matrix"


def test_an_honest_bundle_carries_the_rows_and_verifies(cheat, base):
    assert len(list(cheat.folder.glob("fits/*.matrix"))) == len(cheat.plan()["fits"]) == 6
    found = verify(cheat.folder, base.data, rescore=True)
    assert found.differences == [] and set(found.frame["trust"]) == {"rescored"}
    assert found.frame["forgetting_mean"].notna().all()


def test_running_it_again_gives_the_same_figures(cheat, base, here):
    found = reproduce(cheat.folder, [], data_dir=base.data, jobs=1)
    assert found.differences == [] and set(found.frame["trust"]) == {"reproduced"}


def test_a_forged_prediction_changes_a_figure_and_is_found(cheat, base):
    cheat.change_table(row_of(cheat), lambda frame: frame.assign(class_pred=frame["class_pred"].to_numpy()[0]))
    cheat.seal()
    found = verify(cheat.folder, base.data).differences
    assert any("forgetting" in text for text in found) and any("backward_transfer" in text for text in found)


def test_forged_predictions_with_the_figures_they_give_are_found_by_answering_again(cheat, base):
    cheat.change_table(row_of(cheat), lambda frame: frame.assign(class_pred=frame["class_pred"].to_numpy()[0]))
    cheat.regrade(base.data)
    assert verify(cheat.folder, base.data).differences == []
    again = verify(cheat.folder, base.data, rescore=True)
    assert any(row_of(cheat).name in text for text in again.differences)
    assert set(again.frame["trust"]) == {"recomputed"}


def test_a_row_of_another_length_is_refused(cheat, base):
    cheat.change_table(row_of(cheat), lambda frame: frame.iloc[1:])
    cheat.seal()
    refused(cheat, base, "rows", "the years have")


def test_a_class_that_the_model_does_not_know_is_refused(cheat, base):
    cheat.change_table(row_of(cheat), lambda frame: first(frame, "class_pred", 4))
    cheat.seal()
    refused(cheat, base, "it names the class 4, which the model does not know")


def test_other_columns_are_refused(cheat, base):
    cheat.change_table(row_of(cheat), lambda frame: frame.assign(vertex=np.arange(len(frame))))
    cheat.seal()
    refused(cheat, base, "and nothing else")


def test_a_last_year_of_training_that_is_not_the_protocols_is_refused(cheat, base):
    key = cheat.plan()["fits"][2]
    cheat.change_json(f"fits/{key}.json", lambda fields: fields.update(trained_up_to=1))
    cheat.seal()
    refused(cheat, base, "trained_up_to = 1", "the protocol says 3")


def test_rows_that_are_left_out_leave_the_figures_undefined_and_are_noted(cheat, base):
    for path in cheat.folder.glob("fits/*.matrix"):
        path.unlink()
    cheat.regrade(base.data)
    found = verify(cheat.folder, base.data)
    assert found.differences == [] and found.frame["forgetting_mean"].isna().all()
    assert any("6 fits did not answer for every year" in note for note in found.notes)
