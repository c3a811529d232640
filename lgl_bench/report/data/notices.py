"""What a reader must know before believing a table: stand-ins, few seeds, failures; and where the rows come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lgl_bench.leaderboard.budget_notes import budget_notes
from lgl_bench.leaderboard.compare.standing import INCOMPLETE
from lgl_bench.leaderboard.floor import NO
from lgl_bench.leaderboard.table.names import MADE_WITH, Fact
from lgl_bench.leaderboard.table.schema import PLACE
from lgl_bench.report.data.rows import ShownRow
from lgl_bench.report.data.sources import ReportInput

_VERSIONS = (*(name for name in MADE_WITH if name != Fact.CREATED_AT), Fact.CREATED_AT)


def notices(sources: Sequence[ReportInput], rows: Sequence[ShownRow]) -> list[str]:
    """Sentences, the gravest first."""
    found = []
    if not rows:
        found.append("There are no rows to show: the run has not finished a single method yet.")
    stand_ins = sorted({str(name) for one in sources if one.plan for name in one.plan.stand_ins})
    if stand_ins:
        found.append(
            f"Synthetic twins stand in for {', '.join(stand_ins)}: these numbers say nothing about the real streams."
        )
    failed = [row for row in rows if row.figures["accuracy"].mean is None and row.figures[row.ranks_by].mean is None]
    if rows and len(failed) == len(rows):
        found.append("No row has a result: every one failed or is undefined. Its reason stands in each cell.")
    elif failed:
        found.append(f"{len(failed)} of {len(rows)} rows have no result; each cell says why.")
    why = Counter(row.figures[row.ranks_by].reason for row in failed).most_common(3)
    found += [f"Reason of {count} rows: {reason}" for reason, count in why if reason]
    found += _floor(rows)
    cut_short = sum(row.word == INCOMPLETE for row in rows)
    if cut_short:
        found.append(f"{cut_short} of {len(rows)} rows are incomplete and have no rank: fits failed, as each row says.")
    seeds = max((row.figures[row.ranks_by].n_seeds or 0 for row in rows), default=0)
    if rows and len(failed) < len(rows) and seeds < 3:
        count = "A single seed stands" if seeds == 1 else "Two seeds stand"
        count = f"{count} behind each row" if seeds else "How many seeds stand behind each row is unknown"
        found.append(f"{count}: there are no intervals, and a lead may be luck.")
    if rows and all(row.curve is not None and row.curve.over_years and len(row.curve.at) == 1 for row in rows):
        found.append("There is a single year: nothing can be drawn over time.")
    places = [(dict(zip(PLACE, row.place.values, strict=True)), row.backbone) for row in rows]
    found += budget_notes(
        (place["budget"], int(place["budget_version"] or 0), place["stream"], backbone) for place, backbone in places
    )
    return [*found, *(note for one in sources for note in one.notes)]


def _floor(rows: Sequence[ShownRow]) -> list[str]:
    """What is not above the floor, and which places have no floor."""
    methods = [row for row in rows if not row.threshold and not row.label and row.rank is not None]
    below = sum(row.above_floor == NO for row in methods)
    found = []
    if below:
        found.append(
            f"{below} of {len(methods)} rows of detectors do not beat the best of random, degree and recency beyond "
            "noise; they are marked '≤ floor'."
        )
    with_floor = {row.place for row in rows if row.label == "floor"}
    without = dict.fromkeys(row.place.label for row in methods if row.place not in with_floor)
    if without:
        found.append(f"No row of random, degree or recency: nobody knows what is learned on {', '.join(without)}.")
    return found


def runs_of(sources: Sequence[ReportInput]) -> list[dict[str, str]]:
    """Of each input, what it was made with."""
    found = []
    for one in sources:
        made = {"input": one.name}
        if one.plan:
            suite = one.plan.suite
            made["suite"] = f"{suite.get('name', '')}, version {suite.get('version', '')}"
            made["budget"] = one.plan.budget
            made["seeds"] = str(one.plan.seeds)
        provenance = one.plan.provenance if one.plan else {}
        for name in _VERSIONS:
            values = [provenance[name]] if provenance.get(name) else []
            if not values and name in one.board:
                values = sorted({value for value in one.board[name] if value})
            if values:
                made[name.replace("_", " ")] = ", ".join(values[:3])
        found.append(made)
    return found
