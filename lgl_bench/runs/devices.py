"""Where fits are computed: how many cores there are, how much memory, and whether there is a GPU."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import psutil

from lgl_bench.core.errors import UsageError
from lgl_bench.kernels.choice import kernel_name


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory() -> float:
    """MiB of memory that this process may use: the machine's, or its container's if that is less."""
    total = float(psutil.virtual_memory().total)
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit
        total = min(total, float(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return total / 2**20


def held_memory(pid: int | None = None) -> float:
    """MiB that a process holds, this one unless another is named; 0 if it has ended."""
    try:
        return float(psutil.Process(pid).memory_info().rss) / 2**20
    except psutil.Error:
        return 0.0


def device_named(name: str) -> str:
    """The device to compute on, "cpu" or "cuda"; "auto" takes the GPU if torch, and DGL if it computes, can use one."""
    if name not in ("auto", "cpu", "cuda"):
        raise UsageError(f"--device {name}: it is auto, cpu or cuda")
    if name == "cpu":
        return name
    reason = _no_cuda()
    if reason and name == "cuda":
        raise UsageError(f"--device cuda: {reason}")
    return "cpu" if reason else "cuda"


def _no_cuda() -> str:
    """Why there is no GPU to be used; empty if there is one."""
    import torch

    if not torch.cuda.is_available():
        return "torch sees no GPU; install a CUDA build of torch, or leave --device out"
    if kernel_name("cuda") != "dgl":
        return ""
    import dgl

    try:
        dgl.graph(([0], [1])).to("cuda")
    except Exception as error:  # DGL's CPU build raises its own kind
        return f"this build of DGL cannot use the GPU ({error}); install a CUDA build of DGL"
    return ""
