"""Every cell that the paper prints: of detectors, of thresholds, and of Graph-MLP's transductive check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from lgl_bench.core.grammar import plugin_name
from lgl_bench.leaderboard.published import open_world_lgl
from lgl_bench.leaderboard.table.names import metric_column
from lgl_bench.report.parity.cells import NO_DETECTOR, TRANSDUCTIVE, Cell, printed_checks

METRICS = {"accuracy": "accuracy", "auroc": "auroc_paper", "micro_f1": "micro_f1"}
"""What the paper prints, with the metric of a board that is computed as the paper does."""
_SAME = ("stream", "protocol", "split", "strategy", "history", "label_delay", "track", "preset", "select")
_METHOD = ("backbone", "head", "detector", "threshold")


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """A cell of a table of the paper.

    Attributes:
        cell: The model kind and the stream; of the table of thresholds the paper does not name the model.
        detector: By name, as the paper has it.
        expression: The detector with the paper's parameters.
        threshold: As an expression; "" without one.
        figures: What is printed, by metric.
        key: What a row of a board that computes this cell has in the columns of its key; none does if it is empty.
    """

    cell: Cell
    detector: str
    expression: str
    threshold: str
    figures: Mapping[str, float]
    key: Mapping[str, str]

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Stream, split, backbone and detector, as the parity table names them."""
        return self.cell.stream, self.cell.split, self.cell.backbone, self.detector


def printed_cells() -> list[PrintedCell]:
    """All of them, in no order that means anything."""
    found = []
    for row in open_world_lgl().to_dict("records"):
        means = {name: row[metric_column(metric, "mean")] for name, metric in METRICS.items()}
        found.append(
            PrintedCell(
                Cell(row["stream"], row["split"], row["backbone"], row["head"]),
                plugin_name(row["detector"]),
                row["detector"],
                row["threshold"],
                {name: float(mean) for name, mean in means.items() if not pd.isna(mean)},
                {name: str(row[name]) for name in (*_SAME, *_METHOD)},
            )
        )
    for (stream, backbone), accuracy in printed_checks().items():
        cell = Cell(stream, TRANSDUCTIVE, backbone, "softmax")
        found.append(PrintedCell(cell, NO_DETECTOR, "", "", {"accuracy": accuracy}, {}))
    return found
