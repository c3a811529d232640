"""Which statistics a pair of rows gets, given what is at hand.

- both rows from run folders, years or a published split: the paired bootstrap over seeds and vertices, with the exact
  sign-flip test over years beside it;
- both from run folders, seeds that split anew: the corrected resampled t-test over seeds;
- both from run folders, but answers or labels are missing, or the metric cannot be drawn: a paired t over seeds;
- only tables: Welch's t over seeds;
- a printed row: nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lgl_bench.core.errors import LglBenchError
from lgl_bench.core.types import FloatArray
from lgl_bench.leaderboard.answers import Answers, Labels, Method, Plan, load_answers, shared, stream_labels
from lgl_bench.leaderboard.stats import bootstrap
from lgl_bench.leaderboard.stats.bootstrap import Resampled, resample
from lgl_bench.leaderboard.stats.resampled import corrected_t, is_random, split_ratio
from lgl_bench.leaderboard.stats.signflip import FEWEST_YEARS, MOST_YEARS, sign_flip
from lgl_bench.leaderboard.stats.student import FEWEST_SEEDS, Difference, paired

BOOTSTRAP = "bootstrap"
RESAMPLED = "resampled-t"
SEEDS = "seeds-t"
WELCH = "welch"
PRINTED = "printed"
EXPLAINED = {
    BOOTSTRAP: "paired bootstrap over seeds and vertices, new and known apart within each year; the years are fixed",
    RESAMPLED: "corrected resampled t-test over seeds, each of which splits the graph anew (Nadeau and Bengio 2003)",
    SEEDS: "paired t over seeds; the vertices are taken as fixed",
    WELCH: "no answers at hand: only the spread over seeds is compared, by Welch's t, corrected where seeds split anew",
    PRINTED: "printed: no interval, not tested",
}


@dataclass(frozen=True, slots=True)
class Question:
    """Two rows of run folders and a metric; b is set against a."""

    a: Method
    b: Method
    metric: str
    split: str
    checksum: str

    @property
    def stream(self) -> str:
        """The stream of both."""
        return self.a[1][0]


@dataclass(slots=True)
class Outcome:
    """What came of a question.

    Attributes:
        test: One of the names above.
        seeds: Seeds behind it.
        years: Years behind the sign-flip test; 0 where it was not made.
        years_p: Its p, which assumes independent years.
        note: What could not be done, and why.
    """

    difference: Difference
    test: str
    seeds: int
    years: int = 0
    years_p: float | None = None
    note: str = ""


class Tester:
    """Answers questions, those that share their answers together, so that each method is drawn once.

    Args:
        data_dir: Where streams are kept.
        draws: Of the bootstrap.
        seed: Of the draws.
    """

    def __init__(self, data_dir: Path | None = None, draws: int = bootstrap.DRAWS, seed: int = 0) -> None:
        self.data_dir = data_dir
        self.draws = draws
        self.seed = seed
        self._labels: dict[tuple[str, str], Labels | str] = {}

    def ask(self, questions: Sequence[Question]) -> list[Outcome]:
        """One outcome a question."""
        found: dict[int, Outcome] = {}
        drawn: dict[tuple[str, str, Plan], list[int]] = defaultdict(list)
        for number, question in enumerate(questions):
            if is_random(question.split):
                found[number] = _resplit(question)
            elif question.metric in bootstrap.METRICS:
                drawn[question.stream, question.checksum, shared([question.a, question.b])].append(number)
            else:
                found[number] = _over_seeds(question, f"{question.metric} is not drawn from answers")
        for (stream, checksum, plan), numbers in drawn.items():
            found |= self._draw(stream, checksum, plan, {number: questions[number] for number in numbers})
        return [found[number] for number in range(len(questions))]

    def _draw(self, stream: str, checksum: str, plan: Plan, questions: Mapping[int, Question]) -> dict[int, Outcome]:
        methods = {_name(m): m for question in questions.values() for m in (question.a, question.b)}
        metrics = sorted({question.metric for question in questions.values()})
        try:
            if not plan.tasks:
                raise LglBenchError("no seed and year was answered by both")
            some = next(iter(questions.values()))
            answers = load_answers(methods, plan, self._known(stream, checksum), fixed_split=some.split != "temporal")
            graded = self._graded(answers, metrics)
        except LglBenchError as error:
            return {number: _over_seeds(question, str(error)) for number, question in questions.items()}
        return {number: _outcome(question, graded, plan) for number, question in questions.items()}

    def _graded(self, answers: Answers, metrics: Sequence[str]) -> dict[Any, dict[str, Resampled]]:
        found: dict[Any, dict[str, Resampled]] = {}
        decided = {name: sheets for name, sheets in answers.sheets.items() if sheets[0].rejected is not None}
        plain = [metric for metric in metrics if metric.startswith(("accuracy", "auroc"))]
        others = [metric for metric in metrics if metric not in plain]
        for sheets, wanted in ((answers.sheets, plain), (decided, others)):
            for name, values in resample(answers.cuts, sheets, wanted, self.draws, self.seed).items():
                found.setdefault(name, {}).update(values)
        return found

    def _known(self, stream: str, checksum: str) -> Labels:
        if (stream, checksum) not in self._labels:
            try:
                self._labels[stream, checksum] = stream_labels(stream, checksum, self.data_dir)
            except LglBenchError as error:
                self._labels[stream, checksum] = str(error)
        found = self._labels[stream, checksum]
        if isinstance(found, str):
            raise LglBenchError(found)
        return found


def _outcome(question: Question, graded: dict[Any, dict[str, Resampled]], plan: Plan) -> Outcome:
    names = _name(question.a), _name(question.b)
    if any(question.metric not in graded.get(name, {}) for name in names):
        return _over_seeds(question, f"the answers define no {question.metric}")
    a, b = (graded[name][question.metric] for name in names)
    if not plan.left_out:
        for method, values in zip((question.a, question.b), (a, b), strict=True):
            noted = method[0].per_seed(method[1], question.metric)
            if any(abs(noted[s] - v) > 1e-6 for s, v in zip(plan.seeds, values.points, strict=True) if s in noted):
                return _over_seeds(question, "the stored answers do not give the numbers of the row")
    note = f"{plan.left_out} tasks left out that not every seed answered" if plan.left_out else ""
    found = Outcome(bootstrap.difference(a, b), BOOTSTRAP, len(plan.seeds), note=note)
    years = len(a.tasks)
    if question.split == "temporal" and FEWEST_YEARS <= years <= MOST_YEARS:
        found.years, found.years_p = years, sign_flip((b.tasks - a.tasks).mean(axis=1))
    return _few(found)


def _name(method: Method) -> tuple[str, ...]:
    run, cells = method
    return (str(run.folder.resolve()), *cells)


def _resplit(question: Question) -> Outcome:
    differences = _paired(question)
    found = corrected_t(differences, split_ratio(question.split))
    return _few(Outcome(_same(differences, found), RESAMPLED, len(differences)))


def _over_seeds(question: Question, why: str) -> Outcome:
    differences = _paired(question)
    return _few(Outcome(_same(differences, paired(differences)), SEEDS, len(differences), note=why))


def _paired(question: Question) -> FloatArray:
    a, b = (method[0].per_seed(method[1], question.metric) for method in (question.a, question.b))
    return np.array([b[seed] - a[seed] for seed in sorted(set(a) & set(b))])


def _same(differences: FloatArray, found: Difference) -> Difference:
    """Equal values of every seed are a tie, however few."""
    return Difference(0.0, 0.0, 0.0, 1.0) if len(differences) and not differences.any() else found


def _few(found: Outcome) -> Outcome:
    if found.seeds < FEWEST_SEEDS and np.isnan(found.difference.p):
        few = f"{found.seeds} paired seeds, {FEWEST_SEEDS} are needed"
        found.note = f"{found.note}; {few}" if found.note else few
    return found
