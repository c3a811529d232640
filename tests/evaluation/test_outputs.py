"""Logits and embeddings of somebody else's model, scored by our detectors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import lgl_bench
from lgl_bench.core.errors import UsageError
from lgl_bench.detectors.energy import energy
from tests.support.external import nearest_mean
from tests.support.graphs import small_stream


def outputs(task, graph):
    """Minus the squared distances to class means, and the features."""
    features, labels = task.train.graph.features, task.train.labels
    means = np.stack([features[task.fit_mask & (labels == k)].mean(axis=0) for k in task.known])
    return -((graph.features[:, None] - means[None]) ** 2).sum(axis=2), graph.features


def scored(stream, train=True, embeddings=True, **options):
    evaluation = lgl_bench.Evaluation(stream, method="my-net", **options)
    for task in evaluation:
        (logits, inside), (train_logits, train_inside) = (outputs(task, one) for one in (task.test, task.train.graph))
        given = {"logits": logits, "embeddings": inside if embeddings else None}
        if train:
            given |= {"train_logits": train_logits, "train_embeddings": train_inside if embeddings else None}
        evaluation.answer(task, **given)
    return evaluation.result()


@pytest.fixture(scope="module")
def stream():
    return small_stream()


@pytest.fixture(scope="module")
def whole(stream):
    return scored(stream)


def test_every_detector_that_reads_outputs_alone_has_a_row_and_the_others_a_reason(whole):
    rows = {text.partition("(")[0] for text in whole.all["detector"]}
    assert {"msp", "energy", "entropy", "max-logit", "good", "propagate", "knn", "mahalanobis"} <= rows
    assert set(whole.all["backbone"]) == {"external-my-net"} and not whole.unanswered
    reasons = {text.partition("(")[0]: reason for text, reason in whole.left_out.items()}
    assert "gradients" in reasons["mc-dropout"] or "inside" in reasons["mc-dropout"]
    assert "the head isomax+ only" in reasons["isomax+"] and "the backbone gpn only" in reasons["gpn"]
    assert not rows & set(reasons) and f"{len(whole.left_out)} detectors were left out" in repr(whole)


def test_classes_and_energy_are_those_of_the_logits(stream, whole):
    alone = lgl_bench.Evaluation(stream, method="by-hand")
    for task in alone:
        logits = torch.as_tensor(outputs(task, task.test)[0])[task.scored]
        alone.answer(task, predicted=nearest_mean(task)[0], novelty=energy(logits))
    by_hand = alone.result().all.set_index("detector").loc["by-hand"]
    found = whole.all.set_index("detector").loc["energy(temperature=1.0)"]
    for column in ("accuracy_mean", "auroc_weighted_mean", "fpr95_mean"):
        assert found[column] == pytest.approx(by_hand[column])


def test_without_outputs_on_the_training_graph_what_learns_from_it_is_left_out(stream):
    found = scored(stream, train=False)
    reasons = {text.partition("(")[0]: reason for text, reason in found.left_out.items()}
    assert "give train_logits" in reasons["knn"] and "give train_logits" in reasons["mahalanobis"]
    assert {"msp", "energy(temperature=1.0)"} <= set(found.all["detector"]) and not found.all["failed_years"].any()


def test_without_embeddings_what_looks_at_them_is_left_out(stream):
    found = scored(stream, embeddings=False)
    reasons = {text.partition("(")[0]: reason for text, reason in found.left_out.items()}
    assert "needs embeddings" in reasons["knn"] and "msp" in set(found.all["detector"])


def test_only_the_detectors_that_are_asked_for_are_run(stream):
    found = scored(stream, detectors=["msp", "good(msp, alpha=0.3)"])
    assert set(found.all["detector"]) == {"msp", "good(msp,alpha=0.3)", "random", "degree", "recency"}
    with pytest.raises(UsageError, match="no detector can be run on these logits; odin"):
        scored(stream, detectors=["odin"])


def test_leave_class_out_takes_logits_too():
    found = scored(small_stream(static=True), protocol="leave-class-out", detectors=["msp", "energy"])
    assert found.all.set_index("detector").loc["msp", "auroc_mean_n_years"] == 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"logits": lambda x: x[:-1]}, "logits has the shape"),
        ({"logits": lambda x: x[:, :-1]}, "one for each of the 3 classes of task.known"),
        ({"logits": lambda x: x * np.inf}, "logits: row 0 holds a value that is not finite"),
        ({"embeddings": lambda x: x[0]}, "embeddings has the shape"),
    ],
)
def test_outputs_of_another_shape_are_refused(stream, change, said):
    evaluation = lgl_bench.Evaluation(stream, method="my-net")
    task = next(iter(evaluation))
    logits, inside = outputs(task, task.test)
    given = {"logits": logits, "embeddings": inside}
    with pytest.raises(UsageError, match=said), np.errstate(invalid="ignore"):
        evaluation.answer(task, **(given | {name: edit(given[name]) for name, edit in change.items()}))


def test_logits_and_novelty_are_not_mixed(stream):
    evaluation = lgl_bench.Evaluation(stream, method="my-net")
    tasks = iter(evaluation)
    task = next(tasks)
    predicted, novelty = nearest_mean(task)
    with pytest.raises(UsageError, match="one of the two"):
        evaluation.answer(task, predicted=predicted, novelty=novelty, logits=outputs(task, task.test)[0])
    evaluation.answer(task, predicted=predicted, novelty=novelty)
    task = next(tasks)
    with pytest.raises(UsageError, match="answer all in one way"):
        evaluation.answer(task, logits=outputs(task, task.test)[0])
