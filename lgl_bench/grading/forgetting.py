"""The matrix of every model on every year as a table, for drawings."""

from __future__ import annotations

import json
from collections import deque
from typing import Any

import numpy as np
import pandas as pd

from lgl_bench.grading.answers import Reader
from lgl_bench.grading.chains import year_matrices
from lgl_bench.metrics.year_matrix import accuracies
from lgl_bench.plans.fits import ChainSpec
from lgl_bench.plans.plan import Plan


def matrix_rows(plan: Plan, reader: Reader) -> pd.DataFrame:
    """One row for each chain, model and year, with the accuracy over the classes that the model knows.

    Ensembles are left out: strategies are compared by single models.
    """
    found = []
    for chain, units in plan.units.items():
        drawn = chain.strategy.name and chain.members == 1
        whole = deque(year_matrices(reader, units) if drawn else (), maxlen=1)
        if not whole:
            continue
        _, last = whole[0]
        cells = accuracies(last)
        for row, column in zip(*np.nonzero(~np.isnan(last.right).all(axis=2)), strict=True):
            value = float(cells[row, column])
            about = {"trained_up_to": last.years[row], "evaluated_on": last.years[column], "accuracy": value}
            found.append({**_about(plan, chain), **about})
    return pd.DataFrame(found)


def _about(plan: Plan, chain: ChainSpec) -> dict[str, Any]:
    return {
        "suite": plan.suite.name,
        "budget": plan.budget.name,
        "strategy": chain.strategy.name,
        "history": chain.protocol.shown_history,
        "restart": chain.strategy.restart,
        "label_delay": chain.protocol.label_delay or 0,
        "stream": chain.stream,
        "backbone": plan.shown_backbone(chain),
        "parameters": json.dumps(chain.parameters, sort_keys=True),
        "head": chain.head,
        "seed": chain.seed,
    }
