"""What every threshold must keep."""

from __future__ import annotations

import numpy as np

from lgl_bench.checks.failure import Exempt, require
from lgl_bench.checks.planted import bench
from lgl_bench.core.errors import LglBenchError
from lgl_bench.core.expressions import Expression, build, complete, parse, signature
from lgl_bench.core.types import BoolArray, Scores
from lgl_bench.detectors import detectors
from lgl_bench.thresholds import Threshold, thresholds
from lgl_bench.thresholds.oracle import Oracle

_RATES = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)
# A higher q rejects more, a higher delta fewer.
_DIRECTION = {"q": 1, "delta": -1}


def decides_for_every_scored_vertex(name: str) -> None:
    """One bool for each of them."""
    rejected = _decide(complete(parse(name), thresholds))
    expected = len(_scores()[2].scored)
    require(
        rejected.shape == (expected,) and rejected.dtype == np.bool_,
        f"it returned {rejected.dtype} of shape {rejected.shape}; {expected} bools are needed",
    )


def raises_when_it_is_not_fitted(name: str) -> None:
    """A threshold that learns something refuses to decide before."""
    threshold = build(parse(name), thresholds)
    if type(threshold).fit is Threshold.fit and not isinstance(threshold, Oracle):
        raise Exempt("it learns nothing, so there is nothing to forget")
    try:
        threshold.reject(_scores()[2])
    except LglBenchError:
        return
    except Exception as error:
        require(False, f"deciding unfitted raised {type(error).__name__}; raise PluginError and say 'call fit first'")
    require(False, "it decided without having been fitted; raise PluginError")


def leaves_its_input_as_it_was(name: str) -> None:
    """Scores are not changed."""
    scores = _scores()
    before = [(part.novelty.tobytes(), part.probabilities.tobytes()) for part in scores]
    _decide(complete(parse(name), thresholds), scores)
    after = [(part.novelty.tobytes(), part.probabilities.tobytes()) for part in scores]
    require(before == after, "the scores were changed; copy what you change")


def decides_the_same_again(name: str) -> None:
    """Same seed, same decision."""
    expression = complete(parse(name), thresholds)
    require(np.array_equal(_decide(expression), _decide(expression)), "it decided differently under the same seed")


def is_monotone_in_its_rate(name: str) -> None:
    """A larger share asked for never rejects fewer."""
    _, accepted = signature(thresholds.get(name))
    rate = next((parameter for parameter in _DIRECTION if parameter in accepted), None)
    if rate is None:
        raise Exempt("it has no rate")
    if name == "open-wrf":
        raise Exempt("a classifier is trained anew for every q, so neighbouring rates are not ordered")
    shares = [float(_decide(complete(parse(f"{name}({rate}={value})"), thresholds)).mean()) for value in _RATES]
    ordered = all(_DIRECTION[rate] * (b - a) >= 0 for a, b in zip(shares[:-1], shares[1:], strict=True))
    require(ordered, f"shares rejected at {rate} = {_RATES} are {shares}: not monotone")


CHECKS = (
    decides_for_every_scored_vertex,
    raises_when_it_is_not_fitted,
    leaves_its_input_as_it_was,
    decides_the_same_again,
    is_monotone_in_its_rate,
)


def _scores() -> tuple[Scores, Scores, Scores]:
    """Training, calibration and test scores of MSP on the planted stream."""
    item = bench("softmax")
    detector = build(parse("msp"), detectors)
    parts = []
    for graph, vertices, labels in (
        (item.task.train.graph, item.fit_vertices, item.model.columns(item.task.train.labels)),
        (item.task.train.graph, item.calibration.vertices, None),
        (item.task.test, item.task.scored, None),
    ):
        novelty, probabilities = detector.score(item.model, graph), item.model.probabilities(graph)
        parts.append(Scores(novelty, probabilities, graph, vertices, labels))
    return parts[0], parts[1], parts[2]


def _decide(expression: Expression, scores: tuple[Scores, Scores, Scores] | None = None) -> BoolArray:
    train, calibration, test = scores or _scores()
    threshold = build(expression, thresholds)
    if isinstance(threshold, Oracle):
        threshold.reveal(bench("softmax").new)
    threshold.fit(train, calibration, seed=0)
    return np.asarray(threshold.reject(test))
