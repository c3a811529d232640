"""Threads go to native kernels alone: sums of everything else change with them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from threadpoolctl import threadpool_info

from lgl_bench.kernels import kernel_name, set_thread_count, thread_count
from lgl_bench.kernels.choice import VARIABLE, use_kernels
from lgl_bench.runs.isolation.requests import threads_in_use, use_threads


@pytest.fixture(autouse=True)
def put_back() -> Iterator[None]:
    kernels, others = thread_count(), torch.get_num_threads()
    yield
    with use_kernels("torch"):
        use_threads(others)
    set_thread_count(kernels)


@pytest.mark.parametrize(
    ("kernels", "device", "others"), [("native", "cpu", 1), ("torch", "cpu", 2), ("native", "cuda", 2)]
)
def test_only_native_kernels_leave_the_others_at_one_thread(kernels: str, device: str, others: int) -> None:
    with use_kernels(kernels):
        use_threads(2, device)
        assert (thread_count(), torch.get_num_threads(), threads_in_use()) == (2, others, 2)
        assert all(pool["num_threads"] <= others for pool in threadpool_info())


def test_the_variable_chooses_unless_a_plan_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "torch")
    use_threads(2)
    assert torch.get_num_threads() == 2
    with use_kernels("native"):
        assert kernel_name() == "native"
        use_threads(2)
        assert torch.get_num_threads() == 1
