"""What a run has shown, in plain sentences: who leads, how far floor and oracle are, where the user's own method is.

Nothing is computed here: ranks and standings are those of `ranked`, and `above_floor` that of the board.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from lgl_bench.leaderboard.compare.standing import (
    BEST,
    INCOMPLETE,
    INCONCLUSIVE,
    TIE,
    UNTESTED,
    seeds_lacking,
    word_of,
)
from lgl_bench.leaderboard.floor import IS_FLOOR, NO, YES, is_floor
from lgl_bench.leaderboard.pooled import is_oracle
from lgl_bench.leaderboard.short_names import BESIDE, short_names
from lgl_bench.leaderboard.strategy_names import differ_in_strategy
from lgl_bench.leaderboard.table.names import Fact, metric_column
from lgl_bench.leaderboard.values import direction, ranking_metrics
from lgl_bench.report.data.names import plugins
from lgl_bench.report.terminal.board import Section, sections

_NAMED = 3
"""So many of those that are not told apart from the best are named; the others are counted."""
Own = Mapping[str, Collection[str]]
"""Names of plugins that the user brought, by the column they stand in."""


def closing(frame: pd.DataFrame, own: Own) -> list[str]:
    """One paragraph per place.

    Args:
        frame: Rows as `ranked` returns them.
        own: Whose rows are the user's own.
    """
    if not len(frame):
        return []
    frame = frame.reset_index(drop=True)
    short = short_names(frame)
    several = differ_in_strategy(frame)
    frame = frame.assign(_name=[_named(row, several) for row in short.to_dict("records")])
    found: dict[str, tuple[list[str], list[str]]] = {}
    for section in sections(frame):
        said, mine = found.setdefault(section.label, ([], []))
        said += _oracle(section) if section.decided else [*_leader(section), *_floor(section)]
        mine += _own(section, own)
    return [f"{label}: {' '.join([*said, *mine])}" for label, (said, mine) in found.items() if said or mine]


def _named(names: Mapping[Any, str], several: bool) -> str:
    method = [names["detector"], names["backbone"]] + ([names["strategy"]] if several and names["strategy"] else [])
    first, *rest = [names["threshold"], *method] if names["threshold"] else method
    return f"{first} on {', '.join(rest)}" + (f" ({names[BESIDE]})" if names[BESIDE] else "")


def _metric(section: Section) -> str:
    return str(ranking_metrics(section.rows)[0])


def _value(row: Mapping[Any, Any], metric: str) -> float:
    return float(row[metric_column(metric, "mean")])


def _leader(section: Section) -> list[str]:
    """Who leads, and what it is not told apart from."""
    rows, metric = section.rows, _metric(section)
    leads = rows[rows["standing"] == BEST]
    if not len(leads):
        return [f"No row has a rank by {metric}."]
    best = leads.to_dict("records")[0]
    role = ", which is part of the floor," if best[Fact.ABOVE_FLOOR] == IS_FLOOR else ""
    begin = f"{best['_name']}{role} leads with {metric} {_value(best, metric):.3f}"
    words = rows["standing"].map(word_of)
    alike = rows.loc[words.isin([TIE, INCONCLUSIVE]), "_name"].tolist()
    behind, untested = int((words == "behind").sum()), int((words == UNTESTED).sum())
    if alike:
        return [f"{begin}, and is not told apart from {_listed(alike)}."]
    if untested:
        return [f"{begin}; with fewer than three seeds nothing is told apart from it."]
    others = {0: "", 1: "; the other row is behind beyond noise"}.get(
        behind, f"; all {behind} others are behind beyond noise"
    )
    return [f"{begin}{others}."]


def _listed(names: list[str]) -> str:
    first, rest = names[:_NAMED], len(names) - _NAMED
    if rest > 0:
        return f"{', '.join(first)} and {rest} more"
    return " and ".join(filter(None, (", ".join(first[:-1]), first[-1])))


def _floor(section: Section) -> list[str]:
    """How far the floor is."""
    rows, metric = section.rows, _metric(section)
    floor = rows[is_floor(rows) & rows["rank"].notna().to_numpy(dtype=bool)]
    leads = rows[rows["standing"] == BEST]
    if not len(floor) or not len(leads):
        return []
    lowest, counted = floor.to_dict("records")[0], rows[Fact.ABOVE_FLOOR].isin([YES, NO])
    beat, tested = int((rows[Fact.ABOVE_FLOOR] == YES).sum()), int(counted.sum())
    far = direction(metric) * (_value(leads.to_dict("records")[0], metric) - _value(lowest, metric))
    where = f"{far:.3f} below" if far > 0 else "at the top"
    begin = f"The floor, {lowest['_name']}, is at {_value(lowest, metric):.3f}, {where}"
    if not tested:
        return [f"{begin}; with fewer than three seeds nothing is tested against it."]
    whole = "the other row" if tested == 1 else f"{beat or 'none'} of {tested} methods"
    if tested == 1:
        return [f"{begin}; {whole} {'beats' if beat else 'does not beat'} it beyond noise."]
    return [f"{begin}; {whole} beat{'s' if beat in (0, 1) else ''} it beyond noise."]


def _oracle(section: Section) -> list[str]:
    """Who decides best, and how far the oracle is."""
    rows, metric = section.rows, _metric(section)
    leads = rows[rows["standing"] == BEST]
    if not len(leads):
        return []
    best = leads.to_dict("records")[0]
    oracle = rows[rows["threshold"].map(is_oracle) & rows[metric_column(metric, "mean")].notna()]
    if not len(oracle):
        return [f"The best decisions are those of {best['_name']} with {metric} {_value(best, metric):.3f}."]
    top = max(_value(row, metric) for row in oracle.to_dict("records"))
    far = direction(metric) * (top - _value(best, metric))
    return [
        f"The oracle, which is told the truth, decides with {metric} {top:.3f}, {far:.3f} above the best, "
        f"{best['_name']}."
    ]


def _own(section: Section, own: Own) -> list[str]:
    """Where the best row of the user's own plugins stands, and what would settle it."""
    rows, metric = section.rows, _metric(section)
    mine = rows[[_is_own(row, own, section.decided) for row in rows.to_dict("records")]]
    if not len(mine):
        return []
    row, ranked = mine.to_dict("records")[0], int(rows["rank"].notna().sum())
    if pd.isna(row["rank"]):
        return [f"Your {row['_name']} has no rank: {row['unranked_reason'] or INCOMPLETE}."]
    begin = f"Your {row['_name']} ranks {row['rank']} of {ranked} with {metric} {_value(row, metric):.3f}"
    beats = {YES: ", beats the floor beyond noise", NO: ", does not beat the floor beyond noise"}
    floor = "" if section.decided else beats.get(row[Fact.ABOVE_FLOOR], "")
    return [f"{begin}{floor}{_settled(row, rows, metric)}."]


