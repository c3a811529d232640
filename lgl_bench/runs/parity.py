"""Parity with the paper: its cells run again with its hyperparameters, side by side with what it prints.

Every finished job is one JSON file in the output folder, so an interrupted command goes on where it stopped. A file
counts as long as parameters, version and data are today's and its *probe* gives the same figures: the first fold after
two epochs, under seed 0. So code that computes something else makes exactly the jobs void whose numbers it changes.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, replace
from functools import cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lgl_bench import __version__
from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import complete, parse
from lgl_bench.runs.parity_jobs import (
    BACKBONES,
    HEADS,
    OWN_CODE,
    Job,
    given_parameters,
    noted_parameters,
    preset_of,
    unchanged_since_probes,
)

if TYPE_CHECKING:
    from lgl_bench.runs.presets import Preset
    from lgl_bench.streams.stream import Stream

_PROBE_EPOCHS = 2
# Rounding on another machine moves a rank or two; a change of what is computed moves many.
_PROBE_TOLERANCE = 1e-4


def run_job(job: Job, data_dir: str | None) -> dict[str, Any]:
    """Trains and grades one job, one thread."""
    import torch

    from lgl_bench.runs.provenance import provenance
    from lgl_bench.streams.checksum import stream_checksum

    torch.set_num_threads(1)
    folder = Path(data_dir) if data_dir else None
    stream = _loaded(job.stream, folder)
    chosen = preset_of(job)
    made = provenance()
    return {
        "job": asdict(job),
        "preset": chosen.name,
        "parameters": noted_parameters(job),
        "stream_checksum": stream_checksum(stream),
        "commit": made["git_commit"],
        "created_at": made["created_at"],
        "probe": probe(replace(job, seed=0), folder),
        "folds": _folds(_answered(job, stream, chosen)),
        "versions": {key: made[key] for key in ("lgl_bench", "torch", "dgl", "numpy", "python")},
    }


@cache
def probe(job: Job, data_dir: Path | None) -> dict[str, float | None]:
    """Loss, accuracy and AUROC of a job's first fold after two epochs: if they change, so did what is computed."""
    import torch

    torch.set_num_threads(1)
    chosen = preset_of(job)
    short = replace(chosen, training=replace(chosen.training, epochs=min(_PROBE_EPOCHS, chosen.training.epochs)))
    (fold,) = _folds(islice(_answered(job, _loaded(job.stream, data_dir), short), 1))
    return {"loss": fold["loss"], "accuracy": fold["accuracy"], **fold["auroc"]}


def _answered(job: Job, stream: Stream, chosen: Preset) -> Iterator[Any]:
    from lgl_bench.runs.answers import answer_tasks
    from lgl_bench.runs.parity_published import published_answers
    from lgl_bench.runs.scoring import Method

    method = Method(job.backbone, job.head, chosen, _expressions(job))
    protocol = _protocol(job, stream.static)
    if job.switch in OWN_CODE:
        return published_answers(stream, protocol, method, job.seed, job.switch)
    return answer_tasks(stream, protocol, method, job.seed)


def _protocol(job: Job, static: bool) -> Any:
    from lgl_bench.protocols.leave_class_out import LeaveClassOut
    from lgl_bench.protocols.temporal import Temporal
    from lgl_bench.protocols.transductive import Transductive

    if job.transductive:
        return Transductive(job.split)
    return LeaveClassOut(job.split) if static else Temporal()


def _expressions(job: Job) -> tuple[Any, ...]:
    """The detector of the cell, and GOOD where the paper builds it on that one; none in the transductive check."""
    from lgl_bench.detectors import detectors
    from lgl_bench.runs.presets import detector_preset, good_preset

    texts = [] if job.transductive else [HEADS[job.head]]
    base, alpha = good_preset(job.stream, job.split, job.backbone)
    if base in texts:
        texts.append(f"good({base}, alpha={alpha})")
    return tuple(
        complete(parse(text), detectors, lambda name: detector_preset(job.stream, job.split, job.backbone, name))
        for text in texts
    )


