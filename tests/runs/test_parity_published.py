from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.backbones import backbones
from lgl_bench.backbones.inputs import inputs_of
from lgl_bench.core.expressions import parse
from lgl_bench.core.types import Graph
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.protocols import protocols
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.runs.answers import answer_tasks
from lgl_bench.runs.evaluate import grade
from lgl_bench.runs.parity_published import PublishedOdin, confused, known_outputs, published_answers
from lgl_bench.runs.presets import Preset
from lgl_bench.runs.scoring import Method
from lgl_bench.training.model import build_model
from lgl_bench.training.trainer import TrainingParameters
from tests.graphs import random_graph, small_stream, to_sparse

EPS, TEMPERATURE = 0.1, 10.0


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


def test_the_published_odin_step_is_that_of_the_sum_of_all_logits_times_the_features():
    graph = random_graph(columns=4)
    x = np.where(graph.features > 0.5, graph.features, 0).astype(np.float32)
    graph = Graph(x, graph.edges, graph.num_vertices, graph.born)
    model = mlp(4)
    (w0, b0), (w1, b1) = ((p.weight.detach().numpy(), p.bias.detach().numpy()) for p in model.backbone.projections)
    gradient = (w0 @ w1).sum(axis=1)  # of the sum of the logits, the same at every vertex: no unit is cut off
    moved = (x + EPS * np.sign(gradient)) * x
    expected = 1 - softmax(((moved @ w0 + b0) @ w1 + b1) / TEMPERATURE).max(axis=1)
    assert PublishedOdin(EPS, TEMPERATURE).score(model, graph) == pytest.approx(expected, abs=1e-6)


def test_the_published_odin_scores_sparse_features_as_dense_ones_and_leaves_arcs_alone():
    rng = np.random.default_rng(0)
    dense = (rng.random((12, 60)) < 0.03).astype(np.float32)
    dense[np.arange(12), np.arange(12)] = 0.5
    base = random_graph(columns=3)
    torch.manual_seed(0)
    model = build_model("gcn", "softmax", 60, np.arange(3), {"hidden": 5}).eval()
    scores = [
        PublishedOdin(EPS, TEMPERATURE).score(model, Graph(features, base.edges, 12, base.born))
        for features in (dense, to_sparse(dense))
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-7)
    inputs = inputs_of(Graph(dense, base.edges, 12, base.born))
    values = inputs.features.clone().requires_grad_(True)
    (gradient,) = torch.autograd.grad(model(inputs.moved(values, None)).logits.sum(), values)
    moved = (values + EPS * gradient.sign()) * values
    logits = model(inputs.moved(moved.detach(), None)).logits.detach().double().numpy()
    assert scores[0] == pytest.approx(1 - softmax(logits / TEMPERATURE).max(axis=1), abs=1e-7)


def test_confused_vertex_numbers_let_test_vertices_and_the_left_out_class_into_training():
    stream = small_stream(static=True)
    task, truth = next(LeaveClassOut().tasks(stream, 0))
    learned = confused(task, stream.labels, 0)
    size = task.train.graph.num_vertices
    assert learned.train.graph.num_vertices == size
    assert np.array_equal(learned.train.graph.features, stream.upto(0).graph.features[:size])
    assert learned.fit_mask.sum() == task.fit_mask.sum() and not np.array_equal(learned.fit_mask, task.fit_mask)
    seen = np.flatnonzero(learned.fit_mask)
    assert np.array_equal(learned.train.labels[seen], stream.labels[seen])
    assert (learned.train.labels[~learned.fit_mask] == -1).all()
    left_out = int(task.fold)
    assert left_out in learned.train.labels and left_out in learned.known and left_out not in task.known
    assert np.isin(truth.vertices, seen).any()


@pytest.mark.parametrize("head", ["softmax", "gdoc", "isomax+"])
def test_scores_of_a_confused_model_come_from_the_outputs_of_known_classes(head):
    torch.manual_seed(0)
    graph = random_graph()
    model = build_model("graph-mlp", head, 6, np.array([2, 5, 7]), {"hidden": 4})
    kept = known_outputs(model, np.array([2, 7]))
    assert torch.equal(kept.outputs(graph).logits, model.outputs(graph).logits[:, [0, 2]])
    assert model.outputs(graph).logits.shape[1] == 3 and set(kept.predict(graph)) <= {2, 7}


def tiny(backbone, head, *texts):
    preset = Preset("tiny", {"hidden": 8, "dropout": 0.1}, TrainingParameters(epochs=20, lr=0.01))
    return Method(backbone, head, preset, tuple(parse(text) for text in texts))


def graded(answered):
    return [grade(*pair) for pair in answered]


def test_the_confused_model_knows_the_class_that_was_left_out():
    stream = small_stream(static=True)
    method = tiny("graph-mlp", "isomax+", "isomax+", "good(isomax+,alpha=0.5)")
    for answers, truth in published_answers(stream, LeaveClassOut(), method, 0, "graph-mlp-batches"):
        assert set(answers.novelty) == {"isomax+", "good(isomax+,alpha=0.5)"}
        left_out = int(answers.task.fold)
        found = answers.predicted[truth.labels == left_out]
        assert (found == left_out).mean() > 0.5
        assert grade(answers, truth).new == len(found)


def test_the_odin_switch_changes_scores_and_not_the_model():
    stream = small_stream(static=True)
    texts = "odin(eps=0.5,temperature=10.0)", "good(odin(eps=0.5,temperature=10.0),alpha=0.5)"
    method = tiny("gcn", "softmax", *texts)
    ours = graded(answer_tasks(stream, LeaveClassOut(), method, 0))
    theirs = graded(published_answers(stream, LeaveClassOut(), method, 0, "odin-step"))
    assert [one.accuracy for one in ours] == [one.accuracy for one in theirs]
    for text in texts:
        assert [one.auroc[text] for one in ours] != [one.auroc[text] for one in theirs]


def test_the_switch_of_weights_trains_with_the_weights_the_paper_prints():
    stream = small_stream(static=True)
    method = tiny("gcn", "gdoc", "gdoc")
    ours = list(answer_tasks(stream, LeaveClassOut(), method, 0))
    theirs = list(published_answers(stream, LeaveClassOut(), method, 0, "weights"))
    for (our, _), (their, _) in zip(ours, theirs, strict=True):
        # (n - n+) / n is below (n - n+) / n+, so positives count less and the largest sigmoid is smaller.
        assert their.novelty["gdoc"].mean() > our.novelty["gdoc"].mean()


def test_no_registry_knows_what_the_published_code_does():
    for registry in (backbones, heads, detectors, protocols):
        for name in registry.names():
            assert "parity" not in registry.get(name).__module__
