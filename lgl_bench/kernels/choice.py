"""Which kernels compute: LGL_BENCH_KERNELS says auto, native, torch or dgl."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
from collections.abc import Iterator
from contextvars import ContextVar
from types import ModuleType
from typing import Final, Literal, TypeAlias, get_args

from lgl_bench.core.errors import UsageError

Name: TypeAlias = Literal["native", "torch", "dgl"]
VARIABLE: Final = "LGL_BENCH_KERNELS"
_MODULES: Final[dict[Name, str]] = {"native": "native", "torch": "plain", "dgl": "with_dgl"}
_VERSIONS: Final[dict[Name, tuple[str, ...]]] = {"native": ("numba",), "torch": (), "dgl": ("dgl",)}
_planned: ContextVar[str] = ContextVar("_planned", default="")


@contextlib.contextmanager
def use_kernels(name: str) -> Iterator[None]:
    """Has others compute inside than the variable says: those of a plan, which another machine may have made.

    Args:
        name: As the variable has it; "" leaves things as they are.
    """
    before = _planned.set(name or _planned.get())
    try:
        yield
    finally:
        _planned.reset(before)


def kernel_name(device: str = "cpu") -> Name:
    """The kernels that compute on a device.

    `auto` takes what was measured to be the fastest (docs/speed.md): our own, and torch's operations on a GPU, which
    the compiled loops do not reach.

    Raises:
        UsageError: The variable says something else, or asks for DGL where it is not installed.
    """
    asked = _planned.get() or os.environ.get(VARIABLE) or "auto"
    if asked not in ("auto", *get_args(Name)):
        raise UsageError(f"{VARIABLE}={asked}: it must be auto, {', '.join(get_args(Name))}")
    if asked == "dgl":
        if importlib.util.find_spec("dgl") is None:
            raise UsageError(f"{VARIABLE}=dgl, and DGL is not installed; without the variable our own kernels compute")
        return "dgl"
    return "native" if device == "cpu" and asked != "torch" else "torch"


def kernel_packages(name: Name | None = None) -> tuple[str, ...]:
    """Packages whose versions results depend on, torch apart; none named are those that compute on the CPU."""
    return _VERSIONS[name or kernel_name()]


def thread_free(device: str = "cpu", name: str = "") -> bool:
    """Whether results do not depend on the number of threads.

    Args:
        device: That is computed on.
        name: The kernels of the CPU; "" for those that compute now.
    """
    return device == "cpu" and (name or kernel_name()) == "native"


def kernels_on(device: str) -> ModuleType:
    """The module of the kernels that compute on a device."""
    return importlib.import_module(f"lgl_bench.kernels.{_MODULES[kernel_name(device)]}")
