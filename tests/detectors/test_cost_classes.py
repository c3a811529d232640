"""What a detector says that scoring costs is what it does."""

from __future__ import annotations

import pytest
import torch

from lgl_bench.checks.planted import bench
from lgl_bench.core.expressions import build, complete, parse, signature
from lgl_bench.detectors import detectors, graph_for, head_of


def measured(name, monkeypatch):
    """The class of cost, from what is asked of a model that remembers no outputs."""
    wraps, _ = signature(detectors.get(name))
    detector = build(complete(parse(f"{name}(energy)" if wraps else name), detectors), detectors)
    works_on = detectors.get(name).backbones
    item = bench(head_of(detector), works_on[0] if works_on else "gcn")
    backbone, task = item.model.backbone, item.task
    detector.fit(item.model, task.train, item.fit_vertices, item.calibration)
    item.model.forget()
    calls = {"body": 0, "forward": 0, "last": 0, "gradient": 0}

    def counted(what, call):
        def counting(*args, **kwargs):
            calls[what] += 1
            return call(*args, **kwargs)

        return counting

    with monkeypatch.context() as patch:
        patch.setattr(backbone, "forward", counted("forward", backbone.forward))
        patch.setattr(backbone, "last", counted("last", backbone.last))
        patch.setattr(torch.autograd, "grad", counted("gradient", torch.autograd.grad))
        if hasattr(backbone, "weighted"):
            patch.setattr(backbone, "weighted", counted("body", backbone.weighted))
        detector.score(item.model, graph_for(detector, task.test, task.scored, task.trained))
    if calls["gradient"]:
        return "gradient"
    alone = calls["last"] - calls["forward"] if calls["last"] else 0
    if calls["forward"] > 1 or alone > 1:
        return "several passes"
    if alone == 1:
        return "last layer"
    return "one pass" if calls["forward"] or calls["body"] else "none"


@pytest.mark.parametrize("name", [name for name in detectors.names() if name not in ("ensemble", "genodin")])
def test_the_cost_that_is_declared_is_what_scoring_does(name, monkeypatch):
    assert detectors.get(name).cost == measured(name, monkeypatch)


def test_an_ensemble_costs_fits_of_its_own():
    assert detectors.get("ensemble").cost == "several fits"


def test_genodin_costs_a_gradient_unless_the_step_it_chose_is_none(monkeypatch):
    assert detectors.get("genodin").cost == "gradient"
    assert measured("genodin", monkeypatch) in ("gradient", "one pass")
