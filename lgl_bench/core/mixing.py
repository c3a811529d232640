"""GOOD's mean of own and neighbours' novelty, for the detector as for stored answers; it needs numpy alone."""

from __future__ import annotations

from lgl_bench.core.types import FloatArray


def mix(own: FloatArray, neighbours: FloatArray, alpha: float) -> FloatArray:
    """(1 - alpha) * own + alpha * neighbours."""
    return (1.0 - alpha) * own + alpha * neighbours
