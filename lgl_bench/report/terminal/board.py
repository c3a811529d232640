"""A leaderboard in the terminal: a heading per stream, detectors and decisions apart, what ranks first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from lgl_bench.leaderboard import text_tables
from lgl_bench.leaderboard.compare.standing import INCOMPLETE, INCONCLUSIVE, TIE, UNTESTED, word_of
from lgl_bench.leaderboard.floor import NO, is_floor, label
from lgl_bench.leaderboard.place_labels import place_labels
from lgl_bench.leaderboard.short_names import BESIDE, short_names
from lgl_bench.leaderboard.strategy_names import differ_in_strategy
from lgl_bench.leaderboard.table.names import Fact, metric_column
from lgl_bench.leaderboard.table.schema import DECISIONS, PLACE
from lgl_bench.leaderboard.values import ranking_metrics
from lgl_bench.report.terminal.layout import Column, laid_out, sentences
from lgl_bench.report.terminal.sparklines import sparklines

_UPPER_BOUND = "upper bound"
_TRACK = PLACE.index("track")


@dataclass(frozen=True, slots=True)
class View:
    """How a board is shown.

    Attributes:
        width: Of the terminal.
        top: Only so many rows of a table, and the floor; None for all.
        full: Whether names have all their values.
        rank_by: The metric that ranks, if it is not the usual one.
        hint: How to see the rows that are left out.
    """

    width: int
    top: int | None = None
    full: bool = False
    rank_by: str | None = None
    hint: str = "--all shows them"


@dataclass(frozen=True, slots=True)
class Section:
    """Rows of one table: those of a place with a threshold, or those without."""

    label: str
    decided: bool
    rows: pd.DataFrame


def board_text(frame: pd.DataFrame, metrics: Sequence[str], years: pd.DataFrame | None, view: View) -> str:
    """Ranked rows, place by place, and what the marks mean; no line is wider than the view.

    Args:
        frame: Rows as `ranked` returns them.
        metrics: Which to show beside what ranks; one that no row of a table has is left out there.
        years: Year rows, for a sparkline; None if there are none.
        view: How.
    """
    if not len(frame):
        return "no rows"
    frame = frame.reset_index(drop=True)
    named = frame.assign(**{f"_{name}": cells for name, cells in short_names(frame, full=view.full).items()})
    named = named.assign(_years=sparklines(frame, years))
    tables = [_table(section, metrics, view) for section in sections(named)]
    marks = legend("\n".join(tables), frame)
    return "\n\n".join([*tables, *([sentences(marks, view.width)] if marks else [])])


def sections(frame: pd.DataFrame) -> Iterator[Section]:
    """The tables of a board: of each place its detectors, then its decisions, the upper bound among them."""
    cells = [tuple(map(str, key)) for key in frame[list(PLACE)].itertuples(index=False, name=None)]
    tracks: dict[tuple[str, ...], str] = {}
    for key in cells:
        if key[_TRACK] != _UPPER_BOUND:
            tracks.setdefault(_without_track(key), key[_TRACK])
    places = pd.Series(
        [
            (*key[:_TRACK], tracks.get(_without_track(key), key[_TRACK]), *key[_TRACK + 1 :])
            if key[_TRACK] == _UPPER_BOUND
            else key
            for key in cells
        ],
        index=frame.index,
    )
    labels = place_labels(places)
    for place in dict.fromkeys(places):
        here = frame[places == place]
        for decided in (False, True):
            rows = here[(here["threshold"] != "") == decided]
            if len(rows):
                yield Section(labels[place], decided, rows)


def _without_track(key: tuple[str, ...]) -> tuple[str, ...]:
    return key[:_TRACK] + key[_TRACK + 1 :]


def _table(section: Section, metrics: Sequence[str], view: View) -> str:
    rows = section.rows
    by = str(ranking_metrics(rows, view.rank_by)[0])
    shown = rows if view.top is None else rows[_among_first(rows, view.top)]
    names, shared = _names(section)
    lines = [sentences(_heading(section, by, shared), view.width)]
    lines += laid_out(_columns(shown, names, _metrics(shown, section, metrics, by)), view.width)
    if len(shown) < len(rows):
        lines.append(sentences(f"... {len(rows) - len(shown)} more rows; {view.hint}", view.width))
    return "\n".join(lines)


def _names(section: Section) -> tuple[list[str], list[str]]:
    """Columns of names, what distinguishes rows first; and what all rows share, which the heading says once."""
    names = (["threshold"] if section.decided else []) + ["detector"]
    names += (["strategy"] if differ_in_strategy(section.rows) else []) + ["backbone"]
    first, rest = names[0], names[1:]
    shared = [name for name in rest if len(section.rows) > 1 and section.rows[f"_{name}"].nunique() == 1]
    values = [str(section.rows[f"_{name}"].iloc[0]) for name in shared]
    return [first, *(name for name in rest if name not in shared)], values


def _heading(section: Section, by: str, shared: Sequence[str]) -> str:
    rows = section.rows
    words = rows["standing"].map(word_of)
    count, kind = len(rows), "decision" if section.decided else "row"
    what = " ".join([f"{count} {kind}{'' if count == 1 else 's'}", *(["on", ", ".join(shared)] if shared else [])])
    parts = [f"{section.label}: {what}{f' ranked by {by}' if count > 1 else ''}"]
    alike = int(words.isin([TIE, INCONCLUSIVE]).sum())
    untested, failed = int((words == UNTESTED).sum()), int((words == INCOMPLETE).sum())
    parts += [f"{alike} not told apart from the best"] if alike else []
    parts += [f"{untested} not tested against the best"] if untested else []
    parts += [f"{failed} incomplete"] if failed else []
    if rows[metric_column(by, "mean")].isna().all():
        reasons = [str(reason) for reason in dict.fromkeys(rows[metric_column(by, "reason")]) if reason]
        parts.append(f"none has a value ({'; '.join(reasons[:2]) or 'no reason is given'})")
    return ", ".join(parts)


def _among_first(rows: pd.DataFrame, top: int) -> pd.Series[bool]:
    """The first rows by rank, the best floor row, and what decisions are held against."""
    first = (rows["rank"] <= top).fillna(False).astype(bool)
    if not first.any():
        first = pd.Series([at < top for at in range(len(rows))], index=rows.index)
    floor = pd.Series(is_floor(rows), index=rows.index) & rows["rank"].notna()
    first |= floor & (floor.cumsum() == 1)
    roles = [bool(label(*cells)) for cells in zip(rows["detector"], rows["threshold"], strict=True)]
    return first | (pd.Series(roles, index=rows.index) & (rows["threshold"] != ""))


def _metrics(rows: pd.DataFrame, section: Section, metrics: Sequence[str], by: str) -> list[str]:
    """What ranks, then what was asked for; of decisions, what they consist of comes before what their detector has."""
    asked = list(dict.fromkeys([by, *metrics]))
    if section.decided:
        asked.sort(key=lambda name: (name != by, name not in DECISIONS))
    return [name for name in asked if rows[metric_column(name, "mean")].notna().any()]


def _columns(rows: pd.DataFrame, names: Sequence[str], metrics: Sequence[str]) -> list[Column]:
    records = rows.to_dict("records")
    figures = [
        Column(
            name,
            [text_tables.figure(row, name) for row in records],
            right=True,
            narrow=[text_tables.figure(row, name, interval=False) for row in records],
            needed=at == 0,
        )
        for at, name in enumerate(metrics)
    ]
    found = [Column("rank", [text_tables.rank(row) for row in records], right=True, needed=True), *figures[:1]]
    found += [Column(name, rows[f"_{name}"].tolist(), needed=True) for name in names]
    notes = ["; ".join(filter(None, (text_tables.note(row), row[f"_{BESIDE}"]))) for row in records]
    if rows[Fact.TRUST].nunique() > 1:
        found.append(Column(Fact.TRUST, rows[Fact.TRUST].tolist()))
    if any(notes):
        found.append(Column("note", notes, needed=True))
    found += figures[1:]
    if any(rows["_years"]):
        found.append(Column("over the years", rows["_years"].tolist()))
    return found


def legend(tables: str, frame: pd.DataFrame) -> str:
    """What the marks mean that stand in some tables."""
    words = set(frame["standing"].map(word_of))
    used = {
        "~": TIE in words,
        "?n": INCONCLUSIVE in words,
        "?": UNTESTED in words,
        "_": bool((frame[Fact.ABOVE_FLOOR] == NO).any()),
        "-": any(cell == "-" for cell in tables.split()),
    }
    found = [text_tables.MARKS[sign] for sign, is_used in used.items() if is_used]
    return f"{'; '.join(found)}." if found else ""
