"""Intervals of a run's rows by the bootstrap over seeds and vertices.

Seeds alone say nothing of the vertices: if few are new, intervals over seeds are far too narrow.
If a row's answers are available and all seeds were scored on the same vertices, those are drawn, and the interval
of each metric is that of its difference from 0 (`stats/bootstrap.py`). Other rows have Student's interval over seeds.

A run draws once, at its end, and keeps what it drew in its folder (`folder.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lgl_bench.core.errors import LglBenchError
from lgl_bench.grading.labels import Labels
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.build import Intervals
from lgl_bench.leaderboard.compare.answers import Answers, Run, SharedTasks, load_answers, shared
from lgl_bench.leaderboard.pooled import REGRET, is_oracle
from lgl_bench.leaderboard.stats import bootstrap
from lgl_bench.leaderboard.stats.bootstrap import Resampled, drawable, resample
from lgl_bench.leaderboard.stats.resampled import is_random
from lgl_bench.leaderboard.stats.student import MIN_SEEDS
from lgl_bench.runs.records import DamagedError

SEED = 0
_SAME = 1e-6
_STREAM, _CHECKSUM, _SPLIT, _TRACK, _THRESHOLD = (
    KEY.index(name) for name in ("stream", "stream_checksum", "split", "track", "threshold")
)

Cells = tuple[str, ...]
"""The cells `KEY` of a method."""
Drawn = dict[str, Resampled]
"""Metrics of a method."""


def draw_intervals(
    run: Run,
    labels: Mapping[tuple[str, str], Labels],
    draws: int = bootstrap.DRAWS,
    seed: int = SEED,
    remember: Callable[[Run, SharedTasks, Mapping[Cells, Drawn]], None] | None = None,
) -> Intervals:
    """The intervals of every row that can be drawn, for every metric that can be.

    A row has none if its seeds split anew, if there are fewer than three of them or not all have answered the
    same tasks, and if the answers do not give the numbers of the row.

    Args:
        run: With its year rows and answers.
        labels: Of streams, by name and checksum; rows on others have no interval of their own.
        draws: How many.
        seed: Of the draws.
        remember: Is handed all that was drawn, for others to use.
    """
    if not len(run.years):
        return {}
    groups: dict[tuple[tuple[str, str], SharedTasks], list[Cells]] = defaultdict(list)
    for cells in run.by_method:
        place, plan = (cells[_STREAM], cells[_CHECKSUM]), shared([(run, cells)])
        if (
            place in labels
            and not is_random(cells[_SPLIT])
            and len(plan.seeds) >= MIN_SEEDS
            and plan.tasks
            and not plan.left_out
        ):
            groups[place, plan].append(cells)
    found: dict[Cells, dict[str, tuple[float, float]]] = {}
    for (place, plan), methods in groups.items():
        drawn = _drawn(run, methods, plan, labels[place], draws, seed)
        if remember is not None:
            remember(run, plan, drawn)
        for cells, metrics in drawn.items():
            kept = {name: one for name, one in metrics.items() if _is_row(run, cells, name, one, plan)}
            ends = {name: bootstrap.interval(one) for name, one in kept.items()}
            found[cells] = {name: pair for name, pair in ends.items() if not np.isnan(pair).any()}
    return found


def _drawn(
    run: Run, methods: Sequence[Cells], plan: SharedTasks, labels: Labels, draws: int, seed: int
) -> dict[Cells, Drawn]:
    """Metrics of methods that share seeds and tasks; none if an answer or a label is missing."""
    try:
        answers = load_answers(
            {cells: (run, cells) for cells in methods},
            plan,
            labels,
            fixed_split=methods[0][_SPLIT] != "temporal",
        )
    except DamagedError:
        raise
    except LglBenchError:
        return {}
    found = _draw_without_decisions(answers, draws, seed)
    decided = {cells: sheets for cells, sheets in answers.sheets.items() if sheets[0].rejected is not None}
    for cells, drawn in resample(answers.cuts, decided, drawable(decisions=True), draws, seed).items():
        found[cells] |= drawn
    with_mcc = {cells: drawn for cells, drawn in found.items() if "mcc" in drawn}
    oracles = {_base(cells): drawn["mcc"] for cells, drawn in with_mcc.items() if is_oracle(cells[_THRESHOLD])}
    for cells, drawn in with_mcc.items():
        if _base(cells) in oracles:
            drawn[REGRET] = _less(oracles[_base(cells)], drawn["mcc"])
    return found


def _draw_without_decisions(answers: Answers, draws: int, seed: int) -> dict[Cells, Drawn]:
    """Metrics without a decision: rows that differ in their threshold alone are drawn once."""
    one = {_base(cells): sheets for cells, sheets in answers.sheets.items()}
    drawn = resample(answers.cuts, one, drawable(decisions=False), draws, seed)
    return {cells: dict(drawn[_base(cells)]) for cells in answers.sheets}


def _base(cells: Cells) -> Cells:
    """What methods share that differ in their threshold alone; one that sees more has a track of its own."""
    return tuple(cell for at, cell in enumerate(cells) if at not in (_TRACK, _THRESHOLD))


def _less(a: Resampled, b: Resampled) -> Resampled:
    """A - b, drawn together."""
    return Resampled(a.points - b.points, a.tasks - b.tasks, a.draws - b.draws, min(a.df, b.df))


def _is_row(run: Run, cells: Cells, metric: str, one: Resampled, plan: SharedTasks) -> bool:
    """Whether the answers give the numbers of the row."""
    recorded = run.per_seed(cells, metric)
    return recorded.keys() == set(plan.seeds) and all(
        abs(recorded[seed] - value) <= _SAME for seed, value in zip(plan.seeds, one.points, strict=True)
    )
