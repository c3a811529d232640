"""The suite of strategies, and suites that are smaller under a budget."""

from __future__ import annotations

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.core.grammar import plugin_name
from lgl_bench.pipeline import plan_run
from lgl_bench.plans.settings import chain_settings
from lgl_bench.plans.suite import Suite, comes_from_shipped, load_suite, read_fields
from lgl_bench.runs.options import Settings
from lgl_bench.strategies import strategies

FIELDS = {
    "name": "own",
    "version": 1,
    "title": "own",
    "protocol": "temporal",
    "streams": ["small"],
    "backbones": ["gcn", "mlp"],
    "detectors": ["msp"],
    "reduced": {"smoke": {"backbones": ["gcn"]}},
}


def test_the_suite_lifelong_runs_every_strategy_that_is_built_in():
    suite = load_suite("lifelong")
    assert suite.matrix and not suite.thresholds
    named = {plugin_name(one.strategy.name) for one in chain_settings(suite)}
    assert named == {name for name in strategies.names() if strategies.is_built_in(name)}
    assert suite.streams == load_suite("temporal").streams


def test_under_a_budget_a_suite_is_as_small_as_it_says_and_under_others_whole():
    suite = Suite.model_validate(FIELDS)
    assert suite.within("smoke").backbones == ("gcn",)
    assert suite.within("paper").backbones == ("gcn", "mlp")


def test_what_a_run_names_itself_is_not_made_smaller(data, out, tmp_path):
    suite = tmp_path / "own.toml"
    lines = [f"{name} = {value!r}" for name, value in FIELDS.items() if name != "reduced"]
    suite.write_text("\n".join([*lines, "[reduced.smoke]", "backbones = ['gcn']"]))

    def backbones(**axes):
        plan, _ = plan_run(str(suite), Settings(out, offline=True), budget="smoke", **axes)
        return {row.backbone for row in plan.rows}

    assert backbones() == {"gcn"}
    assert backbones(backbones=["mlp", "gcn"]) == {"mlp", "gcn"}


def test_a_suite_that_was_made_smaller_is_still_the_shipped_one():
    assert comes_from_shipped(load_suite("lifelong").within("quick"))


def test_only_axes_can_be_made_smaller():
    with pytest.raises(UsageError, match="reduced"):
        read_fields({**FIELDS, "reduced": {"smoke": {"version": ["2"]}}}, "own")


def test_a_suite_asks_for_no_matrix_unless_it_says_so():
    assert not Suite.model_validate(FIELDS).matrix
