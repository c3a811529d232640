"""Suites carried out end to end, small: what is stored, what is trained again, what survives a kill."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lgl_bench
from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.references import FLOOR
from lgl_bench.leaderboard.boards import open_board
from lgl_bench.leaderboard.boards import pool as pooled_boards
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.table.schema import HEADLINE
from lgl_bench.pipeline import plan_run
from lgl_bench.plans.plan_file import read_plan
from lgl_bench.runs.options import Settings
from lgl_bench.runs.records import StoreWarning, dump_fit
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.store import write_stream
from lgl_bench.thresholds import Threshold, thresholds
from tests.support.graphs import small_stream, until

LEFT_OUT = ["fit_seconds", "peak_memory_mb", "created_at"]

pytestmark = pytest.mark.usefixtures("data")


def comparable(out: Path) -> pd.DataFrame:
    return pd.read_csv(out / "leaderboard.csv", dtype=str).drop(columns=LEFT_OUT)


def stored(out: Path) -> dict[str, object]:
    """Every file of a run folder: its bytes, or its content without what INTERFACES.md leaves out."""
    found: dict[str, object] = {}
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        name = str(path.relative_to(out))
        if path.name == "fit.json":
            noted = json.loads(path.read_text())
            measured = ("seconds", "scoring_seconds", "peak_memory_mb")
            found[name] = {key: value for key, value in noted.items() if key not in measured}
        elif name == "plan.json" or path.parent.name == "plans":
            plan = json.loads(path.read_text())
            del plan["provenance"]["created_at"]
            found[name] = plan
        elif name == "years.parquet":
            found[name] = pd.read_parquet(path).drop(columns=["fit_seconds", "peak_memory_mb"]).to_csv()
        elif name in ("intervals.json", "standing.json"):
            kept = json.loads(path.read_text())
            del kept["years"]  # the checksum of years.parquet, seconds included
            found[name] = kept
        elif name == "leaderboard.csv":
            found[name] = comparable(out).to_csv()
        else:
            found[name] = path.read_bytes()
    return found


def test_a_run_stores_fits_answers_years_and_a_leaderboard(out, engines, carry_out):
    result = carry_out(detectors=["msp", "good(msp, alpha=0.3)"])
    store = RunStore(out)
    keys = read_plan(out).fits
    assert len(keys) == 3 and all(store.fit(key).status == "ok" for key in keys)
    answers = store.answers(keys[0])
    assert list(answers)[:3] == ["vertex", "time", "class_pred"]
    assert {"novelty:msp", "neighbour:msp"} <= set(answers)
    assert set(result.years["time"]) == {2, 3, 4}
    assert set(result.frame["detector"]) == {"msp", "good(msp,alpha=0.3)", *FLOOR}
    assert not result.counts.failed


def test_a_second_run_does_only_what_is_missing(out, engines, carry_out):
    carry_out(detectors=["msp"])
    before = comparable(out)
    carry_out(detectors=["msp"])
    assert len(engines[0].seen) > 0 and not engines[1].seen
    assert comparable(out).equals(before)


def test_a_detector_added_later_trains_nothing_and_another_alpha_loads_no_model(out, engines, carry_out):
    carry_out(detectors=["energy"], thresholds=["none"])
    carry_out(detectors=["energy", "mahalanobis"], thresholds=["none"])
    assert engines[1].seen and all(order.weights is not None for order in engines[1].seen)
    carry_out(detectors=["energy", "good(energy, alpha=0.9)"], thresholds=["none"])
    assert not engines[2].seen


def test_the_number_of_fits_does_not_grow_with_post_hoc_detectors(tmp_path):
    settings = Settings(tmp_path, offline=True)
    few, _ = plan_run("temporal", settings, detectors=["msp"], budget="smoke")
    many, _ = plan_run("temporal", settings, detectors=["msp", "energy", "knn", "good(knn)"], budget="smoke")
    assert len(few.all_units) == len(many.all_units) > 0


def test_weights_that_were_not_kept_are_trained_again_when_needed(out, engines, carry_out):
    carry_out(detectors=["msp"], settings=Settings(out, offline=True, checkpoints="none"))
    assert not list(out.glob("fits/*/model.safetensors"))
    first = comparable(out)
    carry_out(detectors=["msp", "energy"])
    both = comparable(out)
    one, other = (part[part["detector"] == "msp"].reset_index(drop=True) for part in (first, both))
    assert len(one) and other.equals(one)


def test_a_plugin_that_raises_fails_its_own_rows_only(out, engines, carry_out):
    from lgl_bench.detectors import Detector, detectors

    class Raises(Detector):
        def score(self, model, graph):
            raise ValueError("no luck")

    with detectors.temporarily():
        detectors.register("raises")(Raises)
        result = carry_out(detectors=["raises", "msp"], thresholds=["none"])
    frame = result.frame.set_index("detector")
    assert "no luck" in frame.loc["raises", "accuracy_reason"]
    assert frame.loc["msp", "accuracy_n_seeds"] == 1
    assert len(result.counts.failed) == 3


def test_an_absent_stream_is_replaced_by_its_twin_unless_that_is_forbidden(tmp_path):
    settings = Settings(tmp_path / "run", data_dir=tmp_path / "data", offline=True)
    plan, streams = plan_run("temporal", settings, streams=["dblp-easy"], detectors=["msp"], budget="smoke")
    assert list(streams) == ["dblp-easy-twin"] and "dblp-easy" in plan.stand_ins
    assert {row.stream for row in plan.rows} == {"dblp-easy-twin"}
    strict = Settings(tmp_path / "run", data_dir=tmp_path / "data", offline=True, real_only=True)
    with pytest.raises(DataError, match="dblp-easy is not available"):
        plan_run("temporal", strict, streams=["dblp-easy"], budget="smoke")


def test_wrong_axes_are_refused_with_the_name(tmp_path):
    settings = Settings(tmp_path, offline=True)
    for given, expected in (
        ({"detectors": ["odn"]}, "did you mean 'odin'"),
        ({"backbones": ["gcnn"]}, "did you mean 'gcn'"),
        ({"budget": "quik"}, "did you mean 'quick'"),
        ({"seeds": -1}, "--seeds -1"),
    ):
        with pytest.raises(UsageError, match=expected):
            plan_run("smoke", settings, **given)
    with pytest.raises(UsageError, match="did you mean 'smoke'"):
        plan_run("smok", settings)


COMMAND = [sys.executable, "-m", "lgl_bench.cli", "run", "--suite", "smoke", "--budget", "smoke", "--stream", "small"]


def run_here(out: Path, *detectors: str, **given) -> None:
    """The same as COMMAND with GCN, in this process, which need not import torch first."""
    axes = {"streams": ["small"], "backbones": ["gcn"], "detectors": list(detectors), **given}
    lgl_bench.run("smoke", budget="smoke", out=out, offline=True, **axes)


def test_a_run_killed_again_and_again_ends_as_an_undisturbed_one(tmp_path):
    arguments = ["--stream", "dblp-easy-twin", "--backbone", "gcn", "--detector", "odin", "--detector", "gdoc"]
    subprocess.run([*COMMAND[:-2], *arguments, "--out", str(tmp_path / "whole")], check=True, capture_output=True)
    moments = [random.uniform(1, 9) for _ in range(10)]
    for moment in moments:
        process = subprocess.Popen(
            [*COMMAND[:-2], *arguments, "--out", str(tmp_path / "killed")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(moment)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run([*COMMAND[:-2], *arguments, "--out", str(tmp_path / "killed")], check=True, capture_output=True)
    whole, killed = stored(tmp_path / "whole"), stored(tmp_path / "killed")
    assert list(whole) == list(killed), moments
    assert [name for name in whole if whole[name] != killed[name]] == [], moments


def test_plugins_that_fail_hang_die_or_eat_memory_are_named_and_the_others_are_complete(tmp_path):
    plugin = tmp_path / "bad.py"
    plugin.write_text(
        "import os, time\nimport numpy as np\nfrom lgl_bench.detectors import Detector, detectors\n"
        "@detectors.register('fails')\nclass Fails(Detector):\n"
        "    def score(self, model, graph):\n        raise ValueError('no luck')\n"
        "@detectors.register('hungry')\nclass Hungry(Detector):\n"
        "    def score(self, model, graph):\n        kept = np.ones(120_000_000)\n        time.sleep(60)\n"
        "@detectors.register('hangs')\nclass Hangs(Detector):\n"
        "    def score(self, model, graph):\n        time.sleep(60)\n"
        "@detectors.register('dies')\nclass Dies(Detector):\n"
        "    def score(self, model, graph):\n        os._exit(3)\n"
    )
    again = tmp_path / "again.py"
    again.write_text(
        "import time\nfrom pathlib import Path\nfrom lgl_bench.detectors import Detector, detectors\n"
        "@detectors.register('hangs-on-import')\nclass Hangs(Detector):\n"
        "    def score(self, model, graph):\n        raise AssertionError\n"
        # The driver loads the file first; where it is loaded again, its import does not end.
        "mark = Path(__file__).with_suffix('.loaded')\n"
        "time.sleep(60 if mark.exists() else 0)\nmark.touch()\n"
    )
    detectors = ("msp", "fails", "hangs", "hangs-on-import", "dies", "hungry")
    named = [part for name in detectors for part in ("--detector", name)]
    done = subprocess.run(
        [*COMMAND, "--backbone", "gcn", *named, "--plugin", str(plugin), "--plugin", str(again)]
        + [
            "--time-limit",
            "15",
            "--memory-limit",
            "1100",
            "--jobs",
            "2",
            "--threshold",
            "none",
            "--out",
            str(tmp_path / "run"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    frame = pd.read_csv(tmp_path / "run" / "leaderboard.csv").set_index("detector")
    assert frame.loc["msp", "accuracy_n_seeds"] == 1
    assert "time limit" in frame.loc["hangs", "accuracy_reason"]
    assert "time limit" in frame.loc["hangs-on-import", "accuracy_reason"]
    assert "died" in frame.loc["dies", "accuracy_reason"]
    assert "memory limit" in frame.loc["hungry", "accuracy_reason"]
    assert "no luck" in frame.loc["fails", "accuracy_reason"]
    run_here(tmp_path / "alone", "msp", thresholds=["none"])
    assert (
        comparable(tmp_path / "alone")
        .set_index("detector")
        .loc["msp"]
        .equals(comparable(tmp_path / "run").set_index("detector").loc["msp"])
    )


def test_jobs_do_not_change_the_numbers(tmp_path):
    run_here(tmp_path / "1", "odin", jobs=1)
    arguments = ["--backbone", "gcn", "--detector", "odin", "--jobs", "2", "--out", str(tmp_path / "2")]
    subprocess.run([*COMMAND, *arguments], check=True, capture_output=True)
    assert comparable(tmp_path / "1").equals(comparable(tmp_path / "2"))


def test_two_runs_on_one_store_at_the_same_time_leave_it_whole(tmp_path):
    arguments = ["--backbone", "gcn", "--threshold", "none", "--out", str(tmp_path / "both"), "--jobs", "1"]
    running = [
        subprocess.Popen([*COMMAND, *arguments, "--detector", name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for name in ("msp", "energy")
    ]
    for process in running:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    for name in ("both", "alone"):
        run_here(tmp_path / name, "msp", "energy", thresholds=["none"])
    assert comparable(tmp_path / "both").equals(comparable(tmp_path / "alone"))


def test_a_year_appended_to_a_stream_keeps_the_fits_of_the_years_before(engines, carry_out, data):
    whole = small_stream()
    write_stream(whole, data / "longer")
    write_stream(until(whole, 3), data / "small", force=True)
    carry_out(detectors=["msp"], thresholds=["none"])
    write_stream(whole, data / "small", force=True)
    with pytest.warns(StoreWarning, match="small of an earlier run .* is not available as it was; its rows stay"):
        again = carry_out(detectors=["msp"], thresholds=["none"])
    assert [order.unit.time for order in engines[1].seen] == [4]
    times = again.years.groupby("stream_checksum", sort=False)["time"].agg(set).tolist()
    assert not again.counts.failed and times == [{2, 3, 4}, {2, 3}]


def test_answers_of_a_detector_whose_source_changed_are_made_again(out, engines, carry_out, monkeypatch):
    carry_out(detectors=["msp", "energy"], thresholds=["none"])
    store = RunStore(out)
    for key in read_plan(out).fits:
        record = store.fit(key)
        (answers,) = record.answers
        older = answers.model_copy(update={"sources": {**answers.sources, "msp": "older"}})
        (out / "fits" / key / "fit.json").write_bytes(dump_fit(record.but(answers=[older])))
    carry_out(detectors=["msp", "energy"], thresholds=["none"])
    assert [order.detectors for order in engines[1].seen] == [("msp",)] * 3
    assert all(order.weights is not None for order in engines[1].seen)


def test_a_listener_hears_of_every_unit_its_epochs_and_the_best_so_far(engines, carry_out):
    heard = []
    result = carry_out(detectors=["msp"], thresholds=["none"], listener=heard.append)
    kinds = [event.kind for event in heard]
    assert kinds.count("start") == kinds.count("done") == 3 and kinds.count("epoch") == 15
    assert heard[-1].done == heard[-1].total == 3
    final = result.frame[result.frame["threshold"] == ""].iloc[0]
    assert heard[-1].best == f"{final['detector']} on gcn, auroc_weighted {final['auroc_weighted_mean']:.3f}"
    assert json.loads(json.dumps(heard[-1].record()))["event"] == "done"


def test_the_python_way_gives_a_frame(engines, out):
    result = lgl_bench.run(
        "smoke",
        streams=["small"],
        backbones=["gcn"],
        detectors=["good(msp)"],
        thresholds=["none"],
        seeds=1,
        budget="smoke",
        out=out,
        offline=True,
    )
    assert set(result.frame["detector"]) == {"good(msp,alpha=auto)", *FLOOR}
    assert (out / "leaderboard.csv").is_file() and result.seconds > 0


def test_an_unknown_device_or_count_is_refused(out):
    for given, message in (
        ({"device": "tpu"}, "auto, cpu or cuda"),
        ({"device": "cuda"}, "GPU"),
        ({"threads": 0}, "--threads 0"),
    ):
        with pytest.raises(UsageError, match=message):
            plan_run("smoke", Settings(out, offline=True, **given), streams=["small"])
    with pytest.raises(UsageError, match="--jobs 0"):
        lgl_bench.run("smoke", streams=["small"], out=out, jobs=0, offline=True)


def test_a_dry_run_tells_what_it_would_cost_and_does_nothing(tmp_path):
    done = subprocess.run(
        [*COMMAND, "--dry-run", "--json", "--out", str(tmp_path / "run")], check=True, capture_output=True, text=True
    )
    told = json.loads(done.stdout)
    # Per backbone energy and gdoc on three tasks and ODIN's settings on the first; on one of them the floor too.
    settings = 16 + 15  # the preset of Graph-MLP is in the grid
    assert told["fits"] == told["fits_to_do"] == 12 and told["answers"] == 2 * 2 * 3 + settings + len(FLOOR) * 3
    assert told["estimated_memory_mb"] > 100 and told["checkpoints_mb"] > 0
    assert told["estimated_minutes"] >= 0 and not (tmp_path / "run").exists()


def test_without_a_terminal_progress_is_plain_and_the_log_is_json(tmp_path):
    done = subprocess.run(
        [*COMMAND, "--backbone", "gcn", "--detector", "msp", "--json-log", str(tmp_path / "log.jsonl")]
        + ["--threshold", "none", "--jobs", "1", "--out", str(tmp_path / "run")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "\r" not in done.stderr and "3 of 3 fits" in done.stderr
    events = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert {event["event"] for event in events} >= {"start", "done"} and events[-1]["done"] == 3


def test_rows_say_where_they_come_from(engines, carry_out):
    row = carry_out(detectors=["msp"], thresholds=["none"]).frame.iloc[0]
    for column in ("stream_checksum", "lgl_bench", "torch", "dgl", "numpy", "python", "device", "created_at"):
        assert row[column]
    assert row["device"] == "cpu" and row["fit_seconds"] > 0 and row["peak_memory_mb"] > 10


def test_a_threshold_that_learns_from_the_test_graph_is_on_the_transductive_track(engines, carry_out):
    result = carry_out(detectors=["msp"], thresholds=["openwgl", "openwgl(fit=test)"], thresholds_on="all")
    tracks = result.frame.set_index("threshold")["track"]
    assert set(tracks[""]) == {"inductive"} and tracks["openwgl(fit=train)"] == tracks["never"] == "inductive"
    assert tracks["oracle"] == "upper bound"
    assert tracks[next(name for name in tracks.index if "fit=test" in name)] == "transductive"


def test_never_and_always_are_worth_nothing_and_a_plugin_that_rejects_nobody_has_nevers_figures(
    out, engines, carry_out
):
    class Nobody(Threshold):
        def reject(self, test):
            return np.zeros(len(test.scored), dtype=bool)

    with thresholds.temporarily():
        thresholds.register("nobody-of-mine")(Nobody)
        found = carry_out(
            detectors=["msp"], thresholds=["never", "always", "oracle", "nobody-of-mine"], seeds=3, thresholds_on="all"
        ).frame
    rows = ranked(found).set_index("threshold")
    assert rows.loc[["never", "always", "nobody-of-mine"], "mcc_mean"].tolist() == [0.0] * 3
    figures = [name for name in rows if name.startswith(tuple(HEADLINE)) or name.startswith("regret")]
    assert rows.loc["nobody-of-mine", figures].astype(str).tolist() == rows.loc["never", figures].astype(str).tolist()
    assert rows.loc["never", "rank"] == rows.loc["nobody-of-mine", "rank"] == 1
    assert pd.isna(rows.loc["oracle", "rank"]) and rows.loc["oracle", "mcc_mean"] > 0
    assert rows.loc["never", "regret_mean"] == pytest.approx(rows.loc["oracle", "mcc_mean"])
    assert rows.loc["always", ["recall_new_mean", "false_alarm_rate_mean"]].tolist() == [1.0, 1.0]


def test_a_run_draws_its_intervals_once_and_its_folder_shows_the_same_ones(out, engines, carry_out):
    found = carry_out(detectors=["msp", "odin"], thresholds=["naive"], thresholds_on="all", seeds=3).frame
    assert set(found["interval"]) == {"bootstrap"}
    again = pooled_boards([open_board(out)]).frame
    pd.testing.assert_frame_equal(again[list(found)], found, check_dtype=False)
    kept = pd.read_csv(out / "leaderboard.csv")
    assert kept["auroc_weighted_lo"].tolist() == found["auroc_weighted_lo"].tolist()


def test_a_run_ends_with_what_stands_above_the_floor_and_keeps_its_tests(out, engines, carry_out):
    found = carry_out(detectors=["msp", "random", "degree"], thresholds=["never"], seeds=3).frame
    plain = found[found["threshold"] == ""].set_index("detector")["above_floor"]
    assert plain["random"] == plain["degree"] == "floor" and plain["msp"] in ("yes", "no")
    written = pd.read_csv(out / "leaderboard.csv", keep_default_na=False)
    assert written["above_floor"].tolist() == found["above_floor"].tolist()
    kept = json.loads((out / "standing.json").read_text())
    # Two rows against the best, of which one may be the test of msp against the floor.
    assert {test["test"] for test in kept["tests"]} == {"bootstrap"} and len(kept["tests"]) == 5
