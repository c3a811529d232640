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

from lgl_bench import pipeline
from lgl_bench.core.errors import LglBenchError
from lgl_bench.grading.history import beyond_last
from lgl_bench.leaderboard.boards import open_board, pool
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.plans.plan_file import read_plan
from lgl_bench.report.site import build_site
from lgl_bench.runs.options import IN_PROCESS, Settings
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.store import write_stream
from lgl_bench.submissions.bundle.pack import submit
from tests.fuzz.kinds import Kind
from tests.fuzz.mutations import Mutation, damage_bytes, damage_folder, damage_text, files_in, one_of
from tests.fuzz.tables import damage_json, damage_parquet
from tests.support.graphs import small_stream

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
    settings = Settings(folder, data_dir=folder.parent / "data", offline=True, engine=IN_PROCESS)
    pipeline.run_plan(*pipeline.plan_run("smoke", settings, budget="smoke", **asked), settings)


def _make(folder: Path, rng: random.Random) -> None:
    shutil.copytree(_template() / "run", folder / "run")
    (folder / "reader").write_text(str(rng.randrange(4)))


def _run(source: Path, out: Path) -> None:
    """What reads a run folder: status, and one of a board, a report, a bundle and another run, which take longer."""
    place, copy, data = source / "run", out / "run", out / "data"
    shutil.copytree(_template() / "data", data)
    shutil.copytree(place, copy, symlinks=True, copy_function=_copy)
    readers: tuple[Callable[[], object], ...] = (
        lambda: ranked(pool([open_board(copy)]).frame),
        lambda: build_site([copy], out / "site", data_dir=data),
        lambda: submit(copy, out / "bundle", data_dir=data),
        lambda: _run_in(copy),
    )
    refused: list[LglBenchError] = []
    # What one reader refuses the next one may stumble over.
    for read in (lambda: _status(place), readers[int((source / "reader").read_text())]):
        try:
            read()
        except LglBenchError as error:
            refused.append(error)
    partial = [str(path) for path in out.rglob("*.partial")]
    for path in out.iterdir():
        shutil.rmtree(path)
    assert not partial, partial
    if refused:
        raise refused[0]


def _status(folder: Path) -> None:
    for key in read_plan(folder).fits:
        RunStore(folder).fit(key)
    beyond_last(folder)


def _copy(source: str, target: str) -> None:
    """Copies a file; a pipe is made anew, since copying would wait for somebody to write."""
    if Path(source).is_file():
        shutil.copyfile(source, target)
    else:
        Path(target).symlink_to("nowhere")


def _sealed(mutation: Mutation) -> Mutation:
    """The damage, after which the digests in fit records are made right again."""

    def mutate(folder: Path, rng: random.Random) -> None:
        run = folder / "run"
        mutation(run, rng)
        if rng.random() < 0.5:
            for path in files_in(run / "fits", "fit.json"):
                with contextlib.suppress(Exception):
                    _seal(path)

    return mutate


def _seal(path: Path) -> None:
    record = json.loads(path.read_text())
    answers = path.parents[2] / "answers" / f"{path.parent.name}.parquet"
    weights = path.with_name("model.safetensors")
    if answers.is_file():
        record["answers"][0]["sha256"] = hashlib.sha256(answers.read_bytes()).hexdigest()
    if weights.is_file():
        record["weights"] = hashlib.sha256(weights.read_bytes()).hexdigest()
    path.write_text(json.dumps(record))


def _damage_record(folder: Path, rng: random.Random) -> None:
    damage_json(folder, rng, "fit.json")


def _damage_plan(folder: Path, rng: random.Random) -> None:
    damage_json(folder, rng, "plan.json")


def _damage_kept(folder: Path, rng: random.Random) -> None:
    damage_json(folder, rng, "intervals.json", "standing.json")


def _damage_years(folder: Path, rng: random.Random) -> None:
    """Of the Parquet files of the run itself, not of its answers."""
    with tempfile.TemporaryDirectory() as aside:
        shutil.move(folder / "answers", aside)
        try:
            damage_parquet(folder, rng)
        finally:
            shutil.move(Path(aside) / "answers", folder)


def _damage_text(folder: Path, rng: random.Random) -> None:
    damage_text(folder, rng, ".json", ".csv")


_damage = one_of(
    _damage_record, _damage_record, _damage_plan, _damage_plan, _damage_kept, _damage_years, _damage_years,
    damage_parquet, damage_parquet, _damage_text, damage_bytes, damage_bytes, damage_folder,
)  # fmt: skip

KINDS = [Kind("run-store", _make, _sealed(_damage), _run)]
