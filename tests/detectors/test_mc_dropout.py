from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.core.seeds import derive
from lgl_bench.detectors import detectors
from lgl_bench.detectors.mc_dropout import McDropout, dropout_on
from lgl_bench.detectors.msp import Msp
from tests.support.stubs import calibration, fitted
from tests.support.trained import small_case, softmax


def scored(model, g, seed=0, **parameters):
    return fitted(McDropout(**parameters), model, g, calibrated=replace(calibration(model, g), seed=seed)).score(
        model, g
    )


@pytest.mark.parametrize("backbone", ["gcn", "graphsage", "gat", "mlp", "graph-mlp"])
def test_it_is_one_less_the_largest_mean_probability_over_passes_in_training_mode(backbone):
    model, g, _ = small_case(backbone=backbone)
    found = scored(model, g, seed=3, passes=4)
    model.train()
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(3, "mc-dropout"))
        passes = [softmax(model(inputs_of(g)).logits.double().numpy()) for _ in range(4)]
    assert not np.allclose(passes[0], passes[1])
    assert found == pytest.approx(1 - np.mean(passes, axis=0).max(axis=1))


def test_the_seed_of_the_run_decides_what_is_dropped():
    model, g, _ = small_case()
    assert np.array_equal(scored(model, g, seed=1), scored(model, g, seed=1))
    assert not np.array_equal(scored(model, g, seed=1), scored(model, g, seed=2))


def test_without_dropout_it_is_msp():
    model, g, _ = small_case(dropout=0.0)
    assert scored(model, g) == pytest.approx(Msp().score(model, g))


def test_over_many_passes_a_model_with_little_dropout_comes_close_to_msp():
    model, g, _ = small_case(dropout=0.01)
    assert np.abs(scored(model, g, passes=50) - Msp().score(model, g)).max() < 0.05


def test_afterwards_the_model_is_in_evaluation_mode_and_remembers_what_it_said():
    model, g, _ = small_case()
    before = model.outputs(g)
    kept = before.logits.clone(), before.embeddings.clone()
    state = torch.random.get_rng_state()
    scored(model, g)
    assert not any(module.training for module in model.modules())
    assert model.outputs(g) is before
    assert torch.equal(before.logits, kept[0]) and torch.equal(before.embeddings, kept[1])
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_pass_that_raises_leaves_the_model_in_evaluation_mode():
    model, g, _ = small_case()

    def breaks(inputs):
        raise ValueError("no luck")

    model.backbone.forward = breaks
    with pytest.raises(ValueError, match="no luck"):
        scored(model, g)
    assert not any(module.training for module in model.modules())


def test_batch_statistics_stay_frozen():
    model, _, _ = small_case()
    model.backbone.norm = nn.BatchNorm1d(5)
    with dropout_on(model):
        assert model.backbone.drop.training and not model.backbone.norm.training


def test_a_wrapper_that_mixes_scores_may_wrap_it():
    model, g, labels = small_case()
    scores = fitted(build(parse("good(propagate(mc-dropout))"), detectors), model, g, labels).score(model, g)
    assert scores.min() >= 0 and scores.max() <= 1


def test_no_pass_at_all_is_refused():
    with pytest.raises(UsageError, match="passes = 0: it must be at least 1"):
        McDropout(passes=0)


def test_it_has_to_be_fitted():
    model, g, _ = small_case()
    with pytest.raises(PluginError, match="mc-dropout has not been fitted; call fit first"):
        McDropout().score(model, g)
