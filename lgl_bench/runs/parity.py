"""Parity with the paper: its cells run again with its hyperparameters, side by side with what it prints.

Every finished job is one JSON file in the output folder, so an interrupted command goes on where it stopped.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from lgl_bench import __version__
from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import complete, parse

BACKBONES = ("gcn", "graphsage", "gat", "graph-mlp")
HEADS = {"softmax": "odin", "isomax+": "isomax+", "gdoc": "gdoc"}
LEAK = "the printed cell comes from a leak in the published code; not a target"
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
    from lgl_bench.runs.presets import detector_preset, good_preset, preset
    from lgl_bench.streams.catalogue import load
    from lgl_bench.streams.checksum import stream_checksum

    torch.set_num_threads(1)
    stream = load(job.stream, Path(data_dir) if data_dir else None)
    protocol: Any = Transductive(job.split) if job.transductive else None
    protocol = protocol or (LeaveClassOut(job.split) if stream.static else Temporal())
    chosen = preset(job.stream, job.split, job.backbone, job.head)
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
    """Runs the jobs that have no file yet, and returns the results of all."""
    if processes < 1:
        raise UsageError(f"--jobs {processes}: at least one process is needed")
    (out / "jobs").mkdir(parents=True, exist_ok=True)
    missing = [job for job in jobs if not _file(out, job).is_file()]
    done = len(jobs) - len(missing)
    folder = str(data_dir) if data_dir else None
    # The longest first, so that no process is left with one at the end.
    missing.sort(key=lambda job: (job.seed, -BACKBONES.index(job.backbone) if job.backbone in BACKBONES else 0))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(run_job, job, folder): job for job in missing}
        for future in as_completed(running):
            _write(_file(out, running[future]), future.result())
            done += 1
            if on_done is not None:
                on_done(running[future], done, len(jobs))
    return [json.loads(_file(out, job).read_text(encoding="utf-8")) for job in jobs]


def parity_table(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row a cell: paper, ours, deviation over seeds, difference."""
    from lgl_bench.runs.presets import good_preset, table

    printed = {(row["dataset"], row["split"], row["backbone"], row["detector"]): row for row in table("results")}
    cells: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for result in results:
        job = result["job"]
        if job["transductive"]:
            cells.setdefault((job["stream"], "transductive", job["backbone"], "none", ""), []).append(result)
            continue
        names = {name for fold in result["folds"] for name in fold["auroc"]}
        for name in sorted(names):
            detector = "good" if name.startswith("good(") else HEADS[job["head"]]
            cells.setdefault((job["stream"], job["split"], job["backbone"], detector, name), []).append(result)
    rows = []
    for (stream, split, backbone, detector, expression), members in sorted(cells.items()):
        paper = printed.get((stream, split, backbone, detector), {})
        transductive = split == "transductive"
        accuracy = [_mean(fold["accuracy"] for fold in result["folds"]) for result in members]
        auroc = [_mean(fold["auroc"].get(expression) for fold in result["folds"]) for result in members]
        row: dict[str, Any] = {
            "stream": stream,
            "split": split,
            "backbone": backbone,
            "detector": detector,
            "expression": expression,
            "seeds": len(members),
        }
        row |= _compared("accuracy", accuracy, TRANSDUCTIVE[stream] if transductive else paper.get("accuracy"))
        row |= _compared("auroc", auroc, paper.get("auroc"))
        row["note"] = LEAK if backbone == "graph-mlp" and split == "60-20-20" else ""
        if detector == "good":
            base = good_preset(stream, split, backbone)[0]
            row["note"] = "; ".join(filter(None, [f"over {base}", row["note"]]))
        row["fit_seconds"] = round(sum(fold["seconds"] for result in members for fold in result["folds"]), 1)
        row |= {key: members[0]["versions"][key] for key in ("lgl_bench", "torch", "dgl", "python")}
        row["stream_checksum"] = members[0]["stream_checksum"]
        rows.append(row)
    return rows


def write_table(rows: list[dict[str, Any]], path: Path) -> None:
    """The table as CSV, written whole."""
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    partial.replace(path)


def _compared(metric: str, ours: list[float | None], paper: Any) -> dict[str, Any]:
    values = [value for value in ours if value is not None]
    mean = float(np.mean(values)) if values else None
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    printed = float(paper) if paper not in (None, "") else None
    difference = mean - printed if mean is not None and printed is not None else None
    return {
        f"{metric}_paper": printed,
        f"{metric}_ours": _rounded(mean),
        f"{metric}_std": _rounded(deviation),
        f"{metric}_difference": _rounded(difference),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _mean(values: Any) -> float | None:
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None


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
