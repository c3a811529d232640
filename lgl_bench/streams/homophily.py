"""How often edges join equal classes: pure functions of edges and labels.

Vertices without a label (-1) and the edges that touch them are left out. `arcs` is (2, m) with every
undirected edge as its two arcs, so counting arcs or edges gives the same shares.
"""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import FloatArray, IntArray


def graph_level(arcs: IntArray, labels: IntArray) -> float | None:
    """Share of edges that join equal classes (Zhu et al. 2020); None without edges."""
    same, total = _class_arcs(arcs, labels)
    return float(same.sum() / total.sum()) if total.sum() else None


def vertex_level(arcs: IntArray, labels: IntArray) -> float | None:
    """Mean over all vertices of the share of equal-class neighbours (Pei et al. 2020).

    An isolated vertex counts 0; None without vertices.
    """
    arcs = _labelled(arcs, labels)
    vertices = int((labels >= 0).sum())
    if not vertices:
        return None
    source, target = labels[arcs]
    equal = np.bincount(arcs[0], weights=source == target, minlength=len(labels))
    degree = np.bincount(arcs[0], minlength=len(labels))
    return float((equal / np.maximum(degree, 1)).sum() / vertices)


def class_insensitive(arcs: IntArray, labels: IntArray) -> float | None:
    """1/(C-1) * sum_k max(0, h_k - n_k/n) (Lim et al. 2021).

    h_k is the share of equal-class ends among the arcs that leave class k; a class without arcs counts 0.
    None without edges or with fewer than two classes.
    """
    return class_insensitive_from_counts(*_class_arcs(arcs, labels), _class_sizes(labels))


def index(arcs: IntArray, labels: IntArray) -> float | None:
    """(inter - intra) / edges: -1 is fully homophile, 1 fully heterophile; None without edges."""
    share = graph_level(arcs, labels)
    return None if share is None else 1.0 - 2.0 * share


def per_class(arcs: IntArray, labels: IntArray) -> dict[int, dict[str, float | None]]:
    """For each class, over the arcs that leave it: the share of equal-class ends, and the index."""
    same, total = _class_arcs(arcs, labels)
    sizes = _class_sizes(labels)
    found: dict[int, dict[str, float | None]] = {}
    for k in np.flatnonzero(sizes).tolist():
        share = float(same[k] / total[k]) if total[k] else None
        found[k] = {"homophily": share, "index": None if share is None else 1.0 - 2.0 * share}
    return found


def class_insensitive_from_counts(same: FloatArray, total: FloatArray, sizes: IntArray) -> float | None:
    """The class-insensitive measure from counts per class: equal-class arcs, arcs, vertices."""
    present = sizes > 0
    if present.sum() < 2 or not total.sum():
        return None
    share = same[present] / np.maximum(total[present], 1)
    excess = np.maximum(0.0, share - sizes[present] / sizes.sum())
    return float(excess.sum() / (present.sum() - 1))


def class_insensitive_over_time(
    arcs: IntArray, labels: IntArray, vertex_ends: tuple[int, ...], edge_ends: tuple[int, ...]
) -> list[float | None]:
    """The class-insensitive measure of every cumulative snapshot, in one walk over the arcs."""
    classes = int(labels.max(initial=-1)) + 1
    same, total = np.zeros(classes), np.zeros(classes)
    sizes = np.zeros(classes, dtype=np.int64)
    values = []
    v0 = e0 = 0
    for v1, e1 in zip(vertex_ends, edge_ends, strict=True):
        more_same, more_total = _class_arcs(arcs[:, 2 * e0 : 2 * e1], labels, classes)
        same, total = same + more_same, total + more_total
        sizes = sizes + _class_sizes(labels[v0:v1], classes)
        values.append(class_insensitive_from_counts(same, total, sizes))
        v0, e0 = v1, e1
    return values


def _labelled(arcs: IntArray, labels: IntArray) -> IntArray:
    keep = (labels[arcs] >= 0).all(axis=0)
    return arcs if keep.all() else arcs[:, keep]


def _class_arcs(arcs: IntArray, labels: IntArray, classes: int | None = None) -> tuple[FloatArray, FloatArray]:
    classes = int(labels.max(initial=-1)) + 1 if classes is None else classes
    source, target = labels[_labelled(arcs, labels)]
    same = np.bincount(source[source == target], minlength=classes).astype(np.float64)
    return same, np.bincount(source, minlength=classes).astype(np.float64)


def _class_sizes(labels: IntArray, classes: int = 0) -> IntArray:
    return np.bincount(labels[labels >= 0], minlength=classes)
