"""Recomputing a bundle: every number of every row from the answers and the stream's true labels, no code run.

What cannot be seen from answers alone stays with `reproduce`: whether the answers are the method's own, whether
a fit that is recorded as failed failed, and the neighbour means behind GOOD.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from lgl_bench.core.errors import UsageError
from lgl_bench.core.registry import only_built_in
from lgl_bench.grading.row_key import KEY
from lgl_bench.grading.year_table import YEAR_KEY, YEARS_FILE
from lgl_bench.leaderboard.recompute import recompute
from lgl_bench.leaderboard.table.names import BOARD_FILE, CLAIMED, MADE_WITH, Fact
from lgl_bench.leaderboard.table.text import as_text
from lgl_bench.submissions.bundle.layout import BundleError
from lgl_bench.submissions.bundle.loading import LoadedBundle, load_bundle, stage, staged_store
from lgl_bench.submissions.bundle.opening import opened
from lgl_bench.submissions.verify.external import floor_differences
from lgl_bench.submissions.verify.plan_checks import check_keys, check_plan
from lgl_bench.submissions.verify.rescore import answer_again, rescored_rows
from lgl_bench.submissions.verify.tables import EXACT, differences, read_board_text, read_parquet

# Who sent it and when is the sender's word; the time of the plan and of the table differ by design.
_SKIPPED = frozenset({Fact.SUBMITTER, Fact.CREATED_AT})
# Rows beyond those there should be are named, up to this many.
_MAX_EXCESS_ROWS = 1000


@dataclass(slots=True)
class Verified:
    """What came of recomputing a bundle.

    Attributes:
        frame: The leaderboard, recomputed; `trust` says so.
        differences: Where the bundle says something else; empty if all is well.
        notes: What could not be seen from answers.
    """

    frame: pd.DataFrame
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


def _rescore(loaded: LoadedBundle, verified: Verified, data_dir: Path | None, tolerance: float) -> None:
    store = staged_store(loaded.bundle)
    with only_built_in():
        found = answer_again(loaded, store, data_dir, tolerance)
        rows = rescored_rows(verified.frame, loaded.plan, found, store)
    verified.differences += found.differences
    verified.notes += found.notes
    if not found.differences:
        verified.frame.loc[rows, Fact.TRUST] = "rescored"


def verify_loaded(loaded: LoadedBundle) -> Verified:
    """Checks plan, fits and answers, then recomputes and compares."""
    with only_built_in():
        return _verify_loaded(loaded)


def _verify_loaded(loaded: LoadedBundle) -> Verified:
    plan, bundle, made = loaded.plan, loaded.bundle, loaded.description.provenance
    for name in MADE_WITH:
        if name not in made:
            raise BundleError(f"plan.json: provenance has no '{name}'")
    try:
        datetime.datetime.fromisoformat(made[Fact.CREATED_AT])
    except ValueError as error:
        raise BundleError(f"plan.json: created_at = {ascii(made['created_at'])} is no time") from error
    notes = [f"the word of who ran it, whatever the trust: {', '.join(CLAIMED)}"]
    notes += check_plan(plan, loaded.description) + check_keys(plan, loaded.streams, made)
    staged = staged_store(bundle)
    staged.prepare()
    notes += stage(loaded, staged)
    found = floor_differences(loaded, staged)
    years, frame = recompute(plan, staged, loaded.streams, made)
    columns = read_parquet(bundle.folder / YEARS_FILE, YEARS_FILE, len(years) + _MAX_EXCESS_ROWS, text=True)
    found += differences(YEARS_FILE, pd.DataFrame(columns), years, list(YEAR_KEY))
    right = as_text(frame)
    given = read_board_text((bundle.folder / BOARD_FILE).read_bytes(), BOARD_FILE, len(frame) + _MAX_EXCESS_ROWS)
    found += differences(BOARD_FILE, given, right, list(KEY), skip=_SKIPPED)
    if Fact.SUBMITTER in given:
        senders = {str(value) for value in given[Fact.SUBMITTER]} - {bundle.manifest.submitter}
        found += [
            f"{BOARD_FILE}, column {Fact.SUBMITTER}: {ascii(name)[:100]} is not who MANIFEST.json names"
            for name in senders
        ]
    frame = frame.assign(**{Fact.TRUST: "recomputed", Fact.SUBMITTER: bundle.manifest.submitter})
    return Verified(frame, found, notes)
