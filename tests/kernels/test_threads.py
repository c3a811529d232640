from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
import torch

from lgl_bench.kernels import Arcs, native, set_thread_count, thread_count
from lgl_bench.kernels.threads import in_ranges, in_threads


@pytest.fixture(autouse=True)
def one_thread_after():
    yield
    set_thread_count(1)


def called(starts) -> tuple[list[tuple[int, int]], set[str]]:
    """The ranges a loop is called with, and the threads that call it."""
    ranges, names = [], set()

    def loop(given, first, last):
        assert given == "given"
        ranges.append((first, last))
        names.add(threading.current_thread().name)

    in_threads(loop, ("given",), starts)
    return sorted(ranges), names


def test_one_thread_computes_unless_told_otherwise():
    assert thread_count() == 1
    here = threading.current_thread().name
    assert called(np.arange(0, 100_001, 1000)) == ([(0, 100)], {here})
    set_thread_count(2)
    assert thread_count() == 2


@pytest.mark.parametrize("count", [2, 3, 7])
def test_threads_share_all_rows_each_with_about_as_many_arcs(count):
    set_thread_count(count)
    arcs = np.random.default_rng(0).integers(0, 90, 3000)
    starts = np.concatenate([[0], np.cumsum(arcs)])
    ranges, names = called(starts)
    assert len(ranges) == count and all(name.startswith("kernel") for name in names)
    assert np.concatenate([np.arange(*part) for part in ranges]).tolist() == list(range(3000))
    shares = [starts[last] - starts[first] for first, last in ranges]
    assert max(shares) - min(shares) < 200


def test_a_vertex_with_most_of_the_arcs_is_in_one_range_alone():
    set_thread_count(3)
    ranges, _ = called(np.array([0, 10, 50_000, 50_010, 50_020]))
    assert np.concatenate([np.arange(*part) for part in ranges]).tolist() == [0, 1, 2, 3]
    assert sum(first <= 1 < last for first, last in ranges) == 1


def test_little_work_is_done_where_it_is_asked_for():
    set_thread_count(3)
    here = threading.current_thread().name
    assert called(np.array([0, 5, 19_999])) == ([(0, 2)], {here})
    assert called(range(0, 19_999)) == ([(0, 19_998)], {here})
    assert called(np.array([0])) == ([(0, 0)], {here})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_child_of_a_process_that_shared_work_has_threads_of_its_own():
    set_thread_count(2)
    starts = np.array([0, 30_000, 60_000])
    called(starts)
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os._exit(0 if len(called(starts)[0]) == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_what_goes_wrong_in_a_thread_is_raised_where_it_is_asked_for():
    set_thread_count(2)

    def loop(first, last):
        raise ValueError("wrong row")

    with pytest.raises(ValueError, match="wrong row"):
        in_threads(loop, (), np.array([0, 30_000, 60_000]))
    assert len(called(np.array([0, 30_000, 60_000]))[0]) == 2


@pytest.mark.parametrize("count", [1, 3])
def test_the_number_of_ranges_is_the_one_asked_for_and_results_come_in_their_order(count):
    set_thread_count(count)
    found = list(in_ranges(lambda first, last: (first, last), np.arange(0, 100_001, 1000), 4))
    assert found == [(0, 25), (25, 50), (50, 75), (75, 100)]


def test_attention_of_several_ranges_is_the_same_bit_by_bit_and_that_of_one_range(monkeypatch):
    rng = np.random.default_rng(0)
    arcs = Arcs.of_edges(rng.integers(0, 300, (2, 30_000)), 300).with_loops()
    product = torch.from_numpy(rng.standard_normal((300, 3 * 5 + 6)).astype(np.float32)).requires_grad_()
    outer = torch.from_numpy(rng.standard_normal((300, 15)).astype(np.float32))

    def gradient() -> torch.Tensor:
        return torch.autograd.grad((native.attention(arcs, product, 3, 0.2, (7, 20_000)) * outer).sum(), product)[0]

    whole = gradient()
    monkeypatch.setattr(native, "_RANGE", 5000)
    parts = gradient()
    assert torch.allclose(whole, parts, atol=1e-5)
    set_thread_count(3)
    assert torch.equal(parts, gradient())
