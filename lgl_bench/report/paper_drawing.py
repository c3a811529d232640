"""Drawings of the page for papers: the same lines and words, carried over to matplotlib for PDF and PNG."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from lgl_bench.report.svg.style import INHERITED, Node, size_of, style_of

_INCH, _POINTS = 96.0, 0.75
"""Pixels of an inch, and points of a pixel."""


def figure_of(svg: str) -> Any:
    """A drawing as a figure of matplotlib, as large as on the page."""
    from matplotlib.figure import Figure

    width, height = size_of(svg)
    figure = Figure(figsize=(width / _INCH, height / _INCH))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    _draw(axes, ElementTree.fromstring(svg), [], {"color": "#000000"}, (0.0, 0.0))
    return figure


def _draw(axes: Any, node: Any, above: list[Node], inherited: dict[str, str], offset: tuple[float, float]) -> None:
    path = [*above, Node(node.tag, frozenset(node.get("class", "").split()))]
    own = style_of(path)
    own |= {name: node.get(name) for name in ("fill-opacity", "fill") if node.get(name)}
    style = {**inherited, **own}
    moved = re.fullmatch(r"translate\((\S+) (\S+)\)", node.get("transform", ""))
    if moved:
        offset = (offset[0] + float(moved.group(1)), offset[1] + float(moved.group(2)))
    maker = _MAKERS.get(node.tag)
    if maker is not None:
        maker(axes, node, style, offset)
    passed = {name: style[name] for name in INHERITED if name in style}
    for child in node:
        _draw(axes, child, path, passed, offset)


def _colour(style: dict[str, str], name: str, default: str = "none") -> str:
    value = style.get(name, default)
    return style["color"] if value == "currentColor" else value


def _look(style: dict[str, str]) -> dict[str, Any]:
    """Fill and stroke as a patch has them."""
    from matplotlib.colors import to_rgba

    opacity = float(style.get("opacity", 1.0))
    filled = float(style.get("fill-opacity", 1.0)) * opacity
    fill, stroke = _colour(style, "fill", "#000000"), _colour(style, "stroke")
    dashes = style.get("stroke-dasharray")
    wide = float(style.get("stroke-width", 1.0)) * _POINTS if stroke != "none" else 0.0
    line: Any = "-"
    if dashes and wide:
        line = (0, tuple(float(part) * _POINTS / wide for part in dashes.split()))
    return {
        "facecolor": "none" if fill == "none" else to_rgba(fill, filled),
        "edgecolor": "none" if stroke == "none" else to_rgba(stroke, opacity),
        "linewidth": wide,
        "linestyle": line,
    }


def _numbers(node: Any, *names: str) -> list[float]:
    return [float(node.get(name, 0.0)) for name in names]


def _rect(axes: Any, node: Any, style: dict[str, str], offset: tuple[float, float]) -> None:
    from matplotlib.patches import Rectangle

    x, y, width, height = _numbers(node, "x", "y", "width", "height")
    axes.add_patch(Rectangle((x + offset[0], y + offset[1]), width, height, **_look(style)))


def _circle(axes: Any, node: Any, style: dict[str, str], offset: tuple[float, float]) -> None:
    from matplotlib.patches import Circle

    x, y, r = _numbers(node, "cx", "cy", "r")
    axes.add_patch(Circle((x + offset[0], y + offset[1]), r, **_look(style)))


def _line(axes: Any, node: Any, style: dict[str, str], offset: tuple[float, float]) -> None:
    x1, y1, x2, y2 = _numbers(node, "x1", "y1", "x2", "y2")
    _strokes(axes, [(x1, y1), (x2, y2)], False, {**style, "fill": "none"}, offset)


def _path(axes: Any, node: Any, style: dict[str, str], offset: tuple[float, float]) -> None:
    points: list[tuple[float, float]] = []
    for sign, rest in re.findall(r"([MLHV])([^MLHVZ]*)", node.get("d", "")):
        numbers = [float(part) for part in rest.split()]
        if sign == "H":
            points.append((numbers[0], points[-1][1]))
        elif sign == "V":
            points.append((points[-1][0], numbers[0]))
        else:
            points.append((numbers[0], numbers[1]))
    _strokes(axes, points, node.get("d", "").endswith("Z"), style, offset)


def _strokes(
    axes: Any, points: list[tuple[float, float]], close: bool, style: dict[str, str], offset: tuple[float, float]
) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Line

    moved = [(x + offset[0], y + offset[1]) for x, y in points]
    codes = [Line.MOVETO] + [Line.LINETO] * (len(moved) - 1)
    if close:
        moved, codes = [*moved, moved[0]], [*codes, Line.CLOSEPOLY]
    axes.add_patch(PathPatch(Line(moved, codes), joinstyle="round", capstyle="butt", **_look(style)))


def _text(axes: Any, node: Any, style: dict[str, str], offset: tuple[float, float]) -> None:
    x, y = _numbers(node, "x", "y")
    turned = re.match(r"rotate\((\S+) ", node.get("transform", ""))
    words = (node.text or "") + "".join(child.tail or "" for child in node)
    anchor = {"middle": "center", "end": "right"}.get(style.get("text-anchor", ""), "left")
    axes.text(
        x + offset[0],
        y + offset[1],
        words,
        ha=anchor,
        va="baseline",
        rotation=-float(turned.group(1)) if turned else 0.0,
        rotation_mode="anchor",
        color=_colour(style, "fill", "#000000"),
        fontsize=float(style.get("font-size", "11px").removesuffix("px")) * _POINTS,
        fontweight="bold" if int(style.get("font-weight", "400")) >= 600 else "normal",
    )


_MAKERS = {"rect": _rect, "circle": _circle, "line": _line, "path": _path, "text": _text}
