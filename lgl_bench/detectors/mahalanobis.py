"""Mahalanobis distance (Lee et al. 2018): min_k (z - mu_k)^T S^-1 (z - mu_k), one tied Ledoit-Wolf covariance S."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.training.model import Model


def mahalanobis(z: FloatArray, means: FloatArray, precision: FloatArray) -> FloatArray:
    """Squared distance to the nearest class mean.

    In coordinates that make the covariance round, distances are plain ones.
    """
    root = np.linalg.cholesky(precision)
    white, centres = z @ root, means @ root
    distances = (white**2).sum(axis=1)[:, None] - 2 * white @ centres.T + (centres**2).sum(axis=1)[None, :]
    nearest: FloatArray = np.maximum(distances.min(axis=1), 0.0)
    return nearest


def class_means(z: FloatArray, labels: IntArray) -> tuple[FloatArray, FloatArray]:
    """The mean of every class that has vertices, and z less the mean of its class."""
    classes, member = np.unique(labels, return_inverse=True)
    means = np.stack([z[member == k].mean(axis=0) for k in range(len(classes))])
    return means, z - means[member]


def shrunk_precision(around: FloatArray) -> FloatArray:
    """The inverse of the Ledoit-Wolf covariance of rows around 0."""
    import sklearn.covariance  # a second to import, and few runs need it

    width = around.shape[1]
    found, _ = sklearn.covariance.ledoit_wolf(around, assume_centered=True)  # the class would invert it as well
    # A unit that never fires has no variance; a touch of it keeps the inverse finite.
    precision: FloatArray = np.linalg.inv(found + 1e-6 * np.eye(width) * max(np.trace(found) / width, 1e-6))
    return (precision + precision.T) / 2


@detectors.register("mahalanobis")
class Mahalanobis(Detector):
    """The distance to the nearest class mean of the training embeddings, in units of their covariance."""

    bounded = False

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Means of the classes that have training vertices, covariance around them."""
        z = model.outputs(train.graph).embeddings.double().numpy()[fit_vertices]
        self.means_, around = class_means(z, train.labels[fit_vertices])
        self.precision_ = shrunk_precision(around)

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """At least 0."""
        if not hasattr(self, "means_"):
            raise PluginError("mahalanobis has not been fitted; call fit first")
        return mahalanobis(model.outputs(graph).embeddings.double().numpy(), self.means_, self.precision_)
