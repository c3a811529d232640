from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.types import Scores
from lgl_bench.thresholds.open_wrf import OpenWrf, weak_labels
from tests.support.graphs import graph

QUICK = {"hidden": 8, "epochs": 30, "dropout": 0.2, "lr": 0.05}


def planted(seed=0, n=40, share=0.2, gap=6.0, novelty=None):
    """Two groups of vertices, apart in features and in the graph; the first group is new and looks it."""
    rng = np.random.default_rng(seed)
    new = np.arange(n) < round(share * n)
    x = rng.normal(size=(n, 4)) + gap * new[:, None] * np.array([1, -1, 0, 0])
    edges = set()
    for group in (np.flatnonzero(new), np.flatnonzero(~new)):
        for _ in range(2 * len(group)):
            edges.add(tuple(sorted(rng.choice(group, 2, replace=False).tolist())))
    looks = 0.7 * new + 0.2 * rng.random(n) if novelty is None else novelty
    g = graph(sorted(edges), x.astype(np.float32))
    return Scores(looks, np.full((n, 2), 0.5), g, np.arange(n)), new


def decided(threshold, train, test, seed=0):
    threshold.fit(train, train, seed)
    return threshold.reject(test)


def test_the_share_with_the_highest_novelty_is_labelled_new():
    novelty = np.array([0.3, 0.9, 0.1, 0.5, 0.8, 0.2, 0.4, 0.7, 0.6, 0.0])
    assert np.flatnonzero(weak_labels(novelty, 0.1)).tolist() == [1]
    assert np.flatnonzero(weak_labels(novelty, 0.3)).tolist() == [1, 4, 7]
    assert weak_labels(novelty, 0.9).tolist() == [1] * 9 + [0]


def test_there_is_at_least_one_vertex_of_each_label():
    assert weak_labels(np.array([0.1, 0.2, 0.3]), 0.01).tolist() == [0, 0, 1]
    assert weak_labels(np.array([0.1, 0.2, 0.3]), 0.99).tolist() == [0, 1, 1]


def test_open_wrf_rejects_the_planted_new_vertices_and_no_others():
    (train, _), (test, new) = planted(0), planted(1)
    assert np.array_equal(decided(OpenWrf(q=0.2, **QUICK), train, test), new)


def test_open_wrf_rejects_what_looks_novel_in_training_not_what_looks_familiar():
    (train, new), (test, _) = planted(0), planted(1)
    turned = Scores(1 - train.novelty, train.probabilities, train.graph, train.scored)
    rejected = decided(OpenWrf(q=0.8, **QUICK), turned, test)
    assert np.array_equal(rejected, ~new)


def test_only_scored_vertices_are_decided_on_in_their_order():
    (train, _), (test, new) = planted(0), planted(1)
    some = np.array([30, 2, 9, 0])
    part = Scores(test.novelty, test.probabilities, test.graph, some)
    assert decided(OpenWrf(q=0.2, **QUICK), train, part).tolist() == new[some].tolist()


def test_fitted_on_training_vertices_the_novelty_of_test_vertices_makes_no_difference():
    (train, _), (test, new) = planted(0), planted(1)
    other = Scores(1 - test.novelty, test.probabilities, test.graph, test.scored)
    assert np.array_equal(decided(OpenWrf(q=0.2, **QUICK), train, other), new)


def test_fitted_on_the_test_graph_too_it_finds_what_only_looks_novel_there():
    # In training all vertices are of one kind, so nothing about the new ones can be learned from them.
    train, _ = planted(0, share=0.0, novelty=np.random.default_rng(0).random(40))
    test, new = planted(1)
    found = {fit: decided(OpenWrf(q=0.2, fit=fit, **QUICK), train, test) for fit in ("train", "test")}
    assert found["test"][new].all()
    assert found["test"][~new].mean() < 0.5
    assert not np.array_equal(found["train"], found["test"])
    assert (OpenWrf().track, OpenWrf(fit="test").track) == ("inductive", "transductive")


def test_without_balance_weak_evidence_of_few_vertices_rejects_fewer():
    train, _ = planted(0, n=60, share=0.1, gap=0.4)
    test, _ = planted(1, n=60, share=0.1, gap=0.4)
    balanced = decided(OpenWrf(**QUICK), train, test)
    plain = decided(OpenWrf(balance=False, **QUICK), train, test)
    assert plain.sum() < balanced.sum()


def test_the_decision_belongs_to_the_seed():
    (train, _), (test, _) = planted(0, gap=0.1), planted(1, gap=0.1)
    runs = [decided(OpenWrf(hidden=4, epochs=3), train, test, seed) for seed in (0, 0, 1, 2, 3)]
    assert np.array_equal(runs[0], runs[1])
    assert any(not np.array_equal(runs[0], other) for other in runs[2:])


def test_its_settings_are_those_of_the_method_unless_told_otherwise():
    default = OpenWrf()
    assert (default.q, default.fit_on, default.balance) == (0.1, "train", True)
    assert (default.hidden, default.dropout, default.lr, default.epochs) == (64, 0.5, 0.01, 200)


def test_open_wrf_refuses_another_place_to_fit_on_and_an_answer_before_the_fit():
    with pytest.raises(UsageError, match="fit = 'both': it is 'train' or 'test'"):
        OpenWrf(fit="both")
    with pytest.raises(PluginError, match="has not been fitted"):
        OpenWrf().reject(planted()[0])
