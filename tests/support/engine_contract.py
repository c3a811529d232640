"""What every engine is held to: a test class that the test file of each engine subclasses.

The class has no name that pytest collects; a subclass `TestEngine` says how its engine is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest

from lgl_bench.core.registry import load_plugin
from lgl_bench.detectors import detectors
from lgl_bench.pipeline import plan_run
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.runs.engines import Engine, attempt, start_engine
from lgl_bench.runs.matrix_row import matrix_vertices
from lgl_bench.runs.options import IN_PROCESS, Settings
from lgl_bench.runs.orders import Done, Fitted, Order
from lgl_bench.runs.scheduler import Scheduler
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.store import write_stream
from tests.support.graphs import small_stream

RAISES = """
from lgl_bench.detectors import Detector, detectors


@detectors.register("raises-in-{name}")
class Raises(Detector):
    def score(self, model, graph):
        raise ValueError("no luck")
"""


class EngineContract:
    """Tests that hold for every engine; the engine is started once for all of them, as a run starts it."""

    settings: dict[str, object]
    """Of the run that the engine is started for, its name among them."""

    @pytest.fixture(scope="class")
    @classmethod
    def folder(cls, tmp_path_factory) -> Path:
        return tmp_path_factory.mktemp("contract")

    @pytest.fixture(scope="class")
    @classmethod
    def raising(cls, folder) -> Iterator[str]:
        """A detector of a plugin file that raises."""
        name = str(cls.settings["engine"])
        path = folder / "raises.py"
        path.write_text(RAISES.format(name=name), encoding="utf-8")
        with detectors.temporarily():
            load_plugin(path)
            yield f"raises-in-{name}"

    @pytest.fixture(scope="class")
    @classmethod
    def plan(cls, folder) -> Plan:
        """Two tasks, one after the other, on a small stream."""
        stream = small_stream(times=(0, 1, 2, 3), growth=(30, 30, 30, 30), births=(3, 0, 1, 1))
        write_stream(stream, folder / "data" / "small")
        settings = Settings(folder / "run", data_dir=folder / "data", offline=True)
        axes = {"streams": ["small"], "backbones": ["gcn"], "detectors": ["msp", "energy"], "thresholds": ["none"]}
        return plan_run("smoke", settings, budget="smoke", seeds=1, **axes)[0]

    @pytest.fixture(scope="class")
    @classmethod
    def engine(cls, folder, plan, raising) -> Iterator[Engine]:
        before = set(psutil.Process().children(recursive=True))
        settings = Settings(folder / "run", data_dir=folder / "data", offline=True, **cls.settings)
        engine = start_engine(settings, TaskCache(plan.tasks.streams))
        try:
            yield engine
        finally:
            started = set(psutil.Process().children(recursive=True)) - before
            engine.close()
        assert not psutil.wait_procs(started, timeout=20)[1], "processes are left behind"

    @pytest.fixture(scope="class")
    @classmethod
    def first(cls, plan) -> Done:
        """The first unit, done here."""
        return done_here(Order(plan.all_units[0], ("msp",)), plan)

    def test_an_order_is_under_way_until_it_is_collected_and_ends_as_it_would_here(self, engine, plan, first):
        order = Order(plan.all_units[0], ("msp",))
        assert engine.collect() == [] and engine.running == []
        free = engine.free
        assert free >= 1
        engine.submit(order)
        assert engine.running == [order] and engine.free == free - 1
        (outcome,) = engine.collect()
        assert outcome.order == order and outcome.reason == ""
        assert engine.running == [] and engine.free == free
        assert_equal(outcome.done, first)

    def test_a_unit_goes_on_from_the_weights_that_come_with_its_order(self, engine, plan, first):
        one, two = plan.all_units
        order = Order(two, ("energy(temperature=1.0)",), before=Fitted(one, first.weights))
        engine.submit(order)
        (outcome,) = engine.collect()
        assert outcome.done.fit_record.continued_from == one.key
        assert_equal(outcome.done, done_here(order, plan))

    def test_weights_that_are_given_are_scored_and_nothing_is_trained(self, engine, plan, first):
        engine.submit(Order(plan.all_units[0], ("msp",), ("naive",), weights=first.weights))
        (outcome,) = engine.collect()
        assert outcome.done.fit_record is None and outcome.done.weights is None
        assert {"novelty:msp", "rejected:msp|naive"} <= set(outcome.done.answers)

    def test_a_model_answers_for_every_year(self, engine, plan, first):
        engine.submit(Order(plan.all_units[0], (), weights=first.weights, matrix=True))
        (outcome,) = engine.collect()
        stream = plan.tasks.stream(plan.all_units[0].chain)
        assert len(outcome.done.matrix) == len(matrix_vertices(stream, (1, 2, 3)))
        engine.submit(Order(plan.all_units[0], ("msp",), matrix=True))
        (beside,) = engine.collect()
        assert np.array_equal(beside.done.matrix, outcome.done.matrix)

    def test_epochs_are_reported_of_the_order_they_belong_to_or_not_at_all(self, engine, plan):
        order, heard = Order(plan.all_units[0], ("msp",)), []
        engine.submit(order)
        engine.collect(lambda *given: heard.append(given))
        assert all(given == (order, epoch) and epoch >= 1 for given in heard for epoch in given[1:])

    def test_a_detector_that_raises_fails_alone_with_its_reason(self, engine, plan, first, raising):
        engine.submit(Order(plan.all_units[0], ("msp", raising), weights=first.weights))
        (outcome,) = engine.collect()
        assert "no luck" in outcome.done.failed[raising] and list(outcome.done.failed) == [raising]
        pd.testing.assert_frame_equal(outcome.done.answers, first.answers, check_exact=True)

    def test_an_order_that_cannot_be_done_ends_with_the_reason_and_the_next_one_is_done(self, engine, plan, first):
        wrong = Order(replace(plan.all_units[0], index=99), ("msp",))
        engine.submit(wrong)
        (outcome,) = engine.collect()
        assert outcome.order == wrong and outcome.done is None and "IndexError" in outcome.reason
        engine.submit(Order(plan.all_units[0], ("msp",)))
        (outcome,) = engine.collect()
        assert_equal(outcome.done, first)

    def test_a_plan_is_carried_out_with_the_same_bytes_as_in_this_process(self, engine, plan, folder):
        stores = []
        here = start_engine(Settings(folder, engine=IN_PROCESS), TaskCache(plan.tasks.streams))
        for name, one in (("theirs", engine), ("here", here)):
            stores.append(RunStore(folder / name))
            stores[-1].prepare()
            counts = Scheduler(plan, stores[-1], one).run()
            assert not counts.failed and counts.done == counts.units == len(plan.all_units)
        here.close()
        theirs, ours = stores
        for unit in plan.all_units:
            assert theirs.weights(unit.key) == ours.weights(unit.key)
            assert theirs.answer_bytes(unit.key) == ours.answer_bytes(unit.key)


def done_here(order: Order, plan: Plan) -> Done:
    """The order, done in this process."""
    done = attempt(order, TaskCache(plan.tasks.streams))
    assert isinstance(done, Done), done
    return done


def assert_equal(done: Done | None, expected: Done) -> None:
    """The same weights, answers and record, but for what is measured."""
    assert done is not None and done.fit_record is not None and expected.fit_record is not None
    measured = {"seconds": None, "peak_memory_mb": None}
    assert done.fit_record.but(**measured) == expected.fit_record.but(**measured)
    assert done.weights == expected.weights and done.failed == expected.failed == {}
    pd.testing.assert_frame_equal(done.answers, expected.answers, check_exact=True)
