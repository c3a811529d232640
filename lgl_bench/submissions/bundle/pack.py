"""Packing a run, so that a stranger can recompute it: rows, grades, answers, configuration, environment.

The bundle appears whole, by a rename, and says nothing about the machine or its owner.
"""

from __future__ import annotations

import contextlib
import hashlib
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lgl_bench.core.errors import DataError, UsageError, quoted
from lgl_bench.core.files import building, workspace
from lgl_bench.core.registry import only_built_in
from lgl_bench.grading.history import kept_plans
from lgl_bench.grading.year_table import YEARS_FILE, read_years
from lgl_bench.leaderboard.recompute import recompute
from lgl_bench.leaderboard.table.names import BOARD_FILE, Fact
from lgl_bench.leaderboard.table.text import as_text, read_text
from lgl_bench.leaderboard.table.write import csv_text, refuse_existing
from lgl_bench.plans.plan_file import Description, read_plan
from lgl_bench.plans.rebuild import rebuild
from lgl_bench.runs.records import dump_fit
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.stream import Stream
from lgl_bench.submissions.bundle.environment import Scrubber, dump, environment
from lgl_bench.submissions.bundle.handover import check_bundle, left_out, missed, run_streams
from lgl_bench.submissions.bundle.layout import (
    FORMAT,
    MANIFEST,
    BundleManifest,
    FileEntry,
    answers_file,
    fit_file,
    limit_of,
    matrix_file,
    memory_file,
    refuse_name,
    refuse_submitter,
    weights_file,
)

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(slots=True)
class Packed:
    """A bundle that was made.

    Attributes:
        path: Where.
        files: How many.
        size: Bytes of all of them.
        notes: What a reviewer will miss.
    """

    path: Path
    files: int
    size: int
    notes: list[str] = field(default_factory=list)


def submit(
    out: Path,
    to: Path,
    *,
    submitter: str = "",
    plugins: Sequence[Path] = (),
    partial: bool = False,
    weights: bool = True,
    force: bool = False,
    data_dir: Path | None = None,
    plan: str = "",
) -> Packed:
    """Packs a run folder.

    Args:
        out: The run folder.
        to: A folder to make, or a file that ends in `.zip`.
        submitter: Who sends it.
        plugins: Files whose source goes with it; a `__init__.py` goes by the name of its package.
        partial: Whether missing fits are allowed.
        weights: Whether weights go with it, so that built-in methods can answer again from them.
        force: Whether an older bundle is replaced.
        data_dir: Folder of the streams. If they are there the rows are made anew, as a reviewer makes them, and the
            bundle is verified before it is handed over.
        plan: Which of the runs of the folder, by the name of its file in `plans/` or how that begins; else the last.
    """
    if refuse_submitter(submitter):
        raise UsageError(f"--submitter {ascii(submitter)}: {refuse_submitter(submitter)}")
    refuse_existing(to, force)
    _check_replaceable(to)
    try:
        with _delivered(to) as place:
            packing = _Packing(RunStore(out), place, Scrubber(out), data_dir, plan)
            notes = packing.fill(partial, weights, plugins, submitter)
            notes += check_bundle(place, packing.streams, data_dir)
    except OSError as error:
        raise DataError(f"the bundle {to} cannot be written: {error}") from error
    size = sum(entry.size for entry in packing.files.values())
    return Packed(to, len(packing.files), size, notes)


