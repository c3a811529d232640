"""Drawing in SVG: elements, scales and ticks. Text is always escaped; colours come from classes of the style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


def tag(name: str, *children: str, **attributes: object) -> str:
    """An element; `class_` is written class, `stroke_width` stroke-width; children are markup already.

    >>> tag("text", text("a < b"), x=1, class_="tick")
    '<text x="1" class="tick">a &lt; b</text>'
    """
    parts = [
        f' {key.rstrip("_").replace("_", "-")}="{escape(short(value), quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    ]
    inside = "".join(children)
    return f"<{name}{''.join(parts)}>{inside}</{name}>" if inside else f"<{name}{''.join(parts)}/>"


def text(value: object) -> str:
    """Text as markup."""
    return escape(str(value))


def short(value: object) -> str:
    """A number with at most one decimal place, as no screen shows more; anything else as it is.

    >>> short(12.04), short(0.55), short("x")
    ('12', '0.6', 'x')
    """
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return str(value)


@dataclass(frozen=True, slots=True)
class Scale:
    """Values to positions, straight or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The position of a value."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, self.low))
        share = 0.5 if high == low else (value - low) / (high - low)
        return self.start + share * (self.end - self.start)


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round values within a range, about as many as wanted.

    >>> ticks(0.43, 0.97)
    [0.5, 0.6, 0.7, 0.8, 0.9]
    """
    if not high > low:
        return [low]
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= raw * 0.8)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


def whole_ticks(low: float, high: float, wanted: int) -> list[float]:
    """Whole numbers within a range, the same distance apart.

    >>> whole_ticks(2005.9, 2008.1, 6), whole_ticks(1999.5, 2016.5, 6)
    ([2006.0, 2007.0, 2008.0], [2000.0, 2005.0, 2010.0, 2015.0])
    """
    raw = max((high - low) / wanted, 1.0)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw * 0.8)
    return [number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten within a range; with 2 and 5 between them if they are few.

    >>> log_ticks(3, 400)
    [5.0, 10.0, 20.0, 50.0, 100.0, 200.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    plain = [10.0**power for power in powers if low <= 10.0**power <= high]
    if len(plain) > 2:
        return plain
    return [f * 10.0**power for power in powers for f in (1, 2, 5) if low <= f * 10.0**power <= high]


def label(value: float) -> str:
    """A tick in words: thousands with k, millions with M.

    >>> label(0.5), label(1500), label(2000000)
    ('0.5', '1.5k', '2M')
    """
    for size, mark in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{mark}"
    return f"{value:.3g}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def log_label(value: float, among: Sequence[float]) -> str:
    """A tick of a logarithmic axis: a power, if all of them are; otherwise as any tick.

    >>> log_label(1000.0, [10.0, 100.0, 1000.0]), log_label(50.0, [20.0, 50.0]), log_label(0.001, [0.001, 1.0, 1e3])
    ('10³', '50', '10⁻³')
    """
    powers = [round(math.log10(one)) for one in among]
    if len(among) < 3 or not all(math.isclose(one, 10.0**power) for one, power in zip(among, powers, strict=True)):
        return label(value)
    return "10" + str(round(math.log10(value))).translate(_RAISED)


def cut(name: str, longest: int) -> str:
    """A name with at most so many signs.

    >>> cut("good(energy)", 8), cut("msp", 8)
    ('good(en…', 'msp')
    """
    return name if len(name) <= longest else name[: longest - 1] + "…"


def cut_text(name: str, longest: int, **attributes: object) -> str:
    """A name as `cut` leaves it; whole in its tooltip if that is not all of it.

    >>> cut_text("msp", 8, x=1), cut_text("good(energy)", 8, x=1)
    ('<text x="1">msp</text>', '<text x="1"><title>good(energy)</title>good(en…</text>')
    """
    shown = cut(name, longest)
    whole = tag("title", text(name)) if shown != name else ""
    return tag("text", whole, text(shown), **attributes)


def width_of(words: str) -> float:
    """About how wide words are in a drawing: nobody knows the fonts of those who look at it.

    >>> width_of("msp") < width_of("good(msp)") < 9 * 8
    True
    """
    return 6.3 * len(words)


def path(points: Sequence[tuple[float, float]], close: bool = False) -> str:
    """The `d` of a line through points."""
    whole = " ".join(f"{'L' if at else 'M'}{short(x)} {short(y)}" for at, (x, y) in enumerate(points))
    return whole + ("Z" if close else "")


def staircase(points: Sequence[tuple[float, float]], end: float) -> list[tuple[float, float]]:
    """The corners of a line that stays level until the next point, and after the last one until `end`.

    >>> staircase([(0, 5), (2, 3)], 4)
    [(0, 5), (2, 5), (2, 3), (4, 3)]
    """
    found: list[tuple[float, float]] = []
    for x, y in points:
        if found:
            found.append((x, found[-1][1]))
        found.append((x, y))
    return [*found, (end, found[-1][1])] if found else []


_MARKERS = 4


def marker(kind: int, x: float, y: float, size: float, *children: str, **attributes: object) -> str:
    """A circle, square, diamond or triangle: shapes distinguish series if colours do not."""
    r = size
    if kind % _MARKERS == 0:
        return tag("circle", *children, cx=x, cy=y, r=r, **attributes)
    corners = {
        1: [(-r, -r), (r, -r), (r, r), (-r, r)],
        2: [(0, -1.4 * r), (1.4 * r, 0), (0, 1.4 * r), (-1.4 * r, 0)],
        3: [(0, -1.3 * r), (1.2 * r, r), (-1.2 * r, r)],
    }[kind % _MARKERS]
    return tag("path", *children, d=path([(x + a, y + b) for a, b in corners], close=True), **attributes)
