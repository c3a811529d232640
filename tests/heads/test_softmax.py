from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lgl_bench.heads.softmax import Softmax
from tests.support.logits import LABELS, LOGITS


def test_the_softmax_loss_is_the_mean_negative_log_probability_of_the_labels():
    expected = np.mean(
        [-math.log(math.exp(row[y]) / sum(map(math.exp, row))) for row, y in zip(LOGITS, LABELS, strict=True)]
    )
    head = Softmax(8, 3)
    assert float(head.loss(torch.tensor(LOGITS), torch.tensor(LABELS))) == pytest.approx(expected, rel=1e-5)
    assert torch.equal(head.logits(torch.tensor(LOGITS)), torch.tensor(LOGITS))
