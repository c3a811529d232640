"""The rule of each question of the findings, worked by hand on boards of a few rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchmarks.findings import budgets, floor, good, propagation, rivals, strategies, survival, thresholds
from benchmarks.findings.tables import STATIC, TEMPORAL, Tables
from lgl_bench.leaderboard.table.write import write_board
from tests.support.boards import board, decided, figures, row

LEFT_OUT = {"protocol": "leave-class-out", "split": "60-20-20", "strategy": "", "restart": "", "suite": "static"}


def tables(folder: Path, **boards: list[dict[str, Any]]) -> Tables:
    for name, rows in boards.items():
        write_board(board(*rows), folder / f"{name.replace('_', '-')}.csv")
    return Tables(folder, folder / "budget_ranking.csv")


def test_a_row_beats_the_floor_if_its_board_says_so_and_streams_without_one_are_named(tmp_path: Path):
    cells = [("degree", 0.5, "floor"), ("random", 0.4, "floor"), ("msp", 0.9, "yes"), ("odin", 0.3, "no")]
    rows = [row(value, 0.001, detector=name, above_floor=word) for name, value, word in cells]
    rows += [cells | {"stream": "dblp-hard", "above_floor": "no"} for cells in rows[2:]]
    rows += [row(0.9, 0.001, detector="recency", stream="dblp-hard", above_floor="floor")]
    found = floor.section(tables(tmp_path, temporal=rows))
    assert found.answer == "1 of 4 rows on temporal streams beat it. Nothing does on dblp-hard (temporal)."
    assert found.sure == "each row at 5 % after Holm"
    easy = next(line for line in found.lines if line.startswith("| temporal | dblp-easy |"))
    assert easy.startswith("| temporal | dblp-easy | inductive | degree | 0.500 | 2 | 1 | 1 | msp on gcn | +0.400 |")
    assert easy.endswith("| better, board |")
    assert "- temporal: dblp-easy: odin. dblp-hard: every row." in found.lines


def test_the_verdict_on_a_lead_comes_from_answers_if_they_were_tested():
    tested = pd.Series({"test": "bootstrap", "verdict": "tie", "above": "yes"})
    assert floor.verdict(tested) == "tie, paired"
    assert floor.verdict(tested.replace("bootstrap", "welch")) == "better, board"


def test_good_is_counted_against_its_base_with_alpha_and_homophily_beside(tmp_path: Path):
    rows = [
        row(0.70, 0.001, detector="msp"),
        row(0.80, 0.001, detector="good(msp,alpha=0.5)"),
        row(0.70, 0.001, detector="energy"),
        row(0.70, 0.001, detector="good(energy,alpha=auto)", chosen="good(energy,alpha=0.0)"),
        row(0.60, 0.001, detector="good(odin,alpha=0.2)"),
    ]
    there = tables(tmp_path, temporal=rows)
    (tmp_path / "findings").mkdir()
    facts = pd.DataFrame({"stream": ["dblp-easy"], "stream_checksum": ["c" * 64], "class_insensitive": [0.25]})
    facts.to_csv(tmp_path / "findings" / "streams.csv", index=False)
    pairs = good.over_bases(there)
    assert pairs[["base", "alpha", "homophily", "verdict"]].to_numpy().tolist() == [
        ["msp", "0.5", 0.25, "better"],
        ["energy", "0.0", 0.25, "tie"],
    ]
    found = good.section(there)
    assert found.answer == (
        "GOOD is on temporal streams better in 1, worse in 0 of 2 pairs, median +0.050; pairs whose alpha was chosen "
        "as 0, which is the base: 1."
    )
    assert found.sure == "1 of 2 pairs not told apart; tests: Welch"
    facts.assign(stream_checksum="other").to_csv(tmp_path / "findings" / "streams.csv", index=False)
    assert good.over_bases(there)["homophily"].isna().all()


def test_alpha_is_that_of_the_expression_or_every_one_that_was_chosen():
    assert good.alpha("good(msp,alpha=0.5)", "") == "0.5"
    assert good.alpha("good(msp,alpha=auto)", "0: good(msp,alpha=0.1); 1: good(msp,alpha=0.0)") == "0.0 to 0.1"
    assert good.alpha("good(msp,alpha=auto)", "") == "unknown"


def reversed_orders() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two static graphs on which a is before b and c, and two temporal streams on which it is the other way round."""
    order = {"msp": 0.9, "energy": 0.8, "odin": 0.7}
    back = {"msp": 0.7, "energy": 0.8, "odin": 0.9}
    static = [row(v, 0.01, detector=d, stream=s, **LEFT_OUT) for s in ("cora", "citeseer") for d, v in order.items()]
    temporal = [row(v, 0.01, detector=d, stream=s) for s in ("dblp-easy", "dblp-hard") for d, v in back.items()]
    return static, temporal


