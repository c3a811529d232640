"""Letting the built-in parts of a method answer again from the weights of a bundle: no training, no submitted code.

Whoever writes better answers into a bundle of a built-in method is found out in seconds per fit. Weights that were not
trained as the plan says, and plugins, stay with `reproduce`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pandas as pd

from lgl_bench.backbones import backbones
from lgl_bench.core.expressions import parse
from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.references import is_external
from lgl_bench.core.registry import Registry
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.plans.fits import ChainSpec, Unit
from lgl_bench.plans.methods import MethodRow
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.protocols import protocols
from lgl_bench.runs.answer_columns import PREDICTED, SHARED, AnswerName, ScoreColumn, answered_names
from lgl_bench.runs.lineage import predecessor
from lgl_bench.runs.orders import Fitted, Left, Order
from lgl_bench.runs.store import RunStore
from lgl_bench.runs.worker import execute
from lgl_bench.strategies import strategies
from lgl_bench.streams.catalogue import data_folder
from lgl_bench.submissions.bundle.layout import answers_file, matrix_file, memory_file, weights_file
from lgl_bench.submissions.bundle.loading import LoadedBundle
from lgl_bench.submissions.verify.answers import answer_differences
from lgl_bench.submissions.verify.claims import built_in
from lgl_bench.submissions.verify.external import NO_CODE
from lgl_bench.submissions.verify.weights import read_memory, read_weights
from lgl_bench.thresholds import thresholds


@dataclass(slots=True)
class Rescored:
    """What came of answering again.

    Attributes:
        units: Keys of the fits whose built-in answers were all made again.
        differences: Where the bundle says something else.
        notes: What could not be answered again, and why.
    """

    units: set[str] = field(default_factory=set)
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def answer_again(loaded: LoadedBundle, store: RunStore, data_dir: Path | None, tolerance: float) -> Rescored:
    """Answers every task again with what is built in, and compares every column.

    Args:
        loaded: The bundle, whose differences were looked for before.
        store: Its fits and answers.
        data_dir: Folder of the streams.
        tolerance: How far numbers may lie apart, and the share of classes and decisions that may differ.
    """
    found = Rescored()
    left_out: Counter[str] = Counter()
    folder = str(data_folder(data_dir).resolve())
    tasks = TaskCache(loaded.streams)
    for chain in loaded.plan.units:
        foreign = _foreign_parts(chain)
        units = [replace(unit, chain=replace(chain, data_dir=folder)) for unit in loaded.plan.units[chain]]
        if foreign:
            reason = NO_CODE if is_external(chain.backbone) else f"{foreign} is not part of lgl-bench"
            left_out[reason] += len(units)
            continue
        bases = {*loaded.plan.scored[chain], *loaded.plan.tried[chain]}
        rescoring = _ChainRescoring(loaded, store, {unit.key: unit for unit in units}, bases, tolerance, tasks)
        for unit in units:
            reason = rescoring.answer(unit, found)
            if reason:
                left_out[reason] += 1
    found.notes += [f"{count} fits cannot be rescored: {reason}" for reason, count in sorted(left_out.items())]
    return found


def rescored_rows(frame: pd.DataFrame, plan: Plan, found: Rescored, store: RunStore) -> pd.Series:
    """Which rows of a board were answered again as a whole: all parts built in, no fit left out, nothing failed."""
    whole = pd.Series(False, index=frame.index)
    for row in plan.rows:
        if not _is_whole(row, plan, found, store):
            continue
        same = (frame["stream"] == row.stream) & (frame["split"] == row.protocol.build().split)
        same &= (frame["strategy"] == row.strategy.name) & (frame["backbone"] == row.shown_backbone)
        same &= (frame["head"] == row.head) & (frame["detector"] == row.detector)
        whole |= same & frame["threshold"].map(lambda text: not text or built_in(thresholds, text))
    return whole


class _ChainRescoring:
    """The units of one model on one stream under one seed; weights are read once for the unit and its successor."""

    def __init__(
        self,
        loaded: LoadedBundle,
        store: RunStore,
        units: Mapping[str, Unit],
        bases: set[str],
        tolerance: float,
        tasks: TaskCache,
    ) -> None:
        self.loaded, self.store, self.units, self.bases, self.tolerance = loaded, store, units, bases, tolerance
        self.tasks = tasks
        self.weights = lru_cache(maxsize=2)(self._weights)

    def answer(self, unit: Unit, found: Rescored) -> str:
        """Compares the answers of a unit; why it cannot be done, empty if it was."""
        record = self.store.fit(unit.key)
        if record is None or record.status != "ok":
            return "" if record is not None and record.status == "skipped" else "they are missing or failed"
        if not self.store.has_answers(unit.key):
            return "they have no answers"
        before = predecessor(unit, self.units, self._status)
        needed = [unit] if before is None else [unit, before]
        if any(self.weights(one.key) is None for one in needed):
            return "the bundle has no weights of them or of the fit before"
        stored = self.store.columns(unit.key).columns
        given = {column: values for column, values in stored.items() if self._asks(column)}
        left = self._left(before)
        earlier = None if before is None else predecessor(before, self.units, self._status)
        fitted = Fitted(before, self.weights(before.key) or b"", self._left(earlier)) if before else None
        wanted = Order(unit, (), weights=self.weights(unit.key), before=fitted, left=left)
        found.differences += self._compare(unit, given, record.failed, wanted, found)
        found.differences += self._compare_matrix(unit)
        found.units.add(unit.key)
        return ""

    def _compare(
        self, unit: Unit, given: dict[str, npt.NDArray[Any]], failed: dict[str, str], wanted: Order, found: Rescored
    ) -> list[str]:
        name = answers_file(unit.key)
        again: dict[str, npt.NDArray[Any]] = {}
        reasons: dict[str, str] = {}
        for order in _orders(wanted, given, failed):
            try:
                done = execute(order, self.tasks)
            except Exception as error:  # weights nobody trained may take any part down
                return [f"{name}: its weights cannot be answered with: {type(error).__name__}: {ascii(str(error))}"]
            reasons |= done.failed
            if done.answers is not None:
                again |= {str(column): values.to_numpy() for column, values in done.answers.items()}
        place = f"{unit.chain.stream}, {unit.chain.shown_backbone}, {unit.chain.head}, seed {unit.chain.seed}"
        where = f"{place}, {unit.fold or unit.time}: {name}"
        for text in failed:
            if AnswerName.parse(text) in answered_names(again):
                found.notes.append(f"{where}: {text} is recorded as failed, but it answers here")
        missing = [
            f"{where}, column {ascii(column)}: its weights give no such answer, {ascii(_reason(column, reasons))}"
            for column in given
            if column not in again
        ]
        return missing + answer_differences(where, given, again, self.tolerance)

    def _compare_matrix(self, unit: Unit) -> list[str]:
        """Lets the model answer for every year again, if the bundle says what it answered."""
        given = self.store.matrix_row(unit.key)
        if given is None:
            return []
        name = matrix_file(unit.key)
        try:
            again = execute(Order(unit, (), weights=self.weights(unit.key), matrix=True), self.tasks).matrix
        except Exception as error:  # weights nobody trained may take any part down
            return [f"{name}: its weights cannot be answered with: {type(error).__name__}: {ascii(str(error))}"]
        assert again is not None
        return answer_differences(name, {PREDICTED: given}, {PREDICTED: again}, self.tolerance)

    def _asks(self, column: str) -> bool:
        """Whether a column of answers is the plan's and all that stands behind it comes with lgl-bench.

        A run folder may hold more: what another run asked for, perhaps made by code that is no longer there.
        """
        parsed = ScoreColumn.parse(column)
        if parsed is None:
            return column in SHARED
        detector, threshold = parsed.name
        if threshold and (threshold not in self.loaded.plan.thresholds or not built_in(thresholds, threshold)):
            return False
        if not built_in(detectors, detector):
            return False
        mixed = parse(detector)
        return bool(self.bases & {detector, *(str(part) for part in mixed.arguments if mixed.name == "good")})

    def _weights(self, key: str) -> bytes | None:
        name = weights_file(key)
        if name not in self.loaded.bundle:
            return None
        chain = self.units[key].chain
        features = int(self.loaded.streams[chain.stream].features.shape[1])
        return read_weights(self.loaded.bundle.folder / name, name, chain, self.loaded.expected[key].known, features)

    def _left(self, before: Unit | None) -> Left | None:
        """What the fit before left, as the bundle has it."""
        if before is None:
            return None
        name = memory_file(before.key)
        if name not in self.loaded.bundle:
            return Left(before, None)
        stream, members = self.loaded.streams[before.chain.stream], before.chain.members
        return Left(before, read_memory(self.loaded.bundle.folder / name, name, before.time, stream, members))

    def _status(self, key: str) -> str | None:
        record = self.store.fit(key)
        return "missing" if record is None else str(record.status)


def _orders(wanted: Order, given: Iterable[str], failed: Iterable[str]) -> list[Order]:
    """What to ask of a unit: decisions of what was decided on, and novelty of the rest."""
    names = answered_names(given)
    decided = sorted({name.detector for name in names if name.threshold})
    deciders = tuple(sorted({name.threshold for name in names if name.threshold}))
    scored = {name.detector for name in names if not name.threshold}
    unscored = [AnswerName.parse(text) for text in failed]
    scored |= {name.detector for name in unscored if not name.threshold and built_in(detectors, name.detector)}
    rest = replace(wanted, detectors=tuple(sorted(scored - {*decided})))
    return [rest, replace(rest, detectors=tuple(decided), thresholds=deciders)] if decided else [rest]


def _reason(column: str, reasons: Mapping[str, str]) -> str:
    parsed = ScoreColumn.parse(column)
    name = AnswerName("") if parsed is None else parsed.name
    return reasons.get(str(name)) or reasons.get(name.detector) or "it was not decided on"


def _foreign_parts(chain: ChainSpec) -> str:
    parts: tuple[tuple[Registry[Any], str], ...] = (
        (backbones, chain.backbone),
        (heads, chain.head),
        (protocols, chain.protocol.name),
    )
    if chain.strategy.name:
        parts += ((strategies, plugin_name(chain.strategy.name)),)
    return ", ".join(f"the {registry.kind} {name}" for registry, name in parts if not registry.is_built_in(name))


def _is_whole(row: MethodRow, plan: Plan, found: Rescored, store: RunStore) -> bool:
    bases = {candidate.base for candidate in row.candidates}
    if not all(built_in(detectors, text) for text in (row.detector, *bases)):
        return False
    for candidate in {candidate.fit_kind: candidate for candidate in row.candidates}.values():
        for unit in (unit for chain in plan.chains_of(row, candidate) for unit in plan.units[chain]):
            record = store.fit(unit.key)
            if record is None or (record.status != "skipped" and unit.key not in found.units):
                return False
            if any(AnswerName.parse(text).detector in {*bases, row.concrete} for text in record.failed):
                return False
    return True
