from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.core.errors import PluginError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.she import She, class_patterns, she
from tests.support.graphs import random_graph
from tests.support.stubs import fitted
from tests.support.trained import gcn_logits, parts, small_case


def by_formula(z, f, train_z, train_f, labels):
    found = []
    for row, logits in zip(z, f, strict=True):
        c = int(np.argmax(logits))
        right = [
            own for own, said, label in zip(train_z, train_f, labels, strict=True) if np.argmax(said) == label == c
        ]
        own_class = [own for own, label in zip(train_z, labels, strict=True) if label == c]
        found.append(-float(row @ np.mean(right or own_class or train_z, axis=0)))
    return found


def test_a_worked_example():
    z = np.array([[2.0, 0.0], [4.0, 2.0], [0.0, 6.0], [1.0, 1.0]])
    # Of class 0 the first is classified rightly; class 1 has none that is, and class 2 no vertex at all.
    patterns = class_patterns(z, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 0]), 3)
    assert patterns.tolist() == [[2.0, 0.0], [0.5, 3.5], [1.75, 2.25]]
    assert she(np.array([[3.0, 1.0], [2.0, 2.0]]), np.array([0, 1]), patterns).tolist() == [-6.0, -8.0]


def test_it_is_the_formula_in_plain_numpy_on_a_new_graph():
    model, train, labels = small_case()
    test = random_graph(n=20, edges=40, seed=5)
    used = np.arange(1, 12)
    detector = fitted(She(), model, train, labels, fit_vertices=used)
    z, f = parts(model, train)
    expected = by_formula(*parts(model, test), z[used], f[used], labels[used])
    assert detector.score(model, test) == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert not She.bounded


def test_labels_are_columns_in_the_order_the_model_knows_them():
    model, g, labels = small_case()
    plain = fitted(She(), model, g, labels).score(model, g)
    model.known = np.array([7, 3, 11])
    assert fitted(She(), model, g, model.known[labels]).score(model, g).tolist() == plain.tolist()


def test_over_clipped_embeddings_prediction_and_patterns_are_of_those():
    model, g, labels = small_case()
    detector = fitted(build(parse("react(she, percentile=40)"), detectors), model, g, labels)
    z = np.minimum(parts(model, g)[0], detector.limit_)
    f = gcn_logits(model, g, z)
    assert detector.score(model, g) == pytest.approx(by_formula(z, f, z, f, labels), rel=1e-4, abs=1e-6)


def test_it_has_to_be_fitted():
    model, g, _ = small_case()
    with pytest.raises(PluginError, match="she has not been fitted; call fit first"):
        She().score(model, g)
