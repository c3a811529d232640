"""From a plan to plan.json, and back on streams that are available.

On the way back tasks come from the stream and the protocol; of plan.json only rows, parameters and the names of fits
are taken. Of a protocol that is not available the tasks are as plan.json claims them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from lgl_bench import __version__
from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Expression, parse
from lgl_bench.core.types import IntArray
from lgl_bench.protocols import protocols
from lgl_bench.runs.answers import why_not
from lgl_bench.runs.budget import Budget, budget
from lgl_bench.runs.description import MOST_TEXT, ChainRecord, Description, PlanError, RowRecord, describe
from lgl_bench.runs.plan import Plan, protocol_settings
from lgl_bench.runs.plugin_facts import note_plugins
from lgl_bench.runs.rows import AUTO, Candidate, Row
from lgl_bench.runs.suite import Suite, read_fields
from lgl_bench.runs.units import ChainSpec, ProtocolSetting, Unit
from lgl_bench.streams.stream import Stream


@dataclass(frozen=True, slots=True)
class Expected:
    """What a protocol says of a task: who is scored, what is known, and why it cannot be answered.

    If the protocol is not available, plan.json claims which task it is, and nothing is said of known classes, of
    vertices, or of why it could not be answered.
    """

    index: int
    time: int
    role: str
    fold: str
    known: IntArray
    vertices: IntArray
    skipped: str
    claimed: bool = False


def description_of(plan: Plan, provenance: dict[str, str]) -> Description:
    """What plan.json holds of a plan.

    Raises:
        PlanError: Something has a name that cannot be written there.
    """
    chains = []
    for chain, units in plan.units.items():
        told = [{"time": unit.time, "role": unit.role, "fold": unit.fold} for unit in units]
        tasks = None if protocols.is_built_in(chain.protocol.name) else told
        chains.append({**asdict(chain), "data_dir": None, "tasks": tasks})
    return describe(
        {
            "suite": plan.suite.model_dump(mode="json"),
            "budget": plan.budget.name,
            "budget_version": plan.budget.version,
            "seeds": plan.seeds,
            "streams": plan.checksums,
            "stand_ins": {name: reason[:MOST_TEXT] for name, reason in plan.stand_ins.items()},
            "fits": [unit.key for unit in plan.all_units],
            "chains": chains,
            "rows": [asdict(row) for row in plan.rows],
            "thresholds": list(plan.thresholds),
            "plugins": note_plugins(plan),
            "provenance": provenance,
            "lgl_bench": __version__,
        }
    )


def suite_of(description: Description) -> Suite:
    """The suite of a description, checked like one of our own."""
    try:
        return read_fields(description.suite, "of plan.json")
    except UsageError as error:
        raise PlanError(f"plan.json: {error}") from error


def rebuild(
    description: Description, streams: Mapping[str, Stream], data_dir: str | None = None
) -> tuple[Plan, dict[str, Expected]]:
    """The plan, and by key what the protocol says of each of its tasks.

    Rows and chains are as described; tasks come from the stream, and keys of fits are taken as names, in order.

    Args:
        description: What to rebuild.
        streams: By name, all that it names.
        data_dir: Where the chains find them.
    """
    suite = suite_of(description)
    absent = suite.protocol not in protocols and bool(description.plugins.protocols)
    try:
        plan = Plan(suite, _budget(description), description.seeds)
        settings = None if absent else protocol_settings(suite)
    except UsageError as error:
        raise PlanError(f"plan.json: {error}") from error
    plan.plugins = description.plugins
    plan.thresholds = description.thresholds
    plan.checksums = dict(description.streams)
    plan.t0s = {name: stream.info.t0 for name, stream in streams.items()}
    plan.stand_ins = dict(description.stand_ins)
    plan.rows = [_row(row) for row in description.rows]
    keys = iter(description.fits)
    found: dict[str, Expected] = {}
    tasks = _Tasks(streams)
    for given in description.chains:
        chain = _chain(given, data_dir)
        if chain in plan.units:
            raise PlanError(f"plan.json: a chain on {chain.stream} with seed {chain.seed} is there twice")
        fits = chain.protocol.name == suite.protocol if settings is None else chain.protocol in settings
        if chain.stream not in streams or not fits or chain.seed >= plan.seeds:
            raise PlanError(f"plan.json: a chain on {chain.stream}, seed {chain.seed}, is none of the suite's")
        plan.units[chain] = []
        last = ""
        for task in _claimed(given) if settings is None else tasks.of(chain):
            key = next(keys, None)
            if key is None or key in found:
                raise PlanError("plan.json: 'fits' has too few keys for the tasks of the protocol, or one twice")
            # As in `plan`: what is skipped goes on from no fit, and no fit goes on from it.
            parent = "" if task.skipped else last
            plan.units[chain].append(Unit(key, parent, task.index, task.time, task.role, task.fold, chain))
            last = last if task.skipped or streams[chain.stream].static else key
            found[key] = task
    if next(keys, None) is not None:
        raise PlanError("plan.json: 'fits' has more keys than the protocol has tasks")
    _scored(plan)
    return plan, found


def _budget(description: Description) -> Budget:
    found = budget(description.budget)
    if found.version != description.budget_version:
        raise PlanError(
            f"plan.json: budget_version = {description.budget_version}; the budget {found.name} has version "
            f"{found.version} here, and rows of different versions are not comparable: use the lgl-bench that made it"
        )
    return found


def _claimed(chain: ChainRecord) -> list[Expected]:
    """The tasks of a protocol that is not available."""
    if chain.tasks is None:
        raise PlanError(f"plan.json: the protocol {chain.protocol.name} is not available, and its tasks are not noted")
    nobody: IntArray = np.empty(0, dtype=np.int64)
    told = enumerate(chain.tasks)
    return [Expected(i, task.time, task.role, task.fold, nobody, nobody, "", claimed=True) for i, task in told]


class _Tasks:
    """Tasks of chains; those that differ in the seed alone share them where nothing is drawn."""

    def __init__(self, streams: Mapping[str, Stream]) -> None:
        self.streams = streams
        self._made: dict[tuple[str, ProtocolSetting, int], list[Expected]] = {}

    def of(self, chain: ChainSpec) -> list[Expected]:
        """What the protocol says of every task of a chain."""
        stream = self.streams[chain.stream]
        seed = chain.seed if stream.static else 0
        key = chain.stream, chain.protocol, seed
        if key not in self._made:
            try:
                made = [
                    Expected(i, task.time, task.role, task.fold, task.known, stream.ids[truth.vertices], why_not(task))
                    for i, (task, truth) in enumerate(chain.protocol.build().tasks(stream, seed))
                ]
            except UsageError as error:
                raise PlanError(f"plan.json: {error}") from error
            self._made[key] = made
        return self._made[key]


def _scored(plan: Plan) -> None:
    """Which expressions each chain is scored with: always, or only on tasks for choosing."""
    for row in plan.rows:
        everywhere = len(row.candidates) == 1 or plan.suite.select == "prequential"
        for candidate in row.candidates:
            chains = plan.chains_of(row, candidate.head)
            if len(chains) != plan.seeds or [chain.seed for chain in chains] != list(range(plan.seeds)):
                raise PlanError(
                    f"plan.json: the row {row.detector} on {row.stream} needs one chain a seed on the head "
                    f"{candidate.head}; there are {len(chains)} for {plan.seeds} seeds"
                )
            for chain in chains:
                names = (plan.scored if everywhere else plan.tried).setdefault(chain, [])
                if candidate.base not in names:
                    names.append(candidate.base)
    for chain in plan.units:
        plan.scored[chain] = sorted(plan.scored.get(chain, []))
        plan.tried[chain] = sorted(set(plan.tried.get(chain, [])) - set(plan.scored[chain]))


def _row(given: RowRecord) -> Row:
    for text in (given.detector, *(candidate.base for candidate in given.candidates)):
        canonical(text)
    if isinstance(given.alpha, str) and given.alpha != AUTO:
        raise PlanError(f"plan.json: alpha = '{given.alpha}' of the row {given.detector}: a number or {AUTO}")
    candidates = tuple(Candidate(one.head, one.base) for one in given.candidates)
    return Row(
        given.stream,
        ProtocolSetting(**given.protocol.model_dump()),
        given.backbone,
        given.parameters,
        given.head,
        given.detector,
        candidates,
        given.alpha,
        given.preset,
        given.trials,
        given.fallback_alpha,
    )


def _chain(given: ChainRecord, data_dir: str | None) -> ChainSpec:
    fields = {name: getattr(given, name) for name in type(given).model_fields if name != "tasks"}
    return ChainSpec(**{**fields, "protocol": ProtocolSetting(**given.protocol.model_dump()), "data_dir": data_dir})


def canonical(text: str) -> Expression:
    """An expression that is written as we write it."""
    try:
        expression = parse(text)
    except (UsageError, RecursionError) as error:
        raise PlanError(f"plan.json: {error}") from error
    if str(expression) != text:
        raise PlanError(f"plan.json: '{text}' is not canonical; it is written '{expression}'")
    return expression
