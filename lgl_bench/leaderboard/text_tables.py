"""Ranked rows as a table, Markdown, LaTeX or JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from lgl_bench.leaderboard.compare.standing import INCOMPLETE, INCONCLUSIVE, TIE, UNTESTED, seeds_lacking, word_of
from lgl_bench.leaderboard.floor import NO, label
from lgl_bench.leaderboard.ranking import ADDED
from lgl_bench.leaderboard.strategy_names import differ_in_strategy, shown_strategy
from lgl_bench.leaderboard.table.names import Fact, metric_column
from lgl_bench.leaderboard.table.rows import rows_of
from lgl_bench.leaderboard.table.schema import DECISIONS
from lgl_bench.leaderboard.values import detector_metrics, direction

NAMES = ("stream", "strategy", "backbone", "detector", "threshold")
VARYING = ("split", "budget", "budget_version", "suite", Fact.TRUST)
MARKS = {
    "~": "~ tie: not told apart from the best of its group (Holm, 5 %; from the answers of a run folder or the tests "
    "beside a CSV, else by Welch's t over seeds)",
    "?n": "?n inconclusive: n more seeds would tell it from the best if the difference stays",
    "?": "? fewer than three seeds",
    "_": "_ does not beat random, degree and recency beyond noise",
    "-": "- undefined, --json says why",
}
"""What the signs beside a rank and in cells mean."""
LEGEND = f"{'; '.join(MARKS.values())}."
NOT_ABOVE_FLOOR = "_"
TILDE = r"\sim"
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def default_metrics(frame: pd.DataFrame) -> tuple[str, ...]:
    """What a table of these rows shows: accuracy, what ranks them, and what stands beside decisions."""
    found = ["accuracy", *dict.fromkeys(detector_metrics(frame))]
    if differ_in_strategy(frame):
        found += [name for name in ("forgetting", "emergence") if _has(frame, name)]
    if (frame["threshold"] != "").any():
        # What no row has, such as regret without the oracle, is left out; what ranks stays.
        found += [name for name in DECISIONS if name == DECISIONS[0] or _has(frame, name)]
    return tuple(found)


def _has(frame: pd.DataFrame, name: str) -> bool:
    mean = metric_column(name, "mean")
    return mean in frame and bool(frame[mean].notna().any())


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """One dictionary per row for JSON: rank, standing, key, metrics with their reasons, facts. NaN becomes None."""
    added = frame[[name for name in ADDED if name in frame]].astype(object)
    places = added.where(added.notna(), None).to_dict("records")
    found = []
    for place, row in zip(places, rows_of(frame), strict=True):
        entry: dict[str, Any] = {str(name): value for name, value in place.items()}
        metrics = {name: dict(figures) for name, figures in row.metrics.items()}
        found.append(entry | dict(row.key) | {"metrics": metrics} | dict(row.facts))
    return found


def cells(frame: pd.DataFrame, metrics: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of text: rank with its mark, names that say something, and each metric with its interval."""
    hidden = {"threshold": not (frame["threshold"] != "").any(), "strategy": not differ_in_strategy(frame)}
    names = [name for name in NAMES if not hidden.get(name)]
    names += [name for name in VARYING if frame[name].nunique() > 1]
    records = frame.to_dict("records")
    notes = [note(row) for row in records]
    names += ["note"] if any(notes) else []
    rows = []
    for row, row_note in zip(records, notes, strict=True):
        cells_of = {**row, "note": row_note, "strategy": shown_strategy(row["strategy"])}
        rows.append([rank(row), *(str(cells_of[name]) for name in names), *(figure(row, name) for name in metrics)])
    return ["rank", *names, *metrics], rows


def rank(row: Mapping[Any, Any]) -> str:
    """The rank of a row with its marks; a dash if it has none."""
    place = "-" if pd.isna(row["rank"]) else f"{row['rank']}{mark(row['standing'])}"
    return place + (NOT_ABOVE_FLOOR if row[Fact.ABOVE_FLOOR] == NO else "")


