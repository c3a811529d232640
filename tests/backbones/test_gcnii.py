from __future__ import annotations

import math

import numpy as np
import pytest

from lgl_bench.backbones import backbones
from lgl_bench.core.errors import UsageError
from tests.support.backbones import BackboneTests, a_hat, hold_to_formula, linear, numbers, relu


class TestGCNII(BackboneTests):
    name = "gcnii"

    def formula(self, model, g):
        first = h = relu(linear(model.projections[0], g.features))
        for number, weight in enumerate(model.convolutions, start=1):
            beta = math.log(1 + model.identity / number)
            mixed = (1 - model.residual) * a_hat(g) @ h + model.residual * first
            h = relu(mixed @ ((1 - beta) * np.eye(model.hidden) + beta * numbers(weight.weight)))
        return h, linear(model.projections[1], h)

    def test_other_depths_and_shares_follow_the_formula_too(self):
        hold_to_formula(self, 3, layers=2, residual=0.5, identity=1.5)
        hold_to_formula(self, None, layers=3, residual=0.0, identity=0.0)

    def test_the_defaults_are_eight_convolutions(self):
        model = self.make()
        assert (len(model.convolutions), model.residual, model.identity) == (8, 0.1, 0.5)

    def test_presets_of_gcn_leave_its_depth_alone(self):
        from lgl_bench.plans.paper_presets import preset

        found, gcn = (preset("cora", "60-20-20", name, "softmax") for name in ("gcnii", "gcn"))
        assert found.backbone == {name: value for name, value in gcn.backbone.items() if name != "layers"}
        assert found.training == gcn.training and "layers" in backbones.get("gcnii").own_sizes

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            ({"residual": 1.1}, r"residual = 1.1: it must lie in \[0, 1\]"),
            ({"identity": -1.0}, "identity = -1.0: it must be finite and at least 0"),
            ({"identity": math.inf}, "identity = inf: it must be finite and at least 0"),
            ({"layers": 1}, "layers = 1, hidden = 5: a backbone needs at least two layers"),
        ],
    )
    def test_parameters_that_make_no_sense_are_refused(self, wrong, said):
        with pytest.raises(UsageError, match=said):
            self.make(**wrong)
