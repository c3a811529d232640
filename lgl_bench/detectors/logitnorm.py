"""LogitNorm (Wei et al. 2022): 1 - max_k softmax_k(f), after training on normalised logits."""

from __future__ import annotations

from lgl_bench.detectors import detectors
from lgl_bench.detectors.msp import Msp


@detectors.register("logitnorm")
class LogitNormDetector(Msp):
    """MSP on the head logitnorm, whose loss sees logits of one length only."""

    heads = ("logitnorm",)
