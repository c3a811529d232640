"""One year of lifelong learning in the trainer: hooks in their order, weights of the loss, and what chains come to."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.core.errors import PluginError
from lgl_bench.core.expressions import complete, parse
from lgl_bench.core.types import TrainingParameters
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.runs.isolation.requests import dump_weights, fitted
from lgl_bench.runs.scoring import Method, Trained
from lgl_bench.strategies import EMPTY, FitView, Strategy, strategies
from lgl_bench.strategies.offers import Given, offer
from lgl_bench.training.batches import training_data, walk
from lgl_bench.training.lifelong import fit_year
from lgl_bench.training.model import build_model
from lgl_bench.training.trainer import seeded, train
from tests.support.graphs import small_stream

TRAINING = TrainingParameters(epochs=5, lr=0.02, steps=5, warm_steps=3)
SIZES = {"hidden": 8, "layers": 2, "dropout": 0.3}


def tasks(**knobs):
    return [task for task, _ in Temporal(**knobs).tasks(small_stream(), 0)]


def method(strategy, backbone="gcn", head="softmax"):
    return Method(backbone, head, Preset("", dict(SIZES), TRAINING), (), strategy=complete(parse(strategy), strategies))


def chain(strategy, years, **models):
    """Fits of a strategy year by year: weights, and what became of each."""
    using = method(strategy, **models)
    built, before, earlier, memory, found = using.build_strategy(), None, None, EMPTY, []
    for task in years:
        given = Given(offer(task, earlier, memory, built.past, built.graph), memory)
        model, year = fitted(using, given, before, 1)
        before, earlier, memory = Trained(model, year.task), task, year.memory
        found.append((dump_weights(model), year))
    return found


def weights(found):
    return [one for one, _ in found]


@pytest.mark.parametrize("head", ["softmax", "isomax+"])
@pytest.mark.parametrize("backbone", ["gcn", "graphsage", "graph-mlp"])
def test_full_is_a_loop_that_trains_and_goes_on(backbone, head):
    found, model = [], None
    for task in tasks():
        with seeded(1, "weights", task.time, task.fold):
            if model is None:
                model = build_model(backbone, head, task.train.graph.features.shape[1], task.known, dict(SIZES))
            else:
                model = copy.deepcopy(model)
                model.grow(task.known)
        steps = TRAINING.warm_steps if found else TRAINING.steps
        train(model, task, replace(TRAINING, steps=steps), 1)
        found.append(dump_weights(model))
    assert found == weights(chain("full", tasks(), backbone=backbone, head=head))


def test_cold_is_a_loop_that_trains_and_starts_anew():
    found = []
    for task in tasks():
        with seeded(1, "weights", task.time, task.fold):
            model = build_model("gcn", "softmax", task.train.graph.features.shape[1], task.known, dict(SIZES))
        train(model, task, TRAINING, 1)
        found.append(dump_weights(model))
    assert found == weights(chain("cold", tasks()))


@pytest.mark.parametrize("backbone", ["gcn", "graphsage", "gat", "graph-mlp", "mlp"])
def test_a_replay_of_everything_with_equal_weights_is_full_bit_by_bit(backbone):
    replayed = chain("replay(size=100000, balance=counts)", tasks(), backbone=backbone)
    assert weights(replayed) == weights(chain("full", tasks(), backbone=backbone))
    assert [len(year.memory) for _, year in replayed] == [int(task.fit_mask.sum()) for task in tasks()]


def test_a_window_of_all_years_is_full_and_one_that_starts_anew_is_cold():
    years = tasks(history=99)
    assert weights(chain("window(years=99)", years)) == weights(chain("full", tasks()))
    assert weights(chain("window(years=99, restart=cold)", years)) == weights(chain("cold", tasks()))
    assert weights(chain("window(years=1)", tasks(history=1)))[1] != weights(chain("full", tasks()))[1]


def test_joint_has_the_steps_of_all_years_so_far_and_fresh_weights():
    found = chain("joint", tasks())
    # one fresh fit of 5 steps, the others of 3; gcn makes one step an epoch
    assert [year.fit.epochs for _, year in found] == [5, 8, 11]
    assert [year.memory.arrays["fits"].tolist() for _, year in found] == [[1], [2], [3]]
    assert found[0][0] == chain("cold", tasks())[0][0]
    alone = tasks()[1]
    with seeded(1, "weights", alone.time, alone.fold):
        model = build_model("gcn", "softmax", 16, alone.known, dict(SIZES))
    train(model, alone, TrainingParameters(epochs=8, lr=0.02), 1)
    assert found[1][0] == dump_weights(model)


@pytest.mark.parametrize("strategy", ["finetune", "ewc", "mas", "lwf", "twp", "agem"])
def test_a_year_without_new_labels_leaves_the_weights(strategy):
    first, second, _ = tasks()
    labels = np.where(second.train.born > first.train.time, -1, second.train.labels)
    train = replace(second.train, labels=labels)
    bare = replace(second, train=train, fit_mask=labels >= 0, trained=None, known=first.known)
    (before, _), (after, year) = chain(strategy, [first, bare])
    assert after == before
    assert (year.fit.status, year.fit.epochs) == ("ok", 0)
    assert not year.task.fit_mask.any()


def test_with_few_vertices_remembered_the_loss_is_that_of_new_ones_and_these():
    _, (_, year), _ = chain("replay(size=6)", tasks())
    first, second, _ = tasks()
    assert int(year.task.fit_mask.sum()) == int(second.fit_mask.sum()) - int(first.fit_mask.sum()) + 6


class Halves(Strategy):
    """The first three vertices weigh half, the others the other half."""

    past = "all"

    def select(self, task, memory, seed):
        n = len(task.labelled)
        return FitView(task.labelled, np.where(np.arange(n) < 3, 0.5 / 3, 0.5 / (n - 3)))


def data_of(backbone, head="softmax", **sizes):
    """A model without dropout and its training data, with the weights of `Halves`."""
    task = tasks()[0]
    viewed, spread = Given(offer(task, None, EMPTY)).view(Halves(), 0)
    torch.manual_seed(0)
    model = build_model(backbone, head, 16, task.known, {"hidden": 8, "dropout": 0.0, **sizes}).eval()
    return model, viewed, training_data(model, viewed, weights=spread)


@pytest.mark.parametrize("head", ["softmax", "gdoc", "isomax+"])
def test_halves_are_half_the_mean_loss_of_each_part(head):
    model, task, data = data_of("gcn", head)
    vertices = data.vertices
    _, output = model.backbone(inputs_of(task.train.graph))
    parts = [model.head.loss(output[some], data.labels[some]) for some in (vertices[:3], vertices[3:])]
    found = data.loss(output[vertices], vertices)
    torch.testing.assert_close(found, 0.5 * parts[0] + 0.5 * parts[1], rtol=1e-6, atol=1e-7)
    plain = replace(data, weights=None).loss(output[vertices], vertices)
    assert not torch.isclose(found, plain)


def test_batches_of_an_epoch_have_the_same_objective_together():
    model, task, data = data_of("graphsage", batch=7)
    _, output = model.backbone(inputs_of(task.train.graph))
    whole = data.loss(output[data.vertices], data.vertices)
    order = torch.randperm(len(data.vertices))
    parts = [data.vertices[some] for some in order.split(7)]
    sums = [data.loss(output[some], some) * len(some) for some in parts]
    torch.testing.assert_close(torch.stack(sums).sum() / len(order), whole, rtol=1e-6, atol=1e-7)


def test_the_batches_of_graphsage_are_weighted():
    model, _, data = data_of("graphsage", batch=7)
    sums = []
    for given in (data, replace(data, weights=None)):
        torch.manual_seed(0)
        sums.append([float(loss.detach()) for loss in walk(model.backbone, given)()])
    assert len(sums[0]) == len(sums[1]) > 1 and sums[0] != sums[1]


class Notes(Strategy):
    """Writes down every hook."""

    past = "all"
    calls: list[str] = []  # noqa: RUF012

    def note(self, what, model=None):
        self.calls.append(what if model is None else f"{what}:{'train' if model.training else 'eval'}")

    def select(self, task, memory, seed):
        self.note("select")
        return FitView(task.labelled)

    def training(self, parameters, previous, memory):
        self.note("training")
        return replace(parameters, epochs=2)

    def begin(self, model, previous, memory):
        self.note("begin" if previous is None else "begin again")
        assert previous is None or not previous.training

    def penalty(self, model, outputs):
        self.note("penalty", model)
        assert outputs.logits.requires_grad and len(outputs.logits) == len(outputs.vertices)
        return outputs.logits.square().mean()

    def after_backward(self, model):
        self.note("after_backward", model)
        assert all(weight.grad is not None for weight in model.parameters())

    def end(self, model, task, memory):
        self.note("end", model)
        return task.remember(task.labelled[:2])


@pytest.fixture
def noted():
    with strategies.temporarily():
        strategies.register("notes")(Notes)
        Notes.calls.clear()
        yield Notes.calls


def test_hooks_are_called_in_their_order(noted):
    (_, first), (_, second) = chain("notes", tasks()[:2])
    steps = ["penalty:train", "after_backward:train"] * 2
    assert noted == [
        *("select", "training", "begin", *steps, "end:eval"),
        *("select", "training", "begin again", *steps, "end:eval"),
    ]
    assert len(first.memory) == len(second.memory) == 2


class Plain(Strategy):
    past = "all"

    def select(self, task, memory, seed):
        return FitView(task.labelled)


def fit_with(strategy):
    task = tasks()[0]
    torch.manual_seed(0)
    model = build_model("gcn", "softmax", 16, task.known, dict(SIZES))
    return fit_year(model, None, strategy, Given(offer(task, None, EMPTY)), TRAINING, 1)


def with_hook(name, value):
    return type("Odd", (Plain,), {name: lambda self, *given: value})()


@pytest.mark.parametrize(
    ("hook", "value", "said"),
    [
        ("select", np.array([0]), "select of a strategy returned ndarray; it must return a FitView"),
        ("training", 7, "training of a strategy returned int"),
        ("penalty", torch.ones(2), "penalty of a strategy returned shape"),
        ("penalty", "much", "penalty of a strategy returned str"),
        ("end", None, "end of a strategy returned NoneType"),
        ("end", {"vertices": [1]}, "end of a strategy returned dict"),
    ],
)
def test_a_hook_that_returns_something_else_is_named(hook, value, said):
    with pytest.raises(PluginError, match=said):
        fit_with(with_hook(hook, value))


def test_a_penalty_that_is_no_number_ends_the_fit_and_nothing_is_remembered():
    year = fit_with(with_hook("penalty", torch.tensor(float("nan"))))
    assert (year.fit.status, year.memory) == ("diverged", EMPTY)


def test_a_penalty_may_be_a_plain_number():
    assert fit_with(with_hook("penalty", 0)).fit.status == "ok"
