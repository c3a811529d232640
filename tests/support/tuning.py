"""The command tune on one small stream."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import optuna

from lgl_bench.streams.store import write_stream
from lgl_bench.streams.stream import Stream, assemble
from lgl_bench.tuning.plan import plan_tuning
from lgl_bench.tuning.tune import run_tuning
from tests.support.graphs import small_stream

T1 = 2  # the year after the small stream's t0


class Tuner:
    """The command on one small stream, with what is asked of every test."""

    def __init__(self, folder: Path, empty: Path) -> None:
        self.folder = folder
        self.empty = empty
        self.fits = 0
        self.streams: list[Stream] = []

    def plan(self, out: str = "out", stream: Stream | None = None, suite: str = "smoke", **given):
        if stream is None or not any(stream is known for known in self.streams):
            self.streams.append(small_stream() if stream is None else stream)
        # A folder for each stream: its name stays the same.
        data = self.folder / f"data{len(self.streams)}"
        write_stream(self.streams[-1], data / "small", force=True)
        given = {"backbones": ["gcn"], "detectors": ["msp"], "budget": "smoke", "seeds": 1, "trials": 2, **given}
        given.setdefault("prune", False)
        return plan_tuning(
            suite, self.folder / out / "mine.toml", streams=["small"], data_dir=data, offline=True, **given
        )

    def __call__(self, out: str = "out", **given):
        self.fits = 0
        database = self.folder / out / "tuning.db"
        if not database.exists():
            database.parent.mkdir()
            shutil.copy(self.empty, database)
        (result,) = run_tuning(self.plan(out, **given))
        return result

    def trials(self, out: str = "out") -> list[optuna.trial.FrozenTrial]:
        storage = f"sqlite:///{self.folder / out / 'tuning.db'}"
        (name,) = optuna.get_all_study_names(storage)
        return optuna.load_study(study_name=name, storage=storage).trials

    def values(self, out: str = "out") -> list[tuple[dict, float | None]]:
        return [(trial.params, trial.value) for trial in self.trials(out)]


def scrambled(stream: Stream, vertices: np.ndarray) -> Stream:
    """Other labels, features and edges for some vertices; the others, and the edges among them, as they were."""
    rng = np.random.default_rng(0)
    features, labels = np.array(stream.features), stream.labels.copy()
    features[vertices] = rng.permutation(features[vertices]) * -3
    labels[vertices] = rng.permutation(labels[vertices])
    edges = stream.arcs[:, ::2]
    touched = np.isin(edges, vertices).any(axis=0)
    # Only back in time: an edge must not become visible earlier than its vertex.
    drawn = np.stack([np.repeat(vertices, 4), rng.integers(0, np.repeat(vertices, 4))])
    kept = np.concatenate([edges[:, ~touched], drawn], axis=1)
    return assemble(stream.info, stream.ids, stream.born, labels, features, kept, stream.split)
