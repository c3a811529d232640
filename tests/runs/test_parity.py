from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.runs import parity, presets
from lgl_bench.runs.parity import probe, run_job, run_parity, stored_results
from lgl_bench.runs.parity_jobs import (
    BACKBONES,
    HEADS,
    SWITCHES,
    Job,
    changes,
    given_parameters,
    jobs_of,
    noted_parameters,
    preset_of,
    unchanged_since_probes,
)
from lgl_bench.runs.presets import Preset
from lgl_bench.training.trainer import TrainingParameters
from tests.runs.parity_results import PROBE, VERSIONS, result


@pytest.fixture
def ran(monkeypatch):
    """Jobs that were run, in this process and without training."""
    seen = []
    monkeypatch.setattr(parity, "_checksum", lambda stream, data_dir: "abc")
    monkeypatch.setattr(parity, "probe", lambda job, data_dir: PROBE)

    def stub(job, folder):
        seen.append(job)
        return result(job, [(0.5, {"odin": 0.6})])

    monkeypatch.setattr(parity, "run_job", stub)
    monkeypatch.setattr(parity, "ProcessPoolExecutor", lambda n, mp_context: ThreadPoolExecutor(n))
    return seen


def test_the_jobs_are_every_cell_of_the_paper_and_graph_mlps_own_check():
    jobs = list(jobs_of("cora", "60-20-20", BACKBONES, 2))
    assert len(jobs) == 2 * (4 * 3 + 1)
    assert len({job.key for job in jobs}) == len(jobs)
    extra = [job for job in jobs if job.transductive]
    assert {(job.backbone, job.head, job.split) for job in extra} == {("graph-mlp", "softmax", "planetoid")}
    assert not any(job.transductive for job in jobs_of("dblp-easy", "temporal", BACKBONES, 1))
    assert not any(job.transductive for job in jobs_of("cora", "60-20-20", ("gcn",), 1))


def switched(stream, split="60-20-20"):
    """What --as-published adds to a stream: (backbone, head, switch) without seeds."""
    jobs = jobs_of(stream, split, BACKBONES, 1, SWITCHES)
    return {(job.backbone, job.head, job.switch) for job in jobs if job.switch}


def test_every_switch_is_a_job_of_the_cells_it_changes():
    found = switched("cora")
    heads = set(HEADS)
    assert {kind for kind in found if kind[2] == "odin-step"} == {(b, "softmax", "odin-step") for b in BACKBONES}
    assert {kind for kind in found if kind[2] == "weights"} == {(b, "gdoc", "weights") for b in BACKBONES}
    leaks = {kind for kind in found if kind[2] == "graph-mlp-batches"}
    assert leaks == {("graph-mlp", head, "graph-mlp-batches") for head in heads}
    assert {kind for kind in found if kind[2] == "one-epoch"} == {("graphsage", head, "one-epoch") for head in heads}
    # GAT's published code has two layers always, which the paper's row for IsoMax+ has too.
    assert {head for backbone, head, switch in found if (backbone, switch) == ("gat", "layer")} == {"softmax", "gdoc"}
    assert {b for b, _, switch in found if switch == "layer"} == set(BACKBONES)


def test_the_transductive_check_has_another_learning_rate_only_where_ours_is_not_that_one():
    assert ("graph-mlp", "softmax", "lr") in switched("pubmed")
    assert ("graph-mlp", "softmax", "lr") not in switched("cora")
    check = Job("pubmed", "planetoid", "graph-mlp", "softmax", 0, transductive=True)
    assert [switch for switch in SWITCHES if changes(check, switch)] == ["lr"]
    assert preset_of(check).training.lr == 0.001 and preset_of(replace(check, switch="lr")).training.lr == 0.01


def test_a_temporal_stream_has_no_switches():
    assert not switched("dblp-easy", "temporal")


def test_a_switch_changes_one_thing():
    gcn = Job("cora", "60-20-20", "gcn", "gdoc", 0)
    ours = noted_parameters(gcn)
    assert noted_parameters(replace(gcn, switch="layer")) == ours | {"layers": ours["layers"] + 1}
    assert noted_parameters(replace(gcn, switch="weights")) == ours
    gat = Job("cora", "60-20-20", "gat", "gdoc", 0)
    assert noted_parameters(gat)["layers"] == 3
    assert noted_parameters(replace(gat, switch="layer")) == noted_parameters(gat) | {"layers": 2}
    sage = Job("cora", "60-20-20", "graphsage", "gdoc", 0)
    assert noted_parameters(replace(sage, switch="one-epoch")) == noted_parameters(sage) | {"epochs": 1}


