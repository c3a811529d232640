from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.strategies import EMPTY, Memory, StepOutputs
from lgl_bench.strategies.ewc import Ewc, squared_gradients
from lgl_bench.strategies.finetune import Finetune
from lgl_bench.strategies.importance import quadratic, stored_importances
from tests.support.strategies import (
    fit,
    fit_task,
    go_on,
    grown,
    line_model,
    no_edges,
    small_model,
    two_years,
    weights_of,
)

NO_STEP = StepOutputs(torch.empty(0, dtype=torch.int64), torch.empty(0, 2))


def test_the_importance_is_the_square_of_the_gradient_of_the_mean_loss():
    # W = 0, so both classes have p = 1/2. The gradient of -log p_y is x (p - onehot): for (1, 0) of class 0
    # [[-1/2, 1/2], [0, 0]], for (0, 2) of class 1 [[0, 0], [1, -1]]; their mean is [[-1/4, 1/4], [1/2, -1/2]].
    task = fit_task(no_edges([[1, 0], [0, 2], [7, 7]]), [0, 1, 1], [0, 1])
    found = squared_gradients(line_model([[0.0, 0.0], [0.0, 0.0]]), task.train, np.array([0, 1]))
    assert found["backbone.weight"].tolist() == [[0.0625, 0.0625], [0.25, 0.25]]


def test_the_penalty_is_the_strength_times_importance_times_the_squared_distance():
    # 3 * (2 * (4 - 1)^2 + 5 * (1 - 2)^2) = 3 * 23
    weights, anchors, importances = ({"w": torch.tensor(one)} for one in ([4.0, 1.0], [1.0, 2.0], [2.0, 5.0]))
    assert quadratic(weights, anchors, importances) == 23
    strategy, model = Ewc(3.0), line_model([[4.0, 1.0]])
    memory = Memory(arrays={"importance:backbone.weight": np.array([[2.0, 5.0]], dtype=np.float32)})
    strategy.begin(model, line_model([[1.0, 2.0]]), memory)
    assert strategy.penalty(model, NO_STEP).item() == 69


def test_there_is_no_penalty_in_the_first_year():
    strategy, model = Ewc(), line_model([[4.0, 1.0]])
    strategy.begin(model, None, EMPTY)
    assert strategy.penalty(model, NO_STEP) == 0


@pytest.mark.parametrize("backbone", ["gcn", "gat", "graphsage", "mlp"])
@pytest.mark.parametrize("head", ["softmax", "isomax+"])
def test_grown_outputs_have_importance_0_and_old_ones_keep_theirs(backbone, head):
    early, late = two_years()
    first = fit(Ewc(), early, small_model(early, backbone, head))
    model = grown(first.model, late)
    strategy = Ewc(1.0)
    strategy.select(late, first.memory, 0)
    strategy.begin(model, first.model, first.memory)
    stored = stored_importances(first.memory)
    larger = 0
    for name, one in strategy.importances_.items():
        corner = tuple(slice(0, size) for size in stored[name].shape)
        assert one.shape == dict(model.named_parameters())[name].shape
        assert np.array_equal(one[corner].numpy(), stored[name])
        rest = one.clone()
        rest[corner] = 0
        assert not rest.any()
        larger += one.numel() > stored[name].size
    assert larger
    assert strategy.penalty(model, NO_STEP).item() == 0  # old weights are where they were; new ones do not count


def test_importances_are_summed_over_the_years():
    early, late = two_years()
    first = fit(Ewc(), early, small_model(early))
    second = go_on(late, first, Ewc())
    alone = Ewc().importances(second.model, late)
    name = "backbone.projections.0.weight"
    expected = stored_importances(first.memory)[name] + alone[name].numpy()
    assert np.allclose(stored_importances(second.memory)[name], expected)


def test_an_enormous_strength_leaves_important_weights_where_they_are():
    early, late = two_years()
    steps, lr = 60, 0.01
    first = fit(Ewc(), early, small_model(early), steps=20)
    before, stored = weights_of(first.model), stored_importances(first.memory)

    def moved(strategy):
        after = weights_of(go_on(late, first, strategy, steps=steps, lr=lr).model)
        found = []
        for name, one in before.items():
            corner = tuple(slice(0, size) for size in one.shape)
            found.append((after[name][corner] - one).abs()[torch.from_numpy(stored[name]) > 1e-6])
        return torch.cat(found).max().item()

    assert moved(Finetune()) > 10 * lr
    assert moved(Ewc(1e12)) < 2 * lr  # Adam's first step is lr, before there is any distance to penalise


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_a_strength_that_is_negative_or_not_finite_is_refused(value):
    with pytest.raises(UsageError, match=f"strength = {value}: it must be at least 0"):
        Ewc(value)
