"""The files of a new plugin package; `$name` and the like are filled in."""

from __future__ import annotations

PYPROJECT = """\
[build-system]
requires = ["hatchling>=1.24"]
build-backend = "hatchling.build"

[project]
name = "$name"
version = "0.1.0"
description = "A $kind for lgl-bench"
requires-python = ">=3.11"
dependencies = ["lgl-bench"]

[project.entry-points."lgl_bench.$kinds"]
$name = "$module:$cls"

[tool.hatch.build.targets.wheel]
packages = ["$module"]

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["."]
"""

README = """\
# $name

A $kind for [lgl-bench](https://pypi.org/project/lgl-bench/). Change the class in `$module/__init__.py`, then:

```sh
lgl-bench check $name --plugin $module/__init__.py
lgl-bench run --suite smoke --$kind $name --plugin $module/__init__.py --out runs/$name
lgl-bench submit runs/$name --to $name.zip --plugin $module/__init__.py
```

After `pip install -e .` the name is known everywhere, and `--plugin` is no longer needed.
"""

TEST = """\
\"\"\"The checks battery of lgl-bench on $name.\"\"\"

import $module  # noqa: F401  registers $name

from lgl_bench.checks import check_plugin


def test_${module}_passes_every_check():
    results = check_plugin("$kinds", "$name")
    assert results
    assert [f"{result.check}: {result.reason}" for result in results if result.status == "failed"] == []
"""

_DETECTOR = """\
\"\"\"The detector $name.\"\"\"

import torch

from lgl_bench.detectors import Detector, detectors


@detectors.register("$name")
class $cls(Detector):
    \"\"\"One minus the gap between the two largest class probabilities; higher is more novel.\"\"\"

    def score(self, model, graph):
        \"\"\"One score per vertex, in [0, 1]; if yours has no bounds, set `bounded = False` in the class.\"\"\"
        probabilities = torch.softmax(model.outputs(graph).logits.double(), dim=1)
        top = probabilities.topk(2, dim=1).values
        return (1.0 - (top[:, 0] - top[:, 1])).numpy()
"""

_BACKBONE = """\
\"\"\"The backbone $name.\"\"\"

from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.projection import Projection


@backbones.register("$name")
class $cls(Backbone):
    \"\"\"Linear layers with ReLU and dropout, to begin with; `inputs` holds the graph.\"\"\"

    def __init__(self, shape: Shape, hidden: int = 64, layers: int = 2, dropout: float = 0.5) -> None:
        super().__init__(shape, hidden, layers, dropout)
        self.projections = nn.ModuleList(Projection(*size) for size in self.sizes())

    def step(self, layer, inputs, h):
        \"\"\"Layer number `layer`, without activation.\"\"\"
        return self.projections[layer](h)

    def grow(self, outputs):
        \"\"\"Appends outputs for classes that became known.\"\"\"
        self.projections[-1].grow(outputs)
"""

_THRESHOLD = """\
\"\"\"The threshold $name.\"\"\"

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.thresholds import Threshold, thresholds


@thresholds.register("$name")
class $cls(Threshold):
    \"\"\"Rejects what is further above the mean of calibration novelty than some standard deviations.

    Args:
        width: How many, above 0.
    \"\"\"

    def __init__(self, width: float = 1.5) -> None:
        if not width > 0:
            raise UsageError(f"width = {width}: it must be above 0")
        self.width = width

    def fit(self, train, calibration, seed):
        \"\"\"Learns the cut from vertices the model was not trained on.\"\"\"
        novelty = calibration.novelty[calibration.scored]
        if not len(novelty):
            raise PluginError("there are no calibration vertices to learn a cut from")
        self.cut_ = float(novelty.mean() + self.width * novelty.std())

    def reject(self, test):
        \"\"\"Whether each scored vertex is called new.\"\"\"
        if not hasattr(self, "cut_"):
            raise PluginError("the threshold has not been fitted; call fit first")
        return test.novelty[test.scored] > self.cut_
"""

_STRATEGY = """\
\"\"\"The strategy $name.\"\"\"

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.seeds import generator
from lgl_bench.strategies import FitView, Strategy, strategies


@strategies.register("$name")
class $cls(Strategy):
    \"\"\"New labels and a memory of old ones in the loss; the memory is drawn at random, every class alike.

    Args:
        size: Most vertices in memory.
    \"\"\"

    def __init__(self, size: int = 200) -> None:
        if size < 1:
            raise UsageError(f"size = {size}: at least one vertex must be remembered")
        self.size = size

    def select(self, task, memory, seed):
        \"\"\"The vertices of the loss: all whose label is on offer, because it is new or in memory.\"\"\"
        self.seed_ = seed
        return FitView(task.labelled)

    def end(self, model, task, memory):
        \"\"\"What is kept for the next year.\"\"\"
        rng = generator(self.seed_, "$name")
        labels = task.train.labels
        drawn = [rng.permutation(np.flatnonzero(labels == one)) for one in np.unique(labels[task.labelled])]
        each = self.size // max(1, len(drawn))
        return task.remember(np.concatenate([np.empty(0, dtype=np.int64), *(one[:each] for one in drawn)]))
"""

CLASSES = {"detector": _DETECTOR, "backbone": _BACKBONE, "threshold": _THRESHOLD, "strategy": _STRATEGY}
