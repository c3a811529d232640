from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lgl_bench.backbones import Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs, inputs_of
from lgl_bench.backbones.layers.sparse import SparseMatrix
from lgl_bench.plans.paper_presets import taken
from tests.support.graphs import random_graph, to_sparse
from tests.support.walks import data_on

BACKBONES = ["gcn", "graphsage", "gat", "graph-mlp", "mlp", "sgc", "appnp", "gin", "gcnii", "gprgnn", "h2gcn"]
BACKBONES += ["oodgat", "openwgl", "gpn"]


def test_every_built_in_backbone_is_tested_here():
    assert {name for name in backbones.names() if backbones.is_built_in(name)} == set(BACKBONES)


@pytest.mark.parametrize("name", BACKBONES)
def test_sparse_and_dense_features_give_the_same_result(name):
    g = random_graph(n=30, columns=64, edges=60, sparse=True)
    sparse, arcs = SparseMatrix.of(g.features), inputs_of(g).arcs
    model = backbones.get(name)(Shape(64, 3), hidden=8).eval()
    one = model(Inputs(sparse, arcs))[1]
    other = model(Inputs(sparse.dense(), arcs))[1]
    assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", BACKBONES)
def test_on_another_device_a_model_computes_there_with_the_same_shapes(name, sparse):
    g = random_graph(n=30, columns=64, edges=60, sparse=sparse)
    inputs = inputs_of(g)
    if sparse:
        inputs = replace(inputs, features=SparseMatrix.of(g.features))
    for shape in (Shape(64, 3), Shape(64, None)):
        model = backbones.get(name)(shape, **taken(name, {"hidden": 8, "layers": 3}))
        here = model(inputs)
        there = model.to("meta")(inputs.to("meta"))
        for one, other in zip(here, there, strict=True):
            assert other.device.type == "meta" and other.shape == one.shape
    if model.edge_weights:
        weights = torch.ones(inputs.looped.num_arcs)
        moved = inputs.moved(inputs.features, weights).to("meta")
        assert model(moved)[1].shape == here[1].shape


# The number of features of the first rows, which GraphSAGE reads, is a number, and this device has none.
@pytest.mark.parametrize(("name", "sparse"), [(name, s) for name in BACKBONES for s in {False, name != "graphsage"}])
def test_an_epoch_on_another_device_is_computed_there_and_gives_every_weight_a_gradient(name, sparse):
    dense = np.where(np.random.default_rng(0).random((60, 300)) < 0.05, 1, 0).astype(np.float32)
    g = replace(random_graph(n=60, edges=90), features=to_sparse(dense) if sparse else dense)
    assert isinstance(inputs_of(g).features, SparseMatrix) == sparse
    fit = list(range(0, 60, 2))
    data = replace(data_on(g, fit, [v % 3 for v in fit]), device="meta")
    model = backbones.get(name)(Shape(300, 3), hidden=8).train().to("meta")
    steps = 0
    for loss in model.batches(data)():
        steps += 1
        assert loss.device.type == "meta" and loss.shape == ()
        loss.backward()
        for weight in model.parameters():
            assert weight.grad.device.type == "meta" and weight.grad.shape == weight.shape
    assert steps > 0
