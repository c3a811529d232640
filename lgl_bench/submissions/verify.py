"""Recomputing a bundle: every number of every row from the answers and the stream's true labels, no code run.

What a reviewer cannot tell from answers alone stays with `reproduce`: whether the answers are the method's own, whether
a fit that is noted as failed failed, and the neighbour means behind GOOD.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.files import clear_leftovers, write_text
from lgl_bench.core.registry import only_built_in
from lgl_bench.leaderboard.schema import CLAIMED
from lgl_bench.leaderboard.seeds import METHOD_KEYS as KEYS
from lgl_bench.submissions.layout import BundleError
from lgl_bench.submissions.loading import Loaded, load_bundle, stage, staged_store
from lgl_bench.submissions.opening import opened
from lgl_bench.submissions.plan_checks import check_keys, check_plan
from lgl_bench.submissions.recompute import recompute
from lgl_bench.submissions.rescore import answer_again, rescored_rows
from lgl_bench.submissions.tables import EXACT, as_text, differences, read_csv, read_parquet

YEAR_KEYS = [*KEYS, "seed", "time", "fold"]
PROVENANCE = ("created_at", "lgl_bench", "torch", "dgl", "numpy", "python", "git_commit")
# Who sent it and when is the sender's word; the time of the plan and of the table differ by design.
_SKIPPED = frozenset({"submitter", "created_at"})
# Rows beyond those there should be are named, up to this many.
_MOST_TOO_MANY = 1000


@dataclass(slots=True)
class Verified:
    """What came of recomputing a bundle.

    Attributes:
        frame: The leaderboard, recomputed; `trust` says so.
        fits: Fits whose answers were looked at.
        differences: Where the bundle says something else; empty where all is well.
        notes: What could not be told from answers.
    """

    frame: pd.DataFrame
    fits: int = 0
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def verify(path: Path, data_dir: Path | None = None, *, rescore: bool = False, tolerance: float = EXACT) -> Verified:
    """Recomputes a bundle, a folder or a `.zip`; plugins that are loaded or installed are not looked at.

    Args:
        path: The bundle.
        data_dir: Folder of the streams.
        rescore: Whether the built-in parts answer again from the weights of the bundle.
        tolerance: How far their answers may lie apart, and the share of classes and decisions that may differ.

    Raises:
        BundleError: It is not what it claims to be in a way that leaves nothing to recompute.
    """
    if not tolerance >= 0:
        raise UsageError(f"--tolerance {tolerance}: it cannot be negative")
    with opened(path) as bundle:
        loaded = load_bundle(bundle, data_dir)
        verified = verify_loaded(loaded)
        if rescore and not verified.differences:
            _rescore(loaded, verified, data_dir, tolerance)
        return verified


def _rescore(loaded: Loaded, verified: Verified, data_dir: Path | None, tolerance: float) -> None:
    store = staged_store(loaded.bundle)
    with only_built_in():
        found = answer_again(loaded, store, data_dir, tolerance)
        rows = rescored_rows(verified.frame, loaded.plan, found, store)
    verified.differences += found.differences
    verified.notes += found.notes
    if not found.differences:
        verified.frame.loc[rows, "trust"] = "rescored"


def verify_loaded(loaded: Loaded) -> Verified:
    """Checks plan, fits and answers, then recomputes and compares."""
    with only_built_in():
        return _verify_loaded(loaded)


def _verify_loaded(loaded: Loaded) -> Verified:
    plan, bundle, made = loaded.plan, loaded.bundle, loaded.description.provenance
    for name in PROVENANCE:
        if name not in made:
            raise BundleError(f"plan.json: provenance has no '{name}'")
    try:
        datetime.datetime.fromisoformat(made["created_at"])
    except ValueError as error:
        raise BundleError(f"plan.json: created_at = {ascii(made['created_at'])} is no time") from error
    notes = [f"the word of who ran it, whatever the trust: {', '.join(CLAIMED)}"]
    notes += check_plan(plan, loaded.description) + check_keys(plan, loaded.streams, made)
    staged = staged_store(bundle)
    staged.prepare()
    notes += stage(loaded, staged)
    years, frame = recompute(plan, staged, loaded.streams, made)
    columns = read_parquet(bundle.folder / "years.parquet", "years.parquet", len(years) + _MOST_TOO_MANY, text=True)
    found = differences("years.parquet", pd.DataFrame(columns), years, YEAR_KEYS)
    right = as_text(frame)
    given = read_csv((bundle.folder / "leaderboard.csv").read_bytes(), "leaderboard.csv", len(frame) + _MOST_TOO_MANY)
    found += differences("leaderboard.csv", given, right, list(KEYS), skip=_SKIPPED)
    if "submitter" in given:
        senders = {str(value) for value in given["submitter"]} - {bundle.manifest.submitter}
        found += [
            f"leaderboard.csv, column submitter: {ascii(name)[:100]} is not who MANIFEST.json names" for name in senders
        ]
    frame = frame.assign(trust="recomputed", submitter=bundle.manifest.submitter)
    return Verified(frame, len(bundle.keys("answers")), found, notes)


def write_board(frame: pd.DataFrame, path: Path, force: bool) -> None:
    """Writes a leaderboard; an older one stays unless it is to be replaced."""
    check_free(path, force)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_leftovers(path)
        write_text(path, frame.to_csv(index=False))
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from error


def check_free(path: Path, force: bool) -> None:
    """Raises where something is there that must not be overwritten."""
    if (path.exists() or path.is_symlink()) and not force:
        raise UsageError(f"{path} exists already; give --force to replace it, or another name")
