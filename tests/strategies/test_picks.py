from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lgl_bench.core.types import Outputs
from lgl_bench.strategies import EMPTY
from lgl_bench.strategies.agem import Agem
from lgl_bench.strategies.picks import intruders, lowest, mean_distances, reservoir, shares
from lgl_bench.strategies.replay import Replay
from tests.support.strategies import no_edges, offered


class Embeds:
    """A model whose embeddings are the features."""

    def outputs(self, graph):
        z = torch.from_numpy(np.array(graph.features))
        return Outputs(z, z)


def stream(counts, classes, seed=0):
    """Vertices without edges: so many are born in each year, each of any class."""
    rng = np.random.default_rng(seed)
    born = np.repeat(np.arange(len(counts)), counts)
    return no_edges(rng.normal(size=(len(born), 2))), rng.integers(0, classes, len(born)), born


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(1, 40))
def test_shares_are_equal_but_for_classes_that_have_fewer(counts, size):
    given_ = shares(np.array(counts), size)
    assert given_.sum() == min(size, sum(counts))
    assert (given_ <= counts).all()
    open_ = [share for share, count in zip(given_, counts, strict=True) if share < count]
    if open_:  # whoever has more left got as much as anybody, but for one
        assert max(open_) - min(open_) <= 1
        assert given_.max() <= min(open_) + 1


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(0, 25), min_size=1, max_size=5),
    st.integers(1, 12),
    st.integers(1, 20),
    st.sampled_from(["random", "mean", "coverage", "agem"]),
    st.integers(0, 1000),
)
def test_a_memory_never_exceeds_its_size_and_uses_it_whatever_the_stream(counts, classes, size, pick, seed):
    g, labels, born = stream(counts, classes, seed)
    memory, candidates = EMPTY, 0
    for year in range(len(counts)):
        strategy = Agem(size) if pick == "agem" else Replay(size, pick)
        task = offered(g, labels, born, year, memory)
        strategy.select(task, memory, seed)
        candidates = len(task.labelled)
        memory = strategy.end(Embeds(), task, memory)
        assert len(memory) == min(size, candidates)
        assert np.array_equal(memory.labels, labels[memory.vertices])
        assert (np.diff(memory.vertices) > 0).all()
        if pick in ("random", "agem"):  # a share is never larger than what is left of it
            seen = np.bincount(labels[born <= year], minlength=classes)
            expected = shares(seen, size)
            assert np.array_equal(np.bincount(memory.labels, minlength=classes), expected)


def test_every_vertex_of_a_class_is_as_likely_whatever_its_year():
    # 5, 20 and 15 vertices of class 0 in three years, and so many of class 1; 8 of each are kept in the end.
    born = np.repeat([0, 1, 2], [10, 40, 30])
    labels = np.arange(80) % 2
    g = no_edges(np.zeros((80, 1)))
    kept, runs = np.zeros(80), 1000
    for seed in range(runs):
        memory = EMPTY
        for year in range(3):
            task = offered(g, labels, born, year, memory)
            rng = np.random.default_rng([seed, year])
            vertices, seen = reservoir(task, task.remembered, memory, 16, rng)
            memory = task.remember(vertices, **seen)
        kept[memory.vertices] += 1
    # Each is kept with probability 8 / 40; ten vertices and a thousand runs have a standard deviation of 0.004.
    for year in range(3):
        assert kept[born == year].mean() / runs == pytest.approx(0.2, abs=0.016)


def test_the_nearest_to_the_mean_of_each_class_are_the_lowest():
    z = np.array([[0.0], [1.0], [5.0], [10.0], [14.0]])
    labels = np.array([7, 7, 7, 9, 9])
    assert mean_distances(z, labels).tolist() == [2.0, 1.0, 3.0, 2.0, 2.0]
    rng = np.random.default_rng(0)
    assert lowest(mean_distances(z, labels)[:3], labels[:3], 2, rng).tolist() == [0, 1]
    assert lowest(mean_distances(z, labels), labels, 4, rng).tolist() == [0, 1, 3, 4]


def test_which_of_equal_ones_is_kept_depends_on_the_seed_and_not_on_their_order():
    found = {lowest(np.zeros(9), np.zeros(9, np.int64), 1, np.random.default_rng(seed))[0] for seed in range(60)}
    assert len(found) == 9


def test_a_memory_of_the_mean_keeps_the_nearest_and_not_the_farthest():
    g = no_edges([[0.0], [1.0], [5.0], [100.0], [101.0], [105.0]])
    labels = np.array([0, 0, 0, 1, 1, 1])
    task = offered(g, labels, np.zeros(6, np.int64), 0, EMPTY)
    strategy = Replay(2, "mean")
    strategy.select(task, EMPTY, 0)
    assert strategy.end(Embeds(), task, EMPTY).vertices.tolist() == [1, 4]  # the means are 2 and 102


def test_coverage_keeps_those_with_the_fewest_of_other_classes_around_them():
    # Distances between the classes: from 0: 4, 5, 9; from 3: 1, 2, 6; the median is 4.5, so d is 2.25. 3 has 4 and 5
    # within it, 4 has 3, 5 has 3; 0 and 9 have none.
    g = no_edges([[0.0], [3.0], [4.0], [5.0], [9.0]])
    labels = np.array([0, 0, 1, 1, 1])
    found = intruders(np.array(g.features, dtype=float), labels, 0.5, np.random.default_rng(0))
    assert found.tolist() == [0, 2, 1, 1, 0]
    task = offered(g, labels, np.zeros(5, np.int64), 0, EMPTY)
    strategy = Replay(2, "coverage")
    strategy.select(task, EMPTY, 0)
    assert strategy.end(Embeds(), task, EMPTY).vertices.tolist() == [0, 4]


def test_one_class_alone_has_nobody_around_it():
    assert intruders(np.ones((3, 2)), np.zeros(3, np.int64), 0.5, np.random.default_rng(0)).tolist() == [0, 0, 0]


def test_many_vertices_are_compared_with_a_sample_of_them(monkeypatch):
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 200)
    z = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    exact = intruders(z, labels, 0.5, np.random.default_rng(0))
    monkeypatch.setattr("lgl_bench.strategies.picks.SAMPLED", 200)
    monkeypatch.setattr("lgl_bench.strategies.picks._ROWS", 64)
    sampled = intruders(z, labels, 0.5, np.random.default_rng(0))
    assert np.array_equal(sampled, intruders(z, labels, 0.5, np.random.default_rng(0)))
    assert np.corrcoef(exact, sampled)[0, 1] > 0.95
    assert 0.4 < sampled.sum() / exact.sum() < 0.6
