"""Backbones with parameters on the command line, on data that comes with the package."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from tests.support.runs import in_this_process

pytestmark = pytest.mark.usefixtures("empty_data")
STREAM = "dblp-easy-twin(birth_size=1,features=8)"


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def smoke(out, *backbones, more=()):
    given = [word for text in backbones for word in ("--backbone", text)]
    where = ("--suite", "smoke", "--budget", "smoke", "--stream", STREAM, "--offline", "--out", out)
    return run("run", *where, *given, "--detector", "msp", "--threshold", "none", *more)


def test_a_run_is_made_shown_resumed_compared_and_reported_with_given_parameters(tmp_path, monkeypatch):
    engines = in_this_process(monkeypatch)
    out = tmp_path / "run"
    result = smoke(out, "appnp(steps=2)", "appnp")
    assert result.exit_code == 0, result.output
    board = pd.read_csv(out / "leaderboard.csv")
    assert [*board.loc[board["detector"] == "msp", "backbone"].sort_values()] == ["appnp", "appnp(steps=2)"]
    assert {*board.loc[board["detector"] == "random", "backbone"]} == {"appnp(steps=2)"}
    assert "appnp(steps=2)" in result.output
    trained = {order.unit.key for order in engines[0].seen}
    assert {*json.loads((out / "plan.json").read_text())["fits"]} >= trained
    # Another spelling is the same row, and nothing is trained again.
    again = smoke(out, "APPNP( steps = 2.0 )")
    assert again.exit_code == 0, again.output
    assert engines[1].seen == []
    assert len(pd.read_csv(out / "leaderboard.csv")) == len(board)
    compared = run("compare", out, "--within")
    assert "appnp(steps=2)" in compared.output, compared.output
    assert run("report", out, "--html", tmp_path / "site").exit_code == 0
    pages = "".join(page.read_text(encoding="utf-8") for page in (tmp_path / "site").rglob("*.html"))
    assert "appnp(steps=2)" in pages


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("appnp(steps=0)", "backbone 'appnp', steps = 0: at least one step along the arcs is needed"),
        ("appnp(teleports=0.2)", "backbone 'appnp' has no parameter 'teleports'; did you mean 'teleport'?"),
        ("gat(heads=few)", "backbone 'gat', heads = few: expected int"),
        ("gat(heads=4", "expected ',' or ')', found nothing more"),
    ],
)
def test_wrong_parameters_are_wrong_usage_and_nothing_is_run(tmp_path, text, told):
    result = smoke(tmp_path / "run", text)
    assert result.exit_code == 2, result.output
    assert told in result.stderr
    assert not (tmp_path / "run").exists()


def test_check_and_list_go_by_name_and_list_shows_the_parameters_there_are():
    rows = {row["name"]: row for row in json.loads(run("list", "backbones", "--json").stdout)}
    assert rows["appnp"]["parameters"]["steps"] == "10"
    assert all(len(row["about"]) > 30 and row["about"].endswith(".") for row in rows.values())
    result = run("check", "gat(heads=4)")
    assert result.exit_code == 2
    assert "'gat(heads=4)': plugins are checked by name, without parameters; give gat" in result.stderr
