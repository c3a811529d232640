"""The complete example of each plugin page is loaded as it stands, passes its battery, and runs as the page shows."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from lgl_bench.checks import check_plugin
from lgl_bench.core.registry import load_plugin
from tests.docs.blocks import ROOT, Block, blocks_of
from tests.docs.shell import commands_in
from tests.docs.walk import give

FOLDER = ROOT / "docs" / "plugins"


def example(page: str) -> Block:
    (block,) = [block for block in blocks_of(FOLDER / f"{page}.md", "python") if block.file]
    return block


def write_files(page: str) -> None:
    """Writes the files a page shows: its example, and a suite or data where it has one."""
    Path(example(page).file).write_text(example(page).text, encoding="utf-8")
    for block in blocks_of(FOLDER / f"{page}.md", "toml", "json"):
        name = {"toml": "held-out.toml", "json": "papers.json"}[block.language]
        Path(name).write_text(block.text, encoding="utf-8")


def commands(page: str) -> list[list[str]]:
    return [arguments for block in blocks_of(FOLDER / f"{page}.md", "sh") for arguments in commands_in(block.text)]


@pytest.mark.parametrize(
    ("page", "kind", "name"),
    [
        ("backbone", "backbones", "neighbour-mean"),
        ("head", "heads", "smoothed"),
        ("head", "detectors", "smoothed-msp"),
        ("detector", "detectors", "nearest-mean"),
        ("threshold", "thresholds", "median-cut"),
        ("protocol", "protocols", "held-out-year"),
    ],
)
def test_the_example_of_a_page_passes_the_battery(page, kind, name, small_world, clean_registries):
    write_files(page)
    load_plugin(Path(example(page).file))
    results = check_plugin(kind, name)
    assert results
    assert not [f"{result.check}: {result.reason}" for result in results if result.status == "failed"]


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
def test_the_run_of_a_page_puts_its_example_on_the_leaderboard(page, column, shown, small_world):
    write_files(page)
    (run,) = [arguments for arguments in commands(page) if arguments[0] == "run"]
    give(example(page), run)
    (table,) = Path("runs").rglob("leaderboard.csv")
    rows = pd.read_csv(table, keep_default_na=False)
    own = rows[rows[column] == shown]
    assert len(own)
    assert not own["accuracy_reason"].any()


def test_the_importer_of_the_stream_page_imports_the_file_beside_it(small_world):
    write_files("stream")
    (first, describe) = [arguments for arguments in commands("stream") if "FOLDER" not in arguments]
    summary = json.loads(give(example("stream"), [*first, "--json"]))
    assert (summary["vertices"], summary["edges"]) == (5, 4)
    assert json.loads(give(example("stream"), [*describe, "--json"]))["new_classes"] == 1


def test_every_plugin_page_has_one_example_in_a_file_of_its_own():
    files = [example(page.stem).file for page in sorted(FOLDER.glob("*.md"))]
    assert len(files) == len(set(files)) == 6
