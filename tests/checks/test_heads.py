"""Heads that look where they may not: each fails the check made for it."""

from __future__ import annotations

import sys

import pytest
import torch

from lgl_bench.checks import planted
from lgl_bench.heads import heads
from lgl_bench.heads.softmax import Softmax


def _task():
    """The task of the fit, found where no contract leads to it."""
    frame = sys._getframe()
    while "task" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["task"]


class AsksForTheTestGraph(Softmax):
    """There is no such thing on the inductive track."""

    def graph_loss(self, data):
        return lambda step: step.output.mean() * float(data.test.features.mean())


class ReachesForTheTestGraph(Softmax):
    """Goes round the contract."""

    def graph_loss(self, data):
        taken = float(torch.from_numpy(_task().test.features[:20].copy()).mean())
        return lambda step: step.output.square().mean() * taken


class PeeksAtLabels(Softmax):
    """Goes round the contract, for labels outside the loss."""

    track = "transductive"

    def graph_loss(self, data):
        taken = float(_task().train.labels.mean())
        return lambda step: step.output.square().mean() * taken


@pytest.mark.parametrize(
    ("plugin", "title", "said"),
    [
        (AsksForTheTestGraph, "trains without the test graph", "'TrainingData' object has no attribute 'test'"),
        (ReachesForTheTestGraph, "trains without the test graph", "training sees the future"),
        (PeeksAtLabels, "trains on no label it may not learn from", "training peeks at labels"),
    ],
)
def test_a_head_that_looks_where_it_may_not_fails_the_check_made_for_it(check, plugin, title, said):
    planted._trained.cache_clear()  # models are kept by name, and every plugin here has the same
    assert said in check(heads, "heads", plugin)[title]
