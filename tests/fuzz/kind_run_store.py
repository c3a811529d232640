"""Run folders: as a disk damages them, and as somebody makes them who also corrects the digests."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import random
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from lgl_bench import api
from lgl_bench.core.errors import LglBenchError
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.sources import open_board, pool
from lgl_bench.report.site import build_site
from lgl_bench.runs.description import read_plan
from lgl_bench.runs.history import beyond_last
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.store import write_stream
from lgl_bench.submissions.pack import submit
from tests.fuzz.kinds import Kind
from tests.fuzz.mutations import Mutation, damage_bytes, damage_folder, damage_text, files_in, one_of
from tests.fuzz.tables import damage_json, damage_parquet
from tests.graphs import small_stream
from tests.runs.conftest import InProcess

_ASKED: dict[str, Any] = {"streams": ["small"], "backbones": ["gcn"], "detectors": ["msp", "good(msp)"]}


@cache
def _template() -> Path:
    """A data folder and the folder of two small runs, made once per process."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-run-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_stream(small_stream(), folder / "data" / "small")
    _run_in(folder / "run", detectors=["entropy"], thresholds=["none"])
    _run_in(folder / "run")
    (folder / "run" / ".lock").unlink()
    return folder


def _run_in(folder: Path, **axes: Any) -> None:
    asked = {**_ASKED, "thresholds": ["naive"], **axes}
    settings = api.Settings(folder, data_dir=folder.parent / "data", offline=True)
    engine, api._engine = api._engine, lambda *given: InProcess()
    try:
        api.run_plan(*api.plan_run("smoke", settings, budget="smoke", **asked), settings)
    finally:
        api._engine = engine


def _make(folder: Path, rng: random.Random) -> None:
    shutil.copytree(_template() / "run", folder / "run")


def _run(source: Path, out: Path) -> None:
    """Everything that reads a run folder: what one reader refuses the next one may stumble over."""
    refused: list[LglBenchError] = []
    place, copy = source / "run", out / "run"
    shutil.copytree(_template() / "data", out / "data")
    shutil.copytree(place, copy, symlinks=True, copy_function=_copy)
    readers: tuple[Callable[[], object], ...] = (
        lambda: [RunStore(place).fit(key) for key in read_plan(place).fits],
        lambda: beyond_last(place),
        lambda: ranked(pool([open_board(copy)]).frame),
        lambda: build_site([copy], out / "site", data_dir=out / "data"),
        lambda: submit(copy, out / "bundle", data_dir=out / "data"),
        lambda: _run_in(copy),
    )
    for read in readers:
        try:
            read()
        except LglBenchError as error:
            refused.append(error)
    partial = [path for path in out.rglob("*.partial")]
    for path in out.iterdir():
        shutil.rmtree(path)
    assert not partial, partial
    if refused:
        raise refused[0]


def _copy(source: str, target: str) -> None:
    """Copies a file; a pipe is made anew, since copying would wait for somebody to write."""
    if Path(source).is_file():
        shutil.copyfile(source, target)
    else:
        Path(target).symlink_to("nowhere")


def _sealed(mutation: Mutation) -> Mutation:
    """The damage, after which the digests in fit records are made right again."""

    def mutate(folder: Path, rng: random.Random) -> None:
        mutation(folder, rng)
        if rng.random() < 0.5:
            for path in files_in(folder / "run" / "fits", "fit.json"):
                with contextlib.suppress(Exception):
                    _seal(path)

    return mutate


def _seal(path: Path) -> None:
    record = json.loads(path.read_text())
    answers = path.parents[2] / "answers" / f"{path.parent.name}.parquet"
    record["answers"][0]["sha256"] = hashlib.sha256(answers.read_bytes()).hexdigest()
    weights = path.with_name("model.safetensors")
    record["weights"] = hashlib.sha256(weights.read_bytes()).hexdigest()
    path.write_text(json.dumps(record))


def _damage_record(folder: Path, rng: random.Random) -> None:
    damage_json(folder, rng, "fit.json")


def _damage_plan(folder: Path, rng: random.Random) -> None:
    damage_json(folder, rng, "plan.json")


def _damage_kept(folder: Path, rng: random.Random) -> None:
    damage_json(folder / "run", rng, "intervals.json", "standing.json", ".json")


def _damage_years(folder: Path, rng: random.Random) -> None:
    """Of the Parquet files of the run itself, not of its answers."""
    with tempfile.TemporaryDirectory() as aside:
        shutil.move(folder / "run" / "answers", aside)
        try:
            damage_parquet(folder / "run", rng)
        finally:
            shutil.move(Path(aside) / "answers", folder / "run")


def _damage_text(folder: Path, rng: random.Random) -> None:
    damage_text(folder, rng, ".json", ".csv")


_damage = one_of(
    _damage_record, _damage_record, _damage_plan, _damage_plan, _damage_kept, _damage_years, _damage_years,
    damage_parquet, damage_parquet, _damage_text, damage_bytes, damage_bytes, damage_folder,
)  # fmt: skip

KINDS = [Kind("run-store", _make, _sealed(_damage), _run)]
