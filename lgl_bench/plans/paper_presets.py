"""The paper's hyperparameters, and what stands in if it prints none.

The CSV files beside this module (`paper/`) hold every row of the paper's tables. Rules for what they lack: IsoMax+ on
dblp-hard as on dblp-easy; acl-anthology, acl-venues and pharmabio as dblp-easy; arxiv-structure as OGB-arXiv; a twin
as its original, at most 128 wide; any other backbone as GCN, in what it takes of its parameters (`taken`) and with the
learning rate it is published with if it has one (`own_lr`); genodin as softmax; doc as gdoc; any other head as GCN with
softmax; any other stream as Cora if it is static, else as dblp-easy, at most 128 wide.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from lgl_bench.backbones import backbones
from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Constant, Expression, signature
from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.types import TrainingParameters
from lgl_bench.streams.catalogue import TWIN

STATIC = ("cora", "citeseer", "pubmed")
TEMPORAL = ("dblp-easy", "dblp-hard", "ogb-arxiv")
_STREAM_LIKE = {
    "acl-anthology": "dblp-easy",
    "acl-venues": "dblp-easy",
    "pharmabio": "dblp-easy",
    "arxiv-structure": "ogb-arxiv",
}
_BACKBONES = ("gcn", "graphsage", "gat", "graph-mlp")
_HEAD_LIKE = {"genodin": "softmax", "doc": "gdoc"}
_NEAREST = ("gcn", "softmax")
"""What stands in for a head that the paper does not have; the first of them for a backbone."""
_COLUMNS = {"layers": int, "hidden": int, "dropout": float, "heads": int, "attn_dropout": float, "r": int}
"""Columns of the table that are parameters of a backbone, if they are filled."""
# The paper's text on how GraphSAGE walks; the sample sizes of its tables contradict it and are not used.
_WALKS: dict[str, dict[str, dict[str, Any]]] = {
    "graphsage": {
        "static": {"batch": 512, "fanout": (25, 5)},
        "temporal": {"batch": 0.2, "fanout": (50, 20)},
    }
}
_WIDEST_STAND_IN = 128
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Preset:
    """How a backbone and head are trained on a stream.

    Attributes:
        name: Where the numbers come from: the paper's row, or what stands in for one.
        backbone: Parameters of the backbone.
        training: Epochs and learning rate.
    """

    name: str
    backbone: dict[str, Any]
    training: TrainingParameters


def preset(stream: str, split: str, backbone: str, head: str) -> Preset:
    """Training parameters of the paper for (stream, split, backbone, head)."""
    original, capped = _original(stream, split)
    row_backbone = _backbone_like(backbone)
    row_head = _HEAD_LIKE.get(head, head)
    rows = {(row["backbone"], row["head"], row["dataset"], row["split"]): row for row in table("hyperparameters")}
    row = rows.get((row_backbone, row_head, original, split))
    if row is None and original == "dblp-hard":
        original = "dblp-easy"
        row = rows.get((row_backbone, row_head, original, split))
    if row is None:
        row_backbone, row_head = _NEAREST
        row = rows.get((row_backbone, row_head, original, split))
    if row is None:
        raise UsageError(f"there are no hyperparameters for {stream} with the split '{split}'")
    parameters: dict[str, Any] = {name: kind(row[name]) for name, kind in _COLUMNS.items() if row[name]}
    if capped:
        parameters["hidden"] = min(parameters["hidden"], _WIDEST_STAND_IN)
    parameters = taken(backbone, parameters)
    parameters |= _WALKS.get(backbone, {}).get("temporal" if split == "temporal" else "static", {})
    exact = (stream, backbone, head) == (original, row_backbone, row_head)
    name = "paper" if exact else f"paper: {row_backbone}, {row_head}, {original}"
    own_lr = backbones.get(backbone).own_lr if backbones.is_built_in(backbone) else None
    if own_lr is not None:
        name += f"; lr of {backbone}"
    return Preset(name, parameters, TrainingParameters(int(row["epochs"]), own_lr or float(row["lr"])))


def taken(backbone: str, values: dict[str, _Value]) -> dict[str, _Value]:
    """What a backbone takes of values for any: those of its own parameters, but for its `own_sizes`.

    A plugin takes all of them: its presets must be known without its code too.
    """
    if not backbones.is_built_in(backbone):
        return values
    kind = backbones.get(backbone)
    _, accepted = signature(kind)
    return {name: value for name, value in values.items() if name in accepted and name not in kind.own_sizes}


def detector_preset(stream: str, split: str, backbone: str, detector: str) -> dict[str, Constant]:
    """The paper's parameters of a detector; empty if it has none."""
    if detector != "odin":
        return {}
    row = _row("odin_hyperparameters", stream, split, backbone)
    return {"eps": float(row["eps"]), "temperature": float(row["temperature"])} if row else {}


def good_preset(stream: str, split: str, backbone: str) -> tuple[str, float]:
    """The detector the paper builds GOOD on, and alpha."""
    row = _row("good_alpha", stream, split, backbone)
    return (row["detector"], float(row["alpha"])) if row else ("odin", 0.5)


def resolve_good(expression: Expression, stream: str, split: str, backbone: str) -> Expression:
    """Fills in what the paper says of GOOD: `good(preset)` its base and alpha, `good(D)` alpha if D is that base."""
    arguments = tuple(resolve_good(argument, stream, split, backbone) for argument in expression.arguments)
    parameters = dict(expression.parameters)
    if expression.name == "good" and len(arguments) == 1:
        base, alpha = good_preset(stream, split, backbone)
        if arguments[0].name == "preset":
            arguments = (Expression(base),)
        if arguments[0].name == base:
            parameters.setdefault("alpha", alpha)
    return Expression(expression.name, arguments, tuple(sorted(parameters.items())))


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """A table of the paper, row by row."""
    path = Path(__file__).parent / "paper" / f"{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def grid(kind: str, applies_to: str) -> dict[str, tuple[float, ...]]:
    """Values the paper searched: kind is "static", "temporal" or "all"."""
    return {
        row["parameter"]: tuple(float(value) for value in row["values"].split())
        for row in table("grids")
        if row["kind"] == kind and row["applies_to"] == applies_to
    }


def _original(stream: str, split: str) -> tuple[str, bool]:
    """The set of the paper whose numbers apply, and whether widths are capped."""
    stream = plugin_name(stream)
    name = stream.removesuffix(TWIN)
    if name in STATIC + TEMPORAL:
        return name, name != stream
    if name in _STREAM_LIKE:
        return _STREAM_LIKE[name], False
    return ("dblp-easy" if split == "temporal" else "cora"), True


def _backbone_like(backbone: str) -> str:
    """The backbone of the paper whose numbers apply."""
    return backbone if backbone in _BACKBONES else _NEAREST[0]


def _row(name: str, stream: str, split: str, backbone: str) -> dict[str, str] | None:
    original, _ = _original(stream, split)
    backbone = _backbone_like(backbone)
    rows = {(row["dataset"], row["split"], row["backbone"]): row for row in table(name)}
    nearest = "dblp-easy" if original == "dblp-hard" else original
    return rows.get((original, split, backbone)) or rows.get((nearest, split, backbone))
