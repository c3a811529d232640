from __future__ import annotations

import importlib.util

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.kernels import kernel_name
from lgl_bench.kernels.choice import VARIABLE, kernel_packages, kernels_on, thread_free, use_kernels


@pytest.fixture
def asks(monkeypatch):
    """Sets the variable, or takes it away."""

    def ask(value: str | None) -> None:
        monkeypatch.setenv(VARIABLE, value) if value is not None else monkeypatch.delenv(VARIABLE, raising=False)

    return ask


@pytest.fixture
def installed(monkeypatch):
    """Says whether DGL is installed."""
    find = importlib.util.find_spec

    def say(is_there: bool) -> None:
        spec = importlib.util.spec_from_loader("dgl", None)
        given = {"dgl": spec if is_there else None}
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, *rest: given[name] if name in given else find(name, *rest)
        )

    return say


@pytest.mark.parametrize("dgl", [True, False])
@pytest.mark.parametrize("asked", [None, "", "auto", "native"])
def test_our_own_kernels_compute_on_the_cpu_and_those_of_torch_elsewhere(asks, installed, asked, dgl):
    asks(asked)
    installed(dgl)
    assert kernel_name() == kernel_name("cpu") == "native"
    assert kernel_name("cuda") == kernel_name("meta") == "torch"


def test_those_of_torch_compute_everywhere_if_asked_for(asks):
    asks("torch")
    assert kernel_name() == kernel_name("cuda") == "torch"


def test_dgl_computes_where_it_is_asked_for_and_installed(asks, installed):
    asks("dgl")
    installed(True)
    assert kernel_name() == "dgl"
    installed(False)
    with pytest.raises(UsageError, match="LGL_BENCH_KERNELS=dgl, and DGL is not installed"):
        kernel_name()


@pytest.mark.parametrize("wrong", ["cuda", "Native", " torch", "numba"])
def test_another_value_is_refused_with_those_there_are(asks, wrong):
    asks(wrong)
    with pytest.raises(UsageError, match=f"LGL_BENCH_KERNELS={wrong}: it must be auto, native, torch, dgl"):
        kernel_name()


def test_what_results_depend_on_is_told_for_every_choice(asks, installed):
    installed(True)
    told = {}
    for name in ("native", "torch", "dgl"):
        asks(name)
        told[name] = kernel_packages(), thread_free()
    assert told == {"native": (("numba",), True), "torch": ((), False), "dgl": (("dgl",), False)}


def test_the_kernels_of_a_plan_compute_inside_whatever_the_variable_says(asks, installed):
    asks("torch")
    installed(False)
    with use_kernels("native"):
        assert kernel_name() == "native" and kernels_on("cpu").__name__ == "lgl_bench.kernels.native"
        with use_kernels(""):
            assert kernel_name() == "native"
        with pytest.raises(UsageError, match="DGL is not installed"), use_kernels("dgl"):
            kernel_name()
        assert kernel_name() == "native"
    with use_kernels(""):
        assert kernel_name() == "torch"
    assert kernel_name() == "torch"


def test_the_packages_of_named_kernels_do_not_depend_on_the_variable(asks):
    asks("torch")
    assert [kernel_packages(name) for name in ("native", "torch", "dgl")] == [("numba",), (), ("dgl",)]


def test_the_module_of_the_choice_is_the_one_that_computes(asks):
    asks("auto")
    assert kernels_on("cpu").__name__ == "lgl_bench.kernels.native"
    assert kernels_on("meta").__name__ == "lgl_bench.kernels.plain"
