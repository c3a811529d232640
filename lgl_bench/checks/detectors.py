"""What every detector must keep."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any, cast

import numpy as np
import torch

from lgl_bench.checks.failure import Exempt, require
from lgl_bench.checks.planted import Bench, bench, full_labels, renumbered, without_edges
from lgl_bench.core.errors import LglBenchError
from lgl_bench.core.expressions import Expression, build, complete, parse, signature
from lgl_bench.core.members import members_of
from lgl_bench.core.references import FLOOR
from lgl_bench.core.types import FloatArray, Graph, IntArray, Outputs, Sparse
from lgl_bench.detectors import Detector, checked, detectors, graph_for, head_of
from lgl_bench.detectors.mapping import learn_mapping, mapped
from lgl_bench.metrics.ranking import auroc
from lgl_bench.training.model import Model


def returns_one_finite_score_per_vertex(name: str) -> None:
    """Shape (n,), finite."""
    item, detector = _fitted(name)
    for graph in (item.task.test, item.task.train.graph):
        checked(_score(item, detector, graph), graph, name)


def stays_in_its_documented_range(name: str) -> None:
    """Mapped scores lie in [0, 1]; those of a bounded detector as they are."""
    item, detector = _fitted(name)
    novelty = _novelty(item, detector, item.task.test)
    require(
        novelty.min() >= 0 and novelty.max() <= 1,
        f"scores run from {novelty.min():.4g} to {novelty.max():.4g}; they must lie in [0, 1], or set bounded = False",
    )


def leaves_its_input_as_it_was(name: str) -> None:
    """Neither task nor model is changed by fit and score, nor what the model says."""
    item = _bench(name)
    before = _contents(item)
    detector = build(_expression(name), detectors)
    _fit(detector, item)
    _score(item, detector, item.task.test)
    after = _contents(item)
    changed = [what for what in before if before[what] != after[what]]
    require(not changed, f"{' and '.join(changed)} were changed; copy what you change")


def raises_when_it_is_not_fitted(name: str) -> None:
    """A detector that learns something refuses to score before."""
    detector = build(_expression(name), detectors)
    if type(detector).fit is Detector.fit:
        raise Exempt("it learns nothing, so there is nothing to forget")
    item = _bench(name)
    try:
        _score(item, detector, item.task.test)
    except LglBenchError:
        return
    except Exception as error:
        require(False, f"scoring unfitted raised {type(error).__name__}; raise PluginError and say 'call fit first'")
    require(False, "it scored without having been fitted; raise PluginError")


def follows_a_renumbering_of_the_vertices(name: str) -> None:
    """The score belongs to the vertex, not to its number."""
    if name in ("random", "mc-dropout", "openwgl"):
        raise Exempt("what is random is drawn by position")
    item, detector = _fitted(name)
    graph = item.task.test
    order = np.random.default_rng(0).permutation(graph.num_vertices)
    moved = _score(item, detector, renumbered(graph, order), order)
    found = float(np.abs(moved - _score(item, detector, graph)[order]).max())
    require(found < 1e-3, f"after renumbering the vertices scores differ by up to {found:.3g}")


def works_without_edges(name: str) -> None:
    """Isolated vertices and an empty edge set give finite scores."""
    item, detector = _fitted(name)
    graph = without_edges(item.task.test)
    checked(_score(item, detector, graph), graph, name)


def ranks_planted_novelty_above_chance(name: str) -> None:
    """AUROC above 0.5 if a class is plainly new."""
    if name in FLOOR:
        raise Exempt("it reads no class: it is a shortcut every method must beat")
    item, detector = _fitted(name)
    value = auroc(item.new, _novelty(item, detector, item.task.test)[item.task.scored]).value
    require(
        value is not None and value > 0.5,
        f"AUROC {value:.3f} on a stream with a plainly new class; is the sign turned round? Higher must be more novel",
    )


def keeps_its_parameters_when_fitted(name: str) -> None:
    """What fit learns ends in `_`; all else stays as the constructor stored it."""
    detector = build(_expression(name), detectors)
    before = _parameters(detector)
    _fit(detector, _bench(name))
    after = _parameters(detector)
    changed = sorted(key for key in before | after if before.get(key) != after.get(key))
    require(not changed, f"fit changed {', '.join(changed)}; what it learns must be kept in attributes that end in '_'")


def returns_the_same_scores_again(name: str) -> None:
    """Two instances, same scores bit for bit."""
    item, first = _fitted(name)
    _, second = _fitted(name)
    same = np.array_equal(_score(item, first, item.task.test), _score(item, second, item.task.test))
    require(same, "fitted twice on the same model it gave different scores; take a seed as a parameter")


def can_be_pickled(name: str) -> None:
    """A fitted detector travels between processes."""
    item, detector = _fitted(name)
    again = pickle.loads(pickle.dumps(detector))
    same = np.array_equal(_score(item, again, item.task.test), _score(item, detector, item.task.test))
    require(same, "after pickling it scores differently")


def reads_no_label_it_may_not_learn_from(name: str) -> None:
    """Labels outside the training vertices make no difference."""
    item = _bench(name)
    scores = []
    for seed in (1, 2):
        detector = build(_expression(name), detectors)
        detector.fit(item.model, full_labels(item, seed), item.fit_vertices, item.calibration)
        scores.append(_score(item, detector, item.task.test))
    require(
        np.array_equal(scores[0], scores[1]),
        "changing labels of vertices outside fit_vertices changed the scores: it peeks at labels it may not learn from",
    )


def reads_no_more_than_the_probabilities_it_declares(name: str) -> None:
    """Logits of the same softmax and other embeddings make no difference: an ensemble hands out such logits."""
    item = _bench(name)
    detector, again = (build(_expression(name), detectors) for _ in range(2))
    if not detector.reads_probabilities:
        raise Exempt("it declares that it reads more than the softmax of the logits")
    _fit(detector, item)
    same = _SameProbabilities(item.model)
    calibration = replace(item.calibration, model=cast(Model, same))
    again.fit(cast(Model, same), item.task.train, item.fit_vertices, calibration)
    moved = _score(replace(item, model=cast(Model, same)), again, item.task.test)
    found = float(np.abs(moved - _score(item, detector, item.task.test)).max())
    require(
        found < 1e-6,
        f"with other logits of the same softmax, and other embeddings, scores differ by up to {found:.3g}; leave "
        "reads_probabilities False",
    )


class _SameProbabilities:
    """A model with a number of its own added to all logits of each vertex, and with embeddings of noise."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def outputs(self, graph: Graph) -> Outputs:
        found = self._model.outputs(graph)
        random = torch.Generator().manual_seed(0)
        added = 5 * torch.randn(len(found.logits), 1, generator=random, dtype=torch.float64)
        return Outputs(found.logits.double() + added, torch.randn(found.embeddings.shape, generator=random))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a detector that declares reads_probabilities asks for {name}")


