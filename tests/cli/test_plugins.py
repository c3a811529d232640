from __future__ import annotations

import json

import pytest
import torch
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.detectors import detectors

NAMES = {
    "backbones": {
        *("gcn", "graphsage", "gat", "graph-mlp", "mlp"),
        *("sgc", "appnp", "gin", "gcnii", "gprgnn", "h2gcn", "gpn", "oodgat", "openwgl"),
    },
    "heads": {"softmax", "doc", "gdoc", "isomax+", "genodin", "logitnorm", "nodesafe", "gkde", "gpn"},
    "detectors": {
        *("msp", "max-logit", "entropy", "energy", "odin", "react", "mahalanobis", "knn", "isomax+", "doc", "gdoc"),
        *("genodin", "distmax", "random", "degree", "recency", "good", "propagate", "gnnsafe", "vim", "ash", "scale"),
        *("fdbd", "nnguide", "she", "kl-matching", "gen", "rmds", "mc-dropout", "grasp", "ensemble"),
        *("logitnorm", "nodesafe", "gkde", "gpn", "oodgat", "openwgl"),
    },
    "thresholds": {"naive", "gdoc", "openwgl", "open-wrf", "quantile", "conformal", "oracle"},
    "protocols": {"temporal", "leave-class-out", "transductive"},
}
BROKEN = """
from lgl_bench.detectors import Detector, detectors
from lgl_bench.detectors.msp import msp


@detectors.register("turned-round")
class TurnedRound(Detector):
    '''Its sign is wrong.'''

    def score(self, model, graph):
        return 1 - msp(model.outputs(graph).logits).numpy()
"""


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Many threads on a few small matrices only wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def broken(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text(BROKEN)
    with detectors.temporarily():
        yield path


@pytest.mark.parametrize("kind", NAMES)
def test_every_plugin_is_listed_with_what_it_is(kind):
    result = run("list", kind, "--json")
    assert result.exit_code == 0
    rows = json.loads(result.stdout)
    assert {row["name"] for row in rows} >= NAMES[kind]
    assert all(row["about"] and isinstance(row["parameters"], dict) for row in rows)


@pytest.mark.parametrize("kind", NAMES)
def test_the_list_for_people_has_a_line_for_each_plugin(kind):
    lines = run("list", kind).stdout.splitlines()
    assert lines[0].split() == ["name", "parameters", "about"]
    assert {line.split()[0] for line in lines[1:]} >= NAMES[kind]


def test_the_parameters_of_a_plugin_are_listed_with_their_defaults():
    rows = {row["name"]: row for row in json.loads(run("list", "detectors", "--json").stdout)}
    assert rows["good"]["parameters"] == {"alpha": "0.5"}


@pytest.mark.parametrize(("kind", "name"), [("suites", "temporal"), ("budgets", "quick"), ("streams", "cora-twin")])
def test_suites_budgets_and_streams_are_listed_too(kind, name):
    rows = {row["name"]: row for row in json.loads(run("list", kind, "--json").stdout)}
    assert rows[name].get("about") or rows[name]["description"]
    lines = run("list", kind).stdout.splitlines()
    assert {line.split()[0] for line in lines[1:]} >= set(rows)


def test_every_detector_has_a_sentence_that_says_what_it_does():
    rows = json.loads(run("list", "detectors", "--json").stdout)
    assert min(len(row["about"].split()) for row in rows) >= 4
    about = {row["name"]: row["about"] for row in rows}
    assert about["energy"] == "Minus the log-sum-exp of the logits: little evidence for any class looks new."


def test_lists_fit_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for kind in NAMES:
        assert max(map(len, run("list", kind).stdout.splitlines())) <= 80


@pytest.mark.parametrize("command", ["run", "tune"])
def test_without_a_suite_those_there_are_are_listed(command):
    result = run(command)
    assert result.exit_code == 2 and result.stdout == ""
    lines = result.stderr.splitlines()
    assert {line.split()[0] for line in lines if line} >= {"smoke", "temporal", "static"}
    assert lines[-1].startswith("Error: --suite is missing") and f"'lgl-bench {command} --suite smoke'" in lines[-1]


def test_a_kind_nobody_knows_is_wrong_usage():
    result = run("list", "importers")
    assert result.exit_code == 2 and "detectors" in result.output


def test_a_plugin_that_keeps_its_contract_passes():
    result = run("check", "msp")
    assert result.exit_code == 0, result.output
    assert "passed" in result.stdout and "failed" not in result.stdout


def test_a_name_of_several_kinds_is_checked_as_each_and_exemptions_say_why():
    result = run("check", "doc", "naive", "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert {(row["kind"], row["name"]) for row in rows} == {
        ("heads", "doc"),
        ("detectors", "doc"),
        ("thresholds", "naive"),
    }
    exempt = [row for row in rows if row["status"] == "exempt"]
    assert exempt and all(row["reason"] for row in exempt)


@pytest.mark.parametrize("before", [True, False])
def test_a_broken_plugin_from_a_file_fails_and_the_message_says_what_is_wrong(broken, before):
    given = ("--plugin", broken)
    result = run(*given, "check", "turned-round") if before else run("check", "turned-round", *given)
    assert result.exit_code == 1
    assert "1 checks failed" in result.stderr
    assert "turned-round" in result.stderr and "sign" in result.stderr and "Traceback" not in result.output


def test_a_broken_plugin_does_not_hide_what_others_passed(broken):
    result = run("--plugin", broken, "check", "turned-round", "msp", "--json")
    assert result.exit_code == 1
    rows = json.loads(result.stdout)
    assert {row["name"] for row in rows if row["status"] == "failed"} == {"turned-round"}
    assert {row["name"] for row in rows} == {"turned-round", "msp"}


def test_a_plugin_from_a_file_is_listed(broken):
    rows = json.loads(run("list", "detectors", "--plugin", broken, "--json").stdout)
    assert {"name": "turned-round", "parameters": {}, "about": "Its sign is wrong."} in rows


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "does not exist"), ("import nothing_like_this", "ModuleNotFoundError"), ("(", "SyntaxError")],
)
def test_a_plugin_file_that_cannot_be_loaded_is_one_clear_paragraph(tmp_path, text, said):
    path = tmp_path / "mine.py"
    if text is not None:
        path.write_text(text)
    result = run("--plugin", path, "list", "heads")
    assert result.exit_code == 2
    assert "mine.py" in result.stderr and said in result.stderr and "Traceback" not in result.output


def test_a_misspelt_name_is_answered_with_the_nearest():
    result = run("check", "odn")
    assert result.exit_code == 2
    assert "'odn'" in result.stderr and "did you mean 'odin'?" in result.stderr


def test_a_misspelt_name_stops_the_command_before_anything_is_checked():
    result = run("check", "msp", "odn")
    assert result.exit_code == 2 and not result.stdout


def test_no_name_is_wrong_usage():
    result = run("check")
    assert result.exit_code == 2 and "--all" in result.stderr
