"""What a year goes on from when the year before it has no fit, walked in memory and carried out through the store."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lgl_bench.core.expressions import parse
from lgl_bench.core.references import FLOOR
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.runs.answering import answer_tasks
from lgl_bench.runs.engines.base import Outcome
from lgl_bench.runs.lineage import outdated, predecessor
from lgl_bench.runs.options import Settings
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.scoring import Method
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.store import write_stream
from lgl_bench.training import lifelong
from tests.support.graphs import small_stream
from tests.support.runs import Recording, in_this_process

# Energy is mapped to [0, 1] by the calibration scores, and quantile cuts at one of them.
METHODS = {"detectors": ["msp", "energy"], "thresholds": ["quantile"], "thresholds_on": "all", "streams": ["long"]}
GAP = {**METHODS, "streams": ["gap"]}
RESTARTS = ["warm", "cold"]


def long_stream():
    """Tasks that score the years 2, 3, 4 and 5."""
    return small_stream(times=(0, 1, 2, 3, 4, 5), growth=(30,) * 6, births=(3, 0, 1, 0, 1, 0))


@pytest.fixture
def stream(data):
    found = long_stream()
    write_stream(found, data / "long")
    return found


@pytest.fixture
def gap(data):
    """A stream whose year 3 has no labels: the task that would score it is skipped."""
    whole = long_stream()
    found = replace(whole, labels=np.where(whole.born == 3, -1, whole.labels))
    write_stream(found, data / "gap")
    return found


@pytest.fixture
def breaks(monkeypatch):
    """Makes the fit for a year diverge, or its worker die."""
    broken: dict[int, str] = {}

    def faulty(train):
        def run(model, task, *others):
            if broken.get(task.time) == "dies":
                raise RuntimeError("no luck")
            fit = train(model, task, *others)
            return replace(fit, status="diverged", reason="the loss was nan") if task.time in broken else fit

        return run

    monkeypatch.setattr(lifelong, "train", faulty(lifelong.train))
    return broken


def walked(stream, plan):
    """The first chain of a plan, walked in memory: answers by year."""
    chain = next(iter(plan.units))
    preset = Preset("", chain.parameters, chain.training)
    scored = tuple(parse(text) for text in plan.scored[chain])
    cuts = tuple(parse(text) for text in plan.thresholds)
    method = Method(chain.backbone, chain.head, preset, scored, cuts, parse(chain.strategy.name))
    return {a.task.time: a for a, _ in answer_tasks(stream, chain.protocol.build(), method, chain.seed)}


def by_year(result):
    """Record and answers of every unit, by year; no answers where there is no fit."""
    store = RunStore(result.folder)
    return {
        unit.time: (store.fit(unit.key), store.columns(unit.key) if store.has_answers(unit.key) else None)
        for unit in result.plan.all_units
    }


def novelty(result):
    """Energy by year."""
    found = {time: columns for time, (_, columns) in by_year(result).items() if columns is not None}
    return {time: columns["novelty:energy(temperature=1.0)"].tolist() for time, columns in found.items()}


def assert_equal_paths(stream, result):
    """Every answer of the store is that of the walk in memory, and the same years have none."""
    found = walked(stream, result.plan)
    for time, (_, columns) in by_year(result).items():
        assert bool(found[time].skipped) == (columns is None)
        if columns is None:
            continue
        assert np.array_equal(columns["class_pred"], found[time].predicted)
        for name, values in found[time].novelty.items():
            assert np.array_equal(columns[f"novelty:{name}"], values)
        decided = {key: rejected for key, rejected in found[time].rejected.items() if key[0] not in FLOOR}
        assert decided
        for (name, threshold), rejected in decided.items():
            assert np.array_equal(columns[f"rejected:{name}|{threshold}"], rejected)


def sources(result):
    """By year, the year of the unit each fit went on from."""
    years = {unit.key: unit.time for unit in result.plan.all_units} | {"": None}
    return {time: years[record.continued_from] for time, (record, _) in by_year(result).items()}


def test_after_a_year_without_labels_warm_goes_on_from_the_last_fitted_year_and_cold_does_not(
    gap, engines, carry_out, tmp_path
):
    warm, cold = (
        carry_out(settings=Settings(tmp_path / restart, offline=True), restart=restart, **GAP) for restart in RESTARTS
    )
    assert [record.status for record, _ in by_year(warm).values()] == ["ok", "skipped", "ok", "ok"]
    first, skipped, third, fourth = warm.plan.all_units
    assert (first.parent, skipped.parent, third.parent, fourth.parent) == ("", "", first.key, third.key)
    assert sources(warm) == sources(cold) == {2: None, 3: None, 4: 2, 5: 4}
    assert novelty(warm)[2] == novelty(cold)[2]
    assert novelty(warm)[4] != novelty(cold)[4]
    predicted = [by_year(result)[4][1]["confidence"] for result in (warm, cold)]
    assert not np.array_equal(*predicted)


@pytest.mark.parametrize("restart", RESTARTS)
def test_the_walk_in_memory_and_the_store_agree_after_a_year_without_labels(gap, engines, carry_out, restart):
    assert_equal_paths(gap, carry_out(restart=restart, **GAP))


@pytest.mark.parametrize("restart", RESTARTS)
@pytest.mark.parametrize("years", [(3,), (3, 4), (2,)])
def test_they_agree_after_years_that_diverged_and_go_on_from_the_nearest_that_did_not(
    stream, engines, carry_out, breaks, restart, years
):
    breaks.update(dict.fromkeys(years, "diverges"))
    result = carry_out(restart=restart, **METHODS)
    assert_equal_paths(stream, result)
    expected = {(3,): {2: None, 3: 2, 4: 2, 5: 4}, (3, 4): {2: None, 3: 2, 4: 2, 5: 2}}
    assert sources(result) == expected.get(years, {2: None, 3: None, 4: 3, 5: 4})


def test_a_fit_after_a_diverged_year_is_warm(stream, engines, carry_out, breaks, tmp_path):
    breaks[3] = "diverges"
    warm, cold = (
        carry_out(settings=Settings(tmp_path / restart, offline=True), restart=restart, **METHODS)
        for restart in RESTARTS
    )
    assert not np.array_equal(by_year(warm)[4][1]["confidence"], by_year(cold)[4][1]["confidence"])


@pytest.mark.parametrize("checkpoints", ["last", "none"])
@pytest.mark.parametrize("years", [(3,), (3, 4), (5,)])
def test_weights_are_let_go_only_when_no_later_year_needs_them(
    stream, engines, carry_out, breaks, tmp_path, checkpoints, years
):
    breaks.update(dict.fromkeys(years, "diverges"))
    kept = carry_out(settings=Settings(tmp_path / "all", offline=True), **METHODS)
    short = carry_out(settings=Settings(tmp_path / "few", offline=True, checkpoints=checkpoints), **METHODS)
    assert sources(short) == sources(kept)
    assert novelty(short) == novelty(kept)
    last_ok = max(time for time in (2, 3, 4, 5) if time not in years)
    held = [unit.time for unit in short.plan.all_units if RunStore(short.folder).weights(unit.key)]
    assert held == ([last_ok] if checkpoints == "last" else [])


class DiesWithTwo(Recording):
    """Workers that die of more than one detector."""

    def collect(self, on_epoch=None):
        if len(self._orders[0].detectors) > 1:
            return [Outcome(self._orders.pop(), None, "the worker died")]
        return super().collect(on_epoch)


def test_detectors_that_are_scored_alone_after_a_worker_died_have_the_same_calibration(
    stream, engines, carry_out, monkeypatch, tmp_path
):
    whole = carry_out(settings=Settings(tmp_path / "whole", offline=True), **METHODS)
    in_this_process(monkeypatch, DiesWithTwo)
    alone = carry_out(settings=Settings(tmp_path / "alone", offline=True, checkpoints="none"), **METHODS)
    assert novelty(alone) == novelty(whole)


def test_a_failed_year_that_is_made_again_has_the_years_after_it_made_again(
    stream, engines, carry_out, breaks, tmp_path
):
    whole = carry_out(settings=Settings(tmp_path / "whole", offline=True), **METHODS)
    breaks[3] = "dies"
    settings = Settings(tmp_path / "run", offline=True)
    broken = carry_out(settings=settings, **METHODS)
    assert by_year(broken)[3][0].status == "failed" and sources(broken) == {2: None, 3: 2, 4: 2, 5: 4}
    before = novelty(broken)
    breaks.clear()
    seen = len(engines)
    carry_out(settings=settings, **METHODS)
    assert not engines[seen].seen
    again = carry_out(settings=replace(settings, retry_failed=True), **METHODS)
    assert sources(again) == sources(whole) == {2: None, 3: 2, 4: 3, 5: 4}
    assert novelty(again) == novelty(whole)
    assert novelty(again)[2] == before[2] and novelty(again)[4] != before[4]


def chain_of(stream_units, **ended):
    """Records of units a, b, c, d, each written as its status and what it went on from."""
    found = dict.fromkeys(stream_units)
    for key, text in ended.items():
        status, before = text.split(":")
        found[key] = FitRecord(status=status, continued_from=before, key=key, time=0, role="test")
    return found


@pytest.fixture
def units(engines, carry_out, stream):
    """Four units a, b, c, d, each the parent of the next."""
    plan = carry_out(detectors=["msp"], thresholds=["none"], streams=["long"]).plan
    names = ("a", "b", "c", "d")
    return [
        replace(unit, key=key, parent=parent)
        for unit, key, parent in zip(plan.all_units, names, ("", *names), strict=False)
    ]


def test_a_unit_goes_on_from_the_nearest_ancestor_that_is_ok_or_still_to_be_made(units):
    by_key = {unit.key: unit for unit in units}
    status = {"a": "ok", "b": "diverged", "c": "failed"}
    assert predecessor(units[0], by_key, status.get) is None
    assert predecessor(units[3], by_key, status.get) == units[0]
    assert predecessor(units[3], by_key, {**status, "b": "ok"}.get) == units[1]
    assert predecessor(units[3], by_key, {"a": "ok"}.get) == units[2]


def test_fits_that_went_on_without_one_that_is_to_be_made_again_are_outdated_with_all_after_them(units):
    assert outdated(units, chain_of("abcd", a="ok:", b="failed:a", c="ok:a", d="ok:c")) == []
    assert outdated(units, chain_of("abcd", a="ok:", c="ok:a", d="ok:c")) == ["c", "d"]
    assert outdated(units, chain_of("abcd", a="ok:", c="diverged:a", d="ok:a")) == ["c", "d"]
    # What is only missing is made again as it was.
    assert outdated(units, chain_of("abcd", a="ok:", c="ok:b", d="ok:c")) == []
    assert outdated(units, chain_of("abcd", a="ok:", b="ok:a")) == []
