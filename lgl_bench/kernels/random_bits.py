"""Random bits that depend on a seed and a place alone, so that every kernel draws the same dropout."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

LEVELS = 65_536
"""Shares are drawn from 16 bits."""
_WORD = 0xFFFFFFFF


def draw_seed() -> int:
    """A seed from torch's generator."""
    return int(torch.randint(2**31, ()))


def random_bits(seed: int, count: int, device: torch.device | str = "cpu") -> torch.Tensor:
    """16 random bits at each of the places 0 to count - 1: a finaliser of 32 bits, as `loops` has it."""
    x = ((torch.arange(count, device=device) ^ seed) & _WORD) * 0x9E3779B1 & _WORD
    x = (x ^ (x >> 16)) * 0x7FEB352D & _WORD
    x = (x ^ (x >> 15)) * 0x846CA68B & _WORD
    return (x ^ (x >> 16)) & 0xFFFF


def kept_shares(drop: tuple[int, int], shape: Sequence[int], device: torch.device | str) -> torch.Tensor:
    """What dropout multiplies each unit with; `drop` is (seed, number of 65,536 dropped)."""
    seed, dropped = drop
    if dropped == 0:
        return torch.ones((), device=device)
    kept = random_bits(seed, math.prod(shape), device).view(*shape) >= dropped
    return kept * (LEVELS / (LEVELS - dropped))
