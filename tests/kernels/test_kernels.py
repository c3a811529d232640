"""Every implementation of every kernel against dense matrices, in value and in gradient."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from lgl_bench import kernels
from lgl_bench.kernels import Arcs, native, plain
from lgl_bench.kernels.choice import VARIABLE
from lgl_bench.kernels.random_bits import LEVELS, random_bits

HAS_DGL = importlib.util.find_spec("dgl") is not None


@contextlib.contextmanager
def computing(name: str) -> Iterator[ModuleType]:
    """The module of an implementation; the native one goes back arc by arc, or source by source."""
    if name == "dgl":
        from lgl_bench.kernels import with_dgl

        yield with_dgl
    elif name == "torch":
        yield plain
    else:
        with mock.patch.object(native, "_MAX_SCATTERED", 1 << 60 if name == "native" else -1):
            yield native


IMPLEMENTATIONS = ["native", "native, source by source", "torch", *(["dgl"] if HAS_DGL else [])]


@dataclass(frozen=True)
class Sketch:
    """Arcs as pairs, and a seed for the numbers that go along them."""

    sources: int
    targets: int
    pairs: tuple[tuple[int, int], ...]
    seed: int = 0
    sampled: bool = False

    def arcs(self) -> Arcs:
        """The arcs, sorted by target without the help of the package."""
        ordered = sorted(self.pairs, key=lambda pair: pair[1])
        counts = np.bincount([v for _, v in ordered], minlength=self.targets).astype(np.int64)
        starts = torch.from_numpy(np.concatenate([[0], np.cumsum(counts)]))
        return Arcs(starts, torch.tensor([u for u, _ in ordered], dtype=torch.int32), self.sources, self.sampled)

    def incidence(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Matrices (arcs, sources) and (arcs, targets) with a one at the ends of every arc."""
        out_of = torch.zeros(len(self.pairs), self.sources, dtype=torch.float64)
        into = torch.zeros(len(self.pairs), self.targets, dtype=torch.float64)
        for arc, (u, v) in enumerate(sorted(self.pairs, key=lambda pair: pair[1])):
            out_of[arc, u] = into[arc, v] = 1.0
        return out_of, into

    def numbers(self, *shape: int, salt: int = 0) -> torch.Tensor:
        """Normal numbers of a shape."""
        return torch.randn(*shape, generator=torch.Generator().manual_seed(self.seed * 10 + salt))


@st.composite
def sketches(draw: st.DrawFn, block: bool = False) -> Sketch:
    """Any arcs: none, repeated ones, self-loops, isolated ends; in a block the targets are the first of the sources."""
    sources = draw(st.integers(1, 12))
    targets = draw(st.integers(1, sources if block else 12))
    pair = st.tuples(st.integers(0, sources - 1), st.integers(0, targets - 1))
    pairs = draw(st.lists(pair, max_size=40))
    pairs += draw(st.lists(st.sampled_from(pairs), max_size=4)) if pairs else []
    return Sketch(sources, targets, tuple(pairs), draw(st.integers(0, 10**6)), draw(st.booleans()))


WIDTHS = st.integers(1, 70)
DROPPED = st.sampled_from([0, 0, 1, 13_107, 32_768, 60_000])
LONELY = Sketch(1, 1, ())
LOOP = Sketch(1, 1, ((0, 0),))
HUB = Sketch(9, 2, tuple((u, 1) for u in range(9)) * 2 + ((8, 0),))


def held_to(reference: torch.Tensor, given: list[torch.Tensor], compute: Callable[[ModuleType], torch.Tensor]) -> None:
    """Every implementation has the values of the reference, and its gradients for what it was given.

    Args:
        reference: What is right, made from the tensors given.
        given: What gradients flow into.
        compute: The same from a module of kernels.
    """
    outer = torch.randn(reference.shape, generator=torch.Generator().manual_seed(1))
    expected = [reference.detach(), *torch.autograd.grad((reference * outer).sum(), given)]
    for name in IMPLEMENTATIONS:
        with computing(name) as module:
            result = compute(module)
            assert result.dtype == torch.float32 and result.shape == reference.shape, name
            found = [result.detach(), *torch.autograd.grad((result * outer).sum(), given)]
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one.double(), other.double(), rtol=2e-4, atol=2e-5, msg=lambda m, n=name: n + m)


@given(sketches(), WIDTHS)
@example(LONELY, 3)
@example(LOOP, 1)
@example(HUB, 70)
def test_a_sum_over_neighbours_equals_the_product_with_the_dense_matrix(sketch, width):
    arcs, (out_of, into) = sketch.arcs(), sketch.incidence()
    h = sketch.numbers(sketch.sources, width).requires_grad_()
    held_to(into.T @ out_of @ h.double(), [h], lambda module: module.neighbour_sum(arcs, h))


