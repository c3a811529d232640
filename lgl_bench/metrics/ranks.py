"""The one rule that says which metric ranks a row."""

from __future__ import annotations

STATIC_PROTOCOLS = ("leave-class-out", "transductive")
"""Protocols whose tasks are folds of one graph, not years."""


def ranks_by(protocol: str, threshold: str) -> str:
    """The metric that ranks a row; rows are ranked among those with the same one.

    Rows with a threshold share their detector's AUROC and are ranked by their decisions. Folds of a static graph count
    alike; years count by their number of new vertices, because many have but one or two.

    >>> ranks_by("temporal", ""), ranks_by("leave-class-out", ""), ranks_by("temporal", "naive(delta=0.1)")
    ('auroc_weighted', 'auroc_mean', 'mcc')
    """
    if threshold:
        return "mcc"
    return "auroc_mean" if protocol in STATIC_PROTOCOLS else "auroc_weighted"
