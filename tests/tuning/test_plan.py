from __future__ import annotations

import pytest

from lgl_bench.core.errors import UsageError


def test_an_absurd_grid_is_refused_unless_the_trials_are_capped(tune):
    with pytest.raises(UsageError, match="gcn on small has 1080 points; give --trials N"):
        tune.plan(search="grid", trials=None, budget="paper")
    (spec,) = tune.plan(search="grid", trials=30, budget="paper").specs
    assert (spec.trials, spec.points) == (30, 1080)


def test_detectors_that_share_a_head_share_a_study_and_others_have_their_own(tune):
    specs = tune.plan(detectors=["msp", "energy", "gdoc"], backbones=["gcn", "mlp"]).specs
    assert [(spec.backbone, spec.head, len(spec.detectors)) for spec in specs] == [
        ("gcn", "softmax", 2),
        ("gcn", "gdoc", 1),
        ("mlp", "softmax", 2),
        ("mlp", "gdoc", 1),
    ]
    assert len({spec.name for spec in specs}) == 4


@pytest.mark.parametrize(
    "other",
    [{"seeds": 2}, {"metric": "accuracy"}, {"search": "grid"}, {"detectors": ["energy"]}, {"budget": "quick"}]
    + [{"backbones": ["mlp"]}],
    ids=str,
)
def test_whatever_determines_a_study_is_in_its_name(tune, other):
    assert tune.plan(**other).specs[0].name != tune.plan().specs[0].name == tune.plan(trials=9).specs[0].name


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"trials": 0}, "--trials 0"),
        ({"seeds": -1}, "--seeds -1"),
        ({"backbones": ["gcnn"]}, "did you mean 'gcn'"),
        ({"detectors": ["odn"]}, "did you mean 'odin'"),
        ({"detectors": ["good(auto)"]}, r"good\(auto\) chooses"),
        ({"budget": "quik"}, "did you mean 'quick'"),
        ({"name": "paper"}, "would pass for the paper's"),
    ],
)
def test_wrong_requests_are_refused_before_anything_is_fitted(tune, given, expected):
    with pytest.raises(UsageError, match=expected):
        tune.plan(**given)
