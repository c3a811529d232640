"""Time and memory of streams that grow tenfold: opening, an epoch, inference and ODIN, for every backbone.

    python benchmarks/speed/scale.py [--sizes 10000 100000 1000000] [--huge] [--before CHECKOUT]

A stream of n vertices has 7 n random edges, 10 classes and 64 dense features, and is written to a scratch folder. Every
figure is measured in a process of its own, on one thread: processor time, and the peak memory of the whole process,
libraries included. `--before` measures another checkout on the same streams, in turn with this one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BACKBONES = ("gcn", "gat", "graphsage", "graph-mlp", "mlp")
ACTIONS = ("first epoch", "epoch", "inference", "odin")
SIZES = (10_000, 100_000, 1_000_000)
HUGE = 10_000_000
EDGES, COLUMNS, CLASSES = 7, 64, 10
MOST_GROWTH = 13.0
MOST_MEMORY = 4.0
# A measurement is repeated until it has taken this long, and the median counts.
ENOUGH = 1.0


# In a process of its own: nothing heavy is imported before.
def write(folder: Path, vertices: int) -> None:
    """Writes a stream of random vertices and edges."""
    import numpy as np

    from lgl_bench.streams.store import write_stream
    from lgl_bench.streams.stream import StreamInfo, assemble

    rng = np.random.default_rng(0)
    info = StreamInfo("random", class_names=tuple(f"class {k}" for k in range(CLASSES)))
    labels = rng.integers(0, CLASSES, vertices)
    features = rng.standard_normal((vertices, COLUMNS), dtype=np.float32)
    features[:, :CLASSES] += np.eye(CLASSES, dtype=np.float32)[labels]
    edges = rng.integers(0, vertices, (2, EDGES * vertices))
    year = np.zeros(vertices, dtype=np.int64)
    write_stream(assemble(info, np.arange(vertices), year, labels, features, edges), folder)


def measure(folder: Path, backbone: str, action: str) -> dict[str, float]:
    """Seconds of processor time of one action, and the process's peak memory in GiB."""
    import torch

    from lgl_bench.streams.store import open_stream

    torch.set_num_threads(1)
    start = time.process_time()
    stream = open_stream(folder)
    seconds = time.process_time() - start
    if action != "open":
        whole = stream.upto(stream.times[-1])
        small, large = (_actions(part, backbone, action) for part in (_first(whole, 500), whole))
        next(small)()  # loops are compiled or read from where they are kept
        times: list[float] = []
        for act in large:
            start = time.process_time()
            act()
            times.append(time.process_time() - start)
            if sum(times) > ENOUGH:
                break
        seconds = statistics.median(times)
    # Kilobytes, but bytes on a Mac.
    unit = 2**30 if sys.platform == "darwin" else 2**20
    return {"seconds": seconds, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit}


def _first(snapshot: Any, vertices: int) -> Any:
    """The first vertices of a snapshot, with the edges between them."""
    from lgl_bench.core.types import Graph, Snapshot

    graph = snapshot.graph
    edges = graph.edges[:, (graph.edges < vertices).all(axis=0)]
    cut = Graph(graph.features[:vertices], edges, vertices, graph.born[:vertices])
    return Snapshot(snapshot.time, cut, snapshot.labels[:vertices])


def _actions(snapshot: Any, backbone: str, action: str) -> Iterator[Callable[[], object]]:
    """The same action again and again; what a graph has prepared is forgotten before each, but before an epoch."""
    from dataclasses import replace

    import numpy as np
    import torch

    from lgl_bench.backbones.layers import inputs
    from lgl_bench.core.types import Task
    from lgl_bench.detectors.odin import Odin
    from lgl_bench.training.batches import training_data, walk
    from lgl_bench.training.model import build_model

    n = snapshot.graph.num_vertices
    fit_mask = np.random.default_rng(0).random(n) < 0.6
    torch.manual_seed(0)
    model = build_model(backbone, "softmax", COLUMNS, np.arange(CLASSES), {})
    rest = np.flatnonzero(~fit_mask)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)

    def prepared() -> Callable[[], None]:
        fresh = replace(snapshot, graph=replace(snapshot.graph))
        task = Task(0, "test", "", fresh, fit_mask, rest, fresh.graph, rest, np.arange(CLASSES))
        data = training_data(model, task)
        model.head.begin(data.labels[data.vertices])
        losses = walk(model.backbone, data)

        def epoch() -> None:
            model.train()
            for loss in losses():
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

        return epoch

    def odin() -> None:
        detector = Odin(eps=0.01, temperature=10.0)
        fresh = replace(snapshot, graph=replace(snapshot.graph))
        detector.fit(model, fresh, rest, None)
        detector.score(model, fresh.graph)

    if action == "epoch":
        again = prepared()
        again()
        while True:
            yield again
    act = {
        "first epoch": lambda: prepared()(),
        "inference": lambda: model.outputs(replace(snapshot.graph)),
        "odin": odin,
    }[action]
    while True:
        model.forget()
        inputs._recent.clear()
        yield act


