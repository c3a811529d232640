from __future__ import annotations

from dataclasses import replace

import pytest

from lgl_bench.pipeline import plan_run
from lgl_bench.plans.budget import BUDGETS
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.runs.options import Settings
from lgl_bench.submissions.bundle.layout import BundleError
from lgl_bench.submissions.verify.plan_checks import _check_parameters, _check_thresholds
from tests.support.refusals import refused


@pytest.mark.parametrize("budget", ["smoke", "quick", "paper"])
def test_a_threshold_has_the_epochs_its_budget_gives_it(tmp_path, budget):
    axes = {"streams": ["dblp-easy-twin"], "backbones": ["gcn"], "detectors": ["msp"], "thresholds": ["open-wrf"]}
    plan, _ = plan_run("temporal", Settings(tmp_path, offline=True), budget=budget, **axes)
    assert _check_thresholds(plan) == []
    first, *references = plan.thresholds
    assert references == ["never", "always", "oracle"]
    changed = replace(plan, thresholds=(first.replace("q=0.1", "q=0.2"), *references))
    with pytest.raises(BundleError, match="the threshold 'open-wrf' of the suite is"):
        _check_thresholds(changed)


def test_swept_values_that_the_budget_caps_are_refused_whoever_made_the_plan(tmp_path):
    text = 'name = "mine"\nversion = 1\ntitle = "x"\nprotocol = "temporal"\nstreams = ["dblp-easy-twin"]\n'
    text += 'backbones = ["gcn"]\ndetectors = ["msp"]\n[sweep]\ndropout = [0.1, 0.9]\nhidden = [16]\n'
    (tmp_path / "mine.toml").write_text(text)
    plan, _ = plan_run(str(tmp_path / "mine.toml"), Settings(tmp_path, offline=True), budget="paper", seeds=1)
    _check_parameters(plan)
    with pytest.raises(BundleError, match="dropout = 0.9; the budget quick allows 0.5"):
        _check_parameters(_within(plan, "quick"))


def test_a_tuned_width_that_is_no_number_is_refused(tmp_path):
    axes = {"streams": ["dblp-easy-twin"], "backbones": ["gcn"], "detectors": ["msp"], "thresholds": ["none"]}
    plan, _ = plan_run("temporal", Settings(tmp_path, offline=True), budget="quick", seeds=1, **axes)
    units = {replace(chain, backbone_parameters=(("hidden", "wide"),)): made for chain, made in plan.units.items()}
    rows = [replace(row, preset="mine") for row in plan.rows]
    with pytest.raises(BundleError, match="are no numbers to be capped"):
        _check_parameters(replace(plan, units=units, rows=rows))


def _within(plan, name):
    """The plan as somebody would forge it: chains of the budget, but for the values that are swept."""
    budget = BUDGETS[name]
    units = {}
    for chain, made in plan.units.items():
        capped = budget.cap(Preset("", chain.parameters, chain.training))
        parameters = {**capped.backbone, "dropout": chain.parameters["dropout"]}
        training = capped.training
        forged = replace(chain, backbone_parameters=tuple(sorted(parameters.items())), epochs=training.epochs)
        forged = replace(forged, lr=training.lr, steps=training.steps, warm_steps=training.warm_steps)
        units[forged] = made
    return replace(plan, budget=budget, units=units)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda plan: plan["streams"].update(small="0" * 64), ("small", "checksum")),
        (lambda plan: plan.update(streams={"../small": "0" * 64}), ("plan.json",)),
        (lambda plan: plan["suite"].update(budget="x"), ("plan.json", "budget")),
        (lambda plan: plan.update(unheard="of"), ("plan.json", "unheard")),
        (lambda plan: plan.update(budget="paper", budget_version=1), ("plan.json", "parameters")),
        (lambda plan: plan.update(budget_version=1), ("plan.json", "budget_version = 1", "not comparable")),
        (lambda plan: plan.pop("budget_version"), ("plan.json", "budget_version")),
        (lambda plan: plan["chains"][0].update(epochs=500), ("plan.json", "parameters")),
        (lambda plan: plan["fits"].pop(), ("plan.json", "fits")),
        (lambda plan: plan["rows"].pop(), ("plan.json", "rows")),
        (lambda plan: plan["rows"][0].update(detector="energy"), ("plan.json", "energy")),
        (lambda plan: plan["rows"][1].update(detector="msp"), ("plan.json", "msp")),
        (lambda plan: plan["rows"][2].update(alpha=0.9), ("plan.json", "good(margin-of-mine")),
        (lambda plan: plan["rows"][0].update(detector="good(" * 90 + "msp" + ")" * 90), ("plan.json",)),
        (lambda plan: plan["suite"].update(label_delay=1), ("plan.json",)),
        (lambda plan: plan["provenance"].pop("torch"), ("plan.json", "torch")),
        (lambda plan: plan.pop("chains"), ("plan.json", "chains")),
    ],
)
def test_a_plan_that_is_not_its_suites_is_refused_by_name(forged, base, change, words):
    forged.change_json("plan.json", change)
    forged.seal()
    refused(forged, base, *words)


def test_keys_are_compared_where_the_same_code_made_them(forged, base, monkeypatch):
    plan = forged.plan()
    made = {**plan["provenance"], "git_commit": "abc"}
    monkeypatch.setattr("lgl_bench.submissions.verify.plan_checks.provenance", lambda: made)
    old, new = plan["fits"][0], "0" * 24

    def rename(fields):
        fields["fits"][0] = new
        fields["provenance"]["git_commit"] = "abc"

    forged.change_json("plan.json", rename)
    for folder, ending in (("answers", "parquet"), ("fits", "json")):
        (forged.folder / folder / f"{old}.{ending}").rename(forged.folder / folder / f"{new}.{ending}")
    forged.change_json(f"fits/{new}.json", lambda fields: fields.update(key=new))
    forged.seal()
    refused(forged, base, "plan.json", new, old)


def test_fits_made_by_different_code_are_no_run(forged, base, monkeypatch):
    plan = forged.plan()
    made = {**plan["provenance"], "git_commit": "another"}
    monkeypatch.setattr("lgl_bench.submissions.verify.plan_checks.provenance", lambda: made)
    old, new = plan["fits"][2], "0" * 24
    forged.change_json("plan.json", lambda fields: fields["fits"].__setitem__(2, new))
    for folder, ending in (("answers", "parquet"), ("fits", "json"), ("fits", "safetensors")):
        (forged.folder / folder / f"{old}.{ending}").rename(forged.folder / folder / f"{new}.{ending}")
    forged.change_json(f"fits/{new}.json", lambda fields: fields.update(key=new))
    forged.seal()
    refused(forged, base, "plan.json", "different code or versions")
