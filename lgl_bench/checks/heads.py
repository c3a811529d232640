"""What every head must keep."""

from __future__ import annotations

import torch

from lgl_bench.checks.failure import require
from lgl_bench.checks.leaks import learns_from_no_other_label, learns_nothing_of_the_test_graph
from lgl_bench.checks.planted import bench
from lgl_bench.heads import Head, heads
from lgl_bench.metrics.classification import accuracy
from lgl_bench.training.trainer import seeded

_WIDTH, _CLASSES, _ROWS = 6, 3, 20


def returns_one_logit_per_class(name: str) -> None:
    """(n, classes), finite."""
    head, output = _head(name)
    logits = head.logits(output)
    require(tuple(logits.shape) == (_ROWS, _CLASSES), f"logits have shape {tuple(logits.shape)}")
    require(torch.isfinite(logits).all(), "logits are not finite")


def returns_probabilities(name: str) -> None:
    """In [0, 1], one per class."""
    head, output = _head(name)
    values = head.probabilities(head.logits(output))
    require(tuple(values.shape) == (_ROWS, _CLASSES), f"probabilities have shape {tuple(values.shape)}")
    require(bool(((values >= 0) & (values <= 1)).all()), "probabilities lie outside [0, 1]")


def has_a_loss_that_reaches_the_backbone(name: str) -> None:
    """Finite, with a gradient for the backbone's output."""
    head, output = _head(name)
    output.requires_grad_(True)
    labels = torch.arange(_ROWS) % _CLASSES
    loss = head.train().loss(output, labels)
    require(loss.ndim == 0 and torch.isfinite(loss), f"the loss is {loss}; it must be one finite number")
    (grad,) = torch.autograd.grad(loss, output)
    require(torch.isfinite(grad).all() and grad.abs().sum() > 0, "the loss has no gradient for the backbone's output")


def keeps_old_logits_when_classes_are_added(name: str) -> None:
    """Growing appends classes and leaves the others alone."""
    head, output = _head(name)
    before = head.logits(output)
    head.grow(_CLASSES + 2)
    if head.linear:
        output = torch.cat([output, torch.zeros(_ROWS, 2)], dim=1)
    after = head.logits(output)
    require(after.shape[1] == _CLASSES + 2, f"{after.shape[1]} logits after growing to {_CLASSES + 2} classes")
    require(torch.allclose(after[:, :_CLASSES], before, atol=1e-5), "growing changed logits of classes known before")


def learns(name: str) -> None:
    """Accuracy well above chance on a planted stream."""
    item = bench(name)
    found = accuracy(item.truth.labels, item.model.predict(item.task.test)[item.task.scored], item.task.known).value
    require(found is not None and found > 0.6, f"accuracy {found:.3f} with three easy classes")


def trains_on_no_label_it_may_not_learn_from(name: str) -> None:
    """Labels outside the loss make no difference."""
    learns_from_no_other_label(name, "gcn")


def trains_without_the_test_graph(name: str) -> None:
    """Nothing of it makes a difference, unless the track is transductive."""
    learns_nothing_of_the_test_graph(name, "gcn")


CHECKS = (
    returns_one_logit_per_class,
    returns_probabilities,
    has_a_loss_that_reaches_the_backbone,
    keeps_old_logits_when_classes_are_added,
    learns,
    trains_on_no_label_it_may_not_learn_from,
    trains_without_the_test_graph,
)


def _head(name: str) -> tuple[Head, torch.Tensor]:
    kind = heads.get(name)
    with seeded(0, "head"):
        head = kind(_WIDTH, _CLASSES).eval()
        return head, torch.randn(_ROWS, _CLASSES if kind.linear else _WIDTH)
