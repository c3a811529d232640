"""Speed of training and scoring: every ratio is measured in one run, in turns, on one thread, in processor time.

    python benchmarks/speed/training.py [--before CHECKOUT] [--rounds 7] [--data-dir DIR]

An epoch with the paper's settings on Cora, CiteSeer and PubMed, of our own kernels against the same models on DGL's and
torch's operations, against plain DGL and PyG (the extra `bench`), and against the checkout `--before`. The files of the
data sets are looked for under LGL_BENCH_REAL_DATA, then in ../shared/data beside the checkout; the memory of
Graph-MLP's batches needs arxiv-structure in the data folder. What is missing is said and left out.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lgl_bench.backbones.layers.contrastive import Neighbourhood
from lgl_bench.core.errors import DataError
from lgl_bench.core.expressions import complete, parse
from lgl_bench.detectors import detectors
from lgl_bench.plans.paper_presets import detector_preset, preset
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.runs.answering import answer_tasks
from lgl_bench.runs.scoring import Method
from lgl_bench.streams.catalogue import import_stream, load

ROOT = Path(__file__).resolve().parents[2]


# Contestants: what it is called, which model of `epochs.py` it times, and what computes.
CONTESTANTS = {
    "native": ("ours", {"LGL_BENCH_KERNELS": "native"}),
    "before": ("ours", {}),
    "DGL kernels": ("ours", {"LGL_BENCH_KERNELS": "dgl"}),
    "torch kernels": ("ours", {"LGL_BENCH_KERNELS": "torch"}),
    "plain DGL": ("dgl", {}),
    "PyG": ("pyg", {}),
}
STREAMS = ("cora", "citeseer", "pubmed")
BACKBONES = ("gcn", "gat", "graphsage", "graph-mlp")


class Contestant:
    """A process that times epochs when asked, so that contestants take turns in one run."""

    def __init__(self, name: str, checkout: Path, data_dir: Path) -> None:
        what, environment = CONTESTANTS[name]
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "benchmarks" / "speed" / "epochs.py"), what, str(data_dir)],
            env=os.environ | dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1") | environment
            | {"PYTHONPATH": str(checkout)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )  # fmt: skip

    def ask(self, line: str) -> Any:
        """The answer to a line."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            print(line, file=self._process.stdin, flush=True)
            found = self._process.stdout.readline()
        except BrokenPipeError:
            found = ""
        return json.loads(found) if found else {"error": "its process ended"}

    def end(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()


def real_streams(folder: Path, real: Path) -> list[str]:
    """Imports the streams whose files are there; the names of those that are."""
    found = []
    for name in STREAMS:
        try:
            if not (folder / name).exists():
                import_stream(name, real / "planetoid", folder)
            found.append(name)
        except DataError as error:
            print(f"left out: {error}")
    return found


def measure_epochs(
    contestants: list[Contestant], streams: list[str], backbones: list[str], rounds: int
) -> tuple[dict[tuple[str, str, str], float], set[str]]:
    """The median of each contestant in milliseconds an epoch, in turns, and what could not be run."""
    found: dict[tuple[str, str, str], float] = {}
    failures = set()
    for backbone in backbones:
        for stream in streams:
            ready = []
            for contestant in contestants:
                answer = contestant.ask(f"prepare {stream} {backbone}")
                if answer == {}:
                    ready.append(contestant)
                elif answer["error"] != "no such layer":
                    failures.add(f"{contestant.name}, {backbone}: {answer['error']}")
            times: dict[str, list[float]] = {contestant.name: [] for contestant in ready}
            for _ in range(rounds):
                for contestant in ready:
                    times[contestant.name].append(contestant.ask("epoch"))
            medians = {name: statistics.median(taken) for name, taken in times.items()}
            print(backbone, stream, medians, file=sys.stderr, flush=True)
            found |= {(backbone, stream, name): median for name, median in medians.items()}
    return found, failures


def epochs(given: argparse.Namespace, data_dir: Path) -> None:
    """One training epoch with the paper's settings, against the commit before, DGL and PyG."""
    real = Path(os.environ.get("LGL_BENCH_REAL_DATA", ROOT.parent / "shared" / "data"))
    streams = [name for name in real_streams(data_dir, real) if name in given.streams]
    names = [name for name in CONTESTANTS if name != "before" or given.before]
    contestants = [Contestant(n, given.before.resolve() if n == "before" else ROOT, data_dir) for n in names]
    try:
        found, failures = measure_epochs(contestants, streams, given.backbones, given.rounds)
    finally:
        for contestant in contestants:
            contestant.end()
    heading = "".join(f"{name:>15}" for name in names[1:])
    print(f"an epoch of native kernels is faster, times: {'':<1}{heading}")
    tasks = [(backbone, stream) for backbone in given.backbones for stream in streams]
    for task in tasks:
        ratios = [found[*task, name] / found[*task, "native"] if (*task, name) in found else None for name in names[1:]]
        cells = "".join(f"{'-':>15}" if ratio is None else f"{ratio:>15.2f}" for ratio in ratios)
        print(f"{task[0]:<12}{task[1]:<34}{cells}")
    print(f"\nms of processor time an epoch, one thread: {'native':>4}{heading}")
    for task in tasks:
        cells = "".join(f"{found[*task, n]:>15.1f}" if (*task, n) in found else f"{'-':>15}" for n in names)
        print(f"{task[0]:<12}{task[1]:<22}{cells}")
    for failure in sorted(failures):
        print(f"could not be run: {failure}")
    packages = ("torch", "numba", "dgl", "torch-geometric")
    print(f"versions: {', '.join(f'{name} {_version(name)}' for name in packages)}")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "is not installed"


def scoring_against_training(data_dir: Path | None) -> None:
    """All detectors of the softmax head on Cora with GCN: their cost as a share of training."""
    stream = load("cora", data_dir)
    names = [n for n in detectors.names() if n not in ("react", "good") and "softmax" in detectors.get(n).heads]
    names += ["react(energy)", "good(odin)"]
    expressions = tuple(
        complete(parse(n), detectors, lambda d: detector_preset("cora", "60-20-20", "gcn", d)) for n in names
    )
    chosen = preset("cora", "60-20-20", "gcn", "softmax")
    results = {}
    for detector_set in ((), expressions):
        method = Method("gcn", "softmax", chosen, detector_set)
        start, fits = time.perf_counter(), 0.0
        for answers, _ in answer_tasks(stream, LeaveClassOut(), method, 0):
            fits += answers.fit.seconds if answers.fit else 0.0
        results[len(detector_set)] = (time.perf_counter() - start, fits)
    (without, _), (total, fits) = results[0], results[len(expressions)]
    print(
        f"scoring {len(expressions)} detectors of the softmax head on Cora: {total - without:.2f} s beside "
        f"{fits:.2f} s of training, {(total - without) / fits:.1%}"
    )


def batch_memory(data_dir: Path | None, draws: int = 5) -> None:
    """Extra memory of Graph-MLP's batch matrix on the whole arXiv graph."""
    stream = load("arxiv-structure", data_dir)
    graph = stream.upto(stream.times[-1]).graph
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rng = np.random.default_rng(0)
    for power in (2, 3):
        start = time.perf_counter()
        neighbourhood = Neighbourhood(graph, power)
        for _ in range(draws):
            neighbourhood.between(rng.permutation(graph.num_vertices)[:2000])
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(
            f"Graph-MLP batch matrix, arXiv graph, r = {power}: {used / 2**20:.2f} GiB of extra memory at the peak, "
            f"{(time.perf_counter() - start) / draws:.2f} s a draw"
        )


def main() -> None:
    """Prints every figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="another checkout, timed in turn with this one")
    parser.add_argument("--data-dir", type=Path, help="where streams are, and stay if they are imported")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--streams", nargs="+", default=list(STREAMS))
    parser.add_argument("--backbones", nargs="+", default=list(BACKBONES))
    parser.add_argument("--epochs-only", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.data_dir or Path(scratch)
        parts = [lambda: epochs(given, folder)]
        if not given.epochs_only:
            parts += [lambda: scoring_against_training(folder), lambda: batch_memory(given.data_dir)]
        for part in parts:
            try:
                part()
            except DataError as error:
                print(f"left out: {error}")


if __name__ == "__main__":
    main()
