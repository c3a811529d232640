from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import pytest

from lgl_bench import __version__
from lgl_bench.core.errors import UsageError
from lgl_bench.runs import parity, presets
from lgl_bench.runs.parity import Job, jobs_of, run_job, run_parity
from lgl_bench.runs.parity_table import LEAK, markdown, parity_table, write_table
from lgl_bench.runs.presets import Preset
from lgl_bench.training.trainer import TrainingParameters

VERSIONS = {"lgl_bench": __version__, "torch": "1", "dgl": "2", "numpy": "3", "python": "4"}


def result(job, folds):
    """What a job gives: folds are (accuracy, {expression: auroc})."""
    rows = [
        {
            "time": 0,
            "fold": str(i),
            "role": "test",
            "skipped": "",
            "accuracy": accuracy,
            "new": 3,
            "auroc": auroc,
            "seconds": 1.0,
        }
        for i, (accuracy, auroc) in enumerate(folds)
    ]
    return {
        "job": {
            "stream": job.stream,
            "split": job.split,
            "backbone": job.backbone,
            "head": job.head,
            "seed": job.seed,
            "transductive": job.transductive,
        },
        "preset": "paper",
        "parameters": json.loads(json.dumps(_made_with(job))),
        "stream_checksum": "abc",
        "folds": rows,
        "versions": VERSIONS,
    }


def _made_with(job):
    chosen = parity._preset(job)
    return {**chosen.backbone, **asdict(chosen.training)}


@pytest.fixture
def ran(monkeypatch):
    """Jobs that were run, in this process and without training."""
    seen = []
    monkeypatch.setattr(parity, "_checksum", lambda stream, data_dir: "abc")

    def stub(job, folder):
        seen.append(job)
        return result(job, [(0.5, {"odin": 0.6})])

    monkeypatch.setattr(parity, "run_job", stub)
    monkeypatch.setattr(parity, "ProcessPoolExecutor", lambda n, mp_context: ThreadPoolExecutor(n))
    return seen


def test_the_jobs_are_every_cell_of_the_paper_and_graph_mlps_own_check():
    jobs = list(jobs_of("cora", "60-20-20", parity.BACKBONES, 2))
    assert len(jobs) == 2 * (4 * 3 + 1)
    assert len({job.key for job in jobs}) == len(jobs)
    extra = [job for job in jobs if job.transductive]
    assert {(job.backbone, job.head, job.split) for job in extra} == {("graph-mlp", "softmax", "planetoid")}
    assert not any(job.transductive for job in jobs_of("dblp-easy", "temporal", parity.BACKBONES, 1))
    assert not any(job.transductive for job in jobs_of("cora", "60-20-20", ("gcn",), 1))


def test_keys_of_jobs_tell_splits_and_tracks_apart():
    plain = Job("cora", "planetoid", "graph-mlp", "softmax", 0)
    other = Job("cora", "planetoid", "graph-mlp", "softmax", 0, transductive=True)
    assert len({plain.key, other.key, Job("cora", "60-20-20", "graph-mlp", "softmax", 0).key}) == 3
    assert "+" not in Job("cora", "60-20-20", "gcn", "isomax+", 0).key


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


def test_a_row_averages_folds_then_seeds_and_its_difference_is_ours_minus_the_papers():
    expression = "odin(eps=0.05,temperature=1000.0)"
    jobs = [Job("cora", "60-20-20", "gcn", "softmax", seed) for seed in (0, 1)]
    (row,) = parity_table(
        [
            result(jobs[0], [(0.8, {expression: 0.9}), (1.0, {expression: None})]),
            result(jobs[1], [(0.9, {expression: 0.7}), (0.8, {expression: 0.9})]),
        ]
    )
    assert (row["stream"], row["detector"], row["expression"], row["seeds"]) == ("cora", "odin", expression, 2)
    assert row["accuracy_paper"] == 0.89 and row["auroc_paper"] == 0.84
    assert row["accuracy_ours"] == 0.875 and row["accuracy_difference"] == pytest.approx(-0.015)
    assert row["auroc_ours"] == 0.85 and row["auroc_difference"] == pytest.approx(0.01)
    assert row["accuracy_std"] == pytest.approx(0.05 / 2**0.5, abs=1e-4)
    assert row["auroc_std"] == pytest.approx(0.1 / 2**0.5, abs=1e-4)
    assert row["note"] == "" and row["stream_checksum"] == "abc" and row["torch"] == "1"
    assert row["fit_seconds"] == 4.0


def test_good_is_compared_with_the_papers_good_and_says_what_it_is_over():
    job = Job("cora", "60-20-20", "gcn", "gdoc", 0)
    rows = parity_table([result(job, [(0.88, {"gdoc": 0.85, "good(gdoc,alpha=0.6)": 0.87})])])
    found = {row["detector"]: row for row in rows}
    assert set(found) == {"gdoc", "good"}
    assert found["good"]["auroc_paper"] == 0.86 and found["good"]["auroc_difference"] == pytest.approx(0.01)
    assert found["good"]["note"] == "over gdoc"
    assert found["gdoc"]["auroc_paper"] == 0.84
    assert found["gdoc"]["accuracy_std"] is None


@pytest.mark.parametrize(
    ("backbone", "split", "noted"),
    [("graph-mlp", "60-20-20", True), ("gcn", "60-20-20", False), ("graph-mlp", "planetoid", False)],
)
def test_the_printed_cells_that_come_from_a_leak_are_called_so(backbone, split, noted):
    job = Job("citeseer", split, backbone, "isomax+", 0)
    rows = parity_table([result(job, [(0.7, {"isomax+": 0.6, "good(isomax+,alpha=0.2)": 0.6})])])
    assert len(rows) == 2
    assert all((LEAK in row["note"]) == noted for row in rows)


def test_the_transductive_check_is_compared_with_graph_mlps_own_figure():
    job = Job("cora", "planetoid", "graph-mlp", "softmax", 0, transductive=True)
    (row,) = parity_table([result(job, [(0.78, {})])])
    assert (row["split"], row["accuracy_paper"]) == ("transductive", 0.778)
    assert row["accuracy_difference"] == pytest.approx(0.002)
    assert row["auroc_ours"] is None and row["auroc_paper"] is None


def test_a_stream_the_paper_does_not_have_has_no_difference():
    (row,) = parity_table([result(Job("cora-twin", "60-20-20", "gcn", "softmax", 0), [(0.9, {"odin": 0.8})])])
    assert row["accuracy_ours"] == 0.9
    assert row["accuracy_paper"] is row["accuracy_difference"] is row["auroc_difference"] is None


def some_rows():
    return parity_table([result(Job("cora", "60-20-20", "gcn", "softmax", 0), [(0.9, {"odin": 0.8})])])


def test_the_table_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "parity.csv"
    write_table(some_rows(), path)
    with path.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["stream"], row["accuracy_paper"], row["accuracy_ours"]) == ("cora", "0.89", "0.9")
    before = path.read_text()

    class Unwritable:
        def __str__(self):
            raise RuntimeError("broken off")

    with pytest.raises(RuntimeError, match="broken off"):
        write_table([some_rows()[0] | {"note": Unwritable()}], path)
    assert path.read_text() == before


def test_the_table_for_reading_shows_paper_ours_and_the_signed_difference():
    text = markdown(some_rows())
    assert "| cora | 60-20-20 | gcn | odin | 1 | 0.890 | 0.900 | +0.010 | 0.840 | 0.800 | -0.040 |" in text
    assert "torch 1" in text and "dgl 2" in text


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
