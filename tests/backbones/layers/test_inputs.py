from __future__ import annotations

import numpy as np
import torch

from lgl_bench.backbones.layers.inputs import inputs_of
from tests.support.graphs import graph, random_graph


def test_arc_weights_of_a_gcn_are_normalised_by_their_own_sums():
    g = graph([(0, 1)], np.eye(2, dtype=np.float32))
    inputs = inputs_of(g)
    u, v = (ends.tolist() for ends in inputs.looped.edges())
    given = {(0, 1): 2.0, (1, 0): 1.0, (0, 0): 1.0, (1, 1): 3.0}
    moved = inputs.moved(inputs.features, torch.tensor([given[arc] for arc in zip(u, v, strict=True)]))
    out, into = {0: 3.0, 1: 4.0}, {0: 2.0, 1: 5.0}
    expected = [given[a, b] / (out[a] * into[b]) ** 0.5 for a, b in zip(u, v, strict=True)]
    assert torch.allclose(moved.symmetric_norm(), torch.tensor(expected))


def test_the_inputs_of_a_graph_are_made_once():
    g = random_graph()
    assert inputs_of(g) is inputs_of(g)
