from __future__ import annotations

import pytest
import torch

from lgl_bench.backbones.walks.drawn import draw_vertices
from tests.support.graphs import random_graph
from tests.support.walks import data_on

TEN = 10


def drawn(fit, size, times=4000):
    """How often each of ten vertices is in a batch; every batch is checked to hold different ones."""
    torch.manual_seed(0)
    counts = torch.zeros(TEN)
    data = data_on(random_graph(n=TEN), fit)
    for _ in range(times):
        batch = draw_vertices(data, size)
        assert len(set(batch.tolist())) == len(batch) == min(size, TEN)
        counts[batch] += 1
    return (counts / times).tolist()


def test_training_vertices_that_are_at_most_half_of_a_batch_are_all_in_it_and_the_rest_is_uniform():
    # Three of six places are taken, and the seven others share the three that are left.
    assert drawn([1, 4, 7], 6) == pytest.approx([3 / 7, 1, 3 / 7, 3 / 7, 1, 3 / 7, 3 / 7, 1, 3 / 7, 3 / 7], abs=0.04)


def test_above_half_of_a_batch_they_are_drawn_as_all_vertices_are():
    assert drawn([1, 4, 7, 8], 6) == pytest.approx([0.6] * TEN, abs=0.04)
    assert drawn([1, 4, 7], 5) == pytest.approx([0.5] * TEN, abs=0.04)


@pytest.mark.parametrize("fit", [[2], [0, 1, 2, 3, 4, 5, 6]])
def test_a_graph_smaller_than_a_batch_is_in_it_whole(fit):
    assert drawn(fit, 2000, times=3) == [1.0] * TEN
