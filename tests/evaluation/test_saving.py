"""A saved evaluation is a run folder like any other: shown, compared, reported, submitted, verified, and not forged."""

from __future__ import annotations

import json
import shutil

import pandas as pd
import pytest

import lgl_bench
from lgl_bench.core.errors import UsageError
from lgl_bench.leaderboard.boards import open_board
from lgl_bench.leaderboard.compare.boards import compare
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.store import write_stream
from lgl_bench.submissions.bundle.layout import BundleError
from lgl_bench.submissions.bundle.pack import submit
from lgl_bench.submissions.reproduce.reproduce import reproduce
from lgl_bench.submissions.verify.verify import verify
from tests.support.bundles import Forged
from tests.support.external import answered, nearest_mean
from tests.support.graphs import small_stream


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_stream(small_stream(), folder / "small")
    return folder


@pytest.fixture(scope="module")
def saved(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "mine"
    result = answered("small", decides=True, seeds=3, data_dir=data).result()
    result.save(folder)
    return folder, result


@pytest.fixture(scope="module")
def bundle(saved, data, tmp_path_factory):
    to = tmp_path_factory.mktemp("bundles") / "bundle"
    return to, submit(saved[0], to, submitter="me", data_dir=data)


def test_the_folder_has_the_rows_of_the_result(saved):
    folder, result = saved
    wanted = ["detector", "threshold", "auroc_weighted_mean", "mcc_mean", "accuracy_mean"]
    there = lgl_bench.Board(folder)
    pd.testing.assert_frame_equal(
        there.all[wanted].sort_values(wanted[:2], ignore_index=True),
        result.all[wanted].sort_values(wanted[:2], ignore_index=True),
    )
    assert {"plan.json", "years.parquet", "leaderboard.csv", "answers", "fits"} <= {
        one.name for one in folder.iterdir()
    }


def test_a_bundle_verifies_and_its_rows_are_recomputed(bundle, data):
    to, packed = bundle
    assert any("made outside lgl-bench" in note for note in packed.notes)
    found = verify(to, data, rescore=True)
    assert found.differences == [] and set(found.frame["trust"]) == {"recomputed"}
    assert any("neither weights nor code" in note for note in found.notes)
    assert any("the answers of external-mine were made outside lgl-bench" in note for note in found.notes)


def test_it_cannot_be_reproduced_and_that_is_one_sentence(bundle, data):
    with pytest.raises(UsageError, match="external-mine cannot be reproduced: its answers were made outside lgl-bench"):
        reproduce(bundle[0], data_dir=data)


def forged(bundle, tmp_path, edit):
    """A copy of the bundle with an answers file edited, and every digest made right again."""
    copy = tmp_path / "forged"
    shutil.copytree(bundle[0], copy)
    path = sorted((copy / "answers").iterdir())[1]
    edit(path)
    Forged(copy).seal()
    return copy


def rewrite(column, change):
    def edit(path):
        frame = pd.read_parquet(path)
        frame[column] = change(frame[column])
        frame.to_parquet(path, index=False)

    return edit


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("novelty:mine", lambda values: 1 - values),
        ("class_pred", lambda values: values.to_numpy()[::-1].copy()),
    ],
)
def test_answers_that_were_changed_are_found_out_by_the_numbers(bundle, data, tmp_path, column, change):
    assert verify(forged(bundle, tmp_path, rewrite(column, change)), data).differences


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("novelty:random", lambda values: values * 0),
        ("rejected:mine|oracle", lambda values: ~values),
        ("rejected:mine|always", lambda values: ~values),
    ],
)
def test_a_floor_that_was_lowered_is_found_out_even_if_all_numbers_agree(bundle, data, tmp_path, column, change):
    copy = forged(bundle, tmp_path, rewrite(column, change))
    found = verify(Forged(copy).regrade(data), data).differences
    assert found and all(repr(column) in one for one in found)


def test_a_board_that_was_changed_is_found_out(bundle, data, tmp_path):
    copy = tmp_path / "forged"
    shutil.copytree(bundle[0], copy)
    board = pd.read_csv(copy / "leaderboard.csv", dtype=str)
    board["auroc_weighted_mean"] = "0.999"
    board.to_csv(copy / "leaderboard.csv", index=False)
    Forged(copy).seal()
    assert any("auroc_weighted_mean" in one for one in verify(copy, data).differences)


