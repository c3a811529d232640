"""Running a submitted method again and comparing: forged answers can be consistent, but nobody answers them twice.

The method comes from a file of the reviewer, never from the bundle. It runs in a sandbox, which gets the plan.
The answers of the bundle are out of its reach: the copy that was verified is gone before the run begins, and the bundle
is opened again when the run has ended.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.core.errors import LglBenchError, LglBenchWarning, UsageError
from lgl_bench.core.files import temporary_folder
from lgl_bench.kernels.choice import kernel_name, kernel_packages, use_kernels
from lgl_bench.kernels.compiled import VARIABLE as COMPILED
from lgl_bench.kernels.compiled import copy_compiled
from lgl_bench.leaderboard.table.names import Fact
from lgl_bench.plans.plan import Plan
from lgl_bench.runs.devices import device_named
from lgl_bench.runs.provenance import provenance
from lgl_bench.streams.catalogue import data_folder
from lgl_bench.submissions.bundle.layout import BundleError, matrix_file
from lgl_bench.submissions.bundle.loading import LoadedBundle, load_bundle
from lgl_bench.submissions.bundle.opening import opened
from lgl_bench.submissions.reproduce.again import RunAgainOrder
from lgl_bench.submissions.reproduce.compare import compare, compare_answers
from lgl_bench.submissions.reproduce.isolate import OPEN, Sandbox, choose_sandbox, run_isolated
from lgl_bench.submissions.reproduce.limits import Limits
from lgl_bench.submissions.reproduce.pick import part_of
from lgl_bench.submissions.verify.external import refuse_external
from lgl_bench.submissions.verify.tables import EXACT
from lgl_bench.submissions.verify.verify import verify_loaded


@dataclass(slots=True)
class Reproduced:
    """What came of running a method again.

    Attributes:
        frame: The leaderboard; rows that were reproduced say so in `trust`.
        trust: What became of the rows that were run again: `reproduced`, or `recomputed` if they differ or could
            have been copied.
        rows: How many were run again.
        fits: How many were, if they are part of their rows.
        differences: Where the answers or rows are others; empty if all is well.
        notes: What to know about the comparison.
    """

    frame: pd.DataFrame
    trust: str = "recomputed"
    rows: int = 0
    fits: int = 0
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def reproduce(
    path: Path,
    plugins: Sequence[Path] = (),
    *,
    detectors: Sequence[str] = (),
    fold: str = "",
    data_dir: Path | None = None,
    tolerance: float = EXACT,
    allow_network: bool = False,
    unsafe: bool = False,
    jobs: int | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    total_time_limit: float | None = None,
    total_memory_limit: float | None = None,
) -> Reproduced:
    """Verifies a bundle, runs its methods again, and compares every answer.

    Args:
        path: The bundle, a folder or a `.zip`.
        plugins: Files with the method, read by the reviewer; the bundle's own copies are never run.
        detectors: Only rows of these.
        fold: Only the first seed with this class left out, or with the years up to this one: answers are compared,
            but no row is whole, and none is called reproduced.
        data_dir: Folder of the streams.
        tolerance: How far novelty and metrics may lie apart, and the share of predictions and decisions that may
            differ. Exact equality takes the same torch, and the same numba or DGL that made the kernels.
        allow_network: Whether to go on if the network cannot be cut.
        unsafe: Whether to go on if files and processes of the reviewer cannot be kept out of reach either. Answers
            could then be copied from the bundle, so rows are compared, but not called reproduced.
        jobs: Processes; None for one per core.
        time_limit: Seconds a unit may take.
        memory_limit: MiB a worker may hold.
        total_time_limit: Seconds the whole run may take; None for that of `Limits`.
        total_memory_limit: MiB all processes of the run may hold together; None for that of `Limits`.
    """
    _check_request(tolerance, plugins)
    limits = Limits(**_given(seconds=total_time_limit, memory=total_memory_limit))
    loaded, fields, result = _verified(path, data_dir)
    if result.differences:
        return result
    plan = part_of(loaded.plan, detectors, fold)
    result.notes += _versions(loaded.description.provenance, _computing(plan), tolerance)
    data = data_folder(data_dir).resolve()
    streams = [data / name for name in loaded.description.streams]
    allowed = set(OPEN if unsafe else ["network"] if allow_network else ())
    with temporary_folder("again") as made:
        folder = made.resolve()
        sandbox = choose_sandbox(folder, visible=streams, hidden=[path], allowed=allowed)
        result.notes += _warn_of(sandbox)
        out, copies = folder / "run", _copied(plugins, folder)
        asked = any(matrix_file(unit.key) in loaded.bundle for unit in plan.all_units)
        order = RunAgainOrder(
            fields, copies, list(detectors), str(data), str(out), jobs, time_limit, memory_limit, asked, fold
        )
        _run(sandbox, order, limits)
        result.differences += _compare_again(path, loaded, plan, out, tolerance, whole=not fold)
    _note_trust(result, plan, sandbox, sample=bool(fold))
    return result


def _verified(path: Path, data_dir: Path | None) -> tuple[LoadedBundle, dict[str, Any], Reproduced]:
    """A bundle as it was opened, its plan.json, and what verifying it says."""
    with opened(path) as bundle:
        loaded = load_bundle(bundle, data_dir)
        refuse_external(loaded.plan)
        verified = verify_loaded(loaded)
        fields = bundle.json("plan.json")
    return (
        loaded,
        fields,
        Reproduced(verified.frame, differences=list(verified.differences), notes=list(verified.notes)),
    )


def _computing(plan: Plan) -> set[str]:
    """Packages that compute a plan; raises if its kernels or devices are not to be had here."""
    for device, name in {(chain.device, chain.kernels) for chain in plan.units}:
        with use_kernels(name):
            kernel_name()
            device_named(device)
    kernels = {chain.kernels for chain in plan.units if chain.kernels}
    return {package for name in kernels for package in kernel_packages(name)}


def _check_request(tolerance: float, plugins: Sequence[Path]) -> None:
    if tolerance < 0:
        raise UsageError(f"--tolerance {tolerance}: it cannot be negative")
    for plugin in plugins:
        if not plugin.is_file():
            raise UsageError(f"the plugin file {plugin} does not exist")


def _compare_again(
    path: Path, loaded: LoadedBundle, plan: Plan, out: Path, tolerance: float, *, whole: bool
) -> list[str]:
    """Where a run folder differs from the bundle, which is opened again: no copy of it was there during the run."""
    with opened(path) as bundle:
        if bundle.manifest != loaded.bundle.manifest:
            raise BundleError(f"{path} is not what was verified: it was changed while its methods were run again")
        comparing = compare if whole else compare_answers
        return comparing(replace(loaded, bundle=bundle), plan, out, tolerance)


def _note_trust(result: Reproduced, plan: Plan, sandbox: Sandbox, *, sample: bool) -> None:
    """Marks the rows that were run again, if they agree and could not have been copied; of a sample none is whole."""
    if sample:
        result.fits = len(plan.all_units)
        return
    again = result.frame["detector"].isin({row.detector for row in plan.rows})
    result.rows = int(again.sum())
    if not result.differences and "files" not in sandbox.open:
        result.trust = "reproduced"
        result.frame.loc[again, Fact.TRUST] = result.trust


def _given(**values: float | None) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}


def _copied(plugins: Sequence[Path], folder: Path) -> list[str]:
    """Copies of the plugin files that the sandbox can read, each in a folder of its own: names may be the same."""
    copies = []
    for number, plugin in enumerate(plugins):
        place = folder / "plugins" / str(number)
        place.mkdir(parents=True)
        copies.append(str(shutil.copyfile(plugin, place / plugin.name)))
    return copies


def _warn_of(sandbox: Sandbox) -> list[str]:
    """Warns, before anything is run, of what the method can reach."""
    warning = sandbox.warning()
    if not warning:
        return []
    warnings.warn(f"NOT EVERYTHING COULD BE CUT OFF: {warning}", LglBenchWarning, stacklevel=3)
    kept = "; its rows are compared, but not called reproduced, because it could have copied the answers"
    return [f"{warning}{kept if 'files' in sandbox.open else ''}"]


def _run(sandbox: Sandbox, order: RunAgainOrder, limits: Limits) -> None:
    path, loops = Path(sandbox.view.folder) / "order.json", Path(sandbox.view.folder) / "loops"
    order.write(path)
    copy_compiled(loops)
    command = ("-m", "lgl_bench.submissions.reproduce.again", str(path))
    done = run_isolated(sandbox, command, limits, LGL_BENCH_DATA=order.data_dir, **{COMPILED: str(loops)})
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise LglBenchError(f"the method could not be run again: {' '.join(lines[-3:])[-1000:]}")


def _versions(made: dict[str, str], packages: Iterable[str], tolerance: float) -> list[str]:
    own = provenance()
    names = ("torch", *sorted(packages), "numpy", "lgl_bench")
    other = [f"{name} {made.get(name)} there, {own[name]} here" for name in names if made.get(name) != own[name]]
    if not other:
        return []
    hint = "" if tolerance > EXACT else "; sums may differ in the last digits: --tolerance allows for that"
    return [f"made with other versions ({', '.join(other)}){hint}"]
