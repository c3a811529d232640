from __future__ import annotations

from dataclasses import replace

import pytest

from lgl_bench.api import Settings, plan_run
from lgl_bench.runs.budget import BUDGETS
from lgl_bench.runs.presets import Preset
from lgl_bench.submissions.layout import BundleError
from lgl_bench.submissions.plan_checks import _check_parameters, _check_thresholds


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
    with pytest.raises(BundleError, match="the sweep asks for dropout = 0.9; the budget quick allows 0.5"):
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
