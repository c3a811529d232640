from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.detectors import detectors
from lgl_bench.plans.budget import budget
from lgl_bench.plans.paper_presets import preset
from lgl_bench.plans.preset_file import load_presets
from lgl_bench.streams.store import write_stream
from lgl_bench.tuning.space import fit_space, size
from tests.support.graphs import small_stream


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("LGL_BENCH_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    write_stream(small_stream(), tmp_path / "data" / "small")


def tune(*arguments: str):
    given = ["--suite", "smoke", "--stream", "small", "--backbone", "mlp", "--budget", "smoke", "--trials", "2"]
    return CliRunner().invoke(main, ["tune", *given, *arguments])


def test_the_command_tunes_prints_and_writes_a_preset_and_goes_on(tmp_path):
    result = tune("--detector", "odin(temperature=1)", "--detector", "gdoc", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["out"] == "runs/tune/smoke.toml"
    assert [study["head"] for study in told["studies"]] == ["softmax", "gdoc"]
    assert all((study["metric"], study["completed"], study["failed"]) == ("auroc", 2, {}) for study in told["studies"])
    base = preset("small", "temporal", "mlp", "softmax")
    points = size(fit_space("temporal", "mlp", base, budget("smoke")))
    line = f"small mlp softmax: tpe, 2 trials of 1 seeds, scored by auroc; the full grid has {points} points"
    assert line in result.stderr
    file = load_presets(tmp_path / "runs" / "tune" / "smoke.toml")
    assert file.trials == 4 and (tmp_path / "runs" / "tune" / "tuning.db").is_file()
    assert set(file.detector("small", "temporal", "mlp", "odin")) == {"eps", "temperature"}

    again = tune("--detector", "gdoc")
    assert again.exit_code == 0, again.output
    header, row, *_ = again.stdout.splitlines()
    assert " ".join(header.split()) == (
        "stream backbone head strategy metric value completed pruned failed found detectors"
    )
    assert row.split()[:4] == ["small", "mlp", "gdoc", "auroc"] and f"epochs={budget('smoke').caps.steps}" in row
    assert "runs/tune/smoke.toml" in again.stdout
    assert load_presets(tmp_path / "runs" / "tune" / "smoke.toml") == file


def test_a_strategy_is_tuned_by_name_and_shown_with_what_was_found(tmp_path):
    given = ("--detector", "msp", "--strategy", "replay(pick=mean)")
    result = tune(*given, "--json")
    assert result.exit_code == 0, result.output
    strategy = "replay(balance=auto,graph=all,pick=mean)"
    assert f"small mlp {strategy}: grid, 2 trials of 1 seeds, scored by auroc; the full grid has 3" in result.stderr
    (study,) = json.loads(result.stdout)["studies"]
    assert (study["strategy"], study["head"], study["completed"]) == (strategy, "softmax", 2)
    (entry,) = load_presets(tmp_path / "runs" / "tune" / "smoke.toml").strategies
    assert study["entry"]["parameters"] == entry.parameters

    again = tune(*given)
    row = again.stdout.splitlines()[1].split()
    assert row[:5] == ["small", "mlp", "softmax", strategy, "auroc"] and f"size={entry.parameters['size']}" in row


def test_a_study_without_a_trial_that_succeeds_ends_with_exit_code_1_and_the_reason(tmp_path):
    plugin = tmp_path / "unlucky.py"
    plugin.write_text(
        "from lgl_bench.detectors import Detector, detectors\n"
        "@detectors.register('unlucky')\nclass Unlucky(Detector):\n"
        "    def score(self, model, graph):\n        raise ValueError('no luck')\n"
    )
    with detectors.temporarily():
        result = tune("--detector", "unlucky", "--plugin", str(plugin), "--out", "mine.toml")
    assert result.exit_code == 1
    assert "small mlp softmax: no trial succeeded: the detector unlucky failed: ValueError: no luck" in result.stderr
    assert not (tmp_path / "mine.toml").exists()


@pytest.mark.parametrize(
    ("given", "code", "expected"),
    [
        (("--search", "grid", "--trials", "0"), 2, "--trials 0: at least one"),
        (("--detector", "odn"), 2, "did you mean 'odin'"),
        (("--strategy", "repaly"), 2, "did you mean 'replay'"),
        (("--stream", "smal"), 2, "did you mean 'small'"),
        (("--storage", "nodatabase://me:secret@x"), 3, "nodatabase://... cannot be opened"),
        (("--out", "paper.toml"), 2, "would pass for the paper's own preset"),
    ],
)
def test_what_is_wrong_with_a_request_is_said_with_its_exit_code(given, code, expected):
    result = tune("--detector", "msp", *given)
    assert result.exit_code == code, result.output
    assert expected in result.stderr and "secret" not in result.stderr


def test_without_optuna_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    result = tune("--detector", "msp")
    assert result.exit_code == 2 and "pip install 'lgl-bench[tune]'" in result.stderr
