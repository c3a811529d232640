"""All answers of an evaluation, and the plan and the store that are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from lgl_bench.evaluation.answer import Answer
from lgl_bench.evaluation.unit_answers import UnitAnswers, unit_answers
from lgl_bench.plans.external import ExternalRequest, external_plan
from lgl_bench.plans.fits import ChainSpec
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.stream import Stream

NOT_REACHED = "no answer was given: the loop ended before this task"


class Place(NamedTuple):
    """Which task: the seed, and its number in the protocol."""

    seed: int
    number: int


@dataclass
class Answered:
    """What was asked, and what was answered.

    Attributes:
        request: What is known of the method.
        name: Of the stream.
        stream: The stream.
        seeds: Those that were asked for.
        answers: By task.
        reasons: By task, why there is no answer.
    """

    request: ExternalRequest
    name: str
    stream: Stream
    seeds: tuple[int, ...]
    answers: Mapping[Place, Answer]
    reasons: Mapping[Place, str]

    @cached_property
    def tasks(self) -> TaskCache:
        """The tasks of the stream; each is cut when it is needed."""
        return TaskCache({self.name: self.stream}, kept=0)

    def plan(self, seeds: int | None = None) -> Plan:
        """The plan of all seeds up to the last, or of more, if others are there already."""
        count = max(max(self.seeds) + 1, seeds or 0)
        return external_plan(self.request, self.name, self.stream, count, self._digest, self.tasks)

    def write(self, store: RunStore, plan: Plan, seeds: tuple[int, ...] | None = None) -> None:
        """Writes the answers of seeds, all of the plan's by default, into a store."""
        for chain, units in plan.units.items():
            if seeds is None or chain.seed in seeds:
                for unit, answered in zip(units, self._of(chain, plan.thresholds), strict=True):
                    answered.write(store, unit)

    def _of(self, chain: ChainSpec, thresholds: tuple[str, ...]) -> list[UnitAnswers]:
        found = []
        for index, (task, truth) in enumerate(self.tasks.walk(chain)):
            place = Place(chain.seed, index)
            answer, reason = self.answers.get(place), self._reason(place)
            found.append(unit_answers(task, truth, self.stream.ids, chain.seed, answer, reason, thresholds))
        return found

    def _reason(self, place: Place) -> str:
        if place.seed not in self.seeds:
            return f"seed {place.seed} was not asked for: save the seeds of a method in one folder"
        return self.reasons.get(place, NOT_REACHED)

    def _digest(self, seed: int, index: int) -> str:
        answer = self.answers.get(Place(seed, index))
        return f"{self.request.method}: {'no answer' if answer is None else answer.digest()}"
