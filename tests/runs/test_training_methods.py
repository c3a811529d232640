"""Methods that change training, on small streams from end to end: they learn, notice a new class, and grow with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lgl_bench.core.expressions import complete, parse
from lgl_bench.core.types import TrainingParameters
from lgl_bench.detectors import detectors, head_of
from lgl_bench.metrics.classification import accuracy
from lgl_bench.metrics.ranking import auroc
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.protocols.transductive import Transductive
from lgl_bench.runs.answering import answer_tasks
from lgl_bench.runs.scoring import Method
from lgl_bench.strategies import strategies
from tests.support.graphs import small_stream

METHODS = ["logitnorm", "nodesafe", "gkde", "oodgat", "openwgl", "gpn"]
TRAINING = TrainingParameters(epochs=100, lr=0.01)


def method(name, strategy="full", training=TRAINING, cuts=()):
    expression = complete(parse(name), detectors)
    backbone = (*detectors.get(name).backbones, "gcn")[0]
    head = head_of(detectors.get(name))
    cut = tuple(map(parse, cuts))
    return Method(backbone, head, Preset("", {}, training), (expression,), cut, complete(parse(strategy), strategies))


def answers(stream, protocol, asked, seed=0):
    return list(answer_tasks(stream, protocol, asked, seed))


@pytest.mark.parametrize("name", METHODS)
def test_it_learns_a_planted_stream_and_its_novelty_separates_a_class_that_is_left_out(name):
    found = answers(small_stream(static=True, growth=(300,)), LeaveClassOut(), method(name))
    right, ranked = [], []
    for one, truth in found:
        assert not one.failed and not one.skipped
        (novelty,) = one.novelty.values()
        right.append(accuracy(truth.labels, one.predicted, one.task.known).value)
        ranked.append(auroc(~np.isin(truth.labels, one.task.known), novelty).value)
    assert len(found) == 4
    assert np.mean(right) > 0.8 and np.mean(ranked) > 0.75


@pytest.mark.parametrize("strategy", ["full", "cold", "finetune", "replay(size=4)", "lwf", "ewc", "agem(size=4)"])
@pytest.mark.parametrize("name", METHODS)
def test_year_by_year_it_grows_with_the_classes_whatever_strategy_keeps_the_past(name, strategy):
    short = replace(TRAINING, epochs=12)
    found = answers(small_stream(), Temporal(), method(name, strategy, short, cuts=("quantile",)))
    assert [len(one.task.known) for one, _ in found] == [3, 4, 4]
    for one, truth in found:
        assert not one.failed and len(one.predicted) == len(truth.labels)
        assert set(one.predicted.tolist()) <= set(one.task.known.tolist())
        (novelty,) = one.novelty.values()
        assert np.isfinite(novelty).all() and len(one.rejected) == 1


@pytest.mark.parametrize("name", METHODS)
def test_the_same_seed_gives_the_same_answers_and_labels_of_scored_vertices_change_none(name):
    stream, short = small_stream(), replace(TRAINING, epochs=6)
    last = np.flatnonzero(stream.born == stream.times[-1])
    labels = stream.labels.copy()
    labels[last] = labels[np.roll(last, 3)]
    runs = [answers(one, Temporal(), method(name, training=short)) for one in (stream, replace(stream, labels=labels))]
    for (one, _), (two, _) in zip(*runs, strict=True):
        assert np.array_equal(one.predicted, two.predicted)
        assert all(np.array_equal(one.novelty[text], two.novelty[text]) for text in one.novelty)


@pytest.mark.parametrize("name", METHODS)
def test_a_year_without_labels_and_vertices_without_edges_are_no_obstacle(name):
    stream = small_stream(isolated=0.5)
    labels = np.where(stream.born == 2, -1, stream.labels)
    short = replace(TRAINING, epochs=4)
    found = answers(replace(stream, labels=labels), Temporal(), method(name, training=short))
    assert [bool(one.skipped) for one, _ in found] == [True, False, False]
    assert all(not one.failed for one, _ in found)


@pytest.mark.parametrize("name", METHODS)
def test_it_answers_the_transductive_protocol_too(name):
    short = replace(TRAINING, epochs=4)
    ((one, truth),) = answers(small_stream(static=True), Transductive(), method(name, training=short))
    assert not one.failed and len(one.predicted) == len(truth.labels)
