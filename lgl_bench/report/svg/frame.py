"""The frame of a chart: how large it is, its scales, its ticks, and the marks behind what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lgl_bench.report.svg.elements import Scale, cut, label, log_label, log_ticks, tag, text, ticks, whole_ticks

LEFT, RIGHT, TOP, BOTTOM = 46.0, 12.0, 14.0, 40.0
_SIZE, _WIDE = (400.0, 250.0), (960.0, 300.0)


@dataclass(frozen=True, slots=True)
class Axes:
    """How a chart is framed.

    Attributes:
        x: Words under it.
        y: Words at its left, drawn above the axis.
        names: Of the positions 0, 1, ... if x is no number.
        marks: Positions that are shaded, each with its tooltip.
        y_range: Fixed range; from the data otherwise.
        y_end: Where y ends, whatever the data: 1 for AUROC and other shares.
        whole: Whether x are whole numbers, such as years.
        whole_y: Whether y are, such as counts.
        log_x: Whether x is logarithmic.
        log_y: Whether y is.
        wide: Whether it takes the whole width of a page.
        end_names: Whether the names of lines stand at their ends, instead of a legend.
    """

    x: str
    y: str
    names: Sequence[str] = ()
    marks: Sequence[tuple[float, str]] = ()
    y_range: tuple[float, float] | None = None
    y_end: float | None = None
    whole: bool = False
    whole_y: bool = False
    log_x: bool = False
    log_y: bool = False
    wide: bool = False
    end_names: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a chart is drawn."""

    axes: Axes
    width: float
    height: float
    xs: Scale
    ys: Scale

    @classmethod
    def around(cls, x: Sequence[float], y: Sequence[float], axes: Axes, *, bars: bool, room: float) -> Frame:
        """The frame that holds these values, with so much room at the right for names."""
        width, height = _WIDE if axes.wide else _SIZE
        if room and not axes.wide:
            width += room
        left, right = _across(x, axes, bars)
        low, high = _upwards(y, axes, bars)
        return cls(
            axes,
            width,
            height,
            Scale(left, right, LEFT, width - RIGHT - room, axes.log_x),
            Scale(low, high, height - BOTTOM, TOP + 14, axes.log_y),
        )

    @property
    def right(self) -> float:
        """Where the frame ends."""
        return self.xs.end

    @property
    def bottom(self) -> float:
        """Where the axis of x lies."""
        return self.ys.start

    def drawn(self) -> str:
        """Grid, ticks, words and shaded positions."""
        axes, parts = self.axes, []
        for value, name in self._y_ticks():
            y = self.ys(value)
            parts.append(tag("line", x1=LEFT, x2=self.right, y1=y, y2=y, class_="grid"))
            parts.append(tag("text", text(name), x=LEFT - 6, y=y + 4, class_="tick end"))
        for value, name in self._x_ticks():
            parts.append(tag("text", text(name), x=self.xs(value), y=self.bottom + 16, class_="tick mid"))
        parts.append(tag("line", x1=LEFT, x2=self.right, y1=self.bottom, y2=self.bottom, class_="axis"))
        middle = (LEFT + self.right) / 2
        parts.append(tag("text", text(axes.x), x=middle, y=self.height - 6, class_="name mid"))
        parts.append(tag("text", text(axes.y), x=4, y=TOP, class_="name"))
        parts += [self._mark(at, tooltip) for at, tooltip in axes.marks if self.xs.low <= at <= self.xs.high]
        return "".join(parts)

    def _y_ticks(self) -> list[tuple[float, str]]:
        low, high = self.ys.low, self.ys.high
        if self.axes.log_y:
            found = log_ticks(low, high)
            return [(value, log_label(value, found)) for value in found]
        if self.axes.whole_y:
            return [(value, label(value)) for value in whole_ticks(low, high, 5)]
        return [(value, label(value)) for value in ticks(low, high)]

    def _x_ticks(self) -> list[tuple[float, str]]:
        axes, low, high = self.axes, self.xs.low, self.xs.high
        if axes.names:
            every = -(-len(axes.names) // 9)
            longest = max(3, 52 // min(len(axes.names), 9))
            return [(at, cut(name, longest)) for at, name in enumerate(axes.names) if at % every == 0]
        if axes.log_x:
            found = log_ticks(low, high)
            return [(value, log_label(value, found)) for value in found]
        if axes.whole:
            return [(value, str(int(value))) for value in whole_ticks(low, high, 12 if axes.wide else 6)]
        return [(value, label(value)) for value in ticks(low, high, 6)]

    def _mark(self, at: float, tooltip: str) -> str:
        step = self.xs(at + 1) - self.xs(at)
        half = max(1.5, min(step * 0.3, 7))
        size = {"width": 2 * half, "height": self.bottom - TOP - 6}
        return tag("rect", tag("title", text(tooltip)), x=self.xs(at) - half, y=TOP + 6, **size, class_="new-year")


def _across(x: Sequence[float], axes: Axes, bars: bool) -> tuple[float, float]:
    if axes.names:
        return -0.5, len(axes.names) - 0.5
    left, right = (min(x), max(x)) if x else (0.0, 1.0)
    if axes.log_x:
        return max(left, 1e-3) / 1.25, max(right, 1e-3) * 1.25
    pad = (right - left) * 0.03 or 0.5
    return (left - pad - 0.5, right + pad + 0.5) if bars else (left - pad, right + pad)


def _upwards(y: Sequence[float], axes: Axes, bars: bool) -> tuple[float, float]:
    if axes.y_range:
        return axes.y_range
    if axes.log_y:
        return max(min(y, default=1.0), 0.5) / 1.3, max(y, default=1.0) * 1.3
    low, high = min(y, default=0.0), max(y, default=1.0)
    room = (high - low) * 0.08 or abs(high) * 0.05 or 0.5
    low = 0.0 if bars else low - room
    if axes.y_end is not None:
        return min(low, axes.y_end - 0.1), axes.y_end
    return low, high + room
