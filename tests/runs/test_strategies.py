"""Strategies in runs: the store and a walk in memory agree, spellings share rows, and what is kept is measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lgl_bench.core.expressions import parse
from lgl_bench.core.references import FLOOR
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.runs.answering import answer_tasks
from lgl_bench.runs.options import Settings
from lgl_bench.runs.records import StoreWarning
from lgl_bench.runs.scoring import Method
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.store import write_stream
from tests.support.graphs import small_stream

ALL = [
    "full",
    "cold",
    "window(years=2)",
    "window(years=2, restart=cold)",
    "finetune",
    "joint",
    "replay(size=10)",
    "replay(size=10, pick=mean)",
    "replay(size=10, pick=coverage)",
    "replay(size=10, graph=kept)",
    "ewc",
    "mas(samples=8)",
    "lwf",
    "twp",
    "agem(size=10)",
    "ssm(size=5, fanout=2)",
]
KEEPING = ["replay(size=10)", "ssm(size=5, fanout=2)", "ewc"]
METHODS = {"detectors": ["msp", "energy"], "thresholds": ["quantile"], "thresholds_on": "all"}
MEASURED = ["fit_seconds", "peak_memory_mb", "created_at"]


@pytest.fixture
def streams(data):
    """One with four tasks, and one whose year 3 has no labels, so that a task is skipped."""
    whole = small_stream(times=tuple(range(6)), growth=(30,) * 6, births=(3, 0, 1, 0, 1, 0))
    gap = replace(whole, labels=np.where(whole.born == 3, -1, whole.labels))
    for name, one in (("long", whole), ("gap", gap)):
        write_stream(one, data / name)
    return {"long": whole, "gap": gap}


def walked(stream, plan):
    """The first chain of a plan, walked in memory: answers by year."""
    chain = next(iter(plan.units))
    preset = Preset("", chain.parameters, chain.training)
    scored = tuple(parse(text) for text in plan.scored[chain])
    decided = tuple(parse(text) for text in plan.thresholds)
    method = Method(chain.backbone, chain.head, preset, scored, decided, parse(chain.strategy.name))
    return {a.task.time: a for a, _ in answer_tasks(stream, chain.protocol.build(), method, chain.seed)}


def assert_agree(stream, result):
    """Every answer of the store is that of the walk, and the same years have none."""
    found, store = walked(stream, result.plan), RunStore(result.folder)
    for unit in result.plan.all_units:
        answers = found[unit.time]
        assert bool(answers.skipped) != store.has_answers(unit.key)
        if answers.skipped:
            continue
        columns = store.columns(unit.key)
        assert np.array_equal(columns["class_pred"], answers.predicted)
        for name, values in answers.novelty.items():
            assert np.array_equal(columns[f"novelty:{name}"], values)
        for (name, threshold), rejected in answers.rejected.items():
            if name not in FLOOR:
                assert np.array_equal(columns[f"rejected:{name}|{threshold}"], rejected)


@pytest.mark.parametrize("strategy", ALL)
def test_the_walk_in_memory_and_the_store_agree(streams, engines, carry_out, strategy):
    assert_agree(streams["long"], carry_out(strategies=[strategy], streams=["long"], **METHODS))


@pytest.mark.parametrize("strategy", KEEPING)
def test_they_agree_after_a_year_that_was_skipped(streams, engines, carry_out, strategy):
    assert_agree(streams["gap"], carry_out(strategies=[strategy], streams=["gap"], **METHODS))


def contents(result):
    """Bytes of weights, memories and answers by unit, and the board without what differs from run to run."""
    store = RunStore(result.folder)
    keys = [unit.key for unit in result.plan.all_units]
    files = {key: (store.weights(key), store.memory(key), store.answer_bytes(key)) for key in keys}
    return files, result.frame.drop(columns=MEASURED).to_csv()


@pytest.mark.parametrize(
    ("spelling", "strategy"), [({"history": 2}, "window(years=2)"), ({"restart": "cold"}, "cold"), ({}, "full")]
)
def test_both_spellings_have_the_same_fits_and_rows(engines, carry_out, tmp_path, spelling, strategy):
    one = carry_out(settings=Settings(tmp_path / "a", offline=True), detectors=["msp"], **spelling)
    other = carry_out(settings=Settings(tmp_path / "b", offline=True), detectors=["msp"], strategies=[strategy])
    assert contents(one) == contents(other)


@pytest.mark.parametrize("strategy", KEEPING)
@pytest.mark.parametrize("lost", [1, 3])
def test_a_chain_taken_up_in_any_year_is_the_one_that_was_not_interrupted(
    streams, engines, carry_out, strategy, lost, tmp_path
):
    settings = Settings(tmp_path / "run", offline=True)
    asked = {"strategies": [strategy], "streams": ["long"], "settings": settings, **METHODS}
    before = carry_out(**asked)
    whole = contents(before)
    RunStore(before.folder).forget(unit.key for unit in before.plan.all_units[lost:])
    assert contents(carry_out(**asked)) == whole
    assert len(engines[-1].seen) >= 4 - lost


@pytest.mark.parametrize("strategy", KEEPING)
def test_detectors_that_are_added_later_find_the_same_fits(streams, engines, carry_out, strategy, tmp_path):
    asked = {"strategies": [strategy], "streams": ["long"], "thresholds": ["none"]}
    whole = carry_out(settings=Settings(tmp_path / "whole", offline=True), detectors=["msp", "energy"], **asked)
    settings = Settings(tmp_path / "later", offline=True)
    carry_out(settings=settings, detectors=["msp"], **asked)
    assert contents(carry_out(settings=settings, detectors=["msp", "energy"], **asked)) == contents(whole)
    assert not [order for order in engines[-1].seen if order.weights is None]


@pytest.mark.parametrize("checkpoints", ["last", "none"])
def test_memories_stay_whatever_weights_are_kept(streams, engines, carry_out, tmp_path, checkpoints):
    asked = {"strategies": ["replay(size=10)"], "streams": ["long"], **METHODS}
    whole = carry_out(settings=Settings(tmp_path / "all", offline=True), **asked)
    few = carry_out(settings=Settings(tmp_path / "few", offline=True, checkpoints=checkpoints), **asked)
    memories = [[RunStore(one.folder).memory(unit.key) for unit in one.plan.all_units] for one in (whole, few)]
    assert memories[0] == memories[1] and all(memories[0])
    assert whole.frame.drop(columns=MEASURED).equals(few.frame.drop(columns=MEASURED))


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"x")])
def test_a_memory_that_is_gone_or_damaged_is_named_and_made_again(streams, engines, carry_out, damage):
    asked = {"strategies": ["replay(size=10)"], "streams": ["long"], "detectors": ["msp"]}
    before = carry_out(**asked)
    whole = contents(before)
    first, *rest = before.plan.all_units
    RunStore(before.folder).forget(unit.key for unit in rest)
    damage(before.folder / "fits" / first.key / "memory.safetensors")
    with pytest.warns(StoreWarning, match=r"memory\.safetensors is damaged.*made again"):
        again = carry_out(**asked)
    assert contents(again) == whole


def test_what_is_kept_is_in_the_records_and_the_most_of_it_in_the_row(streams, engines, carry_out):
    result = carry_out(strategies=["replay(size=10)", "finetune", "full"], streams=["long"], detectors=["msp"])
    store = RunStore(result.folder)
    by_strategy: dict[str, list[int]] = {}
    for unit in result.plan.all_units:
        by_strategy.setdefault(unit.chain.strategy.name.partition("(")[0], []).append(store.fit(unit.key))
    sizes = {name: [record.memory_vertices for record in records] for name, records in by_strategy.items()}
    labelled = [int(((streams["long"].born < t) & (streams["long"].labels >= 0)).sum()) for t in (2, 3, 4, 5)]
    assert sizes == {"replay": [10] * 4, "finetune": [0] * 4, "full": labelled}
    # 16 floats, a position and a label per vertex; with replay two numbers per class besides
    assert by_strategy["full"][0].memory_mb == pytest.approx(labelled[0] * (16 * 4 + 16) / 2**20)
    assert by_strategy["replay"][0].memory_mb == pytest.approx((10 * (16 * 4 + 16) + 3 * 16) / 2**20)
    rows = result.frame[result.frame["detector"] == "msp"].set_index("strategy")["memory_vertices"]
    assert rows.rename(lambda name: name.partition("(")[0]).to_dict() == {
        "replay": 10,
        "finetune": 0,
        "full": labelled[-1],
    }


def test_fits_of_different_strategies_are_not_shared(streams, engines, carry_out):
    result = carry_out(strategies=["full", "finetune", "replay(size=10)"], streams=["long"], detectors=["msp"])
    keys = [unit.key for unit in result.plan.all_units]
    assert len(keys) == len(set(keys)) == 12
