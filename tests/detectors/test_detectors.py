"""What the detectors share: they refuse to score unfitted, nest, and stay finite where a model says nothing useful."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import PluginError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import checked, detectors
from lgl_bench.detectors.knn import Knn
from lgl_bench.detectors.mahalanobis import Mahalanobis
from tests.support.graphs import graph
from tests.support.stubs import Says, fitted, points
from tests.support.trained import small_case

POST_HOC = [
    "propagate(energy)",
    "gnnsafe",
    "vim",
    "ash(energy)",
    "scale(energy)",
    "fdbd",
    "nnguide",
    "she",
    "kl-matching",
    "gen",
    "rmds",
    "mc-dropout",
]
NESTED = [
    "good(vim)",
    "propagate(scale(energy))",
    "react(fdbd)",
    "ash(energy)",
    "good(ash(react(nnguide)))",
    "scale(propagate(kl-matching, steps=3))",
    "good(propagate(good(rmds)), alpha=0.2)",
    "ash(good(she))",
    "propagate(mc-dropout)",
    "react(scale(gen(gamma=0.5)))",
]


def constant(model):
    model.backbone.projections[0].weight.zero_()
    model.backbone.projections[0].bias.fill_(1.0)


def dead(model):
    model.backbone.projections[0].weight.zero_()
    model.backbone.projections[0].bias.fill_(-1.0)


def one_class(model):
    model.backbone.projections[1].bias.copy_(torch.tensor([1e4, 0.0, -1e4]))


def huge(model):
    model.backbone.projections[0].weight.mul_(1e5)


def equal_classes(model):
    model.backbone.projections[1].weight.zero_()
    model.backbone.projections[1].bias.zero_()


@pytest.mark.parametrize("detector", [Knn(), Mahalanobis()])
def test_a_detector_that_learns_refuses_to_score_before(detector):
    g = points(2)
    with pytest.raises(PluginError, match="has not been fitted; call fit first"):
        detector.score(Says((g, None, [[1.0], [2.0]])), g)


@pytest.mark.parametrize("text", [*POST_HOC, *NESTED])
@pytest.mark.parametrize("spoil", [constant, dead, one_class, huge, equal_classes], ids=lambda one: one.__name__)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_scores_are_finite_where_a_model_says_nothing_useful(text, spoil):
    model, g, labels = small_case()
    with torch.no_grad():
        spoil(model)
    detector = fitted(build(parse(text), detectors), model, g, labels)
    scores = checked(detector.score(model, g), g, text)
    assert scores.dtype == np.float64


@pytest.mark.parametrize("text", [*POST_HOC, *NESTED])
def test_a_graph_of_isolated_vertices_has_finite_scores(text):
    model, g, labels = small_case()
    detector = fitted(build(parse(text), detectors), model, g, labels)
    alone = graph([], g.features)
    checked(detector.score(model, alone), alone, text)


@pytest.mark.parametrize("text", NESTED)
@pytest.mark.parametrize("backbone", ["gcn", "graphsage", "gat", "graph-mlp"])
def test_detectors_nest_on_every_backbone(text, backbone):
    model, g, labels = small_case(backbone=backbone)
    detector = fitted(build(parse(text), detectors), model, g, labels)
    scores = checked(detector.score(model, g), g, text)
    assert not detector.bounded or (scores.min() >= 0 and scores.max() <= 1)


@pytest.mark.parametrize("text", POST_HOC)
def test_every_value_of_a_grid_is_accepted(text):
    name = parse(text).name
    for parameter, values in detectors.get(name).grid.items():
        for value in values:
            inside = f"energy,{parameter}={value}" if "(" in text else f"{parameter}={value}"
            assert getattr(build(parse(f"{name}({inside})"), detectors), parameter) == value
