"""A literal walk through the tutorial: its files are written and its commands given, in order, on a tiny stream."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lgl_bench.cli import main
from lgl_bench.core.references import FLOOR
from tests.docs.blocks import ROOT, blocks_of
from tests.docs.shell import commands_in
from tests.docs.walk import give

BLOCKS = blocks_of(ROOT / "docs" / "tutorial.md", "python", "sh")
LEFT_OUT = {"reproduce": "it trains everything again, in a process of its own"}
WRITTEN = {"run": "runs/smoke/leaderboard.csv", "submit": "margin.zip", "report": "site/index.html"}


def test_the_tutorial_works_as_it_is_written(small_world):
    given: list[str] = []
    missing: list[str] = []
    fits: list[set[str]] = []
    for block in BLOCKS:
        if block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
        for arguments in commands_in(block.text) if block.language == "sh" else []:
            name = arguments[0]
            if name in LEFT_OUT:
                continue
            if name not in main.commands:
                missing.append(name)
                continue
            give(block, arguments)
            assert name not in WRITTEN or Path(WRITTEN[name]).is_file()
            given.append(name)
            if name == "run":
                fits.append({path.name for path in Path("runs/smoke/fits").iterdir()})
    assert given[:3] == ["run", "check", "run"]
    assert fits[0] and fits[0] == fits[1], "the tutorial says that the detector of its own trains nothing"
    rows = pd.read_csv("runs/smoke/leaderboard.csv", keep_default_na=False)
    assert {name.partition("(")[0] for name in rows["detector"]} == {"energy", "margin", "good", *FLOOR}
    assert (pd.to_numeric(rows["auroc_weighted_mean"]) > 0.5).any()
    if missing:
        pytest.skip(f"every other step works; not there yet: {', '.join(dict.fromkeys(missing))}")
