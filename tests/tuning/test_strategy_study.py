"""The search of a strategy: what is tried, what is found, what a run makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.pipeline import plan_run
from lgl_bench.plans.preset_file import load_presets
from lgl_bench.runs import answering
from lgl_bench.runs.options import Settings
from lgl_bench.strategies.replay import Replay
from lgl_bench.streams.stream import assemble
from lgl_bench.tuning.tune import run_tuning
from tests.support.graphs import small_stream

MLP = {"backbones": ["mlp"], "trials": None}


def forgetful_stream():
    """The year t0 has labels of one class only: who remembers none of the others forgets them."""
    stream = small_stream(births=(3, 0, 0, 1, 1))
    labels = np.where((stream.born == 1) & (stream.labels != 0), -1, stream.labels)
    return assemble(stream.info, stream.ids, stream.born, labels, np.array(stream.features), stream.arcs[:, ::2])


@pytest.fixture
def fits(monkeypatch) -> list[str]:
    """The strategy of every fit that was made."""
    made: list[str] = []
    original = answering.fitted

    def counted(method, *rest, **given):
        made.append(str(method.strategy))
        return original(method, *rest, **given)

    monkeypatch.setattr(answering, "fitted", counted)
    return made


# what is tried
def test_a_strategy_with_free_values_has_a_study_of_its_own_and_the_fit_has_none(tune):
    (spec,) = tune.plan(strategies=["replay(pick=mean)"], **MLP).specs
    assert spec.strategy == "replay(balance=auto,graph=all,pick=mean)"
    assert spec.space == {"size": (50, 200, 500)} and spec.points == spec.trials == 3
    assert tune.plan(strategies=["replay"], backbones=["mlp"], trials=2).specs[0].trials == 2
    (spec,) = tune.plan(strategies=["twp(loss=5)"], **MLP).specs
    assert spec.space == {"topology": (1e2, 1e4)} and "loss=5.0" in spec.strategy


def test_strategies_without_free_values_share_the_search_of_the_fit(tune):
    (plain,) = tune.plan().specs
    (same,) = tune.plan(strategies=["full", "finetune", "replay(size=50)", "joint"]).specs
    assert same == plain and not hasattr(plain, "strategy")
    both = tune.plan(strategies=["ewc", "full"]).specs
    assert both[0] == plain and both[1].strategy == "ewc", "fits come first: strategies stand on them"


def test_heads_share_the_study_of_a_strategy(tune, fits):
    result = tune(strategies=["lwf"], detectors=["msp", "energy", "gdoc"], backbones=["mlp"], trials=1)
    assert result.spec.head == "softmax,gdoc" and len(fits) == 2 * 2
    alone = [
        tune(out, strategies=["lwf"], detectors=names, backbones=["mlp"], trials=1)
        for out, names in (("softmax", ["msp", "energy"]), ("gdoc", ["gdoc"]))
    ]
    points = {str(one.entry.parameters) for one in (result, *alone)}
    assert len(points) == 1, "the order of the points does not depend on the heads"
    assert result.entry.tuned.value == pytest.approx(np.mean([one.entry.tuned.value for one in alone]), abs=1e-12)


@pytest.mark.parametrize(
    "other",
    [{"seeds": 2}, {"metric": "accuracy"}, {"detectors": ["energy"]}, {"budget": "quick"}, {"backbones": ["gcn"]}]
    + [{"strategies": ["replay(pick=mean)"]}],
    ids=str,
)
def test_whatever_determines_a_study_is_in_its_name(tune, other):
    given = {"strategies": ["replay"], "backbones": ["mlp"]}
    names = {tune.plan(**{**given, **changed}).specs[0].name for changed in ({}, {"trials": 1}, {"search": "grid"})}
    assert len(names) == 1 and tune.plan(**{**given, **other}).specs[0].name not in names


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"strategies": ["repaly"]}, "did you mean 'replay'"),
        ({"strategies": ["replay(sise=3)"]}, "no parameter 'sise'"),
        (
            {"strategies": ["replay"], "stream": small_stream(births=(1, 1, 1, 0, 1))},
            "no strategy can be tuned on small",
        ),
        (
            {"strategies": ["replay"], "stream": small_stream(static=True), "suite": "static"},
            "do not build on each other",
        ),
    ],
    ids=["name", "parameter", "no past", "static"],
)
def test_wrong_requests_are_refused_before_anything_is_fitted(tune, given, words):
    with pytest.raises(UsageError, match=words):
        tune.plan(**given)


# what is found
def test_the_better_of_two_planted_sizes_is_found(tune, monkeypatch):
    monkeypatch.setattr(Replay, "grid", {"size": (1, 60)})
    found = tune("a", stream=forgetful_stream(), strategies=["replay"], metric="accuracy", **MLP)
    values = {params["size"]: value for params, value in tune.values("a")}
    assert values[60] > values[1] and found.entry.parameters == {"size": 60}
    assert found.entry.tuned.value == values[60] and found.completed == found.entry.trials == 2


def test_of_equal_values_the_first_of_the_grid_is_taken(tune, monkeypatch):
    monkeypatch.setattr(Replay, "grid", {"size": (200, 300, 400)})
    found = tune(strategies=["replay"], **MLP)
    assert len({value for _, value in tune.values()}) == 1, "all of them remember everything"
    assert found.entry.parameters == {"size": 200}


def test_a_study_goes_on_where_it_stopped_and_ends_as_one_that_never_did(tune, fits):
    asked = {"strategies": ["mas(samples=4)"], "backbones": ["mlp"]}
    tune("a", trials=1, **asked)
    before = len(fits)
    assert before == 2
    tune("a", trials=1, **asked)
    assert len(fits) == before
    found = tune("a", trials=None, **asked)
    assert len(fits) == 4 * before and found.completed == 4
    assert tune("b", trials=None, **asked).entry == found.entry
    assert tune.values("a") == tune.values("b")


def test_a_strategy_stands_on_the_fits_of_the_file_and_the_same_command_trains_nothing_again(tune, fits):
    given = {"strategies": ["full", "lwf"], "backbones": ["mlp"], "trials": 2}
    paper = tune.plan("a", **given)
    first = run_tuning(paper)
    assert first[1].spec.parts[0].base.name == "mine"
    assert first[1].spec.parts[0].base.backbone == first[0].entry.parameters
    assert paper.specs[1].parts[0].base.name.startswith("paper") and paper.specs[1].name != first[1].spec.name
    made = len(fits)
    second = run_tuning(tune.plan("a", **given))
    assert [one.entry for one in second] == [one.entry for one in first] and len(fits) == made


# what a run makes of it
def planned(tune, preset, *strategies: str, **axes):
    settings = Settings(tune.folder / "run", data_dir=tune.folder / "data1", offline=True, preset=preset)
    asked = {"streams": ["small"], "backbones": ["mlp"], "detectors": ["msp", "gdoc"], "strategies": strategies, **axes}
    return plan_run("smoke", settings, budget="smoke", seeds=1, **asked)[0]


def test_a_run_fills_the_strategy_and_says_how_many_trials_are_behind_it(tune):
    tune(strategies=["replay"], **MLP)
    out = tune.folder / "out" / "mine.toml"
    (entry,) = load_presets(out).strategies
    entry_text = f"replay(balance=auto,graph=all,pick=random,size={entry.parameters['size']})"
    plan = planned(tune, out, "replay", "full", "replay(size=7)", "replay(pick=mean)")
    rows = {(row.strategy.name, row.detector): (row.preset, row.trials) for row in plan.rows}
    assert rows[entry_text, "msp"] == rows[entry_text, "gdoc"] == ("mine", 3)
    for other in ("full", "replay(balance=auto,graph=all,pick=random,size=7)"):
        assert rows[other, "msp"][0].startswith("paper") and rows[other, "msp"][1] == 0
    assert rows["replay(balance=auto,graph=all,pick=mean,size=200)", "msp"][1] == 0, "another pick was not tuned"
    chains = [chain for chain in plan.units if chain.strategy.name == entry_text]
    assert {chain.head for chain in chains} == {"softmax", "gdoc"}


def test_trials_of_the_fit_and_of_the_strategy_add_up(tune):
    run_tuning(tune.plan(strategies=["full", "replay"], backbones=["mlp"], trials=2))
    plan = planned(tune, tune.folder / "out" / "mine.toml", "full", "replay", detectors=["msp"])
    trials = {row.strategy.name.partition("(")[0]: row.trials for row in plan.rows if row.detector == "msp"}
    assert trials == {"full": 2, "replay": 4}


def test_a_strategy_that_the_file_makes_the_same_as_another_is_refused(tune, monkeypatch):
    monkeypatch.setattr(Replay, "grid", {"size": (5, 6)})
    found = tune(strategies=["replay"], backbones=["mlp"], trials=1)
    size = found.entry.parameters["size"]
    with pytest.raises(UsageError, match="'replay' on small with mlp: with what the preset file says.* named twice"):
        planned(tune, tune.folder / "out" / "mine.toml", f"replay(size={size})", "replay")
