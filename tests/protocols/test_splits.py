from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.protocols.splits import split_of, stratified
from lgl_bench.protocols.transductive import Transductive
from tests.support.static_graphs import LABELS, PUBLIC, static


def test_each_class_is_cut_at_60_and_80_percent_rounded_down():
    codes = stratified(LABELS, seed=0)
    counts = {k: np.bincount(codes[k == LABELS], minlength=4).tolist() for k in range(3)}
    assert counts == {0: [0, 3, 1, 1], 1: [0, 6, 2, 2], 2: [0, 4, 1, 2]}
    assert codes[-1] == 0  # no label, no part


def test_a_split_is_the_seeds_own():
    assert np.array_equal(stratified(LABELS, 1), stratified(LABELS, 1))
    assert any(not np.array_equal(stratified(LABELS, 1), stratified(LABELS, seed)) for seed in (2, 3))


def test_the_planetoid_split_is_the_published_column_without_the_unlabelled():
    codes = split_of(static(PUBLIC), "planetoid", 0)
    assert np.array_equal(codes[:-1], PUBLIC[:-1])
    assert codes[-1] == 0
    assert np.array_equal(codes, split_of(static(PUBLIC), "planetoid", 1))


@pytest.mark.parametrize("protocol", [LeaveClassOut, Transductive])
def test_a_split_nobody_knows_is_refused(protocol):
    with pytest.raises(UsageError, match="70-30.*60-20-20 and planetoid"):
        protocol("70-30")
    with pytest.raises(UsageError, match="70-30"):
        split_of(static(), "70-30", 0)


@pytest.mark.parametrize("protocol", [LeaveClassOut, Transductive])
def test_a_graph_without_a_published_split_is_refused(protocol):
    with pytest.raises(UsageError, match="no published split"):
        next(protocol("planetoid").tasks(static(), 0))
