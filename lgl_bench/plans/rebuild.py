"""From a plan to plan.json, and back on streams that are available.

On the way back tasks come from the stream and the protocol; of plan.json only rows, parameters and the names of fits
are taken. Of a protocol that is not available the tasks are as plan.json claims them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from lgl_bench import __version__
from lgl_bench.core.errors import UsageError, quoted
from lgl_bench.core.expressions import Expression, parse
from lgl_bench.core.types import IntArray
from lgl_bench.plans.budget import Budget, budget
from lgl_bench.plans.fits import ChainSpec, ProtocolSetting, StrategySetting, Unit
from lgl_bench.plans.methods import AUTO, Candidate, MethodRow
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.plan_file import MAX_TEXT, ChainRecord, Description, PlanError, RowRecord, describe
from lgl_bench.plans.plugin_facts import note_plugins
from lgl_bench.plans.suite import Suite, read_fields
from lgl_bench.plans.suite_chains import SuiteChains
from lgl_bench.plans.tasks import TaskCache, TaskOutline, learned_up_to
from lgl_bench.protocols import protocols
from lgl_bench.streams.stream import Stream


@dataclass(frozen=True, slots=True)
class Expected(TaskOutline):
    """What a protocol says of a task: who is scored, what is known, and why it cannot be answered.

    `trained_up_to` is the last year with a label to learn from; None if there is none.

    If the protocol is not available, plan.json claims which task it is; who is scored, what is known and why it could
    not be answered is then empty.
    """

    known: IntArray
    vertices: IntArray
    claimed: bool = False
    trained_up_to: int | None = None
    names: npt.NDArray[np.object_] | None = None  # of the vertices, for messages

    def vertex(self, at: int) -> str:
        """A scored vertex as messages show it."""
        number = int(self.vertices[at])
        return str(number) if self.names is None else f"{number} ({quoted(self.names[at])})"


def description_of(plan: Plan, provenance: dict[str, str]) -> Description:
    """What plan.json holds of a plan.

    Raises:
        PlanError: Something has a name that cannot be written there.
    """
    chains = []
    for chain, units in plan.units.items():
        built_in = protocols.is_built_in(chain.protocol.name)
        tasks = None if built_in else [{"time": one.time, "role": one.role, "fold": one.fold} for one in units]
        chains.append({**asdict(chain), "data_dir": None, "tasks": tasks})
    return describe(
        {
            "suite": plan.suite.model_dump(mode="json"),
            "budget": plan.budget.name,
            "budget_version": plan.budget.version,
            "seeds": plan.seeds,
            "streams": plan.checksums,
            "stand_ins": {name: reason[:MAX_TEXT] for name, reason in plan.stand_ins.items()},
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
    expected = _Expectations(streams)
    claimed: dict[ChainSpec, list[Expected]] = {}

    def outlines(chain: ChainSpec, given: ChainRecord | None) -> list[Expected]:
        if given is None:
            return expected.of(chain)
        return claimed.setdefault(chain, _claimed(given))

    plan = _rebuilt(description, streams, data_dir, outlines)
    found: dict[str, Expected] = {}
    for chain, units in plan.units.items():
        tasks = claimed.get(chain) or expected.of(chain)
        found |= {unit.key: task for unit, task in zip(units, tasks, strict=True)}
    return plan, found


def rebuild_plan(description: Description, streams: Mapping[str, Stream], tasks: TaskCache) -> Plan:
    """The plan alone.

    Args:
        description: What to rebuild.
        streams: By name, all that it names.
        tasks: Of this process; tasks that were cut before are not cut again.
    """
    tasks.streams.update(streams)

    def outlines(chain: ChainSpec, given: ChainRecord | None) -> Sequence[TaskOutline]:
        if given is not None:
            return _claimed(given)
        with _plan_errors():
            return tasks.outlines(chain)

    return _rebuilt(description, streams, None, outlines)


def _rebuilt(
    description: Description,
    streams: Mapping[str, Stream],
    data_dir: str | None,
    outlines: Callable[[ChainSpec, ChainRecord | None], Sequence[TaskOutline]],
) -> Plan:
    """The plan; outlines of a chain are asked for with its record if only that says which tasks it has."""
    plan, suite_chains = _started(description, streams)
    keys = iter(description.fits)
    seen: set[str] = set()
    for given in description.chains:
        chain = _chain(given, data_dir)
        if chain in plan.units:
            raise PlanError(f"plan.json: a chain on {chain.stream} with seed {chain.seed} is there twice")
        with _plan_errors():
            fits = suite_chains.allows(chain)
        if chain.stream not in streams or not fits or chain.seed >= plan.seeds:
            raise PlanError(f"plan.json: a chain on {chain.stream}, seed {chain.seed}, is none of the suite's")
        plan.units[chain] = []
        last = ""
        for task in outlines(chain, given if suite_chains.absent else None):
            key = next(keys, None)
            if key is None or key in seen:
                raise PlanError("plan.json: 'fits' has too few keys for the tasks of the protocol, or one twice")
            # As in `plan`: what is skipped goes on from no fit, and no fit goes on from it.
            parent = "" if task.skipped else last
            plan.units[chain].append(Unit(key, parent, task.index, task.time, task.role, task.fold, chain))
            last = last if task.skipped or streams[chain.stream].static else key
            seen.add(key)
    if next(keys, None) is not None:
        raise PlanError("plan.json: 'fits' has more keys than the protocol has tasks")
    _scored(plan)
    return plan


def _started(description: Description, streams: Mapping[str, Stream]) -> tuple[Plan, SuiteChains]:
    """The plan without its chains, and which of these its suite allows."""
    suite = suite_of(description)
    absent = suite.protocol not in protocols and bool(description.plugins.protocols)
    with _plan_errors():
        plan = Plan(suite, _budget(description), description.seeds)
    plan.plugins = description.plugins
    plan.thresholds = description.thresholds
    plan.checksums = dict(description.streams)
    plan.t0s = {name: stream.info.t0 for name, stream in streams.items()}
    plan.stand_ins = dict(description.stand_ins)
    plan.rows = [_row(row) for row in description.rows]
    with _plan_errors():
        return plan, SuiteChains(suite, description.plugins, plan.rows, absent=absent)


@contextlib.contextmanager
def _plan_errors() -> Iterator[None]:
    """What is wrong usage in a request of one's own is a wrong plan in a file."""
    try:
        yield
    except UsageError as error:
        raise PlanError(f"plan.json: {error}") from error


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
        raise PlanError(f"plan.json: the protocol {chain.protocol.name} is not available, nor are its tasks recorded")
    nobody: IntArray = np.empty(0, dtype=np.int64)
    return [
        Expected(index, task.time, task.role, task.fold, "", nobody, nobody, claimed=True)
        for index, task in enumerate(chain.tasks)
    ]


