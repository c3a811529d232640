"""The loss over the whole graph: what it is given on either track, and how it joins the others."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import TrainingParameters
from lgl_bench.heads import heads
from lgl_bench.heads.softmax import Softmax
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.strategies import Strategy
from lgl_bench.training.batches import training_data
from lgl_bench.training.model import build_model
from lgl_bench.training.trainer import Loss, seeded, train
from tests.support.graphs import small_stream

THREE = TrainingParameters(epochs=3, lr=0.02)


class Inductive(Softmax):
    """Adds the mean square of all outputs, and remembers what it is given."""

    given: list = []  # noqa: RUF012
    steps: list = []  # noqa: RUF012

    def graph_loss(self, data):
        self.given.append(data)

        def added(step):
            self.steps.append((step.epoch, step.epochs, step.output.shape, step.embeddings.shape))
            return step.output.square().mean()

        return added


class Transductive(Inductive):
    track = "transductive"


@pytest.fixture(autouse=True)
def registered():
    Inductive.given.clear()
    Inductive.steps.clear()
    with heads.temporarily():
        heads.register("inductive")(Inductive)
        heads.register("transductive")(Transductive)
        yield


@pytest.fixture(scope="module")
def tasks():
    static = next(LeaveClassOut().tasks(small_stream(static=True), 0))[0]
    return {"static": static, "temporal": list(Temporal().tasks(small_stream(), 0))[1][0]}


def fresh(task, head, backbone="gcn"):
    with seeded(0, "weights"):
        return build_model(backbone, head, 16, task.known, {"hidden": 8, "dropout": 0.0})


def outputs(model, graph):
    return model.outputs(graph).logits


def test_it_is_prepared_once_and_asked_in_every_step_with_the_outputs_of_all_vertices(tasks):
    task = tasks["static"]
    train(fresh(task, "inductive"), task, THREE, 0)
    n = task.train.graph.num_vertices
    assert len(Inductive.given) == 1
    assert Inductive.steps == [(epoch, 3, (n, 3), (n, 8)) for epoch in (1, 2, 3)]


def test_it_is_told_of_no_more_epochs_than_there_are_steps(tasks):
    task = tasks["static"]
    train(fresh(task, "inductive"), task, replace(THREE, epochs=50, steps=2), 0)
    assert [epochs for _, epochs, *_ in Inductive.steps] == [2, 2]


@pytest.mark.parametrize(("head", "which"), [("inductive", "train"), ("transductive", "test")])
def test_it_is_added_to_the_loss_of_the_training_vertices(tasks, head, which):
    task = tasks["static"]
    model = fresh(task, head)
    graph = task.train.graph if which == "train" else task.test
    before = outputs(model, graph).double().numpy()
    fit = train(model, task, replace(THREE, epochs=1), 0)
    f = before[np.flatnonzero(task.fit_mask) if which == "train" else task.trained]
    own = f[np.arange(len(f)), model.columns(task.train.labels[task.fit_mask])]
    assert fit.loss == pytest.approx((np.log(np.exp(f).sum(1)) - own).mean() + np.square(before).mean(), rel=1e-5)


@pytest.mark.parametrize("kind", ["static", "temporal"])
def test_on_the_inductive_track_there_is_nothing_of_the_test_graph(tasks, kind):
    task = tasks[kind]
    data = training_data(fresh(task, "inductive"), task)
    assert data.graph is task.train.graph and data.graph.num_vertices < task.test.num_vertices
    assert not any(getattr(data, one.name) is task.test for one in fields(data))
    assert len(data.labels) == data.graph.num_vertices
    assert data.unlabelled.tolist() == np.flatnonzero(~task.fit_mask).tolist()


@pytest.mark.parametrize("kind", ["static", "temporal"])
def test_on_the_transductive_track_the_graph_is_the_test_graph_with_the_labels_of_the_loss_alone(tasks, kind):
    task = tasks[kind]
    model = fresh(task, "transductive")
    data = training_data(model, task)
    assert data.graph is task.test
    assert data.vertices.tolist() == task.trained.tolist()
    right = model.columns(task.train.labels[task.fit_mask])
    assert data.labels[data.vertices].tolist() == right.tolist()
    assert (data.labels >= 0).sum() == task.fit_mask.sum()
    assert np.isin(task.scored, data.unlabelled.numpy()).all()


def test_a_protocol_that_does_not_say_where_training_vertices_are_cannot_train_transductively(tasks):
    task = replace(tasks["static"], trained=None)
    with pytest.raises(PluginError, match="does not set Task.trained"):
        training_data(fresh(task, "transductive"), task)


@pytest.mark.parametrize("backbone", ["graphsage", "graph-mlp"])
def test_a_walk_that_never_sees_the_whole_graph_is_an_error_that_says_so(tasks, backbone):
    task = tasks["static"]
    with pytest.raises(PluginError, match=r"the walk of the backbone \w+ does not ask for it"):
        train(fresh(task, "inductive", backbone), task, THREE, 0)


@pytest.mark.parametrize("backbone", ["gat", "appnp", "h2gcn", "mlp"])
def test_every_walk_over_the_whole_graph_asks_for_it(tasks, backbone):
    train(fresh(tasks["static"], "inductive", backbone), tasks["static"], THREE, 0)
    assert len(Inductive.steps) == 3


class Watches(Strategy):
    """Remembers which vertices it is shown the logits of."""

    def __init__(self):
        self.seen = []

    def select(self, task, memory, seed):
        raise NotImplementedError

    def penalty(self, model, outputs):
        self.seen.append(outputs.vertices.tolist())
        return 0.0


@pytest.mark.parametrize("head", ["inductive", "transductive"])
def test_a_strategy_knows_vertices_by_their_numbers_in_the_training_graph_on_either_track(tasks, head):
    task, watches = tasks["static"], Watches()
    train(fresh(task, head), task, THREE, 0, added=Loss(watches))
    assert watches.seen == [np.flatnonzero(task.fit_mask).tolist()] * 3
    assert task.trained.tolist() != np.flatnonzero(task.fit_mask).tolist()


def test_weights_of_the_loss_stay_with_their_vertices_on_the_transductive_track(tasks):
    task = tasks["static"]
    model = fresh(task, "transductive")
    weights = np.linspace(0.5, 1.5, int(task.fit_mask.sum()))
    data = training_data(model, task, weights=weights)
    assert data.weights[data.vertices].tolist() == weights.tolist()
    assert float(data.weights.sum()) == pytest.approx(weights.sum())


def test_changing_the_truth_or_hidden_labels_changes_no_weight_on_the_transductive_track(tasks):
    task = tasks["static"]
    hidden = np.where(task.fit_mask, task.train.labels, task.known[0])
    weights = []
    for one in (task, replace(task, train=replace(task.train, labels=hidden))):
        model = fresh(one, "transductive")
        train(model, one, THREE, 0)
        weights.append(torch.cat([weight.detach().flatten() for weight in model.parameters()]))
    assert torch.equal(*weights)
