"""Answers made outside lgl-bench: nobody can make them again, but the floor beside them anybody can.

What a method is held against must not be worse than it is: novelty of `random`, `degree` and `recency` needs no model,
and neither do the decisions of `never`, `always` and the oracle. All of it is made anew and compared.
"""

from __future__ import annotations

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.references import EXTERNAL, FLOOR, is_external
from lgl_bench.evaluation.answer import Answer
from lgl_bench.evaluation.unit_answers import unit_answers
from lgl_bench.plans.fits import Unit
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.runs.answer_columns import AnswerColumns, AnswerName, ScoreColumn
from lgl_bench.runs.store import RunStore
from lgl_bench.submissions.bundle.layout import answers_file
from lgl_bench.submissions.bundle.loading import LoadedBundle
from lgl_bench.submissions.verify.answers import answer_differences
from lgl_bench.submissions.verify.tables import EXACT

NO_CODE = "its answers were made outside lgl-bench, so there are neither weights nor code to answer with"


def external_methods(plan: Plan) -> list[str]:
    """The methods of a plan whose answers were made outside lgl-bench, by the names of their backbones."""
    return sorted({chain.backbone for chain in plan.units if is_external(chain.backbone)})


def refuse_external(plan: Plan) -> None:
    """Raises if something cannot be run again."""
    found = external_methods(plan)
    if found:
        raise UsageError(
            f"{', '.join(found)} cannot be reproduced: {NO_CODE}. 'lgl-bench verify' recomputes every number from the "
            "answers; that is as far as trust in them can go"
        )


def floor_differences(loaded: LoadedBundle, store: RunStore) -> list[str]:
    """Where the floor and the reference decisions beside answers from outside are not what they should be."""
    tasks, found = TaskCache(loaded.streams, kept=0), list[str]()
    for chain, units in loaded.plan.units.items():
        if not is_external(chain.backbone):
            continue
        ids = loaded.streams[chain.stream].ids
        for unit, (task, truth) in zip(units, tasks.walk(chain), strict=True):
            given = _stored(store, unit)
            if given is None:
                continue
            answer = _answer(given, loaded.plan.scored[chain])
            right = unit_answers(task, truth, ids, chain.seed, answer, "", loaded.plan.thresholds).table
            assert right is not None
            ours = {str(name): values.to_numpy() for name, values in right.items() if _is_ours(str(name))}
            name = answers_file(unit.key)
            found += [f"{name}: the column {ascii(column)} is missing" for column in ours if column not in given]
            both = {column: given[column] for column in ours if column in given}
            found += answer_differences(name, both, ours, EXACT)
    return found


def _stored(store: RunStore, unit: Unit) -> AnswerColumns | None:
    record = store.fit(unit.key)
    if record is None or record.status != "ok" or not store.has_answers(unit.key):
        return None
    return store.columns(unit.key)


def _answer(columns: AnswerColumns, scored: list[str]) -> Answer:
    """What the method itself answered."""
    novelty = {name: values for name in scored if name not in FLOOR and (values := columns.novelty(name)) is not None}
    decided = [columns.rejected(name, EXTERNAL) for name in novelty]
    rejected = next((one for one in decided if one is not None), None)
    return Answer(columns.predicted, {name: np.asarray(values) for name, values in novelty.items()}, rejected=rejected)


def _is_ours(column: str) -> bool:
    parsed = ScoreColumn.parse(column)
    name = AnswerName("") if parsed is None else parsed.name
    return name.detector in FLOOR or (bool(name.threshold) and name.threshold != EXTERNAL)
