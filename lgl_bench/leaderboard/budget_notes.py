"""When a budget is not for ranking: its order of methods is not that of the paper's budget.

`benchmarks/budgets.py` measures, per stream, Spearman's rank correlation of the AUROC of all (backbone, detector) cells
between a cheap budget and the paper's, and keeps it in `benchmarks/budget_ranking.csv`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.resources import shipped

MIN_CORRELATION = 0.9
_REFERENCE = "paper"
_TRIAL = "smoke"


class Measured(NamedTuple):
    """Rank correlation with the reference budget, over how many cells, and of which backbones."""

    correlation: float
    cells: int
    backbones: frozenset[str]


def budget_notes(places: Iterable[tuple[str, int, str, str]]) -> list[str]:
    """Sentences on the budgets of some rows; none if a budget may rank.

    Args:
        places: Budget, its version, stream and backbone of the rows.
    """
    cheap = {place for place in places if place[0] and place[0] != _REFERENCE}
    found: list[str] = []
    if any(place[0] == _TRIAL for place in cheap):
        found.append(f"The budget {_TRIAL} is for trying things out: its numbers are lower than they could be.")
    by_stream: dict[tuple[str, int, str], set[str]] = {}
    for budget, version, stream, backbone in cheap:
        if budget != _TRIAL:
            by_stream.setdefault((budget, version, stream), set()).add(plugin_name(backbone))
    unknown: dict[str, list[str]] = {}
    for place, backbones in sorted(by_stream.items()):
        budget, _, stream = place
        measured = _measured().get(place, Measured(1.0, 0, frozenset()))
        if measured.correlation < MIN_CORRELATION:
            found.append(
                f"The budget {budget} is not for ranking on {stream}: the order of {measured.cells} methods there has "
                f"a rank correlation of {measured.correlation:.3f} with that of the budget {_REFERENCE}."
            )
        lacking = sorted(backbones - measured.backbones)
        if lacking:
            whole = not measured.backbones
            unknown.setdefault(budget, []).append(stream if whole else f"{stream} ({', '.join(lacking)})")
    for budget, streams in unknown.items():
        found.append(
            f"Whether the budget {budget} orders methods as {_REFERENCE} does was not measured on {', '.join(streams)}."
        )
    return found


@cache
def _measured() -> dict[tuple[str, int, str], Measured]:
    """What was measured, by budget, version and stream."""
    path = shipped("benchmarks") / "budget_ranking.csv"
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (row["budget"], int(row["budget_version"]), row["stream"]): Measured(
                float(row["rank_correlation"]), int(row["cells"]), frozenset(row["backbones"].split())
            )
            for row in csv.DictReader(file)
        }
