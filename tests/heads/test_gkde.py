from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import digamma, gammaln

from lgl_bench.backbones.walks.training_data import Clock, Step
from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors, head_of
from lgl_bench.heads.dirichlet import divergence, entropy
from lgl_bench.heads.gkde import Gkde, kernel_prior, square_loss, teacher
from tests.support.graphs import graph, random_graph
from tests.support.stubs import scores_of_logits
from tests.support.walks import data_on

PATH = graph([(0, 1), (1, 2)], np.eye(4, dtype=np.float32))  # 0 - 1 - 2, and 3 apart
N0, N1, N2 = (math.exp(-h * h / 2) / math.sqrt(2 * math.pi) for h in range(3))


def test_the_square_loss_worked_by_hand():
    # alpha (3, 1): p (.75, .25), total 4. Label 0: (1 - .75)^2 + .25^2 + 2 * .1875 / 5 = .125 + .075.
    assert square_loss(torch.tensor([[3.0, 1.0]]), torch.tensor([0])).item() == pytest.approx(0.2)
    # Label 1: .75^2 + .75^2 + .075.
    assert square_loss(torch.tensor([[3.0, 1.0]]), torch.tensor([1])).item() == pytest.approx(1.2)


def test_logits_are_the_logarithm_of_one_plus_exp_f():
    head, f = Gkde(4, 2), torch.tensor([[math.log(2.0), 0.0]])
    assert head.logits(f).exp().tolist()[0] == pytest.approx([3.0, 2.0])
    assert head.probabilities(head.logits(f)).tolist()[0] == pytest.approx([0.6, 0.4])
    assert head.loss(f, torch.tensor([0])).item() == pytest.approx(0.16 + 0.16 + 2 * 0.24 / 6)


def test_the_prior_is_a_normal_density_of_hops_from_labelled_vertices():
    found = kernel_prior(data_on(PATH, [0, 3], labels=[0, 1]), 2).tolist()
    assert found[0] == pytest.approx([1 + N0, 1.0])
    assert found[1] == pytest.approx([1 + N1, 1.0])
    assert found[2] == pytest.approx([1 + N2, 1.0])
    assert found[3] == pytest.approx([1.0, 1 + N0])


def test_entropy_and_divergence_of_dirichlet_distributions_are_those_of_numpy():
    rng = np.random.default_rng(0)
    a, b = 1 + 5 * rng.random((6, 4)), 1 + 5 * rng.random((6, 4))
    a0, b0 = a.sum(1), b.sum(1)
    kl = gammaln(a0) - gammaln(a).sum(1) - gammaln(b0) + gammaln(b).sum(1)
    kl += ((a - b) * (digamma(a) - digamma(a0)[:, None])).sum(1)
    assert divergence(torch.tensor(a), torch.tensor(b)).numpy() == pytest.approx(kl) and (kl > 0).all()
    h = gammaln(a).sum(1) - gammaln(a0) + (a0 - 4) * digamma(a0) - ((a - 1) * digamma(a)).sum(1)
    assert entropy(torch.tensor(a)).numpy() == pytest.approx(h)


@pytest.mark.parametrize(("epoch", "share"), [(1, 0.005), (100, 0.5), (400, 1.0)])
def test_what_is_added_is_the_mean_over_all_vertices_of_both_divergences(epoch, share):
    data = replace(data_on(PATH, [0, 3], labels=[0, 1]), clock=Clock(2))
    head = Gkde(4, 2, prior=0.1)
    torch.manual_seed(5)
    added = head.graph_loss(data)
    torch.manual_seed(5)
    q = teacher(data, 2).exp().double().numpy()
    data.clock.epoch = epoch
    f = torch.tensor(np.random.default_rng(1).normal(size=(4, 2)).astype(np.float32))
    alpha, prior = 1 + np.exp(f.double().numpy()), kernel_prior(data, 2).double()
    p = alpha / alpha.sum(1, keepdims=True)
    expected = 0.1 * divergence(torch.tensor(alpha), prior).mean() + share * (p * np.log(p / q)).sum(1).mean()
    assert added(Step(data, f, f)).item() == pytest.approx(expected.item(), rel=1e-4)


def test_the_teacher_learns_the_training_labels_and_is_the_same_under_the_same_seed():
    g = random_graph(n=12, seed=2)
    data = replace(data_on(g, [0, 1, 2, 3], labels=[0, 1, 0, 1]), clock=Clock(150))
    found = []
    for _ in range(2):
        torch.manual_seed(3)
        found.append(teacher(data, 3))
    assert torch.equal(*found) and found[0].exp().sum(1).tolist() == pytest.approx([1] * 12)
    assert found[0][:4].argmax(1).tolist() == [0, 1, 0, 1]


def test_less_evidence_is_more_novel_and_the_order_is_that_of_alpha_0():
    detector = build(parse("gkde"), detectors)
    alpha = np.array([[1.0, 1.0, 1.5], [40.0, 1.0, 1.0], [3.0, 3.0, 3.0]])
    found = scores_of_logits(detector, np.log(alpha))
    assert found == pytest.approx(-np.log(alpha.sum(1)), abs=1e-6) and found.argsort().tolist() == [1, 2, 0]
    assert head_of(detector) == "gkde" and Gkde.track == "transductive"


def test_huge_outputs_stay_finite():
    head = Gkde(4, 2)
    f = torch.tensor([[500.0, -500.0]], requires_grad=True)
    assert torch.isfinite(head.logits(f)).all() and torch.isfinite(head.loss(f, torch.tensor([1])))


def test_a_negative_weight_is_refused():
    with pytest.raises(UsageError, match="prior = -1"):
        Gkde(4, 2, prior=-1)
