"""Comparing the answers and rows of a bundle with those of a run of the same methods, which nobody trusts either."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from lgl_bench.leaderboard.seeds import METHOD_KEYS as KEYS
from lgl_bench.runs.plan import Plan
from lgl_bench.submissions.answers import answer_differences, read_answers
from lgl_bench.submissions.layout import BundleError, limit_of
from lgl_bench.submissions.loading import Loaded
from lgl_bench.submissions.opening import read_json
from lgl_bench.submissions.tables import EXACT, differences, read_csv
from lgl_bench.submissions.verify import PROVENANCE

_NOT_COMPARED = frozenset({"fit_seconds", "peak_memory_mb", "submitter", *PROVENANCE})


def _check_plain(out: Path) -> None:
    """A run folder holds folders and plain files: a link the method left could lead to the bundle's answers."""
    for place, folders, files in os.walk(out, followlinks=False):
        for name in (*folders, *files):
            kind = (Path(place) / name).lstat().st_mode
            if not (stat.S_ISDIR(kind) or stat.S_ISREG(kind)):
                raise BundleError(f"running the method again left {ascii(name)}, which is a link or no plain file")


def compare(loaded: Loaded, plan: Plan, out: Path, tolerance: float) -> list[str]:
    """Where the answers and rows of a run folder are not those of a bundle.

    Args:
        loaded: The bundle.
        plan: What was run again of it.
        out: The run folder, as the method left it.
        tolerance: How far numbers may lie apart, and the share of predictions and decisions that may differ.
    """
    _check_plain(out)
    found: list[str] = []
    for chain, units in plan.units.items():
        for unit in units:
            place = f"{chain.stream}, {chain.backbone}, {chain.head}, seed {chain.seed}, {unit.fold or unit.time}"
            scored = [*plan.scored[chain], *(plan.tried[chain] if unit.role == "validation" else [])]
            found += [f"{place}: {what}" for what in _compare_unit(loaded, unit.key, out, scored, tolerance)]
    given = read_csv((loaded.bundle.folder / "leaderboard.csv").read_bytes(), "leaderboard.csv", 1 << 20)
    given = given[given["detector"].isin({row.detector for row in plan.rows})]
    again = read_csv(_plain(out, "leaderboard.csv"), "the leaderboard made again", 1 << 20)
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
    here, there = bundle.json(note), read_json(_plain(out, f"fits/{key}/fit.json", note), note)
    if here["status"] != there.get("status"):
        return [f"{note} has status {here['status']}; run again it is {ascii(there.get('status'))}"]
    if here["status"] != "ok" or name not in bundle.manifest.files:
        return []
    expected = loaded.expected[key]
    _plain(out, name)
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


def _plain(out: Path, name: str, limited_as: str | None = None) -> bytes:
    """A file of the process that ran the method: it is there, and not larger than such a file of a bundle may be."""
    path = out / name
    if not path.is_file():
        raise BundleError(f"running the method again gave no {path.name}")
    limit = limit_of(limited_as or name) or 0
    if path.stat().st_size > limit:
        raise BundleError(f"running the method again gave a {path.name} of more than {limit:,} bytes")
    return path.read_bytes()
