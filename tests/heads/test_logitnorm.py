from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors, head_of
from lgl_bench.heads.logitnorm import LogitNorm
from tests.support.stubs import scores_of_logits


def test_the_loss_is_the_cross_entropy_of_unit_logits_divided_by_tau():
    # f = (3, 4) has length 5: (0.6, 0.8) / 0.5 = (1.2, 1.6), and -log softmax of the first is log(1 + e^0.4).
    found = LogitNorm(2, 2, tau=0.5).loss(torch.tensor([[3.0, 4.0]]), torch.tensor([0]))
    assert float(found) == pytest.approx(math.log(1 + math.exp(0.4)), abs=1e-6) == pytest.approx(0.9130152, abs=1e-6)


def test_the_loss_is_that_of_numpy():
    rng = np.random.default_rng(0)
    f, labels = rng.normal(size=(9, 4)), rng.integers(0, 4, 9)
    unit = f / np.linalg.norm(f, axis=1, keepdims=True) / 0.04
    expected = (np.log(np.exp(unit - unit.max(1, keepdims=True)).sum(1)) + unit.max(1) - unit[range(9), labels]).mean()
    found = LogitNorm(2, 4).loss(torch.tensor(f), torch.tensor(labels))
    assert float(found) == pytest.approx(expected, rel=1e-9)


def test_longer_logits_do_not_lower_the_loss():
    head, f, labels = LogitNorm(2, 3), torch.randn(5, 3).double(), torch.tensor([0, 1, 2, 0, 1])
    assert float(head.loss(100 * f, labels)) == pytest.approx(float(head.loss(f, labels)))


def test_logits_of_zero_have_a_finite_loss_and_gradient():
    f = torch.zeros(2, 3, requires_grad=True)
    loss = LogitNorm(2, 3).loss(f, torch.tensor([0, 2]))
    loss.backward()
    assert loss.item() == pytest.approx(math.log(3)) and torch.isfinite(f.grad).all()


def test_its_detector_is_msp_on_that_head():
    detector = build(parse("logitnorm"), detectors)
    assert head_of(detector) == "logitnorm"
    assert scores_of_logits(detector).tolist() == scores_of_logits(build(parse("msp"), detectors)).tolist()


def test_tau_must_be_positive():
    with pytest.raises(UsageError, match="tau = 0: it must be positive"):
        LogitNorm(2, 3, tau=0)