def _is_own(row: Mapping[Any, Any], own: Own, decided: bool) -> bool:
    """Whether a row is of a plugin the user brought; among decisions only thresholds count, the rest ranks before."""
    columns = ["threshold"] if decided else ["detector", "backbone", "strategy", "head"]
    return any(name in own.get(column, ()) for column in columns for name in plugins(str(row[column])))


def _settled(row: Mapping[Any, Any], rows: pd.DataFrame, metric: str) -> str:
    """How a row stands to the best, or the best to the next, and what would settle what is open."""
    seeds = int(row[metric_column(metric, "n_seeds")] or 0)
    word, rival = word_of(row["standing"]), "the best"
    standing = row["standing"]
    if word == BEST:
        others = rows[rows["rank"].notna() & (rows["standing"] != BEST)]
        if not len(others):
            return ""
        # The best was set against every other row; what is open is how the next stands to it.
        standing, rival = others.iloc[0]["standing"], str(others.iloc[0]["_name"])
        word = word_of(standing)
    if word == INCONCLUSIVE:
        more = int(seeds_lacking(standing))
        so_many = f"{more} more {'seed' if more == 1 else 'seeds'}"
        return f", and is not told apart from {rival}: {so_many} would settle it (--seeds {seeds + more})"
    if word == TIE:
        return f", and is not told apart from {rival}; a hundred seeds would not settle it either"
    if word == UNTESTED:
        return f"; it takes three seeds to test it against {rival} (--seeds 3)"
    return (
        f", and {rival} is behind it beyond noise"
        if row["standing"] == BEST
        else f", and is behind {rival} beyond noise"
    )
