from __future__ import annotations

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.plans.budget import budget
from lgl_bench.plans.paper_presets import grid, preset
from lgl_bench.tuning.space import candidates, fit_space, size


def test_parameters_that_an_expression_gives_are_not_searched():
    given = candidates("good(odin(eps=0.05), alpha=0.3)", "cora", "60-20-20", "gcn")
    assert given.alphas == (0.3,)
    assert given.settings == tuple(f"odin(eps=0.05,temperature={t})" for t in (1.0, 10.0, 1000.0))
    free = candidates("good(msp)", "cora", "60-20-20", "gcn")
    assert free.settings == ("msp",) and free.alphas == grid("all", "good")["alpha"]
    with pytest.raises(UsageError, match="no parameter 'alfa'"):
        candidates("good(msp, alfa=0.3)", "cora", "60-20-20", "gcn")


def test_the_space_is_the_papers_grid():
    space = fit_space("60-20-20", "gcn", preset("cora", "60-20-20", "gcn", "softmax"), budget("paper"))
    assert space == grid("static", "all") and size(space) == 2 * 5 * 6 * 4 * 4
    base = preset("dblp-easy", "temporal", "gat", "softmax")
    temporal = fit_space("temporal", "gat", base, budget("paper"))
    assert temporal["hidden"] == (8, 16, 32, 64, 128) and temporal["heads"] == (2, 4, 8)
    assert temporal["lr"] == grid("static", "all")["lr"] and temporal["attn_dropout"] == (0.2, 0.3, 0.4, 0.5)


@pytest.mark.parametrize(("backbone", "own"), [("appnp", set()), ("sgc", {"layers", "dropout"}), ("gcnii", {"layers"})])
def test_what_a_backbone_does_not_take_of_the_grid_is_not_searched(backbone, own):
    base = preset("cora", "60-20-20", backbone, "softmax")
    space = fit_space("60-20-20", backbone, base, budget("paper"))
    assert space == {name: values for name, values in grid("static", "all").items() if name not in own}


def test_a_budget_makes_the_space_smaller_and_every_point_keeps_to_it(tune):
    smoke = budget("smoke")
    space = fit_space("temporal", "gcn", preset("dblp-easy", "temporal", "gcn", "softmax"), smoke)
    assert space["hidden"] == (smoke.caps.hidden,) and space["epochs"] == (smoke.caps.steps,)
    assert min(space["lr"]) == smoke.caps.least_lr and max(space["lr"]) == max(grid("static", "all")["lr"])
    assert space["layers"] == grid("temporal", "all")["layers"]
    found = tune(backbones=["gat"])
    assert found.entry.parameters["hidden"] * found.entry.parameters["heads"] <= smoke.caps.hidden
    assert found.entry.epochs == smoke.caps.steps
    assert all(trial.params["lr"] >= smoke.caps.least_lr for trial in tune.trials())
