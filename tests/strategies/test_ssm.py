from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Graph
from lgl_bench.strategies import EMPTY
from lgl_bench.strategies.memory import dump_memory, parse_memory
from lgl_bench.strategies.ssm import Ssm, sample_tree
from tests.support.graphs import graph
from tests.support.strategies import fit_task, offered


def star(leaves, chain=0):
    """Vertex 0 with so many neighbours, and a chain of vertices behind the first of them."""
    edges = [(0, leaf) for leaf in range(1, leaves + 1)]
    edges += [(1 if step == 0 else leaves + step, leaves + step + 1) for step in range(chain)]
    return graph(edges, np.ones((leaves + chain + 1, 2), dtype=np.float32))


def tree_of(g, centre, fanout, hops, seed=0):
    return sample_tree(inputs_of(g).arcs, centre, fanout, hops, np.random.default_rng(seed))


def pairs(edges):
    return {tuple(pair) for pair in edges.T.tolist()}


def test_every_hop_draws_at_most_the_fanout_and_leads_on_from_the_hop_before():
    assert pairs(tree_of(star(2, chain=2), 0, 5, 1)) == {(0, 1), (0, 2)}
    assert pairs(tree_of(star(2, chain=2), 0, 5, 2)) == {(0, 1), (0, 2), (1, 3)}
    assert pairs(tree_of(star(2, chain=2), 0, 5, 9)) == {(0, 1), (0, 2), (1, 3), (3, 4)}
    found = {frozenset(pairs(tree_of(star(6), 0, 2, 2, seed))) for seed in range(60)}
    assert len(found) == 15  # every two of six
    assert all(len(one) == 2 for one in found)


def test_a_vertex_without_neighbours_has_an_empty_tree():
    assert tree_of(graph([], np.ones((1, 1), dtype=np.float32)), 0, 5, 2).shape == (2, 0)


def test_centres_keep_their_label_and_neighbours_do_not():
    task = fit_task(star(3), [0, 1, 1, 1], range(4))
    strategy = Ssm(size=1)
    strategy.select(task, EMPTY, 0)
    memory = strategy.end(None, task, EMPTY)
    assert memory.arrays["centres"].tolist() == [0]  # the share of the smallest class
    assert memory.vertices.tolist() == [0, 1, 2, 3]
    assert memory.labels.tolist() == [0, -1, -1, -1]
    assert pairs(memory.edges) == {(0, 1), (1, 0), (0, 2), (2, 0), (0, 3), (3, 0)}


def test_only_drawn_arcs_are_kept():
    # A triangle: the tree of a centre has two arcs; the one between its neighbours is not kept.
    g = graph([(0, 1), (0, 2), (1, 2)], np.ones((3, 1), dtype=np.float32))
    task = fit_task(g, [0, 1, 1], range(3))
    strategy = Ssm(size=1)
    strategy.select(task, EMPTY, 0)
    assert pairs(strategy.end(None, task, EMPTY).edges) == {(0, 1), (1, 0), (0, 2), (2, 0)}


def test_new_vertices_and_centres_are_each_half_of_the_loss():
    # Positions 10 to 14: the centre is at 11, its neighbour at 10, and three are new.
    g = graph([(0, 1)], np.ones((5, 1), dtype=np.float32))
    task = fit_task(g, [-1, 1, 0, 1, 0], [2, 3, 4], [0, 1], known=[0, 1], positions=range(10, 15))
    before = fit_task(g, [0, 1, 0, 1, 0], [1], positions=range(10, 15))
    memory = before.remember(np.array([0, 1]), centres=np.array([11]))
    view = Ssm().select(task, memory, 0)
    assert view.vertices.tolist() == [1, 2, 3, 4]
    assert view.weights.tolist() == pytest.approx([2, 2 / 3, 2 / 3, 2 / 3])


def test_the_label_of_a_neighbour_is_not_used_even_if_it_is_on_offer():
    g = graph([(0, 1)], np.ones((3, 1), dtype=np.float32))
    task = fit_task(g, [0, 1, 1], [2], [0, 1])
    memory = task.remember(np.array([0, 1]), centres=np.array([0]))
    strategy = Ssm()
    assert strategy.select(task, memory, 0).vertices.tolist() == [0, 2]
    kept = strategy.end(None, task, memory)
    assert kept.arrays["centres"].tolist() == [0, 2]
    assert kept.vertices.tolist() == [0, 2]  # the memory has no tree for 0, and 2 has no neighbours


@st.composite
def streams(draw):
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    counts = draw(st.lists(st.integers(0, 15), min_size=1, max_size=5))
    n = sum(counts)
    ends = rng.integers(0, max(n, 1), (2, 3 * n if draw(st.booleans()) else 0))
    ends = np.unique(np.sort(ends[:, ends[0] != ends[1]], axis=0), axis=1)
    arcs = np.stack([ends, ends[::-1]], axis=2).reshape(2, -1)
    born = np.repeat(np.arange(len(counts)), counts)
    labels = rng.integers(-1, draw(st.integers(1, 6)), n)
    return Graph(np.ones((n, 1), dtype=np.float32), arcs, n, born), labels, born, len(counts)


@settings(deadline=None, max_examples=60)
@given(streams(), st.integers(1, 8), st.integers(1, 3), st.integers(1, 3))
def test_whatever_the_stream_a_memory_keeps_its_size_and_trees_stay_with_their_centres(made, size, fanout, hops):
    g, labels, born, years = made
    memory = EMPTY
    trees: dict[int, set] = {}
    for year in range(years):
        task = offered(g, labels, born, year, memory, "kept")
        strategy = Ssm(size, fanout, hops)
        view = strategy.select(task, memory, 3)
        assert (labels[task.positions[view.vertices]] >= 0).all()
        memory = strategy.end(None, task, memory)
        memory = parse_memory(dump_memory(memory))
        centres = memory.arrays["centres"]
        assert len(centres) <= size
        assert len(memory) <= size * (1 + fanout * hops)
        assert np.array_equal(memory.vertices[memory.labels >= 0], np.sort(centres))
        assert np.isin(memory.edges, memory.vertices).all()
        assert pairs(memory.edges) == pairs(memory.edges[::-1]) <= pairs(g.edges)
        owners, *ends = memory.arrays["trees"]
        mine = {one: {(u, v) for o, u, v in zip(owners, *ends, strict=True) if o == one} for one in centres.tolist()}
        for one in centres.tolist():
            assert trees.setdefault(one, mine[one]) == mine[one]  # as drawn when it became a centre
            assert len(mine[one]) <= fanout * hops
        used = set(centres.tolist()).union(*(end for tree in mine.values() for end in tree))
        assert used == set(memory.vertices.tolist())


@pytest.mark.parametrize("name", ["size", "fanout", "hops"])
def test_nothing_to_keep_is_refused(name):
    with pytest.raises(UsageError, match=f"{name} = 0: "):
        Ssm(**{name: 0})
