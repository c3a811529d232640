"""plan.json: what a run was asked for, field by field.

Names are short and plain and numbers are bounded, so that the file of somebody else can be read as well as one's own.
What the protocol decides (tasks, years, folds, known classes) is not in it: `rebuild` takes that from the stream.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationError,
    model_serializer,
)

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.expressions import parse
from lgl_bench.core.members import MAX_MEMBERS
from lgl_bench.core.validation import first_problem

_STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
MAX_TEXT = 500
_Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
_Name = Annotated[str, StringConstraints(max_length=500, pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.,:;+=()-]*$")]
_Word = Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$")]
_Key = Annotated[str, StringConstraints(pattern="^[0-9a-f]{24}$")]
_Constant = bool | int | float | _Text
_Pairs = tuple[tuple[_Word, _Constant | tuple[int, ...]], ...]
_MAX_RECIPE = 10_000
_RUN_AGAIN = "give the run's command again, which writes it anew"
_STREAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}(\([A-Za-z0-9_.,=+-]*\))?", re.ASCII)


class PlanError(DataError):
    """A plan.json that cannot be read; the message names the field."""


class ProtocolRecord(BaseModel):
    """A protocol with its parameters; those it does not take are None."""

    model_config = _STRICT

    name: _Word
    split: _Word | None = None
    history: int | None = None
    label_delay: int | None = None
    nested: bool | None = None


class StrategyRecord(BaseModel):
    """What is kept of the past: `fits.StrategySetting`."""

    model_config = _STRICT

    name: Annotated[str, StringConstraints(max_length=500, pattern=r"^([A-Za-z0-9][A-Za-z0-9 _.,:;+=()-]*)?$")]
    warm: bool
    past: Literal["all", "memory"]
    graph: Literal["all", "kept"]


class CandidateRecord(BaseModel):
    """An expression on a head that a row may stand for."""

    model_config = _STRICT

    head: _Word
    base: _Name


class RowRecord(BaseModel):
    """A row of the board: `methods.MethodRow`."""

    model_config = _STRICT

    stream: _Name
    protocol: ProtocolRecord
    strategy: StrategyRecord
    backbone: _Word
    parameters: _Pairs
    head: _Word
    detector: _Name
    candidates: tuple[CandidateRecord, ...] = Field(min_length=1)
    alpha: float | _Word | None
    preset: _Text
    trials: int = Field(ge=0)
    fallback_alpha: float | None


class TaskRecord(BaseModel):
    """A task of a protocol that is a plugin, which a reader may not have."""

    model_config = _STRICT

    time: int
    role: Literal["validation", "test"]
    fold: _Text = ""


class ChainRecord(BaseModel):
    """A sequence of fits: `fits.ChainSpec`; the folder of its data is left out.

    Attributes:
        tasks: Of a protocol that is a plugin; None for one that is built in.
        given: Not written if the backbone is named without parameters.
    """

    model_config = _STRICT

    stream: _Name
    data_dir: None = None
    protocol: ProtocolRecord
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
    kernels: Literal["native", "torch", "dgl", ""] = ""
    strategy: StrategyRecord
    members: int = Field(default=1, ge=1, le=MAX_MEMBERS)
    tasks: tuple[TaskRecord, ...] | None = None
    given: _Pairs = ()

    @model_serializer(mode="wrap")
    def _without_nothing(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A plain backbone is written as it always was."""
        return {name: value for name, value in serialize(self).items() if name != "given" or value}


class DetectorFacts(BaseModel):
    """What is recorded of a detector: its head, whether its scores lie in [0, 1] as they are, its track and backbones.

    The head is the one it is trained with. Without backbones it works on any.
    """

    model_config = _STRICT

    head: _Word
    bounded: bool
    track: _Word = "inductive"
    backbones: tuple[_Word, ...] = ()


class ThresholdFacts(BaseModel):
    """What is recorded of a threshold: its track, and whether it may be ranked."""

    model_config = _STRICT

    track: _Word
    ranked: bool


class ProtocolFacts(BaseModel):
    """What is recorded of a protocol: its split and track, and whether a task goes on from the one before."""

    model_config = _STRICT

    split: _Word
    track: _Word
    chained: bool


