"""Stream folders: as a disk damages them, and as somebody makes them who also corrects the checksums."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
from pathlib import Path

import numpy as np

from lgl_bench.core.errors import LglBenchError
from lgl_bench.streams.catalogue import load
from lgl_bench.streams.describe import describe
from lgl_bench.streams.description import seal
from lgl_bench.streams.generator import Recipe, generate
from lgl_bench.streams.store import verify_stream, write_stream
from lgl_bench.streams.stream import StreamInfo
from tests.fuzz.kinds import Kind
from tests.fuzz.mutations import Mutation, damage_bytes, damage_folder, damage_text, one_of
from tests.fuzz.tables import damage_json, damage_parquet

_NAME = "mine"


def _make(folder: Path, rng: random.Random) -> None:
    recipe = Recipe(
        times=(2000, 2001, 2003),
        growth=(4, 3, 4),
        births=(2, 0, 1),
        birth_size=2,
        features=6,
        words=3,
        feature_kind=rng.choice(["dense", "sparse"]),
        split=rng.random() < 0.5,
        seed=rng.randrange(20),
    )
    write_stream(generate(recipe, StreamInfo(_NAME, t0=2001)), folder / _NAME)


def _damage_description(folder: Path, rng: random.Random) -> None:
    damage_json(folder, rng, "stream.json")


def _damage_text(folder: Path, rng: random.Random) -> None:
    damage_text(folder, rng, "stream.json")


def _sealed(mutation: Mutation) -> Mutation:
    """The damage, after which every checksum is made right again."""

    def mutate(folder: Path, rng: random.Random) -> None:
        mutation(folder, rng)
        if rng.random() < 0.85:
            with contextlib.suppress(Exception):
                _seal(folder / _NAME)

    return mutate


def _seal(folder: Path) -> None:
    path = folder / "stream.json"
    if not path.is_file():
        return
    described = json.loads(path.read_text())
    for name in described["files"]:
        with contextlib.suppress(OSError):
            if (folder / name).is_file():
                described["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    described["sha256"] = seal(described)
    path.write_text(json.dumps(described))


def _run(source: Path, out: Path) -> None:
    """Opens, describes and cuts a stream; `data verify` must not fail either, whatever it finds."""
    damage = verify_stream(source / _NAME)
    assert all(isinstance(line, str) and line for line in damage)
    stream = load(_NAME, source)
    describe(stream)
    for time in stream.times:
        snapshot = stream.upto(time)
        assert np.isfinite(snapshot.graph.features.values if hasattr(snapshot.graph.features, "values") else 0.0).all()
    if damage:
        raise LglBenchError("; ".join(damage)[:1000])


_damage = one_of(
    damage_parquet, damage_parquet, damage_parquet, _damage_description, _damage_description, _damage_text,
    damage_bytes, damage_folder,
)  # fmt: skip

KINDS = [Kind("stream", _make, _sealed(_damage), _run)]
