"""Where a budget is not for ranking: its order of methods is not that of the paper's budget.

`benchmarks/budgets.py` measures, per stream, Spearman's rank correlation of the AUROC of all (backbone, detector) cells
between a cheap budget and the paper's, and keeps it in `benchmarks/budget_ranking.csv`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import cache

from lgl_bench.core.resources import shipped

MIN_CORRELATION = 0.9
_REFERENCE = "paper"
_TRIAL = "smoke"


def budget_notes(places: Iterable[tuple[str, int, str]]) -> list[str]:
    """Sentences on the budgets of some rows; none where a budget may rank.

    Args:
        places: Budget, its version, and stream of the rows.
    """
    found: list[str] = []
    unknown: dict[str, list[str]] = {}
    cheap = {place for place in places if place[0] and place[0] != _REFERENCE}
    if any(budget == _TRIAL for budget, _, _ in cheap):
        found.append(f"The budget {_TRIAL} is for trying things out: its numbers are lower than they could be.")
    for budget, version, stream in sorted(place for place in cheap if place[0] != _TRIAL):
        measured = _measured().get((budget, version, stream))
        if measured is None:
            unknown.setdefault(budget, []).append(stream)
        elif measured[0] < MIN_CORRELATION:
            value, cells = measured
            found.append(
                f"The budget {budget} is not for ranking on {stream}: the order of {cells} methods there has a rank "
                f"correlation of {value:.2f} with that of the budget {_REFERENCE}."
            )
    for budget, streams in unknown.items():
        found.append(
            f"Whether the budget {budget} orders methods as {_REFERENCE} does was not measured on {', '.join(streams)}."
        )
    return found


@cache
def _measured() -> dict[tuple[str, int, str], tuple[float, int]]:
    """Rank correlation and number of cells, by budget, version and stream."""
    path = shipped("benchmarks") / "budget_ranking.csv"
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (row["budget"], int(row["budget_version"]), row["stream"]): (
                float(row["rank_correlation"]),
                int(row["cells"]),
            )
            for row in csv.DictReader(file)
        }
