"""The cells of the paper's table, and how each is trained and scored if it is run as the paper says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lgl_bench.core.expressions import Expression
    from lgl_bench.plans.paper_presets import Preset

BACKBONES = ("gcn", "graphsage", "gat", "graph-mlp")
HEADS = {"softmax": "odin", "isomax+": "isomax+", "gdoc": "gdoc"}
"""Every head of the table with the detector that scores on it."""
GOOD = "good"
TRANSDUCTIVE = "transductive"
"""In place of a split: Graph-MLP's own check in the paper, on the Planetoid split with all classes known."""
NO_DETECTOR = "none"
_CHECK_HEAD = "softmax"
_CHECK_PARAMETERS = "60-20-20"


@dataclass(frozen=True, slots=True)
class Cell:
    """One model kind on one stream; its detector, and perhaps GOOD over it, are rows of the table."""

    stream: str
    split: str
    backbone: str
    head: str

    @property
    def planned_split(self) -> str:
        """The split as plans and boards name it."""
        return "planetoid" if self.split == TRANSDUCTIVE else self.split

    @property
    def detector(self) -> str:
        """The detector of the cell by name; "none" if classes are all that is looked at."""
        return NO_DETECTOR if self.split == TRANSDUCTIVE else HEADS[self.head]


def cells_of(
    stream: str, split: str, backbones: Sequence[str] = BACKBONES, heads: Sequence[str] = tuple(HEADS)
) -> Iterator[Cell]:
    """The cells of the paper's table for one stream, and Graph-MLP's transductive check.

    Args:
        stream: By name.
        split: "60-20-20", "planetoid" or "temporal".
        backbones: Only these.
        heads: Only these; the transductive check has the softmax head.
    """
    for backbone in backbones:
        yield from (Cell(stream, split, backbone, head) for head in heads)
        if (stream, backbone) in printed_checks() and _CHECK_HEAD in heads:
            yield Cell(stream, TRANSDUCTIVE, backbone, _CHECK_HEAD)


def printed_checks() -> dict[tuple[str, str], float]:
    """Accuracy that the paper prints for the transductive check, by stream and backbone."""
    from lgl_bench.plans.paper_presets import table

    return {(row["dataset"], row["backbone"]): float(row["accuracy"]) for row in table("transductive")}


def paper_preset(cell: Cell) -> Preset:
    """The paper's parameters; of its transductive check it prints none, so those of the random split stand in."""
    from lgl_bench.plans.paper_presets import preset

    split = _CHECK_PARAMETERS if cell.split == TRANSDUCTIVE else cell.split
    return preset(cell.stream, split, cell.backbone, cell.head)


def paper_expressions(cell: Cell) -> dict[str, Expression]:
    """The rows of a cell with their complete expressions: its detector, and GOOD if the paper builds it on that one."""
    from lgl_bench.core.expressions import complete, parse
    from lgl_bench.detectors import detectors
    from lgl_bench.plans.paper_presets import detector_preset, good_preset

    if cell.split == TRANSDUCTIVE:
        return {}
    place = (cell.stream, cell.split, cell.backbone)
    base, alpha = good_preset(*place)
    texts = {cell.detector: cell.detector}
    if base == cell.detector:
        texts[GOOD] = f"{GOOD}({base}, alpha={alpha})"
    return {
        name: complete(parse(text), detectors, lambda part: detector_preset(*place, part))
        for name, text in texts.items()
    }
