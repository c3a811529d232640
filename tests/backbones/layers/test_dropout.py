from __future__ import annotations

import pytest
import torch

from lgl_bench.backbones.layers.dropout import Dropout
from lgl_bench.core.errors import UsageError
from lgl_bench.training.trainer import seeded


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_the_share_asked_for_is_dropped_and_the_mean_is_kept(share):
    with seeded(0, "dropout"):
        out = Dropout(share).train()(torch.ones(501, 399))
    n = out.numel()
    deviation = (share * (1 - share) / n) ** 0.5
    assert abs((out == 0).double().mean() - share) < 4 * deviation
    assert abs(out.double().mean() - 1) < 4 * deviation / (1 - share)
    assert torch.allclose(out[out != 0], torch.tensor(1 / (1 - share)), rtol=1e-4)


def test_every_unit_of_a_small_tensor_is_dropped_as_often_as_any_other():
    with seeded(1, "dropout"):
        drop = Dropout(0.5).train()
        kept = sum((drop(torch.ones(7)) != 0).double() for _ in range(4000)) / 4000
    assert ((kept - 0.5).abs() < 0.035).all()


def test_units_are_dropped_independently_of_their_neighbours():
    with seeded(2, "dropout"):
        out = (Dropout(0.5).train()(torch.ones(100_000)) != 0).double() - 0.5
    for lag in (1, 2, 3, 4):
        assert abs((out[:-lag] * out[lag:]).mean() / 0.25) < 0.015


def test_evaluation_and_a_share_of_zero_leave_everything_alone():
    x = torch.randn(5, 3)
    assert torch.equal(Dropout(0.9).eval()(x), x)
    assert torch.equal(Dropout(0.0).train()(x), x)


def test_what_is_dropped_depends_on_the_seed():
    def draw(seed):
        with seeded(seed, "dropout"):
            return Dropout(0.5).train()(torch.ones(200))

    assert torch.equal(draw(0), draw(0))
    assert not torch.equal(draw(0), draw(1))


def test_gradients_reach_the_units_that_are_kept_alone():
    x = torch.ones(300, requires_grad=True)
    out = Dropout(0.5).train()(x)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())


@pytest.mark.parametrize("share", [-0.1, 1.0, 1.5, float("nan")])
def test_a_share_outside_the_interval_is_refused(share):
    with pytest.raises(UsageError, match="dropout"):
        Dropout(share)