def test_answers_for_other_vertices_or_classes_are_refused(bundle, data, tmp_path):
    with pytest.raises(BundleError, match="one of the known classes"):
        verify(forged(bundle, tmp_path, rewrite("class_pred", lambda values: values + 1000)), data)


def test_answers_of_ours_cannot_pass_without_confidence_by_their_own_word(bundle, data, tmp_path):
    copy = tmp_path / "forged"
    shutil.copytree(bundle[0], copy)
    plan = (copy / "plan.json").read_text()
    (copy / "plan.json").write_text(plan.replace("external-mine", "gcn"))
    Forged(copy).seal()
    with pytest.raises(BundleError):
        verify(copy, data)


def test_a_saved_evaluation_is_compared_with_another(saved, data, tmp_path):
    other = answered("small", seeds=3, data_dir=data, method="theirs").result().save(tmp_path / "theirs")
    found = compare([open_board(saved[0]), open_board(other)], within=True, data_dir=data)
    assert {"mine", "theirs"} <= {*found.rows["detector"], *lgl_bench.Board(other).all["detector"], "mine"}
    assert lgl_bench.Board(other).all["suite"].unique().tolist() == ["temporal"]


def test_seeds_that_are_saved_one_after_the_other_make_one_row(data, tmp_path):
    for seed in (0, 2, 1):
        answered("small", seed=seed, data_dir=data).result().save(tmp_path / "run")
    whole = answered("small", seeds=3, data_dir=data).result().save(tmp_path / "whole")
    left_out = ["created_at"]
    rows = [lgl_bench.Board(tmp_path / name).all.drop(columns=left_out) for name in ("run", "whole")]
    pd.testing.assert_frame_equal(*rows)
    assert whole == tmp_path / "whole" and rows[0]["failed_seeds"].eq(0).all()


def test_saving_the_same_answers_again_changes_nothing_and_others_need_force(data, tmp_path):
    folder = tmp_path / "run"
    evaluation = answered("small", data_dir=data)
    evaluation.result().save(folder)
    keys = sorted(one.name for one in (folder / "fits").iterdir())
    evaluation.result().save(folder)
    assert sorted(one.name for one in (folder / "fits").iterdir()) == keys
    other = lgl_bench.Evaluation("small", method="mine", data_dir=data)
    for task in other:
        predicted, novelty = nearest_mean(task)
        other.answer(task, predicted=predicted, novelty=-novelty)
    with pytest.raises(UsageError, match="holds other answers of mine on small, seed 0.*force=True"):
        other.result().save(folder)
    other.result().save(folder, force=True)
    assert lgl_bench.Board(folder).all.set_index("detector").loc["mine", "auroc_weighted_mean"] == pytest.approx(
        other.result().all.set_index("detector").loc["mine", "auroc_weighted_mean"]
    )


def test_a_run_in_the_same_folder_keeps_the_rows(data, tmp_path):
    folder = answered("small", data_dir=data).result().save(tmp_path / "run")
    asked = {"streams": ["small"], "backbones": ["mlp"], "detectors": ["msp"], "thresholds": ["none"]}
    lgl_bench.run("smoke", **asked, budget="smoke", out=folder, offline=True, data_dir=data, seeds=1)
    assert {"external-mine", "mlp"} == set(lgl_bench.Board(folder).all["backbone"])


def test_the_plan_says_that_the_parts_are_nobody_s(saved):
    plan = json.loads((saved[0] / "plan.json").read_text())
    assert plan["plugins"]["backbones"] == ["external-mine"] and plan["plugins"]["heads"] == ["external"]
    assert not any(RunStore(saved[0]).weights(key) for key in plan["fits"])


def test_the_report_is_made_of_a_saved_evaluation(saved, data, tmp_path):
    from lgl_bench.cli import main

    with pytest.raises(SystemExit) as ended:
        main(["report", str(saved[0]), "--html", str(tmp_path / "site"), "--data-dir", str(data)])
    assert ended.value.code == 0 and "external-mine" in (tmp_path / "site" / "index.html").read_text()