class _Packing:
    """A bundle in the making."""

    def __init__(self, store: RunStore, place: Path, scrub: Scrubber, data_dir: Path | None, plan: str) -> None:
        self.store, self.place, self.scrub, self.plan = store, place, scrub, plan
        self.files: dict[str, FileEntry] = {}
        self.description = _kept_plan(store, plan) if plan else read_plan(store.folder)
        self.streams = run_streams(self.description, data_dir)

    def fill(self, partial: bool, weights: bool, plugins: Sequence[Path], submitter: str) -> list[str]:
        """Writes every file, the manifest last."""
        description = self.description
        missing = [key for key in description.fits if self.store.fit(key) is None]
        if missing and not partial:
            raise DataError(
                f"{self.store.folder} is not finished: {len(missing)} of {len(description.fits)} fits are missing; "
                "run the same command again to finish it, or give --partial"
            )
        reasons = {name: self.scrub(reason) for name, reason in description.stand_ins.items()}
        self._write("plan.json", description.model_copy(update={"stand_ins": reasons}).text().encode())
        self._write("environment.json", dump(environment()))
        if isinstance(self.streams, dict):
            years, frame = self._graded(self.streams)
        elif missing or len(kept_plans(self.store)) > 1:
            raise DataError(
                f"the rows of an unfinished run, or of one of several, are still to be made: {self.streams}"
            )
        else:
            years, frame = self._read_years(), self._read_board()
        self._write(BOARD_FILE, self._board(frame, submitter))
        self._years(years)
        without = sum(not self._unit(key, weights) for key in description.fits)
        for path in plugins:
            self._write(f"plugins/{_plugin_name(path)}.py", _source(path))
        manifest = BundleManifest(format=FORMAT, partial=bool(missing), submitter=submitter, files=self.files)
        self._write(MANIFEST, dump(manifest.model_dump()))
        others = [] if self.plan else left_out(self.store.folder)
        return missed(description, bool(plugins), weights, without) + others

    def _graded(self, streams: dict[str, Stream]) -> tuple[Any, pd.DataFrame]:
        """The rows of the run, made from its answers as a reviewer makes them."""
        with only_built_in():
            plan, _ = rebuild(self.description, streams)
            years, frame = recompute(plan, self.store, streams, self.description.provenance)
        if not len(years):
            raise DataError(f"{self.store.folder} has no fit yet; there is nothing to submit")
        return pa.Table.from_pandas(years, preserve_index=False), as_text(frame)

    def _read_board(self) -> pd.DataFrame:
        path = self.store.folder / BOARD_FILE
        try:
            return read_text(path)
        except (OSError, ValueError) as error:
            raise DataError(f"{path} cannot be read: {error}; run the same command again to make it") from error

    def _read_years(self) -> Any:
        return pa.Table.from_pandas(read_years(self.store.folder), preserve_index=False)

    def _board(self, frame: pd.DataFrame, submitter: str) -> bytes:
        for column in (name for name in frame if str(name).endswith("reason")):
            frame[column] = frame[column].map(self.scrub)
        if submitter:
            frame[Fact.SUBMITTER] = submitter
        return csv_text(frame).encode()

    def _years(self, table: Any) -> None:
        for i, name in enumerate(table.column_names):
            if name.endswith("reason") and pa.types.is_string(table.column(name).type):
                texts = [None if text is None else self.scrub(text) for text in table.column(name).to_pylist()]
                table = table.set_column(i, name, pa.array(texts, pa.string()))
        # pandas' own notes on the columns are no part of the table.
        pq.write_table(table.replace_schema_metadata(None), self.place / YEARS_FILE, compression="zstd")
        self._note(YEARS_FILE)

    def _unit(self, key: str, weights: bool) -> bool:
        """Packs a fit; whether its weights are there, if it should have any."""
        record = self.store.fit(key)
        if record is None:
            return True
        self._write(fit_file(key), dump_fit(self.scrub.record(record)))
        kept = self.store.weights(key) if weights else None
        if kept is not None:
            self._write(weights_file(key), kept)
            memory = self.store.memory(key)
            if memory is not None:
                self._write(memory_file(key), memory)
        matrix = self.store.matrix_file(key)
        if matrix is not None:
            self._write(matrix_file(key), matrix)
        if self.store.has_answers(key):
            self._write(answers_file(key), self.store.answer_bytes(key))
        return record.status != "ok" or kept is not None

    def _write(self, name: str, data: bytes) -> None:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            raise UsageError(f"two files would be called {name} in the bundle; rename one")
        path.write_bytes(data)
        if name != MANIFEST:
            self._note(name)

    def _note(self, name: str) -> None:
        data = (self.place / name).read_bytes()
        limit = limit_of(name) or 0
        if len(data) > limit:
            raise DataError(f"{name} holds {len(data):,} bytes; no reviewer reads more than {limit:,}")
        self.files[name] = FileEntry(sha256=hashlib.sha256(data).hexdigest(), size=len(data))


def _kept_plan(store: RunStore, name: str) -> Description:
    """One of the plans of a run folder, by its digest or how that begins."""
    kept = {description.digest(): description for description in kept_plans(store)}
    found = [description for digest, description in kept.items() if digest.startswith(name)]
    if len(found) == 1:
        return found[0]
    there = "; ".join(f"{digest}: {one.suite.get('name')} on {', '.join(one.streams)}" for digest, one in kept.items())
    raise UsageError(f"--plan {quoted(name)} is {len(found) or 'none'} of the plans of {store.folder}: {there}")


@contextlib.contextmanager
def _delivered(to: Path) -> Iterator[Path]:
    """A folder to fill, which becomes the bundle: as it is, or packed into a zip."""
    if to.suffix != ".zip":
        with building(to) as place:
            yield place
        return
    with workspace(to) as folder:
        place = folder / "bundle"
        place.mkdir()
        yield place
        _zip(place, folder / "packed")
        (folder / "packed").replace(to)


def _zip(folder: Path, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(one for one in folder.rglob("*") if one.is_file()):
            info = zipfile.ZipInfo(file.relative_to(folder).as_posix(), _ZIP_TIME)
            info.external_attr = 0o100644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, file.read_bytes())


def _check_replaceable(to: Path) -> None:
    """--force replaces a bundle, never a folder with anything else in it."""
    if to.is_symlink() or (to.is_dir() and to.suffix == ".zip"):
        raise UsageError(f"{to} is a link or a folder; remove it yourself, or give another name")
    if not to.is_dir():
        if to.exists() and to.suffix != ".zip":
            raise UsageError(f"{to} is a file; --to names a folder, or a file that ends in .zip")
        return
    for path in to.rglob("*"):
        if not path.is_dir() and refuse_name(path.relative_to(to).as_posix()):
            raise UsageError(f"{to} holds {path.name}, which is no part of a bundle; remove it yourself")


def _plugin_name(path: Path) -> str:
    name = path.resolve().parent.name if path.stem == "__init__" else path.stem
    if refuse_name(f"plugins/{name}.py"):
        raise UsageError(f"the plugin {path}: its name must be of letters, digits and underscores")
    return name


def _source(path: Path) -> bytes:
    try:
        return path.read_text(encoding="utf-8").encode()
    except (OSError, ValueError) as error:
        raise UsageError(f"the plugin {path} cannot be read: {error}") from error
