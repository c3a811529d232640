"""The plan that plan.json describes, on streams that are available.

Tasks come from the stream and the protocol; of plan.json only rows, parameters and the names of fits are taken.
"""

from __future__ import annotations

from dataclasses import dataclass

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Expression, parse
from lgl_bench.core.types import IntArray
from lgl_bench.runs.answers import why_not
from lgl_bench.runs.budget import Budget, budget
from lgl_bench.runs.description import ChainRecord, Description, PlanError, RowRecord
from lgl_bench.runs.plan import Plan, protocol_settings
from lgl_bench.runs.rows import AUTO, Candidate, Row
from lgl_bench.runs.suite import Suite, read_fields
from lgl_bench.runs.units import ChainSpec, ProtocolSetting, Unit
from lgl_bench.streams.stream import Stream


@dataclass(frozen=True, slots=True)
class Expected:
    """What a protocol says of a task: who is scored, what is known, and why it cannot be answered."""

    index: int
    time: int
    role: str
    fold: str
    known: IntArray
    vertices: IntArray
    skipped: str


def suite_of(description: Description) -> Suite:
    """The suite of a description, checked like one of our own."""
    try:
        return read_fields(description.suite, "of plan.json")
    except UsageError as error:
        raise PlanError(f"plan.json: {error}") from error


def rebuild(
    description: Description, streams: dict[str, Stream], data_dir: str | None = None
) -> tuple[Plan, dict[str, Expected]]:
    """The plan, and by key what the protocol says of each of its tasks.

    Rows and chains are as described; tasks come from the stream, and keys of fits are taken as names, in order.
    """
    suite = suite_of(description)
    try:
        plan = Plan(suite, _budget(description), description.seeds)
        settings = protocol_settings(suite)
    except UsageError as error:
        raise PlanError(f"plan.json: {error}") from error
    plan.thresholds = description.thresholds
    plan.checksums = dict(description.streams)
    plan.stand_ins = dict(description.stand_ins)
    plan.rows = [_row(row) for row in description.rows]
    keys = iter(description.fits)
    found: dict[str, Expected] = {}
    tasks = _Tasks(streams)
    for given in description.chains:
        chain = _chain(given, data_dir)
        if chain in plan.units:
            raise PlanError(f"plan.json: a chain on {chain.stream} with seed {chain.seed} is there twice")
        if chain.stream not in streams or chain.protocol not in settings or chain.seed >= plan.seeds:
            raise PlanError(f"plan.json: a chain on {chain.stream}, seed {chain.seed}, is none of the suite's")
        units: list[Unit] = []
        for task in tasks.of(chain):
            key = next(keys, None)
            if key is None or key in found:
                raise PlanError("plan.json: 'fits' has too few keys for the tasks of the protocol, or one twice")
            parent = units[-1].key if units and not streams[chain.stream].static else ""
            units.append(Unit(key, parent, task.index, task.time, task.role, task.fold, chain))
            found[key] = task
        plan.units[chain] = units
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


class _Tasks:
    """Tasks of chains; those that differ in the seed alone share them where nothing is drawn."""

    def __init__(self, streams: dict[str, Stream]) -> None:
        self.streams = streams
        self._made: dict[tuple[str, ProtocolSetting, int], list[Expected]] = {}

    def of(self, chain: ChainSpec) -> list[Expected]:
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
    fields = {name: getattr(given, name) for name in type(given).model_fields}
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
