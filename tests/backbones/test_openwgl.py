from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.openwgl import certainty, divergence, draw_pairs, reconstruction
from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.detectors.openwgl import OpenWglDetector
from lgl_bench.plans.paper_presets import preset
from tests.support.backbones import BackboneTests, a_hat, disturbed, hold_to_formula, linear, numbers, relu
from tests.support.graphs import graph, random_graph
from tests.support.stubs import fitted
from tests.support.trained import small_case, softmax
from tests.support.walks import data_on


def convolution(projection, h, g):
    return a_hat(g) @ h @ numbers(projection.weight) + numbers(projection.bias)


def distribution(model, g):
    h = g.features.astype(np.float64)
    for projection in model.projections[:-1]:
        h = relu(convolution(projection, h, g))
    return convolution(model.projections[-1], h, g), convolution(model.deviation, h, g)


class TestOpenWGL(BackboneTests):
    name = "openwgl"
    sizes = {"hidden": 5, "latent": 4}  # noqa: RUF012

    def formula(self, model, g):
        z, _ = distribution(model, g)
        return z, z if model.classifier is None else linear(model.classifier, z)

    def test_other_layers_follow_the_formula_too(self):
        hold_to_formula(self, 3, layers=3)

    def test_defaults_are_the_published_ones_and_presets_leave_them_alone(self):
        model = TestOpenWGL.make(type("Plain", (TestOpenWGL,), {"sizes": {}})())
        assert (model.hidden, model.latent, model.drop.dropped) == (32, 16, 0)
        found = preset("dblp-easy", "temporal", "openwgl", "softmax")
        assert found.backbone == {} and found.training.lr == 0.001 and found.name.endswith("lr of openwgl")

    def test_in_training_latent_vectors_are_drawn_around_their_means(self):
        g, model = random_graph(), disturbed(self.make()).train()
        mean, log_deviation = distribution(model, g)
        torch.manual_seed(4)
        z, _ = model(inputs_of(g))
        torch.manual_seed(4)
        assert numbers(z) == pytest.approx(mean + np.exp(log_deviation) * torch.randn(12, 4).numpy(), abs=1e-4)

    def test_the_loss_of_an_epoch_is_that_of_the_head_and_of_the_three_terms(self):
        g, model = random_graph(), disturbed(self.make())
        data = data_on(g, [0, 3, 5], labels=[0, 1, 2])
        torch.manual_seed(6)
        (loss,) = model.batches(data)()
        torch.manual_seed(6)
        mean, log_deviation = distribution(model, g)
        z = mean + np.exp(log_deviation) * torch.randn(12, 4).numpy()
        others = draw_pairs(12, g.edges.shape[1] // 2).numpy()
        p = softmax(linear(model.classifier, z))
        kl = ((np.exp(2 * log_deviation) + mean**2 - 1) / 2 - log_deviation).mean()
        there, not_there = ((z[u] * z[v]).sum(1) for u, v in (g.edges, others))
        edges = np.log1p(np.exp(-there)).mean() + np.log1p(np.exp(not_there)).mean()
        rest = np.setdiff1d(np.arange(12), [0, 3, 5])
        unsure = p[rest][(p[rest].max(1) > 1 / 3) & (p[rest].max(1) < 0.5)]
        sure = (unsure * np.log(unsure)).sum(1).mean() if len(unsure) else 0.0
        ce = -np.log(p[[0, 3, 5], [0, 1, 2]]).mean()
        assert loss.item() == pytest.approx(ce + kl + edges + sure, abs=1e-4)

    def test_a_graph_without_edges_and_one_that_is_labelled_throughout_have_a_finite_loss(self):
        g = graph([], np.ones((3, 6), dtype=np.float32))
        (loss,) = self.make().batches(data_on(g, [0, 1, 2], labels=[0, 1, 2]))()
        assert torch.isfinite(loss)

    def test_a_latent_vector_needs_a_unit(self):
        with pytest.raises(UsageError, match="latent = 0"):
            self.make(latent=0)


def test_the_terms_worked_by_hand():
    # m = 2, s = 1 and m = 0, s = e: (1 + 4 - 1) / 2 = 2 and (e^2 - 1) / 2 - 1.
    found = divergence(torch.tensor([[2.0], [0.0]]), torch.tensor([[0.0], [1.0]]))
    assert found.item() == pytest.approx((2 + (math.e**2 - 1) / 2 - 1) / 2)
    # z_0 . z_1 = 0 for the edge, z_0 . z_2 = log 3 for the other pair: log 2 + log(1 + 3).
    z = torch.tensor([[1.0, 0.0], [0.0, 1.0], [math.log(3), 0.0]])
    found = reconstruction(z, torch.tensor([[0], [1]]), torch.tensor([[0], [2]]))
    assert found.item() == pytest.approx(math.log(8))
    # Largest p .4 is unsure; .5 and more is sure; 1/3 thrice is as unsure as can be, and left alone.
    p = torch.tensor([[0.4, 0.3, 0.3], [0.5, 0.25, 0.25], [0.9, 0.05, 0.05]])
    expected = 0.4 * math.log(0.4) + 0.6 * math.log(0.3)
    assert certainty(p.log()).item() == pytest.approx(expected, abs=1e-6)
    assert certainty(p[1:].log()).item() == 0.0 == certainty(torch.zeros(2, 3)).item()


def test_drawn_pairs_are_of_different_vertices_all_of_them_in_the_long_run():
    torch.manual_seed(0)
    pairs = draw_pairs(4, 2000)
    assert {tuple(pair) for pair in pairs.T.tolist()} == {(u, v) for u in range(4) for v in range(4) if u != v}


def test_the_detector_averages_probabilities_over_drawn_vectors_from_the_seed():
    g, model = random_graph(), TestOpenWGL().model()
    one, same, few = (fitted(OpenWglDetector(n), model, g).score(model, g) for n in (4000, 4000, 1))
    assert np.array_equal(one, same) and not np.allclose(one, few)
    mean, log_deviation = distribution(model.backbone, g)
    rng = np.random.default_rng(0)
    p = np.zeros((12, 3))
    for _ in range(4000):
        p += softmax(linear(model.backbone.classifier, mean + np.exp(log_deviation) * rng.normal(size=mean.shape)))
    assert one == pytest.approx(1 - (p / 4000).max(1), abs=0.02)


def test_the_detector_has_to_be_fitted_and_only_works_on_its_backbone():
    g = random_graph()
    with pytest.raises(PluginError, match="openwgl has not been fitted"):
        OpenWglDetector().score(TestOpenWGL().model(), g)
    model = small_case()[0]
    with pytest.raises(PluginError, match="openwgl scores on the backbone openwgl, not on GCN"):
        fitted(OpenWglDetector(), model, g).score(model, g)
    with pytest.raises(UsageError, match="passes = 0"):
        OpenWglDetector(0)