class StrategyFacts(BaseModel):
    """What is recorded of a strategy: see `strategies.Strategy`."""

    model_config = _STRICT

    warm: bool
    past: Literal["all", "memory"]
    graph: Literal["all", "kept"]
    history: int | None = Field(default=None, ge=1)


class PluginFacts(BaseModel):
    """What grading needs to know of plugins that are not built in, as the run that had them says.

    Attributes:
        backbones: By name.
        heads: By name.
        detectors: By canonical expression.
        thresholds: By canonical expression.
        protocols: By name, with the split if one is asked for: `NAME` or `NAME SPLIT`.
        strategies: By canonical expression.
        transductive_backbones: Those of the backbones whose track is transductive.
        transductive_heads: The same of the heads.
    """

    model_config = _STRICT

    backbones: tuple[_Word, ...] = ()
    heads: tuple[_Word, ...] = ()
    detectors: dict[_Name, DetectorFacts] = Field(default_factory=dict)
    thresholds: dict[_Name, ThresholdFacts] = Field(default_factory=dict)
    protocols: dict[_Name, ProtocolFacts] = Field(default_factory=dict)
    strategies: dict[_Name, StrategyFacts] = Field(default_factory=dict)
    transductive_backbones: tuple[_Word, ...] = ()
    transductive_heads: tuple[_Word, ...] = ()


class Description(BaseModel):
    """plan.json."""

    model_config = _STRICT

    suite: dict[str, Any]
    budget: _Word
    budget_version: int = Field(ge=1)
    seeds: int = Field(ge=1, le=10_000)
    streams: dict[_Name, Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]]
    stand_ins: dict[_Name, _Text]
    fits: tuple[_Key, ...]
    chains: tuple[ChainRecord, ...]
    rows: tuple[RowRecord, ...]
    thresholds: tuple[_Name, ...]
    plugins: PluginFacts = Field(default_factory=PluginFacts)
    provenance: dict[_Word, _Text]
    lgl_bench: _Text

    def digest(self) -> str:
        """The same for the same request, no matter who runs it and when."""
        asked = self.model_dump(mode="json", exclude={"provenance", "lgl_bench"})
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:24]

    def text(self) -> str:
        """What plan.json holds."""
        return json.dumps(self.model_dump(mode="json"), indent=1) + "\n"


def describe(fields: dict[str, Any]) -> Description:
    """plan.json, checked; a field that is wrong is named."""
    if "chains" not in fields:
        raise PlanError(f"plan.json has no field 'chains': the run was made by an older version; {_RUN_AGAIN}")
    try:
        return Description(**fields)
    except (ValidationError, TypeError) as error:
        raise PlanError(f"plan.json: {first_problem(error)}") from error


def read_plan(folder: Path) -> Description:
    """What was asked for last in a run folder."""
    path = Path(folder) / "plan.json"
    if not path.is_file():
        raise DataError(f"{folder} holds no run: plan.json is missing")
    return read_description(path)


def read_description(path: Path) -> Description:
    """A description from its file."""
    if not path.is_file():
        raise PlanError(f"{path} is no file; {_RUN_AGAIN}")
    try:
        fields = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise PlanError(f"{path} cannot be read: {' '.join(str(error).split())[:200]}; {_RUN_AGAIN}") from error
    if not isinstance(fields, dict):
        raise PlanError(f"{path} holds no plan; {_RUN_AGAIN}")
    try:
        return describe(fields)
    except PlanError as error:
        raise PlanError(f"{path.parent}/{error}") from error


def check_stream_name(name: str) -> None:
    """Raises if a name could lead out of the data folder, or make a twin of any size."""
    if not _STREAM.fullmatch(name) or ".." in name:
        raise PlanError(f"plan.json: {ascii(name)} cannot be a stream's name")
    try:
        values = [value for _, value in parse(name).parameters] if "(" in name else []
    except UsageError as error:
        raise PlanError(f"plan.json: {error}") from error
    for value in values:
        if not isinstance(value, str) and abs(value) > _MAX_RECIPE:
            raise PlanError(f"plan.json: the stream {name} asks for a recipe with {value}; at most {_MAX_RECIPE:,}")
