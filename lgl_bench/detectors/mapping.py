"""Unbounded scores into [0, 1]: sigmoid((s - median) / max(IQR, 1e-6)), both from calibration scores, in float64."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import scipy.special

from lgl_bench.core.types import FloatArray
from lgl_bench.detectors import Calibration, Detector, graph_for
from lgl_bench.training.model import Model


@dataclass(frozen=True, slots=True)
class Mapping:
    """Centre and spread of calibration scores.

    >>> Mapping.of(np.array([0.0, 1.0, 2.0, 3.0, 4.0]))(np.array([2.0, 4.0])).round(3).tolist()
    [0.5, 0.731]
    """

    median: float
    spread: float

    @classmethod
    def of(cls, scores: FloatArray) -> Mapping:
        """From calibration scores."""
        low, median, high = np.percentile(scores, [25, 50, 75])
        return cls(float(median), max(float(high - low), 1e-6))

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Mapped scores: the order stays."""
        mapped: FloatArray = scipy.special.expit((scores - self.median) / self.spread)
        return mapped


def learn_mapping(detector: Detector, model: Model, calibration: Calibration) -> Mapping | None:
    """The mapping of a fitted detector; None if its scores are bounded as they are.

    Calibration vertices are scored by the detector as it was fitted on the calibration model. If that is another
    model than the current one, the detector is fitted on it anew.
    """
    if detector.bounded:
        return None
    if calibration.model is not model:
        detector = copy.deepcopy(detector)
        detector.fit(calibration.model, calibration.train, calibration.fit_vertices, calibration)
    graph = graph_for(detector, calibration.graph, calibration.vertices, calibration.trained)
    raw = detector.score(calibration.model, graph)[calibration.vertices]
    return Mapping.of(raw if len(raw) else np.zeros(1))


def mapped(scores: FloatArray, mapping: Mapping | None) -> FloatArray:
    """Scores in [0, 1]."""
    return scores if mapping is None else mapping(scores)
