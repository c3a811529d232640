from __future__ import annotations

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import parse
from lgl_bench.runs.budget import BUDGETS
from lgl_bench.runs.presets import preset
from lgl_bench.runs.suite import expand, load_suite, suites


def test_every_suite_that_is_shipped_can_be_read():
    assert {"temporal", "static", "planetoid", "thresholds", "alpha", "graph-mlp", "homophily", "smoke"} == set(
        suites()
    )
    for name in suites():
        suite = load_suite(name)
        assert suite.name == name and not any("{" in text for text in (*suite.streams, *suite.detectors))


def test_a_temporal_suite_chooses_on_t1_unless_it_says_otherwise():
    found = {name: load_suite(name).select for name in suites()}
    assert found["temporal"] == found["smoke"] == "t1"
    assert found["static"] == found["planetoid"] == found["homophily"] == "preset"
    assert load_suite("temporal").override(select="preset").select == "preset"


def test_the_threshold_suite_is_the_papers_figure():
    suite = load_suite("thresholds")
    assert len(suite.thresholds) == 3 * 19
    assert {"naive(delta=0.05)", "open-wrf(q=0.95)", "open-wrf(q=0.5, fit=test)"} <= set(suite.thresholds)


def test_the_alpha_suite_sweeps_two_pairs_on_both_splits():
    suite = load_suite("alpha")
    assert suite.split == ("60-20-20", "planetoid")
    assert len(suite.detectors_of("gcn")) == len(suite.detectors_of("graph-mlp")) == 11
    assert suite.detectors_of("gcn")[3] == "good(odin, alpha=0.3)"
    assert suite.detectors_of("graph-mlp")[10] == "good(isomax+, alpha=1)"


def test_the_homophily_suite_crosses_homophily_with_alpha():
    suite = load_suite("homophily")
    assert len(suite.streams) == 9 and "dblp-easy-twin(homophily=0.3)" in suite.streams
    assert len(suite.detectors) == 2 + 2 * 10


def test_names_in_braces_are_crossed_where_a_text_has_several():
    assert expand(("x({a},{b})", "y"), {"a": (1, 2), "b": ("p", "q")}) == ("x(1,p)", "x(1,q)", "x(2,p)", "x(2,q)", "y")


def test_detectors_given_on_the_command_line_replace_those_of_single_backbones_too():
    suite = load_suite("alpha").override(detectors=("msp",))
    assert suite.detectors_of("gcn") == ("msp",)


def test_no_label_delay_can_be_asked_for_and_none_means_as_the_suite_says():
    assert load_suite("temporal").override(label_delay=2).label_delay == 2
    assert load_suite("temporal").override(label_delay=0, history=None, streams=()).label_delay == 0


def test_a_suite_of_ones_own_with_a_wrong_field_is_refused_by_name(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nversion = 0\n')
    with pytest.raises(UsageError, match="mine.toml.*version"):
        load_suite(str(path))
    path.write_text("name =")
    with pytest.raises(UsageError, match="cannot be read"):
        load_suite(str(path))


def test_a_budget_caps_width_steps_and_dropout_and_raises_small_rates():
    whole = preset("dblp-easy-twin", "temporal", "gat", "softmax")
    capped = BUDGETS["quick"].cap(whole)
    assert capped.backbone["hidden"] * capped.backbone["heads"] <= 64
    assert capped.backbone["heads"] == 2 and capped.backbone["hidden"] == 32
    assert (capped.training.steps, capped.training.warm_steps) == (50, 20) and capped.training.lr >= 0.01
    assert capped.backbone["dropout"] == 0.2
    other = BUDGETS["quick"].cap(preset("dblp-easy-twin", "temporal", "graphsage", "softmax"))
    assert other.backbone["hidden"] == 64 and "heads" not in other.backbone
    # The same number of steps for every backbone, however many of them make an epoch.
    assert (other.training.steps, other.training.warm_steps) == (50, 20)
    assert other.training.lr == 0.01 and other.backbone["dropout"] == 0.5
    assert BUDGETS["paper"].cap(whole) == whole


def test_a_budget_caps_the_epochs_of_a_threshold_that_trains_unless_they_are_given():
    quick, paper = BUDGETS["quick"], BUDGETS["paper"]
    assert dict(quick.cap_threshold(parse("open-wrf(q=0.2)")).parameters)["epochs"] == 50
    assert dict(quick.cap_threshold(parse("open-wrf(epochs=120)")).parameters)["epochs"] == 120
    assert dict(paper.cap_threshold(parse("open-wrf")).parameters)["epochs"] == 200
    assert str(quick.cap_threshold(parse("naive"))) == "naive(delta=0.1)"
