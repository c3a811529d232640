from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.training.model import build_model
from lgl_bench.training.trainer import seeded
from tests.support.graphs import random_graph

KNOWN = np.array([4, 1, 7])


def fresh(backbone="gcn", head="softmax", known=KNOWN, seed=0, **parameters):
    with seeded(seed, "model"):
        return build_model(backbone, head, 6, known, {"hidden": 5, **parameters})


@pytest.mark.parametrize("head", ["softmax", "gdoc", "isomax+", "genodin"])
@pytest.mark.parametrize("backbone", ["gcn", "graphsage", "gat", "graph-mlp", "mlp"])
def test_growing_appends_outputs_and_keeps_the_logits_of_old_classes(backbone, head):
    g = random_graph()
    model = fresh(backbone, head)
    before = model.outputs(g).logits
    model.grow(np.array([4, 1, 7, 0, 9]))
    after = model.outputs(g).logits
    assert after.shape == (12, 5)
    assert torch.allclose(after[:, :3], before, atol=1e-5)
    assert model.known.tolist() == [4, 1, 7, 0, 9]
    assert model.probabilities(g).shape == (12, 5)


def test_growing_to_the_same_classes_changes_nothing():
    g = random_graph()
    model = fresh()
    before = model.outputs(g).logits
    model.grow(KNOWN)
    assert torch.equal(model.outputs(g).logits, before)


@pytest.mark.parametrize("known", [[1, 4, 7, 0], [4, 1], [4, 7, 1]])
def test_growing_never_moves_or_drops_a_known_class(known):
    with pytest.raises(UsageError, match="appended"):
        fresh().grow(np.array(known))


def test_columns_map_global_class_ids_and_unknown_ones_to_minus_one():
    model = fresh()
    assert model.columns(np.array([7, 4, 1, -1, 0, 8, 99])).tolist() == [2, 0, 1, -1, -1, -1, -1]
    assert model.columns(np.array([], dtype=np.int64)).tolist() == []
    assert model.columns(np.array([-1, 1])).tolist() == [-1, 1]


def test_predictions_are_global_class_ids():
    g = random_graph()
    model = fresh()
    predicted = model.predict(g)
    assert predicted.tolist() == [KNOWN[k] for k in model.outputs(g).logits.argmax(dim=1)]


def test_outputs_are_computed_once_a_graph_and_forgotten_when_told():
    g = random_graph()
    model = fresh()
    first = model.outputs(g)
    assert model.outputs(g) is first
    assert model.outputs(random_graph(seed=1)) is not first
    with torch.no_grad():
        model.backbone.projections[0].weight.add_(1.0)
    assert model.outputs(g) is first
    model.forget()
    assert not torch.equal(model.outputs(g).logits, first.logits)


def test_outputs_are_those_of_evaluation_without_gradients():
    g = random_graph()
    model = fresh(dropout=0.9).train()
    first = model.outputs(g).logits
    assert not first.requires_grad
    model.forget()
    assert torch.equal(model.outputs(g).logits, first)


@pytest.mark.parametrize("again", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
def test_a_pickled_or_copied_model_answers_the_same_and_carries_no_remembered_outputs(again):
    g = random_graph()
    model = fresh()
    first = model.outputs(g)
    empty = len(pickle.dumps(fresh()))
    other = again(model)
    assert not other._answers
    assert len(pickle.dumps(model)) == empty
    assert torch.equal(other.outputs(g).logits, first.logits)
    assert model.outputs(g) is first


@pytest.mark.parametrize("head", ["softmax", "isomax+"])
@pytest.mark.parametrize("backbone", ["gcn", "graphsage", "gat", "graph-mlp"])
def test_logits_from_the_models_own_embeddings_are_its_logits(backbone, head):
    g = random_graph()
    model = fresh(backbone, head)
    outputs = model.outputs(g)
    assert torch.allclose(model.logits_from(g, outputs.embeddings), outputs.logits, atol=1e-5)


@pytest.mark.parametrize("known", [[], [3]])
def test_fewer_than_two_classes_are_refused(known):
    with pytest.raises(UsageError, match=f"{len(known)} known class.*at least two"):
        fresh(known=np.array(known, dtype=np.int64))


@pytest.mark.parametrize("backbone", ["gcn", "graphsage", "gat", "graph-mlp", "mlp"])
def test_a_graph_without_feature_columns_is_refused(backbone):
    with pytest.raises(UsageError, match="zero columns"):
        build_model(backbone, "softmax", 0, KNOWN, {})


def test_a_parameter_the_backbone_does_not_take_is_named():
    with pytest.raises(PluginError, match="gcn.*widht"):
        fresh(widht=3)


@pytest.mark.parametrize("parameters", [{"layers": 1}, {"hidden": 0}, {"dropout": 1.0}])
def test_sizes_that_make_no_sense_are_refused(parameters):
    with pytest.raises(UsageError, match=next(iter(parameters))):
        fresh(**parameters)


def test_a_misspelt_backbone_or_head_is_answered_with_the_nearest_name():
    with pytest.raises(UsageError, match="did you mean 'graphsage'"):
        fresh("graphsag")
    with pytest.raises(UsageError, match="did you mean 'softmax'"):
        fresh(head="sofmax")


def test_weights_come_from_the_seed():
    g = random_graph()
    assert torch.equal(fresh().outputs(g).logits, fresh().outputs(g).logits)
    assert not torch.equal(fresh().outputs(g).logits, fresh(seed=1).outputs(g).logits)


@pytest.mark.parametrize("head", ["softmax", "doc", "gdoc", "isomax+", "genodin"])
def test_a_grown_model_keeps_the_logits_of_the_classes_it_knew_and_appends_columns(head):
    g = random_graph()
    model = build_model("gcn", head, 6, np.array([4, 1]), {"hidden": 5})
    before = model.outputs(g).logits
    model.grow(np.array([4, 1, 9]))
    after = model.outputs(g).logits
    assert after.shape == (12, 3)
    assert torch.allclose(after[:, :2], before, atol=1e-5)
    with pytest.raises(UsageError, match="known classes can only be appended"):
        model.grow(np.array([1, 4, 9, 10]))
