"""Relative Mahalanobis distance (Ren et al. 2021): min over c of d_c - d_0.

d_c is the squared Mahalanobis distance to class c, one covariance for all classes; d_0 that to one Gaussian of all
training embeddings. Both covariances are Ledoit-Wolf's, as in `mahalanobis`.
"""

from __future__ import annotations

from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.detectors.mahalanobis import class_means, mahalanobis, shrunk_precision
from lgl_bench.training.model import Model


@detectors.register("rmds")
class Rmds(Detector):
    """The Mahalanobis distance to the nearest class, less that to all training embeddings together."""

    bounded = False

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Class means with one covariance around them, and one mean with the covariance around it."""
        z = model.outputs(train.graph).embeddings.double().numpy()[fit_vertices]
        self.means_, around = class_means(z, train.labels[fit_vertices])
        self.precision_ = shrunk_precision(around)
        self.mean_ = z.mean(axis=0, keepdims=True)
        self.whole_precision_ = shrunk_precision(z - self.mean_)

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """Any real number."""
        if not hasattr(self, "means_"):
            raise PluginError("rmds has not been fitted; call fit first")
        z = model.outputs(graph).embeddings.double().numpy()
        return mahalanobis(z, self.means_, self.precision_) - mahalanobis(z, self.mean_, self.whole_precision_)
