"""A backbone with a walk of its own is one file: nothing else of the package knows its name."""

from __future__ import annotations

import json

import pandas as pd

from tests.support.commands import environment, run_command

SAMPLED = '''
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.walks.sampled import sampled_batches
from lgl_bench.kernels import neighbour_mean


@backbones.register("own-sampled")
class Sampled(Backbone):
    """Adds to a vertex the mean of its neighbours, a few of which are sampled in training."""

    def __init__(self, shape: Shape, hidden: int = 32, layers: int = 2, dropout: float = 0.3, batch: float = 0.5):
        super().__init__(shape, hidden, layers, dropout)
        self.batch = batch
        self.projections = nn.ModuleList(Projection(*size) for size in self.sizes())

    def step(self, layer, inputs, h):
        if self.training and inputs.blocks is None:
            raise RuntimeError("training does not walk in sampled batches")
        block = inputs.block(layer)
        sent = self.projections[layer](h)
        return sent[: block.num_targets] + neighbour_mean(block, sent)

    def grow(self, outputs):
        self.projections[-1].grow(outputs)

    def batches(self, data):
        return sampled_batches(self, data, self.batch, [5] * self.layers)
'''

DRAWN = '''
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.walks.drawn import draw_vertices
from lgl_bench.kernels import neighbour_mean


@backbones.register("own-drawn")
class Drawn(Backbone):
    """The mean over a vertex and its neighbours; a step of training sees drawn vertices and the arcs between them."""

    def __init__(self, shape: Shape, hidden: int = 32, layers: int = 2, dropout: float = 0.3, batch: int = 100):
        super().__init__(shape, hidden, layers, dropout)
        self.batch = batch
        self.projections = nn.ModuleList(Projection(*size) for size in self.sizes())

    def step(self, layer, inputs, h):
        if self.training and inputs.num_vertices > self.batch:
            raise RuntimeError("training does not walk over drawn vertices")
        return neighbour_mean(inputs.looped, self.projections[layer](h))

    def grow(self, outputs):
        self.projections[-1].grow(outputs)

    def batches(self, data):
        def epoch():
            for _ in range(3):
                vertices = draw_vertices(data, self.batch)
                trained = data.labels[vertices] >= 0
                if trained.any():
                    _, output = self(data.subgraph(vertices))
                    yield data.loss(output[trained], vertices[trained])

        return epoch
'''


OWN = {"own-sampled": SAMPLED, "own-drawn": DRAWN}


def test_a_backbone_with_its_own_walk_is_estimated_checked_and_run_from_one_file(tmp_path):
    files = [tmp_path / f"{name}.py" for name in OWN]
    for file, text in zip(files, OWN.values(), strict=True):
        file.write_text(text, encoding="utf-8")

    def give(*words):
        command = ["lgl-bench", *words, *(word for file in files for word in ("--plugin", file.name))]
        ended = run_command(command, tmp_path, environment(tmp_path))
        assert ended.code == 0, ended.err + ended.out
        assert not ended.left
        return ended.out

    wanted = ["--suite", "smoke", "--budget", "smoke", "--detector", "msp", "--jobs", "1"]
    wanted += [word for name in OWN for word in ("--backbone", name)]
    told = json.loads(give("run", *wanted, "--dry-run", "--json", "--out", "dry"))
    assert told["fits"] == told["fits_to_do"] > 0
    assert told["estimated_minutes"] >= 0 and told["checkpoints_mb"] > 0 and told["estimated_memory_mb"] > 100

    found = json.loads(give("check", *OWN, "--json"))
    assert {one["status"] for one in found} == {"passed"}
    assert {one["name"] for one in found if one["check"] == "walks anew in every epoch"} == set(OWN)

    give("run", *wanted, "--threshold", "none", "--out", "run")
    rows = pd.read_csv(tmp_path / "run" / "leaderboard.csv", keep_default_na=False)
    own = rows[rows["detector"] == "msp"]
    assert set(own["backbone"]) == set(OWN) and set(own["preset"]) == {"paper: gcn, softmax, dblp-easy"}
    assert not own["accuracy_reason"].any() and not own["failed_years"].astype(float).any()
    assert (own["accuracy_mean"].astype(float) > 0.3).all()
