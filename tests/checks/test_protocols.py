"""Protocols that are broken on purpose: each fails the check made for it, with a message that says what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lgl_bench.core.types import Truth
from lgl_bench.protocols import protocols
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.protocols.temporal import Temporal


class LeaksLabels(Temporal):
    """Training sees the labels of the year it is scored on."""

    def tasks(self, stream, seed):
        for task, truth in super().tasks(stream, seed):
            later = stream.upto(task.time)
            known = stream.known_at(task.time)
            yield replace(task, train=later, fit_mask=later.labels >= 0, known=known), truth


class LeaksKnown(Temporal):
    """The classes of the scored year count as known."""

    def tasks(self, stream, seed):
        for task, truth in super().tasks(stream, seed):
            yield replace(task, known=stream.known_at(task.time)), truth


class LeaksThroughTheGraph(Temporal):
    """Only vertices of known classes are scored, which tells who they are."""

    def tasks(self, stream, seed):
        for task, truth in super().tasks(stream, seed):
            keep = np.isin(truth.labels, task.known)
            yield replace(task, scored=task.scored[keep]), Truth(truth.labels[keep], truth.vertices[keep])


class LeaksFeatures(LeaveClassOut):
    """The answer is written into a feature of the test graph."""

    def tasks(self, stream, seed):
        for task, truth in super().tasks(stream, seed):
            features = task.test.features.copy()
            features[task.scored, 0] = truth.labels
            yield replace(task, test=replace(task.test, features=features)), truth


class ScoresTheUnlabelled(Temporal):
    def tasks(self, stream, seed):
        for task, _ in super().tasks(stream, seed):
            scored = np.flatnonzero(stream.upto(task.time).born == task.time)
            yield replace(task, scored=scored), Truth(stream.labels[scored], scored)


class ScoresTheOld(Temporal):
    def tasks(self, stream, seed):
        for task, truth in super().tasks(stream, seed):
            yield (
                replace(task, scored=np.append(0, task.scored)),
                Truth(np.append(max(stream.labels[0], 0), truth.labels), np.append(0, truth.vertices)),
            )


class Draws(LeaveClassOut):
    """Another task at every walk."""

    def tasks(self, stream, seed):
        for task, truth in super().tasks(stream, seed):
            order = np.random.default_rng().permutation(len(task.scored))
            yield replace(task, scored=task.scored[order]), Truth(truth.labels[order], truth.vertices[order])


class MisplacesTraining(LeaveClassOut):
    """Positions in the training graph are taken for positions in the test graph."""

    def tasks(self, stream, seed):
        for task, truth in super().tasks(stream, seed):
            yield replace(task, trained=np.flatnonzero(task.fit_mask)), truth


class TrainsOnTheScored(Temporal):
    """The graph that is scored is the one that was trained on."""

    def tasks(self, stream, seed):
        for task, _ in super().tasks(stream, seed):
            scored = task.trained[-3:]
            yield replace(task, scored=scored), Truth(stream.labels[scored], scored)


LEAKY = [
    (LeaksLabels, "shows training no label of the future", "labels of the future"),
    (LeaksLabels, "scores only vertices with a label that training did not see", "born that year"),
    (LeaksLabels, "returns scores that do not depend on the truth", "scored vertices changed"),
    (LeaksKnown, "knows the classes it trains on", "not the classes trained on"),
    (LeaksThroughTheGraph, "shows training no label of the future", "labels of the future"),
    (LeaksFeatures, "shows training no label of the future", "labels of the future"),
    (LeaksFeatures, "returns scores that do not depend on the truth", "scored"),
    (ScoresTheUnlabelled, "scores only vertices with a label that training did not see", "without a label"),
    (ScoresTheOld, "scores only vertices with a label that training did not see", "born before"),
    (MisplacesTraining, "finds its training vertices in the test graph", "not the vertices of the loss"),
    (TrainsOnTheScored, "finds its training vertices in the test graph", "a vertex that is scored"),
    (Draws, "returns the same tasks again", "different tasks"),
]


@pytest.mark.parametrize(
    ("plugin", "title", "said"), LEAKY, ids=[f"{plugin.__name__}-{said.replace(' ', '_')}" for plugin, _, said in LEAKY]
)
def test_a_protocol_that_leaks_fails_the_check_made_for_it(check, plugin, title, said):
    assert said in check(protocols, "protocols", plugin)[title]
