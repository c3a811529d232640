"""plan.json of somebody else, field by field, and the plan it describes.

Names are short and plain, numbers are bounded, and what the protocol decides (tasks, years, folds, known classes) is
never read from it: `rebuild` takes that from the stream.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Expression, parse
from lgl_bench.core.types import IntArray
from lgl_bench.runs.answers import why_not
from lgl_bench.runs.budget import Budget, budget
from lgl_bench.runs.plan import Plan, protocol_settings
from lgl_bench.runs.rows import AUTO, Candidate, Row
from lgl_bench.runs.suite import Suite, read_fields
from lgl_bench.runs.units import ChainSpec, ProtocolSetting, Unit
from lgl_bench.streams.stream import Stream
from lgl_bench.submissions.layout import KEY, BundleError

_STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
_Text = Annotated[str, StringConstraints(max_length=500)]
_Name = Annotated[str, StringConstraints(max_length=500, pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.,:;+=()-]*$")]
_Word = Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$")]
_Key = Annotated[str, StringConstraints(pattern=f"^{KEY}$")]
_Constant = bool | int | float | _Text
_Pairs = tuple[tuple[_Word, _Constant | tuple[int, ...]], ...]
_MOST_RECIPE = 10_000
_STREAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}(\([A-Za-z0-9_.,=+-]*\))?", re.ASCII)


class _Protocol(BaseModel):
    model_config = _STRICT

    name: _Word
    split: _Word | None = None
    history: int | None = None
    restart: _Word | None = None
    label_delay: int | None = None
    nested: bool | None = None


class _Candidate(BaseModel):
    model_config = _STRICT

    head: _Word
    base: _Name


class _Row(BaseModel):
    model_config = _STRICT

    stream: _Name
    protocol: _Protocol
    backbone: _Word
    parameters: _Pairs
    head: _Word
    detector: _Name
    candidates: tuple[_Candidate, ...] = Field(min_length=1)
    alpha: float | _Word | None
    preset: _Text
    trials: int = Field(ge=0)
    fallback_alpha: float | None


class _Chain(BaseModel):
    model_config = _STRICT

    stream: _Name
    data_dir: None = None
    protocol: _Protocol
    backbone: _Word
    head: _Word
    backbone_parameters: _Pairs
    epochs: int = Field(ge=0)
    lr: float = Field(ge=0)
    seed: int = Field(ge=0)
    threads: int = Field(ge=1, le=1024)
    device: Annotated[str, StringConstraints(pattern="^(cpu|cuda)$")]
    steps: int | None = Field(ge=1)
    warm_steps: int | None = Field(ge=1)


class Description(BaseModel):
    """plan.json of a bundle; see `lgl_bench.api` for what writes it."""

    model_config = _STRICT

    suite: dict[str, Any]
    budget: _Word
    budget_version: int = Field(ge=1)
    seeds: int = Field(ge=1, le=10_000)
    streams: dict[_Name, Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]]
    stand_ins: dict[_Name, _Text]
    fits: tuple[_Key, ...]
    chains: tuple[_Chain, ...]
    rows: tuple[_Row, ...]
    thresholds: tuple[_Name, ...]
    provenance: dict[_Word, _Text]
    lgl_bench: _Text


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


def describe(fields: dict[str, Any]) -> Description:
    """plan.json, checked; a field that is wrong is named."""
    if "chains" not in fields:
        raise BundleError(
            "plan.json has no field 'chains': the run was made by an older version; "
            "run the same command again, nothing is trained again, and submit anew"
        )
    try:
        return Description(**fields)
    except (ValidationError, TypeError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": str(error)}
        place = ".".join(str(part) for part in first["loc"])
        raise BundleError(f"plan.json: field '{place[:200]}': {first['msg']}") from error


def check_stream_name(name: str) -> None:
    """Raises where a name could lead out of the data folder, or make a twin of any size."""
    if not _STREAM.fullmatch(name) or ".." in name:
        raise BundleError(f"plan.json: {ascii(name)} cannot be a stream's name")
    try:
        values = [value for _, value in parse(name).parameters] if "(" in name else []
    except UsageError as error:
        raise BundleError(f"plan.json: {error}") from error
    for value in values:
        if not isinstance(value, str) and abs(value) > _MOST_RECIPE:
            raise BundleError(f"plan.json: the stream {name} asks for a recipe with {value}; at most {_MOST_RECIPE:,}")


def suite_of(description: Description) -> Suite:
    """The suite of a description, checked like one of our own."""
    try:
        return read_fields(description.suite, "of plan.json")
    except UsageError as error:
        raise BundleError(f"plan.json: {error}") from error


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
        raise BundleError(f"plan.json: {error}") from error
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
            raise BundleError(f"plan.json: a chain on {chain.stream} with seed {chain.seed} is there twice")
        if chain.stream not in streams or chain.protocol not in settings or chain.seed >= plan.seeds:
            raise BundleError(f"plan.json: a chain on {chain.stream}, seed {chain.seed}, is none of the suite's")
        units: list[Unit] = []
        for task in tasks.of(chain):
            key = next(keys, None)
            if key is None or key in found:
                raise BundleError("plan.json: 'fits' has too few keys for the tasks of the protocol, or one twice")
            parent = units[-1].key if units and not streams[chain.stream].static else ""
            units.append(Unit(key, parent, task.index, task.time, task.role, task.fold, chain))
            found[key] = task
        plan.units[chain] = units
    if next(keys, None) is not None:
        raise BundleError("plan.json: 'fits' has more keys than the protocol has tasks")
    _scored(plan)
    return plan, found


def _budget(description: Description) -> Budget:
    found = budget(description.budget)
    if found.version != description.budget_version:
        raise BundleError(
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
                raise BundleError(f"plan.json: {error}") from error
            self._made[key] = made
        return self._made[key]


def _scored(plan: Plan) -> None:
    """Which expressions each chain is scored with: always, or only on tasks for choosing."""
    for row in plan.rows:
        everywhere = len(row.candidates) == 1 or plan.suite.select == "prequential"
        for candidate in row.candidates:
            chains = plan.chains_of(row, candidate.head)
            if len(chains) != plan.seeds or [chain.seed for chain in chains] != list(range(plan.seeds)):
                raise BundleError(
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


def _row(given: _Row) -> Row:
    for text in (given.detector, *(candidate.base for candidate in given.candidates)):
        canonical(text)
    if isinstance(given.alpha, str) and given.alpha != AUTO:
        raise BundleError(f"plan.json: alpha = '{given.alpha}' of the row {given.detector}: a number or {AUTO}")
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


def _chain(given: _Chain, data_dir: str | None) -> ChainSpec:
    fields = {name: getattr(given, name) for name in type(given).model_fields}
    return ChainSpec(**{**fields, "protocol": ProtocolSetting(**given.protocol.model_dump()), "data_dir": data_dir})


def canonical(text: str) -> Expression:
    """An expression that is written as we write it."""
    try:
        expression = parse(text)
    except (UsageError, RecursionError) as error:
        raise BundleError(f"plan.json: {error}") from error
    if str(expression) != text:
        raise BundleError(f"plan.json: '{text}' is not canonical; it is written '{expression}'")
    return expression
