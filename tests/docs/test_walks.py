"""README, CONTRIBUTING and the plugin pages, walked from their text; the tutorial has a file of its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.docs.walk import QUICKER, STAND_INS, StandIn, needs_isolation, walk
from tests.support.blocks import ROOT, blocks_of
from tests.support.commands import environment, run_command

PLUGINS = ROOT / "docs" / "plugins"


def board(folder: Path) -> pd.DataFrame:
    (table,) = (folder / "here" / "runs").rglob("leaderboard.csv")
    return pd.read_csv(table, keep_default_na=False)


def walk_readme(folder: Path, stand_ins: list[StandIn]) -> pd.DataFrame:
    """Walks the README, in a folder with what a checkout has for it; the rows its `verify` recomputed."""
    shutil.copytree(ROOT / "leaderboard", folder / "here" / "leaderboard")
    steps = list(walk(ROOT / "README.md", folder, stand_ins))
    assert "trust = recomputed" in steps[-1].ended.out
    assert (folder / "here" / "site" / "index.html").is_file()
    return board(folder)


def test_the_readme_ends_with_a_verified_bundle(tmp_path):
    rows = walk_readme(tmp_path, [*STAND_INS, QUICKER])
    assert set(rows["stream"]) == {"dblp-easy-twin"}


@pytest.mark.slow
def test_the_readme_works_with_its_first_command_as_it_stands(tmp_path):
    rows = walk_readme(tmp_path, STAND_INS)
    assert set(rows["budget"]) == {"quick"}
    assert set(rows["stream"]) == {"dblp-easy-twin", "dblp-hard-twin", "ogb-arxiv-twin"}


@needs_isolation
def test_contributing_ends_with_a_reproduced_row_of_the_new_method(tmp_path):
    steps = list(walk(ROOT / "CONTRIBUTING.md", tmp_path, STAND_INS))
    assert any("1 passed" in step.ended.out for step in steps if "pytest my-method" in step.block.text)
    for trust in ("recomputed", "reproduced"):
        rows = pd.read_csv(tmp_path / "here" / f"{trust}.csv", keep_default_na=False)
        assert set(rows["trust"]) == {trust}
        assert set(rows["submitter"]) == {"Your Name"}
        assert {"msp", "my-method"} <= set(rows["detector"])


def test_ci_gives_the_lines_that_contributing_asks_for_before_a_change_is_sent():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    (shown,) = [one.shown for one in STAND_INS if one.shown.startswith("ruff check")]
    assert set(shown.strip().split(" && ")) <= set(script)


@pytest.mark.parametrize(
    ("page", "column", "shown"),
    [
        ("backbone", "backbone", "neighbour-mean"),
        ("head", "head", "smoothed"),
        ("detector", "detector", "good(nearest-mean(power=2.0),alpha=auto)"),
        ("threshold", "threshold", "median-cut(width=2.0)"),
        ("protocol", "protocol", "held-out-year"),
    ],
)
def test_the_walk_of_a_plugin_page_puts_its_example_on_the_leaderboard(page, column, shown, tmp_path):
    check, *_ = walk(PLUGINS / f"{page}.md", tmp_path, STAND_INS)
    assert " passed" in check.ended.out and " failed" not in check.ended.out
    rows = board(tmp_path)
    own = rows[rows[column] == shown]
    assert len(own)
    assert not own["accuracy_reason"].any()


@needs_isolation
def test_the_walk_of_the_strategy_page_ends_with_reproduced_rows_and_a_memory_of_the_size_it_names(tmp_path):
    first, last = walk(PLUGINS / "strategy.md", tmp_path, STAND_INS)
    assert " passed" in first.ended.out and " failed" not in first.ended.out
    assert "trust = recomputed" in last.ended.out and "trust = reproduced" in last.ended.out
    rows = pd.read_csv(tmp_path / "here" / "reproduced.csv", keep_default_na=False)
    own = rows[rows["strategy"] == "novel-replay(share=0.5,size=100)"]
    assert own["trust"].tolist() == ["reproduced"] and not own["accuracy_reason"].any()
    sizes = dict(zip(rows["strategy"], rows["memory_vertices"], strict=True))
    assert (sizes["finetune"], sizes["novel-replay(share=0.5,size=100)"]) == (0, 100) and sizes["full"] > 100


def test_the_example_of_the_strategy_page_is_short():
    (block,) = blocks_of(PLUGINS / "strategy.md", "python")
    assert len(block.text.splitlines()) < 60


def test_the_walk_of_the_metric_page_grades_every_row_and_shows_its_column(tmp_path):
    (step,) = walk(PLUGINS / "metric.md", tmp_path, STAND_INS)
    assert " passed" in step.ended.out and " failed" not in step.ended.out
    assert any(line.startswith("rank") and "r_precision" in line for line in step.ended.out.splitlines())
    assert board(tmp_path)["r_precision_mean"].astype(float).between(0, 1).all()


def test_the_walk_of_the_stream_page_imports_both_of_its_graphs(tmp_path):
    described = [step.ended.out for step in walk(PLUGINS / "stream.md", tmp_path, STAND_INS)]
    assert all("2 known at t0" in out and "1 new after it" in out for out in described)
    found = [json.loads(path.read_text(encoding="utf-8")) for path in (tmp_path / "home").rglob("stream.json")]
    assert [(one["vertices"], one["edges"], one["features"]) for one in found] == [(5, 4, 2), (5, 4, 2)]


def test_the_walk_of_the_python_page_ends_with_a_graded_loop_a_graded_file_and_a_board(tmp_path):
    steps = list(walk(ROOT / "docs" / "api.md", tmp_path, STAND_INS))
    assert any("trust = recomputed" in step.ended.out for step in steps)
    saved = sorted(path.parent.name for path in (tmp_path / "here" / "runs").rglob("leaderboard.csv"))
    assert saved == ["gcn", "mine", "usual"]


def test_the_page_on_your_own_graph_goes_from_a_csv_of_dois_to_a_submitted_run_in_six_commands(tmp_path):
    page = ROOT / "docs" / "own-graph.md"
    steps = list(walk(page, tmp_path, STAND_INS))
    commands = [step for step in steps if step.block.language == "sh"]
    assert len(commands) == 7 and all(len(step.block.text.splitlines()) == 1 for step in commands)
    imported = next(step.ended.out for step in commands if "data import" in step.block.text)
    assert "such as '10.5555/" in imported and "t0 is 2015, as proposed" in imported
    assert "ignored the column title of papers.csv" in imported and "'10.5555/not.in.the.table'" in imported
    rows = board(tmp_path)
    assert set(rows["stream"]) == {"mine"}
    assert {"energy", "margin"} <= {name.partition("(")[0] for name in rows["detector"]}
    assert (tmp_path / "here" / "site" / "index.html").is_file() and (tmp_path / "here" / "mine.zip").is_file()
    vertices = pd.read_csv(tmp_path / "here" / "vertices.csv")
    answers = pd.concat(map(pd.read_parquet, (tmp_path / "here" / "runs" / "mine" / "answers").glob("*.parquet")))
    named = answers.merge(vertices, on="vertex", how="left")
    assert len(named) and named["name"].str.startswith("10.5555/").all()


def test_every_plugin_page_is_walked_and_has_one_example_in_a_file_of_its_own():
    pages = sorted(page.stem for page in PLUGINS.glob("*.md"))
    assert pages == ["backbone", "detector", "head", "metric", "protocol", "strategy", "stream", "threshold"]
    files = [block.file for page in pages for block in blocks_of(PLUGINS / f"{page}.md", "python")]
    assert all(files) and len(files) == len(set(files)) == 8


def test_the_command_on_the_path_is_the_one_of_this_checkout(tmp_path):
    script = "import lgl_bench, shutil; print(lgl_bench.__file__, shutil.which('lgl-bench'))"
    ended = run_command(["python", "-c", script], tmp_path, environment(tmp_path))
    package, command = ended.out.split()
    assert Path(package).resolve() == ROOT / "lgl_bench" / "__init__.py"
    assert command != "None"
