from __future__ import annotations

import numpy as np

from lgl_bench.protocols.splits import TEST, TRAIN, VALIDATION, split_of, stratified
from lgl_bench.protocols.transductive import Transductive
from tests.support.static_graphs import LABELS, PUBLIC, naive_pairs, pairs, static


def test_the_transductive_track_has_one_task_on_the_whole_graph_with_every_class_known():
    protocol = Transductive()
    ((task, truth),) = protocol.tasks(static(PUBLIC), 0)
    codes = split_of(static(PUBLIC), "planetoid", 0)
    assert protocol.track == "transductive"
    assert task.known.tolist() == [0, 1, 2]
    for graph in (task.train.graph, task.test):
        assert pairs(graph) == naive_pairs(range(len(LABELS)))
    assert np.array_equal(task.fit_mask, codes == TRAIN)
    assert np.array_equal(task.train.labels, np.where((codes == TRAIN) | (codes == VALIDATION), LABELS, -1))
    assert task.calibration.tolist() == np.flatnonzero(codes == VALIDATION).tolist()
    assert task.scored.tolist() == np.flatnonzero(codes == TEST).tolist()
    assert np.array_equal(truth.labels, LABELS[task.scored])


def test_the_transductive_track_takes_the_drawn_split_too():
    ((task, _),) = Transductive("60-20-20").tasks(static(), 4)
    assert np.array_equal(task.fit_mask, stratified(LABELS, 4) == TRAIN)
