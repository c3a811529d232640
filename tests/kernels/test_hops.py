from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path

from lgl_bench.kernels import Arcs, hop_sums
from tests.support.graphs import dense_adjacency, graph, random_graph


def arcs_of(g):
    return Arcs.of_edges(g.edges, g.num_vertices)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 6))
def test_sums_are_those_of_all_shortest_paths(seed, edges, hops):
    g = random_graph(n=20, edges=edges, seed=seed)
    rng = np.random.default_rng(seed)
    chosen, weights = np.flatnonzero(rng.random(20) < 0.4), rng.random(hops)
    distance = shortest_path(csr_matrix(dense_adjacency(g)), unweighted=True)[:, chosen]
    expected = sum((weights[h] * (distance == h).sum(axis=1) for h in range(hops)), np.zeros(20))
    assert hop_sums(arcs_of(g), chosen, weights) == pytest.approx(expected)


def test_more_vertices_than_bits_of_a_word_are_all_counted():
    g = graph([(0, v) for v in range(1, 201)], np.ones((201, 1), dtype=np.float32))
    found = hop_sums(arcs_of(g), np.arange(1, 201), np.array([10.0, 1.0, 0.5]))
    assert found[0] == 200 and set(found[1:].tolist()) == {10 + 0.5 * 199}


def test_nothing_is_reached_from_nowhere():
    assert hop_sums(arcs_of(random_graph()), np.empty(0, dtype=np.int64), np.ones(3)).tolist() == [0.0] * 12
