from __future__ import annotations

import math

import pytest
import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.heads.one_vs_rest import Doc, GDoc, positive_weights
from lgl_bench.heads.softmax import Softmax
from tests.support.logits import LABELS, LOGITS, sigmoid


def one_vs_rest_by_loop(weights):
    total = 0.0
    for row, label in zip(LOGITS, LABELS, strict=True):
        for k, logit in enumerate(row):
            total -= weights[k] * math.log(sigmoid(logit)) if k == label else math.log(1 - sigmoid(logit))
    return total / 12


def test_the_doc_loss_is_the_plain_binary_cross_entropy_of_every_class_against_the_rest():
    found = float(Doc(8, 3).loss(torch.tensor(LOGITS), torch.tensor(LABELS)))
    assert found == pytest.approx(one_vs_rest_by_loop([1, 1, 1]), rel=1e-5)


@pytest.mark.parametrize(
    ("rule", "weights"),
    # Of four vertices two are of class 0, one of class 1, one of class 2.
    [("code", [2 / 2, 3 / 1, 3 / 1]), ("paper", [2 / 4, 3 / 4, 3 / 4])],
)
def test_the_gdoc_loss_multiplies_the_positive_part_of_each_class_by_its_weight(rule, weights):
    assert positive_weights(torch.tensor(LABELS), 3, rule).tolist() == pytest.approx(weights)
    found = float(GDoc(8, 3, weight=rule).loss(torch.tensor(LOGITS), torch.tensor(LABELS)))
    assert found == pytest.approx(one_vs_rest_by_loop(weights), rel=1e-5)


def test_gdoc_takes_the_rule_of_the_published_codes_unless_told_otherwise():
    assert GDoc(8, 3).weights(torch.tensor(LABELS)).tolist() == [1.0, 3.0, 3.0]
    with pytest.raises(UsageError, match="weight = 'both': it is 'code' or 'paper'"):
        GDoc(8, 3, weight="both")


def test_gdoc_weighs_batches_by_the_counts_of_all_training_vertices():
    head = GDoc(8, 3)
    head.begin(torch.tensor(LABELS))
    assert head.weights(torch.tensor([0, 1])).tolist() == [1.0, 3.0, 3.0]


def test_a_class_without_training_vertices_has_a_finite_weight_and_loss():
    labels = torch.tensor([0, 0, 1, 1])
    assert torch.isfinite(positive_weights(labels, 3, "code")).all()
    assert torch.isfinite(GDoc(8, 3).loss(torch.tensor(LOGITS), labels))


def test_one_vs_rest_probabilities_are_sigmoids_and_the_others_a_distribution():
    for head in (Doc(8, 3), GDoc(8, 3)):
        assert head.probabilities(torch.tensor(LOGITS))[0].tolist() == pytest.approx(
            [sigmoid(x) for x in LOGITS[0]], rel=1e-5
        )
    assert Softmax(8, 3).probabilities(torch.tensor(LOGITS)).sum(1).tolist() == pytest.approx([1] * 4)
