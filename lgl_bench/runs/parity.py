"""Parity with the paper: its cells run again with its hyperparameters, side by side with what it prints.

Every finished job is one JSON file in the output folder, so an interrupted command goes on where it stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lgl_bench import __version__
from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import complete, parse

if TYPE_CHECKING:
    from lgl_bench.runs.presets import Preset

BACKBONES = ("gcn", "graphsage", "gat", "graph-mlp")
HEADS = {"softmax": "odin", "isomax+": "isomax+", "gdoc": "gdoc"}
# Graph-MLP's own check in the paper: transductive, Planetoid split, all classes known.
TRANSDUCTIVE = {"cora": 0.778, "citeseer": 0.697, "pubmed": 0.776}


@dataclass(frozen=True, slots=True)
class Job:
    """One model kind on one stream under one seed, over all folds or years."""

    stream: str
    split: str
    backbone: str
    head: str
    seed: int
    transductive: bool = False

    @property
    def key(self) -> str:
        """Name of its file."""
        track = "transductive" if self.transductive else self.split
        return f"{self.stream}_{track}_{self.backbone}_{self.head.replace('+', 'plus')}_{self.seed}"


def jobs_of(stream: str, split: str, backbones: tuple[str, ...], seeds: int) -> Iterator[Job]:
    """The cells of the paper's table for one stream, and Graph-MLP's transductive check."""
    for seed in range(seeds):
        for backbone in backbones:
            for head in HEADS:
                yield Job(stream, split, backbone, head, seed)
        if "graph-mlp" in backbones and stream in TRANSDUCTIVE:
            yield Job(stream, "planetoid", "graph-mlp", "softmax", seed, transductive=True)


def run_job(job: Job, data_dir: str | None) -> dict[str, Any]:
    """Trains and grades one job, one thread."""
    import torch

    from lgl_bench.detectors import detectors
    from lgl_bench.protocols.leave_class_out import LeaveClassOut
    from lgl_bench.protocols.temporal import Temporal
    from lgl_bench.protocols.transductive import Transductive
    from lgl_bench.runs.answers import Method, answer_tasks
    from lgl_bench.runs.evaluate import grade
    from lgl_bench.runs.presets import detector_preset, good_preset
    from lgl_bench.streams.catalogue import load
    from lgl_bench.streams.checksum import stream_checksum

    torch.set_num_threads(1)
    stream = load(job.stream, Path(data_dir) if data_dir else None)
    protocol: Any = Transductive(job.split) if job.transductive else None
    protocol = protocol or (LeaveClassOut(job.split) if stream.static else Temporal())
    chosen = _preset(job)
    texts = [] if job.transductive else [HEADS[job.head]]
    base, alpha = good_preset(job.stream, job.split, job.backbone)
    if base in texts:
        texts.append(f"good({base}, alpha={alpha})")
    expressions = tuple(
        complete(parse(text), detectors, lambda name: detector_preset(job.stream, job.split, job.backbone, name))
        for text in texts
    )
    method = Method(job.backbone, job.head, chosen, expressions)
    folds = []
    for answers, truth in answer_tasks(stream, protocol, method, job.seed):
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
                "seconds": answers.fit.seconds if answers.fit else 0.0,
            }
        )
    return {
        "job": asdict(job),
        "preset": chosen.name,
        "parameters": {**chosen.backbone, **asdict(chosen.training)},
        "stream_checksum": stream_checksum(stream),
        "folds": folds,
        "versions": _versions(),
    }


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
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted((out / "jobs").glob("[!.]*.json"))]


def _up_to_date(path: Path, job: Job, data_dir: Path | None) -> bool:
    """Whether a result is there and was made with today's parameters, data and version."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    chosen = _preset(job)
    parameters = json.loads(json.dumps({**chosen.backbone, **asdict(chosen.training)}))
    return bool(
        stored["parameters"] == parameters
        and stored["versions"]["lgl_bench"] == __version__
        and stored["stream_checksum"] == _checksum(job.stream, data_dir)
    )


def _preset(job: Job) -> Preset:
    """The paper's row; of its transductive check it prints none, so the one of the random split stands in."""
    from lgl_bench.runs.presets import preset

    return preset(job.stream, "60-20-20" if job.transductive else job.split, job.backbone, job.head)


@cache
def _checksum(stream: str, data_dir: Path | None) -> str:
    from lgl_bench.streams.catalogue import load
    from lgl_bench.streams.checksum import stream_checksum

    return stream_checksum(load(stream, data_dir))


def _file(out: Path, job: Job) -> Path:
    return out / "jobs" / f"{job.key}.json"


def _write(path: Path, result: dict[str, Any]) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


def _versions() -> dict[str, str]:
    import platform

    import dgl
    import torch

    return {
        "lgl_bench": __version__,
        "torch": torch.__version__,
        "dgl": dgl.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
