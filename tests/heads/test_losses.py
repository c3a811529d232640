from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.heads import heads
from lgl_bench.heads.genodin import GenOdin
from lgl_bench.heads.isomax import IsoMaxPlus, unit_distances
from lgl_bench.heads.one_vs_rest import Doc, GDoc, positive_weights
from lgl_bench.heads.softmax import Softmax
from lgl_bench.training.model import build_model
from tests.support.graphs import random_graph

LOGITS = [[2.0, -1.0, 0.5], [0.0, 0.0, 3.0], [1.0, 1.5, -2.0], [-0.5, 0.25, 0.0]]
LABELS = [0, 2, 0, 1]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def one_vs_rest_by_loop(weights):
    total = 0.0
    for row, label in zip(LOGITS, LABELS, strict=True):
        for k, logit in enumerate(row):
            total -= weights[k] * math.log(sigmoid(logit)) if k == label else math.log(1 - sigmoid(logit))
    return total / 12


def test_the_softmax_loss_is_the_mean_negative_log_probability_of_the_labels():
    expected = np.mean(
        [-math.log(math.exp(row[y]) / sum(map(math.exp, row))) for row, y in zip(LOGITS, LABELS, strict=True)]
    )
    head = Softmax(8, 3)
    assert float(head.loss(torch.tensor(LOGITS), torch.tensor(LABELS))) == pytest.approx(expected, rel=1e-5)
    assert torch.equal(head.logits(torch.tensor(LOGITS)), torch.tensor(LOGITS))


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


def isomax(scale=1.0):
    head = IsoMaxPlus(2, 2)
    head.prototypes.data = torch.tensor([[2.0, 0.0], [0.0, 0.5]])
    head.distance_scale.data = torch.tensor([scale])
    return head


# In unit length (1, 0) and (0.6, 0.8); the prototypes are (1, 0) and (0, 1) in unit length.
Z = torch.tensor([[5.0, 0.0], [3.0, 4.0]])
DISTANCES = [[0.0, math.sqrt(2)], [math.sqrt(0.16 + 0.64), math.sqrt(0.36 + 0.04)]]


def test_isomax_logits_are_negative_scaled_distances_between_unit_vectors():
    assert isomax().distances(Z).flatten().tolist() == pytest.approx(sum(DISTANCES, []), abs=1e-6)
    for scale in (3.0, -3.0):
        expected = [-3 * d for d in sum(DISTANCES, [])]
        assert isomax(scale).logits(Z).flatten().tolist() == pytest.approx(expected, abs=1e-5)


def test_the_entropic_scale_of_10_is_in_the_training_loss_and_nowhere_else():
    def loss(factor):
        rows = [[math.exp(-factor * d) for d in row] for row in DISTANCES]
        return -np.mean([math.log(rows[0][0] / sum(rows[0])), math.log(rows[1][0] / sum(rows[1]))])

    head = isomax()
    assert head.entropic_scale == 10
    assert head.loss(Z, torch.tensor([0, 0])).item() == pytest.approx(loss(10), rel=1e-5)
    plain = [math.exp(-d) for d in DISTANCES[1]]
    for training in (True, False):
        head.train(training)
        assert head.logits(Z)[1].tolist() == pytest.approx([-d for d in DISTANCES[1]], abs=1e-6)
        assert head.probabilities(head.logits(Z))[1].tolist() == pytest.approx(
            [p / sum(plain) for p in plain], rel=1e-5
        )


def test_the_learned_distance_scale_starts_at_1_and_the_prototypes_from_a_standard_normal():
    torch.manual_seed(0)
    head = IsoMaxPlus(50, 60)
    assert head.distance_scale.item() == 1
    assert abs(head.prototypes.mean().item()) < 0.08
    assert abs(head.prototypes.std().item() - 1) < 0.08


