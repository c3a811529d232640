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
