from __future__ import annotations

import json
import re
import shlex
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks import boards, record
from lgl_bench.cli import main as lgl_bench
from lgl_bench.grading.beside import files_beside
from lgl_bench.grading.board_years import read_board_years, write_board_years
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.leaderboard.table.write import write_board
from lgl_bench.plans.suite import suites
from lgl_bench.runs.store import RunStore
from tests.support.report_boards import board_of, write_run, year_frame

BOARDS = boards.read_boards()
FULL = boards.read_boards(full=True)


def given(*words: str) -> tuple[Namespace, list[boards.Board]]:
    found = record.arguments().parse_args(words)
    return found, record.settled(found)


@pytest.fixture
def calls(monkeypatch):
    """Every command that would be given; dry runs are answered."""
    found: list[str] = []
    answer = {"fits": 4, "fits_to_do": 3, "estimated_minutes": 90.0, "jobs": 2}

    def command(*words: str, shown: str = "", capture: bool = False) -> str:
        if not capture:
            found.append(shown or shlex.join(words))
        return json.dumps(answer)

    monkeypatch.setattr(record, "_python", command)
    return found


def test_the_table_of_boards_is_made_from_the_list_and_the_boards_that_are_there():
    assert boards.README.read_text(encoding="utf-8") == boards.page(), "run: python -m benchmarks.boards"


def test_every_board_of_the_repository_is_in_the_list():
    assert {path.stem for path in boards.BOARDS.glob("*.csv")} <= {board.name for board in BOARDS}


@pytest.mark.parametrize("board", [*BOARDS, *FULL], ids=lambda board: f"{board.name}-{board.budget}")
def test_every_command_of_the_list_is_one_that_lgl_bench_takes(board):
    assert board.suite in ("", *suites()) and board.why and board.title
    for words in board.commands():
        command = lgl_bench.get_command(None, words[0])
        assert command is not None
        taken = command.make_context(words[0], [*words[1:], "--out", "x"]).params
        assert taken["seeds"] == board.seeds and taken.get("budget", "paper") == board.budget
        assert board.streams() >= set(taken["streams"]) if board.streams() else True


def test_boards_of_one_run_folder_have_one_budget_and_differ_in_their_suite():
    frame = pd.DataFrame([(board.folder, board.suite, board.budget) for board in BOARDS])
    assert not frame.duplicated([0, 1]).any() and (frame.groupby(0)[2].nunique() == 1).all()


def test_full_is_the_paper_budget_for_all_in_folders_of_its_own():
    found, chosen = given("plan", "--full")
    assert {board.budget for board in chosen} == {"paper"} and "static-quick" not in {board.name for board in chosen}
    assert found.runs.name == "record-full" and boards.BOARDS not in (found.boards, *found.boards.parents)
    with pytest.raises(SystemExit, match="other budgets"):
        given("run", "--full", "--boards", str(boards.BOARDS))


@pytest.mark.parametrize(
    "words, said",
    [(["run", "--budget", "smoke"], "no board mixes budgets"), (["plan", "temporl"], "there are: static, ")],
)
def test_another_budget_and_an_unknown_board_are_refused(words, said):
    with pytest.raises(SystemExit, match=said):
        given(*words)


def test_plan_says_what_is_to_do_and_runs_nothing(calls, capsys, tmp_path):
    found, chosen = given("plan", "temporal", "--runs", str(tmp_path), "--jobs", "2")
    record.show_plan(chosen, found)
    text = capsys.readouterr().out
    assert calls == [] and text.count("to do: 3 of 4 fits, by estimate 1.5 h on 2 cores") == len(chosen[0].runs)
    assert f"to do, by estimate: {1.5 * len(chosen[0].runs)} h on 2 cores" in text


def test_run_gives_one_command_after_the_other_and_passes_the_engine_on(calls, capsys, tmp_path):
    found, chosen = given("run", "lifelong", "rivals", "--runs", str(tmp_path), "--engine", "ray", "--address", "a:1")
    record.run(chosen, found)
    assert [call.split()[3] for call in calls] == [board.name for board in chosen for _ in board.runs]
    assert [board.name for board in chosen] == ["rivals", "lifelong"]
    assert all(f"--out {tmp_path / 'temporal'}" in call and "--real-only --offline" in call for call in calls)
    assert all(call.endswith("--engine ray --address a:1") for call in calls)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines if re.match(r"\w+: \d+ min on \d+ cores", line)] == [
        "rivals",
        "lifelong",
    ]


