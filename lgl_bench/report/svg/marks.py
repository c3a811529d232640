"""Small drawings that stand in a cell of a table: an interval, and the way of a value over the years."""

from __future__ import annotations

from collections.abc import Sequence

from lgl_bench.report.svg.elements import Scale, path, tag, text


def interval(mean: float, lo: float | None, hi: float | None, low: float, high: float) -> str:
    """A mean as a dot with its interval as a bar, on the range that all rows of a place share, in percent of it.

    The style sheet draws it: a board has thousands, and a drawing for each would be most of the page.

    >>> interval(0.5, 0.4, 0.7, 0.0, 1.0)
    '<i style="--m:50;--l:40;--w:30"></i>'
    """
    at = Scale(low, high, 0, 100)
    parts = [f"--m:{at(mean):.0f}"]
    if lo is not None and hi is not None:
        left = at(max(lo, low))
        parts += [f"--l:{left:.0f}", f"--w:{max(at(min(hi, high)) - left, 1.0):.0f}"]
    return f'<i style="{";".join(parts)}"></i>'


def spark(values: Sequence[float | None], low: float, high: float, tooltip: str) -> str:
    """A value over the years, without axes; years without a value are left out, as gaps would be longer than lines."""
    width, height = 74.0, 20.0
    across = Scale(0, max(len(values) - 1, 1), 3, width - 3)
    up = Scale(low, high, height - 3, 3)
    points = [(across(at), up(value)) for at, value in enumerate(values) if value is not None]
    if not points:
        return ""
    parts = [tag("title", text(tooltip))]
    if len(points) > 1:
        parts.append(tag("path", d=path(points)))
    parts.append(tag("circle", cx=points[-1][0], cy=points[-1][1], r=2))
    return tag("svg", *parts, viewBox=f"0 0 {width:g} {height:g}", class_="spark", role="img")
