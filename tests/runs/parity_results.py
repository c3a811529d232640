"""Results of parity jobs that were never run."""

from __future__ import annotations

from dataclasses import asdict

from lgl_bench import __version__
from lgl_bench.runs.parity_jobs import noted_parameters

PROBE = {"loss": 1.5, "accuracy": 0.5, "odin": 0.6}
VERSIONS = {"lgl_bench": __version__, "torch": "1", "dgl": "2", "numpy": "3", "python": "4"}


def result(job, folds):
    """What a job gives: folds are (accuracy, {expression: auroc})."""
    rows = [
        {
            "time": 0,
            "fold": str(i),
            "role": "test",
            "skipped": "",
            "accuracy": accuracy,
            "new": 3,
            "auroc": auroc,
            "seconds": 1.0,
        }
        for i, (accuracy, auroc) in enumerate(folds)
    ]
    return {
        "job": asdict(job),
        "preset": "paper",
        "parameters": noted_parameters(job),
        "stream_checksum": "abc",
        "probe": PROBE,
        "commit": "0123456789",
        "folds": rows,
        "versions": VERSIONS,
    }
