"""Arrays as torch wants them, sharing memory with the stream's arrays."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

if TYPE_CHECKING:
    import torch


def shared_tensor(array: npt.NDArray[Any]) -> torch.Tensor:
    """A tensor in the memory of an array. Torch knows no read-only tensors: nothing of lgl-bench writes into it."""
    import torch

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)
