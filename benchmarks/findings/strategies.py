"""What replay and the other strategies buy: quality against what they keep of the past and the time they take."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from lgl_bench.core.grammar import plugin_name
from lgl_bench.leaderboard.compare.standing import BETTER, TIE, UNTESTED, WORSE, word_of
from lgl_bench.leaderboard.strategy_names import shown_strategy
from lgl_bench.leaderboard.table.names import Fact, metric_column
from lgl_bench.leaderboard.values import ranking_metrics, ranking_values

from .asked import QUALITY, REFERENCES, STRATEGIES
from .tables import Board, Tables, detector_name, made
from .tested import how_tested, judged
from .text import NO_BOARD, Section, shell, table, value

QUESTION = "What do replay and the other strategies buy against their memory?"
BOARD, REPLAY = "lifelong", "replay"
FULL, FINETUNE = REFERENCES
_ABOUT = """\
`full` keeps every vertex of the past and `finetune` none; the others lie between. Accuracy is that on known classes;
AUROC is that of one detector, the best one under `full` and the same for all strategies. Memory is the most that a
strategy kept, time that of all fits of a row on the machine of the run, as a multiple of that of `full`. "How sure"
are the verdicts against `full` and against `finetune`, adjusted by Holm over the stream.
"""
_HEADER = ["strategy", "#vertices", "#MiB", "#time", "#accuracy", "against full", "against finetune", "#AUROC"]


def section(tables: Tables) -> Section:
    """The section."""
    board = tables.board(BOARD)
    if board is None:
        return Section(QUESTION, "Not known yet.", "no board", [NO_BOARD.format(BOARD), ""])
    commands = [f"python -m benchmarks.record run {BOARD}", f"lgl-bench leaderboard show leaderboard/{BOARD}.csv --all"]
    lines = [_ABOUT, *shell(*commands)]
    places = list(by_place(board))
    for title, rows in places:
        lines += [f"{title}; {made([board])}. How sure: {sure(rows)}.", "", *_table(rows)]
    if not places:
        return Section(QUESTION, "The board has no strategy beside `full`.", "", lines)
    answers = " ".join(f"{title.split(' with ')[0]}: {answer(rows)}" for title, rows in places)
    return Section(QUESTION, answers, "; ".join(dict.fromkeys(sure(rows) for _, rows in places)), lines)


def by_place(board: Board) -> Iterator[tuple[str, pd.DataFrame]]:
    """Per stream and backbone, what it is about and one row per strategy, most accurate first."""
    frame = board.frame.assign(rank_value=ranking_values(board.frame), rank_metric=ranking_metrics(board.frame))
    pairs = judged(board, STRATEGIES)
    plain = frame[(frame["threshold"] == "") & frame["rank_value"].notna()]
    for (stream, backbone), rows in plain.groupby(["stream", "backbone"], sort=True):
        full = rows[(rows["strategy"] == FULL) & (rows[Fact.ABOVE_FLOOR] != "floor")]
        if rows["strategy"].nunique() < 2 or not len(full):
            continue
        detector = full.loc[full["rank_value"].idxmax(), "detector"]
        own = rows[rows["detector"] == detector]
        title = f"{stream} with {backbone}, AUROC of {detector_name(detector)}"
        yield title, _strategies(own, pairs[pairs["at_b"].isin(own.index)])


def _strategies(own: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    verdicts = {(row.at_b, row.a, row.metric): row for row in pairs.itertuples()}
    full = own[own["strategy"] == FULL].iloc[0]
    found = []
    for at, row in own.iterrows():
        cells = {"strategy": shown_strategy(row["strategy"]), "name": plugin_name(row["strategy"])}
        cells |= {"vertices": row[Fact.MEMORY_VERTICES], "mib": row[Fact.MEMORY_MB]}
        cells |= {"time": row[Fact.FIT_SECONDS] / full[Fact.FIT_SECONDS], "auroc": row["rank_value"]}
        cells |= {"accuracy": row[metric_column(QUALITY, "mean")], "full_vertices": full[Fact.MEMORY_VERTICES]}
        for kind, metric in (("accuracy", QUALITY), ("auroc", row["rank_metric"])):
            for reference in REFERENCES:
                pair = verdicts.get((at, reference, metric))
                cells[f"{kind}_{reference}"] = "" if pair is None else pair.verdict
        found.append(cells)
    used = how_tested(pairs) if len(pairs) else "none"
    return pd.DataFrame(found).assign(tests=used).sort_values("accuracy", ascending=False, kind="stable")


def answer(rows: pd.DataFrame) -> str:
    """The best replay beside `full` and `finetune`, and how many strategies beat the one and reach the other."""
    by_name = rows.set_index("name")
    parts = []
    replay = rows[rows["name"] == REPLAY]
    if len(replay) and {FULL, FINETUNE} <= set(by_name.index):
        best = replay.iloc[0]
        share = best["vertices"] / best["full_vertices"] if best["full_vertices"] else np.nan
        ends = [by_name.loc[name, "accuracy"] for name in (FINETUNE, FULL)]
        closed = (best["accuracy"] - ends[0]) / (ends[1] - ends[0]) if ends[1] != ends[0] else np.nan
        parts.append(
            f"{best['strategy']} keeps {share:.1%} of the vertices and has accuracy {value(best['accuracy'])}, against "
            f"{value(ends[0])} of `finetune` and {value(ends[1])} of `full`: {closed:.0%} of the gap."
        )
    others = rows[~rows["name"].isin(REFERENCES)]
    words = [word_of(word) for name in REFERENCES for word in others[f"accuracy_{name}"]]
    if all(word == UNTESTED for word in words):
        return " ".join([*parts, "With so few seeds nothing is tested."])
    beat = sum(word_of(word) == BETTER for word in others[f"accuracy_{FINETUNE}"])
    tied = sum(word_of(word) in (BETTER, TIE) for word in others[f"accuracy_{FULL}"])
    lost = sum(word_of(word) == WORSE for word in others[f"accuracy_{FULL}"])
    parts.append(
        f"In accuracy better than `finetune` beyond noise: {beat} of {len(others)} others; worse than `full`: {lost}; "
        f"a tie with `full` or better: {tied}."
    )
    return " ".join(parts)


def sure(rows: pd.DataFrame) -> str:
    """What was tested and how."""
    words = [word_of(word) for name in REFERENCES for word in rows[f"accuracy_{name}"] if word]
    untested = words.count(UNTESTED)
    return f"{len(words) - untested} of {len(words)} comparisons tested; tests: {rows['tests'].iloc[0]}"


def _table(rows: pd.DataFrame) -> list[str]:
    def cells() -> Iterator[list[object]]:
        for row in rows.itertuples():
            yield [
                *(row.strategy, "" if pd.isna(row.vertices) else int(row.vertices), _mib(row.mib), f"{row.time:.1f}"),
                *(value(row.accuracy), row.accuracy_full, row.accuracy_finetune),
                *(value(row.auroc), row.auroc_full, row.auroc_finetune),
            ]

    return table([*_HEADER, "against full", "against finetune"], cells())


def _mib(number: float) -> str:
    return "" if pd.isna(number) else f"{number:.2f}"
