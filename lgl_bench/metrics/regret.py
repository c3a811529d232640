"""How much the best cut of every year is worth more."""

from __future__ import annotations

from lgl_bench.metrics import Aggregate, BoardMetric, metrics


@metrics.register("regret")
class Regret(BoardMetric):
    """`mcc` of the row with the same method and the threshold `oracle`, less the row's own."""

    label = "Regret"
    about = "MCC of the oracle, which sees the truth, less that of the row. Lower is better."
    range = (-2.0, 2.0)
    higher_is_better = False
    needs = ("decision",)
    over_years = Aggregate.AGAINST_ORACLE
    undefined = "no row of the threshold oracle over the same years"
