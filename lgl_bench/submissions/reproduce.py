"""Running a submitted method again and comparing: forged answers can be consistent, but nobody answers them twice.

The method comes from a file the reviewer gives, never from the bundle. It runs in a process of its own, without
network and outside the reviewer's home, which is told the plan and sees no answer of the bundle.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.core.errors import LglBenchError, LglBenchWarning, UsageError
from lgl_bench.leaderboard.seeds import METHOD_KEYS as KEYS
from lgl_bench.runs.devices import device_named
from lgl_bench.runs.plan import Plan
from lgl_bench.runs.provenance import provenance
from lgl_bench.streams.catalogue import data_folder
from lgl_bench.submissions.answers import answer_differences, read_answers
from lgl_bench.submissions.isolate import run_isolated, why_not_cut
from lgl_bench.submissions.layout import BundleError
from lgl_bench.submissions.loading import Loaded, load_bundle
from lgl_bench.submissions.opening import opened, read_json
from lgl_bench.submissions.pick import only
from lgl_bench.submissions.tables import EXACT, differences, read_csv
from lgl_bench.submissions.verify import PROVENANCE, verify_loaded

_NOT_COMPARED = frozenset({"fit_seconds", "peak_memory_mb", "submitter", *PROVENANCE})


@dataclass(slots=True)
class Reproduced:
    """What came of running a method again.

    Attributes:
        frame: The leaderboard; rows that were reproduced say so in `trust`.
        rows: How many were run again.
        differences: Where the answers or rows are others; empty where all is well.
        notes: What to know about the comparison.
    """

    frame: pd.DataFrame
    rows: int = 0
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def reproduce(
    path: Path,
    plugins: Sequence[Path] = (),
    *,
    detectors: Sequence[str] = (),
    data_dir: Path | None = None,
    tolerance: float = EXACT,
    allow_network: bool = False,
    jobs: int | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
) -> Reproduced:
    """Verifies a bundle, runs its methods again, and compares every answer.

    Args:
        path: The bundle, a folder or a `.zip`.
        plugins: Files with the method, read by the reviewer; the bundle's own copies are never run.
        detectors: Only rows of these.
        data_dir: Folder of the streams.
        tolerance: How far novelty and metrics may lie apart, and the share of predictions and decisions that may
            differ. Exact equality takes the same torch and DGL.
        allow_network: Whether to go on where the network cannot be cut.
        jobs: Processes; None for one a core.
        time_limit: Seconds a unit may take.
        memory_limit: MiB a worker may hold.
    """
    if tolerance < 0:
        raise UsageError(f"--tolerance {tolerance}: it cannot be negative")
    for plugin in plugins:
        if not plugin.is_file():
            raise UsageError(f"the plugin file {plugin} does not exist")
    with opened(path) as bundle, tempfile.TemporaryDirectory(prefix="lgl-bench-again-") as temporary:
        loaded = load_bundle(bundle, data_dir)
        verified = verify_loaded(loaded)
        result = Reproduced(verified.frame, 0, list(verified.differences), list(verified.notes))
        if result.differences:
            return result
        plan = only(loaded.plan, detectors)
        for device in {chain.device for chain in plan.units}:
            device_named(device)
        result.notes += _versions(loaded.description.provenance, tolerance)
        folder = Path(temporary)
        spec = {
            "plan": bundle.json("plan.json"),
            "plugins": [str(plugin.resolve()) for plugin in plugins],
            "detectors": list(detectors),
            "data_dir": str(data_folder(data_dir).resolve()),
            "out": str(folder / "run"),
            "jobs": jobs,
            "time_limit": time_limit,
            "memory_limit": memory_limit,
        }
        if allow_network:
            result.notes += _warn_of_network()
        _run(spec, folder, allow_network)
        result.differences += _compare(loaded, plan, folder / "run", tolerance)
        names = {row.detector for row in plan.rows}
        again = result.frame["detector"].isin(names)
        result.rows = int(again.sum())
        if not result.differences:
            result.frame.loc[again, "trust"] = "reproduced"
        return result


def _warn_of_network() -> list[str]:
    """Says loudly, and before anything is run, that the network is still there."""
    reason = why_not_cut()
    if not reason:
        return []
    warnings.warn(f"THE NETWORK COULD NOT BE CUT ({reason}): the plugin runs with it", LglBenchWarning, stacklevel=3)
    return [f"run with the network: it could not be cut ({reason})"]


def _run(spec: dict[str, Any], folder: Path, allow_network: bool) -> None:
    (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    command = ("-m", "lgl_bench.submissions.again", str(folder / "spec.json"))
    done = run_isolated(command, folder, allow_network=allow_network, LGL_BENCH_DATA=spec["data_dir"])
    if done.returncode != 0:
        told = done.stderr.strip().splitlines()
        raise LglBenchError(f"the method could not be run again: {' '.join(told[-3:])[-1000:]}")


def _versions(made: dict[str, str], tolerance: float) -> list[str]:
    own = provenance()
    names = ("torch", "dgl", "numpy", "lgl_bench")
    other = [f"{name} {made[name]} there, {own[name]} here" for name in names if made[name] != own[name]]
    if not other:
        return []
    hint = "" if tolerance > EXACT else "; sums may differ in the last digits: --tolerance allows for that"
    return [f"made with other versions ({', '.join(other)}){hint}"]


def _compare(loaded: Loaded, plan: Plan, out: Path, tolerance: float) -> list[str]:
    found: list[str] = []
    for chain, units in plan.units.items():
        for unit in units:
            place = f"{chain.stream}, {chain.backbone}, {chain.head}, seed {chain.seed}, {unit.fold or unit.time}"
            scored = [*plan.scored[chain], *(plan.tried[chain] if unit.role == "validation" else [])]
            found += [f"{place}: {what}" for what in _compare_unit(loaded, unit.key, out, scored, tolerance)]
    given = read_csv((loaded.bundle.folder / "leaderboard.csv").read_bytes(), "leaderboard.csv", 1 << 20)
    given = given[given["detector"].isin({row.detector for row in plan.rows})]
    again = read_csv(_plain(out / "leaderboard.csv"), "the leaderboard made again", 1 << 20)
    skip = _NOT_COMPARED
    if len(plan.rows) < len(loaded.plan.rows):
        # Among fewer rows the floor may be missing, and another row may be the best and get thresholds.
        skip |= {"above_floor"}
        keys = set(map(tuple, given[list(KEYS)].to_numpy()))
        again = again[[tuple(row) in keys for row in again[list(KEYS)].to_numpy()]]
    return found + differences("leaderboard.csv", given, again, list(KEYS), max(tolerance, EXACT), skip)


def _compare_unit(loaded: Loaded, key: str, out: Path, scored: list[str], tolerance: float) -> list[str]:
    """What differs between the answers of a fit and those made again."""
    bundle, name = loaded.bundle, f"answers/{key}.parquet"
    note = f"fits/{key}.json"
    if note not in bundle.manifest.files:
        return []
    here, there = bundle.json(note), read_json(_plain(out / "fits" / key / "fit.json"), note)
    if here["status"] != there.get("status"):
        return [f"{note} has status {here['status']}; run again it is {ascii(there.get('status'))}"]
    if here["status"] != "ok" or name not in bundle.manifest.files:
        return []
    expected = loaded.expected[key]
    _plain(out / name)
    again = read_answers(out / name, f"{name}, made again", expected)
    given = read_answers(bundle.folder / name, name, expected)
    found = []
    for base in scored:
        for column in (f"novelty:{base}", f"neighbour:{base}"):
            if (column in given) != (column in again):
                where = "in the bundle" if column in given else "now"
                why = ascii(str(dict(there.get("failed") or {}).get(base, "")))[1:300]
                found.append(f"{name}: the column {column} is there only {where}; {why}".rstrip("; '"))
    return found + answer_differences(name, given, again, tolerance)


def _plain(path: Path) -> bytes:
    """A file of the process that ran the method: it is no link, and it is there."""
    if path.is_symlink() or not path.is_file():
        raise BundleError(f"running the method again gave no {path.name}")
    return path.read_bytes()
