"""Importing small data sets, as a user does and by hand; what must hold of one that is refused."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import Result

from lgl_bench.core.types import Sparse
from lgl_bench.streams import catalogue
from lgl_bench.streams.description import seal
from lgl_bench.streams.generator import Recipe, generate
from lgl_bench.streams.importers import importers
from lgl_bench.streams.raw import build
from lgl_bench.streams.store import write_stream
from lgl_bench.streams.stream import SPLIT_NAMES, Stream, StreamInfo
from tests.support.command_line import run
from tests.support.stream_files import EDGES, VERTICES, adjlist, ogb, planetoid, table

NAN, INF = float("nan"), float("inf")


def import_(tmp_path: Path, source: Path, *options: str) -> Result:
    return run("data", "import", "mine", "--from", source, "--data-dir", tmp_path / "data", *options)


def left_behind(tmp_path: Path) -> list[str]:
    return sorted(str(path.relative_to(tmp_path / "data")) for path in (tmp_path / "data").rglob("*"))


def assert_refused(result: Result, tmp_path: Path, *phrases: str, code: int = 3) -> None:
    """One paragraph on stderr that holds every phrase, the right exit code, and nothing written."""
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.startswith("lgl-bench: ")
    assert "Traceback" not in result.stderr
    for phrase in phrases:
        assert phrase in result.stderr
    assert left_behind(tmp_path) == []


def from_table(vertices: dict[str, Any] = {}, edges: dict[str, Any] = {}, kind: str = "csv") -> Any:  # noqa: B006
    return lambda folder: (table(folder, kind, VERTICES | vertices, EDGES | edges), ("--format", "table"))


def from_adjlist(lines: str | None = None, **changes: Any) -> Any:
    text = {} if lines is None else {"lines": lines}
    return lambda folder: (adjlist(folder, **text, **changes), ("--format", "adjlist"))


def from_ogb(**changes: Any) -> Any:
    return lambda folder: (ogb(folder, **changes), ("--format", "ogb"))


def from_planetoid(**changes: bytes) -> Any:
    options = ("--format", "planetoid", "--option", "prefix=toy")
    return lambda folder: (planetoid(folder, **changes), options)


def lists(value: float) -> dict[str, Any]:
    return {"feature_index": [[0], [4], [1, 2], []], "feature_value": [[1.0], [1.0], [1.0, value], []]}


class Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (os.system, (f"touch {self.path}",))


def assert_damaged(folder: Path, phrase: str) -> None:
    result = run("data", "verify", "mine", "--data-dir", folder.parent)
    assert result.exit_code == 3
    assert phrase in result.stderr
    assert "mine is damaged" in result.stderr
    as_json = run("data", "verify", "mine", "--json", "--data-dir", folder.parent)
    assert as_json.exit_code == 3
    found = json.loads(as_json.stdout)
    assert found["ok"] is False
    assert any(phrase in damage for damage in found["damage"])


HUGE = 2_000_000_000


def importing(tmp_path: Path, source: Path, format_name: str, **options: str) -> Any:
    return catalogue.import_stream("mine", source, tmp_path / "data", format_name=format_name, options=options)


def assert_nothing_left(tmp_path: Path) -> None:
    assert not list((tmp_path / "data").rglob("*"))


# streams on disk, by somebody who makes the checksums right
def stored(tmp_path: Path, kind: str = "sparse") -> Path:
    recipe = Recipe(
        times=(2000, 2001), growth=(6, 4), births=(2, 1), birth_size=2, features=5, words=3, feature_kind=kind,
        split=True,
    )  # fmt: skip
    return write_stream(generate(recipe, StreamInfo("mine", t0=2000)), tmp_path / "mine")


def reseal(folder: Path, **changes: Any) -> None:
    path = folder / "stream.json"
    described = json.loads(path.read_text()) | changes
    described["files"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in described["files"]}
    path.write_text(json.dumps(described | {"sha256": seal(described)}))


def change(folder: Path, file: str, how: Callable[[pa.Table], pa.Table]) -> None:
    path = folder / "snapshots" / "time=2001" / f"{file}.parquet"
    pq.write_table(how(pq.read_table(path, partitioning=None)), path)
    reseal(folder)


def read(format_name: str, path: Path, /, **options: Any) -> Stream:
    return build(importers.get(format_name)(path, options), StreamInfo("test"))


def by_id(stream: Stream) -> dict[int, dict[str, Any]]:
    """What a stream tells of each vertex."""
    features = stream.features
    dense = features.dense() if isinstance(features, Sparse) else features
    names = [SPLIT_NAMES[code] for code in stream.split] if stream.split is not None else None
    return {
        int(v): {
            "time": int(stream.born[i]),
            "label": int(stream.labels[i]),
            "features": dense[i].tolist(),
            **({} if names is None else {"split": names[i]}),
        }
        for i, v in enumerate(stream.ids)
    }


def edges_of(stream: Stream) -> set[frozenset[int]]:
    return {frozenset(pair) for pair in stream.ids[stream.arcs].T.tolist()}


def pairs(*edges: tuple[int, int]) -> set[frozenset[int]]:
    return {frozenset(edge) for edge in edges}
