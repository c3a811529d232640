"""Words in a chart: the legend below it, names at the ends of lines and beside dots, none above another."""

from __future__ import annotations

from collections.abc import Sequence

from lgl_bench.report.svg.elements import cut, cut_text, marker, tag, text, width_of

LINE = 15.0
LONGEST = 30
_SAMPLE = 28.0


def legend(entries: Sequence[tuple[str, str]], left: float, right: float, top: float) -> tuple[str, float]:
    """Samples and names, wrapped between left and right; and how much room they take downwards."""
    if len(entries) < 2:
        return "", 0.0
    parts, x, y = [], left, top
    for sample, name in entries:
        width = _SAMPLE + width_of(cut(name, LONGEST)) + 16
        if x > left and x + width > right:
            x, y = left, y + LINE
        words = cut_text(name, LONGEST, x=_SAMPLE, y=9, class_="tick")
        parts.append(tag("g", sample, words, transform=f"translate({x:.1f} {y:.1f})"))
        x += width
    return tag("g", *parts, class_="key"), y + LINE - top + 4


def sample(kind: str, colour: int, style: str) -> str:
    """A series as its legend shows it."""
    if kind == "bars":
        return tag("g", tag("rect", x=6, y=1, width=10, height=8), class_=f"bars {style}")
    drawn = tag("path", d="M1 5L21 5", class_="line") if kind in ("line", "steps") else ""
    return tag("g", drawn + marker(colour, 11, 5, 2.6, class_="dot"), class_=style)


def spread(wanted: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Heights close to those wanted, in the same order, `least` apart and within low and high if there is room.

    >>> spread([10, 12, 50], 10, 0, 100), spread([95, 99], 10, 0, 100)
    ([10, 20, 50], [90, 100])
    """
    order = sorted(range(len(wanted)), key=lambda at: wanted[at])
    found = [0.0] * len(wanted)
    before = low - least
    for at in order:
        found[at] = before = max(wanted[at], before + least)
    after = high + least
    for at in reversed(order):
        found[at] = after = min(found[at], after - least)
    return found


def beside(dots: Sequence[tuple[float, float, str]], right: float, top: float) -> list[str]:
    """Names beside dots, at the side that has room, moved up until they stand on no other."""
    placed: list[tuple[float, float, float]] = []
    parts = []
    for x, y, name in dots:
        shown = cut(name, LONGEST)
        width = width_of(shown)
        start = x + 8 if x + 8 + width <= right else max(x - 8 - width, 0.0)
        height = y - 5
        while any(start < b and a < start + width and abs(height - c) < 12 for a, b, c in placed) and height > top:
            height -= 6
        placed.append((start, start + width, height))
        end = start < x
        at = x - 8 if end and start > 0 else start
        css = "tick end" if end and start > 0 else "tick"
        parts.append(tag("text", text(shown), x=at, y=height, class_=css))
    return parts
