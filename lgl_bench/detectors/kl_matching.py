"""KL matching (Hendrycks et al. 2022): min over c of KL(p, q_c), q_c the mean p of calibration vertices predicted c.

The calibration vertices are taken as the current model sees them, since that of the year before may know fewer
classes. A class that none of them is predicted as is left out; without any calibration vertex the training ones serve.
"""

from __future__ import annotations

import math

import torch

from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.training.model import Model


def log_templates(log_p: torch.Tensor) -> torch.Tensor:
    """Log of the mean probabilities of the vertices of each predicted class, one row per class that has some."""
    predicted = log_p.argmax(dim=1)
    groups = [log_p[predicted == c] for c in sorted(set(predicted.tolist()))]
    return torch.stack([torch.logsumexp(group, dim=0) - math.log(len(group)) for group in groups])


def smallest_divergence(log_p: torch.Tensor, log_q: torch.Tensor) -> torch.Tensor:
    """Min over the rows q of KL(p, q) = sum p (log p - log q), never below 0: higher is more novel."""
    p = log_p.exp()
    return ((p * log_p).sum(dim=1) - (p @ log_q.T).amax(dim=1)).clamp_min(0.0)


@detectors.register("kl-matching")
class KlMatching(Detector):
    """How far the class probabilities are from the usual ones of every predicted class.

    At least 0, and unbounded.
    """

    bounded = False
    reads_probabilities = True

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Learns the mean probabilities by predicted class."""
        graph, vertices = calibration.graph, calibration.vertices
        if not len(vertices):
            graph, vertices = train.graph, fit_vertices
        self.log_templates_ = log_templates(_log_p(model, graph)[torch.from_numpy(vertices)])

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """At least 0."""
        if not hasattr(self, "log_templates_"):
            raise PluginError("kl-matching has not been fitted; call fit first")
        return smallest_divergence(_log_p(model, graph), self.log_templates_).numpy()


def _log_p(model: Model, graph: Graph) -> torch.Tensor:
    return torch.log_softmax(model.outputs(graph).logits.double(), dim=1)
