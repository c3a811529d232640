"""Detectors that are broken on purpose: each fails the check made for it, with a message that says what is wrong."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch

from lgl_bench.checks import check_plugin
from lgl_bench.core.errors import PluginError
from lgl_bench.detectors import Detector, detectors
from lgl_bench.detectors.msp import msp


@pytest.fixture
def failures(check):
    return lambda plugin: check(detectors, "detectors", plugin)


class Sound(Detector):
    def score(self, model, graph):
        return msp(model.outputs(graph).logits).numpy()


class TurnedRound(Sound):
    def score(self, model, graph):
        return 1 - super().score(model, graph)


class Column(Sound):
    def score(self, model, graph):
        return super().score(model, graph)[:, None]


class Peeks(Sound):
    """Learns from labels outside the training vertices."""

    def fit(self, model, train, fit_vertices, calibration):
        outside = np.setdiff1d(np.arange(len(train.labels)), fit_vertices)
        self.shift_ = train.labels[outside].sum() / 1e6

    def score(self, model, graph):
        if not hasattr(self, "shift_"):
            raise PluginError("call fit first")
        return np.clip(super().score(model, graph) + self.shift_, 0, 1)


class Mutates(Sound):
    def score(self, model, graph):
        scores = super().score(model, graph)
        graph.features[0, 0] += 1.0
        return scores


class MutatesTheModel(Sound):
    def fit(self, model, train, fit_vertices, calibration):
        next(model.parameters()).data.mul_(1.0001)

    def score(self, model, graph):
        return super().score(model, graph)


class MutatesTheEdges(Sound):
    def score(self, model, graph):
        scores = super().score(model, graph)
        graph.edges[:, 0] = 0
        return scores


class MutatesOutputs(Sound):
    def score(self, model, graph):
        scores = super().score(model, graph)
        model.outputs(graph).logits.zero_()
        return scores


class MutatesTheKnownClasses(Sound):
    def fit(self, model, train, fit_vertices, calibration):
        model.known[0] += 1

    def score(self, model, graph):
        return super().score(model, graph)


class ForgetsAKnownClass(MutatesTheKnownClasses):
    def fit(self, model, train, fit_vertices, calibration):
        model.known = model.known[:-1]


class WritesIntoItsFlags(Sound):
    """Insists: what is read-only is made writable first."""

    def fit(self, model, train, fit_vertices, calibration):
        train.labels.setflags(write=True)
        train.labels[0] = 0 if train.labels[0] else 1

    def score(self, model, graph):
        return super().score(model, graph)


class Leaves(Sound):
    """Ends the command it is checked with, and changes what the next one computes with."""

    def score(self, model, graph):
        torch.set_default_dtype(torch.float64)
        sys.exit(0)


class ChangesAParameter(Sound):
    def __init__(self, temperature: float = 1.0) -> None:
        self.temperature = temperature

    def fit(self, model, train, fit_vertices, calibration):
        self.temperature = 2.0
        self.fitted_ = True

    def score(self, model, graph):
        if not hasattr(self, "fitted_"):
            raise PluginError("call fit first")
        return super().score(model, graph)


class Unpicklable(Sound):
    def fit(self, model, train, fit_vertices, calibration):
        self.scale_ = lambda scores: scores

    def score(self, model, graph):
        if not hasattr(self, "scale_"):
            raise PluginError("call fit first")
        return self.scale_(super().score(model, graph))


class Noisy(Sound):
    def score(self, model, graph):
        return 0.999 * super().score(model, graph) + 0.001 * np.random.default_rng().random(graph.num_vertices)


class NotANumber(Sound):
    def score(self, model, graph):
        scores = super().score(model, graph)
        scores[3] = np.nan
        return scores


class OutOfRange(Sound):
    def score(self, model, graph):
        return 3 * super().score(model, graph)


class Unfitted(Sound):
    """Gives an error nobody can read when it is not fitted."""

    def fit(self, model, train, fit_vertices, calibration):
        self.one_ = 1.0

    def score(self, model, graph):
        return self.one_ * super().score(model, graph)


class ByPosition(Sound):
    def score(self, model, graph):
        return np.clip(super().score(model, graph) * (1 + np.arange(graph.num_vertices) / 1000), 0, 1)


class NeedsEdges(Sound):
    def score(self, model, graph):
        return super().score(model, graph) * graph.edges[0].max() / graph.edges[0].max()


BROKEN = [
    (TurnedRound, "ranks planted novelty above chance", "sign"),
    (Column, "returns one finite score per vertex", ", 1)"),
    (Peeks, "reads no label it may not learn from", "peeks"),
    (ChangesAParameter, "keeps its parameters when fitted", "temperature"),
    (Unpicklable, "can be pickled", "pickle"),
    (Noisy, "returns the same scores again", "seed"),
    (NotANumber, "returns one finite score per vertex", "not finite"),
    (OutOfRange, "stays in its documented range", "bounded = False"),
    (Unfitted, "raises when it is not fitted", "AttributeError"),
    (ByPosition, "follows a renumbering of the vertices", "renumbering"),
    (NeedsEdges, "works without edges", "ValueError"),
]


def test_a_sound_detector_fails_nothing(failures):
    assert failures(Sound) == {}


@pytest.mark.parametrize(("plugin", "title", "said"), BROKEN, ids=[plugin.__name__ for plugin, *_ in BROKEN])
def test_a_broken_detector_fails_the_check_made_for_it_with_a_message_that_says_why(failures, plugin, title, said):
    found = failures(plugin)
    assert said in found[title]


@pytest.mark.parametrize(
    ("plugin", "what"),
    [
        (Mutates, "features"),
        (MutatesTheEdges, "edges"),
        (MutatesTheModel, "weights"),
        (MutatesOutputs, "outputs"),
        (MutatesTheKnownClasses, "known classes"),
        (ForgetsAKnownClass, "known classes"),
        (WritesIntoItsFlags, "labels"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_detector_that_changes_its_input_is_told_what_to_copy(failures, plugin, what):
    assert failures(plugin)["leaves its input as it was"].startswith(f"{what} were changed; copy")


def test_a_detector_that_exits_fails_its_checks_and_leaves_the_process_as_it_was(failures):
    assert "SystemExit" in failures(Leaves)["returns one finite score per vertex"]
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize("plugin", [TurnedRound, Peeks, ChangesAParameter, Unpicklable, Unfitted, ByPosition])
def test_one_fault_fails_one_check(failures, plugin):
    assert len(failures(plugin)) == 1


def test_a_plugin_that_changes_its_input_does_not_spoil_the_checks_of_another(failures):
    assert failures(Mutates)
    assert not [result for result in check_plugin("detectors", "msp") if result.status == "failed"]
