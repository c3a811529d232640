"""A comparison in the terminal: the verdict first, then a table per stream and metric, what differs first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from lgl_bench.core.grammar import without_values
from lgl_bench.leaderboard.compare.boards import Comparison
from lgl_bench.leaderboard.compare.questions import EXPLAINED
from lgl_bench.leaderboard.compare.standing import (
    BETTER,
    INCONCLUSIVE,
    TIE,
    UNDEFINED,
    UNTESTED,
    WORSE,
    seeds_lacking,
    word_of,
)
from lgl_bench.leaderboard.short_names import BESIDE, short_names
from lgl_bench.leaderboard.stats.signflip import LABEL
from lgl_bench.leaderboard.strategy_names import differ_in_strategy
from lgl_bench.report.terminal.board import View
from lgl_bench.report.terminal.layout import Column, laid_out, sentences

_WORDS = (BETTER, WORSE, INCONCLUSIVE, TIE, UNTESTED, UNDEFINED)
_LISTED = 10
_METHOD = ("stream", "strategy", "backbone", "detector", "threshold")
_READ = (
    "The verdict is on b. p and the interval are adjusted by Holm within stream and metric: the interval leaves out 0 "
    "if p is below 5 %. Inconclusive: as many more seeds as said would find the difference, if it stays as it is; tie: "
    "not with a hundred in all."
)
_YEARS = f"years p: sign-flip test over years ({LABEL}; not part of the verdict)."


def comparison_text(found: Comparison, view: View, *, everything: bool = False) -> str:
    """All of a comparison; no line is wider than the view.

    Args:
        found: What came of it.
        view: How it is shown.
        everything: Whether rows that cannot differ are shown too.
    """
    rows = found.rows.assign(word=found.rows["verdict"].map(word_of))
    same = rows["same"].astype(bool)
    kept = rows if everything else rows[~same]
    blocks = [_verdicts(found, kept, len(rows) - len(kept), view)]
    blocks.append("\n".join(sentences(f"[{at}] {name}", view.width) for at, name in enumerate(found.boards, 1)))
    # A table without any value would be one of dashes; the verdict counts its rows, and the notes say why.
    tables = [part for _, part in _tables(kept) if part["difference"].notna().any()]
    blocks += [_table(part, len(found.boards) > 2, view) for part in tables]
    blocks += [_reading(kept, view)] if len(kept) else []
    blocks += [*_refused(found, view), *_only(found, view)]
    blocks += [_across(entry, view) for entry in found.across]
    return "\n\n".join(blocks)


def _verdicts(found: Comparison, rows: pd.DataFrame, left_out: int, view: View) -> str:
    """The counts of each metric, and what is left out."""
    lines = []
    for (_, metric), part in rows.groupby(["b", "metric"], sort=False):
        side = (
            f"[{int(part['b'].iloc[0]) + 1}] against [1]" if not (part["against"] != "").any() else "against the best"
        )
        lines.append(f"{metric}, {side}: {counted(part['word'].tolist())}")
    if not lines:
        lines.append("no difference" if left_out else "nothing could be compared")
    if left_out:
        rest = "1 row is" if left_out == 1 else f"{left_out} rows are"
        lines.append(f"{rest} left out that cannot differ: one model, or the same answers; --all shows them")
    return "\n".join(sentences(line, view.width) for line in lines)


def counted(words: Sequence[str]) -> str:
    """Verdicts, counted.

    >>> counted(["worse", "inconclusive", "better", "worse"])
    '1 better, 2 worse, 1 inconclusive'
    """
    counts = {word: sum(one == word for one in words) for word in _WORDS}
    named = {TIE: "ties" if counts[TIE] > 1 else TIE}
    return ", ".join(f"{count} {named.get(word, word)}" for word, count in counts.items() if count)


def _tables(rows: pd.DataFrame) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Rows of one table: a board, a stream, a metric, and what they are set against."""
    order = rows["word"].map({word: at for at, word in enumerate(_WORDS)})
    ordered = rows.assign(_order=order).sort_values("_order", kind="stable")
    # Tables in the order of the rows, rows in the order of their verdicts.
    keys = ["b", "stream", "metric", "against"]
    places = rows.groupby(keys, sort=False).ngroup()
    ordered = ordered.assign(group=places.reindex(ordered.index))
    yield from ordered.groupby("group", sort=True)


def _table(rows: pd.DataFrame, several: bool, view: View) -> str:
    first = rows.iloc[0]
    names = short_names(rows, full=view.full)
    against = str(first["against"]) if view.full else " ".join(map(without_values, str(first["against"]).split()))
    columns = [name for name in ("threshold", "detector", "strategy", "backbone") if _distinguishes(rows, name)]
    # What all rows share, but for what the first column names, is said once.
    shared = [name for name in columns[1:] if len(rows) > 1 and names[name].nunique() == 1]
    place = [str(first["stream"]), *([f"board [{int(first['b']) + 1}]"] if several else []), str(first["metric"])]
    place += [f"on {', '.join(names[name].iloc[0] for name in shared)}"] if shared else []
    heading = f"{', '.join(place)}{f', against {against}' if against else ''}: {counted(rows['word'].tolist())}"
    shown = rows if view.top is None else rows.head(view.top)
    kept = [*(name for name in columns if name not in shared), BESIDE]
    lines = [sentences(heading, view.width), *laid_out(_columns(shown, names.loc[shown.index, kept]), view.width)]
    if len(shown) < len(rows):
        lines.append(sentences(f"... {len(rows) - len(shown)} more rows; {view.hint}", view.width))
    return "\n".join(lines)


