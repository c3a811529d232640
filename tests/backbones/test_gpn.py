from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import digamma, gammaln

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.core.types import TrainingParameters
from lgl_bench.detectors import detectors, head_of
from lgl_bench.heads.gpn import Gpn
from lgl_bench.plans.paper_presets import preset
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.training.trainer import train
from tests.support.backbones import BackboneTests, a_hat, hold_to_formula, linear, numbers, relu
from tests.support.graphs import random_graph, small_stream
from tests.support.stubs import scores_of_logits
from tests.support.walks import data_on


class TestGPN(BackboneTests):
    name = "gpn"
    sizes = {"hidden": 8, "latent": 4, "flow_layers": 3}  # noqa: RUF012

    def formula(self, model, g):
        z = g.features.astype(np.float64)
        for projection in model.projections[:-1]:
            z = relu(linear(projection, z))
        z = linear(model.projections[-1], z)
        start = z
        if model.flows is not None:
            with torch.no_grad():
                log_q = model.flows.double()(torch.tensor(z)).numpy()
            model.flows.float()
            log_beta = log_q + numbers(model.log_prior) + 2 * math.log(4 * math.pi)
            start = np.exp(np.clip(log_beta, -30, 30))
        spread = start
        for _ in range(model.steps):
            spread = (1 - model.teleport) * a_hat(g) @ spread + model.teleport * start
        return z, spread if model.flows is None else np.log(1 + spread)

    def test_other_layers_steps_and_teleports_follow_the_formula_too(self):
        hold_to_formula(self, 3, layers=3, steps=2, teleport=0.4)

    def test_defaults_are_the_published_ones_and_presets_leave_them_alone(self):
        model = TestGPN.make(type("Plain", (TestGPN,), {"sizes": {}})())
        assert (model.hidden, model.latent, model.flows.layers) == (64, 16, 10)
        assert (model.steps, model.teleport) == (10, 0.1)
        found = preset("cora", "60-20-20", "gpn", "gpn")
        assert found.backbone == {} and found.training.lr == 0.01

    def test_priors_are_the_shares_of_the_training_vertices_and_an_absent_class_keeps_its_own(self):
        model = self.make(3)
        model.batches(data_on(random_graph(), [0, 1, 2, 3], labels=[0, 0, 0, 1]))
        assert numbers(model.log_prior) == pytest.approx(np.log([0.75, 0.25, 1 / 3]))
        model.grow(5)
        assert numbers(model.log_prior) == pytest.approx(np.log([0.75, 0.25, 1 / 3, 0.25, 0.25]))

    def test_in_the_first_epochs_the_flows_are_trained_alone(self):
        task = next(Temporal().tasks(small_stream(), 0))[0]
        model = self.model("gpn", 16, task.known)
        before = {name: value.clone() for name, value in model.state_dict().items()}
        looked = []

        def look(epoch, loss):
            state = model.state_dict()
            same = {name: torch.equal(state[name], before[name]) for name in before}
            assert not any(same[name] for name in same if "flows" in name)
            mlp = [same[name] for name in same if "projections" in name]
            assert all(mlp) if epoch <= 5 else not any(mlp)
            looked.append(epoch)

        train(model, task, TrainingParameters(epochs=60, steps=50, lr=0.02), seed=0, on_epoch=look)
        assert len(looked) == 50

    def test_weight_decay_and_warm_up_are_for_the_mlp_and_few_epochs_have_a_short_one(self):
        model = self.make()
        (group,) = model.parameter_groups(200)
        assert {id(one) for one in group.parameters} == {id(one) for one in model.projections.parameters()}
        assert group.weight_decay == 0.001
        assert [model.parameter_groups(n)[0].first_epoch for n in (200, 30, 5)] == [6, 4, 1]

    def test_a_part_of_the_flow_that_cannot_be_is_refused(self):
        with pytest.raises(UsageError, match="latent = 0, flow_layers = 10"):
            self.make(latent=0, flow_layers=10)


def test_the_loss_is_the_expected_cross_entropy_less_the_entropy():
    rng = np.random.default_rng(0)
    alpha, labels = 1 + 5 * rng.random((6, 3)), rng.integers(0, 3, 6)
    total = alpha.sum(1)
    h = gammaln(alpha).sum(1) - gammaln(total) + (total - 3) * digamma(total) - ((alpha - 1) * digamma(alpha)).sum(1)
    expected = (digamma(total) - digamma(alpha[range(6), labels]) - 0.01 * h).mean()
    found = Gpn(4, 3, regulariser=0.01).loss(torch.tensor(np.log(alpha)), torch.tensor(labels))
    assert found.item() == pytest.approx(expected, rel=1e-6)


def test_the_loss_worked_by_hand():
    # alpha (2, 1): digamma(3) - digamma(2) = 1/2 for the first class, digamma(3) - digamma(1) = 3/2 for the second.
    output = torch.log(torch.tensor([[2.0, 1.0], [2.0, 1.0]]))
    head = Gpn(4, 2, regulariser=0.0)
    assert head.loss(output[:1], torch.tensor([0])).item() == pytest.approx(0.5, abs=1e-6)
    assert head.loss(output, torch.tensor([0, 1])).item() == pytest.approx(1.0, abs=1e-6)
    assert head.probabilities(head.logits(output))[0].tolist() == pytest.approx([2 / 3, 1 / 3])


def test_evidence_of_many_powers_of_ten_has_a_finite_loss_and_gradient():
    output = torch.tensor([[30.0, 0.0], [0.0, 30.0]], requires_grad=True)
    loss = Gpn(4, 2).loss(output, torch.tensor([1, 1]))
    loss.backward()
    assert torch.isfinite(loss) and torch.isfinite(output.grad).all()
    with pytest.raises(UsageError, match="regulariser = -1"):
        Gpn(4, 2, regulariser=-1)


def test_its_detector_needs_head_and_backbone_and_orders_by_evidence():
    detector = build(parse("gpn"), detectors)
    assert head_of(detector) == "gpn" and type(detector).backbones == ("gpn",)
    alpha = np.array([[1.0, 1.0], [50.0, 2.0]])
    assert scores_of_logits(detector, np.log(alpha)) == pytest.approx(-np.log([2.0, 52.0]), abs=1e-6)


def test_a_year_that_trains_on_some_classes_only_keeps_the_others_finite():
    tasks = [task for task, _ in Temporal().tasks(small_stream(), 0)]
    model = TestGPN().model("gpn", 16, tasks[-1].known)
    few = tasks[-1].train.labels == tasks[-1].known[0]
    train(model, replace(tasks[-1], fit_mask=few, trained=np.flatnonzero(few)), TrainingParameters(10, 0.02), 0)
    assert torch.isfinite(model.outputs(tasks[-1].test).logits).all()
