"""fit.json: what is kept of a fit beside its weights and answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from lgl_bench.core.errors import DataError, LglBenchWarning
from lgl_bench.core.validation import first_problem

Status: TypeAlias = Literal["ok", "skipped", "failed", "diverged"]
Sha256: TypeAlias = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
_Whole: TypeAlias = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_Number: TypeAlias = Annotated[float, Field(allow_inf_nan=True)]
_KEPT = ConfigDict(extra="ignore", frozen=True, strict=True)


class DamagedError(DataError):
    """A file of a run that is not what was written."""


class StoreWarning(LglBenchWarning):
    """Something in a run folder is made again, or left out of its board."""


class AnswersRecord(BaseModel):
    """The answers of a fit.

    Attributes:
        sha256: Of the file.
        sources: Digest of the code behind each `EXPR` and `EXPR|THRESHOLD` that the file holds; empty if not known.
    """

    model_config = _KEPT

    sha256: Sha256
    sources: dict[str, str] = Field(default_factory=dict)


class FitRecord(BaseModel):
    """A fit.

    Attributes:
        status: How it ended.
        reason: Why it is not ok.
        key: Of the unit.
        parent: Key of the unit before, as planned.
        continued_from: Key of the fit it went on from and is calibrated with (`lineage`).
        time: Of the task.
        role: "validation" or "test".
        fold: Of the task.
        known: Classes that were known, by their global ids.
        trained_up_to: The last year with a label that was learned from.
        epochs: Epochs of training.
        loss: The last one.
        seconds: Of training.
        scoring_seconds: Per detector, of the last time it was fitted and scored; empty in a store of an older version.
        peak_memory_mb: Most memory of the process.
        failed: Reason per `EXPR` or `EXPR|THRESHOLD` that could not be answered.
        failed_sources: Digest of the code that failed; a failure of other code counts for nothing.
        weights: Of `model.safetensors`, whether or not the file is still kept.
        memory: Of `memory.safetensors`, which a strategy left for the next year; None if it left nothing.
        memory_vertices: Vertices that are remembered; None if tasks do not build on each other.
        memory_mb: What is kept of the past, in MiB.
        answers: What the answers file may be. While it is being replaced there are two, what it was and what it will
            be, so that a kill in between leaves either.
        matrix_row: Of `matrix.parquet`: the classes of the vertices of every year, if the model was asked.
        plugins: Digest of the plugin files of the run, if the fit failed: with others it is tried again.
    """

    model_config = _KEPT

    status: Status
    reason: str = ""
    key: str
    parent: str = ""
    continued_from: str = ""
    time: _Whole
    role: str
    fold: str = ""
    known: list[_Whole] = Field(default_factory=list)
    trained_up_to: _Whole | None = None
    epochs: _Whole | None = None
    loss: _Number | None = None
    seconds: _Number | None = None
    scoring_seconds: dict[str, _Number] = Field(default_factory=dict)
    peak_memory_mb: _Number | None = None
    failed: dict[str, str] = Field(default_factory=dict)
    failed_sources: dict[str, str] = Field(default_factory=dict)
    weights: Sha256 | None = None
    memory: Sha256 | None = None
    memory_vertices: _Whole | None = None
    memory_mb: _Number | None = None
    answers: list[AnswersRecord] = Field(default_factory=list, max_length=2)
    matrix_row: Sha256 | None = None
    plugins: str = ""

    def graded(self, answered: Iterable[str], failed: Mapping[str, str], sources: Mapping[str, str]) -> FitRecord:
        """The same after some names were answered and others failed, with the digests of the code that failed."""
        kept = {name for name in self.failed if name not in set(answered)}
        return self.but(
            failed={**{name: self.failed[name] for name in kept}, **failed},
            failed_sources={**{name: self.failed_sources.get(name, "") for name in kept}, **sources},
        )

    def but(self, **changes: Any) -> FitRecord:
        """The same with other values."""
        return self.model_copy(update=changes)


def parse_fit(text: bytes, path: str) -> FitRecord:
    """A record from the bytes of fit.json."""
    try:
        return FitRecord.model_validate_json(text)
    except ValidationError as error:
        raise DamagedError(f"{path} is no record of a fit: {first_problem(error)}") from error


def dump_fit(record: FitRecord) -> bytes:
    """The bytes of fit.json; what has no value is left out."""
    fields = record.model_dump(mode="json", exclude_none=True)
    return json.dumps(fields, indent=1, sort_keys=True).encode() + b"\n"
