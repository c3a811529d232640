"""A bundle beside the reviewer's own streams: its plan, and its fits and answers, checked and laid out as a run.

Classes, years and vertices come from the protocol; from the bundle only if the protocol is a plugin, which is noted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.core.registry import only_built_in
from lgl_bench.runs.description import Description, PlanError, check_stream_name, describe
from lgl_bench.runs.plan import Plan
from lgl_bench.runs.rebuild import Expected, rebuild
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.catalogue import load
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.stream import Stream
from lgl_bench.submissions.answers import read_answers
from lgl_bench.submissions.claims import claimed_task
from lgl_bench.submissions.layout import BundleError
from lgl_bench.submissions.opening import Bundle

_MOST_PAIRS = 20_000_000  # of a row with another row or a chain: each is looked at
STATUSES = ("ok", "skipped", "failed", "diverged")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A bundle beside the reviewer's own streams."""

    bundle: Bundle
    description: Description
    plan: Plan
    expected: dict[str, Expected]
    streams: dict[str, Stream]


def load_bundle(bundle: Bundle, data_dir: Path | None) -> Loaded:
    """The plan of a bundle on the reviewer's own streams; plugins that are loaded or installed are not looked at."""
    try:
        with only_built_in():
            return _load_bundle(bundle, data_dir)
    except PlanError as error:
        raise BundleError(str(error)) from error


def _load_bundle(bundle: Bundle, data_dir: Path | None) -> Loaded:
    description = describe(bundle.json("plan.json"))
    rows, chains = len(description.rows), len(description.chains)
    if rows * max(rows, chains) > _MOST_PAIRS:
        raise BundleError(f"plan.json has {rows:,} rows and {chains:,} chains; that is more than is looked through")
    streams: dict[str, Stream] = {}
    for name, checksum in description.streams.items():
        check_stream_name(name)
        streams[name] = load(name, data_dir)
        own = stream_checksum(streams[name])
        if own != checksum:
            raise BundleError(f"plan.json: the stream {name} has the checksum {checksum}; yours has {own}")
    plan, expected = rebuild(description, streams)
    for unit in plan.all_units:
        if expected[unit.key].claimed:
            stream = streams[unit.chain.stream]
            expected[unit.key] = claimed_task(bundle, unit.key, expected[unit.key], stream)
    return Loaded(bundle, description, plan, expected, streams)


def staged_store(bundle: Bundle) -> RunStore:
    """Where the fits and answers of a bundle are laid out as a run."""
    return RunStore(bundle.folder.parent / "staged")


def stage(loaded: Loaded, staged: RunStore) -> list[str]:
    """Lays fits and answers out as a run, known classes as the protocol says, and notes what has no answers."""
    bundle, expected = loaded.bundle, loaded.expected
    for kind in ("fits", "answers"):
        for key in sorted(bundle.keys(kind) - expected.keys()):
            raise BundleError(f"{kind}/{key}: plan.json has no such fit")
    missing, failed = 0, 0
    for chain, units in loaded.plan.units.items():
        for unit in units:
            name = f"fits/{unit.key}.json"
            if name not in bundle.manifest.files:
                if not bundle.manifest.partial:
                    raise BundleError(f"{name} is missing")
                if unit.key in bundle.keys("answers"):
                    raise BundleError(f"answers/{unit.key}.parquet has no {name}")
                missing += 1
                continue
            noted = _noted(bundle.json(name), name, unit.key, expected[unit.key])
            failed += noted["status"] in ("failed", "diverged")
            scored = loaded.plan.scored[chain]
            staged.write_fit(unit.key, FitRecord(**noted))
            failed += len(noted["failed"])
            _stage_answers(bundle, staged, unit.key, noted, expected[unit.key], scored)
    notes = [f"{missing} of {len(expected)} fits are missing: the bundle is partial"] if missing else []
    return notes + ([f"{failed} answers or fits are noted as failed; only reproduce can tell"] if failed else [])


def _noted(fields: dict[str, Any], name: str, key: str, expected: Expected) -> dict[str, Any]:
    """fit.json as grading reads it; classes and task come from the protocol."""
    if fields.get("status") not in STATUSES:
        raise BundleError(f"{name}: status {ascii(fields.get('status'))[:50]}: it is one of {', '.join(STATUSES)}")
    if (fields["status"] == "skipped") != bool(expected.skipped):
        why = expected.skipped or "the task can be answered"
        raise BundleError(f"{name}: status {fields['status']}: {why}")
    known = expected.known.tolist()
    right = {"key": key, "time": expected.time, "role": expected.role, "fold": expected.fold, "known": known}
    for field_name, value in right.items():
        if fields.get(field_name, value) != value:
            given = ascii(fields[field_name])[:200]
            raise BundleError(f"{name}: {field_name} = {given}; the protocol says {value}")
    failures = fields.get("failed", {})
    texts = isinstance(failures, dict) and all(isinstance(one, str) for one in failures.values())
    numbers = [fields.get(one) for one in ("seconds", "peak_memory_mb")]
    if not texts or not isinstance(fields.get("reason", ""), str):
        raise BundleError(f"{name}: reasons must be text")
    if any(not (one is None or (isinstance(one, int | float) and 0 <= one < 1e12)) for one in numbers):
        raise BundleError(f"{name}: seconds and peak_memory_mb must be numbers")
    kept: dict[str, Any] = {one: fields[one] for one in ("seconds", "peak_memory_mb") if one in fields}
    return {"status": fields["status"], "reason": fields.get("reason", ""), "failed": failures, **right, **kept}


def _stage_answers(
    bundle: Bundle, staged: RunStore, key: str, noted: dict[str, Any], expected: Expected, scored: list[str]
) -> None:
    name = f"answers/{key}.parquet"
    there = name in bundle.manifest.files
    if not there:
        if noted["status"] == "ok" and any(base not in noted["failed"] for base in scored):
            raise BundleError(f"{name} is missing")
        return
    if noted["status"] != "ok":
        raise BundleError(f"{name}: there are answers, but fits/{key}.json has status {noted['status']}")
    columns = read_answers(bundle.folder / name, name, expected)
    for base in scored:
        if base not in noted["failed"]:
            for column in (f"novelty:{base}", f"neighbour:{base}"):
                if column not in columns:
                    raise BundleError(f"{name}: the column {column} is missing")
    for column in columns:
        if column.startswith("novelty:") and f"neighbour:{column.partition(':')[2]}" not in columns:
            raise BundleError(f"{name}: the column {ascii(column)} has no neighbour: beside it")
    staged.add_answers(key, pd.DataFrame(columns))
