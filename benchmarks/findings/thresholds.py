"""Thresholds: how far decisions are from the oracle's, and whether they beat calling nobody or everybody new."""

from __future__ import annotations

import pandas as pd

from lgl_bench.core.grammar import without_values
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.compare.standing import BETTER, WORSE
from lgl_bench.leaderboard.pooled import REGRET, is_oracle, same_detector
from lgl_bench.leaderboard.table.names import metric_column

from .asked import THRESHOLDS
from .tables import TEMPORAL, Board, Tables, detector_name, kinds, made, per_budget, shown
from .tested import WORDS, how_tested, judged
from .text import Section, few, shell, table, value, within

QUESTION = "Thresholds: how far from the oracle?"
_ABOUT = """\
Decisions on temporal streams, by Matthews' correlation (MCC) of all test years of a seed. The oracle sees the truth and
puts the same novelty scores where they separate best; "regret" is its MCC less one's own, within a seed, with the 95 %
interval over seeds. `never` and `always` have an MCC of 0; "how sure" is the verdict against the better of them,
adjusted by Holm over the stream.
"""
_HEADER = ["board", "stream", "detector", "threshold", "MCC", "#recall of new", "#false alarms", "#oracle", "regret"]


def section(tables: Tables) -> Section:
    """The section."""
    lines = [_ABOUT, *shell("lgl-bench leaderboard show leaderboard/temporal.csv --all")]
    everything = []
    for found in shown(tables.boards(), decisions):
        rows = pd.concat([rows for _, rows in found], ignore_index=True)
        everything.append(rows)
        lines += [f"Boards of {made(board for board, _ in found)}:", "", *_table(rows)]
    if not everything:
        return Section(QUESTION, "No temporal board has thresholds yet.", "no board", lines)
    rows = pd.concat(everything, ignore_index=True)
    return Section(QUESTION, per_budget(rows, answer), sure(rows), lines)


def decisions(board: Board) -> pd.DataFrame:
    """Every threshold of a temporal board that is no reference, beside the oracle on the same detector."""
    frame = board.frame
    pairs = judged(board, THRESHOLDS)
    rows = frame.iloc[pairs["at_b"].to_numpy(dtype=int)].reset_index(drop=True)
    alike = pd.Series(same_detector(frame[list(KEY)]), index=frame.index)
    oracle = frame[frame["threshold"].map(is_oracle)]
    ceiling = dict(zip(alike[oracle.index], oracle[metric_column("mcc", "mean")], strict=True))
    found = pd.DataFrame({"board": board.name, "budget": board.budget, "stream": rows["stream"], "kind": kinds(rows)})
    found = found.assign(detector=_named(rows, "detector"), threshold=rows["threshold"].map(without_values))
    for metric in ("mcc", "recall_new", "false_alarm_rate", REGRET):
        for part in ("mean", "lo", "hi"):
            name = metric_column(metric, part)
            found[name] = rows[name].astype(float) if name in rows else float("nan")
    found["oracle"] = [ceiling.get(alike[at], float("nan")) for at in pairs["at_b"]]
    found = found.assign(verdict=pairs["verdict"].to_numpy(), test=pairs["test"].to_numpy())
    return found[found["kind"] == TEMPORAL].sort_values(["stream", "mcc_mean"], ascending=[True, False], kind="stable")


def _named(rows: pd.DataFrame, column: str) -> list[str]:
    return [f"{detector_name(a)} on {b}" for a, b in zip(rows[column], rows["backbone"], strict=True)]


def answer(rows: pd.DataFrame) -> str:
    """What share of the oracle's MCC the best threshold of each stream has, and who beats the references."""
    shares = []
    for (_, stream), group in rows.groupby(["board", "stream"], sort=True):
        best = group.loc[group["mcc_mean"].idxmax()] if group["mcc_mean"].notna().any() else None
        if best is not None and best["oracle"] > 0:
            shares.append(f"{stream} {best['mcc_mean'] / best['oracle']:.0%} ({best['threshold']})")
    better, worse = (int((rows["verdict"] == word).sum()) for word in (BETTER, WORSE))
    return (
        f"Of the oracle's MCC the best threshold has: {few(shares)}. Better than "
        f"calling nobody or everybody new: {better} of {len(rows)} thresholds; worse: {worse}."
    )


def sure(rows: pd.DataFrame) -> str:
    """How many regrets are beyond noise, and what tested the decisions."""
    below = int((rows[metric_column(REGRET, "lo")] > 0).sum())
    return f"{below} of {len(rows)} regrets are above 0 at 95 %; tests: {how_tested(rows)}"


def _table(rows: pd.DataFrame) -> list[str]:
    cells = (
        [
            *(row.board, row.stream, row.detector, row.threshold, within(row.mcc_mean, row.mcc_lo, row.mcc_hi)),
            *(value(row.recall_new_mean), value(row.false_alarm_rate_mean), value(row.oracle)),
            *(
                within(row.regret_mean, row.regret_lo, row.regret_hi),
                f"{row.verdict}, {WORDS.get(row.test, row.test)}",
            ),
        ]
        for row in rows.itertuples()
    )
    return table([*_HEADER, "how sure"], cells)
