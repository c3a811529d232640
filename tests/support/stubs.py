"""Models and detectors that say what they are told to say."""

from __future__ import annotations

import numpy as np
import torch

from lgl_bench.core.types import Outputs, Snapshot
from lgl_bench.detectors import Calibration, Detector
from lgl_bench.heads.isomax import IsoMaxPlus
from tests.support.graphs import graph


class Says:
    """A model with given logits and embeddings for each graph."""

    def __init__(self, *answers, head=None):
        self.answers = answers
        self.head = head

    def outputs(self, g):
        for known, logits, embeddings in self.answers:
            if known is g:
                return Outputs(_tensor(logits), _tensor(embeddings))
        raise KeyError("another graph")


class Fixed(Detector):
    """Given scores."""

    def __init__(self, scores, bounded=True):
        self.scores = np.array(scores, dtype=np.float64)
        self.bounded = bounded

    def score(self, model, graph):
        return self.scores


def points(count):
    """A graph without edges whose features do not matter."""
    return graph([], np.ones((count, 1), dtype=np.float32))


def snapshot(g, labels=None):
    nobody = np.full(g.num_vertices, -1)
    return Snapshot(0, g, nobody if labels is None else np.array(labels))


def calibration(model, g, vertices=None):
    every = np.arange(g.num_vertices)
    return Calibration(model, snapshot(g), every, g, every if vertices is None else np.array(vertices))


def fitted(detector, model, g, labels=None, fit_vertices=None, calibrated=None):
    """The detector, fitted on all vertices of a graph or on some."""
    chosen = np.arange(g.num_vertices) if fit_vertices is None else np.array(fit_vertices)
    detector.fit(model, snapshot(g, labels), chosen, calibrated or calibration(model, g))
    return detector


def _tensor(rows):
    return None if rows is None else torch.as_tensor(np.asarray(rows), dtype=torch.float32)


LOGITS = [[2.0, -1.0, 0.5], [0.0, 0.0, 0.0], [-3.0, -2.0, -4.0]]


def scores_of_logits(detector, logits=LOGITS):
    g = points(len(logits))
    return detector.score(Says((g, logits, None)), g)


def embedded(width=4, n=30, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat([5, 2, 8], n // 3)
    z = rng.normal(size=(n, width)) @ rng.normal(size=(width, width)) + 3 * labels[:, None]
    return z.astype(np.float32), labels


PROTOTYPES = [[2.0, 0.0], [0.0, 0.5], [-1.0, 0.0]]


EMBEDDINGS = [[5.0, 0.0], [3.0, 4.0], [0.0, -2.0]]


def isomax_model(scale=1.0):
    head = IsoMaxPlus(2, 3)
    head.prototypes.data = torch.tensor(PROTOTYPES)
    head.distance_scale.data = torch.tensor([scale])
    g = points(3)
    return Says((g, None, EMBEDDINGS), head=head), g
