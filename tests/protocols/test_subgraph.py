from __future__ import annotations

import numpy as np

from lgl_bench.protocols.subgraph import induced
from tests.support.static_graphs import naive_pairs, pairs, static


def test_the_graph_of_the_first_vertices_has_their_features_alone():
    whole = static().upto(0).graph
    graph, vertices = induced(whole, np.arange(whole.num_vertices) < 4)
    assert graph.features.shape == (4, 1) and vertices.tolist() == [0, 1, 2, 3]
    assert pairs(graph) == naive_pairs(range(4))
