from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import TrainingParameters
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.training.model import build_model
from lgl_bench.training.trainer import seeded, train
from tests.support.graphs import small_stream

BACKBONES = ["gcn", "graphsage", "gat", "graph-mlp"]


@pytest.fixture(scope="module")
def task():
    return next(LeaveClassOut().tasks(small_stream(static=True), 0))[0]


def fresh(task, backbone="gcn", **parameters):
    sizes = {"hidden": 8, "dropout": 0.4} | ({"batch": 30, "fanout": (3, 2)} if backbone == "graphsage" else {})
    with seeded(0, "weights"):
        return build_model(backbone, "softmax", 16, task.known, sizes | parameters)


def weights(model):
    return torch.cat([value.detach().flatten().double() for value in model.state_dict().values()])


def fitted(task, backbone="gcn", seed=0, **training):
    model = fresh(task, backbone)
    fit = train(model, task, TrainingParameters(**({"epochs": 4, "lr": 0.02} | training)), seed)
    return model, fit


@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_same_seed_gives_the_same_weights_bit_for_bit_and_another_seed_others(task, backbone):
    (one, fit), (two, again), (other, _) = (fitted(task, backbone, seed) for seed in (3, 3, 4))
    assert fit.status == "ok" and fit.epochs == 4
    assert torch.equal(weights(one), weights(two)) and fit.loss == again.loss
    assert not torch.equal(weights(one), weights(other))
    assert not torch.equal(weights(one), weights(fresh(task, backbone)))


@pytest.mark.parametrize("backbone", ["gcn", "graphsage"])
def test_a_limit_of_steps_counts_steps_of_the_optimiser_whatever_makes_an_epoch(task, backbone, monkeypatch):
    taken = []
    step = torch.optim.Adam.step
    monkeypatch.setattr(torch.optim.Adam, "step", lambda self, *given: (taken.append(1), step(self, *given)))
    fitted(task, backbone, epochs=6)
    whole = len(taken)
    assert whole == 6 if backbone == "gcn" else whole > 12
    taken.clear()
    _, fit = fitted(task, backbone, epochs=6, steps=5)
    assert len(taken) == 5 and fit.status == "ok"


def test_a_fit_that_goes_on_has_a_limit_of_its_own():
    assert TrainingParameters(9, 0.1, steps=50, warm_steps=20).continued() == TrainingParameters(9, 0.1, 20, 20)
    assert TrainingParameters().continued() == TrainingParameters()
    with pytest.raises(UsageError, match="warm_steps = 0"):
        TrainingParameters(warm_steps=0)


def test_time_and_fold_of_a_task_have_their_own_random_numbers(task):
    one = fitted(task)[0]
    for other in (replace(task, time=task.time + 1), replace(task, fold="other")):
        assert not torch.equal(weights(one), weights(fitted(other)[0]))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_random_state_of_torch_is_as_before(task, backbone):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    fitted(task, backbone)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_fit_does_not_depend_on_the_random_state_of_torch(task):
    torch.manual_seed(1)
    one = fitted(task)[0]
    torch.manual_seed(2)
    assert torch.equal(weights(one), weights(fitted(task)[0]))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_training_learns(task, backbone):
    model, fit = fitted(task, backbone, epochs=15)
    untrained = fresh(task, backbone)
    graph, mask = task.train.graph, task.fit_mask
    accuracy = [(m.predict(graph)[mask] == task.train.labels[mask]).mean() for m in (untrained, model)]
    assert accuracy[1] > max(0.7, accuracy[0]) and np.isfinite(fit.loss) and fit.seconds > 0


@pytest.mark.parametrize("backbone", BACKBONES)
def test_labels_outside_the_loss_are_not_read(task, backbone):
    rng = np.random.default_rng(0)
    filled = np.where(task.fit_mask, task.train.labels, rng.choice(task.known, len(task.fit_mask)))
    other = replace(task, train=replace(task.train, labels=filled))
    assert torch.equal(weights(fitted(task, backbone)[0]), weights(fitted(other, backbone)[0]))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_fit_that_diverges_ends_with_a_status_and_a_reason(task, backbone):
    model, fit = fitted(task, backbone, lr=1e30, epochs=20)
    assert fit.status == "diverged"
    assert fit.reason and fit.epochs <= 20
    assert not model.training


def test_a_weight_that_is_not_finite_ends_the_fit_in_the_first_epoch(task):
    model = fresh(task)
    with torch.no_grad():
        model.backbone.projections[0].weight[0, 0] = float("nan")
    fit = train(model, task, TrainingParameters(epochs=5), 0)
    assert (fit.status, fit.epochs) == ("diverged", 1)
    assert "nan" in fit.reason and "epoch 1" in fit.reason


def test_a_last_step_that_breaks_the_weights_does_not_pass_for_a_fit(task):
    model = fresh(task)

    def break_it(epoch, loss):
        model.backbone.projections[0].weight.data[0, 0] = float("inf")

    fit = train(model, task, TrainingParameters(epochs=1), 0, break_it)
    assert np.isfinite(fit.loss)
    assert fit.status == "diverged" and "weight" in fit.reason


@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"lr": 0.0}, {"lr": -1.0}, {"lr": float("nan")}])
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        TrainingParameters(**wrong)


def test_every_epoch_is_told_and_telling_may_stop_the_fit(task):
    told = []
    train(fresh(task), task, TrainingParameters(epochs=3), 0, lambda epoch, loss: told.append((epoch, loss)))
    assert [epoch for epoch, _ in told] == [1, 2, 3]
    assert told[0][1] > told[-1][1] > 0

    class Enough(Exception):  # noqa: N818
        pass

    def stop(epoch, loss):
        told.append((epoch, loss))
        if epoch == 2:
            raise Enough

    told.clear()
    before = torch.get_rng_state()
    with pytest.raises(Enough):
        train(fresh(task), task, TrainingParameters(epochs=9), 0, stop)
    assert [epoch for epoch, _ in told] == [1, 2]
    assert torch.equal(torch.get_rng_state(), before)


def test_outputs_remembered_from_before_the_fit_are_forgotten(task):
    model = fresh(task)
    before = model.outputs(task.test)
    train(model, task, TrainingParameters(epochs=2), 0)
    assert model.outputs(task.test) is not before
