"""Deep ensembles (Lakshminarayanan et al. 2017): a detector on several fits that differ in their seed alone.

A detector that reads nothing but p = softmax(f) scores the mean p of the members. Of any other one the novelty is the
mean of its raw scores, each member scored as if it were alone. The classes of such a row are those of the mean p too.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.members import ENSEMBLE, MAX_MEMBERS
from lgl_bench.core.seeds import member_seed
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.training.ensemble import EnsembleModel
from lgl_bench.training.model import Model


@detectors.register(ENSEMBLE)
class Ensemble(Detector):
    """Several fits that differ in their seed alone, scored by their mean.

    A run fits all members of a row for it; member 0 has the run's own seed.

    Args:
        base: The detector that scores the mean, or each member.
        members: How many fits; 1 is the detector itself.
    """

    reads_outputs = False
    cost = "several fits"

    def __init__(self, base: Detector, members: int = 5) -> None:
        if not 1 <= members <= MAX_MEMBERS:
            raise UsageError(f"members = {members}: it must lie between 1 and {MAX_MEMBERS}")
        if _holds_ensemble(base):
            raise UsageError("an ensemble within an ensemble is none: name one with more members instead")
        self.base = base
        self.members = members
        self.heads = base.heads  # type: ignore[misc]
        self.bounded = base.bounded  # type: ignore[misc]
        self.track = base.track  # type: ignore[misc]

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Fits the wrapped detector on the mean, or a copy of it on each member, with the seed of that member."""
        models = self._models(model)
        given = [(train, fit_vertices, calibration)]
        if len(models) > 1:
            given = [_seen_by(number, model, *given[0]) for number in range(len(models))]
        self.fitted_ = [copy.deepcopy(self.base) for _ in models]
        for one, detector, own in zip(models, self.fitted_, given, strict=True):
            detector.fit(one, *own)

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In the range of the wrapped detector."""
        if not hasattr(self, "fitted_"):
            raise PluginError("ensemble has not been fitted; call fit first")
        models = self._models(model)
        scores = [detector.score(one, graph) for one, detector in zip(models, self.fitted_, strict=True)]
        return np.asarray(np.mean(scores, axis=0)) if len(scores) > 1 else scores[0]

    def _models(self, model: Model) -> list[Model]:
        """What the wrapped detector is asked with: the mean, or every member."""
        parts = model.parts if isinstance(model, EnsembleModel) else [model]
        if len(parts) != self.members:
            raise PluginError(f"ensemble has {self.members} members and was given a fit of {len(parts)}")
        return [model] if self.base.reads_probabilities else parts


def _seen_by(
    number: int, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration
) -> tuple[Snapshot, IntArray, Calibration]:
    """What a member was trained on, and its calibration by its own model of then."""
    before = calibration.model
    assert isinstance(model, EnsembleModel) and isinstance(before, EnsembleModel)
    seed = member_seed(calibration.seed, number)
    calibration = replace(calibration, model=before.parts[number], seed=seed)
    if before.views:
        then = before.views[number]
        fit = np.flatnonzero(then.fit_mask)
        calibration = replace(calibration, train=then.train, fit_vertices=fit)
    if model.views:
        train, fit_vertices = model.views[number].train, np.flatnonzero(model.views[number].fit_mask)
    return train, fit_vertices, calibration


def _holds_ensemble(detector: Detector | None) -> bool:
    while detector is not None:
        if isinstance(detector, Ensemble):
            return True
        detector = getattr(detector, "base", None)
    return False
