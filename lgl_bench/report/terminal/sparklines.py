"""Small lines over the years, of signs that any terminal has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from lgl_bench.grading.row_key import KEY

_STEPS = "▁▂▃▄▅▆▇█"
_GAP = "·"
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


def _text(frame: pd.DataFrame, name: str) -> pd.Series[str]:
    column = frame[name] if name in frame else pd.Series("", index=frame.index)
    return column.astype(object).where(column.notna(), "").astype(str)


def sparklines(frame: pd.DataFrame, years: pd.DataFrame | None) -> list[str]:
    """The AUROC of each year of each row; lines of one stream share their range, so they may be compared.

    Args:
        frame: Leaderboard rows.
        years: Year rows, as `years.parquet` holds them; None if there are none.
    """
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
