"""The record of a stream, `stream.json`, field by field, sealed by the sha256 of the rest."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError, model_validator

from lgl_bench.core.errors import DataError
from lgl_bench.core.types import Sparse
from lgl_bench.core.validation import first_problem
from lgl_bench.streams.checksum import prefix_checksums
from lgl_bench.streams.stream import Stream, StreamInfo, Unit

FORMAT_VERSION = 1
_LARGEST = 64 * 2**20  # a longer stream.json is none
_Count = Annotated[StrictInt, Field(ge=0, lt=2**40)]
_Time = Annotated[StrictInt, Field(gt=-(2**53), lt=2**53)]
_Digest = Annotated[StrictStr, Field(pattern="^[0-9a-f]{64}$")]


class StreamRecord(BaseModel):
    """The fields of `stream.json`.

    Attributes:
        vertices: In all years together, as `edges` is.
        has_names: Whether vertices have a column `name`.
        files: sha256 of the two files of every year, by their path in the stream's folder.
    """

    model_config = ConfigDict(frozen=True)

    format_version: Literal[1]
    name: StrictStr
    source: StrictStr
    licence: StrictStr
    citation: StrictStr
    t0: _Time | None
    vertices: Annotated[_Count, Field(ge=1)]
    edges: _Count
    features: Annotated[StrictInt, Field(ge=0, lt=2**31)]
    feature_kind: Literal["dense", "sparse"]
    class_names: tuple[StrictStr, ...]
    has_split: StrictBool
    times: Annotated[tuple[_Time, ...], Field(min_length=1)]
    imported: dict[StrictStr, StrictInt]
    stream_checksum: _Digest
    files: dict[StrictStr, _Digest]
    has_names: StrictBool = False
    unit: Unit = "year"
    notes: tuple[StrictStr, ...] = ()

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        if list(self.times) != sorted(set(self.times)):
            raise ValueError("the times do not ascend")
        expected = {file_name(time, kind) for time in self.times for kind in ("vertices", "edges")}
        if set(self.files) != expected:
            raise ValueError("the files are not two for each of the times")
        return self

    def info(self) -> StreamInfo:
        """What is known about the stream besides its arrays."""
        return StreamInfo(
            self.name,
            self.source,
            self.licence,
            self.citation,
            self.t0,
            self.class_names,
            dict(self.imported),
            self.unit,
            self.notes,
        )


def file_name(time: int, kind: str) -> str:
    """Path of the `vertices` or `edges` of a year in the stream's folder."""
    return f"snapshots/time={time}/{kind}.parquet"


def describe_stream(stream: Stream, files: dict[str, str]) -> str:
    """The text of `stream.json`."""
    checksums = prefix_checksums(stream)
    info = stream.info
    described = {
        "format_version": FORMAT_VERSION,
        "name": info.name,
        "source": info.source,
        "licence": info.licence,
        "citation": info.citation,
        "t0": info.t0,
        "vertices": stream.num_vertices,
        "edges": stream.num_edges,
        "features": stream.features.shape[1],
        "feature_kind": "sparse" if isinstance(stream.features, Sparse) else "dense",
        "classes": len(stream.class_births()),
        "class_names": list(info.class_names),
        "has_split": stream.split is not None,
        "times": list(stream.times),
        "has_names": stream.names is not None,
        "unit": info.unit,
        "imported": info.imported,
        "notes": list(info.notes),
        "stream_checksum": checksums[stream.times[-1]],
        "files": files,
    }
    described["sha256"] = seal(described)
    return json.dumps(described, indent=1) + "\n"


def read_description(folder: Path) -> StreamRecord:
    """The contents of `stream.json`, checked against the sha256 it holds of itself and field by field."""
    path = Path(folder) / "stream.json"
    if not path.is_file():
        raise DataError(f"{folder} holds no stream: stream.json is missing")
    try:
        if path.stat().st_size > _LARGEST:
            raise DataError(f"{path} has more than {_LARGEST:,} bytes; import the stream again")
        described = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read: {error}; import the stream again") from error
    version = described.get("format_version") if isinstance(described, dict) else None
    if version != FORMAT_VERSION:
        raise DataError(f"{path} has format version {version}, this lgl-bench reads {FORMAT_VERSION}; import it again")
    if described.get("sha256") != seal(described):
        raise DataError(f"{path} was changed after it was written; import the stream again")
    try:
        return StreamRecord.model_validate(described)
    except ValidationError as error:
        raise DataError(f"{path}: {first_problem(error)}; import the stream again") from error


def seal(described: dict[str, Any]) -> str:
    """sha256 of everything in `stream.json` but itself, however it is laid out."""
    rest = {key: value for key, value in described.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