def mark(standing: str) -> str:
    """The sign beside a rank.

    >>> mark("tie"), mark("inconclusive (14 more seeds)"), mark("untested"), mark("behind")
    ('~', '?14', '?', '')
    """
    word = word_of(standing)
    return f"?{seeds_lacking(standing)}" if word == INCONCLUSIVE else {TIE: "~", UNTESTED: "?"}.get(word, "")


def note(row: Mapping[Any, Any]) -> str:
    """The role of a row, and what failed if it is incomplete."""
    parts = [label(row["detector"], row["threshold"])]
    if row["standing"] == INCOMPLETE:
        parts.append(row["unranked_reason"])
    return "; ".join(filter(None, parts))


def figure(row: Mapping[Any, Any], name: str, *, interval: bool = True) -> str:
    """Mean and interval, or the mean alone; a dash for what is undefined.

    >>> figure({"mcc_mean": 0.51, "mcc_lo": 0.45, "mcc_hi": 0.57}, "mcc")
    '0.510 [0.450, 0.570]'
    """
    mean, lo, hi = (row[metric_column(name, suffix)] for suffix in ("mean", "lo", "hi"))
    if pd.isna(mean):
        return "-"
    return f"{mean:.3f}" if pd.isna(lo) or not interval else f"{mean:.3f} [{lo:.3f}, {hi:.3f}]"


def markdown(frame: pd.DataFrame, metrics: Sequence[str]) -> str:
    """A Markdown table, the best value of each group in bold, and what the marks mean."""
    header, rows = cells(frame, metrics)
    lines = [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    for row, bold in zip(rows, _bold(frame, metrics), strict=True):
        safe = [cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for cell in row]
        for at in bold:
            safe[at] = f"**{safe[at]}**"
        lines.append(f"| {' | '.join(safe)} |")
    return "\n".join([*lines, "", LEGEND]) + "\n"


def latex(frame: pd.DataFrame, metrics: Sequence[str]) -> str:
    r"""A booktabs table (`\usepackage{booktabs}`), one block per group, best values in bold, ties marked."""
    header, rows = cells(frame, metrics)
    lines = [
        r"\begin{tabular}{" + "r" + "l" * (len(header) - 1 - len(metrics)) + "r" * len(metrics) + "}",
        r"\toprule",
        " & ".join(escape(name) for name in header) + r" \\",
    ]
    before = None
    for row, bold, standing, group in zip(rows, _bold(frame, metrics), frame["standing"], frame["group"], strict=True):
        if group != before:
            lines.append(r"\midrule")
            before = group
        safe = [escape(cell) if cell != "-" else "--" for cell in row]
        number, sign = row[0].rstrip(NOT_ABOVE_FLOOR), mark(standing)
        raised = f"$^{{{sign.replace('~', TILDE)}}}$" if sign else ""
        safe[0] = number.removesuffix(sign) + raised + escape(row[0][len(number) :])
        for at in bold:
            safe[at] = rf"\textbf{{{safe[at]}}}"
        lines.append(" & ".join(safe) + r" \\")
    note = "% " + LEGEND.replace("~", r"\sim", 1)
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", note]) + "\n"


def _bold(frame: pd.DataFrame, metrics: Sequence[str]) -> list[list[int]]:
    """Of each row, the cells, counted from the end, that hold the best value of their group."""
    found: list[list[int]] = [[] for _ in range(len(frame))]
    for at, name in enumerate(metrics):
        values = direction(name) * frame[metric_column(name, "mean")]
        best = values.groupby(frame["group"]).transform("max")
        for row in (values == best).to_numpy().nonzero()[0]:
            found[int(row)].append(at - len(metrics))
    return found


def escape(text: str) -> str:
    r"""Text that LaTeX sets as it is.

    >>> escape("50% of a_b")
    '50\\% of a\\_b'
    """
    return "".join(_LATEX.get(letter, letter) for letter in text.replace("\n", " "))
