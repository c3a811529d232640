"""Rows whose backbone was given parameters: packed, recomputed, scored again and run again like any other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lgl_bench.plans.preset_entries import FitEntry
from lgl_bench.plans.preset_file import write_presets
from lgl_bench.submissions.bundle.pack import submit
from lgl_bench.submissions.reproduce.reproduce import reproduce
from lgl_bench.submissions.verify.verify import verify
from tests.support.bundles import Forged
from tests.support.refusals import refused

GIVEN = ["gcn", "gcn(layers=3)", "APPNP(steps=2)"]
SHOWN = {"gcn", "gcn(layers=3)", "appnp(steps=2)"}


@pytest.fixture(scope="module")
def bundle(base) -> Path:
    """A run of one backbone with and without parameters, and of another."""
    out = base.carry_out("given", backbones=GIVEN, detectors=["msp"], thresholds=["none"], seeds=1)
    submit(out, base.folder / "given-bundle")
    return base.folder / "given-bundle"


@pytest.fixture
def forged(bundle, tmp_path) -> Forged:
    return Forged(Path(shutil.copytree(bundle, tmp_path / "forged")))


@pytest.mark.parametrize(("rescore", "trust"), [(False, "recomputed"), (True, "rescored")])
def test_rows_with_given_parameters_are_verified(base, bundle, rescore, trust):
    result = verify(bundle, base.data, rescore=rescore)
    assert result.differences == []
    frame = result.frame[result.frame["detector"] == "msp"]
    assert {*frame["backbone"]} == SHOWN
    assert {*frame["trust"]} == {trust}


def test_rows_with_given_parameters_are_reproduced(base, bundle, here):
    result = reproduce(bundle, [], data_dir=base.data)
    assert result.differences == []
    frame = result.frame[result.frame["detector"] == "msp"]
    assert {*frame["backbone"]} == SHOWN
    assert {*frame["trust"]} == {"reproduced"}


def rows(plan):
    return [row for row in plan["rows"] if row["parameters"] == [["layers", 3]]]


def chain(plan):
    return next(one for one in plan["chains"] if one.get("given") == [["layers", 3]])


def claim_other_value(plan):
    """Rows and chains say four layers; what was trained has three."""
    plan["suite"]["backbones"][1] = "gcn(layers=4)"
    for row in rows(plan):
        row["parameters"] = [["layers", 4]]
    chain(plan)["given"] = [["layers", 4]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (claim_other_value, ("plan.json", "gcn(layers=4)", "parameters")),
        (lambda plan: plan["suite"]["backbones"].__setitem__(1, "gcn(layers=4)"), ("the suite has", "gcn(layers=4)")),
        (lambda plan: plan["suite"]["backbones"].__setitem__(1, "gcn(lairs=3)"), ("did you mean 'layers'",)),
        (lambda plan: plan["suite"]["backbones"].__setitem__(1, "gcn(layers="), ("plan.json",)),
        (lambda plan: plan["suite"]["backbones"].__setitem__(1, "gcn"), ("plan.json", "named twice")),
        (lambda plan: chain(plan)["backbone_parameters"].__setitem__(0, ["dropout", 0.1]), ("gcn(layers=3)", "0.1")),
        (lambda plan: chain(plan).pop("given"), ("plan.json", "one chain per seed")),
        (lambda plan: chain(plan)["given"].append(["hidden", 8]), ("plan.json", "one chain per seed")),
        (lambda plan: [row.update(parameters=[]) for row in rows(plan)], ("plan.json", "gcn(layers=3)")),
    ],
)
def test_what_was_not_run_cannot_be_claimed(forged, base, change, words):
    forged.change_json("plan.json", change)
    forged.seal()
    refused(forged, base, *words)


def test_heads_that_are_given_beside_a_tuned_width_are_within_the_budget_for_verify_too(base, tmp_path):
    preset = tmp_path / "narrow.toml"
    where = {"stream": "small", "split": "temporal", "backbone": "gat", "head": "softmax"}
    parameters = {"hidden": 3, "layers": 2, "dropout": 0.1, "heads": 1, "attn_dropout": 0.1}
    write_presets(preset, [FitEntry(**where, parameters=parameters, epochs=3, lr=0.05, studies={"tune-1": 3})])
    axes = {"backbones": ["gat(heads=4)"], "detectors": ["msp"], "thresholds": ["none"], "seeds": 1}
    out = base.carry_out("given-tuned", preset=preset, **axes)
    submit(out, tmp_path / "bundle")
    result = verify(tmp_path / "bundle", base.data)
    assert result.differences == []
    assert {*result.frame["backbone"]} == {"gat(heads=4)"}
