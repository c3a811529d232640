"""The key of a fit covers what computed it, and threads only where they change sums."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lgl_bench.kernels.choice import VARIABLE
from lgl_bench.plans import fits
from lgl_bench.plans.fits import ChainSpec, ProtocolSetting, unit_key

CHAIN = ChainSpec("s", None, ProtocolSetting("temporal"), "gcn", "softmax", (), 1, 0.1, 0, kernels="native")


def key(**changes: Any) -> str:
    return unit_key(replace(CHAIN, **changes), "prefix", 2000, "", "")


def test_threads_are_part_of_a_key_unless_kernels_are_native() -> None:
    assert key(threads=2) == key()
    for other in ({"kernels": "torch"}, {"kernels": "dgl"}, {"device": "cuda"}):
        assert key(threads=2, **other) != key(**other)


def test_other_kernels_have_another_key() -> None:
    assert len({key(kernels=name) for name in ("native", "torch", "dgl")}) == 3


def test_the_versions_of_a_key_are_those_that_its_kernels_are_made_with(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(fits, "versions", lambda *names: asked.append(names) or {})
    for name in ("native", "torch", "dgl"):
        key(kernels=name)
    assert asked == [("torch", "numba"), ("torch",), ("torch", "dgl")]


def test_a_chain_that_does_not_say_takes_those_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "torch")
    assert key(kernels="") == key(kernels="torch") != key()


def test_a_gpu_does_not_run_native_loops() -> None:
    assert [replace(CHAIN, device=one).fit_kernels for one in ("cpu", "cuda")] == ["native", "torch"]
