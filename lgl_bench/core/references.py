"""The names every claim is held against: what costs nothing, and what cannot be beaten.

They are rows of every board. A detector that does not beat the best of `FLOOR` beyond noise knows no more than noise, a
count of neighbours or a look at birth years; a threshold that does not beat `REFERENCE_THRESHOLDS` decides no better
than calling nobody, or everybody, new.
"""

from __future__ import annotations

FLOOR = ("random", "degree", "recency")
"""Detectors that know nothing of classes."""
REFERENCE_THRESHOLDS = ("never", "always")
"""Thresholds that look at nothing."""
ORACLE = "oracle"
"""The threshold that knows the truth: shown, never ranked."""
EXTERNAL = "external"
"""Head and threshold of answers made outside lgl-bench, and how their backbone's name begins; no plugin's name does."""


def is_external(backbone: str) -> bool:
    """Whether a row's answers were made outside lgl-bench, by the name of its backbone.

    >>> is_external("external"), is_external("external-mine"), is_external("externals"), is_external("gcn")
    (True, True, False, False)
    """
    return backbone == EXTERNAL or backbone.startswith(f"{EXTERNAL}-")
