"""Detectors that look at the scored vertices together: what they are told on the way through a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lgl_bench.core.expressions import complete, parse
from lgl_bench.core.types import ScoredGraph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.protocols.transductive import Transductive
from lgl_bench.strategies import strategies
from tests.runs.test_answering import method, walk
from tests.support.graphs import small_stream

PROTOCOLS = [(Temporal(), False), (Temporal(history=2), False), (LeaveClassOut(), True), (Transductive(), True)]


@pytest.mark.parametrize(("protocol", "static"), PROTOCOLS, ids=["all years", "two years", "class left out", "whole"])
@pytest.mark.parametrize("cuts", [(), ("naive", "gdoc", "quantile")])
def test_grasp_answers_every_task_of_every_protocol(protocol, static, cuts):
    found = walk(small_stream(static=static), protocol, method("grasp", "good(grasp)", "msp", cuts=cuts))
    assert found
    for answers, _ in found:
        assert not answers.failed
        assert all(len(scores) == len(answers.task.scored) for scores in answers.novelty.values())
        assert len(answers.rejected) == 3 * len(cuts)


class Listens(Detector):
    """Remembers what it is given."""

    track = "transductive"
    bounded = False
    heard: list = []  # noqa: RUF012

    def score(self, model, graph):
        self.heard.append(graph)
        return np.arange(graph.num_vertices, dtype=np.float64)


class DoesNot(Listens):
    track = "inductive"


@pytest.fixture
def heard():
    Listens.heard.clear()
    with detectors.temporarily():
        detectors.register("listens")(Listens)
        detectors.register("does-not")(DoesNot)
        yield Listens.heard


@pytest.mark.parametrize(("protocol", "static"), PROTOCOLS[:1] + PROTOCOLS[2:])
def test_the_test_graph_comes_with_the_scored_vertices_and_with_those_of_the_loss(heard, protocol, static):
    answers, _ = walk(small_stream(static=static), protocol, method("listens", cuts=("naive",)))[-1]
    task = answers.task
    told = [one for one in heard if one.num_vertices == task.test.num_vertices][-1]
    assert isinstance(told, ScoredGraph)
    trained = told.features[told.trained]
    assert np.array_equal(trained, task.train.graph.features[task.fit_mask])
    assert not np.isin(told.trained, task.scored).any()


def test_an_inductive_detector_is_told_nothing(heard):
    walk(small_stream(), Temporal(), method("does-not", cuts=("naive",)))
    assert heard and not any(isinstance(one, ScoredGraph) for one in heard)


def test_every_graph_comes_with_the_vertices_that_are_scored_on_it(heard):
    walk(small_stream(static=True), LeaveClassOut(), method("listens", cuts=("quantile",)))
    assert heard and all(isinstance(one, ScoredGraph) and len(one.scored) and len(one.trained) for one in heard)


@pytest.mark.parametrize("strategy", ["finetune", "replay(size=4)", "ssm(size=3)", "window(years=2)", "cold"])
def test_the_vertices_of_the_loss_are_found_in_the_test_graph_whatever_a_strategy_keeps(heard, strategy):
    chosen = replace(method("listens"), strategy=complete(parse(strategy), strategies))
    for answers, _ in walk(small_stream(), Temporal(), chosen):
        task = answers.task
        assert np.array_equal(task.test.features[task.trained], task.train.graph.features[task.fit_mask])
        told = [one for one in heard if one.num_vertices == task.test.num_vertices]
        assert told and all(np.array_equal(one.trained, task.trained) for one in told)
