from __future__ import annotations

import dgl
import dgl.ops
import pytest
import torch

from lgl_bench.backbones.layers.attention import weighted_sums
from lgl_bench.backbones.layers.inputs import inputs_of
from tests.support.graphs import random_graph


@pytest.fixture(params=[1, 2])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.parametrize("heads", [1, 3])
def test_sums_and_their_gradients_equal_a_loop_over_the_arcs(threads, heads):
    graph = inputs_of(random_graph(n=20, edges=50)).graph  # has isolated vertices
    source, target = graph.edges()
    torch.manual_seed(0)
    sent = torch.randn(20, heads, 4, requires_grad=True)
    weights = torch.randn(len(source), heads, 1, requires_grad=True)
    outer = torch.randn(20, heads, 4)
    found = []
    for sums in (weighted_sums, lambda _, s, w: torch.zeros(20, heads, 4).index_add(0, target, s[source] * w)):
        result = sums(graph, sent, weights)
        found.append((result.detach(), *torch.autograd.grad((result * outer).sum(), (sent, weights))))
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_a_graph_without_arcs_sums_to_zero(threads):
    graph = dgl.graph(([], []), num_nodes=3)
    assert weighted_sums(graph, torch.ones(3, 2, 4), torch.ones(0, 2, 1)).abs().sum() == 0


def test_graphs_of_other_sizes_do_not_share_what_is_remembered():
    torch.manual_seed(0)
    for n in (10, 12):
        graph = inputs_of(random_graph(n=n, edges=30)).looped
        sent = torch.randn(n, 2, 3)
        weights = torch.rand(graph.num_edges(), 2, 1)
        assert torch.allclose(weighted_sums(graph, sent, weights), dgl.ops.u_mul_e_sum(graph, sent, weights), atol=1e-5)
