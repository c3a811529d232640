"""The full matrix of every model on every year, and what is read off it.

`metrics.matrix` says how forgetting and transfer are defined here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from lgl_bench.metrics.matrix import backward_transfer, forgetting, forward_transfer
from lgl_bench.runs.plan import Plan
from lgl_bench.runs.store import RunStore
from lgl_bench.runs.units import ChainSpec


def matrix_rows(plan: Plan, store: RunStore) -> pd.DataFrame:
    """One row for each chain, model and year."""
    found = []
    for chain, units in plan.units.items():
        for unit in units:
            noted = store.fit(unit.key) or {}
            for year, value in noted.get("matrix", {}).items():
                about = {"trained_up_to": noted["trained_up_to"], "evaluated_on": int(year), "accuracy": value}
                found.append({**_about(chain), **about})
    return pd.DataFrame(found)


def transfer_rows(matrix: pd.DataFrame, known: dict[str, dict[int, int]]) -> pd.DataFrame:
    """Forgetting, backward and forward transfer of every chain.

    Args:
        matrix: As `matrix_rows` gives it.
        known: Per stream and year, how many classes are known by then: forward transfer is against guessing one.
    """
    found = []
    keys = ["stream", "backbone", "head", "seed"]
    for values, part in matrix.groupby(keys, sort=False) if len(matrix) else []:
        table = part.pivot_table(
            index="trained_up_to", columns="evaluated_on", values="accuracy", dropna=False, aggfunc="first"
        )
        before = known[str(values[0])]
        guess = np.array([1.0 / max(before[int(year)], 1) for year in table.columns])
        guess[1:] = guess[:-1].copy()  # a year is answered by the model of the year before
        cells = table.to_numpy(dtype=float)
        one: dict[str, Any] = dict(zip(keys, values, strict=True))
        for name, value in (
            ("forgetting", forgetting(cells)),
            ("backward_transfer", backward_transfer(cells)),
            ("forward_transfer", forward_transfer(cells, guess)),
        ):
            one |= {name: value.value, f"{name}_years": value.years, f"{name}_reason": value.reason}
        found.append(one)
    return pd.DataFrame(found)


def _about(chain: ChainSpec) -> dict[str, Any]:
    return {"stream": chain.stream, "backbone": chain.backbone, "head": chain.head, "seed": chain.seed}
