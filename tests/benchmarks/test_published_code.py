from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lgl_bench.backbones import backbones
from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.core.expressions import build, parse
from lgl_bench.core.registry import load_plugin
from lgl_bench.core.types import Graph, TrainingParameters
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.protocols import protocols
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.report.parity.switches import published_code
from lgl_bench.runs.answering import answer_tasks
from lgl_bench.runs.scoring import Method
from lgl_bench.training.model import build_model
from tests.support.answers import aurocs
from tests.support.bundles import plugins_forgotten
from tests.support.graphs import random_graph, small_stream, to_sparse

EPS, TEMPERATURE = 0.1, 10.0
NAMES = {
    detectors: ("odin-published", "gdoc-printed", "gdoc-graph", "isomax-published", "known-outputs"),
    heads: ("gdoc-printed", "gdoc-graph", "isomax-published"),
    backbones: ("gat-published",),
    protocols: ("leave-class-out-all-outputs", "leave-class-out-confused", "leave-class-out-told"),
}


@pytest.fixture
def code():
    """The plugin file, loaded for one test."""
    with plugins_forgotten():
        load_plugin(published_code().plugin)
        yield sys.modules["lgl_bench_plugin_published_code"]


def softmax(rows):
    e = np.exp(rows - rows.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def mlp(features):
    """A network without hidden non-linearity at the given weights: every hidden unit is positive on positive x."""
    torch.manual_seed(0)
    model = build_model("mlp", "softmax", features, np.arange(3), {"hidden": 5, "dropout": 0.0}).eval()
    first = model.backbone.projections[0]
    first.weight.data.abs_()
    return model


def test_the_published_odin_step_is_that_of_the_sum_of_all_logits_times_the_features(code):
    graph = random_graph(columns=4)
    x = np.where(graph.features > 0.5, graph.features, 0).astype(np.float32)
    graph = Graph(x, graph.edges, graph.num_vertices, graph.born)
    model = mlp(4)
    (w0, b0), (w1, b1) = ((p.weight.detach().numpy(), p.bias.detach().numpy()) for p in model.backbone.projections)
    gradient = (w0 @ w1).sum(axis=1)  # of the sum of the logits, the same at every vertex: no unit is cut off
    moved = (x + EPS * np.sign(gradient)) * x
    expected = 1 - softmax(((moved @ w0 + b0) @ w1 + b1) / TEMPERATURE).max(axis=1)
    assert code.PublishedOdin(EPS, TEMPERATURE).score(model, graph) == pytest.approx(expected, abs=1e-6)


def test_the_published_odin_scores_sparse_features_as_dense_ones_and_leaves_arcs_alone(code):
    rng = np.random.default_rng(0)
    dense = (rng.random((12, 60)) < 0.03).astype(np.float32)
    dense[np.arange(12), np.arange(12)] = 0.5
    base = random_graph(columns=3)
    torch.manual_seed(0)
    model = build_model("gcn", "softmax", 60, np.arange(3), {"hidden": 5}).eval()
    scores = [
        code.PublishedOdin(EPS, TEMPERATURE).score(model, Graph(features, base.edges, 12, base.born))
        for features in (dense, to_sparse(dense))
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-7)
    inputs = inputs_of(Graph(dense, base.edges, 12, base.born))
    values = inputs.features.clone().requires_grad_(True)
    (gradient,) = torch.autograd.grad(model(inputs.moved(values, None)).logits.sum(), values)
    moved = (values + EPS * gradient.sign()) * values
    logits = model(inputs.moved(moved.detach(), None)).logits.detach().double().numpy()
    assert scores[0] == pytest.approx(1 - softmax(logits / TEMPERATURE).max(axis=1), abs=1e-7)


def test_confused_vertex_numbers_let_test_vertices_and_the_left_out_class_into_training(code):
    stream = small_stream(static=True)
    task, truth = next(LeaveClassOut().tasks(stream, 0))
    learned = code.confused(task, stream.labels, 0)
    size = task.train.graph.num_vertices
    assert learned.train.graph.num_vertices == size
    assert np.array_equal(learned.train.graph.features, stream.upto(0).graph.features[:size])
    assert learned.fit_mask.sum() == task.fit_mask.sum() and not np.array_equal(learned.fit_mask, task.fit_mask)
    seen = np.flatnonzero(learned.fit_mask)
    left_out, stand_in = int(task.fold), int(stream.labels.max()) + 1
    assert np.array_equal(
        learned.train.labels[seen], np.where(stream.labels[seen] == left_out, stand_in, stream.labels[seen])
    )
    assert (learned.train.labels[~learned.fit_mask] == -1).all()
    assert stand_in in learned.train.labels and stand_in in learned.known and left_out not in learned.known
    assert set(learned.known) - {stand_in} == set(task.known)
    assert np.isin(truth.vertices, seen).any()


def test_the_protocol_leaves_the_answers_asked_for_as_they_are(code):
    stream = small_stream(static=True)
    pairs = zip(LeaveClassOut().tasks(stream, 0), code.ConfusedLeaveClassOut().tasks(stream, 0), strict=True)
    for (task, truth), (confused, same) in pairs:
        assert (task.fold, task.role) == (confused.fold, confused.role)
        assert np.array_equal(task.test.edges, confused.test.edges)
        assert np.array_equal(task.scored, confused.scored) and np.array_equal(truth.labels, same.labels)


@pytest.mark.parametrize("backbone", ["graph-mlp", "gcn", "gat"])
@pytest.mark.parametrize("head", ["softmax", "gdoc", "isomax+"])
def test_scores_of_a_confused_model_come_from_the_outputs_of_known_classes(code, head, backbone):
    torch.manual_seed(0)
    graph = random_graph()
    model = build_model(backbone, head, 6, np.array([2, 5, 7]), {"hidden": 4})
    kept = code.known_outputs(model, np.array([2, 7]))
    assert torch.equal(kept.outputs(graph).logits, model.outputs(graph).logits[:, [0, 2]])
    if head == "gdoc":  # a sigmoid of each, not a softmax of those that are left
        assert kept.probabilities(graph) == pytest.approx(model.probabilities(graph)[:, [0, 2]])
    assert model.outputs(graph).logits.shape[1] == 3 and set(kept.predict(graph)) <= {2, 7}


def test_the_left_out_class_has_an_output_that_nothing_is_trained_on_and_stays_new(code):
    stream = small_stream(static=True)
    pairs = zip(LeaveClassOut().tasks(stream, 0), code.AllOutputsLeaveClassOut().tasks(stream, 0), strict=True)
    for (task, truth), (wider, same) in pairs:
        spare = stream.labels.max() + 1
        assert wider.known.tolist() == [*task.known, spare] and len(wider.known) == len(np.unique(stream.labels))
        assert np.array_equal(wider.train.labels, task.train.labels) and spare not in wider.train.labels
        assert np.array_equal(same.labels, truth.labels)
        assert np.array_equal(np.isin(same.labels, wider.known), np.isin(truth.labels, task.known))


def test_the_output_of_the_largest_class_is_not_scored(code):
    graph = random_graph()
    model = build_model("graph-mlp", "gdoc", 6, np.array([2, 9, 7]), {"hidden": 4})
    found = build(parse("known-outputs(gdoc)"), detectors).score(model, graph)
    expected = 1 - torch.sigmoid(model.outputs(graph).logits[:, [0, 2]].double()).amax(dim=1).numpy()
    assert np.array_equal(found, expected)


def tiny(backbone, head, *texts):
    preset = Preset("tiny", {"hidden": 8, "dropout": 0.1}, TrainingParameters(epochs=20, lr=0.01))
    return Method(backbone, head, preset, tuple(parse(text) for text in texts))


def test_the_confused_model_knows_the_class_that_was_left_out(code):
    stream = small_stream(static=True)
    names = {"known-outputs(isomax+)", "good(known-outputs(isomax+),alpha=0.5)"}
    method = tiny("graph-mlp", "isomax+", *names)
    for answers, truth in answer_tasks(stream, code.ConfusedLeaveClassOut(), method, 0):
        assert set(answers.novelty) == names and not answers.failed
        new = ~np.isin(truth.labels, answers.task.known)
        assert np.array_equal(new, truth.labels == int(answers.task.fold)) and new.any()
        assert (answers.predicted[new] == answers.task.known.max()).mean() > 0.5


def test_the_odin_switch_changes_scores_and_not_the_model(code):
    stream = small_stream(static=True)
    values = "(eps=0.5,temperature=10.0)"
    ours, theirs = (
        list(answer_tasks(stream, LeaveClassOut(), tiny("gcn", "softmax", name, f"good({name},alpha=0.5)"), 0))
        for name in (f"odin{values}", f"odin-published{values}")
    )
    for (our, truth), (their, _) in zip(ours, theirs, strict=True):
        assert not their.failed and np.array_equal(our.predicted, their.predicted)
        for one, other in zip(aurocs(our, truth).values(), aurocs(their, truth).values(), strict=True):
            assert one != other


def test_the_switch_of_weights_trains_with_the_weights_the_paper_prints(code):
    stream = small_stream(static=True)
    ours, theirs = (
        list(answer_tasks(stream, LeaveClassOut(), tiny("gcn", name, name), 0)) for name in ("gdoc", "gdoc-printed")
    )
    for (our, _), (their, _) in zip(ours, theirs, strict=True):
        # (n - n+) / n is below (n - n+) / n+, so positives count less and the largest sigmoid is smaller.
        assert their.novelty["gdoc-printed"].mean() > our.novelty["gdoc"].mean()


def test_graph_weights_count_every_vertex_of_the_training_graph(code):
    stream = small_stream(static=True)
    task, _ = next(code.ToldLeaveClassOut().tasks(stream, 0))
    ours, _ = next(LeaveClassOut().tasks(stream, 0))
    kept = np.isin(stream.upto(0).graph.features, ours.train.graph.features).all(axis=1)
    assert np.array_equal(task.train.graph.born, stream.labels[kept])
    assert np.array_equal(task.train.labels, ours.train.labels), "only weights are told more"
    # Six vertices, of classes 4, 4, 4, 4, 7 and 7, one of each trained on: (6 - 4) / 4 and (6 - 2) / 2.
    graph = replace(random_graph(6), born=np.array([4, 7, 4, 4, 7, 4]))
    data = SimpleNamespace(graph=graph, vertices=torch.tensor([0, 4]), labels=torch.tensor([0, -1, -1, -1, 1, -1]))
    head = code.GraphGDoc(5, 2)
    assert head.graph_loss(data) is None
    assert head.weights(torch.tensor([0, 1])).tolist() == [0.5, 2.0]


def test_published_prototypes_are_ten_times_as_long(code):
    torch.manual_seed(0)
    ours = heads.get("isomax+")(7, 3).prototypes
    torch.manual_seed(0)
    assert torch.equal(code.PublishedIsoMax(7, 3).prototypes, ours * 10)


def test_the_last_layer_of_the_published_gat_has_one_head(code):
    graph = random_graph()
    for head, shape in (("softmax", (24, 1, 3)), ("isomax-published", (24, 1, 64))):
        model = build_model("gat-published", head, 6, np.arange(3), {"hidden": 8, "heads": 3})
        assert tuple(model.backbone.attention[-1].weight.shape) == shape
        assert model.outputs(graph).logits.shape == (graph.num_vertices, 3)


@pytest.mark.parametrize(
    ("backbone", "protocol", "expression", "head"),
    [
        ("gcn", "ToldLeaveClassOut", "gdoc-graph", "gdoc-graph"),
        ("gcn", "AllOutputsLeaveClassOut", "known-outputs(gdoc)", "gdoc"),
        ("graphsage", "AllOutputsLeaveClassOut", "known-outputs(odin-published(eps=0.1,temperature=10.0))", "softmax"),
        ("gat-published", "AllOutputsLeaveClassOut", "known-outputs(isomax-published)", "isomax-published"),
        ("graph-mlp", "ConfusedLeaveClassOut", "known-outputs(gdoc-graph)", "gdoc-graph"),
        ("graph-mlp", "ConfusedLeaveClassOut", "known-outputs(isomax-published)", "isomax-published"),
        ("gat-published", "LeaveClassOut", "isomax-published", "isomax-published"),
    ],
)
def test_what_switches_put_together_answers_every_task(code, backbone, protocol, expression, head):
    protocol = getattr(code, protocol)()
    for answers, truth in answer_tasks(small_stream(static=True), protocol, tiny(backbone, head, expression), 0):
        assert not answers.failed and np.isfinite(answers.novelty[expression]).all()
        assert len(answers.predicted) == len(truth.labels)


def test_no_registry_knows_what_the_published_code_does_before_the_file_is_loaded():
    for registry, names in NAMES.items():
        assert not set(names) & set(registry.names())


def test_the_file_registers_what_the_switches_name(code):
    assert all(name in registry for registry, names in NAMES.items() for name in names)
