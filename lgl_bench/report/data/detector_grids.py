"""Every detector with every backbone, place by place: what the heat map shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lgl_bench.core.grammar import without_values
from lgl_bench.leaderboard.short_names import distinct
from lgl_bench.report.data.distinct import telling
from lgl_bench.report.data.names import values
from lgl_bench.report.data.rows import Place, ShownRow


@dataclass(frozen=True, slots=True)
class DetectorGrid:
    """The rows of a place without a threshold, as a grid.

    Attributes:
        detectors: Names of the rows, the best mean first; with values, head or preset if one needs them.
        columns: Names of the backbones; of the strategies, or of both, if rows of the place differ in them.
        columns_are: Which of these, in words.
        cells: By position; what is not here was not run.
    """

    place: Place
    detectors: tuple[str, ...]
    columns: tuple[str, ...]
    columns_are: str
    cells: Mapping[tuple[int, int], ShownRow]


def value_of(row: ShownRow) -> float | None:
    """What ranks a row; None if it has no rank, as a mean over fewer years is not comparable."""
    return None if row.rank is None else row.figures[row.ranks_by].mean


def detector_grids(rows: Iterable[ShownRow]) -> list[DetectorGrid]:
    """A grid per place that has rows without a threshold."""
    places: dict[Place, list[ShownRow]] = {}
    for row in rows:
        if not row.threshold:
            places.setdefault(row.place, []).append(row)
    return [_grid(place, part) for place, part in places.items()]


def _grid(place: Place, rows: Sequence[ShownRow]) -> DetectorGrid:
    columns, columns_are = _columns(rows)
    names = _detectors(rows, columns)
    found: dict[str, dict[str, ShownRow]] = {}
    for row, name in zip(rows, names, strict=True):
        found.setdefault(name, {}).setdefault(columns[row], row)

    def standing(name: str) -> tuple[float, str]:
        defined = [value for value in map(value_of, found[name].values()) if value is not None]
        return -float(np.mean(defined)) if defined else np.inf, name

    down = sorted(found, key=standing)
    across = sorted(set(columns.values()))
    cells = {(i, across.index(at)): row for i, name in enumerate(down) for at, row in found[name].items()}
    return DetectorGrid(place, tuple(down), tuple(across), columns_are, cells)


def _columns(rows: Sequence[ShownRow]) -> tuple[dict[ShownRow, str], str]:
    """Of each row, the name of its column; and what columns are."""
    backbones = _distinct({row.backbone for row in rows})
    strategies = {row.shown_strategy for row in rows}
    if len(strategies) < 2:
        return {row: backbones[row.backbone] for row in rows}, "backbone"
    if len(backbones) < 2:
        return {row: row.shown_strategy for row in rows}, f"strategy, with {next(iter(backbones.values()))}"
    return {row: f"{backbones[row.backbone]}, {row.shown_strategy}" for row in rows}, "backbone, strategy"


def _detectors(rows: Sequence[ShownRow], columns: Mapping[ShownRow, str]) -> list[str]:
    """Of each row, its detector by its names, and by whatever else distinguishes it from others in its cell."""
    keys = {row: (columns[row], values(row.detector), row.head, row.preset, row.select) for row in rows}
    by_name: dict[str, list[ShownRow]] = {}
    for row in rows:
        by_name.setdefault(without_values(row.detector), []).append(row)
    more = {name: telling([keys[row] for row in part], (1, 2, 3, 4), given=(0,)) for name, part in by_name.items()}
    whole = {name: _distinct({row.detector for row in part}) for name, part in by_name.items()}
    found = []
    for row in rows:
        name = without_values(row.detector)
        begin = whole[name][row.detector] if 1 in more[name] else name
        found.append(" ".join([begin, *filter(None, (keys[row][at] for at in more[name] if at > 1))]))
    return found


def _distinct(texts: Collection[str]) -> dict[str, str]:
    ordered = sorted(texts)
    return dict(zip(ordered, distinct(ordered), strict=True))
