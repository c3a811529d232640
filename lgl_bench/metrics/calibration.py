"""Whether a model is as often right as it is sure."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import FloatArray, IntArray, Value


def ece(truth: IntArray, predicted: IntArray, confidence: FloatArray, known: IntArray, bins: int = 15) -> Value:
    """Expected calibration error of the scored vertices of known classes.

    Guo et al. 2017, after Naeini et al. 2015: confidences are put into equally wide bins ((m - 1) / bins, m / bins], 0
    going into the first, and ECE = sum over bins of (n_m / n) * |accuracy of the bin - mean confidence of the bin|. An
    empty bin adds nothing. New vertices stay out: no prediction for them could be right.

    Args:
        truth: Class of each scored vertex.
        predicted: The class it is given.
        confidence: The probability of that class, in [0, 1]. With the softmax head it is 1 - the novelty of `msp`.
        known: The classes known to the model.
        bins: Number of bins.

    Raises:
        UsageError: No bin is asked for, or a confidence is outside [0, 1].

    >>> truth, predicted = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> round(ece(truth, predicted, np.array([0.9, 0.9, 0.6, 0.6]), np.array([0, 1])).value, 4)  # (0.4 + 0.4) / 2
    0.4
    """
    if bins < 1:
        raise UsageError(f"bins = {bins}: calibration needs at least one bin")
    if len(confidence) and np.isnan(confidence).all():
        return Value(None, "the answers give no probability of the predicted class")
    wrong = np.flatnonzero(~((confidence >= 0) & (confidence <= 1)))
    if len(wrong):
        raise UsageError(
            f"confidence {confidence[wrong[0]]} of scored vertex {wrong[0]} is not in [0, 1]; "
            "give the probability of the predicted class, such as 1 - novelty of msp"
        )
    among = np.isin(truth, known)
    if not among.any():
        return Value(None, "no scored vertex of a known class")
    sure = confidence[among].astype(np.float64)
    right = (truth[among] == predicted[among]).astype(np.float64)
    edges = np.arange(1, bins) / bins  # the inner ones; each belongs to the bin below it
    place = np.searchsorted(edges, sure, side="left")
    # n_m * (accuracy - confidence) is the sum of the differences within the bin.
    return Value(float(np.abs(np.bincount(place, weights=right - sure)).sum() / len(sure)))
