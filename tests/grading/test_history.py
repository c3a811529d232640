"""A run folder only grows: every run adds rows, and none takes any away."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from lgl_bench.backbones import backbones
from lgl_bench.core.references import FLOOR
from lgl_bench.core.registry import load_plugin
from lgl_bench.detectors import detectors
from lgl_bench.grading.history import beyond_last, kept_plans
from lgl_bench.leaderboard.boards import open_board
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.pipeline import fresh_folder, plan_run, run_plan
from lgl_bench.plans.plan_file import read_plan
from lgl_bench.protocols import protocols
from lgl_bench.runs.options import Settings
from lgl_bench.runs.records import StoreWarning, dump_fit
from lgl_bench.runs.store import RunStore
from lgl_bench.thresholds import thresholds

pytestmark = pytest.mark.usefixtures("engines")
NONE = {"thresholds": ["none"]}
BOARD = "leaderboard.csv"
CLAIMED = ["fit_seconds", "peak_memory_mb", "created_at"]


def methods(folder: Path) -> set[str]:
    """Detectors of the board that are not the floor."""
    return set(read_board(folder / BOARD)["detector"]) - {*FLOOR}


def comparable(folder: Path) -> pd.DataFrame:
    frame = read_board(folder / BOARD).drop(columns=CLAIMED)
    return frame.sort_values(list(frame.columns[:18]), ignore_index=True)


def assert_folder_and_table_agree(folder: Path) -> None:
    """Rows made anew from the year rows are those of the table, apart from the floor, which is tested only then."""
    made, written = (one.drop(columns="above_floor") for one in (open_board(folder).frame, read_board(folder / BOARD)))
    pd.testing.assert_frame_equal(made, written, check_dtype=False)


def test_another_run_in_the_folder_adds_rows_to_every_table(out, carry_out, tmp_path):
    carry_out(detectors=["msp"], thresholds=["naive"])
    carry_out(detectors=["entropy"], **NONE)
    assert methods(out) == {"msp", "entropy"}
    together = carry_out(
        detectors=["msp", "entropy"], thresholds=["naive"], settings=Settings(tmp_path / "b", offline=True)
    )
    for name in ("years.parquet", "classes.parquet"):
        one, other = (pd.read_parquet(folder / name) for folder in (out, together.folder))
        assert set(one["detector"]) == set(other["detector"]) and set(one["threshold"]) <= set(other["threshold"])
    rows = read_board(out / BOARD)
    assert {"naive", "never", "always", "oracle"} == {
        text.partition("(")[0] for text in rows[rows["detector"] == "msp"]["threshold"] if text
    }
    assert not rows.duplicated(list(rows.columns[:18])).any()
    assert_folder_and_table_agree(out)


def test_asking_for_less_narrows_nothing(out, carry_out):
    carry_out(detectors=["msp", "entropy"], seeds=3, **NONE)
    before = comparable(out)
    carry_out(detectors=["msp"], seeds=1, **NONE)
    pd.testing.assert_frame_equal(comparable(out), before)


def test_a_choice_is_that_of_the_plan_with_the_most_seeds_and_never_of_two(out, carry_out, tmp_path):
    asked = {"detectors": ["msp", "entropy", "good(auto)"], "select": "t1", **NONE}
    alone = carry_out(seeds=2, settings=Settings(tmp_path / "alone", offline=True), **asked)
    carry_out(seeds=2, **asked)
    carry_out(seeds=1, **asked)
    pd.testing.assert_frame_equal(comparable(out), comparable(alone.folder))


def test_runs_with_other_budgets_choices_and_protocols_are_rows_of_their_own(out, carry_out):
    carry_out(detectors=["msp"], **NONE)
    carry_out(detectors=["msp"], history=1, **NONE)
    carry_out(detectors=["msp"], select="preset", **NONE)
    carry_out("static", streams=["still"], detectors=["msp"], split=["planetoid"], select="preset", **NONE)
    settings = Settings(out, offline=True)
    asked = {"streams": ["small"], "backbones": ["gcn"], "detectors": ["msp"], **NONE}
    run_plan(*plan_run("smoke", settings, budget="quick", seeds=1, **asked), settings)
    rows = read_board(out / BOARD)
    rows = rows[rows["detector"] == "msp"]
    assert set(zip(rows["suite"], rows["history"].astype(str), rows["select"], rows["budget"], strict=True)) == {
        ("smoke", "all", "t1", "smoke"),
        ("smoke", "1", "t1", "smoke"),
        ("smoke", "all", "preset", "smoke"),
        ("static", "all", "preset", "smoke"),
        ("smoke", "all", "t1", "quick"),
    }
    shown = ranked(read_board(out / BOARD))
    assert (
        len(set(shown[shown["detector"] == "msp"]["group"])) == 3
    )  # what is kept of the past, and how something is chosen, may differ


def test_answers_of_code_that_changed_are_not_shown_and_those_of_today_are(out, carry_out):
    carry_out(detectors=["msp", "entropy"], **NONE)
    store = RunStore(out)
    for key in read_plan(out).fits:
        record = store.fit(key)
        (answers,) = record.answers
        older = answers.model_copy(update={"sources": {**answers.sources, "entropy": "older"}})
        (out / "fits" / key / "fit.json").write_bytes(dump_fit(record.but(answers=[older])))
    carry_out(detectors=["energy"], **NONE)
    assert methods(out) == {"msp", "energy(temperature=1.0)"}
    carry_out(detectors=["entropy"], **NONE)
    assert methods(out) == {"msp", "entropy", "energy(temperature=1.0)"}


def test_fits_of_code_that_changed_are_not_shown(out, carry_out, monkeypatch):
    carry_out(detectors=["msp"], **NONE)
    monkeypatch.setattr("lgl_bench.plans.fits._fit_code", lambda: "other")
    carry_out(detectors=["entropy"], **NONE)
    assert methods(out) == {"entropy"} and len(list((out / "plans").iterdir())) == 2


PLUGINS = '''
import numpy as np

from lgl_bench.backbones import backbones
from lgl_bench.backbones.mlp import MLP
from lgl_bench.detectors import Detector, detectors
from lgl_bench.detectors.msp import Msp
from lgl_bench.protocols import protocols
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.thresholds import Threshold, thresholds


@detectors.register("mine")
class Mine(Msp):
    """The maximum softmax probability under another name."""


@thresholds.register("half")
class Half(Threshold):
    """Rejects the more novel half of the test vertices: it learns from them."""

    track = "transductive"

    def reject(self, test):
        novelty = test.novelty[test.scored]
        return novelty > np.median(novelty)


@backbones.register("net")
class Net(MLP):
    """A perceptron under another name."""


@protocols.register("walk")
class Walk(Temporal):
    """Years under another name."""

    track = "transductive"
'''


@pytest.fixture
def plugins(tmp_path):
    """Plugins of every kind from a file; the function forgets them, as another process would not have them."""
    path = tmp_path / "plugins.py"
    path.write_text(PLUGINS)
    with contextlib.ExitStack() as stack:
        for registry in (detectors, thresholds, backbones, protocols):
            stack.enter_context(registry.temporarily())
        load_plugin(path)
        yield stack.close


def test_rows_of_plugins_that_are_not_available_stay_with_what_was_noted_of_them(out, carry_out, plugins):
    asked = {"backbones": ["net"], "detectors": ["mine"], "thresholds": ["half"], "thresholds_on": "all"}
    carry_out(**asked)
    before = comparable(out)
    noted = read_plan(out).plugins
    assert noted.backbones == ("net",) and noted.thresholds["half"].track == "transductive"
    assert noted.detectors["mine"].head == "softmax" and noted.detectors["mine"].bounded
    plugins()
    carry_out(detectors=["msp"], **NONE)
    after = comparable(out)
    kept = after[after["backbone"] == "net"].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, before[before["backbone"] == "net"].reset_index(drop=True))
    assert set(kept[kept["threshold"] == "half"]["track"]) == {"transductive"}
    assert "msp" in methods(out)


def test_rows_of_a_protocol_that_is_not_available_stay(out, carry_out, plugins, tmp_path):
    suite = tmp_path / "walks.toml"
    suite.write_text(
        'name = "walks"\nversion = 1\ntitle = "Walks"\nprotocol = "walk"\nrestart = "warm"\nselect = "preset"\n'
        'streams = ["small"]\nbackbones = ["gcn"]\ndetectors = ["msp"]\n'
    )
    carry_out(str(suite), **NONE)
    before = comparable(out)
    description = read_plan(out)
    assert description.plugins.protocols["walk"].track == "transductive" and set(before["track"]) == {"transductive"}
    assert [task.time for task in description.chains[0].tasks] == [2, 3, 4]
    plugins()
    carry_out(detectors=["entropy"], **NONE)
    after = comparable(out)
    pd.testing.assert_frame_equal(after[after["protocol"].str.startswith("walk")].reset_index(drop=True), before)


LATE = '''
from lgl_bench.backbones import backbones
from lgl_bench.backbones.mlp import MLP
from lgl_bench.detectors import detectors
from lgl_bench.detectors.msp import Msp


@detectors.register("late")
class Late(Msp):
    """Raises at first; mended it is another."""

    def score(self, model, graph):
        {score}


@backbones.register("lame")
class Lame(MLP):
    """Raises at first; mended it is another."""

    def __init__(self, *given, **named):
        {init}
'''


@pytest.mark.parametrize(
    ("axes", "reason"),
    [
        ({"detectors": ["late"], "backbones": ["gcn"]}, "not yet"),
        ({"detectors": ["late"], "backbones": ["gcn"], "thresholds": ["naive"], "thresholds_on": "all"}, "not yet"),
        ({"detectors": ["msp"], "backbones": ["lame"]}, "no legs"),
    ],
)
def test_a_run_in_which_everything_fails_has_a_board_with_reasons_and_a_corrected_one_recovers(
    out, carry_out, tmp_path, monkeypatch, axes, reason
):
    path = tmp_path / "late.py"
    broken = {"score": 'raise ValueError("not yet \\udce9")', "init": 'raise ValueError("no legs")'}
    mended = {"score": "return super().score(model, graph)", "init": "super().__init__(*given, **named)"}
    monkeypatch.setattr("lgl_bench.plans.methods.FLOOR", ())  # nothing else succeeds either

    def attempt(how):
        path.write_text(LATE.format(**how))
        with detectors.temporarily(), backbones.temporarily():
            load_plugin(path)
            settings = Settings(out, offline=True, plugins=(str(path),))
            counts = carry_out(settings=settings, **{**NONE, **axes}).counts
            return counts, read_board(out / BOARD)

    counts, rows = attempt(broken)
    assert counts.failed and set(rows["detector"]) == set(axes["detectors"])
    assert rows["auroc_weighted_mean"].isna().all() and rows["accuracy_reason"].str.contains(reason).all()
    assert (rows["failed_years"] == 2).all() and ranked(rows)["rank"].isna().all()
    counts, rows = attempt(mended)
    assert not counts.failed and rows["auroc_weighted_mean"].notna().all() and (rows["failed_years"] == 0).all()


def test_a_plan_that_was_never_finished_has_rows_that_say_so_and_no_rank(out, carry_out):
    result = carry_out(detectors=["msp"], **NONE)
    RunStore(out).forget([result.plan.all_units[-1].key])
    carry_out(detectors=["entropy"], history=1, **NONE)
    rows = ranked(read_board(out / BOARD)).set_index("detector")
    assert rows.loc["msp", "failed_years"] == 1 and rows.loc["msp", "standing"] == "incomplete"
    assert rows.loc["entropy", "failed_years"] == 0


def test_fresh_begins_in_a_new_folder_beside_and_deletes_nothing(out, carry_out):
    carry_out(detectors=["msp"], **NONE)
    before = (out / BOARD).read_bytes()
    second = carry_out(detectors=["entropy"], settings=Settings(out, offline=True, fresh=True), **NONE)
    assert second.folder == out.with_name("run-2") and methods(second.folder) == {"entropy"}
    assert (out / BOARD).read_bytes() == before
    assert fresh_folder(out) == out.with_name("run-3") and fresh_folder(out.with_name("new")) == out.with_name("new")


def test_what_a_folder_holds_beside_its_last_plan_can_be_named(out, carry_out):
    carry_out(detectors=["msp", "entropy"], **NONE)
    assert beyond_last(out) == []
    carry_out(detectors=["msp"], **NONE)
    assert beyond_last(out) == ["entropy on small, gcn, budget smoke"]
    assert [len(plan.rows) for plan in kept_plans(RunStore(out))] == [4, 5]


def test_the_same_request_is_kept_once(out, carry_out):
    for _ in range(2):
        carry_out(detectors=["msp"], **NONE)
    (path,) = (out / "plans").iterdir()
    assert json.loads(path.read_text()) == json.loads((out / "plan.json").read_text())


def test_a_kept_plan_that_cannot_be_read_is_left_out_with_a_warning(out, carry_out):
    carry_out(detectors=["msp"], **NONE)
    next((out / "plans").iterdir()).write_text("{")
    with pytest.warns(StoreWarning, match="its rows are left out"):
        carry_out(detectors=["entropy"], **NONE)
    assert methods(out) == {"entropy"}


def test_two_different_runs_at_once_end_with_all_rows_of_both(tmp_path, data):
    out = tmp_path / "both"
    command = [sys.executable, "-m", "lgl_bench.cli", "run", "--suite", "smoke", "--stream", "small", "--budget"]
    command += ["smoke", "--backbone", "gcn", "--threshold", "none", "--jobs", "1", "--offline", "--out", str(out)]
    started = [
        subprocess.Popen([*command, "--detector", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for name in ("msp", "entropy")
    ]
    told = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0, 0], told
    assert sum("is running in" in err for _, err in told) <= 1
    assert methods(out) == {"msp", "entropy"}
    last = read_plan(out)
    assert {row.detector for row in last.rows} - {*FLOOR} in ({"msp"}, {"entropy"})
    # The last board was made from everything, and belongs to the last plan.
    assert_folder_and_table_agree(out)
