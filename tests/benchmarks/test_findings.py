"""The page of findings as a whole, and the pairs behind it; each question's rule is in `test_findings_rules.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.findings import asked, facts, page, tested
from benchmarks.findings.tables import Board, Tables, detector_name, made, one, per_budget
from benchmarks.findings.text import MAX_LINES, counts, few, table
from lgl_bench.cli import main
from lgl_bench.leaderboard.boards import open_board
from lgl_bench.leaderboard.table.write import write_board
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.describe import describe
from lgl_bench.streams.store import write_stream
from tests.support.blocks import ROOT
from tests.support.boards import board, growing_stream, made_up_run, row

METHODS = {"random": 0.0, "msp": 1.0, "good(msp,alpha=0.5)": 2.5, "propagate(msp,alpha=0.5,steps=2)": 1.0}


def wrapped(*cells: tuple[str, str]) -> pd.DataFrame:
    rows = [dict.fromkeys(asked.SAME, "") | {"backbone": backbone, "detector": name} for backbone, name in cells]
    return pd.DataFrame(rows)


def test_the_page_is_what_the_tables_of_the_repository_give():
    for path, text in page.files(Tables()).items():
        assert path.read_text(encoding="utf-8") == text, "run: python benchmarks/findings.py page"


def test_the_command_is_a_script_beside_its_package():
    command = [sys.executable, str(ROOT / "benchmarks" / "findings.py"), "page", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_without_any_board_every_question_stands_there_and_says_so(tmp_path: Path):
    text = page.page(Tables(tmp_path, tmp_path / "none.csv"))
    assert text.count("\n## ") == len(page.SECTIONS) == 8
    for name in ("temporal", "rivals", "rivals-static", "lifelong", "static-quick", "propagation"):
        assert f"There is no board `leaderboard/{name}.csv` yet." in text


def test_a_board_of_two_budgets_is_refused(tmp_path: Path):
    write_board(board(row(detector="msp"), row(detector="odin", budget="paper")), tmp_path / "temporal.csv")
    with pytest.raises(SystemExit, match="budget differs"):
        Tables(tmp_path).board("temporal")


def test_boards_of_two_budgets_are_never_one_table(tmp_path: Path):
    rows = [row(detector=name, above_floor=word) for name, word in (("random", "floor"), ("msp", "yes"))]
    write_board(board(*rows), tmp_path / "temporal.csv")
    write_board(board(*(cells | {"budget": "paper"} for cells in rows)), tmp_path / "other.csv")
    text = page.page(Tables(tmp_path, tmp_path / "none.csv"))
    (first,) = [part for part in text.split("\n\n") if part.startswith("Boards of budget `paper`")]
    assert first in text and "Boards of budget `quick`" in text
    with pytest.raises(SystemExit, match="budget differs"):
        made([found for found in Tables(tmp_path).boards()])


def test_twins_and_printed_rows_are_no_findings(tmp_path: Path):
    rows = [row(stream="dblp-easy-twin"), row(detector="odin"), row(detector="gdoc", trust="printed")]
    write_board(board(*rows), tmp_path / "temporal.csv")
    found = Tables(tmp_path).board("temporal")
    assert found is not None and found.frame["detector"].tolist() == ["odin"]
    write_board(board(rows[0]), tmp_path / "twins.csv")
    assert Tables(tmp_path).board("twins") is None


def test_a_table_of_two_commits_is_refused():
    with pytest.raises(SystemExit, match="git_commit differs"):
        one(pd.Series(["a", "b"], name="git_commit"))


def test_answers_of_two_budgets_are_told_apart():
    rows = pd.DataFrame({"budget": ["quick", "paper", "quick"]})
    assert per_budget(rows, lambda own: f"{len(own)}.") == "`paper`: 1. `quick`: 2."
    assert per_budget(rows[:1], lambda own: f"{len(own)}.") == "1."


def test_a_wrapped_detector_is_set_against_its_base_and_a_propagated_one_against_good_too():
    frame = wrapped(
        ("gcn", "msp"),
        ("gcn", "good(msp,alpha=0.5)"),
        ("gcn", "propagate(msp,alpha=0.5,steps=2)"),
        ("gcn", "propagate(energy(temperature=1.0),alpha=0.5,steps=2)"),
        ("sgc", "good(msp,alpha=0.5)"),
    )
    # Nothing crosses backbones or bases, and a row whose base was not run has no pair.
    assert list(asked.wrapped_pairs(frame)) == [(0, 1), (0, 2), (1, 2)]


def test_rows_with_a_threshold_are_no_wrapped_pairs():
    frame = wrapped(("gcn", "msp"), ("gcn", "good(msp,alpha=0.5)"), ("gcn", "msp"), ("gcn", "good(msp,alpha=0.5)"))
    frame["threshold"] = ["", "", "never", "never"]
    assert list(asked.wrapped_pairs(frame)) == [(0, 1)]


def test_a_strategy_is_set_against_full_and_finetune_with_the_same_detector():
    cells = [("full", "msp"), ("finetune", "msp"), ("ewc", "msp"), ("ewc", "energy"), ("full", "odin")]
    frame = wrapped(*(("gcn", detector) for _, detector in cells)).assign(strategy=[name for name, _ in cells])
    assert list(asked.strategy_pairs(frame)) == [(0, 1), (0, 2), (1, 0), (1, 2)]


def test_a_threshold_is_set_against_the_better_of_never_and_always():
    frame = wrapped(*[("gcn", "msp")] * 4).assign(threshold=["never", "always", "naive", "oracle"])
    frame["mcc_mean"] = [0.0, 0.1, 0.3, 0.9]
    assert list(asked.threshold_pairs(frame)) == [(1, 2)]


@pytest.fixture(scope="module")
def run_of_two_suites(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run folder whose rows belong to two suites, and the data folder of its stream."""
    folder = tmp_path_factory.mktemp("findings")
    stream = growing_stream()
    write_stream(stream, folder / "data" / stream.name)
    run = made_up_run(folder / "run", stream, METHODS, noise=0.3)
    years = pd.read_parquet(run / "years.parquet")
    RunStore(run).write_frame("years.parquet", pd.concat([years, years.assign(suite="other")], ignore_index=True))
    return run, folder / "data"


