"""Comparing the answers and rows of a bundle with those of a run of the same methods, which nobody trusts either."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.table.names import BOARD_FILE, MADE_WITH, Fact
from lgl_bench.plans.plan import Plan
from lgl_bench.runs.answer_columns import neighbour_column, novelty_column
from lgl_bench.runs.store import record_path
from lgl_bench.submissions.bundle.layout import BundleError, answers_file, fit_file, limit_of
from lgl_bench.submissions.bundle.loading import LoadedBundle
from lgl_bench.submissions.bundle.opening import read_fit
from lgl_bench.submissions.verify.answers import answer_differences, read_answers
from lgl_bench.submissions.verify.tables import EXACT, differences, read_board_text

_NOT_COMPARED = frozenset({Fact.FIT_SECONDS, Fact.PEAK_MEMORY_MB, Fact.SUBMITTER, *MADE_WITH})


def _check_plain(out: Path) -> None:
    """A run folder holds folders and plain files: a link the method left could lead to the bundle's answers."""
    for place, folders, files in os.walk(out, followlinks=False):
        for name in (*folders, *files):
            kind = (Path(place) / name).lstat().st_mode
            if not (stat.S_ISDIR(kind) or stat.S_ISREG(kind)):
                raise BundleError(f"running the method again left {ascii(name)}, which is a link or no plain file")


def compare(loaded: LoadedBundle, plan: Plan, out: Path, tolerance: float) -> list[str]:
    """Where the answers and rows of a run folder are not those of a bundle.

    Args:
        loaded: The bundle.
        plan: What was run again of it.
        out: The run folder, as the method left it.
        tolerance: How far numbers may lie apart, and the share of predictions and decisions that may differ.
    """
    found = compare_answers(loaded, plan, out, tolerance)
    given = read_board_text((loaded.bundle.folder / BOARD_FILE).read_bytes(), BOARD_FILE, 1 << 20)
    given = given[given["detector"].isin({row.detector for row in plan.rows})]
    again = read_board_text(_read_plain_file(out / BOARD_FILE, BOARD_FILE), "the leaderboard made again", 1 << 20)
    skip = _NOT_COMPARED
    if len(plan.rows) < len(loaded.plan.rows):
        # Among fewer rows the floor may be missing, and another row may be the best and get thresholds.
        skip |= {Fact.ABOVE_FLOOR}
        keys = set(map(tuple, given[list(KEY)].to_numpy()))
        again = again[[tuple(row) in keys for row in again[list(KEY)].to_numpy()]]
    return found + differences(BOARD_FILE, given, again, list(KEY), max(tolerance, EXACT), skip)


def compare_answers(loaded: LoadedBundle, plan: Plan, out: Path, tolerance: float) -> list[str]:
    """Where the answers of a run folder are not those of a bundle."""
    _check_plain(out)
    found: list[str] = []
    for chain, units in plan.units.items():
        for unit in units:
            place = f"{chain.stream}, {chain.shown_backbone}, {chain.head}, seed {chain.seed}, {unit.fold or unit.time}"
            scored = [*plan.scored[chain], *(plan.tried[chain] if unit.role == "validation" else [])]
            found += [f"{place}: {what}" for what in _compare_unit(loaded, unit.key, out, scored, tolerance)]
    return found


def _compare_unit(loaded: LoadedBundle, key: str, out: Path, scored: list[str], tolerance: float) -> list[str]:
    """What differs between the answers of a fit and those made again."""
    bundle, name, place = loaded.bundle, answers_file(key), fit_file(key)
    here = bundle.fit(key)
    if here is None:
        return []
    there = read_fit(_read_plain_file(record_path(out, key), place), f"{place}, made again,")
    if here.status != there.status:
        return [f"{place} has status {here.status}; run again it is '{there.status}'"]
    if here.status != "ok" or name not in bundle:
        return []
    expected = loaded.expected[key]
    _read_plain_file(out / name, name)
    again = read_answers(out / name, f"{name}, made again", expected)
    given = read_answers(bundle.folder / name, name, expected)
    found = []
    for base in scored:
        for column in (novelty_column(base), neighbour_column(base)):
            if (column in given) != (column in again):
                where = "in the bundle" if column in given else "now"
                reason = ascii(there.failed.get(base, ""))[1:300]
                found.append(f"{name}: the column {column} is there only {where}; {reason}".rstrip("; '"))
    return found + answer_differences(name, given, again, tolerance)


def _read_plain_file(path: Path, limited_as: str) -> bytes:
    """A file of the process that ran the method: it is there, and not larger than such a file of a bundle may be."""
    if not path.is_file():
        raise BundleError(f"running the method again gave no {path.name}")
    limit = limit_of(limited_as) or 0
    if path.stat().st_size > limit:
        raise BundleError(f"running the method again gave a {path.name} of more than {limit:,} bytes")
    return path.read_bytes()
