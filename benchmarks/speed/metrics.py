"""Speed of grading: every metric of one year for all detectors, and the emerging classes of all years, one thread.

    python benchmarks/speed/metrics.py [--vertices 40000] [--detectors 10] [--repeat 5]

Answers are drawn at random, a third of the scores in ties: the metrics do not care where scores come from.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lgl_bench.core.types import BoolArray, FloatArray, IntArray, Value
from lgl_bench.metrics.calibration import ece
from lgl_bench.metrics.classification import accuracy, class_macro_f1
from lgl_bench.metrics.decisions import macro_f1, mcc, micro_f1, open_f1, rejected_share
from lgl_bench.metrics.emerging import YearAnswers, classification_lag, detection_delay
from lgl_bench.metrics.ranking import aupr, aupr_known, auroc, fpr95, fpr95_known, oscr, prevalence


@dataclass(frozen=True, slots=True)
class Year:
    """Made-up answers of one year: novelty and rejected have a row for each detector."""

    truth: IntArray
    predicted: IntArray
    known: IntArray
    novelty: FloatArray
    rejected: BoolArray


def draw(vertices: int, detectors: int, classes: int = 40, new: int = 4) -> Year:
    """Answers that are right six times in ten, with a novelty that says a little."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, classes, vertices)
    known = rng.permutation(classes - new)
    predicted = np.where(rng.random(vertices) < 0.6, truth % (classes - new), rng.choice(known, vertices))
    novelty = np.clip(rng.random((detectors, vertices)) + 0.1 * (truth >= classes - new), 0, 1)
    third = rng.random(novelty.shape) < 1 / 3
    novelty[third] = novelty[third].round(2)
    return Year(truth, predicted, known, novelty, novelty > 0.9)


def grade(year: Year) -> dict[str, list[Value]]:
    """All metrics of all detectors, each with one threshold."""
    truth, predicted, known = year.truth, year.predicted, year.known
    new, correct = ~np.isin(truth, known), truth == predicted
    found = {
        "accuracy": [accuracy(truth, predicted, known)],
        "class_macro_f1": [class_macro_f1(truth, predicted, known)],
        "ece": [ece(truth, predicted, 1 - year.novelty[0], known)],
        "prevalence": [prevalence(new)],
        "oscr": [oscr(new, novelty, correct) for novelty in year.novelty],
        "open_f1": [open_f1(truth, predicted, known, rejected) for rejected in year.rejected],
        "rejected_share": [rejected_share(rejected) for rejected in year.rejected],
    }
    for ranking in (auroc, aupr, aupr_known, fpr95, fpr95_known):
        found[ranking.__name__] = [ranking(new, novelty) for novelty in year.novelty]
    for decision in (micro_f1, macro_f1, mcc):
        found[decision.__name__] = [decision(new, rejected) for rejected in year.rejected]
    return found


def emerging(year: Year, count: int = 20) -> None:
    """Delay and lag of all detectors over years whose model comes to know one more class each."""
    for novelty in year.novelty:
        answers = YearAnswers(0, year.truth, year.known, year.predicted, novelty=novelty)
        years = [replace(answers, time=i, known=year.known[year.known <= 10 + i]) for i in range(count)]
        detection_delay(years)
        classification_lag(years)


def best(action: Callable[[], object], repeat: int) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Prints every figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, default=40_000)
    parser.add_argument("--detectors", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    year = draw(given.vertices, given.detectors)
    graded = grade(year)
    assert all(value.value is not None for values in graded.values() for value in values)
    print(
        f"{len(graded)} metrics of one year, {given.vertices} scored vertices, {given.detectors} detectors: "
        f"{best(lambda: grade(year), given.repeat):.3f} s (to be under 1 s)"
    )
    print(
        f"delay and lag of emerging classes, 20 such years, {given.detectors} detectors: "
        f"{best(lambda: emerging(year), 1):.3f} s"
    )


if __name__ == "__main__":
    main()
