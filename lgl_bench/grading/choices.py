"""What is chosen in a run: parameters of detectors, GOOD's base and weight, and which combinations get thresholds."""

from __future__ import annotations

import pandas as pd

from lgl_bench.core.references import FLOOR
from lgl_bench.grading.answers import Reader
from lgl_bench.grading.choose import Chosen, Walk, choose_over_tasks
from lgl_bench.grading.selection import ALPHAS, Round
from lgl_bench.metrics import metrics
from lgl_bench.metrics.ranks import ranks_by
from lgl_bench.plans.fits import ChainSpec
from lgl_bench.plans.methods import AUTO, Candidate, MethodRow
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.plan_file import PluginFacts
from lgl_bench.plans.plugin_facts import protocol_facts


class Choices:
    """The choices of a plan, made from the answers in a store when they are asked for.

    If nothing can be chosen (no new vertex on the validation task, or no label of it yet) the preset's setting
    stands, and the choice says so.
    """

    def __init__(self, plan: Plan, reader: Reader) -> None:
        self.plan, self.reader = plan, reader
        self._made: dict[MethodRow, list[Chosen]] = {}

    def of(self, row: MethodRow) -> list[Chosen]:
        """The choice for every task of a row; tasks for choosing show what was chosen on them."""
        if row not in self._made:
            self._made[row] = self._choose(row)
        return self._made[row]

    def expressions(self, row: MethodRow) -> list[str]:
        """The distinct candidates that are chosen for any task of a row."""
        return sorted({chosen.candidate for chosen in self.of(row)})

    def score_chosen(self) -> None:
        """Puts what was chosen on validation tasks among the expressions that every task is scored with."""
        for row in self.plan.rows:
            if len(row.candidates) < 2:
                continue
            for base in self.expressions(row):
                candidate = next(one for one in row.candidates if one.base == base)
                for chain in self.plan.chains_of(row, candidate):
                    self.plan.scored[chain] = sorted({*self.plan.scored[chain], base})

    def _tasks(self, row: MethodRow) -> list[Round]:
        chain = self.plan.chains_of(row, row.candidates[0])[0]
        return [Round(unit.role == "validation", unit.fold, unit.time) for unit in self.plan.units[chain]]

    def _choose(self, row: MethodRow) -> list[Chosen]:
        walks: dict[str, list[Walk]] = {}
        for candidate in row.candidates:
            chains = self.plan.chains_of(row, candidate)
            walks[candidate.base] = [[self.reader.answered(unit) for unit in self.plan.units[c]] for c in chains]
        select, tasks = self.plan.suite.select, self._tasks(row)
        alphas = ALPHAS if row.alpha == AUTO else () if row.alpha is None else (float(row.alpha),)
        made = choose_over_tasks(walks, tasks, select, alphas, row.protocol.label_delay or 0)
        preset = Chosen(row.candidates[0].base, row.fallback_alpha, by_preset=True)
        if select == "prequential":
            return [chosen or preset for chosen in made]
        by_fold: dict[str, Chosen] = {}
        for task, chosen in zip(tasks, made, strict=True):
            if not task.validation:
                # Of several years the last: by then the labels of the validation task have arrived.
                by_fold[task.fold] = chosen or preset
        return [
            by_fold.get(task.fold.split("/")[0], preset) if task.validation else chosen or preset
            for task, chosen in zip(tasks, made, strict=True)
        ]


def decisions(plan: Plan, choices: Choices, validation: pd.DataFrame) -> dict[ChainSpec, tuple[str, ...]]:
    """Which expressions get thresholds: all, or the one that is best on the validation task of each stream.

    Args:
        plan: Whose rows.
        choices: What stands behind rows with a choice.
        validation: Year rows of the validation tasks.
    """
    if not plan.thresholds:
        return {}
    # The floor is there to be beaten by novelty scores; nobody decides with it unless nothing else is run.
    rows = [row for row in plan.rows if row.detector not in FLOOR] or plan.rows
    if plan.suite.thresholds_on == "best":
        rows = _best(rows, validation, plan.plugins)
    wanted: dict[ChainSpec, set[str]] = {}
    for row in rows:
        for candidate, expression in _decided(plan, choices, row):
            for chain in plan.chains_of(row, candidate):
                wanted.setdefault(chain, set()).add(expression)
    return {chain: tuple(sorted(names)) for chain, names in wanted.items()}


def _best(rows: list[MethodRow], validation: pd.DataFrame, plugin_facts: PluginFacts) -> list[MethodRow]:
    """The row of each stream that ranks first on the validation task, by the mean over seeds of the year's grade."""
    if len(validation):
        validation = validation[validation["detector"].isin([row.detector for row in rows])]
    good = validation[validation["status"] == "ok"] if len(validation) else validation
    if not len(good):
        return []
    (column,) = {metrics.year_column(ranks_by(protocol, "")) for protocol in good["protocol"]}
    means = good.groupby(["stream", "split", "strategy", "backbone", "detector"])[column].mean().dropna()
    best = {part.idxmax() for _, part in means.groupby(level=[0, 1])}

    def of(row: MethodRow) -> tuple[str, ...]:
        split = protocol_facts(row.protocol, plugin_facts).split
        return row.stream, split, row.strategy.name, row.shown_backbone, row.detector

    return [row for row in rows if of(row) in best]


def _decided(plan: Plan, choices: Choices, row: MethodRow) -> list[tuple[Candidate, str]]:
    """Candidates and expressions to decide for; none for a choice that is made anew every year."""
    if not row.chosen:
        return [(row.candidates[0], row.concrete)]
    found = {(chosen.candidate, chosen.expression) for chosen in choices.of(row)}
    if len(found) > 1 and plan.suite.select == "prequential":
        return []
    candidates = {candidate.base: candidate for candidate in row.candidates}
    return [(candidates[base], expression) for base, expression in sorted(found)]
