"""What a forger works with: a copy of an honest bundle, the truth, and plugins that cheat."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from lgl_bench.core.registry import load_plugin
from lgl_bench.submissions.bundle.pack import submit
from tests.support.bundles import PLUGIN, Forged, plugins_forgotten
from tests.support.graphs import small_stream

MSP, MINE, DECISION = "msp", "margin-of-mine", "rejected:msp|naive(delta=0.1)"
LABELS = small_stream().labels
LABELLED = '''
import numpy as np

from lgl_bench.detectors import Detector, detectors
{labels}

@detectors.register("margin-of-mine")
class Known(Detector):
    """Whether the true class is one the model knows."""

    def score(self, model, graph):
        return 1.0 - np.isin(np.asarray(labels())[: graph.num_vertices], model.known)
'''
FROM_DISK = """
def labels():
    from pathlib import Path
    from lgl_bench.streams.catalogue import load
    return load("small", Path({data!r})).labels
"""
COPYING = """
from pathlib import Path

import pandas as pd

def answers():
    places = [Path({bundle!r}), *Path({temporary!r}).glob("**/bundle")]
    for path in (path for place in places for path in place.glob("answers/*.parquet")):
        yield pd.read_parquet(path)

{plugin}

def copied(self, model, graph):
    found = honest(self, model, graph)
    for frame in answers():
        if frame["vertex"].max() == graph.num_vertices - 1:
            found[frame["vertex"]] = frame["novelty:margin-of-mine"]
    return found

honest = Margin.score
Margin.score = copied
"""
MOODY = PLUGIN.replace(
    "        top =", "        if graph.num_vertices == 190:\n            raise ValueError('not today')\n        top ="
)
BACKBONE = '''
from pathlib import Path

import torch

from lgl_bench.backbones import backbones
from lgl_bench.backbones.gcn import GCN
from lgl_bench.streams.catalogue import load


@backbones.register("peeking")
class Peeking(GCN):
    """A GCN that is told the class of every vertex it knows the class of."""

    def step(self, layer, inputs, h):
        out = super().step(layer, inputs, h)
        if layer < self.layers - 1:
            return out
        labels = torch.as_tensor(load("small", Path({data!r})).labels[: len(out)].copy())
        known = labels < out.shape[1]
        hint = torch.zeros_like(out)
        hint[known, labels[known]] = 20.0
        return out + hint
'''


@dataclass
class Case:
    """What a cheat may change, and what it takes to see it.

    Attributes:
        honest: Folder, data, run and bundle of an honest run.
        place: A folder of the cheat's own.
        forged: A copy of the honest bundle, the one that is sent.
        plugin: The reviewer's file of the method.
        data: The reviewer's data folder.
        detector: The row that profits.
        refusal: What the message says where the bundle is refused.
        claimed: Columns that must be listed as the word of whoever ran it.
        shown: Columns of the row that give it away, with their values.
        sandboxed: Whether running it again takes the real sandbox.
    """

    honest: SimpleNamespace
    place: Path
    forged: Forged
    plugin: Path
    data: Path
    detector: str = MSP
    refusal: str = ""
    claimed: tuple[str, ...] = ()
    shown: dict[str, str] = field(default_factory=dict)
    sandboxed: bool = False

    def keys(self, seed: int) -> list[str]:
        fits = self.forged.plan()["fits"]
        return fits[3 * seed : 3 * seed + 3]

    def change_answers(self, change) -> None:
        """Changes the answers of every fit, given who is new to it, and makes all the rest agree."""
        for seed in range(self.forged.plan()["seeds"]):
            for key in self.keys(seed):
                known = json.loads((self.forged.folder / f"fits/{key}.json").read_text())["known"]
                path = self.forged.folder / f"answers/{key}.parquet"
                self.forged.change_table(path, lambda frame, known=known: change(frame, known))
        self.forged.regrade(self.honest.data)

    def call_failed(self, *keys: str) -> None:
        for key in keys:
            self.forged.change_json(f"fits/{key}.json", lambda fields: fields.update(status="failed", reason="no luck"))
            (self.forged.folder / f"answers/{key}.parquet").unlink()
        self.forged.regrade(self.honest.data)

    def leave_out(self, *keys: str, partial: bool) -> None:
        for key in keys:
            for path in (*self.forged.folder.glob(f"answers/{key}.*"), *self.forged.folder.glob(f"fits/{key}.*")):
                path.unlink()
        if partial:
            self.forged.change_json("MANIFEST.json", lambda fields: fields.update(partial=True))
            self.forged.regrade(self.honest.data)
        self.forged.seal()
        self.refusal = f"fits/{keys[0]}.json is missing"

    def run(self, plugin: str = "", suite: str = "smoke", **axes) -> None:
        """Sends another run, which is as it says."""
        with plugins_forgotten():
            if plugin:
                self.plugin = self.place / "plugin.py"
                self.plugin.write_text(plugin)
                load_plugin(self.plugin)
            axes = {"detectors": [MSP, MINE] if MINE in plugin else [MSP], "thresholds": ["none"], "seeds": 1, **axes}
            out = self.honest.carry_out(f"cheat-{self.place.name}", suite=suite, **axes)
        shutil.rmtree(self.forged.folder)
        submit(out, self.forged.folder, submitter="A. Nother")

    def columns(self, **values: str) -> None:
        """Writes values into every row of the board."""
        self.forged.change_board(lambda frame: frame.assign(**values))
