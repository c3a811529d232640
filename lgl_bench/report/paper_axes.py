"""Axes, lines and colours that the figures for papers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Okabe and Ito's colours, in an order in which neighbours differ in lightness too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
_LONGEST = 60


def new_figure(panels: int) -> tuple[Any, list[Any]]:
    """A figure with so many axes, at most three beside each other."""
    from matplotlib.figure import Figure

    across = min(panels, 3)
    down = -(-panels // across)
    figure = Figure(figsize=(3.4 * across, 2.6 * down), layout="constrained")
    axes = list(figure.subplots(down, across, squeeze=False).flat)
    for axis in axes[panels:]:
        axis.remove()
    return figure, axes[:panels]


def line(axis: Any, at: int, x: Sequence[float], y: Sequence[float], label: str, dashed: bool = False) -> None:
    """A line with markers in the colour of its number."""
    shown = label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"
    colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]
    axis.plot(x, y, color=colour, marker=marker, linestyle="--" if dashed else "-", label=shown)


def band(axis: Any, at: int, x: Sequence[float], lo: Sequence[float], hi: Sequence[float]) -> None:
    """A band around a line."""
    axis.fill_between(x, lo, hi, color=COLOURS[at % len(COLOURS)], alpha=0.18, linewidth=0)