def test_places_are_compared_between_static_graphs_and_temporal_streams(tmp_path: Path):
    static, temporal = reversed_orders()
    boards = survival.comparable(tables(tmp_path, static=static, temporal=temporal))
    assert boards is not None
    cells = survival.values_of(boards)
    places = survival.places_of(cells)
    found = survival.changes(places)
    assert found.loc["msp", ["static", "temporal", "change"]].tolist() == [1, 3, 2]
    assert found.loc["energy", "change"] == 0 and found.loc["odin", "change"] == -2
    assert survival.behind(cells, places.columns).loc["msp"].tolist() == pytest.approx([0, 0.2])
    assert survival.carried_over(places)[0] == pytest.approx(-1)
    assert survival.without_one(places) == pytest.approx([-1] * 4)
    # Both pairs of one kind agree, all four of two kinds are reversed: 1 - (-1).
    pairs = survival.taus(places)
    kinds = {"cora": STATIC, "citeseer": STATIC, "dblp-easy": TEMPORAL, "dblp-hard": TEMPORAL}
    assert survival.apart(pairs, kinds) == pytest.approx(2)
    # Of the 6 ways to call two streams static, the true one and its opposite.
    assert survival.permuted(pairs) == pytest.approx((2 / 6, 2 / 6))
    found = survival.section(Tables(tmp_path))
    assert found.answer.startswith("Kendall's tau between the two orders is -1.00 (1: the same order). The best on")
    assert "msp, is number 3 of 3 on temporal streams. Beyond noise fall: none; rise: none." in found.answer


def test_a_static_board_of_another_budget_is_not_set_beside_the_temporal_one(tmp_path: Path):
    static, temporal = reversed_orders()
    paper = [cells | {"budget": "paper"} for cells in static]
    found = survival.section(tables(tmp_path, static=paper, temporal=temporal))
    assert found.answer == "Not known yet."
    both = survival.comparable(tables(tmp_path, static_quick=static))
    assert both is not None and [one.name for one in both] == ["static-quick", "temporal"]


def test_the_best_of_the_papers_methods_is_set_against_the_best_of_its_track(tmp_path: Path):
    rows = [row(v, 0.001, detector=d) for d, v in (("nodesafe", 0.9), ("gdoc", 0.8), ("good(msp,alpha=0.5)", 0.7))]
    found = rivals.section(tables(tmp_path, rivals=rows))
    assert "There is no board `leaderboard/rivals-static.csv` yet." in found.lines
    assert found.answer == (
        "A rival leads on 1 of 1 streams that have both; the best of the paper's methods is behind beyond noise on "
        "dblp-easy."
    )
    line = next(line for line in found.lines if line.startswith("| dblp-easy"))
    assert "| gdoc on gcn | 2 |" in line and "| behind, Welch |" in line


def test_a_threshold_has_a_share_of_the_oracles_mcc_and_a_regret(tmp_path: Path):
    rows = [
        *(decided(name, 0.0) for name in ("never", "always")),
        decided("naive(delta=0.1)", 0.3, **figures("regret", 0.3, 0.001, 3)),
        decided("gdoc", -0.1, **figures("regret", 0.7, 0.001, 3)),
        decided("oracle", 0.6, track="upper bound"),
    ]
    found = thresholds.section(tables(tmp_path, temporal=rows))
    assert found.answer == (
        "Of the oracle's MCC the best threshold has: dblp-easy 50% (naive). Better than calling nobody or everybody "
        "new: 1 of 2 thresholds; worse: 1."
    )
    assert found.sure == "2 of 2 regrets are above 0 at 95 %; tests: Welch"


def strategy(name: str, accuracy: float, vertices: int, seconds: float) -> dict[str, Any]:
    about = {"strategy": name, "memory_vertices": vertices, "memory_mb": vertices / 100, "fit_seconds": seconds}
    return row(0.7, 0.001, **about, **figures("accuracy", accuracy, 0.001, 3))


