from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.leaderboard.table.write import write_board
from lgl_bench.streams.store import write_stream
from tests.support.blocks import ROOT
from tests.support.boards import board, figures, growing_stream, made_up_run, row


def run(*arguments: object):
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


@pytest.fixture
def tables(tmp_path):
    a = board(row(0.7), row(0.7, detector="odin"), row(detector="x"), row(detector="left"))
    b = board(row(0.7), row(0.9, detector="odin"), row(detector="x", budget="paper"), row(detector="right"))
    write_board(a, tmp_path / "a.csv")
    write_board(b, tmp_path / "b.csv")
    return tmp_path / "a.csv", tmp_path / "b.csv"


def test_the_answer_has_differences_intervals_verdicts_and_what_was_not_compared(tables):
    result = run(*tables)
    assert result.exit_code == 0, result.output
    out = result.stdout
    assert out.startswith(
        "auroc_weighted, [2] against [1]: 1 better, 1 tie\naccuracy, [2] against [1]: 1 better, 1 tie\n"
    )
    assert "dblp-easy, auroc_weighted, on gcn: 1 better, 1 tie" in out
    odin = next(line for line in out.splitlines() if "odin" in line)
    assert "+0.200" in odin and "better" in odin
    assert "tie" in next(line for line in out.splitlines() if "msp" in line)
    assert "welch: no answers: only the spread over seeds" in out and "Holm" in out
    assert "not comparable: 1 rows" in out and "x: budget quick against paper" in out
    assert "only in [1]: 1 rows" in out and "only in [2]: 1 rows" in out
    assert "too few streams: 1, and 6 are needed" in out.replace("\n", " ")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_comparison_fits_the_terminal(tables, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    for given in (tables, [tables[0], "--within"]):
        assert max(map(len, run(*given).stdout.splitlines())) <= max(width, 60)


def test_rows_that_cannot_differ_are_left_out_and_counted(tmp_path):
    # one model: the accuracy of its detectors is the same whatever they score
    rows = [
        row(0.9, **figures("accuracy", 0.5, 0.01, 3)),
        row(0.2, detector="odin", **figures("accuracy", 0.5, 0.01, 3)),
    ]
    write_board(board(*rows, row(0.1, detector="knn", backbone="gat")), tmp_path / "a.csv")
    out = run(tmp_path / "a.csv", "--within").stdout
    assert "accuracy, against the best: 1 worse\n1 row is left out that cannot differ" in out
    assert out.count("odin") == 1
    everything = run(tmp_path / "a.csv", "--within", "--all").stdout
    assert "left out" not in everything and everything.count("odin") == 2


def test_the_interval_leaves_out_zero_if_and_only_if_the_verdict_is_told_apart(tmp_path):
    # by Welch's t with 4 degrees of freedom, 0.027 / (0.01 sqrt(2 / 3)) has p of about 0.03
    values = (0.9, 0.874, 0.873, 0.872, 0.5)
    write_board(board(*(row(value, detector=f"d{value}") for value in values)), tmp_path / "a.csv")
    found = json.loads(run(tmp_path / "a.csv", "--within", "--metric", "auroc_weighted", "--json").stdout)[
        "comparisons"
    ]
    assert {entry["verdict"].partition(" ")[0] for entry in found} == {"worse", "inconclusive"}
    for entry in found:
        assert (entry["hi_holm"] < 0) == (entry["verdict"] == "worse") == (entry["p_holm"] < 0.05)
        assert entry["lo_holm"] <= entry["lo"] and entry["hi"] <= entry["hi_holm"]
    assert any(entry["hi"] < 0 <= entry["hi_holm"] for entry in found)


def test_json_holds_the_same_without_nan(tables):
    found = json.loads(run(*tables, "--json", "--metric", "auroc_weighted").stdout)
    assert found["boards"] == [str(path) for path in tables]
    by = {entry["detector"]: entry for entry in found["comparisons"]}
    assert by["odin"]["verdict"] == "better" and by["msp"]["verdict"] == "tie"
    assert by["odin"]["difference"] == pytest.approx(0.2) and by["odin"]["years_p"] is None
    assert found["refused"][0]["why"] == "budget quick against paper"
    assert {entry["detector"] for entry in found["only"]} == {"left", "right"}
    assert found["years_p"] == "assumes independent years" and "welch" in found["tests"]


def test_nothing_to_compare_is_an_exit_code_of_one(tmp_path):
    write_board(board(row()), tmp_path / "a.csv")
    write_board(board(row(suite_version=2)), tmp_path / "b.csv")
    result = run(tmp_path / "a.csv", tmp_path / "b.csv")
    assert result.exit_code == 1 and "suite_version 1 against 2" in result.stdout


def test_a_run_is_compared_with_itself_and_within_from_its_answers(tmp_path):
    write_stream(growing_stream(), tmp_path / "data" / "growing")
    folder = made_up_run(tmp_path / "run", growing_stream(), {"msp": 0.5, "odin": 1.5})
    itself = run(folder, folder, "--data-dir", tmp_path / "data", "--draws", 200)
    assert itself.exit_code == 0, itself.output
    assert itself.stdout.startswith("no difference\n4 rows are left out that cannot differ")
    whole = run(folder, folder, "--data-dir", tmp_path / "data", "--draws", 200, "--all").stdout.replace("\n", " ")
    assert "better" not in whole and "worse" not in whole
    assert "paired bootstrap over seeds and vertices" in whole
    assert "assumes independent years; not part of the verdict" in whole
    within = run(folder, "--within", "--data-dir", tmp_path / "data", "--draws", 200, "--json")
    (first, _) = json.loads(within.stdout)["comparisons"]
    assert (first["detector"], first["against"], first["verdict"]) == ("msp", "gcn odin", "worse")


def test_the_printed_tables_stand_beside_our_rows(tmp_path):
    about = {
        "stream": "cora",
        "protocol": "leave-class-out",
        "split": "60-20-20",
        "strategy": "",
        "restart": "",
        "head": "isomax+",
    }
    write_board(board(row(0.7, detector="isomax+", **about)), tmp_path / "mine.csv")
    result = run(ROOT / "leaderboard" / "published" / "open-world-lgl.csv", tmp_path / "mine.csv")
    assert result.exit_code == 0, result.output
    assert "printed: no interval, not tested" in result.stdout and "not tested" in result.stdout
    assert "cora" in result.stdout and "only in [1]: 163 rows" in result.stdout


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ([], 2, "--within"),
        (["B", "--metric", "acuracy"], 2, "did you mean 'accuracy'"),
        (["B", "--draws", "1"], 2, "--draws 1"),
        (["none.csv"], 3, "does not exist"),
    ],
)
def test_wrong_usage_and_missing_data_have_their_exit_codes(tables, given, code, said):
    result = run(tables[0], *(tables[1] if word == "B" else word for word in given))
    assert result.exit_code == code and said in result.stderr and "Traceback" not in result.output


def test_a_folder_that_holds_no_run_is_refused(tables, tmp_path):
    (tmp_path / "empty").mkdir()
    result = run(tables[0], tmp_path / "empty")
    assert result.exit_code == 3 and "holds no run" in result.stderr
