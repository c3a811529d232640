from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors, nnguide
from lgl_bench.detectors.nnguide import NNGuide, guidance
from tests.support.graphs import random_graph
from tests.support.stubs import Says, calibration, fitted, points
from tests.support.trained import gcn_logits, logsumexp, parts, small_case


def by_formula(z, f, bank_z, bank_f, k):
    unit, bank = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) for rows in (z, bank_z))
    energies, bank_energies = logsumexp(f), logsumexp(bank_f)
    found = []
    for row, energy in zip(unit, energies, strict=True):
        products = sorted((float(row @ other) * own for other, own in zip(bank, bank_energies, strict=True)))
        found.append(-energy * np.mean(products[-k:]))
    return found


def test_a_worked_example():
    # A bank of two: units (1, 0) and (0, 1) with energies log 2 and log 2 + 1. The fresh one lies at (0.6, 0.8).
    train, test = points(2), points(1)
    model = Says((train, [[0.0, 0.0], [1.0, 1.0]], [[5.0, 0.0], [0.0, 2.0]]), (test, [[2.0, 2.0]], [[3.0, 4.0]]))
    largest = 0.8 * (np.log(2) + 1)
    assert fitted(NNGuide(), model, train).score(model, test) == pytest.approx([-(np.log(2) + 2) * largest])


@pytest.mark.parametrize(("k", "used", "counted"), [(100, 30, 3), (2, 30, 2), (100, 9, 1)])
def test_it_is_the_formula_in_plain_numpy_and_at_most_a_tenth_of_the_bank_counts(k, used, counted):
    model, _, _ = small_case()
    train, test = random_graph(n=40, edges=80, seed=1), random_graph(n=20, edges=40, seed=5)
    detector = fitted(NNGuide(k=k), model, train, fit_vertices=range(used))
    (z, f), (fresh_z, fresh_f) = parts(model, train), parts(model, test)
    expected = by_formula(fresh_z, fresh_f, z[:used], f[:used], counted)
    assert detector.score(model, test) == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert not NNGuide.bounded


def test_a_large_bank_is_drawn_by_the_seed_of_the_run():
    model, g, _ = small_case(n=60)
    banks = []
    for seed in (0, 0, 1):
        detector = NNGuide(bank=20)
        fitted(detector, model, g, fit_vertices=range(5, 60), calibrated=replace(calibration(model, g), seed=seed))
        banks.append(detector.bank_.numpy())
    assert len(banks[0]) == 20 and np.array_equal(banks[0], banks[1]) and not np.array_equal(banks[0], banks[2])
    outputs = model.outputs(g)
    unit = torch.nn.functional.normalize(outputs.embeddings.double(), dim=1)
    allowed = (unit * torch.logsumexp(outputs.logits.double(), dim=1)[:, None]).numpy()[5:]
    assert all(np.isclose(allowed, row).all(axis=1).any() for row in banks[0])


def test_products_are_computed_a_few_rows_at_a_time(monkeypatch):
    rng = np.random.default_rng(0)
    unit, bank = (torch.from_numpy(rng.normal(size=(n, 4))) for n in (23, 10))
    whole = guidance(unit, bank, 3)
    monkeypatch.setattr(nnguide, "_TOGETHER", 50)
    assert guidance(unit, bank, 3) == pytest.approx(whole, rel=1e-6)


def test_over_clipped_embeddings_bank_and_scores_are_clipped():
    model, g, labels = small_case()
    detector = fitted(build(parse("react(nnguide, percentile=60)"), detectors), model, g, labels)
    z = np.minimum(parts(model, g)[0], detector.limit_)
    f = gcn_logits(model, g, z)
    assert detector.score(model, g) == pytest.approx(by_formula(z, f, z, f, 1), rel=1e-4, abs=1e-6)


def test_embeddings_of_length_zero_stay_finite():
    g = points(3)
    model = Says((g, [[1.0, 0.0]] * 3, [[0.0, 0.0]] * 3))
    assert fitted(NNGuide(), model, g).score(model, g).tolist() == [0.0] * 3


@pytest.mark.parametrize(("k", "bank"), [(0, 5), (5, 0)])
def test_values_out_of_range_are_refused(k, bank):
    with pytest.raises(UsageError, match=f"k = {k}, bank = {bank}: both must be at least 1"):
        NNGuide(k=k, bank=bank)


def test_it_has_to_be_fitted():
    model, g, _ = small_case()
    with pytest.raises(PluginError, match="nnguide has not been fitted; call fit first"):
        NNGuide().score(model, g)