def _folds(answered: Iterable[Any]) -> list[dict[str, Any]]:
    from lgl_bench.runs.evaluate import grade

    folds = []
    for answers, truth in answered:
        grades = grade(answers, truth)
        folds.append(
            {
                "time": answers.task.time,
                "fold": answers.task.fold,
                "role": answers.task.role,
                "skipped": answers.skipped,
                "accuracy": grades.accuracy.value,
                "new": grades.new,
                "auroc": {name: value.value for name, value in grades.auroc.items()},
                "loss": answers.fit.loss if answers.fit else None,
                "seconds": answers.fit.seconds if answers.fit else 0.0,
            }
        )
    return folds


def run_parity(
    jobs: list[Job],
    out: Path,
    data_dir: Path | None,
    processes: int,
    on_done: Callable[[Job, int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Runs the jobs that have no file yet; returns every result in the folder, of earlier commands too."""
    if processes < 1:
        raise UsageError(f"--jobs {processes}: at least one process is needed")
    (out / "jobs").mkdir(parents=True, exist_ok=True)
    missing = [job for job in jobs if not _up_to_date(_file(out, job), job, data_dir)]
    done = len(jobs) - len(missing)
    folder = str(data_dir) if data_dir else None
    # The longest first, so that no process is left with one at the end.
    missing.sort(key=lambda job: (job.seed, -BACKBONES.index(job.backbone) if job.backbone in BACKBONES else 0))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(run_job, job, folder): job for job in missing}
        for future in as_completed(running):
            if future.exception() is not None:
                pool.shutdown(wait=True, cancel_futures=True)  # those under way end, and are kept
                for other, job in running.items():
                    if other.done() and not other.cancelled() and other.exception() is None:
                        _write(_file(out, job), other.result())
            _write(_file(out, running[future]), future.result())
            done += 1
            if on_done is not None:
                on_done(running[future], done, len(jobs))
    return stored_results(out)


def _up_to_date(path: Path, job: Job, data_dir: Path | None) -> bool:
    """Whether a result is there, made with today's parameters, version and data, by code that gives the same today."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(
        given_parameters(stored["parameters"]) == noted_parameters(job)
        and stored["versions"]["lgl_bench"] == __version__
        and stored["stream_checksum"] == _checksum(job.stream, data_dir)
        and _same_numbers(stored, job, data_dir)
    )


def _same_numbers(stored: dict[str, Any], job: Job, data_dir: Path | None) -> bool:
    if "probe" not in stored:
        return unchanged_since_probes(job)
    # Compared in order: a detector may be written with more parameters today.
    before, today = (list(found.values()) for found in (stored["probe"], probe(replace(job, seed=0), data_dir)))
    return len(before) == len(today) and all(map(_close, before, today))


def _close(before: float | None, today: float | None) -> bool:
    if before is None or today is None:
        return before is today
    return math.isclose(before, today, rel_tol=0, abs_tol=_PROBE_TOLERANCE)


def stored_results(out: Path) -> list[dict[str, Any]]:
    """Every result in a folder, of earlier commands too, but for those of before probes that no longer stand."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((out / "jobs").glob("[!.]*.json"))]
    return [result for result in found if "probe" in result or unchanged_since_probes(Job(**result["job"]))]


@cache
def _loaded(stream: str, data_dir: Path | None) -> Stream:
    from lgl_bench.streams.catalogue import load

    return load(stream, data_dir)


@cache
def _checksum(stream: str, data_dir: Path | None) -> str:
    from lgl_bench.streams.checksum import stream_checksum

    return stream_checksum(_loaded(stream, data_dir))


def _file(out: Path, job: Job) -> Path:
    return out / "jobs" / f"{job.key}.json"


def _write(path: Path, result: dict[str, Any]) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)
