"""Measurements with every mark: one cell each, and how the tables show it."""

from __future__ import annotations

from lgl_bench.report.parity.cells import Cell
from lgl_bench.report.parity.measured import Measurement
from tests.support.measurements import measured


def seeded(cell: Cell, accuracy: float, auroc: float, seeds: int = 3, switch: str = "") -> list[Measurement]:
    """A cell with that many seeds, one fold each; seeds differ by 0.01 in accuracy around the mean of three."""
    return [
        row
        for seed in range(seeds)
        for row in measured(cell, [(accuracy + 0.01 * (seed - 1), {cell.detector: auroc})], seed, switch)
    ]


def with_every_mark() -> list[Measurement]:
    """On Cora with GCN, of which the paper prints ODIN 0.89/0.84, IsoMax+ 0.88/0.78 and gDOC 0.88/0.84."""
    odin, isomax, gdoc = (Cell("cora", "60-20-20", "gcn", head) for head in ("softmax", "isomax+", "gdoc"))
    sage = Cell("cora", "60-20-20", "graphsage", "softmax")
    return [
        *seeded(odin, 0.90, 0.85),
        *seeded(isomax, 0.88, 0.70),
        *seeded(isomax, 0.88, 0.77, switch="layer"),
        *seeded(gdoc, 0.88, 0.70),
        *seeded(gdoc, 0.88, 0.72, seeds=1, switch="weights"),
        *seeded(sage, 0.90, 0.83, seeds=2),
    ]