def _columns(rows: pd.DataFrame, names: pd.DataFrame) -> list[Column]:
    records = rows.to_dict("records")
    found = [
        Column("b - a", [_signed(row["difference"]) for row in records], right=True, needed=True),
        Column("95 %", [_interval(row) for row in records], right=True),
        Column("verdict", rows["word"].tolist(), needed=True),
    ]
    if rows["lo_holm"].isna().all():
        del found[1]
    if (rows["word"] == INCONCLUSIVE).any():
        lacking = rows["verdict"].map(seeds_lacking).tolist()
        found.append(Column("more_seeds", lacking, right=True, needed=True))
        found[-1].fold_header()
    found += [Column(str(name), names[name].tolist(), needed=True) for name in names if name != BESIDE]
    if (names[BESIDE] != "").any():
        found.append(Column("note", names[BESIDE].tolist(), needed=True))
    figures = {"a": "a_mean", "b": "b_mean", "p": "p_holm", "years p": "years_p"}
    for header, column in figures.items():
        if rows[column].notna().any():
            found.append(Column(header, [_plain(row[column]) for row in records], right=True))
    return found


def _distinguishes(rows: pd.DataFrame, name: str) -> bool:
    if name == "threshold":
        return bool((rows[name] != "").any())
    return differ_in_strategy(rows) if name == "strategy" else True


def _signed(value: float) -> str:
    return "-" if pd.isna(value) else f"{value:+.3f}"


def _plain(value: float) -> str:
    return "-" if pd.isna(value) else f"{value:.3f}"


def _interval(row: dict[Any, Any]) -> str:
    return "-" if pd.isna(row["lo_holm"]) else f"[{row['lo_holm']:+.3f}, {row['hi_holm']:+.3f}]"


def _reading(rows: pd.DataFrame, view: View) -> str:
    """How to read the tables, which tests were made, and notes."""
    lines = [_READ, *([_YEARS] if rows["years_p"].notna().any() else [])]
    lines += [f"{test}: {EXPLAINED[test]}" for test in dict.fromkeys(rows["test"])]
    by_note = rows[rows["note"] != ""].groupby("note", sort=False)
    lines += [f"note on {len(part)} of {len(rows)}: {note}" for note, part in list(by_note)[:_LISTED]]
    if by_note.ngroups > _LISTED:
        lines.append(f"... {by_note.ngroups - _LISTED} more notes; --json has them all")
    return "\n".join(sentences(line, view.width) for line in lines)


def _refused(found: Comparison, view: View) -> list[str]:
    if found.refused.empty:
        return []
    lines = [f"not comparable: {len(found.refused)} rows"]
    parts = found.refused.groupby("why", sort=False)
    for why, part in list(parts)[:_LISTED]:
        lines.append(f"  {len(part)} rows, such as {_method(part.iloc[0], view)}: {why}")
    if parts.ngroups > _LISTED:
        lines.append(f"  ... {parts.ngroups - _LISTED} more reasons; --json has them all")
    return ["\n".join(_indented(line, view) for line in lines)]


def _only(found: Comparison, view: View) -> list[str]:
    blocks = []
    for board in sorted(set(found.only["board"])):
        part = found.only[found.only["board"] == board]
        lines = [f"only in [{board + 1}]: {len(part)} rows"]
        lines += [f"  {_method(row, view)}" for _, row in part.head(_LISTED).iterrows()]
        if len(part) > _LISTED:
            lines.append(f"  ... {len(part) - _LISTED} more; --json has them all")
        blocks.append("\n".join(_indented(line, view) for line in lines))
    return blocks


def _method(row: Any, view: View) -> str:
    cells = [str(row[name]) for name in _METHOD]
    return " ".join(filter(None, cells if view.full else map(without_values, cells)))


def _indented(line: str, view: View) -> str:
    inner = line.lstrip(" ")
    space = " " * (len(line) - len(inner))
    return "\n".join(space + part for part in sentences(inner, view.width - len(space)).split("\n"))


def _across(entry: dict[str, Any], view: View) -> str:
    result = entry["reason"]
    if entry.get("friedman_p") is not None:
        result = f"Friedman's test p {entry['friedman_p']:.3f}; pairs by Wilcoxon's test, adjusted by Holm"
    place = f"{entry['kind']} ({len(entry['streams'])}), {entry['metric']}, suite {entry['suite']}, {entry['split']}"
    place += f", budget {entry['budget']} {entry['budget_version']}"
    lines = [sentences(f"across {place}{': ' + result if result else ''}", view.width)]
    if len(entry["streams"]) < 2:
        return lines[0]
    ranks = entry["ranks"] if view.top is None else entry["ranks"][: view.top]
    if ranks:
        columns = [Column("mean rank", [f"{row['mean_rank']:.3f}" for row in ranks], right=True, needed=True)]
        columns.append(Column("method", [row["method"] for row in ranks], needed=True))
        lines += laid_out(columns, view.width)
    if len(ranks) < len(entry["ranks"]):
        lines.append(f"... {len(entry['ranks']) - len(ranks)} more methods; {view.hint}")
    if entry["left_out"]:
        several = "left out, because a stream has several variants of each"
        lines.append(sentences(f"{several}: {', '.join(entry['left_out'][:_LISTED])}", view.width))
    lines += [sentences(f"not told apart: {', '.join(bar)}", view.width) for bar in entry.get("bars", [])]
    return "\n".join(lines)
