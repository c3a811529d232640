"""Measurements of parity cells that were never run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lgl_bench.report.parity.cells import Cell
from lgl_bench.report.parity.measured import Measurement

CELL = Cell("cora", "60-20-20", "gcn", "softmax")


def measured(
    cell: Cell, folds: Sequence[tuple[float | None, Mapping[str, float | None]]], seed: int = 0, switch: str = ""
) -> list[Measurement]:
    """What a seed of a cell has: folds are (accuracy, {expression: AUROC}); without expressions classes alone."""
    return [
        Measurement(
            stream=cell.stream,
            split=cell.split,
            backbone=cell.backbone,
            head=cell.head,
            detector="good" if expression.startswith("good(") else cell.detector,
            switch=switch,
            seed=seed,
            time=0,
            fold=str(number),
            accuracy=accuracy,
            auroc=auroc,
            n_new=3,
            skipped="",
            fit_seconds=1.0,
            expression=expression,
            parameters="layers=2",
            commit="0123456789",
            created_at="",
            lgl_bench="0",
            torch="1",
            dgl="2",
            python="4",
            stream_checksum="abc",
        )
        for number, (accuracy, aurocs) in enumerate(folds)
        for expression, auroc in (aurocs or {"": None}).items()
    ]
