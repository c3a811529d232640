"""Whole fits: whatever computes, a seed gives the same model to float precision."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import numpy as np
import pytest
import torch

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.layers.sparse import SparseMatrix
from lgl_bench.core.types import TrainingParameters
from lgl_bench.kernels.choice import VARIABLE
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.training.model import build_model
from lgl_bench.training.trainer import seeded, train
from tests.support.graphs import small_stream, to_sparse

OTHERS = ["torch", *(["dgl"] if importlib.util.find_spec("dgl") is not None else [])]
SIZES = {
    "gcn": {"hidden": 8, "dropout": 0.4},
    "gat": {"hidden": 4, "dropout": 0.4, "heads": 3, "attn_dropout": 0.3},
    "graphsage": {"hidden": 8, "dropout": 0.4, "batch": 30, "fanout": (3, 2)},
    "graph-mlp": {"hidden": 16, "dropout": 0.4, "batch": 60},
}


@pytest.fixture(params=["dense", "sparse", "ones"])
def one(request):
    """A task whose features are dense, or the largest few of them and sparse."""
    stream = small_stream(static=True, features=64)
    if request.param != "dense":
        dense = np.asarray(stream.features)
        largest = dense > np.quantile(dense, 0.93)
        kept = np.where(largest, 1 if request.param == "ones" else dense, 0)
        stream = replace(stream, features=to_sparse(kept.astype(np.float32)))
    found = next(LeaveClassOut().tasks(stream, 0))[0]
    features = inputs_of(found.test).features
    assert isinstance(features, SparseMatrix) == (request.param != "dense")
    return found


@pytest.mark.parametrize("backbone", list(SIZES))
def test_five_epochs_with_any_kernels_give_the_same_logits(backbone, one, monkeypatch):

    def logits(kernels: str) -> torch.Tensor:
        monkeypatch.setenv(VARIABLE, kernels)
        with seeded(0, "weights"):
            model = build_model(backbone, "softmax", 64, one.known, SIZES[backbone])
        before = model.outputs(one.test).logits
        fit = train(model, one, TrainingParameters(epochs=5, lr=0.02), seed=3)
        assert fit.status == "ok" and fit.epochs == 5
        after = model.outputs(one.test).logits
        assert (after - before).abs().max() > 0.1  # it has gone far enough to be told apart
        return after

    own = logits("native")
    for other in OTHERS:
        assert torch.allclose(logits(other), own, rtol=0, atol=1e-4), other
