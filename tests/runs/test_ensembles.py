"""Ensembles in runs: which fits they take, that nothing is fitted twice, and that the store and a walk agree."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import safetensors.torch
import torch

from lgl_bench.backbones import backbones
from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import complete, parse
from lgl_bench.core.seeds import member_seed
from lgl_bench.detectors import Detector, detectors
from lgl_bench.pipeline import plan_run
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.runs.answering import answer_tasks
from lgl_bench.runs.estimate import estimate
from lgl_bench.runs.isolation.requests import fitted, restored
from lgl_bench.runs.options import Settings
from lgl_bench.runs.scoring import Method
from lgl_bench.runs.store import RunStore
from lgl_bench.strategies import EMPTY
from lgl_bench.strategies.members import given_to
from lgl_bench.streams.catalogue import load
from lgl_bench.training import lifelong
from tests.runs.test_answering import method, walk
from tests.support.graphs import small_stream

THREE = "ensemble(msp,members=3)"
STRATEGIES = ["full", "cold", "window(years=2)", "finetune", "replay(size=10)", "ewc", "lwf", "agem(size=10)"]


def chains(plan, members):
    return [chain for chain in plan.units if chain.members == members]


def members_in(result, unit):
    """The weights of every member of a fit."""
    whole = safetensors.torch.load(RunStore(result.folder).weights(unit.key))
    count = unit.chain.members
    parts = [{n: w for n, w in whole.items() if n.startswith(f"members.{k}.")} for k in range(count)]
    return [{name.split(".", 2)[2]: weight for name, weight in part.items()} for part in parts]


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture
def two_seeds(carry_out, engines):
    return carry_out(detectors=["msp", THREE], thresholds=["none"], seeds=2)


def test_member_0_is_the_fit_of_the_run_and_all_others_have_weights_of_their_own(two_seeds):
    plan, store = two_seeds.plan, RunStore(two_seeds.folder)
    fits = []
    for alone, together in zip(chains(plan, 1), chains(plan, 3), strict=True):
        assert alone == replace(together, members=1)
        for single, several in zip(plan.units[alone], plan.units[together], strict=True):
            own = members_in(two_seeds, several)
            assert same(own[0], safetensors.torch.load(store.weights(single.key)))
            fits.append((several.time, own))
    by_year = {time: [one for year, own in fits if year == time for one in own] for time, _ in fits}
    # Of each year two seeds with three members: no two of the six are the same fit.
    assert {len(own) for own in by_year.values()} == {6}
    assert not any(same(a, b) for own in by_year.values() for a, b in combinations(own, 2))


def test_no_two_runs_share_a_seed_of_a_member():
    seeds = [member_seed(seed, number) for seed in range(1_000) for number in range(20)]
    assert len(set(seeds)) == len(seeds)
    assert [member_seed(seed, 0) for seed in range(1_000)] == list(range(1_000))


def test_members_of_a_run_answer_the_tasks_of_that_run():
    stream, what = small_stream(static=True), replace(method(THREE), members=3, strategy=None)
    task, _ = next(LeaveClassOut().tasks(stream, 1))
    given = given_to(task, None, EMPTY, "all", "all", 3)
    model, year = fitted(what, given, None, 1)
    assert all(np.array_equal(view.fit_mask, task.fit_mask) for view in model.views) and year.fit.epochs == 9
    single = replace(what, members=1)
    for number, member in enumerate(model.parts):
        alone, _ = fitted(single, given.members[0], None, member_seed(1, number))
        assert same(member.state_dict(), alone.state_dict())


def test_classes_confidence_and_novelty_of_a_row_are_those_of_the_mean(two_seeds):
    plan, store = two_seeds.plan, RunStore(two_seeds.folder)
    stream = load("small")
    for chain in chains(plan, 3):
        tasks = list(chain.protocol.build().tasks(stream, chain.seed))
        what = Method(chain.backbone, chain.head, Preset("", chain.parameters, chain.training), (), members=3)
        for (task, _), unit in zip(tasks, plan.units[chain], strict=True):
            model = restored(what, task, store.weights(unit.key))
            mean = np.mean([one.probabilities(task.test)[task.scored] for one in model.parts], axis=0)
            columns = store.columns(unit.key)
            assert np.array_equal(columns.predicted, task.known[mean.argmax(axis=1)])
            assert columns.confidence == pytest.approx(mean.max(axis=1))
            assert columns[f"novelty:{THREE}"] == pytest.approx(1 - mean.max(axis=1), abs=1e-6)


def test_a_row_has_the_accuracy_of_the_mean_and_the_cost_of_all_members(two_seeds):
    store, years = RunStore(two_seeds.folder), pd.read_parquet(two_seeds.folder / "years.parquet")
    plan = two_seeds.plan
    for chain, units in plan.units.items():
        for unit in units:
            record = store.fit(unit.key)
            assert record.epochs == chain.members * chain.epochs
            rows = years[years["key"] == unit.key]
            assert set(rows["detector"]) <= ({THREE} if chain.members == 3 else {"msp", "random", "degree", "recency"})
            assert set(rows["fit_seconds"]) == {record.seconds}


def test_a_run_without_an_ensemble_has_the_fits_it_has_beside_one(data, out):
    def keys(*texts):
        plan, _ = plan_run(
            "smoke", Settings(out, offline=True), budget="smoke", backbones=["gcn"], streams=["small"], detectors=texts
        )
        return {unit.key for chain in chains(plan, 1) for unit in plan.units[chain]}, len(plan.all_units)

    alone, count = keys("msp")
    beside, more = keys("msp", THREE, "ensemble(energy,members=2)", "good(ensemble(energy,members=3))")
    assert alone == beside and len(alone) == count and more == 3 * count
    assert keys("msp", "ensemble(msp,members=1)") == (alone, count)


def test_what_is_there_is_not_fitted_again_and_detectors_share_the_members(carry_out, engines):
    carry_out(detectors=["msp", THREE], thresholds=["none"], seeds=1)
    first = engines[-1].seen
    carry_out(detectors=["msp", THREE], thresholds=["none"], seeds=1)
    assert not engines[-1].seen
    found = carry_out(detectors=["msp", THREE, "good(ensemble(odin,members=3))"], thresholds=["quantile"], seeds=1)
    assert engines[-1].seen and all(order.weights for order in engines[-1].seen)
    assert {order.unit.chain.members for order in engines[-1].seen} == {3} and len(first) == 6
    assert not found.counts.failed


@pytest.mark.parametrize("checkpoints", ["last", "none"])
def test_members_whose_weights_are_gone_are_fitted_again_and_come_out_as_they_were(carry_out, data, out, checkpoints):
    settings = Settings(out, offline=True, engine="in-process", checkpoints=checkpoints)
    carry_out(settings=settings, detectors=[THREE], thresholds=["none"], seeds=1)
    found = carry_out(settings=settings, detectors=[THREE, "ensemble(energy,members=3)"], thresholds=["none"], seeds=1)
    whole = carry_out(
        settings=replace(settings, out=out / "whole", checkpoints="all"),
        detectors=[THREE, "ensemble(energy,members=3)"],
        thresholds=["none"],
        seeds=1,
    )
    assert not found.counts.failed
    one, other = (RunStore(result.folder) for result in (found, whole))
    for unit in found.plan.all_units:
        a, b = one.columns(unit.key), other.columns(unit.key)
        assert sorted(a) == sorted(b) and all(np.array_equal(a[name], b[name]) for name in a)


def test_a_member_that_diverges_fails_the_year_with_its_number(carry_out, engines, monkeypatch):
    real, seeds = lifelong.train, []

    def second_diverges(model, task, parameters, seed, *arguments):
        seeds.append((task.time, seed))
        fit = real(model, task, parameters, seed, *arguments)
        bad = task.time == 3 and seed == member_seed(0, 1)
        return replace(fit, status="diverged", reason="the loss was nan in epoch 1") if bad else fit

    monkeypatch.setattr(lifelong, "train", second_diverges)
    found = carry_out(detectors=[THREE], thresholds=["none"], seeds=1)
    assert (3, member_seed(0, 2)) not in seeds and {(2, member_seed(0, 2)), (4, member_seed(0, 2))} <= set(seeds)
    years = pd.read_parquet(found.folder / "years.parquet")
    row = years[(years["detector"] == THREE) & (years["status"] != "ok")]
    assert row["reason"].tolist() == ["diverged: member 1: the loss was nan in epoch 1"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_store_and_a_walk_in_memory_agree_whatever_members_remember(carry_out, engines, strategy):
    axes = {"detectors": [THREE, "ensemble(knn,members=3)"], "thresholds": ["quantile"], "thresholds_on": "all"}
    result = carry_out(strategies=[strategy], seeds=1, **axes)
    assert not result.counts.failed
    (chain,) = chains(result.plan, 3)
    preset = Preset("", chain.parameters, chain.training)
    scored, cuts = (tuple(map(parse, texts)) for texts in (result.plan.scored[chain], result.plan.thresholds))
    what = Method(chain.backbone, chain.head, preset, scored, cuts, parse(chain.strategy.name), 3)
    store = RunStore(result.folder)
    walked = answer_tasks(load("small"), chain.protocol.build(), what, chain.seed)
    for (answers, _), unit in zip(walked, result.plan.units[chain], strict=True):
        columns = store.columns(unit.key)
        assert np.array_equal(columns.predicted, answers.predicted)
        for name, values in answers.novelty.items():
            assert np.array_equal(columns[f"novelty:{name}"], values)
        for (name, threshold), rejected in answers.rejected.items():
            assert np.array_equal(columns[f"rejected:{name}|{threshold}"], rejected)


@pytest.mark.parametrize("strategy", ["ssm(size=5,fanout=2)", "replay(size=10,graph=kept)"])
def test_a_strategy_that_keeps_a_graph_of_its_own_is_refused(carry_out, data, strategy):
    with pytest.raises(UsageError, match="an ensemble cannot be run with the strategy .*vertices of its own"):
        carry_out(detectors=["msp", THREE], strategies=[strategy])


class Reads(Detector):
    """Somebody's own: the largest embedding, less the number of vertices it learned from."""

    bounded = False

    def fit(self, model, train, fit_vertices, calibration):
        self.seen_ = len(fit_vertices)

    def score(self, model, graph):
        return model.outputs(graph).embeddings.amax(dim=1).double().numpy() - self.seen_


