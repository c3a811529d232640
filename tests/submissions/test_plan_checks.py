from __future__ import annotations

from dataclasses import replace

import pytest

from lgl_bench.api import Settings, plan_run
from lgl_bench.submissions.layout import BundleError
from lgl_bench.submissions.plan_checks import _check_thresholds


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
