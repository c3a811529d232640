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


@detectors.register("mahalanobis")
class Mahalanobis(Detector):
    """Learns class means and one covariance from the training embeddings. Unbounded."""

    bounded = False

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Means of the classes that have training vertices, covariance around them."""
        import sklearn.covariance  # a second to import, and few runs need it

        z = model.outputs(train.graph).embeddings.double().numpy()[fit_vertices]
        labels = train.labels[fit_vertices]
        classes, member = np.unique(labels, return_inverse=True)
        self.means_ = np.stack([z[member == k].mean(axis=0) for k in range(len(classes))])
        tied = sklearn.covariance.LedoitWolf(assume_centered=True).fit(z - self.means_[member])
        # A unit that never fires has no variance; a touch of it keeps the inverse finite.
        covariance = tied.covariance_ + 1e-6 * np.eye(z.shape[1]) * max(np.trace(tied.covariance_) / z.shape[1], 1e-6)
        self.precision_ = np.linalg.inv(covariance)
        self.precision_ = (self.precision_ + self.precision_.T) / 2

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """At least 0."""
        if not hasattr(self, "means_"):
            raise PluginError("mahalanobis has not been fitted; call fit first")
        return mahalanobis(model.outputs(graph).embeddings.double().numpy(), self.means_, self.precision_)
