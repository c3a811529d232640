from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.training.last_layer import last_layer
from tests.support.trained import small_model


def weights_of(model):
    """W and b where each backbone keeps them."""
    backbone = model.backbone
    if hasattr(backbone, "attention"):
        layer = backbone.attention[-1]
        return layer.weight.mean(dim=1).T, layer.bias.mean(dim=0)
    if hasattr(backbone, "own"):
        own, neighbours = backbone.own[-1], backbone.neighbours[-1]
        return (own.weight + neighbours.weight).T, own.bias
    return backbone.projections[-1].weight.T, backbone.projections[-1].bias


@pytest.mark.parametrize("backbone", ["gcn", "graphsage", "gat", "mlp", "graph-mlp"])
@pytest.mark.parametrize("columns", [6, 40])
def test_the_weights_read_off_the_last_layer_are_those_the_backbone_keeps(backbone, columns):
    model = small_model(backbone, columns=columns)
    w, b = last_layer(model)
    expected_w, expected_b = (part.detach().numpy() for part in weights_of(model))
    assert w.shape == (3, model.backbone.width)
    assert w == pytest.approx(expected_w, abs=1e-6)
    assert b == pytest.approx(expected_b, abs=1e-6)


def test_a_model_that_has_grown_has_a_row_per_class():
    model = small_model()
    model.grow(np.arange(5))
    w, b = last_layer(model)
    assert w == pytest.approx(model.backbone.projections[-1].weight.detach().numpy().T, abs=1e-6)
    assert len(b) == 5


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_small_and_large_weights_are_linear_too(factor):
    model = small_model("mlp")
    model.backbone.projections[-1].weight.data.mul_(factor)
    w, _ = last_layer(model)
    assert w == pytest.approx(model.backbone.projections[-1].weight.detach().numpy().T, rel=1e-2, abs=1e-6)


def test_a_prototype_head_has_no_weights():
    with pytest.raises(UsageError, match="the head IsoMaxPlus has no linear last layer.*train with the head softmax"):
        last_layer(small_model(head="isomax+"))


def test_a_last_layer_that_is_not_linear_has_no_weights():
    model = small_model()
    linear = model.backbone.last
    model.backbone.last = lambda inputs, h: torch.relu(linear(inputs, h))
    with pytest.raises(PluginError, match="the last layer of the backbone GCN is not linear"):
        last_layer(model)


def test_a_last_layer_that_raises_is_named_with_its_reason():
    model = small_model()

    def needs_more(inputs, h):
        raise KeyError("first layer")

    model.backbone.last = needs_more
    with pytest.raises(PluginError, match="backbone GCN cannot be asked for its weights: KeyError.*first layer"):
        last_layer(model)
