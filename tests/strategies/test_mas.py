from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.strategies.importance import stored_importances
from lgl_bench.strategies.mas import Mas, output_sensitivity
from tests.support.strategies import fit, fit_task, go_on, line_model, no_edges, small_model, two_years

WEIGHT = [[1.0, 0.0], [0.0, 2.0]]


def test_the_importance_is_the_mean_of_absolute_gradients_not_the_gradient_of_a_mean():
    # d |xW|^2 / dW = 2 x f: (1, -1) has f = (1, -2) and [[2, -4], [-2, 4]]; (1, 1) has f = (1, 2) and [[2, 4], [2, 4]].
    g = no_edges([[1, -1], [1, 1], [9, 9]])
    found = output_sensitivity(line_model(WEIGHT), g, np.array([0, 1]))
    assert found["backbone.weight"].tolist() == [[2.0, 4.0], [2.0, 4.0]]


def test_it_needs_no_labels_but_this_years_vertices():
    g = no_edges([[1, -1], [1, 1], [9, 9]])
    task = fit_task(g, [-1, -1, -1], [], recent=[0, 1], known=[0, 1])
    strategy = Mas()
    strategy.select(task, None, 0)
    assert strategy.importances(line_model(WEIGHT), task)["backbone.weight"].tolist() == [[2.0, 4.0], [2.0, 4.0]]


def test_at_most_so_many_vertices_are_drawn_and_the_seed_says_which():
    task = fit_task(no_edges([[2.0**i, 0] for i in range(8)]), [0] * 8, range(8), known=[0, 1])

    def found(seed, samples):
        strategy = Mas(samples=samples)
        strategy.select(task, None, seed)
        return strategy.importances(line_model(WEIGHT), task)["backbone.weight"][0, 0].item()

    each = {2 * 4.0**i for i in range(8)}  # 2 x f for W = 1
    assert {found(seed, 1) for seed in range(40)} <= each
    assert len({found(seed, 1) for seed in range(40)}) > 3
    assert found(5, 3) == found(5, 3)
    assert found(0, 8) == found(1, 8) == sum(each) / 8


def test_weights_move_less_the_larger_the_strength():
    early, late = two_years()
    first = fit(Mas(), early, small_model(early), steps=20)
    stored = stored_importances(first.memory)

    def moved(strength):
        after = dict(go_on(late, first, Mas(strength), steps=40).model.named_parameters())
        total = 0.0
        for name, one in first.model.named_parameters():
            corner = tuple(slice(0, size) for size in one.shape)
            total += float((stored[name] * (after[name][corner] - one).detach().numpy() ** 2).sum())
        return total

    assert moved(1e4) < moved(1.0) < moved(0.0)


def test_a_mean_over_no_vertex_is_refused():
    with pytest.raises(UsageError, match="samples = 0: importances need"):
        Mas(samples=0)