def test_tiny_distances_are_exact():
    # Many rows, because torch goes by a matrix product from 25 rows on unless it is told not to.
    step = 2.0**-20
    z = torch.zeros(40, 3)
    z[:, 0], z[:, 1] = 1.0, step
    prototypes = torch.zeros(40, 3)
    prototypes[:, 0] = 1.0
    found = unit_distances(z, prototypes)
    # (1, s) / sqrt(1 + s^2) rounds to (1, s) in single precision, so the distance is s.
    assert torch.equal(found, torch.full((40, 40), step))


def genodin():
    head = GenOdin(2, 2)
    head.directions.data = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    head.confidence.weight.data = torch.tensor([[0.5, -1.0]])
    head.confidence.bias.data = torch.tensor([0.25])
    head.norm.running_mean.fill_(-0.5)
    head.norm.running_var.fill_(4.0)
    head.norm.weight.data.fill_(1.5)
    head.norm.bias.data.fill_(0.1)
    return head.eval()


def test_genodin_logits_are_cosines_divided_by_the_confidence_with_the_running_statistics():
    z = torch.tensor([[3.0, 4.0], [-2.0, 0.0]])
    cosines = [[0.6, 0.8], [-1.0, 0.0]]
    assert genodin().cosines(z).flatten().tolist() == pytest.approx(sum(cosines, []), abs=1e-6)
    expected = []
    for (a, b), row in zip(z.tolist(), cosines, strict=True):
        linear = 0.5 * a - b + 0.25
        g = sigmoid(1.5 * (linear + 0.5) / math.sqrt(4 + 1e-5) + 0.1)
        expected.append([h / g for h in row])
    assert np.allclose(genodin().logits(z).detach().numpy(), expected, atol=1e-5)
    loss = -np.mean([math.log(math.exp(r[y]) / sum(map(math.exp, r))) for r, y in zip(expected, [1, 0], strict=True)])
    assert genodin().loss(z, torch.tensor([1, 0])).item() == pytest.approx(loss, rel=1e-5)


def test_the_length_of_an_embedding_does_not_change_a_cosine():
    z = torch.tensor([[3.0, 4.0]])
    assert torch.allclose(genodin().cosines(100 * z), genodin().cosines(z))


def test_genodin_trains_on_a_batch_of_one_vertex():
    assert torch.isfinite(GenOdin(2, 2).train().loss(torch.tensor([[3.0, 4.0]]), torch.tensor([1])))


@pytest.mark.parametrize(("name", "rows"), [("isomax+", "prototypes"), ("genodin", "directions")])
def test_a_grown_prototype_head_keeps_its_logits_and_appends_rows_from_a_standard_normal(name, rows):
    torch.manual_seed(1)
    head = heads.get(name)(40, 3).eval()
    z = torch.randn(7, 40)
    before, others = head.logits(z), {k: v.clone() for k, v in head.state_dict().items() if k != rows}
    head.grow(60)
    after = head.logits(z)
    assert head.classes == 60
    assert after.shape == (7, 60)
    assert torch.allclose(after[:, :3], before, atol=1e-6)
    assert all(torch.equal(head.state_dict()[key], value) for key, value in others.items())
    fresh = getattr(head, rows)[3:]
    assert abs(fresh.mean().item()) < 0.08
    assert abs(fresh.std().item() - 1) < 0.08
    assert getattr(head, rows).requires_grad
    assert rows in dict(head.named_parameters())


@pytest.mark.parametrize("head", ["softmax", "doc", "gdoc", "isomax+", "genodin"])
def test_a_grown_model_keeps_the_logits_of_the_classes_it_knew_and_appends_columns(head):
    g = random_graph()
    model = build_model("gcn", head, 6, np.array([4, 1]), {"hidden": 5})
    before = model.outputs(g).logits
    model.grow(np.array([4, 1, 9]))
    after = model.outputs(g).logits
    assert after.shape == (12, 3)
    assert torch.allclose(after[:, :2], before, atol=1e-5)
    with pytest.raises(UsageError, match="known classes can only be appended"):
        model.grow(np.array([1, 4, 9, 10]))


def test_growing_by_nothing_changes_nothing():
    head = isomax()
    head.grow(2)
    assert torch.equal(head.logits(Z), isomax().logits(Z))
