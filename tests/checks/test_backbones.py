"""Backbones that are broken on purpose: each fails the check made for it, with a message that says what is wrong."""

from __future__ import annotations

import re

import pytest

from lgl_bench.backbones import Shape, backbones
from lgl_bench.backbones.mlp import MLP
from lgl_bench.checks import planted


class WalksOnce(MLP):
    """Its walk is used up after the first epoch."""

    def batches(self, data):
        steps = super().batches(data)()
        return lambda: steps


class YieldsNoLoss(MLP):
    def batches(self, data):
        return lambda: iter([data.vertices.double().mean()])


class ReturnsAGenerator(MLP):
    def batches(self, data):
        yield from super().batches(data)()


class TakesNoSizes(MLP):
    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)


@pytest.mark.parametrize(
    ("plugin", "title", "said"),
    [
        (WalksOnce, "walks anew in every epoch", "two epochs had 1 and 0 steps"),
        (YieldsNoLoss, "walks anew in every epoch", "one number with a gradient"),
        (ReturnsAGenerator, "walks anew in every epoch", "returned generator; it must return a function"),
        (TakesNoSizes, "takes the sizes of a preset", "does not take.*hidden"),
    ],
)
def test_a_broken_backbone_fails_the_check_made_for_it(check, plugin, title, said):
    planted._trained.cache_clear()  # models are kept by name, and every plugin here has the same
    assert re.search(said, check(backbones, "backbones", plugin)[title])
