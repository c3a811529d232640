"""The jobs of the parity report: which cells of the paper there are, and what the published code does differently.

A job without a switch is ours: what the paper says. A switch changes one thing to what the published code does (or,
where it is silent, what the paper prints), so that an explanation of a difference is a result beside ours:

| switch | what it changes | cells |
| --- | --- | --- |
| `layer` | the layers that are built: one more than `layers` says; for GAT two, whatever it says | all static ones |
| `odin-step` | ODIN: gradient of the sum of all logits, arcs left alone, x~ = (x + eps sign) x | softmax |
| `weights` | gDOC's positives weighted by (n - n+) / n, as the paper prints | gdoc |
| `graph-mlp-batches` | training on the wrong vertices, see `parity_published` | Graph-MLP, 60-20-20 and planetoid |
| `one-epoch` | the neighbour loader is used up after the first epoch, so training stops | GraphSAGE |
| `lr` | learning rate .01 in the transductive check, for which the paper prints none | where ours is another |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lgl_bench.runs.presets import Preset

BACKBONES = ("gcn", "graphsage", "gat", "graph-mlp")
HEADS = {"softmax": "odin", "isomax+": "isomax+", "gdoc": "gdoc"}
# Graph-MLP's own check in the paper: transductive, Planetoid split, all classes known.
TRANSDUCTIVE = {"cora": 0.778, "citeseer": 0.697, "pubmed": 0.776}
SWITCHES = ("layer", "odin-step", "weights", "graph-mlp-batches", "one-epoch", "lr")
# Those that no parameter of a preset expresses.
OWN_CODE = ("odin-step", "weights", "graph-mlp-batches")
TRANSDUCTIVE_LR = 0.01
_GAT_LAYERS = 2
_BINARY_FEATURES = ("cora", "citeseer")


@dataclass(frozen=True, slots=True)
class Job:
    """One model kind on one stream under one seed, over all folds or years; `switch` is empty for ours."""

    stream: str
    split: str
    backbone: str
    head: str
    seed: int
    transductive: bool = False
    switch: str = ""

    @property
    def key(self) -> str:
        """Name of its file."""
        track = "transductive" if self.transductive else self.split
        kind = f"{self.stream}_{track}_{self.backbone}_{self.head.replace('+', 'plus')}_{self.seed}"
        return f"{kind}_{self.switch}" if self.switch else kind


def jobs_of(
    stream: str,
    split: str,
    backbones: tuple[str, ...],
    seeds: int,
    switches: tuple[str, ...] = (),
    heads: tuple[str, ...] = tuple(HEADS),
) -> Iterator[Job]:
    """The cells of the paper's table for one stream, and Graph-MLP's transductive check.

    Args:
        stream: By name.
        split: "60-20-20", "planetoid" or "temporal".
        backbones: Only these.
        seeds: Number of seeds.
        switches: Beside ours, these, each for the cells it changes.
        heads: Only these; the transductive check has the softmax head.
    """
    for seed in range(seeds):
        cells = [Job(stream, split, backbone, head, seed) for backbone in backbones for head in heads]
        if "graph-mlp" in backbones and "softmax" in heads and stream in TRANSDUCTIVE:
            cells.append(Job(stream, "planetoid", "graph-mlp", "softmax", seed, transductive=True))
        for cell in cells:
            yield cell
            yield from (replace(cell, switch=switch) for switch in switches if changes(cell, switch))


def changes(job: Job, switch: str) -> bool:
    """Whether a switch changes anything in the cell of a job."""
    if job.transductive:
        return switch == "lr" and our_preset(job).training.lr != TRANSDUCTIVE_LR
    if job.split == "temporal":
        return False
    return {
        "layer": job.backbone != "gat" or our_preset(job).backbone.get("layers") != _GAT_LAYERS,
        "odin-step": job.head == "softmax",
        "weights": job.head == "gdoc",
        "graph-mlp-batches": job.backbone == "graph-mlp",
        "one-epoch": job.backbone == "graphsage",
    }.get(switch, False)


def our_preset(job: Job) -> Preset:
    """The paper's row; of its transductive check it prints none, so the one of the random split stands in."""
    from lgl_bench.runs.presets import preset

    return preset(job.stream, "60-20-20" if job.transductive else job.split, job.backbone, job.head)


def preset_of(job: Job) -> Preset:
    """How the model of a job is trained: our preset, or what its switch makes of it."""
    ours = our_preset(job)
    if job.switch == "layer":
        layers = _GAT_LAYERS if job.backbone == "gat" else ours.backbone.get("layers", 2) + 1
        return replace(ours, backbone={**ours.backbone, "layers": layers})
    if job.switch == "one-epoch":
        return replace(ours, training=replace(ours.training, epochs=1))
    if job.switch == "lr":
        return replace(ours, training=replace(ours.training, lr=TRANSDUCTIVE_LR))
    return ours


def noted_parameters(job: Job) -> dict[str, Any]:
    """Parameters of backbone and training, as they are noted in the job's file."""
    chosen = preset_of(job)
    return given_parameters({**chosen.backbone, **asdict(chosen.training)})


def given_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Without those that are None, so that an option added later makes no difference; tuples as lists, as in JSON."""
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}
    return {name: value for name, value in plain.items() if value is not None}


def unchanged_since_probes(job: Job) -> bool:
    """Whether a job of before probes were noted still stands: no change of what is computed reaches it.

    There are two such changes. ODIN's step is in units of the features' scale, which is 1 for binary features alone.
    Graph-MLP's batches hold all training vertices where these are at most half of a batch: so in the transductive check
    and the Planetoid split, not in the 60-20-20 split, where they are three quarters of the training graph.
    """
    if job.switch or job.transductive:
        return False
    if job.backbone == "graph-mlp" and job.split != "60-20-20":
        return False
    return job.head != "softmax" or job.stream in _BINARY_FEATURES
