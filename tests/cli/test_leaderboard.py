from __future__ import annotations

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.grading.board_years import read_board_years
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.leaderboard.table.write import write_board
from tests.support.boards import board, figures, growing_stream, made_up_run, row
from tests.support.report_boards import write_run, year_frame


def run(*arguments: object):
    return CliRunner().invoke(main, ["leaderboard", *map(str, arguments)])


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "board.csv"
    rows = [row(0.6, detector="msp"), row(0.8, detector="odin"), row(None, detector="gdoc", stream="other")]
    write_board(board(*rows), path)
    return path


def test_build_makes_one_table_of_runs_and_tables(tmp_path, table):
    folder = made_up_run(tmp_path / "run", growing_stream(), {"msp": 0.5})
    result = run("build", folder, table, "--out", tmp_path / "all.csv", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "out": str(tmp_path / "all.csv"),
        "rows": 4,
        "streams": ["dblp-easy", "growing", "other"],
        "years": str(tmp_path / "all.years.parquet"),
        "matrix": None,
        "delays": None,
        "tests": None,
    }
    assert len(read_board(tmp_path / "all.csv")) == 4


def test_build_writes_leaderboard_csv_here_and_replaces_it_only_when_told(tmp_path, table, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("build", table).exit_code == 0
    before = (tmp_path / "leaderboard.csv").read_bytes()
    write_board(board(row(0.1)), table, force=True)
    again = run("build", table)
    assert again.exit_code == 2 and "--force" in again.stderr
    assert (tmp_path / "leaderboard.csv").read_bytes() == before
    assert run("build", table, "--force").exit_code == 0
    assert (tmp_path / "leaderboard.csv").read_bytes() != before


def test_build_takes_the_rows_and_years_of_some_suites_alone(tmp_path):
    years = [year_frame(suite=name, stream_checksum="0" * 64) for name in ("temporal", "rivals", "lifelong")]
    folder = write_run(tmp_path / "run", pd.concat(years, ignore_index=True))
    write_board(board(row(0.6, suite="static"), row(0.7, suite="temporal", stream="other")), tmp_path / "old.csv")
    whole, part, one = (tmp_path / f"{name}.csv" for name in ("whole", "part", "one"))
    assert run("build", folder, tmp_path / "old.csv", "--out", whole).exit_code == 0
    for source in (folder, whole):  # a table is sifted as a folder is
        given = [source, tmp_path / "old.csv"][: 1 + (source == folder)]
        made = run("build", *given, "--suite", "temporal", "--suite", "static", "--out", part, "--force")
        assert made.exit_code == 0, made.output
        assert sorted(set(read_board(part)["suite"])) == ["static", "temporal"]
        assert set(read_board(part)["stream"]) == {"dblp-easy-twin", "other", "dblp-easy"}
        beside = read_board_years(part)
        assert beside is not None and set(beside["suite"]) == {"temporal"} and len(beside) == len(years[0])
    assert run("build", whole, "--suite", "rivals", "--out", one).exit_code == 0  # old.csv has no such row
    assert set(read_board(one)["suite"]) == {"rivals"} and len(read_board_years(one)) == len(years[1])


@pytest.mark.parametrize("column, wanted", [("budget", "paper"), ("stream", "other")])
def test_build_takes_the_rows_of_one_budget_or_stream_alone(tmp_path, column, wanted):
    write_board(board(row(0.6), row(0.7, **{column: wanted})), tmp_path / "both.csv")
    assert run("build", tmp_path / "both.csv", f"--{column}", wanted, "--out", tmp_path / "one.csv").exit_code == 0
    assert list(read_board(tmp_path / "one.csv")[column]) == [wanted]


@pytest.mark.parametrize(
    "given, said",
    [
        (["--suite", "temporl"], "unknown suite 'temporl'; did you mean 'temporal'? The sources have: rivals"),
        (["--suite", "temporal", "--suite", "static"], "unknown suite 'static'. The sources have: rivals, temporal"),
        (["--suite", "rivals", "--budget", "paper"], "unknown budget 'paper'. The sources have: quick"),
        (["--stream", "dblp-esy"], "unknown stream 'dblp-esy'; did you mean 'dblp-easy'? The sources have: dblp-easy"),
    ],
)
def test_a_suite_a_budget_or_a_stream_that_no_source_has_is_an_error_that_lists_what_there_is(tmp_path, given, said):
    write_board(board(row(suite="temporal", budget="paper"), row(suite="rivals", budget="quick")), tmp_path / "b.csv")
    result = run("build", tmp_path / "b.csv", *given, "--out", tmp_path / "x.csv")
    assert result.exit_code == 2 and said in result.stderr and not (tmp_path / "x.csv").exists()


def test_a_bad_table_is_an_exit_code_of_three_and_one_paragraph(table):
    table.write_text(table.read_text().replace("0.8,", "8.8,"))
    for command in (["show", table], ["build", table, "--out", table.parent / "x.csv"]):
        result = run(*command)
        assert result.exit_code == 3 and "line 3, column 'auroc_mean_mean'" in result.stderr
        assert "Traceback" not in result.output and len(result.stderr.strip().splitlines()) == 1


def test_show_ranks_marks_and_says_what_the_marks_mean(table):
    result = run("show", table)
    lines = result.stdout.splitlines()
    assert lines[0] == "dblp-easy: 2 rows on gcn ranked by auroc_weighted"
    assert lines[1].split() == ["rank", "auroc_weighted", "detector", "accuracy"]
    assert lines[2].split()[0] == "1" and "odin" in lines[2]
    assert "other: 1 row, none has a value (nobody looked)" in lines
    assert "- undefined, --json says why." in lines and "was not measured on dblp-easy" in lines[-1]


def test_show_takes_metrics_streams_and_another_rank(tmp_path):
    rows = [row(0.6, detector="a", **figures("mcc", 0.9, 0.01, 3)), row(0.8, **figures("mcc", 0.1, 0.01, 3))]
    write_board(board(*rows, row(stream="other")), tmp_path / "b.csv")
    result = run("show", tmp_path / "b.csv", "--metric", "mcc", "--stream", "dblp-easy", "--rank-by", "mcc", "--json")
    found = json.loads(result.stdout)
    assert [(entry["detector"], entry["rank"]) for entry in found] == [("a", 1), ("msp", 2)]
    shown = run("show", tmp_path / "b.csv", "--metric", "mcc").stdout.splitlines()
    assert shown[1].split() == ["rank", "auroc_weighted", "detector", "mcc"]


def test_elsewhere_than_in_a_terminal_every_row_is_shown_unless_fewer_are_asked_for(tmp_path):
    write_board(board(*(row(0.9 - 0.01 * at, detector=f"d{at}") for at in range(30))), tmp_path / "b.csv")
    whole = run("show", tmp_path / "b.csv").stdout
    assert "d29" in whole and "more rows" not in whole
    assert "d29" not in run("show", tmp_path / "b.csv", "--top", 3).stdout
    both = run("show", tmp_path / "b.csv", "--top", 3, "--all")
    assert both.exit_code == 2 and "exclude each other" in both.stderr


def test_the_width_is_that_of_columns_and_full_names_have_their_parameters(tmp_path, monkeypatch):
    long = "good(odin(eps=0.05,temperature=1000.0),alpha=0.6)"
    write_board(board(row(0.9, detector=long), row(0.8, backbone="gat")), tmp_path / "b.csv")
    assert long in run("show", tmp_path / "b.csv", "--full").stdout
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("show", tmp_path / "b.csv", "--full").stdout.splitlines()
    assert max(map(len, lines)) <= 60


@pytest.mark.parametrize(("style", "begins"), [("markdown", "| rank |"), ("latex", "\\begin{tabular}"), ("json", "[")])
def test_show_knows_other_formats(table, style, begins):
    result = run("show", table, "--format", style)
    assert result.exit_code == 0 and result.stdout.startswith(begins)
    assert "NaN" not in result.stdout


def test_json_says_why_a_value_is_undefined(table):
    found = json.loads(run("show", table, "--json").stdout)
    assert found[-1]["metrics"]["accuracy"] == {
        "mean": None,
        "std": None,
        "lo": None,
        "hi": None,
        "n_seeds": 0,
        "n_years": 5,
        "reason": "nobody looked",
    }


def test_show_without_a_board_shows_the_runs_at_hand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nothing = run("show")
    assert nothing.exit_code == 2 and "there is no run in runs/" in nothing.stderr
    made_up_run(tmp_path / "runs" / "mine", growing_stream(), {"msp": 0.5})
    assert "growing" in run("show").stdout


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--metric", "acuracy"], "did you mean 'accuracy'"),
        (["--rank-by", "aurc_mean"], "did you mean 'auroc_mean'"),
        (["--metric", "acc"], "did you mean 'accuracy'?"),
        (["--metric", "auroc"], "did you mean 'auroc_weighted' or 'auroc_mean'?"),
        (["--stream", "dblp-esy"], "did you mean 'dblp-easy'"),
        (["--format", "html"], "html"),
    ],
)
def test_wrong_usage_of_show_is_named(table, given, said):
    result = run("show", table, *given)
    assert result.exit_code == 2 and said in result.stderr


def test_neither_command_loads_torch(table):
    import subprocess
    import sys

    code = (
        "import sys\nfrom click.testing import CliRunner\nfrom lgl_bench.cli import main\n"
        f"for command in (['leaderboard', 'show', r'{table}'], ['compare', r'{table}', r'{table}']):\n"
        "    assert CliRunner().invoke(main, command).exit_code == 0\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