@pytest.mark.parametrize("name", ["native", "torch", *(["dgl"] if HAS_DGL else [])])
def test_a_mean_over_neighbours_is_their_sum_by_their_number_and_zero_without_any(name, monkeypatch):
    monkeypatch.setenv(VARIABLE, name)
    arcs = Sketch(4, 3, ((1, 0), (3, 0), (2, 2), (2, 2))).arcs()
    h = torch.tensor([[1.0, 0.0], [2.0, 4.0], [5.0, 6.0], [4.0, 0.0]], requires_grad=True)
    found = kernels.neighbour_mean(arcs, h)
    assert found.tolist() == [[3.0, 2.0], [0.0, 0.0], [5.0, 6.0]]
    (found * torch.tensor([[1.0, 2.0], [10.0, 10.0], [3.0, 4.0]])).sum().backward()
    assert h.grad.tolist() == [[0.0, 0.0], [0.5, 1.0], [3.0, 4.0], [0.5, 1.0]]


@given(sketches(), WIDTHS)
@example(LONELY, 3)
@example(LOOP, 1)
@example(HUB, 70)
def test_a_weighted_sum_equals_the_product_with_the_dense_matrix_of_weights(sketch, width):
    arcs, (out_of, into) = sketch.arcs(), sketch.incidence()
    h = sketch.numbers(sketch.sources, width).requires_grad_()
    weights = sketch.numbers(len(sketch.pairs), salt=1).requires_grad_()
    matrix = into.T @ (weights.double()[:, None] * out_of)
    held_to(matrix @ h.double(), [h, weights], lambda module: module.weighted_sum(arcs, h, weights))


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
@pytest.mark.parametrize("which", [0, 1])
def test_a_weighted_sum_has_a_gradient_for_one_of_its_factors_alone(name, which):
    arcs = HUB.arcs()
    parts = [HUB.numbers(9, 5), HUB.numbers(len(HUB.pairs), salt=1)]
    both = [part.clone().requires_grad_() for part in parts]
    parts[which].requires_grad_()
    with computing(name) as module:
        module.weighted_sum(arcs, *both).square().sum().backward()
        module.weighted_sum(arcs, *parts).square().sum().backward()
    torch.testing.assert_close(parts[which].grad, both[which].grad)
    assert parts[1 - which].grad is None


def dense_attention(sketch, product, heads, slope, drop):
    """Attention head by head: a softmax over each row of a (targets, arcs) matrix, in double precision."""
    out_of, into = sketch.incidence()
    width = product.shape[1] // heads - 2
    messages, source, target = product.double().split([heads * width, heads, heads], dim=1)
    seed, dropped = drop
    kept = (random_bits(seed, len(sketch.pairs) * heads) >= dropped).view(-1, heads) * (LEVELS / (LEVELS - dropped))
    found = []
    for head in range(heads):
        raw = out_of @ source[:, head] + into @ target[: sketch.targets, head]
        scores = torch.where(raw > 0, raw, slope * raw)
        share = torch.where(into.T > 0, scores, -1e30).softmax(dim=1) * into.T * kept[:, head]
        found.append(share @ out_of @ messages[:, head * width : (head + 1) * width])
    return torch.cat(found, dim=1)


@given(sketches(block=True), st.integers(1, 8), st.integers(1, 16), DROPPED, st.sampled_from([0.2, 0.01, 1.0]))
@example(LONELY, 2, 3, 0, 0.2)
@example(LOOP, 1, 1, 32_768, 0.2)
@example(HUB, 2, 70, 13_107, 0.2)
def test_attention_equals_a_softmax_over_the_rows_of_a_dense_matrix(sketch, heads, width, dropped, slope):
    arcs, drop = sketch.arcs(), (sketch.seed, dropped)
    product = sketch.numbers(sketch.sources, heads * (width + 2)).requires_grad_()
    expected = dense_attention(sketch, product, heads, slope, drop)
    held_to(expected, [product], lambda module: module.attention(arcs, product, heads, slope, drop))


