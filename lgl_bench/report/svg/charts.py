"""Line, bar and dot charts as inline SVG: they need no script, follow the page's scheme and speak to readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lgl_bench.report.svg.elements import Scale, cut, label, log_ticks, marker, path, tag, text, ticks

WIDTH, HEIGHT = 400.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 12.0, 14.0, 40.0
COLOURS = 7
BROAD = 470.0
_MARKED = 40


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a series: where, its tooltip, the band around it, and the word beside it."""

    x: float
    y: float
    tooltip: str
    lo: float | None = None
    hi: float | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """What is drawn in one colour."""

    name: str
    dots: Sequence[Dot]
    colour: int
    kind: Literal["line", "bars", "dots"] = "line"
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing with its legend: a small drawing and a name for each series; `width` if it keeps its size."""

    title: str
    svg: str
    legend: tuple[tuple[str, str], ...] = ()
    width: float = 0.0

    @property
    def broad(self) -> bool:
        """Whether it needs more than a column of the page."""
        return self.width > BROAD


@dataclass(frozen=True, slots=True)
class Axes:
    """How a chart is framed.

    Attributes:
        x: Words under it.
        y: Words at its left, drawn above the axis.
        names: Of the positions 0, 1, ... if x is no number.
        marks: Positions that are shaded, each with its tooltip.
        y_range: Fixed range; from the data otherwise.
        whole: Whether x are whole numbers, such as years.
        log_x: Whether x is logarithmic.
        log_y: Whether y is.
    """

    x: str
    y: str
    names: Sequence[str] = ()
    marks: Sequence[tuple[float, str]] = ()
    y_range: tuple[float, float] | None = None
    whole: bool = False
    log_x: bool = False
    log_y: bool = False


def chart(title: str, described: str, series: Sequence[Series], axes: Axes) -> Chart:
    """Draws series in one frame."""
    shown = [one for one in series if one.dots]
    xs, ys = _scales(shown, axes)
    parts = [tag("title", text(title)), tag("desc", text(described)), _grid(xs, ys, axes)]
    parts += [_mark(xs, at, tooltip) for at, tooltip in axes.marks if xs.low <= at <= xs.high]
    bars = [one for one in shown if one.kind == "bars"]
    parts += [_bars(one, xs, ys, place, len(bars)) for place, one in enumerate(bars)]
    parts += [_band(one, xs, ys) for one in shown if one.kind == "line"]
    parts += [_line(one, xs, ys) for one in shown if one.kind != "bars"]
    whole = svg(WIDTH, HEIGHT, *parts)
    return Chart(title, whole, tuple((_sample(one), one.name) for one in shown if one.name))


def _sample(one: Series) -> str:
    """A series as its legend shows it."""
    if one.kind == "bars":
        drawn = tag("g", tag("rect", x=6, y=1, width=10, height=8), class_="bars")
    else:
        line = tag("path", d="M1 5H21", class_="line") if one.kind == "line" else ""
        drawn = line + marker(one.colour, 11, 5, 2.6, class_="dot")
    style = f"c{one.colour % COLOURS}" + (" dashed" if one.dashed else "")
    return tag("svg", drawn, viewBox="0 0 22 10", class_=style, aria_hidden="true")


def svg(across: float, height: float, *parts: str, css: str = "chart", width: float | None = None) -> str:
    """A drawing that is an image to a screen reader, named by its title; as wide as its place unless `width` says."""
    return tag("svg", *parts, viewBox=f"0 0 {across:g} {height:g}", class_=css, width=width, role="img")


def _scales(series: Sequence[Series], axes: Axes) -> tuple[Scale, Scale]:
    x = [dot.x for one in series for dot in one.dots]
    y = [value for one in series for dot in one.dots for value in (dot.y, dot.lo, dot.hi) if value is not None]
    if axes.names:
        left, right = -0.5, len(axes.names) - 0.5
    else:
        left, right = (min(x), max(x)) if x else (0.0, 1.0)
        pad = (right - left) * 0.03 or 0.5
        if axes.log_x:
            left, right = max(left, 1e-3) / 1.25, max(right, 1e-3) * 1.25
        else:
            left, right = left - pad, right + pad
        if any(one.kind == "bars" for one in series):
            left, right = left - 0.5, right + 0.5
    if axes.y_range:
        low, high = axes.y_range
    elif axes.log_y:
        low, high = max(min(y, default=1.0), 0.5) / 1.3, max(y, default=1.0) * 1.3
    else:
        low, high = min(y, default=0.0), max(y, default=1.0)
        room = (high - low) * 0.08 or abs(high) * 0.05 or 0.5
        low, high = low - room, high + room
        if any(one.kind == "bars" for one in series):
            low = 0.0
    return (
        Scale(left, right, LEFT, WIDTH - RIGHT, axes.log_x),
        Scale(low, high, HEIGHT - BOTTOM, TOP + 14, axes.log_y),
    )


def _grid(xs: Scale, ys: Scale, axes: Axes) -> str:
    parts = []
    for value in log_ticks(ys.low, ys.high) if axes.log_y else ticks(ys.low, ys.high):
        y = ys(value)
        parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", text(label(value)), x=LEFT - 6, y=y + 4, class_="tick end"))
    for value, name in _x_ticks(xs, axes):
        parts.append(tag("text", text(name), x=xs(value), y=HEIGHT - BOTTOM + 16, class_="tick mid"))
    parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM, class_="axis"))
    parts.append(tag("text", text(axes.x), x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 6, class_="name mid"))
    parts.append(tag("text", text(axes.y), x=4, y=TOP, class_="name"))
    return "".join(parts)


def _x_ticks(xs: Scale, axes: Axes) -> list[tuple[float, str]]:
    if axes.names:
        every = -(-len(axes.names) // 9)
        longest = max(3, 52 // min(len(axes.names), 9))
        return [(at, cut(name, longest)) for at, name in enumerate(axes.names) if at % every == 0]
    if axes.log_x:
        return [(value, label(value)) for value in log_ticks(xs.low, xs.high)]
    found = ticks(xs.low, xs.high, 6)
    if axes.whole:
        found = sorted({float(round(value)) for value in found if xs.low <= round(value) <= xs.high})
        return [(value, str(int(value))) for value in found]
    return [(value, label(value)) for value in found]


def _mark(xs: Scale, at: float, tooltip: str) -> str:
    step = xs(at + 1) - xs(at)
    half = max(1.5, min(step * 0.3, 7))
    return tag(
        "rect",
        tag("title", text(tooltip)),
        x=xs(at) - half,
        y=TOP + 6,
        width=2 * half,
        height=HEIGHT - BOTTOM - TOP - 6,
        class_="new-year",
    )


def _bars(one: Series, xs: Scale, ys: Scale, place: int, count: int) -> str:
    step = xs(1) - xs(0)
    width = max(1.0, step * 0.7 / count)
    parts = []
    for dot in one.dots:
        top = ys(dot.y)
        x = xs(dot.x) - step * 0.35 + place * width
        height = max(HEIGHT - BOTTOM - top, 0.0)
        parts.append(tag("rect", tag("title", text(dot.tooltip)), x=x, y=top, width=width, height=height))
    return tag("g", *parts, class_=f"bars c{one.colour % COLOURS}")


def _band(one: Series, xs: Scale, ys: Scale) -> str:
    found = [(dot.x, dot.lo, dot.hi) for dot in one.dots if dot.lo is not None and dot.hi is not None]
    if len(found) < 2 or all(lo == hi for _, lo, hi in found):
        return ""
    upper = [(xs(x), max(ys(hi), TOP)) for x, _, hi in found]
    lower = [(xs(x), min(ys(lo), HEIGHT - BOTTOM)) for x, lo, _ in reversed(found)]
    return tag("path", d=path([*upper, *lower], close=True), class_=f"band c{one.colour % COLOURS}")


def _line(one: Series, xs: Scale, ys: Scale) -> str:
    style = f"c{one.colour % COLOURS}" + (" dashed" if one.dashed else "")
    parts = []
    if one.kind == "line" and len(one.dots) > 1:
        parts.append(tag("path", d=path([(xs(dot.x), ys(dot.y)) for dot in one.dots]), class_="line"))
    size = 4.0 if one.kind == "dots" and len(one.dots) == 1 else 2.6 if len(one.dots) <= _MARKED else 1.6
    for dot in one.dots:
        parts.append(marker(one.colour, xs(dot.x), ys(dot.y), size, tag("title", text(dot.tooltip)), class_="dot"))
        if dot.label:
            right = xs(dot.x) > (xs.start + xs.end) / 2  # the word stays inside the frame
            x = xs(dot.x) - 8 if right else xs(dot.x) + 8
            parts.append(tag("text", text(dot.label), x=x, y=ys(dot.y) + 4, class_="tick end" if right else "tick"))
    return tag("g", *parts, class_=style)
