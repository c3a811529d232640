from __future__ import annotations

import math

import pytest
import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.strategies import EMPTY, StepOutputs
from lgl_bench.strategies.finetune import Finetune
from lgl_bench.strategies.lwf import Lwf, distillation
from tests.support.strategies import fit, fit_task, go_on, line_model, no_edges, small_model, two_years


def test_it_is_the_cross_entropy_over_the_old_outputs_at_the_temperature():
    # T = 2: the teacher says (1/2, 1/2); (2 ln 3, 0) / 2 = (ln 3, 0) is (3/4, 1/4). The third output is new.
    logits = torch.tensor([[2 * math.log(3), 0.0, 9.0]])
    found = distillation(logits, torch.tensor([[0.0, 0.0]]), 2.0)
    assert found.item() == pytest.approx(-0.5 * math.log(3 / 4) - 0.5 * math.log(1 / 4), rel=1e-6)


def test_the_penalty_is_the_mean_over_the_vertices_of_the_step_times_the_strength():
    # The old model says x W for W = (1, 0): x = 0 is (1/2, 1/2) and x = 2 ln 3 is (3/4, 1/4) at T = 2.
    task = fit_task(no_edges([[0.0], [5.0], [2 * math.log(3)]]), [0, 0, 1], [0, 2])
    strategy = Lwf(strength=10.0)
    assert strategy.select(task, EMPTY, 0).vertices.tolist() == [0, 2]
    strategy.begin(line_model([[0.0, 0.0, 0.0]]), line_model([[1.0, 0.0]]), EMPTY)
    half = -math.log(1 / 2)
    flat = StepOutputs(torch.tensor([0, 2]), torch.tensor([[1.0, 1.0, 4.0], [0.0, 0.0, 0.0]]))
    assert strategy.penalty(None, flat).item() == pytest.approx(10 * half, rel=1e-6)
    same = StepOutputs(torch.tensor([2]), torch.tensor([[2 * math.log(3), 0.0, 0.0]]))
    entropy = -0.75 * math.log(0.75) - 0.25 * math.log(0.25)
    assert strategy.penalty(None, same).item() == pytest.approx(10 * entropy, rel=1e-6)


def test_there_is_no_teacher_in_the_first_year_and_nothing_for_a_step_without_vertices():
    task = fit_task(no_edges([[0.0], [5.0]]), [0, 1], [0, 1])
    strategy, model = Lwf(), line_model([[1.0, 0.0]])
    strategy.select(task, EMPTY, 0)
    strategy.begin(model, None, EMPTY)
    assert strategy.penalty(model, StepOutputs(torch.tensor([0]), torch.zeros(1, 2))) == 0
    strategy.begin(model, model, EMPTY)
    assert strategy.penalty(model, StepOutputs(torch.empty(0, dtype=torch.int64), torch.empty(0, 2))) == 0


def test_an_enormous_strength_keeps_what_the_old_outputs_say():
    early, late = two_years()
    first = fit(Lwf(), early, small_model(early), steps=30)
    graph = late.train.graph
    new = torch.from_numpy(late.new)
    said = torch.softmax(first.model.outputs(graph).logits[new], dim=1)

    def moved(strategy):
        after = go_on(late, first, strategy, steps=80, lr=0.005).model.outputs(graph).logits[new, :2]
        return (torch.softmax(after, dim=1) - said).abs().max().item()

    assert moved(Lwf(1e4)) < 0.02 < 0.15 < moved(Finetune())


def test_a_temperature_of_zero_is_refused():
    with pytest.raises(UsageError, match="temperature = 0: it must be positive"):
        Lwf(temperature=0)
