"""What `benchmarks/budgets.py` measures, and that the docs show it as it was measured."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from tests.support.scripts import load_script

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def budgets():
    return load_script("benchmarks/budgets.py")


def board(**aurocs):
    rows = [
        {"backbone": "gcn", "head": "softmax", "detector": name, "protocol": "temporal", "auroc_weighted_mean": value}
        for name, value in aurocs.items()
    ]
    return pd.DataFrame(rows).assign(accuracy_mean=0.6)


def table(name):
    with (ROOT / "benchmarks" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_order_of_methods_is_compared_by_ranks_without_the_floor(budgets):
    cheap = board(msp=0.6, energy=0.7, odin=0.8, random=0.9)
    paper = board(msp=0.61, energy=0.9, odin=0.8, random=0.1)
    # Ranks 1, 2, 3 against 1, 3, 2: 1 - 6 * 2 / (3 * 8).
    assert budgets.rank_correlation(cheap, paper) == (pytest.approx(0.5), 3)


def test_a_share_is_the_ratio_of_accuracies_of_a_backbone_and_head(budgets):
    (row,) = budgets.accuracy_shares(board(msp=0.6), board(msp=0.6).assign(accuracy_mean=0.8)).to_dict("records")
    assert (row["backbone"], row["head"], row["share"]) == ("gcn", "softmax", pytest.approx(0.75))


def test_the_docs_show_what_was_measured():
    page = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    for row in table("budget_ranking.csv"):
        backbones = row["backbones"].replace(" ", ", ")
        assert f"| {row['stream']} | {float(row['rank_correlation']):.3f} | {row['cells']} | {backbones} |" in page
    for row in table("budget_accuracy.csv"):
        figures = f"{float(row['accuracy']):.3f} | {float(row['paper_accuracy']):.3f} | {float(row['share']):.2f}"
        assert f"| {row['stream']} | {row['backbone']} | {row['head']} | {figures} |" in page
