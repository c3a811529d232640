"""Scores that thresholds are tested on."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import Scores
from tests.support.graphs import graph


def scores(novelty=None, probabilities=None, scored=None, labels=None):
    n = len(novelty if novelty is not None else probabilities)
    novelty = np.zeros(n) if novelty is None else np.array(novelty)
    probabilities = np.full((n, 2), 0.5) if probabilities is None else np.array(probabilities)
    g = graph([], np.ones((n, 1), dtype=np.float32))
    chosen = np.arange(n) if scored is None else np.array(scored)
    return Scores(novelty, probabilities, g, chosen, None if labels is None else np.array(labels))


NOTHING = scores([0.5])
