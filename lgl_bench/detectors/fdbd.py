"""Decision boundaries (fDBD: Liu and Qin 2024): -[sum over c of (f_max - f_c) / |w_max - w_c|] / |z - m|.

w_c are the rows of the last layer's W (`last_layer`), m is the mean of z over the training vertices, and max stands for
the predicted class.
"""

from __future__ import annotations

import numpy as np

from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.training.last_layer import last_layer
from lgl_bench.training.model import Model

_SMALLEST = 1e-12  # a length below counts as this: what is divided by it stays finite


def fdbd(z: FloatArray, logits: FloatArray, apart: FloatArray, mean: FloatArray) -> FloatArray:
    """From embeddings, logits and the distances between the rows of W: higher is more novel."""
    ahead = logits.max(axis=1, keepdims=True) - logits
    distances = ahead / np.maximum(apart[logits.argmax(axis=1)], _SMALLEST)
    novelty: FloatArray = -distances.sum(axis=1) / np.maximum(np.linalg.norm(z - mean, axis=1), _SMALLEST)
    return novelty


@detectors.register("fdbd")
class Fdbd(Detector):
    """How near an embedding lies to the borders between classes, in units of its distance from the training mean.

    At most 0, and unbounded.
    """

    bounded = False

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Measures how far the classes' weights are apart, and where the training embeddings lie."""
        w, _ = last_layer(model)
        self.apart_: FloatArray = np.linalg.norm(w[:, None, :] - w[None, :, :], axis=2)
        self.mean_: FloatArray = model.outputs(train.graph).embeddings.double().numpy()[fit_vertices].mean(axis=0)

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """At most 0."""
        if not hasattr(self, "apart_"):
            raise PluginError("fdbd has not been fitted; call fit first")
        outputs = model.outputs(graph)
        z, logits = outputs.embeddings.double().numpy(), outputs.logits.double().numpy()
        return fdbd(z, logits, self.apart_, self.mean_)
