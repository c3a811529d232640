"""Hostile strategies beside others: rows of these are as without them, theirs fail alone with name and reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from lgl_bench.plans.plan_file import read_plan
from lgl_bench.runs.store import RunStore
from lgl_bench.strategies.memory import parse_memory
from lgl_bench.streams.store import write_stream
from tests.runs.isolation.test_hostile_plugins import LEFT_OUT, named, rows, run
from tests.support import hostile_strategies
from tests.support.graphs import small_stream

HOSTILE = Path(hostile_strategies.__file__)
OTHERS = ["full", "finetune", "remembers-two"]
ARGUMENTS = ["--backbone", "gcn", "--detector", "msp", "--threshold", "none", "--plugin", str(HOSTILE)]


def stream():
    """Two tasks: one that begins, and one that goes on."""
    return small_stream(times=(0, 1, 2, 3), growth=(30,) * 4, births=(3, 0, 1, 0))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    write_stream(stream(), folder / "data" / "small")
    return folder


def row_of(board, strategy):
    """What a row of a board says, apart from its name and what differs from run to run."""
    (row,) = board[(board["strategy"] == strategy) & (board["detector"] == "msp")].to_dict("records")
    return {name: value for name, value in row.items() if name not in (*LEFT_OUT, "strategy")}


@pytest.fixture(scope="module")
def alone(place):
    code, _, _ = run(place, "alone", *ARGUMENTS, *named("--strategy", OTHERS))
    assert code == 0
    return rows(place, "alone")


@pytest.fixture(scope="module")
def beside(place, alone):
    asked = named("--strategy", [*OTHERS, *hostile_strategies.EXPECTED])
    code, _, errors = run(place, "beside", *ARGUMENTS, *asked, "--memory-limit", "1100")
    assert code == 1 and "Traceback" not in errors
    return rows(place, "beside")


@pytest.mark.parametrize("strategy", OTHERS)
def test_the_rows_of_the_others_are_the_same_byte_for_byte(alone, beside, strategy):
    assert row_of(beside, strategy) == row_of(alone, strategy)


def ends(place, name):
    """How the two fits of a strategy ended: status and reason."""
    plan, store = read_plan(place / "beside"), RunStore(place / "beside")
    number = [chain.strategy.name for chain in plan.chains].index(name)
    records = [store.fit(key) for key in plan.fits[2 * number : 2 * number + 2]]
    return [(record.status, record.reason) for record in records]


@pytest.mark.parametrize("name", hostile_strategies.EXPECTED)
def test_a_hostile_strategy_fails_alone_with_its_reason_or_is_fitted_as_what_it_is(place, alone, beside, name):
    expected, row, found = hostile_strategies.EXPECTED[name], row_of(beside, name), ends(place, name)
    if expected is None:
        assert row == row_of(alone, "remembers-two")
        return
    assert found[-1][0] in ("failed", "diverged")
    assert all(expected in reason and len(reason) < 1000 for status, reason in found if status != "ok")
    assert row["auroc_weighted_mean"] == row["accuracy_mean"] == ""
    assert row["failed_years"] == "1" and row["accuracy_reason"]


def test_a_forged_label_is_not_stored(place, beside):
    labels, store = stream().labels, RunStore(place / "beside")
    stored = [path.parent.name for path in (place / "beside").glob("fits/*/memory.safetensors")]
    assert stored
    for key in stored:
        memory = parse_memory(store.memory(key))
        assert (memory.labels == labels[memory.vertices]).all()
