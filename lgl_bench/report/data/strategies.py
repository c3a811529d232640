"""What is compared of strategies: for each place and backbone one row per strategy, with the same detector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lgl_bench.core.grammar import plugin_name, without_values
from lgl_bench.core.references import FLOOR
from lgl_bench.core.types import FloatArray
from lgl_bench.grading.board_matrix import matrix_of
from lgl_bench.grading.row_key import KEY
from lgl_bench.report.data.rows import Place, ShownRow
from lgl_bench.report.data.sources import ReportInput

ENDS = ("finetune", "joint")
"""The floor, which keeps nothing, and the ceiling of accuracy, which keeps all and trains anew."""
USUAL = "msp"
"""The detector that strategies are compared with, if every one of them has it."""
_GRIDS = ("finetune", "replay", "full", "joint")


@dataclass(frozen=True, slots=True)
class StrategyRows:
    """One row per strategy.

    Attributes:
        label: Place and backbone, in words.
        detector: That all of them have, by its names.
        rows: In the order of their names.
    """

    place: Place
    label: str
    detector: str
    rows: tuple[ShownRow, ...]


def is_end(row: ShownRow) -> bool:
    """Whether a row is of one of the two ends."""
    return plugin_name(row.strategy) in ENDS


def strategy_rows(rows: Sequence[ShownRow]) -> list[StrategyRows]:
    """Every place and backbone with two strategies or more; the detector is not chosen by its result."""
    found: dict[tuple[Place, str], list[ShownRow]] = {}
    for row in rows:
        if row.shown_strategy and not row.threshold and plugin_name(row.detector) not in FLOOR:
            found.setdefault((row.place, row.backbone), []).append(row)
    many = len({backbone for _, backbone in found}) > 1
    made = []
    for (place, backbone), part in found.items():
        strategies = {row.strategy for row in part}
        by_detector: dict[str, dict[str, ShownRow]] = {}
        for row in part:
            by_detector.setdefault(without_values(row.detector), {}).setdefault(row.strategy, row)
        common = sorted(name for name, own in by_detector.items() if own.keys() == strategies)
        if len(strategies) > 1 and common:
            detector = USUAL if USUAL in common else common[0]
            label = f"{place.title}, {backbone}" if many else place.title
            ordered = sorted(by_detector[detector].values(), key=lambda row: row.shown_strategy)
            made.append(StrategyRows(place, label, detector, tuple(ordered)))
    return made


@dataclass(frozen=True, slots=True)
class YearGrid:
    """Accuracy of every model on every year, the mean over seeds; NaN if there is none."""

    label: str
    twin: bool
    strategy: str
    trained: tuple[int, ...]
    evaluated: tuple[int, ...]
    values: FloatArray


def year_grids(rows: Sequence[ShownRow], sources: Sequence[ReportInput]) -> list[YearGrid]:
    """The matrices of a few strategies on each place and backbone that has any."""
    found = []
    for group in strategy_rows(rows):
        named = [row for name in _GRIDS for row in group.rows if row.shown_strategy == name]
        for row in named or group.rows[: len(_GRIDS)]:
            grid = _grid(row, group, sources[row.source].matrix)
            if grid is not None:
                found.append(grid)
    return found


def _grid(row: ShownRow, group: StrategyRows, table: pd.DataFrame) -> YearGrid | None:
    own = matrix_of(table, dict(zip(KEY, row.key, strict=True)))
    if not len(own):
        return None
    cells = own.pivot_table(index="trained_up_to", columns="evaluated_on", values="accuracy", aggfunc="mean")
    if len(cells) < 2:
        return None
    trained, evaluated = (tuple(int(year) for year in axis) for axis in (cells.index, cells.columns))
    return YearGrid(
        group.label, group.place.twin, row.shown_strategy, trained, evaluated, cells.to_numpy(dtype=np.float64)
    )