@pytest.mark.parametrize("strategy", ["full", "replay(size=10)"])
def test_a_plugin_within_an_ensemble_is_asked_elsewhere_and_scores_the_members(carry_out, engines, strategy):
    with detectors.temporarily():
        detectors.register("reads")(Reads)
        text = "ensemble(reads,members=3)"
        assert str(complete(parse("ensemble(reads,members=3)"), detectors)) == text
        found = carry_out(detectors=[text, "good(ensemble(reads,members=3))"], strategies=[strategy], seeds=1)
        assert not found.counts.failed
        (chain,) = chains(found.plan, 3)
        columns = RunStore(found.folder).columns(found.plan.units[chain][-1].key)
        assert np.ptp(columns[f"novelty:{text}"]) > 0


@pytest.mark.parametrize("strategy", ["full", "replay(size=10)"])
def test_members_of_a_backbone_of_somebody_s_own_are_fitted_elsewhere_and_come_out_the_same(
    carry_out, engines, out, strategy
):
    class Mine(backbones.get("gcn")):
        """The same by another name."""

    def answers(backbone):
        axes = {"detectors": [THREE], "backbones": [backbone], "strategies": [strategy], "thresholds": ["none"]}
        found = carry_out(settings=Settings(out / backbone, offline=True), seeds=1, **axes)
        assert not found.counts.failed
        (chain,) = chains(found.plan, 3)
        store = RunStore(found.folder)
        return [(store.fit(unit.key), store.columns(unit.key)) for unit in found.plan.units[chain]]

    with backbones.temporarily():
        backbones.register("mine")(Mine)
        mine, theirs = answers("mine"), answers("gcn")
    for (record, columns), (other, own) in zip(mine, theirs, strict=True):
        assert record.memory_vertices == other.memory_vertices > 0 and record.memory == other.memory
        assert np.array_equal(columns.predicted, own.predicted)
        assert np.array_equal(columns[f"novelty:{THREE}"], own[f"novelty:{THREE}"])