@given(sketches(block=True), st.integers(1, 3), st.integers(1, 5))
def test_attention_keeps_its_gradient_where_a_score_is_zero(sketch, heads, width):
    arcs = sketch.arcs()
    product = sketch.numbers(sketch.sources, heads * (width + 2))
    product[:, heads * width :] = 0.0  # the kink of the leaky ReLU, where vertices without features are
    product.requires_grad_()
    expected = dense_attention(sketch, product, heads, 0.2, (0, 0))
    held_to(expected, [product], lambda module: module.attention(arcs, product, heads, 0.2, (0, 0)))


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_attention_with_scores_far_apart_is_finite_and_takes_the_highest(name):
    sketch = Sketch(3, 3, ((0, 0), (1, 0), (2, 0)))
    product = torch.tensor([[1.0, 0.0, 0.0], [2.0, 5000.0, 0.0], [3.0, -5000.0, 0.0]], requires_grad=True)
    with computing(name) as module:
        found = module.attention(sketch.arcs(), product, 1, 0.2, (0, 0))
        found.sum().backward()
    assert found.flatten().tolist() == [2.0, 0.0, 0.0]
    assert torch.isfinite(product.grad).all()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=3), st.integers(0, 10**6), DROPPED, st.booleans())
def test_dropout_keeps_the_units_its_bits_say_and_scales_them(shape, seed, dropped, relu):
    x = torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).requires_grad_()
    kept = (random_bits(seed, x.numel()) >= dropped).view(shape)
    wide = x.double() * (LEVELS / (LEVELS - dropped))
    expected = torch.where(kept & ((x > 0) | (not relu)), wide, 0.0)
    held_to(expected, [x], lambda module: module.dropout(x, (seed, dropped), relu))


