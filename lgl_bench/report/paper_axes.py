"""Axes, lines and colours that the figures for papers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lgl_bench.report.svg.elements import label

# Okabe and Ito's colours, in an order in which neighbours differ in lightness too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
_LONGEST = 60


def new_figure(panels: int, most_across: int = 3) -> tuple[Any, list[Any]]:
    """A figure with so many axes, a few beside each other."""
    from matplotlib.figure import Figure

    across = min(panels, most_across)
    down = -(-panels // across)
    figure = Figure(figsize=(3.4 * across, 2.6 * down), layout="constrained")
    axes = list(figure.subplots(down, across, squeeze=False).flat)
    for axis in axes[panels:]:
        axis.remove()
    return figure, axes[:panels]


def line(axis: Any, at: int, x: Sequence[float], y: Sequence[float], name: str, dashed: bool = False) -> None:
    """A line with markers in the colour of its number."""
    shown = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
    colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]
    axis.plot(x, y, color=colour, marker=marker, linestyle="--" if dashed else "-", label=shown)


def band(axis: Any, at: int, x: Sequence[float], lo: Sequence[float], hi: Sequence[float]) -> None:
    """A band around a line."""
    axis.fill_between(x, lo, hi, color=COLOURS[at % len(COLOURS)], alpha=0.18, linewidth=0)


def log_x(axis: Any) -> None:
    """A logarithmic axis with plain numbers: without parsed formulas powers would be shown as their source."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=6))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))
    axis.xaxis.set_minor_formatter(NullFormatter())
