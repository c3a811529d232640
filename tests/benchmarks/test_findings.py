from __future__ import annotations

from types import ModuleType

import pandas as pd
import pytest

from tests.support.scripts import load_script


@pytest.fixture(scope="module")
def findings() -> ModuleType:
    return load_script("benchmarks/findings.py")


def board(findings: ModuleType, *cells: tuple[str, str]) -> pd.DataFrame:
    rows = [dict.fromkeys(findings.SAME, "") | {"backbone": backbone, "detector": name} for backbone, name in cells]
    return pd.DataFrame(rows)


def test_the_page_is_what_the_tables_of_the_repository_give(findings):
    assert findings.PAGE.read_text(encoding="utf-8") == findings.page(), "run: python benchmarks/findings.py page"


def test_a_wrapped_detector_is_set_against_its_base_and_a_propagated_one_against_good_too(findings):
    frame = board(
        findings,
        ("gcn", "msp"),
        ("gcn", "good(msp,alpha=0.5)"),
        ("gcn", "propagate(msp,alpha=0.5,steps=2)"),
        ("gcn", "propagate(energy(temperature=1.0),alpha=0.5,steps=2)"),
        ("sgc", "good(msp,alpha=0.5)"),
    )
    # Nothing crosses backbones or bases, and a row whose base was not run has no pair.
    assert list(findings.wrapped_pairs(frame)) == [(0, 1), (0, 2), (1, 2)]


def test_a_table_of_two_commits_is_refused(findings):
    with pytest.raises(SystemExit, match="git_commit differs"):
        findings._one(pd.Series(["a", "b"], name="git_commit"))
