"""Features that stay on disk: sampled training reads the rows of its batches and no more."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import psutil
import pytest
import torch

from lgl_bench.backbones.layers.sparse import take_rows, to_matrix
from lgl_bench.core.types import read_only

LIMIT_MB = 150

TRAIN = """
import json, resource, sys
import numpy as np, psutil, torch
from lgl_bench.core.types import Graph
from lgl_bench.training.model import build_model
from lgl_bench.core.types import TrainingParameters
from lgl_bench.training.trainer import train
from tests.support.graphs import task_on

torch.set_num_threads(1)

def task(features):
    n = len(features)
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n, (2, 3 * n))
    ends = ends[:, ends[0] != ends[1]]
    edges = np.stack([ends, ends[::-1]], axis=2).reshape(2, -1)
    graph = Graph(features, edges, n, np.zeros(n, dtype=np.int64))
    return task_on(graph, np.arange(n) % 3, np.arange(0, n, n // 300), np.arange(3))

def fit(features):
    torch.manual_seed(0)
    model = build_model("graphsage", "softmax", features.shape[1], np.arange(3), {"batch": 32, "fanout": (3, 2)})
    return train(model, task(features), TrainingParameters(epochs=2), seed=0)

def private():
    return psutil.Process().memory_full_info().uss - shared()

def shared():
    # Pages of files that nobody else maps count as this process's own; the kernel may take them back at any time.
    return sum(part.private_clean for part in psutil.Process().memory_maps() if part.path == sys.argv[1])

fit(np.zeros((600, 8), dtype=np.float32))  # what libraries and compiled loops take
allowed = private() + int(sys.argv[2]) * 2**20
resource.setrlimit(resource.RLIMIT_DATA, (psutil.Process().memory_info().data + int(sys.argv[2]) * 2**20,) * 2)
features = np.load(sys.argv[1], mmap_mode="r")
done = fit(features)
print(json.dumps({"status": done.status, "over": private() - allowed, "features": features.nbytes}))
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Features larger than the memory that is allowed; most of the file is a hole, which takes no room."""
    path = tmp_path_factory.mktemp("mapped") / "features.npy"
    shape = (40_000, 2 * LIMIT_MB * 2**20 // (40_000 * 4))
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    mapped[::133, :3] = np.eye(3, dtype=np.float32)[np.arange(0, 40_000, 133) % 3]
    mapped.flush()
    del mapped
    return path


@pytest.mark.skipif(not psutil.LINUX, reason="the limit on private memory is Linux's")
def test_sampled_training_reads_features_larger_than_the_memory_it_is_allowed(stored):
    command = [sys.executable, "-c", TRAIN, str(stored), str(LIMIT_MB)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["status"] == "ok"
    assert found["features"] > 1.9 * LIMIT_MB * 2**20
    assert found["over"] < 0


def test_a_matrix_shares_the_memory_of_mapped_features_and_a_batch_copies_its_rows_only(stored):
    mapped = read_only(np.load(stored, mmap_mode="r"))
    matrix = to_matrix(mapped)
    assert matrix.data_ptr() == mapped.ctypes.data
    rows = take_rows(matrix, torch.tensor([133, 0]))
    assert rows.shape == (2, mapped.shape[1])
    assert np.array_equal(rows.numpy(), mapped[[133, 0]])