def test_every_protocol_and_threshold_takes_an_ensemble():
    what = replace(
        method("ensemble(grasp,members=2)", "ensemble(energy,members=2)", cuts=("quantile", "gdoc")), members=2
    )
    for protocol, static in ((Temporal(history=2), False), (LeaveClassOut(), True)):
        for answers, _ in walk(small_stream(static=static), protocol, what):
            assert not answers.failed and len(answers.rejected) == 4


def test_a_walk_with_another_number_of_models_is_refused():
    with pytest.raises(UsageError, match="ensemble.msp,members=3. scores 3 models together; the fit has 1"):
        walk(small_stream(), Temporal(), method(THREE))


def test_good_chooses_among_single_models_and_ensembles(carry_out, engines):
    found = carry_out(detectors=["msp", THREE, "good(auto)"], thresholds=["none"], seeds=2, select="t1")
    (row,) = [row for row in found.plan.rows if row.detector == "good(auto)"]
    assert {candidate.fit_kind.members for candidate in row.candidates} == {1, 3}
    assert not found.counts.failed and "good(auto)" in set(found.frame["detector"])


def test_the_estimate_counts_every_member(data, out):
    settings = Settings(out, offline=True)

    def of(text):
        axes = {"backbones": ["gcn"], "streams": ["small"], "detectors": [text]}
        return estimate(*plan_run("smoke", settings, budget="smoke", **axes), settings)

    alone, together = of("ensemble(msp,members=1)"), of("ensemble(msp,members=4)")
    # The floor is scored on single fits, which a run of ensembles alone makes for it.
    assert together["fits"] == 5 * alone["fits"] and together["fits_to_do"] == 5 * alone["fits_to_do"]
    assert together["checkpoints_mb"] == pytest.approx(5 * alone["checkpoints_mb"], abs=0.002)