def test_replay_is_shown_with_its_memory_between_finetune_and_full(tmp_path: Path):
    rows = [strategy("full", 0.8, 1000, 10.0), strategy("finetune", 0.4, 0, 5.0), strategy("replay", 0.6, 100, 20.0)]
    found = strategies.section(tables(tmp_path, lifelong=rows))
    assert found.answer == (
        "dblp-easy: replay keeps 10.0% of the vertices and has accuracy 0.600, against 0.400 of `finetune` and 0.800 "
        "of `full`: 50% of the gap. In accuracy better than `finetune` beyond noise: 1 of 1 others; worse than `full`: "
        "1; a tie with `full` or better: 0."
    )
    line = next(line for line in found.lines if line.startswith("| replay"))
    assert line.startswith("| replay | 100 | 1.00 | 2.0 | 0.600 | worse | better | 0.700 |")


def test_rows_of_two_budgets_are_compared_in_their_order(tmp_path: Path):
    quick = {"msp": 0.9, "energy": 0.8, "odin": 0.7}
    paper = {"msp": 0.8, "energy": 0.9, "odin": 0.7}
    there = tables(
        tmp_path,
        static_quick=[row(v, 0.001, detector=d, **LEFT_OUT) for d, v in quick.items()],
        static=[row(v, 0.001, detector=d, budget="paper", **LEFT_OUT) for d, v in paper.items()],
    )
    one, other = there.board("static-quick"), there.board("static")
    assert one is not None and other is not None
    rows = budgets.both(one, other)
    found = budgets.orders(rows, other).iloc[0]
    assert found["tau"] == pytest.approx(1 / 3)  # two pairs in the same order, one not
    assert found["leader_quick"] == "msp on gcn" and found["leader_paper"] == "energy on gcn"
    assert found["verdict"] == "behind"
    assert (found["least"], found["most"]) == pytest.approx((-0.1, 0.1))
    answer = budgets.section(there).answer
    assert "the leader differs on 1 of 1 streams, beyond noise on dblp-easy." in answer


def test_static_graphs_and_temporal_streams_share_the_table_of_budgets(tmp_path: Path):
    values = {"msp": 0.9, "energy": 0.8}
    there = tables(
        tmp_path,
        static_quick=[row(v, 0.001, detector=d, stream="cora", **LEFT_OUT) for d, v in values.items()],
        static=[row(v, 0.001, detector=d, stream="cora", budget="paper", **LEFT_OUT) for d, v in values.items()],
        temporal=[row(v, 0.001, detector=d) for d, v in values.items()],
        temporal_paper=[row(1 - v, 0.001, detector=d, budget="paper") for d, v in values.items()],
    )
    found = budgets.section(there)
    assert "tau is -1.00 to 1.00, and the leader differs on 1 of 2 streams, beyond noise on dblp-easy." in found.answer
    assert [line.partition(" | ")[0] for line in found.lines if " the same leader |" in line or "behind" in line] == [
        "| cora",
        "| dblp-easy",
    ]


def test_two_boards_of_one_budget_say_nothing_about_budgets(tmp_path: Path):
    rows = [row(detector="msp", **LEFT_OUT)]
    found = budgets.section(tables(tmp_path, static=rows, static_quick=rows))
    assert "`static` and `static-quick` are of one budget." in found.lines


def test_the_interval_of_a_rank_correlation_is_that_of_its_cells():
    assert budgets.interval(0.0, 19) == pytest.approx((-0.4542, 0.4542), abs=1e-4)  # tanh(1.96 / 4)


def test_steps_are_counted_against_the_base_and_against_good(tmp_path: Path):
    values = {"msp": 0.6, "good(msp,alpha=0.5)": 0.7, "propagate(msp,alpha=0.5,steps=2)": 0.65}
    rows = [row(v, 0.001, detector=d, suite="propagation") for d, v in values.items()]
    found = propagation.section(tables(tmp_path, propagation=rows))
    assert found.answer == (
        "One step or more are better than the base alone in 1 and worse in 0 of 1 pairs, better than GOOD in 0 and "
        "worse in 1 of 1 pairs."
    )
    assert propagation.short("propagate(msp,alpha=0.5,steps=1)") == "1 step"
