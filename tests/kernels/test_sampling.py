from __future__ import annotations

import numpy as np
import scipy.stats
import torch

from lgl_bench.kernels import Arcs, sample_arcs, set_thread_count


def star(leaves: int) -> Arcs:
    """Vertex 0 reads all others, and each of them reads it."""
    ends = np.arange(1, leaves + 1)
    return Arcs.of_edges(np.stack([np.append(ends, 0 * ends), np.append(0 * ends, ends)]), leaves + 1)


def random_arcs(n: int = 40, count: int = 600) -> Arcs:
    """Every arc once, no self-loops, none into the last vertex."""
    pairs = {(int(u), int(v)) for u, v in np.random.default_rng(0).integers(0, n, (count, 2)) if u != v and v < n - 1}
    return Arcs.of_edges(np.array(sorted(pairs)).T, n)


def drawn(arcs: Arcs, vertices: list[int], fanout: int, seed: int = 0) -> tuple[list[int], list[list[int]]]:
    """The vertices read, and those drawn for each target."""
    torch.manual_seed(seed)
    place = np.full(arcs.num_sources, -1, dtype=np.int64)
    block, read = sample_arcs(arcs, np.array(vertices, dtype=np.int64), fanout, place)
    assert (place == -1).all()
    assert block.num_sources == len(read) and block.num_targets == len(vertices) and block.sampled
    bounds = zip(block.starts[:-1].tolist(), block.starts[1:].tolist(), strict=True)
    return read.tolist(), [read[block.sources[a:b].numpy()].tolist() for a, b in bounds]


def test_a_vertex_has_at_most_its_fanout_of_real_neighbours_none_twice_and_all_if_these_are_fewer():
    arcs = random_arcs()
    real = [set(arcs.sources[a:b].tolist()) for a, b in zip(arcs.starts[:-1], arcs.starts[1:], strict=True)]
    assert not real[-1]
    for fanout in (1, 3, 12, 1000):
        for seed in range(5):
            _, found = drawn(arcs, list(range(40)), fanout, seed)
            for mine, all_of_them in zip(found, real, strict=True):
                assert len(set(mine)) == len(mine) == min(fanout, len(all_of_them))
                assert set(mine) <= all_of_them


def test_targets_are_read_first_in_their_order_and_nobody_twice():
    vertices = [7, 39, 3, 21]
    read, found = drawn(random_arcs(), vertices, 4)
    assert read[:4] == vertices and len(set(read)) == len(read)
    assert set(read[4:]) == {u for mine in found for u in mine} - set(vertices)


def test_nobody_and_vertices_without_neighbours_read_nobody_else():
    assert drawn(random_arcs(), [], 3) == ([], [])
    assert drawn(random_arcs(), [39], 3) == ([39], [[]])
    nothing = Arcs.of_edges(np.empty((2, 0), dtype=np.int64), 3)
    assert drawn(nothing, [2, 0], 3) == ([2, 0], [[], []])


def test_every_neighbour_is_drawn_equally_often_by_every_target_of_a_batch():
    # The same twelve neighbours for each of 50 targets, whose draws are counted apart from their places.
    leaves, targets, times, fanout = 12, 50, 60, 4
    edges = np.stack([np.tile(np.arange(leaves), targets), np.repeat(np.arange(targets) + leaves, leaves)])
    arcs = Arcs.of_edges(edges, leaves + targets)
    counts = np.zeros((targets, leaves))
    for seed in range(times):
        _, found = drawn(arcs, list(range(leaves, leaves + targets)), fanout, seed)
        for target, mine in enumerate(found):
            counts[target, mine] += 1
    # Counts of a draw without repetition vary less than those of independent draws, by (k - f) / (k - 1).
    less = (leaves - fanout) / (leaves - 1)
    for seen, draws in ((counts.sum(axis=0), targets * times), *((row, times) for row in counts[[0, 17, 49]])):
        expected = draws * fanout / leaves
        statistic = ((seen - expected) ** 2 / expected).sum() / less
        assert 0.001 < scipy.stats.chi2.sf(statistic, leaves - 1) < 0.999


def test_every_pair_of_neighbours_is_drawn_equally_often():
    counts: dict[tuple[int, ...], int] = {}
    for seed in range(1200):
        _, (mine,) = drawn(star(4), [0], 2, seed)
        counts[tuple(sorted(mine))] = counts.get(tuple(sorted(mine)), 0) + 1
    assert len(counts) == 6
    assert scipy.stats.chisquare(list(counts.values())).pvalue > 0.001


def test_a_draw_depends_on_the_seed_of_torch_alone():
    arcs, vertices = random_arcs(), list(range(40))
    one = drawn(arcs, vertices, 3)
    assert drawn(arcs, vertices, 3) == one != drawn(arcs, vertices, 3, seed=1)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        set_thread_count(3)
        assert drawn(arcs, vertices, 3) == one
    finally:
        torch.set_num_threads(before)
        set_thread_count(1)


def test_two_draws_after_each_other_differ():
    torch.manual_seed(0)
    arcs, place = random_arcs(), np.full(40, -1, dtype=np.int64)
    one, other = (sample_arcs(arcs, np.arange(40), 3, place)[0].sources.tolist() for _ in range(2))
    assert one != other