class _Expectations:
    """What protocols say of the tasks of chains; those that differ in the seed alone share it if nothing is drawn."""

    def __init__(self, streams: Mapping[str, Stream]) -> None:
        self._tasks = TaskCache(streams, kept=0)
        self._made: dict[tuple[str, ProtocolSetting, int], list[Expected]] = {}

    def of(self, chain: ChainSpec) -> list[Expected]:
        """What the protocol says of every task of a chain."""
        key = chain.stream, chain.protocol, self._tasks.seed(chain)
        if key not in self._made:
            stream = self._tasks.stream(chain)
            ids, names = stream.ids, stream.names
            with _plan_errors():
                self._made[key] = [
                    Expected(
                        *(i, task.time, task.role, task.fold, task.skip_reason, task.known, ids[truth.vertices]),
                        trained_up_to=learned_up_to(task),
                        names=None if names is None else names[truth.vertices],
                    )
                    for i, (task, truth) in enumerate(self._tasks.walk(chain))
                ]
        return self._made[key]


def _scored(plan: Plan) -> None:
    """Which expressions each chain is scored with: always, or only on tasks for choosing."""
    for row in plan.rows:
        everywhere = len(row.candidates) == 1 or plan.suite.select == "prequential"
        for candidate in row.candidates:
            chains = plan.chains_of(row, candidate)
            if len(chains) != plan.seeds or [chain.seed for chain in chains] != list(range(plan.seeds)):
                raise PlanError(
                    f"plan.json: the row {row.detector} on {row.stream} needs one chain per seed on the head "
                    f"{candidate.head}; there are {len(chains)} for {plan.seeds} seeds"
                )
            for chain in chains:
                names = (plan.scored if everywhere else plan.tried).setdefault(chain, [])
                if candidate.base not in names:
                    names.append(candidate.base)
    for chain in plan.units:
        plan.scored[chain] = sorted(plan.scored.get(chain, []))
        plan.tried[chain] = sorted(set(plan.tried.get(chain, [])) - set(plan.scored[chain]))


def _row(given: RowRecord) -> MethodRow:
    for text in (given.detector, *(candidate.base for candidate in given.candidates)):
        canonical(text)
    if isinstance(given.alpha, str) and given.alpha != AUTO:
        raise PlanError(f"plan.json: alpha = '{given.alpha}' of the row {given.detector}: a number or {AUTO}")
    candidates = tuple(Candidate(one.head, one.base) for one in given.candidates)
    return MethodRow(
        given.stream,
        ProtocolSetting(**given.protocol.model_dump()),
        StrategySetting(**given.strategy.model_dump()),
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
    parts = {
        "protocol": ProtocolSetting(**given.protocol.model_dump()),
        "strategy": StrategySetting(**given.strategy.model_dump()),
    }
    return ChainSpec(**{**fields, **parts, "data_dir": data_dir})


def canonical(text: str) -> Expression:
    """An expression that is written as we write it."""
    try:
        expression = parse(text)
    except (UsageError, RecursionError) as error:
        raise PlanError(f"plan.json: {error}") from error
    if str(expression) != text:
        raise PlanError(f"plan.json: '{text}' is not canonical; it is written '{expression}'")
    return expression
