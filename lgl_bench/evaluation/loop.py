"""The loop that somebody else writes: tasks are handed out one after the other, and answered before the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from lgl_bench.core.errors import UsageError
from lgl_bench.core.progress import is_watched, progress_bar
from lgl_bench.core.types import IntArray, Task
from lgl_bench.evaluation.answer import Answer, checked_answer
from lgl_bench.evaluation.answered import Answered, Place
from lgl_bench.evaluation.given_outputs import GivenOutputs
from lgl_bench.evaluation.result import EvaluationResult
from lgl_bench.evaluation.scoring import OutputScoring
from lgl_bench.plans.budget import budget as budget_of
from lgl_bench.plans.external import ExternalRequest, check_method, setting_of
from lgl_bench.plans.plan import MAX_SEEDS
from lgl_bench.protocols.sealing import sealed
from lgl_bench.streams.catalogue import is_twin, load
from lgl_bench.streams.stream import Stream


class Evaluation:
    """Tasks for a method of your own, and grades for its answers.

        evaluation = Evaluation("ogb-arxiv-twin", method="mine")
        for task in evaluation:
            predicted, novelty = my_method(task)
            evaluation.answer(task, predicted=predicted, novelty=novelty)
        print(evaluation.result())

    Learn from `task.train` where `task.fit_mask` holds; answer for the vertices `task.scored` of `task.test`. Nothing
    that is reachable from a task holds labels of the vertices it asks about. A loop that was interrupted goes on with
    the task that is still to be answered when it is begun again. `seed` is the seed of the task that was handed out
    last: take it for all that your method draws.

    Args:
        stream: A stream, or its name.
        method: A name of your own: the row's detector, lower case.
        protocol: "temporal", or "leave-class-out" for static graphs.
        seed: The only seed, unless `seeds` is given.
        seeds: How many seeds, from 0 on; intervals need three.
        split: Of a static graph: "60-20-20" or "planetoid".
        history: Years of the past that a task shows; None for all.
        label_delay: Years until labels arrive.
        budget: Whose rows yours may be compared with. "paper" sets no limits; "quick" and "smoke" do, and whoever
            names one says that the method kept to it.
        detectors: Of ours, as expressions, for answers by logits; all that can be run on them otherwise.
        data_dir: Folder of the streams.
        progress: Whether a bar is shown; by default on a terminal and in a notebook.
    """

    def __init__(
        self,
        stream: str | Stream,
        *,
        method: str,
        protocol: str = "temporal",
        seed: int = 0,
        seeds: int | None = None,
        split: str = "",
        history: int | None = None,
        label_delay: int = 0,
        budget: str = "paper",
        detectors: Sequence[str] = (),
        data_dir: str | Path | None = None,
        progress: bool | None = None,
    ) -> None:
        check_method(method)
        budget_of(budget)
        self.request = ExternalRequest(method, protocol, split, history, label_delay, budget)
        self._data_dir = None if data_dir is None else Path(data_dir)
        self.stream = load(stream, self._data_dir) if isinstance(stream, str) else stream
        # As in a run: a twin with a changed recipe goes by its canonical name.
        own = isinstance(stream, Stream) or is_twin(stream)
        self.name = self.stream.name if own else str(stream)
        self._seeds = _seeds(seed, seeds)
        self.seed = self._seeds[0]
        self._protocol = setting_of(self.request, self.name).protocol.build()
        self._answers: dict[Place, Answer] = {}
        self._unanswered: dict[Place, str] = {}
        self._handed: list[tuple[Place, IntArray]] = []
        self._open: tuple[Place, Task] | None = None
        self._walk = self._tasks()
        self._scoring = OutputScoring(tuple(detectors))
        self._progress = progress

    def __iter__(self) -> Iterator[Task]:
        shown = is_watched() if self._progress is None else self._progress
        total = len(self._seeds) * sum(1 for _ in self._protocol.tasks(self.stream, 0)) if shown else 0
        with progress_bar(total, self.request.method, "task") if shown else nullcontext() as bar:
            while self._advance():
                assert self._open is not None
                handed = self._open[1]
                yield handed
                self._close(handed)
                if bar is not None:
                    bar.update()

    def answer(
        self,
        task: Task,
        *,
        predicted: Any = None,
        novelty: Any = None,
        rejected: Any = None,
        confidence: Any = None,
        logits: Any = None,
        embeddings: Any = None,
        train_logits: Any = None,
        train_embeddings: Any = None,
    ) -> None:
        """Answers the task that was handed out last: by `predicted` and `novelty`, or by `logits`.

        Lists, arrays and tensors are taken, in the order of `task.scored`.

        Args:
            task: The task.
            predicted: For each of `task.scored` the id of a class of `task.known`: column j is `task.known[j]`.
            novelty: For each of them a finite number, on any scale; higher is more novel.
            rejected: Whether each of them is called new, if your method decides.
            confidence: Probability of the predicted class, if your method has it.
            logits: (vertices of `task.test`, classes of `task.known`): our detectors score them, a row each.
            embeddings: (vertices of `task.test`, any width), for detectors that look at them.
            train_logits: The same of `task.train.graph`, for detectors that learn from the training vertices.
            train_embeddings: The same.

        Raises:
            UsageError: Something has another shape, is not finite or no known class, or the task is not the one that
                was handed out last; the message says which.
        """
        place = self._place(task)
        own = predicted is not None or novelty is not None
        if own == (logits is not None):
            raise UsageError("answer with predicted= and novelty=, or with logits=: one of the two")
        self._check_same_kind(own)
        if own:
            if predicted is None or novelty is None:
                raise UsageError("predicted= and novelty= go together: a class and a number for each of task.scored")
            answer = checked_answer(task, self.request.method, predicted, novelty, rejected, confidence)
        else:
            if rejected is not None or confidence is not None:
                raise UsageError("rejected= and confidence= go with predicted= and novelty=, not with logits=")
            model = GivenOutputs(task.known)
            model.give("logits", task.test, logits, embeddings)
            if train_logits is not None:
                model.give("train_logits", task.train.graph, train_logits, train_embeddings)
            answer = self._scoring.answer(task, model, place.seed)
        self._answers[place] = answer

    def result(self) -> EvaluationResult:
        """The grades of all answers so far; a task without an answer is a failed year, with its reason.

        Raises:
            UsageError: Nothing was answered.
        """
        if not self._answers:
            raise UsageError("no task was answered yet: iterate over the evaluation and call answer() for its tasks")
        given = self._answers.values()
        request = replace(
            self.request,
            detectors=self._scoring.kept,
            decides=any(one.rejected is not None for one in given),
            bounded=all(one.bounded for one in given),
        )
        answered = Answered(request, self.name, self.stream, self._seeds, dict(self._answers), dict(self._unanswered))
        return EvaluationResult(answered, self._data_dir, dict(self._scoring.left_out))

    def _tasks(self) -> Iterator[tuple[Place, Task]]:
        for seed in self._seeds:
            drawn = seed if self.stream.static else 0  # as in a run: years are the same for every seed
            for index, (task, _) in enumerate(self._protocol.tasks(self.stream, drawn)):
                if not task.skip_reason:
                    yield Place(seed, index), sealed(task)

    def _advance(self) -> bool:
        """Whether there is a task to answer: the one that is still open, or the next."""
        if self._open is None:
            self._open = next(self._walk, None)
            if self._open is not None:
                place, task = self._open
                self.seed = place.seed
                self._handed.append((place, task.scored))
        elif self._open[0] in self._answers:
            self._open = None
            return self._advance()
        return self._open is not None

    def _close(self, task: Task) -> None:
        """Ends a task when the next one is asked for."""
        if self._open is not None and self._open[1] is task:
            place = self._open[0]
            if place not in self._answers:
                self._unanswered[place] = "no answer was given before the next task was asked for"
            self._open = None

    def _place(self, task: Task) -> Place:
        """The place of a task that may be answered now."""
        found = next((place for place, scored in self._handed if scored is task.scored), None)
        if found is None:
            raise UsageError(
                "this task was not handed out by this evaluation: answer the tasks that 'for task in evaluation' gives"
            )
        which = f"the task of {task.fold or task.time}, seed {found.seed},"
        if found in self._answers:
            raise UsageError(f"{which} is answered already; a task is answered once")
        if self._open is None or found != self._open[0]:
            raise UsageError(
                f"{which} cannot be answered any more: later tasks, whose labels tell about it, were handed out; "
                "answer each task before the next is asked for"
            )
        return found

    def _check_same_kind(self, own: bool) -> None:
        if self._answers and own == self._scoring.begun:
            raise UsageError("some tasks were answered by logits and others by novelty; answer all in one way")


def _seeds(seed: int, seeds: int | None) -> tuple[int, ...]:
    if seeds is not None and seed:
        raise UsageError("give seed= for one seed, or seeds= for how many from 0 on, not both")
    count = 1 if seeds is None else seeds
    if not 1 <= count <= MAX_SEEDS or not 0 <= seed < MAX_SEEDS:
        raise UsageError(f"seed = {seed}, seeds = {seeds}: a seed is not negative, and 1 to {MAX_SEEDS:,} are taken")
    return (seed,) if seeds is None else tuple(range(seeds))
