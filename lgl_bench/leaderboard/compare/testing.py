"""Which statistics a pair of rows gets, given what is available.

- both rows from run folders, years or a published split: the paired bootstrap over seeds and vertices, with the exact
  sign-flip test over years beside it;
- both from run folders, seeds that split anew: the corrected resampled t-test over seeds;
- both from run folders, but answers or labels are missing, or the metric cannot be drawn: a paired t over seeds;
- only tables: what is kept beside them (`board_tests.py`), else Welch's t over seeds;
- a printed row: nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from lgl_bench.core.errors import LglBenchError
from lgl_bench.core.types import FloatArray
from lgl_bench.grading.labels import Labels, stream_labels
from lgl_bench.leaderboard.compare.answers import (
    Answers,
    Cells,
    Method,
    Run,
    SharedTasks,
    load_answers,
    shared,
)
from lgl_bench.leaderboard.compare.kept import KeptTests
from lgl_bench.leaderboard.compare.questions import BOOTSTRAP, RESAMPLED, SEEDS, PairResult, Question
from lgl_bench.leaderboard.stats import bootstrap
from lgl_bench.leaderboard.stats.bootstrap import Resampled, drawable, resample
from lgl_bench.leaderboard.stats.evidence import of_seeds
from lgl_bench.leaderboard.stats.resampled import is_random, split_ratio
from lgl_bench.leaderboard.stats.signflip import MAX_YEARS, MIN_YEARS, sign_flip
from lgl_bench.leaderboard.stats.student import MIN_SEEDS
from lgl_bench.runs.records import DamagedError

Drawn: TypeAlias = dict[Cells, dict[str, Resampled]]
"""What was drawn, per method, whose cells follow the folder of its run, and per metric."""
DrawListener: TypeAlias = Callable[[str, int, int], None]
"""Called with a stream, the tasks that were drawn from, and how many there are."""
_SAME = 1e-6
"""How far a value of the answers may lie from that of the year rows."""


class Tester:
    """Answers questions, those that share their answers together, so that each method is drawn once.

    What a run folder keeps of its own tests (`kept.py`) is not computed again.

    Args:
        data_dir: Where streams are kept.
        draws: Of the bootstrap.
        seed: Of the draws.
        labels: Of streams that are loaded already, by name and checksum.
        kept: Whether what run folders keep counts; not if the year rows may be others than those in the folder.
        listener: Told how far the draws of a stream are.
    """

    def __init__(
        self,
        data_dir: Path | None = None,
        draws: int = bootstrap.DRAWS,
        seed: int = 0,
        labels: Mapping[tuple[str, str], Labels] | None = None,
        *,
        kept: bool = True,
        listener: DrawListener | None = None,
    ) -> None:
        self.data_dir = data_dir
        self.draws = draws
        self.seed = seed
        self._labels: dict[tuple[str, str], Labels | str] = dict(labels or {})
        self._drawn: dict[SharedTasks, Drawn] = defaultdict(dict)
        self._kept: dict[Path, KeptTests] | None = {} if kept else None
        self._listener = listener

    def ask(self, questions: Sequence[Question]) -> list[PairResult]:
        """One result per question."""
        known = {number: found for number, question in enumerate(questions) if (found := self._look_up(question))}
        fresh = {number: question for number, question in enumerate(questions) if number not in known}
        asked = dict(zip(fresh, self._test(list(fresh.values())), strict=True))
        for number, result in asked.items():
            kept = self._kept_of(fresh[number])
            if kept is not None and result.test in (BOOTSTRAP, RESAMPLED):
                kept.add(fresh[number].pair, result)
        return [known[number] if number in known else asked[number] for number in range(len(questions))]

    def remember(self, run: Run, plan: SharedTasks, drawn: Mapping[Cells, dict[str, Resampled]]) -> None:
        """Takes over what somebody else drew, with as many draws and the same seed, from the answers of a run."""
        self._drawn[plan] |= {_name((run, cells)): metrics for cells, metrics in drawn.items()}

    def keep(self) -> None:
        """Writes what was tested within run folders, so that nobody computes it again."""
        for kept in (self._kept or {}).values():
            kept.write()

    def kept(self, run: Run) -> KeptTests | None:
        """What a run folder keeps; None if that does not count."""
        if self._kept is None:
            return None
        if run.folder not in self._kept:
            self._kept[run.folder] = KeptTests(run.folder, self.draws, self.seed)
        return self._kept[run.folder]

    def _kept_of(self, question: Question) -> KeptTests | None:
        """What the run folder of both rows keeps; None if they are from two."""
        return self.kept(question.a[0]) if question.b[0].folder == question.a[0].folder else None

    def _look_up(self, question: Question) -> PairResult | None:
        kept = self._kept_of(question)
        return kept.get(question.pair) if kept is not None else None

    def _test(self, questions: Sequence[Question]) -> list[PairResult]:
        found: dict[int, PairResult] = {}
        drawn: dict[tuple[str, str, SharedTasks], list[int]] = defaultdict(list)
        able = {*drawable(decisions=False), *drawable(decisions=True)}
        for number, question in enumerate(questions):
            if is_random(question.split):
                found[number] = _resplit(question)
            elif not all(run.has_answers for run, _ in (question.a, question.b)):
                found[number] = _over_seeds(question, f"{question.b[0].folder}/answers is missing")
            elif question.metric in able:
                drawn[question.stream, question.checksum, shared([question.a, question.b])].append(number)
            else:
                found[number] = _over_seeds(question, f"{question.metric} is not drawn from answers")
        for (stream, checksum, plan), numbers in drawn.items():
            found |= self._draw(stream, checksum, plan, {number: questions[number] for number in numbers})
        return [found[number] for number in range(len(questions))]

    def _draw(
        self, stream: str, checksum: str, plan: SharedTasks, questions: Mapping[int, Question]
    ) -> dict[int, PairResult]:
        methods = {_name(m): m for question in questions.values() for m in (question.a, question.b)}
        metrics = sorted({question.metric for question in questions.values()})
        try:
            if not plan.tasks:
                raise LglBenchError("no seed and year was answered by both")
            graded = self._drawn.get(plan, {})
            if not all(question.metric in graded.get(name, {}) for name, question in _asked(questions)):
                fixed = next(iter(questions.values())).split != "temporal"
                answers = load_answers(methods, plan, self._known(stream, checksum), fixed_split=fixed)
                graded = self._graded(stream, answers, metrics)
        except DamagedError:
            raise
        except LglBenchError as error:
            return {number: _over_seeds(question, str(error)) for number, question in questions.items()}
        return {number: _drawn_result(question, graded, plan) for number, question in questions.items()}

    def _graded(self, stream: str, answers: Answers, metrics: Sequence[str]) -> Drawn:
        found: Drawn = {}
        tasks = 0

        def count() -> None:
            nonlocal tasks
            tasks += 1
            if self._listener is not None:
                self._listener(stream, tasks, 2 * len(answers.cuts))

        decided = {name: sheets for name, sheets in answers.sheets.items() if sheets[0].rejected is not None}
        others = [metric for metric in drawable(decisions=True) if metric in metrics]
        plain = [metric for metric in metrics if metric not in others]
        for sheets, wanted in ((answers.sheets, plain), (decided, others)):
            for name, values in resample(answers.cuts, sheets, wanted, self.draws, self.seed, count).items():
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


def _drawn_result(question: Question, graded: Drawn, plan: SharedTasks) -> PairResult:
    names = _name(question.a), _name(question.b)
    if any(question.metric not in graded.get(name, {}) for name in names):
        return _over_seeds(question, f"the answers define no {question.metric}")
    a, b = (graded[name][question.metric] for name in names)
    if not plan.left_out:
        for method, values in zip((question.a, question.b), (a, b), strict=True):
            graded_as = method[0].per_seed(method[1], question.metric)
            points = zip(plan.seeds, values.points, strict=True)
            if any(abs(graded_as[seed] - value) > _SAME for seed, value in points if seed in graded_as):
                return _over_seeds(question, "the stored answers do not give the numbers of the row")
    note = f"{plan.left_out} tasks left out that not every seed answered" if plan.left_out else ""
    found = PairResult(bootstrap.evidence(a, b), BOOTSTRAP, note=note)
    years = len(a.tasks)
    if question.split == "temporal" and MIN_YEARS <= years <= MAX_YEARS:
        found.years, found.years_p = years, sign_flip((b.tasks - a.tasks).mean(axis=1))
    return _few(found)


def _asked(questions: Mapping[int, Question]) -> Iterator[tuple[Cells, Question]]:
    """Every method that is asked for, with the question it is in."""
    for question in questions.values():
        yield _name(question.a), question
        yield _name(question.b), question


def _name(method: Method) -> Cells:
    run, cells = method
    return (str(run.folder.resolve()), *cells)


def _resplit(question: Question) -> PairResult:
    return _few(PairResult(of_seeds(_paired(question), split_ratio(question.split)), RESAMPLED))


def _over_seeds(question: Question, reason: str) -> PairResult:
    return _few(PairResult(of_seeds(_paired(question)), SEEDS, note=reason))


def _paired(question: Question) -> FloatArray:
    a, b = (method[0].per_seed(method[1], question.metric) for method in (question.a, question.b))
    return np.array([b[seed] - a[seed] for seed in sorted(set(a) & set(b))])


def _few(found: PairResult) -> PairResult:
    if found.seeds < MIN_SEEDS and np.isnan(found.evidence.difference().p):
        few = f"{found.seeds} paired seeds, {MIN_SEEDS} are needed"
        found.note = f"{found.note}; {few}" if found.note else few
    return found
