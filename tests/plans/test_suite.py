from __future__ import annotations

from dataclasses import replace

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import parse
from lgl_bench.core.resources import shipped
from lgl_bench.plans.budget import BUDGETS
from lgl_bench.plans.paper_presets import preset
from lgl_bench.plans.plan import MAX_CHAINS, MAX_SEEDS, make_plan
from lgl_bench.plans.suite import (
    MAX_ROWS,
    comes_from_shipped,
    expand,
    is_shipped,
    load_suite,
    read_fields,
    suite_digest,
    suites,
)
from lgl_bench.runs.estimate import checkpoint_mb
from lgl_bench.streams.catalogue import twin

MINE = {
    "name": "mine",
    "version": 1,
    "title": "One of my own",
    "protocol": "temporal",
    "streams": ["dblp-easy-twin"],
    "backbones": ["gcn"],
    "detectors": ["msp"],
}


def refused(**fields):
    with pytest.raises(UsageError) as caught:
        read_fields(MINE | fields, "mine.toml")
    told = str(caught.value)
    assert told.startswith("the suite 'mine.toml': ") and len(told) < 500 and told.isprintable()
    return told.removeprefix("the suite 'mine.toml': ")


def test_every_suite_that_is_shipped_can_be_read():
    shipped = {"temporal", "static", "planetoid", "thresholds", "alpha", "graph-mlp", "homophily", "lifelong", "smoke"}
    assert shipped | {"propagation", "rivals", "rivals-static"} == set(suites())
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


def test_a_stream_may_have_a_label_delay_of_its_own_which_one_for_all_replaces():
    suite = load_suite("temporal")
    assert suite.on("pubmed-temporal").label_delay == 2
    assert suite.on("dblp-easy").label_delay == 0
    assert suite.override(label_delay=1).on("pubmed-temporal").label_delay == 1
    assert suite.override(label_delay=0).on("pubmed-temporal").label_delay == 0


def test_a_run_with_a_label_delay_of_its_own_comes_from_the_shipped_suite():
    assert comes_from_shipped(load_suite("temporal").override(label_delay=2))
    assert comes_from_shipped(load_suite("temporal").override(streams=("pubmed-temporal",)))


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


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"name": "my suite"}, "field 'name': 'my suite' cannot be a name"),
        ({"name": "a\nb"}, "field 'name': 'a\\nb' cannot be a name"),
        ({"name": "../smoke"}, "field 'name': '../smoke' cannot be a name"),
        ({"name": "x" * 100_000}, "(100,000 characters) cannot be a name"),
        ({"title": "two\nlines"}, "field 'title': 'two\\nlines': at most 500 characters on one line"),
        ({"version": True}, "field 'version': Input should be a valid integer"),
        ({"version": 10**30}, "field 'version': Input should be less than"),
        ({"version": "1"}, "field 'version': Input should be a valid integer"),
        ({"history": -1}, "field 'history': Input should be greater than or equal to 1"),
        ({"label_delay": -1}, "field 'label_delay': Input should be greater than or equal to 0"),
        ({"label_delay_for": {"cora": -1}}, "field 'label_delay_for.cora': Input should be greater than or equal to 0"),
        ({"label_delay": 1.5}, "field 'label_delay': Input should be a valid integer"),
        ({"streams": []}, "field 'streams': Tuple should have at least 1 item"),
        ({"streams": "dblp-easy"}, "field 'streams': Input should be a valid tuple"),
        ({"streams": ["../../etc/passwd"]}, "'../../etc/passwd' cannot be the name of a stream"),
        ({"streams": ["a stream"]}, "'a stream' cannot be the name of a stream"),
        ({"backbones": []}, "field 'backbones': Tuple should have at least 1 item"),
        ({"detectors": [1]}, "field 'detectors.0': Input should be a valid string"),
        ({"detectors_for": {"gcn": []}}, "field 'detectors_for.gcn': Tuple should have at least 1 item"),
        ({"sweep": {"dropout": []}}, "field 'sweep.dropout': Tuple should have at least 1 item"),
        ({"sweep": {"dropout": [float("nan")]}}, "field 'sweep.dropout.0': Input should be a finite number"),
        ({"sweep": {"dropout": [True]}}, "field 'sweep.dropout.0': Input should be a valid number"),
        ({"vary": {"a": []}}, "field 'vary.a': Tuple should have at least 1 item"),
        ({"colour": "red"}, "field 'colour': Extra inputs are not permitted"),
    ],
)
def test_a_field_that_is_not_what_it_should_be_is_refused_and_named(fields, expected):
    assert expected in refused(**fields)


def test_what_values_make_of_a_suite_is_counted_before_it_is_made():
    many = [float(i) for i in range(1000)]
    assert "the values of 'vary' make 1,000,000 texts" in refused(
        detectors=["good(odin(eps={a}), alpha={b})"], vary={"a": many, "b": many}
    )
    assert "asks for 1,000,000 rows, one for each stream, strategy, split" in refused(sweep={"beta": many, "tau": many})
    assert f"at most {MAX_ROWS:,} are run at once" in refused(
        streams=["dblp-easy-twin(seed={a})"], backbones=["gcn"] * 11, vary={"a": many}
    )


def test_a_text_that_values_make_too_long_and_a_value_that_names_another_are_refused():
    assert "with the values of 'vary' it has more than 300 characters" in refused(
        detectors=["{a}" * 100], vary={"a": ["x" * 200]}
    )
    assert "field 'vary.a.0" in refused(detectors=["{a}"], vary={"a": ["{b}" * 50], "b": ["{c}" * 50]})


