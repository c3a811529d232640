from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.core.types import ScoredGraph
from lgl_bench.detectors import Detector, detectors, graph_for
from lgl_bench.detectors.good import Good, neighbour_mean
from lgl_bench.detectors.grasp import Grasp, helpful, spread
from lgl_bench.detectors.mapping import learn_mapping
from lgl_bench.detectors.propagate import Propagate
from lgl_bench.detectors.react import React
from tests.support.graphs import dense_adjacency, graph, random_graph
from tests.support.stubs import Fixed, calibration, fitted
from tests.support.trained import gcn_logits, parts, small_case, softmax

NOBODY = np.empty(0, dtype=np.int64)


def seen(g, scored, trained):
    """The graph as a transductive detector gets it."""
    return graph_for(Grasp(), g, np.asarray(scored), None if trained is None else np.asarray(trained))


def by_formula(s, a, scored, trained, steps=8, alpha=0.0, delta=1.001, percentile=5.0):
    """Step by step with a dense matrix of weights; G by counting neighbours one by one."""
    s = np.array(s, dtype=np.float64)
    n = len(s)
    low, high = np.percentile(s[scored], percentile), np.percentile(s[scored], 100 - percentile)
    h = {}
    for v in trained:
        near = [u for u in range(n) if a[v, u] and u in set(np.asarray(scored).tolist())]
        h[v] = len([u for u in near if s[u] > high]) / (len([u for u in near if s[u] < low]) + 1)
    chosen = sorted(trained, key=lambda v: (-h[v], -s[v]))[: len(trained) // 2]
    weights = a.astype(np.float64)
    degree = a.sum(axis=1).astype(np.float64)
    for v in chosen:
        degree[v] += len(chosen)
        for u in chosen:
            weights[v, u] += delta
    s[trained] = 1
    for _ in range(steps):
        around = np.array([weights[v] @ s / degree[v] if degree[v] else s[v] for v in range(n)])
        s = alpha * s + (1 - alpha) * around
        for v in trained:
            s[v] = max(s[v], 1.0)
    return 1 - s / max(1.0, delta) ** steps, sorted(int(v) for v in chosen)


def test_helpful_vertices_have_neighbours_that_look_known_and_few_that_look_new():
    # Training vertices 0 to 3; of the scored vertices 4 to 7 vertex 7 looks known and vertex 4 new.
    g = graph([(0, 7), (1, 7), (1, 4), (2, 4), (3, 5)], np.ones((8, 1), dtype=np.float32))
    s = np.array([0.5, 0.5, 0.9, 0.4, 0.1, 0.5, 0.6, 0.9])
    inside = helpful(s, g.edges, np.arange(4, 8), np.arange(4), 5.0)
    # h is 1, 1/2, 0 and 0: the half is 0 and 1.
    assert np.flatnonzero(inside).tolist() == [0, 1]


def test_of_equally_helpful_vertices_the_more_confident_ones_are_taken():
    g = graph([], np.ones((6, 1), dtype=np.float32))
    inside = helpful(np.array([0.2, 0.9, 0.3, 0.8, 0.5, 0.6]), g.edges, np.array([4, 5]), np.arange(4), 5.0)
    assert np.flatnonzero(inside).tolist() == [1, 3]


def test_a_step_adds_the_edges_inside_g_and_holds_training_vertices_at_one():
    # A path 0, 1, 2 with training vertices 0 and 3, both in G; 4 is isolated. Alone in its degree, 0 has d = 1 + 2.
    g = graph([(0, 1), (1, 2)], np.ones((5, 1), dtype=np.float32))
    inside = np.array([True, False, False, True, False])
    s = spread(np.array([0.1, 0.4, 0.7, 0.2, 0.3]), g.edges, np.array([0, 3]), inside, 1, 0.5, 1.2)
    # 0: (1 + (0.4 + 1.2 * 2) / 3) / 2 < 1, so 1; 1: (0.4 + (1 + 0.7) / 2) / 2; 2: (0.7 + 0.4) / 2; 3: (1 + 1.2) / 2.
    assert s == pytest.approx([1.0, 0.625, 0.55, 1.1, 0.3])


@pytest.mark.parametrize("seed", range(8))
def test_on_random_graphs_it_is_the_formula_step_by_step(seed):
    rng = np.random.default_rng(seed)
    model, _, _ = small_case(seed=seed)
    g = random_graph(n=40, edges=90, seed=seed)
    order = rng.permutation(40)
    trained, scored = order[:15], order[15:33]
    parameters = {"steps": int(rng.integers(1, 9)), "alpha": float(rng.choice([0, 0.3])), "percentile": 20.0}
    found = Grasp(**parameters).score(model, seen(g, scored, trained))
    s = softmax(parts(model, g)[1]).max(axis=1)
    expected, chosen = by_formula(s, dense_adjacency(g), scored, trained, **parameters)
    assert np.flatnonzero(helpful(s, g.edges, scored, trained, 20.0)).tolist() == chosen
    assert found == pytest.approx(expected, abs=1e-6)
    assert found.min() >= 0 and found.max() <= 1 and Grasp.bounded


def test_isolated_vertices_keep_their_confidence():
    model, g, _ = small_case()
    alone = graph([], g.features)
    found = Grasp().score(model, seen(alone, np.arange(6, 12), np.arange(6)))
    s = softmax(parts(model, alone)[1]).max(axis=1)
    assert found[6:] == pytest.approx(1 - s[6:] / 1.001**8)


@pytest.mark.parametrize(("scored", "trained"), [(NOBODY, np.arange(4)), (np.arange(4), NOBODY), (NOBODY, NOBODY)])
def test_without_scored_or_training_vertices_scores_are_finite(scored, trained):
    model, g, _ = small_case()
    assert np.isfinite(Grasp().score(model, seen(g, scored, trained))).all()


def test_equal_confidence_everywhere_adds_no_edge_because_of_it():
    model, g, _ = small_case()
    model.backbone.projections[1].weight.data.zero_()
    found = Grasp().score(model, seen(g, np.arange(6, 12), np.arange(6)))
    assert np.isfinite(found).all() and found.min() >= 0


def test_only_a_transductive_detector_is_told_what_is_scored():
    _, g, _ = small_case()
    assert graph_for(Fixed([0.0]), g, np.arange(3), np.arange(3)) is g
    shown = graph_for(Grasp(), g, np.arange(3), np.array([4]))
    assert isinstance(shown, ScoredGraph) and shown.scored.tolist() == [0, 1, 2] and shown.trained.tolist() == [4]
    with pytest.raises(ValueError, match="read-only"):
        shown.scored[0] = 5


def test_what_a_model_says_of_a_graph_is_not_computed_again_when_the_scored_vertices_are_told():
    model, g, _ = small_case()
    assert model.outputs(seen(g, [1], [2])) is model.outputs(g)


@pytest.mark.parametrize("text", ["grasp", "good(grasp)", "propagate(grasp)", "react(grasp)", "good(ash(grasp))"])
def test_whatever_wraps_it_has_its_track(text):
    assert build(parse(text), detectors).track == "transductive"
    assert build(parse(text.replace("grasp", "msp")), detectors).track == "inductive"


def test_good_over_grasp_mixes_its_scores():
    model, g, labels = small_case()
    shown = seen(g, np.arange(6, 12), np.arange(6))
    own = Grasp().score(model, shown)
    good = fitted(Good(Grasp(), 0.3), model, g, labels)
    assert good.score(model, shown) == pytest.approx(0.7 * own + 0.3 * neighbour_mean(own, g.edges))


def test_react_over_grasp_propagates_the_confidence_of_clipped_embeddings():
    model, g, labels = small_case()
    detector = fitted(React(Grasp(), percentile=60), model, g, labels)
    scored, trained = np.arange(6, 12), np.arange(6)
    f = gcn_logits(model, g, np.minimum(parts(model, g)[0], detector.limit_))
    expected, _ = by_formula(softmax(f).max(axis=1), dense_adjacency(g), scored, trained)
    assert detector.score(model, seen(g, scored, trained)) == pytest.approx(expected, abs=1e-5)


class Peers(Detector):
    """An unbounded transductive detector: how many are scored together."""

    bounded = False
    track = "transductive"

    def score(self, model, graph):
        return np.full(graph.num_vertices, float(len(graph.scored)))


def test_calibration_vertices_are_those_that_are_scored_when_a_mapping_is_learned():
    _, g, _ = small_case()
    assert learn_mapping(Peers(), None, calibration(None, g, [1, 2, 3])).median == 3.0
    assert fitted(Good(Propagate(Peers())), None, g, calibrated=calibration(None, g, [1, 2])).mapping_.median == 2.0


class Forgets(Detector):
    """Wraps a detector without taking over its track."""

    def __init__(self, base: Detector) -> None:
        self.base = base

    def score(self, model, graph):
        return self.base.score(model, graph)


def test_a_wrapper_that_hides_the_track_is_told_what_to_do():
    model, g, _ = small_case()
    forgetful = Forgets(Grasp())
    with pytest.raises(PluginError, match=r"a detector that wraps it takes over its track \(self.track = base.track\)"):
        forgetful.score(model, graph_for(forgetful, g, np.arange(3), np.arange(3)))


def test_a_protocol_that_does_not_say_what_was_trained_on_is_named_as_the_cause():
    model, g, _ = small_case()
    with pytest.raises(PluginError, match="the protocol does not set Task.trained"):
        Grasp().score(model, seen(g, [1, 2], None))


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"steps": 0}, "steps = 0: it must lie between 1 and 100"),
        ({"alpha": 1.5}, r"alpha = 1.5, delta = 1.001: alpha lies in \[0, 1\] and delta in \[0, 2\]"),
        ({"delta": -1.0}, "delta = -1.0"),
        ({"percentile": 50.0}, r"percentile = 50.0: it must lie in \[0, 50\)"),
    ],
)
def test_values_out_of_range_are_refused(parameters, said):
    with pytest.raises(UsageError, match=said):
        Grasp(**parameters)