# The process that starts the others.
def called(checkout: Path, *arguments: str) -> dict[str, float]:
    """What a process of its own measures on a checkout."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = os.environ | threads | {"PYTHONPATH": str(checkout)}
    command = [sys.executable, __file__, "--one", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
        print(f"{' '.join(arguments[1:])}: {reason}", file=sys.stderr)
        return {"seconds": float("nan"), "memory": float("nan")}
    return json.loads(done.stdout.splitlines()[-1])


def short(size: int) -> str:
    """A number of vertices in few characters."""
    return f"{size // 10**6}M" if size >= 10**6 else f"{size // 1000}k"


def table(found: dict[tuple[str, str, int, str], dict[str, float]], sizes: list[int], who: str) -> list[str]:
    """One line per backbone and action: seconds and GiB of every size, and the largest growth of a step."""
    lines = ["backbone   action      " + "".join(f"{short(n):>18}" for n in sizes) + "   time grows at most"]
    for backbone, action in [("", "open"), *((b, a) for b in BACKBONES for a in ACTIONS)]:
        rows = [found.get((backbone, action, n, who)) for n in sizes]
        cells = "".join(f"{r['seconds']:>9.3f} s{r['memory']:>5.2f} G" if r else " " * 18 for r in rows)
        known = [(n, r["seconds"]) for n, r in zip(sizes, rows, strict=True) if r]
        steps = [(b / a) ** (1 / _tenfolds(m, n)) for (m, a), (n, b) in zip(known[:-1], known[1:], strict=True)]
        grows = f"{max(steps):>8.1f}" + ("  > 13" if max(steps) > MOST_GROWTH else "") if steps else ""
        if known:
            lines.append(f"{backbone:<11}{action:<12}{cells}   {grows}")
    return lines


def _tenfolds(few: int, many: int) -> float:
    import math

    return math.log10(many / few)


def main() -> None:
    """Prints every figure: first what grows most and takes most, then the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--huge", action="store_true", help=f"{HUGE:,} vertices too")
    parser.add_argument("--backbones", nargs="+", default=list(BACKBONES))
    parser.add_argument("--actions", nargs="+", default=["open", *ACTIONS])
    parser.add_argument("--before", type=Path, help="another checkout, measured in turn")
    parser.add_argument("--scratch", type=Path, help="where streams are written, and kept")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        folder, backbone, action = given.one
        if action == "write":
            write(Path(folder), int(backbone))
            print("{}")
        else:
            print(json.dumps(measure(Path(folder), backbone, action)))
        return
    sizes = sorted({*given.sizes, *([HUGE] if given.huge else [])})
    checkouts = {"now": ROOT} | ({"before": given.before.resolve()} if given.before else {})
    found: dict[tuple[str, str, int, str], dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for n in sizes:
            folder = (given.scratch or Path(scratch)) / f"random-{n}"
            if not folder.exists():
                called(ROOT, str(folder), str(n), "write")
            for backbone, action in [("", "open"), *((b, a) for b in given.backbones for a in ACTIONS)]:
                for who, checkout in checkouts.items():
                    if action in given.actions:
                        found[backbone, action, n, who] = called(checkout, str(folder), backbone, action)
                        print(n, backbone, action, who, found[backbone, action, n, who], file=sys.stderr, flush=True)
    report(found, sizes, list(checkouts))


def report(found: dict[tuple[str, str, int, str], dict[str, float]], sizes: list[int], who: list[str]) -> None:
    """Prints the figures: ratios first."""
    if "before" in who:
        for (backbone, action, n, _), now in found.items():
            before = found[backbone, action, n, "before"]
            if _ == "now" and n == sizes[-1]:
                print(
                    f"{short(n)} vertices, {backbone or 'stream'}, {action}: {before['seconds'] / now['seconds']:.1f} "
                    f"times faster than before, {before['memory'] / now['memory']:.1f} times less memory"
                )
        print()
    most = max((row["memory"], key) for key, row in found.items() if key[2] <= 10**6 and key[3] == "now")
    print(
        f"peak memory up to 1M vertices: {most[0]:.2f} GiB at most ({most[1][0]} {most[1][1]}), limit {MOST_MEMORY} GiB"
    )
    for name in who:
        print(f"\n{name}: n vertices, {EDGES} n edges, {COLUMNS} features; processor time, peak memory in GiB")
        print("\n".join(table(found, sizes, name)))


if __name__ == "__main__":
    main()
