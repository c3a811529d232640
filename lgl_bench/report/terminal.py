"""Tables for the terminal: aligned, with small lines over the years, never wider than asked for."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from typing import Any

import pandas as pd

from lgl_bench.grading.row_key import KEY

_STEPS = "▁▂▃▄▅▆▇█"
_GAP = "·"
_NAMES = ("stream", "strategy", "backbone", "detector", "threshold", "note")
_MIN_WIDTHS = {"stream": 8, "strategy": 8, "backbone": 6, "detector": 10, "threshold": 8, "note": 11}
_KEYS = ("stream", *(name for name in KEY if name != "stream"))
_MAX_YEARS = 24


def sparkline(values: Sequence[float | None], low: float | None = None, high: float | None = None) -> str:
    """One sign per value, higher for more; a dot if there is none.

    >>> sparkline([0.1, None, 0.5, 0.9])
    '▁·▅█'
    """
    defined = [value for value in values if value is not None and math.isfinite(value)]
    least = min(defined, default=0.0) if low is None else low
    most = max(defined, default=0.0) if high is None else high
    signs = []
    for value in values:
        if value is None or not math.isfinite(value):
            signs.append(_GAP)
            continue
        share = 0.5 if most <= least else (value - least) / (most - least)
        signs.append(_STEPS[min(max(round(share * 7), 0), 7)])
    return "".join(signs)


def board_table(
    frame: pd.DataFrame, header: Sequence[str], rows: Sequence[Sequence[str]], years: pd.DataFrame | None, width: int
) -> str:
    """Leaderboard rows with the AUROC of each year as a sparkline; no line is wider than `width`.

    Lines of one stream share their range, so they may be compared. If there is little room, names are cut first,
    then columns are left out from the right.

    Args:
        frame: Leaderboard rows.
        header: Of the columns to show.
        rows: Their cells, one list for each row of `frame`.
        years: Year rows, as `years.parquet` holds them; None if there are none.
        width: Of the terminal.
    """
    if not len(frame):
        return "no rows"[: max(width, 0)]
    lines = _sparklines(frame, years)
    cells = {name: [_clean(row[at]) for row in rows] for at, name in enumerate(header)}
    if any(lines):
        cells["over the years"] = lines
    return "\n".join(_laid_out(cells, width))


def _laid_out(cells: dict[str, list[str]], width: int) -> list[str]:
    wide = {name: max(map(_width, (name, *column))) for name, column in cells.items()}
    for name in ("note", "threshold", "detector", "stream", "strategy", "backbone"):
        excess = _whole(wide) - width
        if name in wide and excess > 0:
            wide[name] = max(wide[name] - excess, min(wide[name], _MIN_WIDTHS[name]))
    while _whole(wide) > width and len(wide) > 1:
        wide.popitem()
    lines = []
    for row in [list(cells), *zip(*cells.values(), strict=True)]:
        shown = dict(zip(cells, row, strict=True))
        parts = [_fitted(shown[name], room, name in _NAMES or name == "over the years") for name, room in wide.items()]
        lines.append(_cut("  ".join(parts).rstrip(), width))
    return lines


def _whole(wide: dict[str, int]) -> int:
    return sum(wide.values()) + 2 * (len(wide) - 1)


def _fitted(text: str, room: int, left: bool) -> str:
    text = _cut(text, room)
    space = " " * (room - _width(text))
    return text + space if left else space + text


def _cut(text: str, room: int) -> str:
    if _width(text) <= room:
        return text
    kept = ""
    for sign in text:
        if _width(kept + sign) > room - 1:
            break
        kept += sign
    return (kept + "…")[: max(room, 0)]


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text
    )


def _clean(value: Any) -> str:
    """Text without what would move the cursor, colour the screen or turn the line round."""
    return "".join("?" if unicodedata.category(sign)[0] == "C" else sign for sign in str(value))


def _text(frame: pd.DataFrame, name: str) -> pd.Series[str]:
    column = frame[name] if name in frame else pd.Series("", index=frame.index)
    return column.astype(object).where(column.notna(), "").astype(str)


def _sparklines(frame: pd.DataFrame, years: pd.DataFrame | None) -> list[str]:
    if years is None or not len(years) or "auroc" not in years:
        return [""] * len(frame)
    keys = [name for name in _KEYS if name in frame and name in years]
    fine = years[years["status"] == "ok"] if "status" in years else years
    named = pd.DataFrame({name: _text(fine, name) for name in keys}).assign(time=fine["time"], auroc=fine["auroc"])
    means = named.groupby([*keys, "time"], sort=True)["auroc"].mean()
    streams = means.groupby("stream")
    low, high, times = streams.min(), streams.max(), named.groupby("stream")["time"].unique()
    levels: list[Any] = list(keys)
    by_row: dict[Any, Any] = {key: part.droplevel(levels) for key, part in means.groupby(level=levels)}
    lines = []
    for key in pd.DataFrame({name: _text(frame, name) for name in keys}).itertuples(index=False, name=None):
        part = by_row.get(key)
        if part is None or len(times[key[0]]) < 2:
            lines.append("")
            continue
        values = part.reindex(sorted(times[key[0]])).tolist()[-_MAX_YEARS:]
        lines.append(sparkline(values, low[key[0]], high[key[0]]))
    return lines
