"""The full matrix of every model on every year, and what is read off it.

`metrics.matrix` says how forgetting and transfer are defined here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from lgl_bench.core.types import FloatArray
from lgl_bench.grading.answers import Reader
from lgl_bench.metrics.matrix import backward_transfer, forgetting, forward_transfer
from lgl_bench.plans.fits import ChainSpec
from lgl_bench.plans.plan import Plan


def matrix_rows(plan: Plan, reader: Reader) -> pd.DataFrame:
    """One row for each chain, model and year; a model that is missing has none."""
    found = []
    for chain, units in plan.units.items():
        for unit in units:
            record = reader.record(unit)
            for year, value in ((record and record.matrix) or {}).items():
                about = {"trained_up_to": record and record.trained_up_to, "evaluated_on": int(year), "accuracy": value}
                found.append({**_about(plan, chain), **about})
    return pd.DataFrame(found)


def transfer_rows(matrix: pd.DataFrame, known: dict[str, dict[int, int]]) -> pd.DataFrame:
    """Forgetting, backward and forward transfer of every chain.

    Args:
        matrix: As `matrix_rows` returns it.
        known: Per stream and existing year, how many classes are known by then: forward transfer is against guessing
            one of those the model knows.
    """
    found = []
    keys = [str(name) for name in matrix if name not in ("trained_up_to", "evaluated_on", "accuracy")]
    for values, part in matrix.groupby(keys, sort=False) if len(matrix) else []:
        counts = known[str(part["stream"].iloc[0])]
        cells, years = aligned(part, counts)
        # A year is answered by the model trained up to the year before.
        guess = np.array([np.nan, *(1.0 / max(counts[year], 1) for year in years[:-1])])
        one: dict[str, Any] = dict(zip(keys, values, strict=True))
        for name, value in (
            ("forgetting", forgetting(cells)),
            ("backward_transfer", backward_transfer(cells)),
            ("forward_transfer", forward_transfer(cells, guess)),
        ):
            one |= {name: value.value, f"{name}_years": value.years, f"{name}_reason": value.reason}
        found.append(one)
    return pd.DataFrame(found)


def aligned(part: pd.DataFrame, existing: Iterable[int]) -> tuple[FloatArray, list[int]]:
    """The matrix of one chain, and the years of its columns; row i and column i mean the same year.

    The years are all that exist from the first that was learned or evaluated on. A year without a model is a row of
    NaN, and the last row is that of the last model. If two models learned up to the same year (labels that arrive
    late may not come every year), the newer one stands.

    Args:
        part: The rows of the chain, as `matrix_rows` returns them.
        existing: The years of the stream.
    """
    first = min(part["trained_up_to"].min(), part["evaluated_on"].min())
    years = [year for year in sorted(existing) if first <= year <= part["evaluated_on"].max()]
    models = [year for year in years if year <= part["trained_up_to"].max()]
    newest = part.drop_duplicates(["trained_up_to", "evaluated_on"], keep="last")
    table = newest.pivot(index="trained_up_to", columns="evaluated_on", values="accuracy")
    return table.reindex(index=models, columns=years).to_numpy(dtype=np.float64), years


def _about(plan: Plan, chain: ChainSpec) -> dict[str, Any]:
    return {
        "suite": plan.suite.name,
        "budget": plan.budget.name,
        "strategy": chain.strategy.name,
        "history": chain.protocol.shown_history,
        "restart": chain.strategy.restart,
        "label_delay": chain.protocol.label_delay or 0,
        "stream": chain.stream,
        "backbone": chain.backbone,
        "parameters": json.dumps(chain.parameters, sort_keys=True),
        "head": chain.head,
        "seed": chain.seed,
    }
