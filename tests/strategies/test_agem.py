from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.strategies import EMPTY
from lgl_bench.strategies.agem import Agem, conflict
from lgl_bench.strategies.gradients import gradients, mean_loss
from tests.support.strategies import fit, fit_task, grown, line_model, no_edges, remembering, small_model, two_years


def test_the_part_along_the_reference_is_taken_out_if_the_product_is_negative():
    # g = (1, -2), r = (1, 1) over two weights: g.r = -1, r.r = 2, so half of r is added: (1.5, -1.5).
    g = {"a": torch.tensor([1.0]), "b": torch.tensor([-2.0])}
    r = {"a": torch.tensor([1.0]), "b": torch.tensor([1.0])}
    assert conflict(g, r) == -0.5
    assert conflict({name: -one for name, one in g.items()}, r) == 0
    assert conflict(g, {name: 0 * one for name, one in r.items()}) == 0


def test_a_step_that_helps_new_vertices_at_the_cost_of_remembered_ones_is_corrected_by_hand():
    # x W, W = 0, both p = 1/2. Vertex 0 is new, x = (1, 0), class 0: g = [[-1/2, 1/2], [0, 0]]. Vertex 1 is
    # remembered, x = (1, 1), class 1: r = [[1/2, -1/2], [1/2, -1/2]]. g.r = -1/2, r.r = 1; g + r / 2 =
    # [[-1/4, 1/4], [1/4, -1/4]].
    task = fit_task(no_edges([[1, 0], [1, 1]]), [0, 1], [0], [1])
    model, strategy = line_model([[0.0, 0.0], [0.0, 0.0]]), Agem()
    assert strategy.select(task, EMPTY, 0).vertices.tolist() == [0]
    mean_loss(model, task.train, np.array([0])).backward()
    assert model.backbone.weight.grad.tolist() == [[-0.5, 0.5], [0.0, 0.0]]
    strategy.after_backward(model)
    assert model.backbone.weight.grad.tolist() == [[-0.25, 0.25], [0.25, -0.25]]


@pytest.mark.parametrize("head", ["softmax", "isomax+", "gdoc"])
@pytest.mark.parametrize("backbone", ["gcn", "gat", "mlp"])
def test_the_corrected_gradient_never_points_against_the_memory(backbone, head):
    early, late = two_years()
    first = fit(Agem(6), early, small_model(early, backbone, head), steps=20)
    task = remembering(late, first.memory)
    model, strategy = grown(first.model, late).train(), Agem(6)
    view = strategy.select(task, first.memory, 0)
    remembered = np.flatnonzero(task.remembered)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    corrected = 0
    for _ in range(25):
        optimizer.zero_grad()
        mean_loss(model, task.train, view.vertices).backward()
        before = {name: one.grad.clone() for name, one in model.named_parameters()}
        reference = gradients(model, mean_loss(model, task.train, remembered))
        strategy.after_backward(model)
        after = {name: one.grad for name, one in model.named_parameters()}

        def product(g, reference=reference):
            return sum((g[name].double() * one.double()).sum().item() for name, one in reference.items())

        size = sum(one.double().square().sum().item() for one in reference.values())
        if product(before) < 0:
            corrected += 1
            assert product(after) > -1e-5 * size
        else:
            assert all(torch.equal(after[name], one) for name, one in before.items())
        optimizer.step()
    assert corrected


def test_without_a_memory_gradients_stay_and_nothing_is_computed():
    task = fit_task(no_edges([[1, 0], [1, 1]]), [0, 1], [0, 1])
    strategy = Agem()
    strategy.select(task, EMPTY, 0)
    strategy.after_backward(None)


def test_running_statistics_do_not_see_the_memory():
    early, late = two_years()
    model = small_model(early, "mlp", "genodin").train()
    strategy, task = Agem(), fit_task(early.train.graph, early.train.labels, [0, 1], [2, 3, 4, 5])
    strategy.select(task, EMPTY, 0)
    before = {name: one.clone() for name, one in model.head.norm.state_dict().items()}
    strategy.after_backward(model)
    assert all(torch.equal(model.head.norm.state_dict()[name], one) for name, one in before.items())
    assert model.head.norm.track_running_stats


def test_a_memory_of_no_vertex_is_refused():
    with pytest.raises(UsageError, match="size = 0: at least one vertex must be remembered; `finetune`"):
        Agem(0)
