"""Files that people write: suites, presets and manifests."""

from __future__ import annotations

import random
import shutil
from functools import cache
from pathlib import Path

from lgl_bench.core.resources import shipped
from lgl_bench.plans.budget import BUDGETS
from lgl_bench.plans.plan import make_plan
from lgl_bench.plans.preset_file import check_target, load_presets, write_presets
from lgl_bench.plans.suite import comes_from_shipped, load_suite, read_fields, suites
from lgl_bench.streams.catalogue import twin
from lgl_bench.streams.generator import generate
from lgl_bench.streams.manifest import read_manifest
from lgl_bench.streams.stand_ins import open_streams
from lgl_bench.streams.stream import Stream, StreamInfo
from tests.fuzz.kinds import Kind
from tests.fuzz.toml_damage import damage_toml

STREAM = "dblp-easy-twin(birth_size=1, features=8)"
_SUITE = """
name = "mine"
version = 1
title = "One of my own"
protocol = "temporal"
streams = ["dblp-easy-twin(birth_size={size}, features=8)"]
backbones = ["gcn", "gat"]
detectors = ["msp", "good(odin, alpha={alpha})"]
thresholds = ["naive"]
select = "t1"
history = 3
label_delay = 1
label_delay_for = { pubmed-temporal = 2 }
detectors_for = { gat = ["energy"] }
sweep = { dropout = [0.1, 0.2] }
vary = { alpha = [0.1, 0.9], size = [1] }
"""
_PRESETS = """
name = "mine"

[[fits]]
stream = "dblp-easy-twin(birth_size=1,features=8)"
split = "temporal"
backbone = "gcn"
head = "softmax"
epochs = 20
lr = 0.01
parameters = { layers = 2, hidden = 16, dropout = 0.5 }
studies = { tune-1 = 7 }
detectors = [
  { expression = "odin(eps=0.05,temperature=1000.0)", auroc = 0.75, candidates = 15 },
  { expression = "good(odin,alpha=0.3)" },
]
tuned = { metric = "auroc", value = 0.75, seeds = 3, budget = "quick", search = "tpe", protocol = "temporal", \
checksum = "ab", lgl_bench = "1" }

[[fits]]
stream = "cora"
split = "planetoid"
backbone = "graphsage"
head = "gdoc"
epochs = 5
lr = 0.1
parameters = { fanout = [25, 5], batch = 512 }

[[strategies]]
stream = "dblp-easy-twin(birth_size=1,features=8)"
split = "temporal"
backbone = "gcn"
strategy = "replay(pick=random)"
parameters = { size = 50, balance = "halves" }
studies = { tune-2 = 3 }
"""


@cache
def _small() -> dict[str, Stream]:
    stream = twin(STREAM)
    return {stream.name: stream}


def _make_suite(folder: Path, rng: random.Random) -> None:
    path = folder / "suite.toml"
    if rng.random() < 0.7:
        path.write_text(_SUITE)
    else:
        shutil.copyfile(shipped("benchmarks") / f"{rng.choice(suites())}.toml", path)


def _run_suite(source: Path, out: Path) -> None:
    """As `run --dry-run` does, on a small stream where the suite names one that is not there."""
    suite = load_suite(str(source / "suite.toml"))
    opened, _ = open_streams(suite.streams, out, offline=True)
    largest = max(stream.num_vertices for stream in opened.values())
    make_plan(suite, BUDGETS["quick"], opened if largest < 5000 else _small(), seeds=1)
    assert read_fields(suite.model_dump(mode="json"), "") == suite
    assert comes_from_shipped(suite) == (suite.name in suites())


def _make_presets(folder: Path, rng: random.Random) -> None:
    (folder / "presets.toml").write_text(_PRESETS)


def _run_presets(source: Path, out: Path) -> None:
    """As `run --preset` does, and as `tune` adds to a file."""
    presets = load_presets(source / "presets.toml")
    suite = load_suite("smoke").override(detectors=("odin", "good(odin)", "msp"), backbones=("gcn",))
    suite = suite.override(strategies=("full", "replay"))
    make_plan(suite, BUDGETS["quick"], _small(), seeds=1, presets=presets)
    copy = out / "copy.toml"
    shutil.copyfile(source / "presets.toml", copy)
    check_target(copy)
    write_presets(copy, [*presets.fits, *presets.strategies])
    assert load_presets(copy).trials == presets.trials
    shutil.rmtree(out)
    out.mkdir()


def _make_manifest(folder: Path, rng: random.Random) -> None:
    shutil.copyfile(rng.choice(sorted(shipped("data_manifests").glob("*.toml"))), folder / "manifest.toml")


def _run_manifest(source: Path, out: Path) -> None:
    manifest = read_manifest(source / "manifest.toml")
    if manifest.twin is not None:
        generate(manifest.twin, StreamInfo(manifest.name, t0=manifest.t0))


KINDS = [
    Kind("suites", _make_suite, damage_toml, _run_suite),
    Kind("presets", _make_presets, damage_toml, _run_presets),
    Kind("manifests", _make_manifest, damage_toml, _run_manifest),
]
