from __future__ import annotations

import pandas as pd
import pytest

from lgl_bench.core.expressions import parse
from lgl_bench.leaderboard.published import open_world_lgl
from lgl_bench.leaderboard.table.problems import duplicates, problems
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.leaderboard.table.schema import HEADLINE
from lgl_bench.plans.paper_presets import table
from tests.support.blocks import ROOT


@pytest.fixture(scope="module")
def published() -> pd.DataFrame:
    return open_world_lgl()


def test_every_printed_figure_is_in_the_published_rows_and_nothing_else(published):
    results, thresholds = table("results"), table("thresholds")
    assert len(published) == len(results) + 4 * len(thresholds)
    for printed, (_, found) in zip(results, published.iterrows(), strict=False):
        assert (found["stream"], found["split"], found["backbone"]) == tuple(
            printed[name] for name in ("dataset", "split", "backbone")
        )
        assert parse(found["detector"]).name == printed["detector"]
        assert found["accuracy_mean"] == float(printed["accuracy"])
        assert found["auroc_paper_mean"] == float(printed["auroc"])
    assert set(published["trust"]) == {"printed"} and set(published["stream_checksum"]) == {""}
    assert published[[f"{name}_lo" for name in HEADLINE]].isna().all(axis=None)
    assert published["auroc_weighted_reason"].eq("not printed").all()
    assert set(published["accuracy_n_seeds"]) == {10, 0}
    assert not problems(published, list(HEADLINE)) and not duplicates(published)


def test_the_file_in_the_repository_is_what_the_command_writes(published):
    kept = read_board(ROOT / "leaderboard" / "published" / "open-world-lgl.csv")
    pd.testing.assert_frame_equal(kept, published, check_dtype=False)
