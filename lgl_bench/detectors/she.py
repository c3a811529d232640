"""Simplified Hopfield energy (SHE: Zhang et al. 2023): -z . m_c for the predicted class c.

m_c is the mean of z over the training vertices of class c that are classified rightly; over all of class c if none is,
and over all training vertices if c has none.
"""

from __future__ import annotations

import numpy as np

from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.training.model import Model


def class_patterns(z: FloatArray, labels: IntArray, predicted: IntArray, classes: int) -> FloatArray:
    """m_c of every class, (classes, d); labels and predictions are columns of the logits."""
    patterns = []
    for c in range(classes):
        own = labels == c
        right = own & (predicted == c)
        chosen = right if right.any() else own if own.any() else np.ones_like(own)
        patterns.append(z[chosen].mean(axis=0))
    return np.stack(patterns)


def she(z: FloatArray, predicted: IntArray, patterns: FloatArray) -> FloatArray:
    """Higher is more novel."""
    novelty: FloatArray = -(z * patterns[predicted]).sum(axis=1)
    return novelty


@detectors.register("she")
class She(Detector):
    """Minus the product of an embedding with the mean embedding of its predicted class."""

    bounded = False

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Learns the pattern of each class."""
        z, predicted = _parts(model, train.graph)
        labels = model.columns(train.labels[fit_vertices])
        self.patterns_ = class_patterns(z[fit_vertices], labels, predicted[fit_vertices], len(model.known))

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """Any real number."""
        if not hasattr(self, "patterns_"):
            raise PluginError("she has not been fitted; call fit first")
        return she(*_parts(model, graph), self.patterns_)


def _parts(model: Model, graph: Graph) -> tuple[FloatArray, IntArray]:
    """Embeddings, and the predicted column."""
    outputs = model.outputs(graph)
    return outputs.embeddings.double().numpy(), outputs.logits.argmax(dim=1).numpy()
