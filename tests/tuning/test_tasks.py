from __future__ import annotations

import itertools

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.plans.fits import ProtocolSetting
from lgl_bench.protocols.splits import TEST
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.tuning.tasks import usable_metric, validation_part, validation_tasks
from tests.support.graphs import small_stream
from tests.support.tuning import T1

TEMPORAL = ProtocolSetting("temporal", label_delay=0)


def test_a_temporal_stream_is_cut_after_the_year_that_is_scored():
    stream = small_stream()
    cut = validation_part(stream)
    assert cut.times == (0, 1, T1) and cut.born.max() == T1
    assert cut.arcs.max() < cut.num_vertices == len(cut.labels) == cut.features.shape[0]
    ((task, truth),) = validation_tasks(cut, TEMPORAL, "auroc", 0)
    ((expected, labels), *_) = Temporal().tasks(stream, 0)
    assert (task.role, task.time) == ("validation", T1)
    assert np.array_equal(task.scored, expected.scored) and np.array_equal(truth.labels, labels.labels)
    assert np.array_equal(task.test.edges, expected.test.edges)


@pytest.mark.parametrize("metric", ["accuracy", "auroc"])
def test_static_validation_tasks_hold_neither_test_vertices_nor_the_left_out_class(metric):
    stream = small_stream(static=True)
    setting = ProtocolSetting("leave-class-out", split="planetoid")
    found = list(validation_tasks(stream, setting, metric, 0))
    folds = [task.fold for task, _ in found]
    classes = [str(k) for k in range(4)]
    assert folds == (classes if metric == "accuracy" else [f"{k}/{j}" for k, j in itertools.permutations(classes, 2)])
    for task, truth in found:
        out = int(task.fold.split("/")[0])
        inside = (stream.split != TEST) & (stream.labels != out)
        assert task.role == "validation" and task.test.num_vertices == inside.sum()
        assert out not in truth.labels and len(truth.labels) == len(task.scored) > 0
        assert not task.fit_mask[task.calibration].any()


def test_the_metric_is_auroc_where_the_year_after_t0_has_new_vertices_else_accuracy(tune):
    assert tune.plan().specs[0].metric == "auroc"
    closed = small_stream(births=(3, 0, 0, 1, 1))
    assert tune.plan(stream=closed).specs[0].metric == "accuracy"
    with pytest.raises(UsageError, match="small cannot be tuned for auroc: no vertex of 2 .* of a new class"):
        tune.plan(stream=closed, metric="auroc")
    assert tune.plan(stream=small_stream(static=True), suite="static").specs[0].metric == "accuracy"


def test_a_protocol_without_new_classes_cannot_be_tuned_for_auroc():
    stream = small_stream(static=True)
    setting = ProtocolSetting("transductive", split="planetoid")
    assert usable_metric(stream, setting, None) == "accuracy"
    with pytest.raises(UsageError, match="transductive protocol has no new class"):
        usable_metric(stream, setting, "auroc")
