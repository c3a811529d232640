from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lgl_bench.heads.genodin import GenOdin
from tests.support.logits import sigmoid


def genodin():
    head = GenOdin(2, 2)
    head.directions.data = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    head.confidence.weight.data = torch.tensor([[0.5, -1.0]])
    head.confidence.bias.data = torch.tensor([0.25])
    head.norm.running_mean.fill_(-0.5)
    head.norm.running_var.fill_(4.0)
    head.norm.weight.data.fill_(1.5)
    head.norm.bias.data.fill_(0.1)
    return head.eval()


def test_genodin_logits_are_cosines_divided_by_the_confidence_with_the_running_statistics():
    z = torch.tensor([[3.0, 4.0], [-2.0, 0.0]])
    cosines = [[0.6, 0.8], [-1.0, 0.0]]
    assert genodin().cosines(z).flatten().tolist() == pytest.approx(sum(cosines, []), abs=1e-6)
    expected = []
    for (a, b), row in zip(z.tolist(), cosines, strict=True):
        linear = 0.5 * a - b + 0.25
        g = sigmoid(1.5 * (linear + 0.5) / math.sqrt(4 + 1e-5) + 0.1)
        expected.append([h / g for h in row])
    assert np.allclose(genodin().logits(z).detach().numpy(), expected, atol=1e-5)
    loss = -np.mean([math.log(math.exp(r[y]) / sum(map(math.exp, r))) for r, y in zip(expected, [1, 0], strict=True)])
    assert genodin().loss(z, torch.tensor([1, 0])).item() == pytest.approx(loss, rel=1e-5)


def test_the_length_of_an_embedding_does_not_change_a_cosine():
    z = torch.tensor([[3.0, 4.0]])
    assert torch.allclose(genodin().cosines(100 * z), genodin().cosines(z))


def test_genodin_trains_on_a_batch_of_one_vertex():
    assert torch.isfinite(GenOdin(2, 2).train().loss(torch.tensor([[3.0, 4.0]]), torch.tensor([1])))
