"""A bundle beside the reviewer's own streams: its plan, and its fits and answers, checked and laid out as a run.

Classes, years and vertices come from the protocol; from the bundle only if the protocol is a plugin, which a note
says.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.references import is_external
from lgl_bench.core.registry import only_built_in
from lgl_bench.core.types import IntArray
from lgl_bench.detectors import detectors
from lgl_bench.plans.fits import Unit
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.plan_file import Description, PlanError, check_stream_name, describe
from lgl_bench.plans.rebuild import Expected, rebuild
from lgl_bench.runs.answer_columns import answered_names, neighbour_column, novelty_column
from lgl_bench.runs.matrix_row import matrix_vertices, matrix_years
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.store import RunStore, add_answers
from lgl_bench.streams.catalogue import load
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.stream import Stream
from lgl_bench.submissions.bundle.layout import BundleError, answers_file, fit_file, matrix_file
from lgl_bench.submissions.bundle.opening import Bundle
from lgl_bench.submissions.verify.answers import read_answers, read_matrix
from lgl_bench.submissions.verify.claims import claimed_task

_MAX_PAIRS = 20_000_000  # of a row with another row or a chain: each is looked at
_MAX_CLAIMED = 1e12  # seconds or MiB: no run took so many


@dataclass(frozen=True, slots=True)
class LoadedBundle:
    """A bundle beside the reviewer's own streams."""

    bundle: Bundle
    description: Description
    plan: Plan
    expected: dict[str, Expected]
    streams: dict[str, Stream]


def load_bundle(bundle: Bundle, data_dir: Path | None) -> LoadedBundle:
    """The plan of a bundle on the reviewer's own streams; plugins that are loaded or installed are not looked at."""
    try:
        with only_built_in():
            return _load_bundle(bundle, data_dir)
    except PlanError as error:
        raise BundleError(str(error)) from error


def _load_bundle(bundle: Bundle, data_dir: Path | None) -> LoadedBundle:
    description = describe(bundle.json("plan.json"))
    rows, chains = len(description.rows), len(description.chains)
    if rows * max(rows, chains) > _MAX_PAIRS:
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
    return LoadedBundle(bundle, description, plan, expected, streams)


def staged_store(bundle: Bundle) -> RunStore:
    """Where the fits and answers of a bundle are laid out as a run."""
    return RunStore(bundle.folder.parent / "staged")


def stage(loaded: LoadedBundle, staged: RunStore) -> list[str]:
    """Lays fits and answers out as a run, known classes as the protocol says, and notes what has no answers."""
    bundle, expected = loaded.bundle, loaded.expected
    for kind, keys in (("fits", bundle.fit_keys()), ("answers", bundle.answer_keys())):
        for key in sorted(keys - expected.keys()):
            raise BundleError(f"{kind}/{key}: plan.json has no such fit")
    missing, failed = 0, 0
    for units in loaded.plan.units.values():
        for unit in units:
            sent = bundle.fit(unit.key)
            if sent is None:
                if not bundle.manifest.partial:
                    raise BundleError(f"{fit_file(unit.key)} is missing")
                if answers_file(unit.key) in bundle:
                    raise BundleError(f"{answers_file(unit.key)} has no {fit_file(unit.key)}")
                missing += 1
                continue
            record = _checked_record(sent, unit.key, expected[unit.key])
            failed += (record.status in ("failed", "diverged")) + len(record.failed)
            staged.write_fit(unit.key, record, matrix=_matrix(loaded, unit, record))
            _stage_answers(loaded, staged, record, unit)
    unasked = _unasked(loaded)
    notes = [f"{missing} of {len(expected)} fits are missing: the bundle is partial"] if missing else []
    if failed:
        notes.append(f"{failed} answers or fits are recorded as failed; only reproduce can check that")
    if unasked:
        notes.append(f"{unasked} fits did not answer for every year: their rows have no forgetting and no transfer")
    return notes


