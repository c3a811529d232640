from __future__ import annotations

import numba
import numpy as np
import pytest
import torch

from lgl_bench.kernels import loops
from lgl_bench.kernels.random_bits import LEVELS, draw_seed, kept_shares, random_bits

SEEDS = [0, 1, 12_345, 2**31 - 1]


def by_hand(seed: int, at: int) -> int:
    """The same bits with Python's integers."""
    word = 0xFFFFFFFF
    x = ((at ^ seed) & word) * 0x9E3779B1 & word
    x = (x ^ x >> 16) * 0x7FEB352D & word
    x = (x ^ x >> 15) * 0x846CA68B & word
    return (x ^ x >> 16) & 0xFFFF


@numba.njit
def in_a_loop(seed, count):
    found = np.empty(count, np.int64)
    for at in range(count):
        found[at] = loops._bits(seed, at)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_compiled_loops_and_torch_draw_the_same_bits(seed):
    found = random_bits(seed, 5000)
    assert found.tolist() == [by_hand(seed, at) for at in range(5000)]
    assert np.array_equal(found.numpy(), in_a_loop(np.int64(seed), 5000))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dropped", [100, 13_107, 32_768, 60_000])
def test_the_share_that_is_dropped_is_the_one_asked_for(seed, dropped):
    n, share = 200_000, dropped / LEVELS
    found = (random_bits(seed, n) < dropped).double().mean()
    assert abs(found - share) < 4 * (share * (1 - share) / n) ** 0.5


def test_seeds_draw_independently_of_each_other():
    one, other = ((random_bits(seed, 100_000) < LEVELS // 2).double() - 0.5 for seed in (3, 4))
    assert abs((one * other).mean() / 0.25) < 0.015


def test_what_is_kept_is_scaled_to_keep_the_mean_and_a_share_of_zero_keeps_everything():
    shares = kept_shares((5, LEVELS // 4), (30, 40), "cpu")
    assert shares.shape == (30, 40) and set(shares.flatten().tolist()) == {0.0, torch.tensor(4 / 3).item()}
    assert torch.equal(shares.flatten() > 0, random_bits(5, 1200) >= LEVELS // 4)
    assert torch.equal(torch.ones(3, 4) * kept_shares((5, 0), (3, 4), "cpu"), torch.ones(3, 4))


def test_a_seed_is_drawn_from_torchs_generator():
    torch.manual_seed(0)
    one, two = draw_seed(), draw_seed()
    torch.manual_seed(0)
    assert draw_seed() == one != two and 0 <= one < 2**31