FILES = ["temporal.csv", *(path.name for path in files_beside(Path("temporal.csv")))]


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A run folder with three runs: a board is built from two of them, and the third is of a suite of its own."""
    plans = [
        SimpleNamespace(
            suite={"name": suite}, budget="quick", streams=["s"], fits=[], digest=lambda digest=digest: digest
        )
        for suite, digest in (("temporal", "a"), ("temporal", "b"), ("lifelong", "c"))
    ]
    monkeypatch.setattr(record, "kept_plans", lambda store: plans)
    monkeypatch.setattr(record, "keys", lambda path: {path.stem} if "-" in path.stem else {"temporal-a", "temporal-b"})
    (tmp_path / "bundles").mkdir()
    for name in FILES:
        (tmp_path / "bundles" / name).write_text(name)
    return plans


def test_every_run_of_a_board_is_verified_before_it_is_written(calls, folder, tmp_path):
    places = ["--runs", str(tmp_path), "--boards", str(tmp_path / "mine"), "--data-dir", str(tmp_path / "data")]
    found, chosen = given("build", "temporal", *places)
    record.build(chosen, found)
    assert calls[0] == f"benchmarks/findings.py pairs {tmp_path / 'temporal'} --data-dir {tmp_path / 'data'}"
    assert [call.split()[1] for call in calls[1:]] == ["submit", "verify", "submit", "verify", "leaderboard"]
    assert "--plan a" in calls[1] and str(tmp_path / "bundles" / "temporal-b.zip") in calls[4]
    assert "--suite temporal --budget quick" in calls[5]
    for name in FILES:
        assert (tmp_path / "mine" / name).read_text() == name
    (tmp_path / "bundles" / FILES[-1]).unlink()  # the board has none any more
    record.build(chosen, found)
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == sorted(FILES[:-1])


def test_a_board_with_a_row_that_was_not_verified_is_not_written(calls, folder, tmp_path, capsys):
    folder[1].fits = ["a fit that is missing"]
    found, chosen = given("build", "temporal", "--runs", str(tmp_path), "--boards", str(tmp_path / "mine"))
    with pytest.raises(SystemExit, match="temporal: 1 rows are of no run that was finished and verified"):
        record.build(chosen, found)
    assert "temporal on s is not finished" in capsys.readouterr().out and not list((tmp_path / "mine").iterdir())


def test_a_run_that_lacks_answers_is_not_finished(tmp_path):
    years = year_frame(backbones=["gcn"], thresholds=[""], years=[2006, 2007], seeds=1)
    stopped = years.assign(reason=["not run", *[""] * (len(years) - 1)], key=[f"fit-{at}" for at in range(len(years))])
    RunStore(tmp_path).write_frame("years.parquet", stopped)
    assert record.unanswered(tmp_path) == {(stopped["suite"].iloc[0], "fit-0")}
    assert record.unanswered(tmp_path / "nothing") == set()


@pytest.fixture
def grown(calls, monkeypatch, tmp_path):
    """A board on two streams, and a run folder in which one of them was run again; tables are really built."""

    def years(value: float, *streams: str) -> pd.DataFrame:
        return year_frame(streams, thresholds=[""], stream_checksum="0" * 64, accuracy=value)

    write_board(board_of(years(0.5, "cora", "pubmed")), tmp_path / "mine" / "temporal.csv")
    write_board_years([years(0.5, "cora", "pubmed")], board_of(years(0.5, "cora")), tmp_path / "mine" / "temporal.csv")
    write_run(tmp_path / "temporal", years(0.7, "pubmed", "citeseer"))
    (tmp_path / "bundles").mkdir()
    commands = record._lgl_bench

    def command(words: list[str], **options: bool) -> str:
        return in_process(words) if "build" in words else commands(words, **options)

    monkeypatch.setattr(record, "_lgl_bench", command)
    monkeypatch.setattr(record, "verify", lambda *_: record.keys(tmp_path / "temporal" / "leaderboard.csv"))
    table = [boards.Board("temporal", "", "made", "quick", 3, "temporal", ("", "--stream cora"), "")]
    monkeypatch.setattr(record, "read_boards", lambda full: table)
    return tmp_path


def in_process(words: list[str]) -> str:
    """As `lgl-bench` in a process of its own."""
    result = CliRunner().invoke(lgl_bench, words)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_stream_is_measured_again_and_the_rows_of_others_stay(grown, calls):
    places = ["--runs", str(grown), "--boards", str(grown / "mine")]
    found, chosen = given("run", "--stream", "pubmed", *places)
    record.run(chosen, found)
    assert len(calls) == 1 and "--stream pubmed" in calls[0] and "cora" not in calls[0]
    record.build(chosen, found)
    rows = read_board(grown / "mine" / "temporal.csv")
    assert dict(rows.groupby("stream")["accuracy_mean"].mean().round(6)) == {"cora": 0.5, "pubmed": 0.7}
    years = read_board_years(grown / "mine" / "temporal.csv")
    assert dict(years.groupby("stream")["accuracy"].mean().round(6)) == {"cora": 0.5, "pubmed": 0.7}
    found, chosen = given("build", *places)  # all of it: what the folder does not have goes
    record.build(chosen, found)
    assert set(read_board(grown / "mine" / "temporal.csv")["stream"]) == {"pubmed", "citeseer"}


def test_rows_of_another_board_of_that_name_are_not_kept(grown, monkeypatch):
    found, chosen = given("build", "--stream", "pubmed", "--runs", str(grown), "--boards", str(grown / "mine"))
    before = (grown / "mine" / "temporal.csv").read_bytes()
    with pytest.raises(SystemExit, match="another suite, budget or number of seeds"):
        record.build([replace(chosen[0], seeds=5)], found)
    assert (grown / "mine" / "temporal.csv").read_bytes() == before
    monkeypatch.setattr(record, "read_boards", lambda full: [replace(chosen[0], runs=("--stream cora",))])
    with pytest.raises(SystemExit, match="no board that was asked for is on pubmed"):
        given("build", "--stream", "pubmed")


def test_pages_of_the_repository_are_made_from_its_own_boards_and_no_others(calls, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(record, "BOARDS", tmp_path / "mine")
    found, chosen = given("build", "temporal", "--runs", str(tmp_path), "--data-dir", str(tmp_path))
    record.build(chosen, found)
    assert [call.split()[-1] for call in calls[-3:]] == ["benchmarks.boards", "page", "docs/make_board.py"]


def test_parity_measures_on_top_of_what_ships_and_its_tables_are_copied(calls, tmp_path):
    found, chosen = given("run", "parity", "--runs", str(tmp_path), "--boards", str(tmp_path / "mine"))
    record.run(chosen, found)
    assert all(call.startswith("lgl-bench parity") and "--jobs" in call for call in calls)
    assert len(calls) == len(chosen[0].runs)
    measured = tmp_path / "parity" / "measured.csv"
    assert measured.read_bytes() == (boards.BOARDS / "parity" / "measured.csv").read_bytes()
    for name in ("parity.csv", "parity.md"):
        (tmp_path / "parity" / name).write_text(name)
    record.build(chosen, found)
    assert (tmp_path / "mine" / "parity" / "parity.md").read_text() == "parity.md"


def test_a_fit_that_several_detectors_share_counts_once(tmp_path):
    years = year_frame(backbones=["gcn"], thresholds=[""], years=[2006, 2007], seeds=2, fit_seconds=10.0)
    assert len(years) == 3 * 4 and len(boards.fits_of(years)) == 4
    years = years.assign(stream_checksum="0" * 64)
    write_board(board_of(years), tmp_path / "mine.csv")
    write_board_years([years], board_of(years), tmp_path / "mine.csv")
    mine = boards.Board("mine", "", "made", "quick", 2, "mine", ("--stream dblp-easy-twin",), "")
    fits = boards.recorded(mine, tmp_path)
    assert fits is not None and fits["fit_seconds"].sum() == 40.0
    for other in ({"budget": "paper"}, {"seeds": 3}, {"runs": ("--stream cora",)}):  # the CSV is another board's
        assert boards.recorded(boards.Board(**{**vars(mine), **other}), tmp_path) is None


def test_a_command_that_fails_ends_everything_and_says_that_it_can_be_given_again():
    with pytest.raises(SystemExit, match="ended with 3, see above; what is done stays"):
        record._python("-c", "raise SystemExit(3)")