@given(st.integers(0, 40), st.integers(0, 10**6))
def test_a_matrix_is_scaled_by_the_sum_of_the_shares_of_both_ends(n, seed):
    generator = torch.Generator().manual_seed(seed)
    matrix, shares = torch.randn(n, n, generator=generator), torch.rand(n, generator=generator)
    expected = matrix.double() * (shares.double()[:, None] + shares.double()[None])
    for name in IMPLEMENTATIONS:
        scaled = matrix.clone()
        with computing(name) as module:
            module.scale_by_ends(scaled, shares)
        torch.testing.assert_close(scaled.double(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_rows_that_are_not_contiguous_are_read_as_they_stand(name):
    arcs, weights = HUB.arcs(), HUB.numbers(len(HUB.pairs), 2, salt=1)[:, 0]
    h = HUB.numbers(12, 9).T
    apart = h.contiguous()
    block = Sketch(9, 3, ((4, 0), (8, 2), (2, 2))).arcs()
    with computing(name) as module:
        assert torch.equal(module.neighbour_sum(arcs, h), module.neighbour_sum(arcs, apart))
        assert torch.equal(module.weighted_sum(arcs, h, weights), module.weighted_sum(arcs, apart, weights.clone()))
        assert torch.equal(
            module.attention(block, h, 3, 0.2, (5, 9_000)), module.attention(block, apart, 3, 0.2, (5, 9_000))
        )
        assert torch.equal(module.dropout(h, (5, 9_000), True), module.dropout(apart, (5, 9_000), True))


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_a_gradient_that_is_spread_from_one_number_is_read_as_it_stands(name):
    arcs = HUB.arcs()
    block = Sketch(9, 3, ((4, 0), (8, 2), (2, 2))).arcs()
    h, weights = HUB.numbers(9, 12).requires_grad_(), HUB.numbers(len(HUB.pairs), salt=1).requires_grad_()
    with computing(name) as module:
        for compute in (
            lambda: module.neighbour_sum(arcs, h),
            lambda: module.weighted_sum(arcs, h, weights),
            lambda: module.attention(block, h, 3, 0.2, (5, 9_000)),
            lambda: module.dropout(h, (5, 9_000), False),
        ):
            (spread,) = torch.autograd.grad(compute().sum(), h)
            (apart,) = torch.autograd.grad(compute(), h, torch.ones_like(compute()))
            assert torch.equal(spread, apart)


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_sums_in_double_precision_are_as_precise_as_they_say(name):
    (out_of, into), arcs = HUB.incidence(), HUB.arcs()
    h = torch.randn(9, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    weights = torch.linspace(-1, 2, len(HUB.pairs), dtype=torch.float64, requires_grad=True)
    for compute, matrix in (
        (lambda module: module.neighbour_sum(arcs, h), into.T @ out_of),
        (lambda module: module.weighted_sum(arcs, h, weights), into.T @ (weights[:, None] * out_of)),
    ):
        with computing(name) as module:
            found = compute(module)
            (grad,) = torch.autograd.grad(found.square().sum(), h)
        torch.testing.assert_close(found, matrix @ h, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(grad, 2 * matrix.T @ (matrix @ h), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_does_not_vanish_on_its_way(name, wrong):
    arcs = HUB.arcs()
    h = HUB.numbers(9, 12)
    h[8] = wrong
    weights = torch.ones(len(HUB.pairs))
    relu = wrong == -float("inf")  # a ReLU makes a zero of it, by right
    block = Sketch(9, 3, ((4, 0), (8, 2), (2, 2))).arcs()
    with computing(name) as module:
        assert not torch.isfinite(module.neighbour_sum(arcs, h)).any()
        assert not torch.isfinite(module.weighted_sum(arcs, h, weights)).any()
        assert not torch.isfinite(module.attention(block, h, 3, 0.2, (0, 0))[2]).any()
        for dropped in (0, 32_768):
            kept = random_bits(5, h.numel()).view(h.shape)[8] >= dropped
            assert not torch.isfinite(module.dropout(h, (5, dropped), False)[8][kept]).any()
            assert not torch.isfinite(module.dropout(h, (5, dropped), True)[8][kept]).any() or relu


@pytest.fixture
def threads():
    yield kernels.set_thread_count
    kernels.set_thread_count(1)


@pytest.mark.parametrize("name", ["native", "native, source by source"])
def test_results_are_the_same_bit_by_bit_whatever_the_number_of_threads(name, threads):
    rng = np.random.default_rng(0)
    sources, targets, count = 1500, 900, 60_000
    into = np.sort(np.minimum(rng.geometric(0.01, count), targets - 1))  # few vertices have most of the arcs
    starts = torch.from_numpy(np.concatenate([[0], np.cumsum(np.bincount(into, minlength=targets))]))
    arcs = Arcs(starts, torch.from_numpy(rng.integers(0, sources, count).astype(np.int32)), sources)
    h = torch.from_numpy(rng.standard_normal((sources, 45), dtype=np.float32)).requires_grad_()
    weights = torch.from_numpy(rng.standard_normal(count, dtype=np.float32)).requires_grad_()
    matrix, shares = h.detach()[:300] @ h.detach()[:300].T, h.detach()[:300, 0].clone()

    def results() -> list[torch.Tensor]:
        scaled = matrix.clone()
        native.scale_by_ends(scaled, shares)
        found = [scaled]
        for result, into in (
            (native.neighbour_sum(arcs, h), [h]),
            (native.weighted_sum(arcs, h, weights), [h, weights]),
            (native.attention(arcs, h, 5, 0.2, (7, 20_000)), [h]),
            (native.attention(arcs, h, 3, 0.2, (7, 0)), [h]),
            (native.dropout(h, (7, 20_000), False), [h]),
            (native.dropout(h, (7, 20_000), True), [h]),
        ):
            found += [result.detach(), *torch.autograd.grad(result.square().sum(), into)]
        return found

    with computing(name):
        threads(1)
        alone = results()
        for count in (2, 3):
            threads(count)
            for one, other in zip(alone, results(), strict=True):
                assert torch.equal(one, other)


@pytest.mark.parametrize("name", ["native", "torch", *(["dgl"] if HAS_DGL else [])])
def test_dropout_of_units_and_of_attention_draws_a_seed_from_torch(name, monkeypatch):
    monkeypatch.setenv(VARIABLE, name)
    product, arcs = HUB.numbers(9, 12), Sketch(9, 3, ((4, 0), (8, 2), (2, 2))).arcs()

    def drawn(seed):
        torch.manual_seed(seed)
        return torch.cat([
            kernels.dropout(product, 30_000).flatten(), kernels.attention(arcs, product, 3, dropped=30_000).flatten()
        ])  # fmt: skip

    assert torch.equal(drawn(1), drawn(1)) and not torch.equal(drawn(1), drawn(2))
    torch.manual_seed(3)
    before = torch.get_rng_state()
    kernels.attention(arcs, product, 3)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("asked", ["native", "torch", *(["dgl"] if HAS_DGL else [])])
def test_the_variable_says_which_implementation_computes(asked, monkeypatch):
    monkeypatch.setenv(VARIABLE, asked)
    with computing(asked) as module:
        for name in ("neighbour_sum", "weighted_sum", "attention", "dropout", "scale_by_ends"):
            monkeypatch.setattr(module, name, lambda *_, found=name: found)
    assert kernels.neighbour_sum(HUB.arcs(), torch.ones(9, 1)) == "neighbour_sum"
    assert kernels.weighted_sum(HUB.arcs(), torch.ones(9, 1), torch.ones(19)) == "weighted_sum"
    assert kernels.attention(HUB.arcs(), torch.ones(9, 3), 1) == "attention"
    assert kernels.dropout(torch.ones(3), 1) == "dropout"
