"""Line, step, bar and dot charts as inline SVG: they need no script, follow the page's scheme and speak to readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lgl_bench.report.svg.elements import cut, cut_text, marker, path, staircase, tag, text, width_of
from lgl_bench.report.svg.frame import TOP, Axes, Frame
from lgl_bench.report.svg.words import LONGEST, beside, legend, sample, spread

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
    """What is drawn in one colour; `steps` is a line that stays level until the next dot."""

    name: str
    dots: Sequence[Dot]
    colour: int
    kind: Literal["line", "steps", "bars", "dots"] = "line"
    dashed: bool = False

    @property
    def style(self) -> str:
        """Its classes."""
        return f"c{self.colour % COLOURS}" + (" dashed" if self.dashed else "")


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing, whole in itself: the same on the page, in a download and in a paper.

    Attributes:
        title: What stands above it on the page.
        names: Of its series.
        width: If it keeps its size, so that its place scrolls; 0 if it is as wide as its place.
        twin: Whether it shows a synthetic stream.
    """

    title: str
    svg: str
    names: tuple[str, ...] = ()
    width: float = 0.0
    twin: bool = False

    @property
    def scrolls(self) -> bool:
        """Whether it may be wider than its place."""
        return self.width > 0 or 'class="chart wide"' in self.svg

    @property
    def broad(self) -> bool:
        """Whether it needs more than a column of the page."""
        return self.width > BROAD


def chart(title: str, described: str, series: Sequence[Series], axes: Axes, *, twin: bool = False) -> Chart:
    """Draws series in one frame, with a legend below it or, if the axes ask for it, names at the ends of the lines."""
    shown = [one for one in series if one.dots]
    named = [one for one in shown if one.name]
    ends = axes.end_names and any(len(one.dots) > 1 for one in named)
    room = max((width_of(cut(one.name, LONGEST)) for one in named), default=0.0) + 14 if ends else 0.0
    frame = _frame(shown, axes, room)
    parts = [tag("title", text(title)), tag("desc", text(described)), frame.drawn()]
    bars = [one for one in shown if one.kind == "bars"]
    parts += [_bars(one, frame, place, len(bars)) for place, one in enumerate(bars)]
    parts += [_band(one, frame) for one in shown if one.kind == "line"]
    parts += [_line(one, frame) for one in shown if one.kind != "bars"]
    labelled = [(frame.xs(dot.x), frame.ys(dot.y), dot.label) for one in shown for dot in one.dots if dot.label]
    parts += beside(labelled, frame.right, TOP + 6)
    if ends:
        parts += _end_names(named, frame)
    entries = [] if ends else [(sample(one.kind, one.colour, one.style), one.name) for one in named]
    key, below = legend(list(dict.fromkeys(entries)), 8, frame.width, frame.height + 2)
    css = "chart wide" if axes.wide else "chart"
    whole = svg(frame.width, frame.height + below, *parts, key, css=css)
    return Chart(title, whole, tuple(one.name for one in named), twin=twin)


def svg(across: float, height: float, *parts: str, css: str = "chart", width: float | None = None) -> str:
    """A drawing that is an image to a screen reader, named by its title; as wide as its place unless `width` says."""
    return tag("svg", *parts, viewBox=f"0 0 {across:g} {height:g}", class_=css, width=width, role="img")


def _frame(series: Sequence[Series], axes: Axes, room: float) -> Frame:
    x = [dot.x for one in series for dot in one.dots]
    y = [value for one in series for dot in one.dots for value in (dot.y, dot.lo, dot.hi) if value is not None]
    return Frame.around(x, y, axes, bars=any(one.kind == "bars" for one in series), room=room)


def _bars(one: Series, frame: Frame, place: int, count: int) -> str:
    step = frame.xs(1) - frame.xs(0)
    width = max(1.0, step * 0.7 / count)
    parts = []
    for dot in one.dots:
        top = frame.ys(dot.y)
        x = frame.xs(dot.x) - step * 0.35 + place * width
        height = max(frame.bottom - top, 0.0)
        parts.append(tag("rect", tag("title", text(dot.tooltip)), x=x, y=top, width=width, height=height))
    return tag("g", *parts, class_=f"bars c{one.colour % COLOURS}")


def _band(one: Series, frame: Frame) -> str:
    found = [(dot.x, dot.lo, dot.hi) for dot in one.dots if dot.lo is not None and dot.hi is not None]
    if len(found) < 2 or all(lo == hi for _, lo, hi in found):
        return ""
    upper = [(frame.xs(x), max(frame.ys(hi), frame.ys.end)) for x, _, hi in found]
    lower = [(frame.xs(x), min(frame.ys(lo), frame.bottom)) for x, lo, _ in reversed(found)]
    return tag("path", d=path([*upper, *lower], close=True), class_=f"band c{one.colour % COLOURS}")


def _line(one: Series, frame: Frame) -> str:
    at = [(frame.xs(dot.x), frame.ys(dot.y)) for dot in one.dots]
    parts = []
    if one.kind == "steps":
        parts.append(tag("path", d=path(staircase(at, frame.right)), class_="line"))
    elif one.kind == "line" and len(at) > 1:
        parts.append(tag("path", d=path(at), class_="line"))
    size = 4.0 if one.kind == "dots" and len(at) == 1 else 2.6 if len(at) <= _MARKED else 1.6
    for dot, (x, y) in zip(one.dots, at, strict=True):
        parts.append(marker(one.colour, x, y, size, tag("title", text(dot.tooltip)), class_="dot"))
    return tag("g", *parts, class_=one.style)


def _end_names(series: Sequence[Series], frame: Frame) -> list[str]:
    lasts = [frame.ys(one.dots[-1].y) for one in series]
    parts = []
    for one, wanted, y in zip(series, lasts, spread(lasts, 13, TOP + 12, frame.bottom), strict=True):
        x = frame.xs(one.dots[-1].x)
        if abs(y - wanted) > 3 or frame.right - x > 6:
            lead = path([(x + 4, wanted), (frame.right + 2, y), (frame.right + 6, y)])
            parts.append(tag("path", d=lead, class_="lead"))
        at = {"x": frame.right + 8, "y": y + 4}
        parts.append(cut_text(one.name, LONGEST, **at, class_=f"end-name c{one.colour % COLOURS}"))
    return parts