CHECKS = (
    returns_one_finite_score_per_vertex,
    stays_in_its_documented_range,
    leaves_its_input_as_it_was,
    raises_when_it_is_not_fitted,
    follows_a_renumbering_of_the_vertices,
    works_without_edges,
    ranks_planted_novelty_above_chance,
    keeps_its_parameters_when_fitted,
    returns_the_same_scores_again,
    can_be_pickled,
    reads_no_label_it_may_not_learn_from,
    reads_no_more_than_the_probabilities_it_declares,
)


def _expression(name: str) -> Expression:
    """The plugin with its defaults; a meta-detector wraps the energy score."""
    wrapped, _ = signature(detectors.get(name))
    return complete(parse(f"{name}(energy)" if wrapped else name), detectors)


def _bench(name: str) -> Bench:
    works_on, expression = detectors.get(name).backbones, _expression(name)
    head = head_of(build(expression, detectors))
    return bench(head, works_on[0] if works_on else "gcn", members_of(str(expression)))


def _fit(detector: Detector, item: Bench) -> None:
    detector.fit(item.model, item.task.train, item.fit_vertices, item.calibration)


def _fitted(name: str) -> tuple[Bench, Detector]:
    item, detector = _bench(name), build(_expression(name), detectors)
    _fit(detector, item)
    return item, detector


def _score(item: Bench, detector: Detector, graph: Graph, order: IntArray | None = None) -> FloatArray:
    """Raw scores of the training graph, or of the test graph as it is, without edges, or renumbered by an order."""
    scored, trained = item.task.scored, item.task.trained
    if graph is item.task.train.graph:
        scored = trained = item.fit_vertices
    if order is not None:
        place = np.argsort(order)
        scored, trained = place[scored], None if trained is None else place[trained]
    return detector.score(item.model, graph_for(detector, graph, scored, trained))


def _novelty(item: Bench, detector: Detector, graph: Graph) -> FloatArray:
    scores = checked(_score(item, detector, graph), graph, type(detector).__name__)
    return mapped(scores, learn_mapping(detector, item.model, item.calibration))


def _parameters(detector: Detector) -> dict[str, Any]:
    return {
        key: pickle.dumps(copy.deepcopy(_parameters(value) if isinstance(value, Detector) else value))
        for key, value in vars(detector).items()
        if not key.endswith("_")
    }


def _contents(item: Bench) -> dict[str, list[bytes]]:
    """The bytes of everything a detector is given, by what it is."""
    task, model = item.task, item.model
    found: dict[str, list[bytes]] = {"features": [], "edges": [], "outputs": []}
    for graph in (task.train.graph, task.test):
        features = graph.features
        parts: list[Any] = [features]
        if isinstance(features, Sparse):
            parts = [features.indptr, features.indices, features.values]
        found["features"] += [part.tobytes() for part in parts]
        found["edges"] += [graph.edges.tobytes(), graph.born.tobytes()]
        outputs = model.outputs(graph)
        found["outputs"] += [tensor.numpy().tobytes() for tensor in (outputs.logits, outputs.embeddings)]
    found["labels"] = [task.train.labels.tobytes(), task.fit_mask.tobytes()]
    found["known classes"] = [np.asarray(known).tobytes() for known in (task.known, model.known)]
    found["weights"] = [weight.numpy().tobytes() for weight in model.state_dict().values()]
    return found
