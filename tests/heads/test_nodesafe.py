from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lgl_bench.backbones.walks.training_data import Clock, Step
from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors, head_of
from lgl_bench.heads.nodesafe import NodeSafe, bounded_and_uniform, first_epoch
from tests.support.stubs import Says, calibration, points, snapshot
from tests.support.walks import data_on

# Lengths 5, 10 and 0: mean 5, variance 50/3. Sums 7, 14 and 0: mean 7, variance 98/3.
LOGITS = torch.tensor([[3.0, 4.0], [6.0, 8.0], [0.0, 0.0]])


def test_the_regulariser_is_the_variance_over_the_mean_of_lengths_and_sums():
    assert float(bounded_and_uniform(LOGITS, l1=1.0)) == pytest.approx(50 / 3 / 5)
    assert float(bounded_and_uniform(LOGITS, l1=0.0)) == pytest.approx(98 / 3 / 7)
    assert float(bounded_and_uniform(LOGITS, l1=0.75)) == pytest.approx(0.75 * 10 / 3 + 0.25 * 14 / 3)


def test_on_random_logits_it_is_that_of_numpy_and_no_gradient_flows_through_the_means():
    f = torch.tensor(np.random.default_rng(0).normal(size=(7, 4)), requires_grad=True)
    found = bounded_and_uniform(f, l1=0.0)
    sums = f.detach().numpy().sum(axis=1)
    assert found.item() == pytest.approx(sums.var() / abs(sums.mean()))
    (grad,) = torch.autograd.grad(found, f)
    expected = 2 * (sums - sums.mean()) / 7 / abs(sums.mean())
    assert grad.numpy() == pytest.approx(np.repeat(expected[:, None], 4, axis=1))


def test_sums_with_a_negative_mean_are_held_together_too_and_one_vertex_has_no_variance():
    assert float(bounded_and_uniform(-LOGITS, l1=0.0)) == pytest.approx(98 / 3 / 7)
    assert float(bounded_and_uniform(LOGITS[:1], l1=0.5)) == 0.0


@pytest.mark.parametrize(("epoch", "epochs", "on"), [(20, 300, False), (21, 300, True), (5, 50, False), (6, 50, True)])
def test_it_is_added_after_twenty_epochs_or_a_tenth_of_few(epoch, epochs, on):
    data = replace(data_on(points(3), [0, 1]), clock=Clock(epochs, epoch))
    added = NodeSafe(2, 2, l1=1.0, l2=0.5).graph_loss(data)
    found = float(added(Step(data, LOGITS, LOGITS)))
    assert found == (pytest.approx(0.5 * 6.25 / 7.5) if on else 0.0)  # lengths 5 and 10 of the training vertices
    assert first_epoch(1000) == 21


def test_it_scores_as_gnnsafe_on_its_own_head():
    detector, plain = build(parse("nodesafe(steps=3)"), detectors), build(parse("gnnsafe(steps=3)"), detectors)
    assert head_of(detector) == "nodesafe" and head_of(plain) == "softmax"
    g = points(3)
    model = Says((g, LOGITS, None))
    for one in (detector, plain):
        one.fit(model, snapshot(g), np.arange(3), calibration(model, g))
    assert detector.score(model, g).tolist() == plain.score(model, g).tolist()


def test_values_out_of_range_are_refused():
    with pytest.raises(UsageError, match="l1 = 2, l2 = 1.0"):
        NodeSafe(2, 2, l1=2)
