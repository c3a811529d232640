"""Manifests as data: fields of other types and values, followed by the twin and the import they lead to."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any
from unittest import mock

from lgl_bench.core.errors import LglBenchError
from lgl_bench.streams import catalogue
from tests.fuzz.kinds import Kind
from tests.fuzz.mutations import damage_text, one_of
from tests.fuzz.tables import JSON_VALUES, damaged_json
from tests.support import stream_files as makers

_MANIFEST: dict[str, Any] = {
    "name": "toy",
    "title": "Toy",
    "description": "four animals",
    "format": "table",
    "licence": "none",
    "citation": "none",
    "t0": 2000,
    "options": {"id": "id", "feature_count": 5},
    "statistics": [
        {"figure": "vertices", "value": 4, "verified": True, "source": "counted"},
        {"figure": "homophily_graph", "value": 0.5, "digits": 2, "verified": False},
    ],
    "twin": {
        "times": [1999, 2000, 2001],
        "growth": [5, 5, 5],
        "births": [2, 0, 1],
        "birth_size": 2,
        "links": 2.0,
        "skew": 2,
        "features": 8,
        "feature_kind": "sparse",
        "words": 3,
        "vocabulary": 5,
        "deaths": {},
        "drift": 0.5,
        "split": True,
    },
}


def _make(folder: Path, rng: random.Random) -> None:
    makers.table(folder / "source", "csv")
    (folder / "toy.toml").write_text(_toml(_MANIFEST))
    (folder / "toy.json").write_text(json.dumps(_MANIFEST))


def _damage_values(folder: Path, rng: random.Random) -> None:
    """Changes a field; the JSON beside the manifest only remembers what it holds by now."""
    path = folder / "toy.json"
    value = damaged_json(json.loads(path.read_text()), rng)
    if isinstance(value, dict) and isinstance(value.get("twin"), dict) and rng.random() < 0.4:
        value["twin"][rng.choice(sorted(value["twin"]) or ["seed"])] = rng.choice(JSON_VALUES)
    path.write_text(json.dumps(value))
    (folder / "toy.toml").write_bytes(_toml(value).encode("utf-8", "replace"))


def _damage_text(folder: Path, rng: random.Random) -> None:
    damage_text(folder, rng, ".toml")


def _toml(value: Any) -> str:
    """TOML of a table, in which every other value is written in line."""
    if not isinstance(value, dict):
        return _inline(value)
    return "".join(f"{json.dumps(str(key))} = {_inline(item)}\n" for key, item in value.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, float):
        return str(value)
    return '"none"' if value is None else json.dumps(value)


def _run(source: Path, out: Path) -> None:
    with mock.patch.object(catalogue, "shipped", lambda folder: source):
        known = catalogue.manifests()
        for twin in catalogue.twins():
            catalogue.load(twin)
        for name in known:
            catalogue.import_stream(name, source / "source", out)
        if not known:
            raise LglBenchError("there is no manifest")


KINDS = [Kind("manifest-data", _make, one_of(_damage_values, _damage_values, _damage_values, _damage_text), _run)]
