from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
import torch

from lgl_bench.backbones import Shape
from lgl_bench.backbones.graphsage import GraphSAGE
from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.walks.sampled import NeighbourSampler, sampled_batches
from lgl_bench.training.trainer import seeded
from tests.support.graphs import graph, random_graph
from tests.support.walks import data_on


def star(leaves):
    """Vertex 0 linked to all others."""
    return graph([(0, v) for v in range(1, leaves + 1)], np.eye(leaves + 1, dtype=np.float32))


def neighbours(g):
    return [set(g.edges[0][g.edges[1] == v].tolist()) for v in range(g.num_vertices)]


def drawn(sampler, seeds, seed=0):
    """Vertices read, and for one layer the sampled neighbours of each target as vertex numbers."""
    with seeded(seed, "sampling"):
        read, (block,) = sampler.sample(np.asarray(seeds))
    arcs = zip(block.starts[:-1], block.starts[1:], strict=True)
    return read, [read[block.sources[start:end].numpy()].tolist() for start, end in arcs]


def test_a_vertex_keeps_at_most_its_fanout_and_all_neighbours_where_there_are_fewer():
    g = random_graph(n=30, edges=120)
    real = neighbours(g)
    seeds = np.arange(30)
    for fanout in (1, 3, 5):
        _, found = drawn(NeighbourSampler(inputs_of(g).arcs, [fanout]), seeds)
        assert any(len(r) > fanout for r in real)
        for mine, all_of_them in zip(found, real, strict=True):
            assert len(mine) == min(fanout, len(all_of_them))
            if len(all_of_them) <= fanout:
                assert set(mine) == all_of_them


def test_neighbours_are_real_and_drawn_without_replacement():
    g = random_graph(n=30, edges=120)
    real = neighbours(g)
    seeds = np.random.default_rng(0).permutation(30)[:20]
    for seed in range(10):
        _, found = drawn(NeighbourSampler(inputs_of(g).arcs, [3]), seeds, seed)
        for v, mine in zip(seeds, found, strict=True):
            assert set(mine) <= real[v] and len(set(mine)) == len(mine)


def test_every_neighbour_is_drawn_equally_often():
    sampler = NeighbourSampler(inputs_of(star(12)).arcs, [4])
    with seeded(0, "uniform"):
        counts = np.zeros(13)
        for _ in range(1500):
            read, _ = sampler.sample(np.array([0]))
            counts[read[1:]] += 1
    assert counts.sum() == 1500 * 4
    # A vertex is drawn with p = 1/3, so a count varies by n p (1 - p): scaled, the sum is chi-square with 11 degrees.
    statistic = ((counts[1:] - 500) ** 2 / 500).sum() / (1 - 4 / 12)
    assert scipy.stats.chi2.sf(statistic * 11 / 12, 11) > 0.001


def test_every_pair_of_neighbours_is_drawn_equally_often():
    sampler = NeighbourSampler(inputs_of(star(4)).arcs, [2])
    with seeded(0, "pairs"):
        counts = {}
        for _ in range(1200):
            read, _ = sampler.sample(np.array([0]))
            pair = tuple(sorted(read[1:].tolist()))
            counts[pair] = counts.get(pair, 0) + 1
    assert len(counts) == 6
    assert scipy.stats.chisquare(list(counts.values())).pvalue > 0.001


def test_targets_come_first_in_every_layer():
    g = random_graph(n=30, edges=120)
    seeds = np.array([7, 3, 21])
    with seeded(0, "first"):
        read, blocks = NeighbourSampler(inputs_of(g).arcs, [4, 2]).sample(seeds)
    assert read[:3].tolist() == [7, 3, 21]
    assert blocks[-1].num_targets == 3
    assert blocks[0].num_targets == blocks[1].num_sources
    assert blocks[0].num_sources == len(read) == len(set(read.tolist()))


def test_the_first_fanout_belongs_to_the_first_layer():
    g = star(30)
    with seeded(0, "order"):
        _, blocks = NeighbourSampler(inputs_of(g).arcs, [9, 2]).sample(np.array([0]))
    assert blocks[1].counts.tolist() == [2]
    assert blocks[0].counts[0] == 9


def test_an_isolated_vertex_and_a_graph_without_edges_have_empty_neighbourhoods():
    g = random_graph()
    read, found = drawn(NeighbourSampler(inputs_of(g).arcs, [3]), [11])
    assert read.tolist() == [11] and found == [[]]
    empty = graph([], np.eye(3, dtype=np.float32))
    assert drawn(NeighbourSampler(inputs_of(empty).arcs, [3]), [2, 0])[1] == [[], []]


def test_a_sample_depends_on_the_seed_and_not_on_the_number_of_threads():
    sampler = NeighbourSampler(inputs_of(random_graph(n=40, edges=300)).arcs, [3])
    seeds = np.arange(40)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = drawn(sampler, seeds)[1]
        torch.set_num_threads(3)
        three = drawn(sampler, seeds)[1]
    finally:
        torch.set_num_threads(threads)
    assert one == three
    assert one != drawn(sampler, seeds, seed=1)[1]


@pytest.mark.parametrize("sparse", [False, True])
def test_a_forward_pass_with_a_huge_fanout_equals_the_one_on_the_whole_graph(sparse):
    g = random_graph(n=25, columns=30, edges=80, sparse=sparse)
    model = GraphSAGE(Shape(30, 3), hidden=5, layers=3).eval()
    seeds = np.array([4, 24, 0, 9])
    read, blocks = NeighbourSampler(inputs_of(g).arcs, [1000, 1000, 1000]).sample(seeds)
    inputs = inputs_of(g)
    sampled = data_on(g, [0]).rows(torch.from_numpy(read), blocks)
    for whole, part in zip(model(inputs), model(sampled), strict=True):
        assert torch.allclose(whole[torch.from_numpy(seeds)], part[: len(seeds)], atol=1e-5)


def test_an_epoch_walks_over_every_training_vertex_once_in_another_order_each_time(monkeypatch):
    batches = []
    sample = NeighbourSampler.sample
    monkeypatch.setattr(
        NeighbourSampler, "sample", lambda self, seeds: (batches.append(seeds.copy()), sample(self, seeds))[1]
    )
    fit = list(range(0, 40, 2))
    model = GraphSAGE(Shape(6, 3), hidden=5, batch=7, fanout=(3, 2))
    epoch = sampled_batches(model, data_on(random_graph(n=40, edges=90), fit), 7, [3, 2])
    with seeded(0, "walk"):
        assert [len(list(epoch())) for _ in range(2)] == [3, 3]
    orders = [np.concatenate(batches[:3]), np.concatenate(batches[3:])]
    assert all(np.array_equal(np.sort(order), fit) for order in orders)
    assert not np.array_equal(*orders)


@pytest.mark.parametrize("count", [15, 60, 61, 64])
def test_a_batch_below_one_is_a_share_of_the_training_vertices_and_leaves_no_odd_one_over(count):
    data = data_on(random_graph(n=80, edges=90), list(range(count)))
    model = GraphSAGE(Shape(6, 3), hidden=5, batch=0.2, fanout=(3, 2))
    assert len(list(model.batches(data)())) == 5
