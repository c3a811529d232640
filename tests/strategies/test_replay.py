from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.strategies import EMPTY
from lgl_bench.strategies.history import Full
from lgl_bench.strategies.replay import Replay
from tests.support.strategies import fit, fit_task, go_on, no_edges, offered, remembering, small_model, two_years


def five_vertices(new, remembered):
    return fit_task(no_edges(np.eye(5)), [0, 1, 0, 1, 0], new, remembered)


def parts(view, new):
    """What new vertices and the others weigh together, of 1."""
    fresh = np.isin(view.vertices, new)
    total = view.weights.sum()
    return view.weights[fresh].sum() / total, view.weights[~fresh].sum() / total


def test_halves_weigh_new_and_remembered_vertices_alike():
    view = Replay(balance="halves").select(five_vertices([1, 2, 4], [0]), EMPTY, 0)
    assert view.vertices.tolist() == [0, 1, 2, 4]
    # 1/2 for the one, 1/6 for each of the three; times 4 for a mean of 1.
    assert view.weights.tolist() == pytest.approx([2, 2 / 3, 2 / 3, 2 / 3])


def test_er_gnn_gives_new_vertices_the_share_of_the_memory():
    # 1 remembered, 4 new: beta = 1/5 is the weight of the new ones, 4/5 that of the memory.
    view = Replay(balance="er-gnn").select(five_vertices([1, 2, 3, 4], [0]), EMPTY, 0)
    assert parts(view, [1, 2, 3, 4]) == pytest.approx((1 / 5, 4 / 5))
    assert view.weights.mean() == pytest.approx(1)


@pytest.mark.parametrize(("pick", "expected"), [("random", 1 / 2), ("mean", 1 / 5), ("coverage", 1 / 5)])
def test_the_balance_goes_with_the_pick_unless_it_is_given(pick, expected):
    view = Replay(pick=pick).select(five_vertices([1, 2, 3, 4], [0]), EMPTY, 0)
    assert parts(view, [1, 2, 3, 4])[0] == pytest.approx(expected)


@pytest.mark.parametrize("balance", ["halves", "er-gnn", "counts", "auto"])
def test_one_part_alone_is_not_weighted(balance):
    strategy = Replay(balance=balance)
    first = strategy.select(five_vertices([1, 3], []), EMPTY, 0)
    assert (first.vertices.tolist(), first.weights) == ([1, 3], None)
    unlabelled = strategy.select(five_vertices([], [0, 4]), EMPTY, 0)
    assert (unlabelled.vertices.tolist(), unlabelled.weights) == ([0, 4], None)
    assert len(strategy.select(five_vertices([], []), EMPTY, 0).vertices) == 0


def test_an_unlimited_memory_with_counts_selects_what_full_selects():
    rng = np.random.default_rng(0)
    labels, born = rng.integers(0, 4, 30), np.sort(rng.integers(0, 4, 30))
    g, memory = no_edges(rng.normal(size=(30, 2))), EMPTY
    for year in range(4):
        task = offered(g, labels, born, year, memory)
        strategy = Replay(10**9, balance="counts")
        view = strategy.select(task, memory, 0)
        everything = fit_task(task.train.graph, labels[born <= year], range(len(task.positions)), known=task.known)
        assert np.array_equal(view.vertices, Full().select(everything, EMPTY, 0).vertices)
        assert view.weights is None
        memory = strategy.end(None, task, memory)


def test_selecting_again_returns_the_same():
    early, late = two_years()
    first = fit(Replay(4), early, small_model(early))
    task = remembering(late, first.memory)
    strategy = Replay(4)
    one, other = (strategy.select(task, first.memory, 0) for _ in range(2))
    assert np.array_equal(one.vertices, other.vertices) and np.array_equal(one.weights, other.weights)


def test_a_larger_memory_forgets_less():
    early, late = two_years(n=40, columns=4, edges=10)

    def wrong(size):
        first = fit(Replay(size), early, small_model(early, "mlp", hidden=32), steps=150, lr=0.02)
        second = go_on(late, first, Replay(size), steps=150, lr=0.02)
        return (second.model.predict(early.train.graph) != early.train.labels).mean()

    assert wrong(20) < wrong(1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": 0}, "size = 0: at least one vertex must be remembered"),
        ({"pick": "best"}, "pick = 'best': it is one of random, mean, coverage"),
        ({"balance": "none"}, "balance = 'none': it is one of auto, halves, er-gnn, counts"),
        ({"graph": "some"}, "graph = 'some': it is one of all, kept"),
    ],
)
def test_what_there_is_not_is_refused(given, message):
    with pytest.raises(UsageError, match=message):
        Replay(**given)
