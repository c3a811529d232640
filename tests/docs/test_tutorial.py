"""The tutorial, walked from its text to its last line."""

from __future__ import annotations

import pandas as pd

from lgl_bench.core.references import FLOOR
from tests.docs.walk import STAND_INS, needs_isolation, walk
from tests.support.blocks import ROOT


@needs_isolation
def test_the_tutorial_ends_with_a_reproduced_row_and_trains_nothing_for_its_detector(tmp_path):
    run = tmp_path / "here" / "runs" / "smoke"
    fits: list[set[str]] = []
    for step in walk(ROOT / "docs" / "tutorial.md", tmp_path, STAND_INS):
        if "lgl-bench run" in step.block.text:
            fits.append({path.name for path in (run / "fits").iterdir()})
        last = step
    assert "lgl-bench reproduce" in last.block.text
    assert "trust = reproduced" in last.ended.out
    assert len(fits) == 2 and fits[0] and fits[0] == fits[1]
    rows = pd.read_csv(run / "leaderboard.csv", keep_default_na=False)
    assert {name.partition("(")[0] for name in rows["detector"]} >= {"energy", "margin", "good", *FLOOR}
    assert (pd.to_numeric(rows.loc[rows["detector"] == "margin", "auroc_weighted_mean"]) > 0.5).all()
    assert (tmp_path / "here" / "site" / "index.html").is_file()