def test_what_was_asked_of_a_run_folder_lies_beside_its_board(run_of_two_suites, tmp_path: Path, monkeypatch):
    run, data = run_of_two_suites
    assert tested.ask(run, data) == len(run_pairs(run))
    monkeypatch.setenv("LGL_BENCH_DATA", str(tmp_path))
    words = ["leaderboard", "build", str(run), "--suite", "made-up", "--out", str(tmp_path / "temporal.csv")]
    assert CliRunner().invoke(main, words).exit_code == 0
    own = Tables(tmp_path).board("temporal")
    assert own is not None
    for question in (asked.WRAPPED, asked.FLOOR, asked.BEST):
        found = tested.judged(own, question)
        assert len(found) and set(found["test"]) == {"bootstrap"}
    good = tested.judged(own, asked.WRAPPED).set_index("b").loc["good(msp,alpha=0.5)"]
    assert (good["a"], good["verdict"]) == ("msp", "better")


def run_pairs(run: Path) -> list[int]:
    frame = open_board(run).frame.reset_index(drop=True)
    return [at for question in asked.QUESTIONS for at in question.pairs(frame).b]


def test_a_board_without_tests_beside_it_is_judged_by_welch():
    rows = board(row(0.70, 0.001, detector="msp"), row(0.80, 0.001, detector="good(msp,alpha=0.5)"))
    found = tested.judged(Board("temporal", "quick", rows), asked.WRAPPED)
    assert found[["verdict", "test"]].to_numpy().tolist() == [["better", "welch"]]


def test_facts_are_those_of_data_describe_and_keep_what_was_there(tmp_path: Path):
    stream = growing_stream()
    write_stream(stream, tmp_path / "data" / stream.name)
    found = facts.described([], tmp_path / "data")
    expected = describe(stream)
    assert found["stream_checksum"].tolist() == [expected["stream_checksum"]]
    facts.keep(found.assign(stream="another"), tmp_path / "findings")
    facts.keep(found, tmp_path / "findings")
    kept = Tables(tmp_path).homophily()
    value = kept[stream.name, expected["stream_checksum"]]
    assert value == pytest.approx(expected["homophily"]["class_insensitive"], rel=1e-5) and len(kept) == 2


def test_verdicts_are_counted_by_their_word():
    assert counts(["better", "worse", "tie", "inconclusive (3 more seeds)", "untested", "better"]) == (2, 1, 2, 1)


def test_a_long_table_is_cut_and_what_is_left_out_is_counted():
    lines = table(["a", "#b"], ([n, ""] for n in range(MAX_LINES + 2)))
    assert lines[:3] == ["| a | b |", "| --- | ---: |", "| 0 | |"]
    assert lines[-2] == "2 more lines are left out." and len(lines) == MAX_LINES + 5


def test_a_list_in_words_says_how_much_it_leaves_out():
    assert (few(["a", "b", "c"], 2), few([])) == ("a, b and 1 more", "none")


def test_a_detector_has_one_name_whether_its_values_were_given_or_chosen():
    assert (
        detector_name("good(odin(auto),alpha=auto)") == detector_name("good(odin(eps=0.1),alpha=0.5)") == "good(odin)"
    )
