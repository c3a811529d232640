from __future__ import annotations

import pytest

from lgl_bench.leaderboard import budget_notes as module
from lgl_bench.leaderboard.budget_notes import budget_notes


@pytest.fixture
def measured(tmp_path, monkeypatch):
    (tmp_path / "budget_ranking.csv").write_text(
        "budget,budget_version,stream,rank_correlation,cells,backbones,seeds,git_commit\n"
        "quick,2,cora,0.95,40,gcn gat,1,\nquick,2,citeseer,0.65,40,gcn gat,1,\n"
    )
    monkeypatch.setattr(module, "shipped", lambda folder: tmp_path)
    module._measured.cache_clear()
    yield
    module._measured.cache_clear()


def test_a_budget_that_orders_methods_otherwise_than_the_papers_is_not_for_ranking(measured):
    (note,) = budget_notes(
        [("quick", 2, "cora", "gcn"), ("quick", 2, "citeseer", "gcn"), ("paper", 1, "pubmed", "gcn")]
    )
    assert "not for ranking on citeseer" in note and "0.65" in note and "40 methods" in note


def test_what_was_not_measured_is_said_and_another_version_was_not(measured):
    (note,) = budget_notes([("quick", 3, "cora", "gcn"), ("quick", 2, "pubmed", "gcn")])
    assert note.endswith("was not measured on pubmed, cora.")


def test_a_backbone_that_was_not_measured_is_named(measured):
    (note,) = budget_notes([("quick", 2, "cora", "gcn"), ("quick", 2, "cora", "graph-mlp(beta=0)")])
    assert note.endswith("was not measured on cora (graph-mlp).")


def test_smoke_is_for_trying_things_out(measured):
    (note,) = budget_notes([("smoke", 2, "cora", "gcn"), ("smoke", 2, "pubmed", "gcn")])
    assert "trying things out" in note


def test_printed_rows_have_no_budget_to_speak_of(measured):
    assert budget_notes([("", 0, "cora", "gcn")]) == []
