"""Answers in a file: graded like a loop's, and what is wrong is named by its row and column."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import lgl_bench
from lgl_bench.cli import main
from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.streams.store import write_stream
from tests.support.external import nearest_mean
from tests.support.graphs import small_stream


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_stream(small_stream(), folder / "small")
    write_stream(small_stream(static=True), folder / "still")
    return folder


def table(stream, protocol="temporal", **more):
    """Answers to every task, in no order."""
    parts = []
    for task in lgl_bench.tasks(stream, protocol):
        predicted, novelty = nearest_mean(task)
        columns = {"vertex": stream.ids[task.scored], "time": task.time, "class_pred": predicted, "novelty": novelty}
        parts.append(pd.DataFrame(columns | ({"fold": task.fold} if task.fold else {})))
    return pd.concat(parts, ignore_index=True).sample(frac=1, random_state=0, ignore_index=True).assign(**more)


@pytest.fixture(scope="module")
def frame():
    return table(small_stream())


def loop(stream, **options):
    evaluation = lgl_bench.Evaluation(stream, method="mine", **options)
    for task in evaluation:
        predicted, novelty = nearest_mean(task)
        evaluation.answer(task, predicted=predicted, novelty=novelty)
    return evaluation.result()


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_in_any_order_is_graded_like_the_loop(frame, data, tmp_path, ending):
    path = tmp_path / f"mine.{ending}"
    frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)
    found = lgl_bench.grade(path, "small", data_dir=data).all.drop(columns="created_at")
    pd.testing.assert_frame_equal(found, loop("small", data_dir=data).all.drop(columns="created_at"))


def test_folds_of_a_static_graph_are_named_in_a_column(data, tmp_path):
    path = tmp_path / "mine.parquet"
    table(small_stream(static=True), "leave-class-out").to_parquet(path)
    found = lgl_bench.grade(path, "still", protocol="leave-class-out", data_dir=data).all.drop(columns="created_at")
    again = loop("still", protocol="leave-class-out", data_dir=data).all.drop(columns="created_at")
    pd.testing.assert_frame_equal(found, again)


def test_a_file_may_hold_several_seeds_and_decisions(frame, data, tmp_path):
    path = tmp_path / "mine.parquet"
    parts = [frame.assign(seed=seed, rejected=frame["novelty"] > 20 + seed) for seed in range(3)]
    pd.concat(parts).to_parquet(path)
    found = lgl_bench.grade(path, "small", data_dir=data).all
    assert set(found["accuracy_n_seeds"]) == {3} and "external" in set(found["threshold"])


def edited(frame, row, column, value):
    changed = frame.astype({column: object})
    changed.loc[row, column] = value
    return changed.infer_objects()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda f: f.drop(columns="novelty"), "has no column 'novelty'; it has vertex, time, class_pred"),
        (lambda f: f.assign(mood=1), "has a column 'mood'; columns of answers are vertex"),
        (lambda f: f.assign(vertex=f["vertex"] + 0.5), "column vertex: it is of type float64, where whole numbers"),
        (lambda f: edited(f, 5, "novelty", np.inf), r"row 5 \(counted from 0\), column novelty: inf: it is not finite"),
        (lambda f: edited(f, 5, "novelty", None), r"row 5 \(counted from 0\), column novelty: it is empty"),
        (
            lambda f: edited(f, 7, "time", 99),
            r"row 7 .*, column time: 99 is asked about by no task; asked .* 2, 3",
        ),
        (
            lambda f: edited(f, 3, "vertex", 10**6),
            r"row 3 .*, column vertex: 1000000 is not asked about in the",
        ),
        (
            lambda f: edited(f, 4, "class_pred", 77),
            r"row 4 .*, column class_pred: 77 is no class that is known by then",
        ),
        (
            lambda f: pd.concat([f, f.iloc[[2]]], ignore_index=True),
            r"column vertex: .* is answered twice .* row 2",
        ),
        (lambda f: f.drop(index=6).reset_index(drop=True), "1 of the .* asks about have no row; the first is vertex"),
        (lambda f: f.assign(confidence=1.5), "row 0 .*, column confidence: 1.5: a probability lies in"),
        (lambda f: f.assign(rejected="no"), "column rejected: .* where true and false must be"),
    ],
)
def test_what_is_wrong_is_named_by_its_row_and_column(frame, data, tmp_path, edit, said):
    path = tmp_path / "mine.parquet"
    edit(frame).to_parquet(path)
    with pytest.raises(DataError, match=said):
        lgl_bench.grade(path, "small", data_dir=data)


def test_a_damaged_or_missing_file_and_a_bad_name_are_one_sentence(frame, data, tmp_path):
    (tmp_path / "mine.parquet").write_bytes(b"no table")
    with pytest.raises(DataError, match="cannot be read as a table of answers"):
        lgl_bench.grade(tmp_path / "mine.parquet", "small", data_dir=data)
    with pytest.raises(DataError, match="is no file"):
        lgl_bench.grade(tmp_path / "yours.parquet", "small", data_dir=data)
    with pytest.raises(UsageError, match="use lower-case letters"):
        lgl_bench.grade(tmp_path / "My Answers.parquet", "small", data_dir=data)


def command(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["grade", *map(str, arguments)])
    return ended.value.code


def test_the_command_grades_saves_and_prints(frame, data, tmp_path, capsys):
    frame.to_parquet(tmp_path / "mine.parquet")
    asked = (tmp_path / "mine.parquet", "--stream", "small", "--data-dir", data)
    assert command(*asked, "--out", tmp_path / "run", "--method", "other") == 0
    assert "external-other" in capsys.readouterr().out
    assert set(lgl_bench.Board(tmp_path / "run").all["detector"]) == {"other", "random", "degree", "recency"}
    assert command(*asked, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["unanswered"] == [] and {row["detector"] for row in printed["rows"]} >= {"mine"}


def test_a_year_without_rows_is_said_and_the_exit_code_is_one(frame, data, tmp_path, capsys):
    frame[frame["time"] != 3].to_parquet(tmp_path / "mine.parquet")
    assert command(tmp_path / "mine.parquet", "--stream", "small", "--data-dir", data) == 1
    assert "3, seed 0: failed: the file has no row of this task" in capsys.readouterr().out


def test_a_wrong_cell_has_the_exit_code_of_bad_data(frame, data, tmp_path, capsys):
    edited(frame, 4, "class_pred", 77).to_parquet(tmp_path / "mine.parquet")
    assert command(tmp_path / "mine.parquet", "--stream", "small", "--data-dir", data) == 3
    assert "row 4" in capsys.readouterr().err
