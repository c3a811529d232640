from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.oodgat import agreement, consistency, flatness, novelty
from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.detectors.oodgat import OodgatDetector
from lgl_bench.plans.paper_presets import preset
from tests.support.backbones import BackboneTests, disturbed, hold_to_formula, numbers
from tests.support.graphs import dense_adjacency, graph, random_graph
from tests.support.trained import small_case
from tests.support.walks import data_on


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def elu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def by_hand(model, g):
    """Inputs of the last layer, its output, and the weights of every layer, in dense matrices."""
    looped = dense_adjacency(g) + np.eye(g.num_vertices)
    h, weights = g.features.astype(np.float64), []
    for number, layer in enumerate(model.attention):
        z = h if number == 0 else elu(h)
        messages = np.einsum("ni,iho->nho", z, numbers(layer.weight))
        w = (messages * numbers(layer.query)).sum(-1)
        weights.append(w)
        parts = []
        for k in range(model.heads):
            e = looped * np.exp(1 - np.abs(sigmoid(w[None, :, k]) - sigmoid(w[:, None, k])))
            parts.append(e / e.sum(1, keepdims=True) @ messages[:, k] + numbers(layer.bias)[k])
        h = np.mean(parts, axis=0) if number == model.layers - 1 else np.concatenate(parts, axis=1)
    return elu(h) if model.layers == 1 else z, h, weights


class TestOODGAT(BackboneTests):
    name = "oodgat"

    def formula(self, model, g):
        return by_hand(model, g)[:2]

    def test_other_heads_and_layers_follow_the_formula_too(self):
        hold_to_formula(self, 3, heads=2, layers=3)
        hold_to_formula(self, None, heads=1)

    def test_weights_of_all_layers_follow_the_formula_and_the_outputs_are_those_of_a_forward_pass(self):
        g, model = random_graph(), disturbed(self.make(heads=3)).eval()
        z, output, weights = model.weighted(inputs_of(g))
        assert all(torch.equal(one, two) for one, two in zip((z, output), model(inputs_of(g)), strict=True))
        for found, expected in zip(weights, by_hand(model, g)[2], strict=True):
            assert numbers(found) == pytest.approx(expected, abs=1e-5)

    def test_defaults_are_the_published_ones_and_presets_leave_them_alone(self):
        model = self.make(hidden=32)
        assert (model.layers, model.heads, model.margin) == (2, 4, 0.6)
        found = preset("cora", "60-20-20", "oodgat", "softmax")
        assert found.backbone == {} and found.training.lr == 0.01 and found.name.endswith("lr of oodgat")
        assert found.training.epochs == preset("cora", "60-20-20", "gcn", "softmax").training.epochs

    def test_the_loss_of_an_epoch_is_that_of_the_head_and_what_is_added_fades(self):
        g = random_graph()
        model = disturbed(self.make(dropout=0.0, attn_dropout=0.0))
        data = data_on(g, [0, 3, 5], labels=[0, 1, 2])
        epoch = model.batches(data)
        logits, weights = by_hand(model, g)[1:]
        p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        entropy = -(p * np.log(p)).sum(1)
        scaled = sigmoid((entropy - entropy.mean()) / entropy.std(ddof=1))
        one, two = (w.mean(1) for w in weights)
        cons = -(cosine(sigmoid(one), scaled) + cosine(sigmoid(two), scaled)) / 2
        new = sigmoid(np.concatenate(weights, axis=1).mean(1)) >= 0.6
        flat = -np.log(p[new]).mean() if new.any() else 0.0
        extra = 2 * cons - 0.005 * cosine(one, two) + 0.05 * flat
        ce = -np.log(p[[0, 3, 5], [0, 1, 2]]).mean()
        for number in (1, 50):
            data.clock.epoch = number
            (loss,) = epoch()
            assert loss.item() == pytest.approx(ce + 0.9 ** (0.01 * number) * extra, abs=1e-4)

    def test_no_attention_head_is_refused(self):
        with pytest.raises(UsageError, match="heads = 0"):
            self.make(heads=0)


def test_attention_on_a_path_worked_by_hand():
    # W = 1, q = 1: w = x = (0, log 3), shares (.5, .75). Vertex 0 sees itself with e^1 and vertex 1 with e^.75.
    model = TestOODGAT().make(2, columns=1, hidden=1, heads=1).eval()
    layer = model.attention[0]
    for parameter in (layer.weight, layer.query):
        parameter.data.fill_(1.0)
    g = graph([(0, 1)], np.array([[0.0], [math.log(3)]], dtype=np.float32))
    out, w = layer(inputs_of(g).looped, inputs_of(g).features)
    near = math.exp(0.75) / (math.e + math.exp(0.75))
    assert w.flatten().tolist() == pytest.approx([0.0, math.log(3)])
    assert out.flatten().tolist() == pytest.approx([near * math.log(3), (1 - near) * math.log(3)])


def test_losses_worked_by_hand():
    # Entropies 0 and 1: z-scores -+ 1/sqrt(2).
    low, high = 1 / (1 + math.exp(2**-0.5)), 1 / (1 + math.exp(-(2**-0.5)))
    weights = [torch.tensor([[0.0, 0.0], [2.0, -2.0]]), torch.tensor([[0.0], [0.0]])]
    found = consistency(torch.tensor([0.0, 1.0]), weights)
    assert found.item() == pytest.approx(-(low + high) / math.sqrt(2) / math.hypot(low, high), abs=1e-6)
    assert agreement([torch.tensor([[3.0], [4.0]]), torch.tensor([[4.0], [3.0]])]).item() == pytest.approx(0.96)
    # Means of w: log 3 and -1, novelties .75 and .27: only the first looks new.
    score = novelty([torch.tensor([[math.log(3)] * 2, [-1.0, -1.0]])])
    assert score.tolist() == pytest.approx([0.75, 1 / (1 + math.e)])
    log_p = torch.log(torch.tensor([[0.9, 0.1], [0.5, 0.5]]))
    assert flatness(log_p, score, 0.6).item() == pytest.approx(-(math.log(0.9) + math.log(0.1)) / 2, abs=1e-6)
    assert flatness(log_p, score, 0.9).item() == 0.0


def test_the_detector_reads_the_weights_and_only_works_on_its_backbone():
    g = random_graph()
    model = TestOODGAT().model()
    expected = sigmoid(np.concatenate(by_hand(model.backbone, g)[2], axis=1).mean(1))
    assert OodgatDetector().score(model, g) == pytest.approx(expected, abs=1e-6)
    with pytest.raises(PluginError, match="oodgat scores on the backbone oodgat, not on GCN"):
        OodgatDetector().score(small_case()[0], g)
