"""A file of answers, graded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.evaluation.answer import Answer
from lgl_bench.evaluation.answer_file import NO_ROWS, AnswerFile
from lgl_bench.evaluation.answered import Answered, Place
from lgl_bench.evaluation.result import EvaluationResult
from lgl_bench.plans.budget import budget as budget_of
from lgl_bench.plans.external import ExternalRequest, check_method, setting_of
from lgl_bench.streams.catalogue import is_twin, load
from lgl_bench.streams.stream import Stream


def grade(
    path: str | Path,
    stream: str,
    *,
    method: str = "",
    protocol: str = "temporal",
    seed: int = 0,
    split: str = "",
    history: int | None = None,
    label_delay: int = 0,
    budget: str = "paper",
    data_dir: str | Path | None = None,
) -> EvaluationResult:
    """Grades answers that were made elsewhere.

    The file has the columns `vertex`, `time`, `class_pred` and `novelty`, and may have `rejected`, `confidence`, `seed`
    and, for protocols without years, `fold`.

    Args:
        path: A Parquet or CSV file.
        stream: By name.
        method: Its name, lower case; that of the file otherwise.
        protocol: "temporal" or "leave-class-out".
        seed: Of the answers, if the file does not say.
        split: Of a static graph: "60-20-20" or "planetoid".
        history: Years of the past that the method saw; None for all.
        label_delay: Years until labels arrived.
        budget: Whose rows it may be compared with: see `Evaluation`.
        data_dir: Folder of the streams.

    Raises:
        DataError: Something in the file cannot be graded; the message names its row and column.
    """
    name = method or Path(path).stem
    check_method(name)
    budget_of(budget)
    if seed < 0:
        raise UsageError(f"seed = {seed}: a seed is not negative")
    request = ExternalRequest(name, protocol, split, history, label_delay, budget)
    folder = None if data_dir is None else Path(data_dir)
    opened = load(stream, folder)
    known = opened.name if is_twin(stream) else stream
    answered = _answered(AnswerFile(Path(path)), request, known, opened, seed)
    if not answered.answers:
        raise DataError(f"{path} answers no task of {known}")
    return EvaluationResult(answered, folder)


def _answered(file: AnswerFile, request: ExternalRequest, name: str, stream: Stream, seed: int) -> Answered:
    """The answers of a file, task by task."""
    cut = setting_of(request, name).protocol.build()
    answers: dict[Place, Answer] = {}
    reasons: dict[Place, str] = {}
    seeds = file.seeds or (seed,)
    for one in seeds:
        asked = list(cut.tasks(stream, one if stream.static else 0))
        file.check_tasks([(task.time, task.fold) for task, _ in asked])
        for number, (task, truth) in enumerate(asked):
            found = file.answer(task, truth, stream.ids, request.method, one if file.seeds else None)
            if found is None:
                reasons[Place(one, number)] = NO_ROWS
            elif not task.skip_reason:
                answers[Place(one, number)] = found
    given = answers.values()
    decides, bounded = any(one.rejected is not None for one in given), all(one.bounded for one in given)
    return Answered(replace(request, decides=decides, bounded=bounded), name, stream, seeds, answers, reasons)