def test_only_the_heads_asked_for_are_run():
    assert {job.head for job in jobs_of("cora", "60-20-20", BACKBONES, 1, SWITCHES, ("gdoc",))} == {"gdoc"}


def test_keys_of_jobs_tell_splits_and_tracks_apart():
    plain = Job("cora", "planetoid", "graph-mlp", "softmax", 0)
    other = Job("cora", "planetoid", "graph-mlp", "softmax", 0, transductive=True)
    assert len({plain.key, other.key, Job("cora", "60-20-20", "graph-mlp", "softmax", 0).key}) == 3
    assert "+" not in Job("cora", "60-20-20", "gcn", "isomax+", 0).key
    assert plain.key != replace(plain, switch="layer").key != replace(plain, switch="odin-step").key


def test_a_finished_job_is_not_run_again(tmp_path, ran):
    jobs = list(jobs_of("cora-twin", "60-20-20", ("gcn",), 2))
    told = []
    first = run_parity(jobs[:4], tmp_path, None, 1, lambda job, done, total: told.append((done, total)))
    assert len(first) == 4 and set(ran) == set(jobs[:4])
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    ran.clear()
    again = run_parity(jobs, tmp_path, None, 1)
    assert set(ran) == set(jobs[4:]) and len(again) == 6
    ran.clear()
    assert run_parity(jobs, tmp_path, None, 1) == again and not ran
    assert not list(tmp_path.rglob("*.partial"))


def test_a_job_made_from_other_data_or_parameters_is_run_again(tmp_path, ran, monkeypatch):
    jobs = list(jobs_of("cora-twin", "60-20-20", ("gcn",), 1))
    run_parity(jobs, tmp_path, None, 1)
    ran.clear()
    monkeypatch.setattr(parity, "_checksum", lambda stream, data_dir: "other data")
    run_parity(jobs, tmp_path, None, 1)
    assert set(ran) == set(jobs)


def stored_by(job, tmp_path, **changed):
    """A folder with the result of one job, some of its entries changed; None removes one."""
    found = {name: value for name, value in (result(job, []) | changed).items() if value is not None}
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / f"{job.key}.json").write_text(json.dumps(found))
    return tmp_path


@pytest.mark.parametrize(
    "changed",
    [
        {"probe": PROBE | {"odin": 0.6002}},
        {"probe": PROBE | {"odin": None}},
        {"probe": {"loss": 1.5, "accuracy": 0.5}},
        {"parameters": {}},
        {"versions": VERSIONS | {"lgl_bench": "0.0.1"}},
    ],
)
def test_a_job_of_other_numbers_parameters_or_another_version_is_run_again(tmp_path, ran, changed):
    job = Job("cora", "60-20-20", "gcn", "softmax", 0)
    run_parity([job], stored_by(job, tmp_path, **changed), None, 1)
    assert ran == [job]


@pytest.mark.parametrize(
    "changed",
    [
        {"probe": {"loss": 1.5, "accuracy": 0.5, "odin(scale=1)": 0.600001}},
        {"parameters": noted_parameters(Job("cora", "60-20-20", "gcn", "softmax", 0)) | {"patience": None}},
    ],
)
def test_rounding_another_name_and_options_that_are_not_used_leave_a_job_as_it_is(tmp_path, ran, changed):
    job = Job("cora", "60-20-20", "gcn", "softmax", 0)
    run_parity([job], stored_by(job, tmp_path, **changed), None, 1)
    assert not ran


def test_a_probe_is_the_first_fold_after_two_epochs_and_notices_what_is_computed(monkeypatch):
    def shown(layers, epochs=50):
        small = Preset("tiny", {"hidden": 4, "layers": layers}, TrainingParameters(epochs=epochs, lr=0.01))
        monkeypatch.setattr(presets, "preset", lambda *_: small)
        probe.cache_clear()
        return probe(Job("cora-twin", "60-20-20", "gcn", "gdoc", 0), None)

    assert list(shown(2)) == ["loss", "accuracy", "gdoc", "good(gdoc,alpha=0.6)"]
    assert shown(2) == shown(2) == shown(2, epochs=2)
    assert shown(2) != shown(3)
    probe.cache_clear()


@pytest.mark.parametrize(
    ("job", "kept"),
    [
        (Job("cora", "60-20-20", "gcn", "softmax", 0), True),
        (Job("citeseer", "60-20-20", "graph-mlp", "softmax", 0), True),
        (Job("pubmed", "60-20-20", "gcn", "gdoc", 0), True),
        (Job("pubmed", "60-20-20", "gcn", "softmax", 0), False),
        (Job("cora", "planetoid", "graph-mlp", "gdoc", 0), False),
        (Job("cora", "planetoid", "graph-mlp", "softmax", 0, transductive=True), False),
        (Job("cora", "60-20-20", "gcn", "softmax", 0, switch="layer"), False),
    ],
)
def test_a_job_of_before_probes_were_noted_is_kept_where_no_change_since_then_reaches_it(tmp_path, ran, job, kept):
    folder = stored_by(job, tmp_path, probe=None, commit=None)
    assert len(stored_results(folder)) == int(kept)
    run_parity([job], folder, None, 1)
    assert ran == ([] if kept else [job])


