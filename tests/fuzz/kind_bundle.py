"""Bundles, as a folder and as a zip, with a manifest that agrees with the damage more often than not."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import random
import shutil
import struct
import tempfile
import zipfile
from pathlib import Path

import pyarrow.parquet as pq

from lgl_bench.core.errors import LglBenchError
from lgl_bench.pipeline import plan_run, run_plan
from lgl_bench.runs.options import IN_PROCESS, Settings
from lgl_bench.streams.store import write_stream
from lgl_bench.submissions.bundle.pack import submit
from lgl_bench.submissions.verify.verify import verify
from tests.fuzz.kinds import Kind
from tests.fuzz.mutations import Mutation, damage_bytes, damage_folder, damage_text, damaged_bytes, files_in, one_of
from tests.fuzz.tables import damage_json, damage_parquet
from tests.support.graphs import small_stream

MANIFEST = "MANIFEST.json"
_HOME = "LGL_BENCH_FUZZ_BUNDLE"
_COLUMNS = ("novelty:", "neighbour:msp", "rejected:msp", "rejected:a|b|c", "novelty:good(", "novelty:" + "(" * 900)


def _honest() -> Path:
    """A data folder, and beside it the bundle of a tiny run."""
    if _HOME not in os.environ:
        _prepare()
    return Path(os.environ[_HOME])


def _prepare() -> None:
    """Makes both for this process and those it starts; they are gone when it ends."""
    if _HOME in os.environ:
        return
    folder = Path(tempfile.mkdtemp(prefix="fuzz-bundle-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_stream(small_stream(), folder / "data" / "small")
    settings = Settings(folder / "run", data_dir=folder / "data", offline=True, engine=IN_PROCESS)
    axes = {"streams": ("small",), "backbones": ("gcn",), "detectors": ("msp", "good(energy)")}
    plan, streams = plan_run("smoke", settings, budget="smoke", seeds=1, thresholds=("naive",), **axes)
    run_plan(plan, streams, settings)
    submit(folder / "run", folder / "bundle", data_dir=folder / "none")  # where it cannot be verified, which takes time
    os.environ[_HOME] = str(folder)


def _make(folder: Path, rng: random.Random) -> None:
    shutil.copytree(_honest() / "bundle", folder / "bundle")


def _sealed(mutation: Mutation) -> Mutation:
    """The same damage, mostly with a manifest that agrees with it: otherwise nobody looks any further."""

    def mutate(folder: Path, rng: random.Random) -> None:
        mutation(folder / "bundle", rng)
        if rng.random() < 0.9:
            with contextlib.suppress(OSError, ValueError, TypeError):  # the manifest itself may be what was damaged
                _seal(folder / "bundle")

    return mutate


def _seal(bundle: Path) -> None:
    fields = json.loads((bundle / MANIFEST).read_text())
    fields["files"] = {}
    for path in files_in(bundle):
        if path.name != MANIFEST:
            data = path.read_bytes()
            entry = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
            fields["files"][path.relative_to(bundle).as_posix()] = entry
    (bundle / MANIFEST).write_text(json.dumps(fields))


def _damage_records(bundle: Path, rng: random.Random) -> None:
    """A fit.json, plan.json or environment.json."""
    damage_json(bundle, rng, ".json") if rng.random() < 0.5 else damage_json(bundle, rng, "plan.json")


def _damage_board(bundle: Path, rng: random.Random) -> None:
    damage_text(bundle, rng, ".csv")


def _damage_weights(bundle: Path, rng: random.Random) -> None:
    """Weights whose header says something else than their bytes."""
    path = rng.choice(files_in(bundle, ".safetensors"))
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    name = rng.choice(sorted(header))
    what = rng.choice(["dtype", "shape", "data_offsets", "name", "length", "bytes"])
    if what == "bytes":
        path.write_bytes(damaged_bytes(data, rng))
        return
    if what == "name":
        header[rng.choice(["", "x", "a\0b", "\u00e9" * 99])] = header.pop(name)
    elif what != "length":
        header[name][what] = rng.choice(
            [
                "F64",
                "I64",
                "BF16",
                "F8_E4M3",
                "BOOL",
                "nonsense",
                [],
                [0],
                [-1],
                [2**40],
                [1, 2, 3],
                [0, 2**62],
                None,
                5,
            ]
        )
    text = json.dumps(header).encode()
    size = rng.choice([0, 1, 2**31, 2**63, len(text) + 1]) if what == "length" else len(text)
    path.write_bytes(struct.pack("<Q", size) + text + data[8 + length :])


def _odd_column(bundle: Path, rng: random.Random) -> None:
    """A column of answers under a name that nobody would give it."""
    path = rng.choice(files_in(bundle / "answers"))
    table = pq.read_table(path, partitioning=None)
    other = table.column(rng.randrange(table.num_columns))
    pq.write_table(table.append_column(rng.choice(_COLUMNS), other), path)


def _swapped(bundle: Path, rng: random.Random) -> None:
    """One file of a fit in the place of another's."""
    paths = files_in(bundle, rng.choice([".parquet", ".safetensors"]))
    one, other = rng.sample(paths, 2)
    one.write_bytes(other.read_bytes())


_DAMAGE = one_of(
    *(_sealed(one) for one in (_damage_records, _damage_records, damage_parquet, damage_parquet, _odd_column)),
    *(_sealed(one) for one in (_damage_board, _damage_weights, _damage_weights, damage_bytes, damage_text)),
    *(_sealed(one) for one in (damage_folder, _swapped)),
)


def _zip(folder: Path) -> Path:
    path = folder / "bundle.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files_in(folder / "bundle"):
            archive.write(file, file.relative_to(folder / "bundle").as_posix())
    shutil.rmtree(folder / "bundle")
    return path


def _make_zip(folder: Path, rng: random.Random) -> None:
    _make(folder, rng)
    _zip(folder)


def _damage_zip(folder: Path, rng: random.Random) -> None:
    """The archive itself, or a file in it."""
    path = folder / "bundle.zip"
    if rng.random() < 0.6:
        path.write_bytes(damaged_bytes(path.read_bytes(), rng))
        return
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "bundle")
    _DAMAGE(folder, rng)
    _zip(folder)


def _run(source: Path, out: Path) -> None:
    bundle = source / "bundle.zip" if (source / "bundle.zip").exists() else source / "bundle"
    found = verify(bundle, _honest() / "data", rescore=True)
    if found.differences:
        raise LglBenchError(" ".join(found.differences[:1])[:1500])


KINDS = [
    Kind("bundles", _make, _DAMAGE, _run, _prepare),
    Kind("bundle-zips", _make_zip, _damage_zip, _run, _prepare),
]