def test_values_keep_all_their_digits_where_they_stand_for_a_name():
    suite = read_fields(MINE | {"streams": ["cora-twin(seed={s})"], "vary": {"s": [1234567, 0.123456789]}}, "")
    assert suite.streams == ("cora-twin(seed=1234567)", "cora-twin(seed=0.123456789)")


def test_a_file_with_the_name_of_a_shipped_suite_must_be_that_suite(tmp_path):
    text = (shipped("benchmarks") / "smoke.toml").read_text()
    path = tmp_path / "other.toml"
    path.write_text(text.replace("A minute's run", "A copy, with a title of its own"))
    assert is_shipped(load_suite(str(path)))
    for change in ('detectors = ["msp"]', "version = 1", "[sweep]\ndropout = [0.1]"):
        name = change.split(" =")[0]
        kept = "\n".join(line for line in text.splitlines() if not line.startswith(name))
        path.write_text(f"{kept}\n{change}\n")
        with pytest.raises(UsageError, match="the name smoke belongs to the shipped suite.*suite another name"):
            load_suite(str(path))
    path.write_text(path.read_text().replace('name = "smoke"', 'name = "mine"'))
    assert load_suite(str(path)).name == "mine"


def test_what_a_run_replaces_keeps_the_name_and_what_it_cannot_replace_does_not():
    suite = load_suite("alpha")
    assert is_shipped(suite) and comes_from_shipped(suite)
    narrowed = suite.override(detectors=("msp",), streams=("cora",), split=("planetoid",))
    assert not is_shipped(narrowed) and comes_from_shipped(narrowed)
    for field, value in (("version", 1), ("protocol", "transductive"), ("sweep", {"dropout": (0.9,)})):
        assert not comes_from_shipped(suite.model_copy(update={field: value})), field
        with pytest.raises(UsageError, match=f"'{field}' of a suite cannot be replaced for a run"):
            suite.override(**{field: value})
    assert not comes_from_shipped(suite.model_copy(update={"detectors_for": {"gcn": ("msp",)}}))
    assert not is_shipped(read_fields(MINE, "")) and not comes_from_shipped(read_fields(MINE, ""))


def test_the_title_does_not_decide_the_rows_and_everything_else_does():
    suite = read_fields(MINE, "")
    assert suite_digest(suite) == suite_digest(suite.model_copy(update={"title": "Another"}))
    others = {"version": 2, "streams": ("cora-twin",), "strategies": ("cold",), "thresholds": ("naive",)}
    for field, value in others.items():
        assert suite_digest(suite) != suite_digest(suite.model_copy(update={field: value})), field


@pytest.fixture(scope="module")
def small():
    return {"dblp-easy-twin": twin("dblp-easy-twin(birth_size=1, features=8)")}


def test_swept_values_within_the_budget_are_run_and_those_beyond_are_refused(small):
    def plan(budget="quick", backbone="gcn", **sweep):
        return make_plan(
            read_fields(MINE | {"backbones": [backbone], "sweep": sweep}, ""), BUDGETS[budget], small, seeds=1
        )

    widths = [chain.parameters["hidden"] for chain in plan(hidden=[16, 64]).units]
    assert widths == [16, 64] and all(isinstance(width, int) for width in widths)
    assert [chain.parameters["hidden"] for chain in plan(backbone="gat", hidden=[8]).units] == [8]
    assert [chain.parameters["hidden"] for chain in plan("paper", hidden=[512]).units] == [512]
    heads = [chain.parameters for chain in plan(backbone="gat", heads=[1, 4]).units]
    assert [(one["heads"], one["hidden"]) for one in heads] == [(1, 32), (4, 16)]  # they share the width of 64
    for backbone, sweep, told in (
        ("gcn", {"hidden": [16, 128]}, "hidden = 128; the budget quick allows 64"),
        ("gcn", {"dropout": [0.9]}, "dropout = 0.9; the budget quick allows 0.5"),
        ("gat", {"hidden": [64]}, "hidden = 64; the budget quick allows 32"),
    ):
        with pytest.raises(UsageError, match=told):
            plan(backbone=backbone, **sweep)


def test_a_plan_of_more_chains_than_anybody_could_run_is_refused_before_it_is_made(small):
    suite = read_fields(MINE | {"sweep": {"dropout": [0.001 * i for i in range(400)]}}, "")
    for seeds in (0, MAX_SEEDS + 1):
        with pytest.raises(UsageError, match=f"--seeds {seeds}: at least one is needed, and at most {MAX_SEEDS:,}"):
            make_plan(suite, BUDGETS["smoke"], small, seeds=seeds)
    with pytest.raises(UsageError, match=f"asks for 400,000 chains of fits.*at most {MAX_CHAINS:,}"):
        make_plan(suite, BUDGETS["smoke"], small, seeds=MAX_SEEDS)


def test_weights_that_no_memory_could_hold_are_counted_without_making_them(small):
    plan = make_plan(
        read_fields(MINE | {"sweep": {"hidden": [100_000], "layers": [4]}}, ""), BUDGETS["paper"], small, seeds=1
    )
    (chain,) = plan.units
    assert checkpoint_mb(chain, small[chain.stream]) > 70_000
    with pytest.raises(UsageError, match="at most 100 layers and 100,000 hidden units"):
        checkpoint_mb(replace(chain, backbone_parameters=(("layers", 10**9),)), small[chain.stream])