def test_the_jobs_that_ship_have_the_parameters_of_today():
    folder = Path(__file__).parents[2] / "leaderboard" / "parity"
    results = stored_results(folder)
    assert len(results) == len(list((folder / "jobs").glob("*.json"))) > 70
    for found in results:
        job = Job(**found["job"])
        assert (folder / "jobs" / f"{job.key}.json").is_file()
        assert given_parameters(found["parameters"]) == noted_parameters(job), job.key
        assert "commit" in found or unchanged_since_probes(job), job.key


def test_a_job_that_was_broken_off_half_written_is_run_again(tmp_path, ran):
    job = Job("cora-twin", "60-20-20", "gcn", "softmax", 0)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / f".{job.key}.json.1.partial").write_text("{")
    assert len(run_parity([job], tmp_path, None, 1)) == 1
    assert ran == [job]


def test_jobs_finished_before_another_fails_are_kept(tmp_path, ran, monkeypatch):
    jobs = list(jobs_of("cora-twin", "60-20-20", ("gcn",), 2))
    stub = parity.run_job

    def fails_in_the_second_seed(job, folder):
        if job.seed == 1:
            raise UsageError("no such thing")
        return stub(job, folder)

    monkeypatch.setattr(parity, "run_job", fails_in_the_second_seed)
    with pytest.raises(UsageError, match="no such thing"):
        run_parity(jobs, tmp_path, None, 1)
    assert len(list((tmp_path / "jobs").glob("[!.]*.json"))) >= 1
    monkeypatch.setattr(parity, "run_job", stub)
    assert len(run_parity(jobs, tmp_path, None, 1)) == 6


def test_no_process_is_a_wrong_request(tmp_path):
    with pytest.raises(UsageError, match="--jobs 0"):
        run_parity([], tmp_path, None, 0)


def test_a_job_trains_every_fold_and_tells_what_it_used(monkeypatch):
    tiny = Preset("tiny", {"hidden": 4, "dropout": 0.1}, TrainingParameters(epochs=1, lr=0.01))
    monkeypatch.setattr(presets, "preset", lambda *_: tiny)
    found = run_job(Job("cora-twin", "60-20-20", "gcn", "gdoc", 1), None)
    assert json.loads(json.dumps(found)) == found
    assert found["preset"] == "tiny" and found["parameters"]["epochs"] == 1
    folds = found["folds"]
    assert len(folds) > 2 and [fold["fold"] for fold in folds] == [str(i) for i in range(len(folds))]
    for fold in folds:
        assert set(fold["auroc"]) == {"gdoc", "good(gdoc,alpha=0.6)"}
        assert not fold["skipped"] and 0 <= fold["accuracy"] <= 1 and fold["new"] > 0
    assert set(found["versions"]) == set(VERSIONS) and len(found["stream_checksum"]) == 64
    assert list(found["probe"]) == ["loss", "accuracy", "gdoc", "good(gdoc,alpha=0.6)"] and "commit" in found


@pytest.mark.parametrize(
    ("backbone", "head", "switch"),
    [
        ("gcn", "softmax", "odin-step"),
        ("gcn", "gdoc", "weights"),
        ("gcn", "isomax+", "layer"),
        ("graphsage", "gdoc", "one-epoch"),
        ("graph-mlp", "isomax+", "graph-mlp-batches"),
    ],
)
def test_a_job_with_a_switch_is_graded_as_ours_is(monkeypatch, backbone, head, switch):
    tiny = Preset("tiny", {"hidden": 4, "dropout": 0.1}, TrainingParameters(epochs=2, lr=0.01))
    monkeypatch.setattr(presets, "preset", lambda *_: tiny)
    ours, theirs = (run_job(Job("cora-twin", "60-20-20", backbone, head, 0, switch=s), None) for s in ("", switch))
    assert theirs["job"]["switch"] == switch
    for our, their in zip(ours["folds"], theirs["folds"], strict=True):
        assert our["new"] == their["new"] > 0 and set(our["auroc"]) == set(their["auroc"])
    assert [fold["auroc"] for fold in ours["folds"]] != [fold["auroc"] for fold in theirs["folds"]]
