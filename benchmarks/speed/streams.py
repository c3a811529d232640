"""Speed and memory of the stream layer on the whole arXiv graph; every ratio is measured in one run.

    python benchmarks/speed/streams.py [--raw FOLDER] [--repeat 3]

FOLDER is OGB's raw layout (`edge.csv.gz`, `node-label.csv.gz`, `node_year.csv.gz`); without it the graph is
looked for under LGL_BENCH_REAL_DATA, then in ../shared/data beside the checkout.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def best(action: Callable[[], object], repeat: int) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def cutting(folder: Path, repeat: int) -> None:
    """All cumulative years: ours against masking, relabelling and building each year."""
    from lgl_bench.streams.store import open_stream
    from lgl_bench.streams.tensors import shared_tensor

    import dgl  # isort: skip  after lgl_bench, which chooses its back end
    import numpy as np
    import torch

    stream = open_stream(folder)
    # The baseline starts from what a script usually has: arrays in the source's order.
    shuffle = np.argsort(stream.ids)
    place = np.argsort(shuffle)
    years, labels, features = stream.born[shuffle], stream.labels[shuffle], stream.features[shuffle]
    source, target = place[stream.arcs[:, 0::2]]

    def naive_cut(year: int) -> tuple[object, ...]:
        mask = years <= year
        number = np.cumsum(mask) - 1
        keep = mask[source] & mask[target]
        return number[source[keep]], number[target[keep]], int(mask.sum()), mask

    def naive_graph(year: int) -> object:
        u, v, n, mask = naive_cut(year)
        u, v = torch.from_numpy(u), torch.from_numpy(v)
        graph = dgl.graph((torch.cat([u, v]), torch.cat([v, u])), num_nodes=n)
        graph.ndata["feat"] = torch.from_numpy(features[mask])
        graph.ndata["label"] = torch.from_numpy(labels[mask])
        return graph

    def our_graph(year: int) -> object:
        snapshot = stream.upto(year)
        ends = tuple(shared_tensor(end) for end in snapshot.graph.edges)
        graph = dgl.graph(ends, num_nodes=snapshot.graph.num_vertices)
        graph.ndata["feat"] = shared_tensor(snapshot.graph.features)
        graph.ndata["label"] = torch.from_numpy(snapshot.labels)
        return graph

    last = stream.times[-1]
    assert naive_graph(last).num_edges() == our_graph(last).num_edges()
    actions = {
        "cutting": (naive_cut, stream.upto),
        "ready DGL graph": (naive_graph, our_graph),
    }
    for what, (naive, ours) in actions.items():
        slow = best(lambda naive=naive: [naive(t) for t in stream.times], repeat)
        fast = best(lambda ours=ours: [ours(t) for t in stream.times], repeat)
        print(
            f"{what}, all {len(stream.times)} years: masking {slow:.3f} s, prefix {fast:.5f} s, "
            f"{slow / fast:.0f} times faster"
        )


def measured(code: str) -> str:
    """Runs code in a process of its own: peak memory belongs to it alone."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout.strip()


_MEASURE = """
import resource, tempfile, time
from pathlib import Path
import scipy.sparse, pandas, pyarrow.csv
from lgl_bench.streams.importers import importers, ogb
from lgl_bench.streams.raw import build
from lgl_bench.streams.store import open_stream, write_stream
from lgl_bench.streams.stream import StreamInfo
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
# A tiny stream first: what the libraries themselves need is no part of the comparison.
from lgl_bench.streams.catalogue import twin
with tempfile.TemporaryDirectory() as scratch:
    open_stream(write_stream(twin("ogb-arxiv-twin"), Path(scratch) / "x"))
before, start = peak(), time.perf_counter()
{action}
seconds, used = time.perf_counter() - start, peak() - before
print(f"{{seconds:.2f}} s, peak memory {{used / 2**20:.0f}} MiB, "
      f"{{used / stream.nbytes:.2f}} times the arrays ({{stream.nbytes / 2**20:.0f}} MiB)")
"""


def main() -> None:
    """Prints every figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    real = Path(os.environ.get("LGL_BENCH_REAL_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--raw", type=Path, default=real / "ogbn_arxiv" / "raw")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    if not (given.raw / "edge.csv.gz").is_file():
        sys.exit(f"skipped: no arXiv graph in {given.raw}; name its folder with --raw")
    with tempfile.TemporaryDirectory() as scratch:
        for kind in ("none", "structure"):
            folder = Path(scratch) / kind
            load = (
                f"stream = build(importers.get('ogb')(Path({str(given.raw)!r}), {{'features': {kind!r}}}), "
                f"StreamInfo('x')); write_stream(stream, Path({str(folder)!r}))"
            )
            print(f"import, features {kind}: {measured(_MEASURE.format(action=load))}")
            action = f"stream = open_stream(Path({str(folder)!r}))"
            print(f"open, features {kind}: {measured(_MEASURE.format(action=action))}")
        cutting(Path(scratch) / "structure", given.repeat)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory of the comparison: {used:.1f} GiB")


if __name__ == "__main__":
    main()