def _checked_record(sent: FitRecord, key: str, expected: Expected) -> FitRecord:
    """The record of a fit as grading reads it; classes and task come from the protocol."""
    name = fit_file(key)
    if (sent.status == "skipped") != bool(expected.skipped):
        raise BundleError(f"{name}: status {sent.status}: {expected.skipped or 'the task can be answered'}")
    record = FitRecord(
        status=sent.status,
        reason=sent.reason,
        key=key,
        time=expected.time,
        role=expected.role,
        fold=expected.fold,
        known=expected.known.tolist(),
        trained_up_to=sent.trained_up_to if expected.claimed else expected.trained_up_to,
        failed=sent.failed,
        seconds=sent.seconds,
        peak_memory_mb=sent.peak_memory_mb,
        memory_vertices=sent.memory_vertices,
        memory_mb=sent.memory_mb,
    )
    for field in ("key", "time", "role", "fold", "known", "trained_up_to"):
        given, right = getattr(sent, field), getattr(record, field)
        if given != right:
            raise BundleError(f"{name}: {field} = {ascii(given)[:200]}; the protocol says {right}")
    for field in ("seconds", "peak_memory_mb", "memory_vertices", "memory_mb"):
        claimed = getattr(sent, field)
        if claimed is not None and not 0 <= claimed < _MAX_CLAIMED:
            raise BundleError(f"{name}: {field} = {claimed}; it lies between 0 and {_MAX_CLAIMED:g}")
    return record


def _unasked(loaded: LoadedBundle) -> int:
    """Fits without a row of the matrix of years, if the suite asks for it."""
    bundle = loaded.bundle
    fits = (bundle.fit(unit.key) for unit in loaded.plan.all_units if matrix_file(unit.key) not in bundle)
    return sum(one is not None and one.status == "ok" for one in fits) if loaded.plan.suite.matrix else 0


def _matrix(loaded: LoadedBundle, unit: Unit, record: FitRecord) -> IntArray | None:
    """The row of the matrix of years, checked; None if the bundle has none."""
    name, stream = matrix_file(unit.key), loaded.streams[unit.chain.stream]
    if name not in loaded.bundle:
        return None
    if record.status != "ok" or not unit.chain.strategy.name:
        raise BundleError(f"{name}: there is no model of {fit_file(unit.key)} that could answer for other years")
    if record.trained_up_to not in (None, *stream.times):
        raise BundleError(
            f"{fit_file(unit.key)}: trained_up_to = {record.trained_up_to}; {stream.name} has no such year"
        )
    years = matrix_years(stream.times, [one.time for one in loaded.plan.units[unit.chain]])
    return read_matrix(loaded.bundle.folder / name, name, len(matrix_vertices(stream, years)), record.known)


def _stage_answers(loaded: LoadedBundle, staged: RunStore, record: FitRecord, unit: Unit) -> None:
    bundle, scored, external = loaded.bundle, loaded.plan.scored[unit.chain], is_external(unit.chain.backbone)
    name = answers_file(record.key)
    if name not in bundle:
        if record.status == "ok" and any(base not in record.failed for base in scored):
            raise BundleError(f"{name} is missing")
        return
    if record.status != "ok":
        raise BundleError(f"{name}: there are answers, but {fit_file(record.key)} has status {record.status}")
    columns = read_answers(bundle.folder / name, name, loaded.expected[unit.key], external=external)
    # Whoever answers for scored vertices alone knows nothing of their neighbours, and no row of theirs is mixed.
    alone = {base for base in scored if external and not detectors.is_built_in(plugin_name(base))}
    for base in scored:
        if base not in record.failed:
            for column in (novelty_column(base), neighbour_column(base)):
                if column not in columns and not (base in alone and column == neighbour_column(base)):
                    raise BundleError(f"{name}: the column {column} is missing")
    for answer in answered_names(columns):
        if not answer.threshold and answer.detector not in alone and neighbour_column(answer.detector) not in columns:
            column = novelty_column(answer.detector)
            raise BundleError(f"{name}: the column {ascii(column)} has no mean over the neighbours beside it")
    add_answers(staged, record.key, pd.DataFrame(columns))
