"""Logits and labels that losses are worked out on by hand."""

from __future__ import annotations

import math

LOGITS = [[2.0, -1.0, 0.5], [0.0, 0.0, 3.0], [1.0, 1.5, -2.0], [-0.5, 0.25, 0.0]]
LABELS = [0, 2, 0, 1]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))
