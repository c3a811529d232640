"""Strategies as suites and commands spell them, and the fits that come of each spelling."""

from __future__ import annotations

import pytest

from lgl_bench.core.errors import UnknownNameError, UsageError
from lgl_bench.pipeline import plan_run
from lgl_bench.plans.fits import UNCHAINED, StrategySetting
from lgl_bench.plans.plan_file import PluginFacts, StrategyFacts
from lgl_bench.plans.settings import chain_settings, resolve_strategy, strategy_facts
from lgl_bench.plans.suite import load_suite
from lgl_bench.runs.options import Settings

TWO_YEARS = "window(restart=warm,years=2)"


def suite(**given):
    return load_suite("smoke").override(**given)


def settings(**given):
    return chain_settings(suite(**given))


def test_a_suite_that_says_nothing_keeps_all_history_and_goes_on():
    (found,) = settings()
    assert found.strategy == StrategySetting("full", warm=True, past="all", graph="all")
    assert found.protocol.history is None


@pytest.mark.parametrize(
    ("spelling", "strategy"),
    [
        ({"history": 2}, "window(years=2)"),
        ({"history": 2, "restart": "warm"}, "window(years=2)"),
        ({"history": 2, "restart": "cold"}, "window(years=2,restart=cold)"),
        ({"restart": "cold"}, "cold"),
        ({"restart": "warm"}, "full"),
    ],
)
def test_history_and_restart_are_spellings_of_a_strategy(spelling, strategy):
    assert settings(**spelling) == settings(strategies=(strategy,))


def test_a_window_tells_the_protocol_how_many_years_stay():
    (found,) = settings(history=2)
    assert (found.strategy.name, found.protocol.history, found.strategy.warm) == (TWO_YEARS, 2, True)


def test_what_is_known_of_a_strategy_is_written_down_for_its_key():
    (found,) = settings(strategies=("ssm(size=9)",))
    assert found.strategy == StrategySetting("ssm(fanout=5,hops=2,size=9)", True, "memory", "kept")


def test_both_spellings_at_once_are_refused():
    with pytest.raises(UsageError, match="another spelling"):
        suite(history=2, strategies=("full",))


def test_each_strategy_has_chains_of_its_own():
    found = settings(strategies=("full", "finetune", "replay(size=50)"))
    assert [one.strategy.name for one in found] == [
        "full",
        "finetune",
        "replay(balance=auto,graph=all,pick=random,size=50)",
    ]


def test_one_strategy_in_two_spellings_is_refused():
    with pytest.raises(UsageError, match="replay.* is named twice"):
        settings(strategies=("replay", "replay(size=200)"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("repaly", "did you mean 'replay'"),
        ("replay(sice=3)", "did you mean 'size'"),
        ("replay(size=0)", "at least one vertex"),
        ("replay(pick=best)", "expected random or mean or coverage"),
        ("window(years=0)", "at least the last year"),
        ("ewc(strength=-1)", "at least 0 and finite"),
        ("replay(full)", "wraps none"),
    ],
)
def test_a_wrong_strategy_says_what_is_wrong(text, said):
    with pytest.raises((UsageError, UnknownNameError), match=said):
        settings(strategies=(text,))


def test_tasks_that_do_not_build_on_each_other_have_no_strategy():
    static = load_suite("static")
    assert {one.strategy for one in chain_settings(static)} == {UNCHAINED}
    with pytest.raises(UsageError, match="no past to keep; leave --strategy out"):
        chain_settings(static.override(strategies=("finetune",)))
    with pytest.raises(UsageError, match="has no years"):
        chain_settings(static.override(history=2))


def test_a_strategy_that_is_not_available_is_what_was_recorded_of_it():
    recorded = PluginFacts(strategies={"mine(size=7)": StrategyFacts(warm=True, past="memory", graph="kept")})
    for text in ("mine", "mine(size=7)"):
        found, history = resolve_strategy(text, recorded)
        assert (found, history) == (StrategySetting("mine(size=7)", True, "memory", "kept"), None)
    with pytest.raises(UnknownNameError, match="mine"):
        resolve_strategy("mine(size=8)", recorded)


def test_the_facts_of_a_window_have_its_years():
    assert strategy_facts("window(years=4,restart=cold)") == StrategyFacts(
        warm=False, past="all", graph="all", history=4
    )


def keys(out, **given):
    plan, _ = plan_run("smoke", Settings(out, offline=True), budget="smoke", streams=["small"], **given)
    return [unit.key for unit in plan.all_units]


def test_both_spellings_have_the_same_fits_and_each_strategy_its_own(data, tmp_path):
    found = {text: keys(tmp_path, strategies=[text]) for text in ("full", "cold", "window(years=2)", "finetune")}
    assert keys(tmp_path, history=2) == found["window(years=2)"]
    assert keys(tmp_path, restart="cold") == found["cold"]
    assert keys(tmp_path) == found["full"]
    every = [key for one in found.values() for key in one]
    assert len(every) == len(set(every))


def test_a_delay_of_one_stream_is_the_delay_of_its_rows(carry_out, engines):
    one = carry_out(detectors=["msp"], seeds=1, label_delay_for={"small": 1}).frame
    assert set(one["label_delay"]) == {1}
    assert set(carry_out(detectors=["msp"], seeds=1, label_delay_for={"other": 1}).frame["label_delay"]) == {0, 1}
    assert len(engines) == 2
