"""One small run, packed once; tests change copies of it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lgl_bench.backbones import backbones
from lgl_bench.core.errors import LglBenchError
from lgl_bench.core.registry import load_plugin
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.leaderboard.recompute import recompute
from lgl_bench.pipeline import plan_run, run_plan
from lgl_bench.protocols import protocols
from lgl_bench.runs.options import Settings
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.importers import importers
from lgl_bench.streams.store import write_stream
from lgl_bench.submissions.bundle.loading import load_bundle, stage
from lgl_bench.submissions.bundle.opening import opened
from lgl_bench.submissions.bundle.pack import submit
from lgl_bench.submissions.reproduce import again
from lgl_bench.thresholds import thresholds
from tests.support.graphs import small_stream
from tests.support.runs import in_this_process

PLUGIN = '''
import torch

from lgl_bench.detectors import Detector, detectors


@detectors.register("margin-of-mine")
class Margin(Detector):
    """One minus the gap between the two largest class probabilities."""

    def score(self, model, graph):
        top = torch.softmax(model.outputs(graph).logits.double(), dim=1).topk(2, dim=1).values
        return (1.0 - (top[:, 0] - top[:, 1])).numpy()
'''


@functools.cache
def sandboxes() -> frozenset[str]:
    """Sandboxes that work on this machine, as the system's own tools tell, not the code under test."""
    tries = {
        "bubblewrap": ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"),
        "namespaces": ("unshare", "-rnmpif", "--mount-proc", "true"),
    }
    works = (name for name, command in tries.items() if shutil.which(command[0]))
    return frozenset(
        name for name in works if subprocess.run(tries[name], capture_output=True, check=False).returncode == 0
    )


@pytest.fixture(scope="session")
def base(tmp_path_factory) -> SimpleNamespace:
    """A data folder, a plugin, and a finished run of it in this process."""
    folder = tmp_path_factory.mktemp("submissions")
    write_stream(small_stream(), folder / "data" / "small")
    write_stream(small_stream(static=True), folder / "data" / "still")
    plugin = folder / "margin.py"
    plugin.write_text(PLUGIN, encoding="utf-8")

    def carry_out(name: str, suite: str = "smoke", seeds: int = 2, preset: Path | None = None, **axes) -> Path:
        axes = {"streams": ["small"], "backbones": ["gcn"], **axes}
        settings = Settings(folder / name, data_dir=folder / "data", offline=True, preset=preset)
        with pytest.MonkeyPatch.context() as patch:
            in_this_process(patch)
            plan, streams = plan_run(suite, settings, budget="smoke", seeds=seeds, **axes)
            run_plan(plan, streams, settings)
        return folder / name

    with plugins_forgotten():
        load_plugin(plugin)
        out = carry_out("run", detectors=["msp", "margin-of-mine", "good(margin-of-mine)"], thresholds=["naive"])
    submit(out, folder / "bundle", submitter="A. Nother", plugins=[plugin])
    return SimpleNamespace(
        folder=folder, data=folder / "data", plugin=plugin, out=out, bundle=folder / "bundle", carry_out=carry_out
    )


class Forged:
    """A bundle to tamper with; `seal` makes the manifest agree with what is there, as a forger would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def seal(self) -> Path:
        fields = json.loads((self.folder / "MANIFEST.json").read_text())
        fields["files"] = {}
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and path.name != "MANIFEST.json":
                data = path.read_bytes()
                entry = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
                fields["files"][path.relative_to(self.folder).as_posix()] = entry
        (self.folder / "MANIFEST.json").write_text(json.dumps(fields))
        return self.folder

    def answers(self, position: int = 1) -> Path:
        return self.folder / "answers" / f"{self.plan()['fits'][position]}.parquet"

    def plan(self) -> dict:
        return json.loads((self.folder / "plan.json").read_text())

    def change_json(self, name: str, change) -> None:
        fields = json.loads((self.folder / name).read_text())
        change(fields)
        (self.folder / name).write_text(json.dumps(fields))

    def change_table(self, path: Path, change) -> None:
        frame = pq.read_table(path).to_pandas()
        frame = change(frame)
        # Not from_pandas for numbers: it would turn NaN into nothing.
        columns = {
            name: pa.array(frame[name].to_numpy(), from_pandas=frame[name].dtype.kind not in "fiub") for name in frame
        }
        pq.write_table(pa.table(columns), path)

    def regrade(self, data: Path) -> Path:
        """Makes every metric again from the answers, as a forger would who wants to be believed."""
        self.seal()
        with opened(self.folder) as bundle:
            loaded = load_bundle(bundle, data)
            store = RunStore(bundle.folder.parent / "forging")
            store.prepare()
            stage(loaded, store)
            years, frame = recompute(loaded.plan, store, loaded.streams, loaded.description.provenance)
        submitter = json.loads((self.folder / "MANIFEST.json").read_text())["submitter"]
        RunStore(self.folder).write_frame("years.parquet", years)
        frame.assign(submitter=submitter).to_csv(self.folder / "leaderboard.csv", index=False)
        return self.seal()

    def change_board(self, change) -> None:
        path = self.folder / "leaderboard.csv"
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        frame = change(frame)
        frame.to_csv(path, index=False)


@pytest.fixture
def here(monkeypatch):
    """Runs a method again in this process instead of a sandbox; the orders, sandboxes and limits it was given."""
    seen = []

    def run(sandbox, command, limits, **variables):
        order = again.RunAgainOrder.read(Path(command[-1]))
        seen.append((order, sandbox, limits))
        with plugins_forgotten():
            try:
                again.run_again(order)
            except LglBenchError as error:
                return subprocess.CompletedProcess(command, 1, "", str(error))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr("lgl_bench.submissions.reproduce.reproduce.run_isolated", run)
    monkeypatch.setattr("lgl_bench.submissions.reproduce.isolate._skip_reason", lambda sandbox: "")
    in_this_process(monkeypatch)
    return seen


@contextlib.contextmanager
def plugins_forgotten() -> Iterator[None]:
    """What is registered inside is gone afterwards: a reviewer does not have it."""
    with contextlib.ExitStack() as stack:
        for registry in (backbones, heads, detectors, thresholds, protocols, importers):
            stack.enter_context(registry.temporarily())
        yield


@pytest.fixture
def forged(base, tmp_path) -> Forged:
    """A copy of the bundle."""
    return Forged(Path(shutil.copytree(base.bundle, tmp_path / "forged")))
