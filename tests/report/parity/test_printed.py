from __future__ import annotations

from collections import Counter

from lgl_bench.plans.paper_presets import table
from lgl_bench.report.parity.printed import printed_cells


def test_every_figure_of_the_papers_tables_is_a_cell():
    found = {(*one.place, one.threshold.partition("(")[0]): one.figures for one in printed_cells()}
    for row in table("results"):
        place = (row["dataset"], row["split"], row["backbone"], row["detector"], "")
        assert found[place] == {"accuracy": float(row["accuracy"]), "auroc": float(row["auroc"])}
    for row in table("thresholds"):
        split = "60-20-20" if row["dataset"] in ("cora", "citeseer", "pubmed") else "temporal"
        for name in ("open-wrf", "gdoc", "openwgl", "naive"):
            assert found[row["dataset"], split, "best", "best", name] == {"micro_f1": float(row[name])}
    for row in table("transductive"):
        assert found[row["dataset"], "transductive", row["backbone"], "none", ""] == {
            "accuracy": float(row["accuracy"])
        }
    assert len(found) == len(table("results")) + 4 * len(table("thresholds")) + len(table("transductive"))


def test_no_two_cells_share_a_key_and_only_the_transductive_check_has_none():
    cells = printed_cells()
    keys = Counter(tuple(one.key.items()) for one in cells)
    assert keys.pop(()) == len(table("transductive"))
    assert set(keys.values()) == {1}
