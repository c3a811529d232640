"""Boards set against each other: differences with intervals, ties as ties, and what may not be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lgl_bench.core.errors import UnknownNameError, UsageError
from lgl_bench.leaderboard.across import across_streams
from lgl_bench.leaderboard.answers import ANSWERED, Run
from lgl_bench.leaderboard.columns import metrics_in
from lgl_bench.leaderboard.matching import match
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.schema import METHOD, metric, ranks_by
from lgl_bench.leaderboard.sources import Board
from lgl_bench.leaderboard.stats.holm import holm
from lgl_bench.leaderboard.stats.resampled import shared_part
from lgl_bench.leaderboard.stats.student import welch
from lgl_bench.leaderboard.testing import PRINTED, WELCH, Question, Tester

RANKING_METRICS = ("auroc_weighted", "auroc_mean", "accuracy")
DECISION_METRICS = ("mcc", "recall_new", "false_alarm_rate")
PRINTED_METRICS = ("accuracy", "auroc_paper", "micro_f1")
ALPHA = 0.05
FIGURES = ("difference", "lo", "hi", "p")
TOLD = ("test", "seeds", "years", "years_p", "note")


@dataclass(slots=True)
class Comparison:
    """What came of comparing.

    Attributes:
        boards: Names, the first of which the others are set against.
        rows: One row a pair and metric: `a`, `b` (positions of boards), method columns, `metric`, `a_mean`, `b_mean`,
            `difference` (b - a), `lo`, `hi`, `p`, `p_holm`, `verdict` (better, worse, tie, not tested, undefined),
            `test`, `seeds`, `years`, `years_p`, `note`.
        refused: Rows of the same method that are not comparable, with `why`.
        only: Rows that one board alone has.
        across: Ranks over streams.
    """

    boards: list[str]
    rows: pd.DataFrame
    refused: pd.DataFrame
    only: pd.DataFrame
    across: list[dict[str, Any]] = field(default_factory=list)


def compare(
    boards: Sequence[Board],
    *,
    metrics: Sequence[str] = (),
    streams: Sequence[str] = (),
    within: bool = False,
    data_dir: Path | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Sets every further board against the first, or with `within` every row against the best of its group.

    Args:
        boards: Two or more; one is enough with `within`.
        metrics: Which; by default what ranks the rows and `accuracy`, for rows with a threshold `mcc` and what it is
            made of, for printed rows what is printed.
        streams: Only these.
        within: Compare methods with each other, over all boards together.
        data_dir: Where streams are kept, for their labels.
        draws: Of the bootstrap.
        seed: Of the draws.
    """
    if len(boards) < 2 and not within:
        raise UsageError("one board alone has nothing to be compared with; name a second, or give --within")
    if draws < 100:
        raise UsageError(f"--draws {draws}: at least 100 are needed for an interval")
    frames = [_only_streams(board.frame, streams) for board in boards]
    if all(frame.empty for frame in frames):
        known = sorted({stream for board in boards for stream in board.frame["stream"]})
        raise UnknownNameError("stream", streams[0], known, f"The boards have: {', '.join(known[:20])}")
    _check_metrics(frames, metrics)
    pooled = pd.concat([frame.assign(board=i) for i, frame in enumerate(frames)], ignore_index=True)
    starts = np.concatenate([[0], np.cumsum([len(frame) for frame in frames])])
    pairs, refused, only = _within(pooled) if within else _between(frames, starts)
    rows = _questions(pooled, pairs, metrics)
    runs = [Run(board.folder) if board.folder is not None else None for board in boards]
    _ask(rows, pooled, runs, Tester(data_dir, draws, seed))
    _judge(rows)
    return Comparison(
        [board.name for board in boards],
        rows.drop(columns=["i", "j", "split", "checksum"]),
        _refused(pooled, refused),
        pooled.loc[only, [*METHOD, "board"]].reset_index(drop=True),
        across_streams(pooled, [board.name for board in boards], metrics[0] if metrics else None),
    )


def _refused(pooled: pd.DataFrame, refused: Sequence[tuple[int, int, str]]) -> pd.DataFrame:
    i, j = [one for one, _, _ in refused], [other for _, other, _ in refused]
    board = pooled["board"].to_numpy()
    frame = pooled.loc[i, list(METHOD)].reset_index(drop=True)
    return frame.assign(a=board[i], b=board[j], why=[why for _, _, why in refused])


def _only_streams(frame: pd.DataFrame, streams: Sequence[str]) -> pd.DataFrame:
    return frame[frame["stream"].isin(streams)].reset_index(drop=True) if streams else frame


def _check_metrics(frames: Sequence[pd.DataFrame], metrics: Sequence[str]) -> None:
    known = {name for frame in frames for name in metrics_in(frame)}
    for name in metrics:
        if name not in known:
            raise UnknownNameError("metric", name, known, f"There are: {', '.join(sorted(known))}")


def _between(frames: Sequence[pd.DataFrame], starts: Any) -> tuple[pd.DataFrame, list[tuple[int, int, str]], list[int]]:
    parts, refused, only = [], [], []
    first_alone: set[int] | None = None
    for at in range(1, len(frames)):
        found = match(frames[0], frames[at])
        offset = int(starts[at])
        parts.append(found.pairs.assign(i=found.pairs["a"], j=found.pairs["b"] + offset))
        cells = found.refused[["a", "b", "why"]].itertuples(index=False, name=None)
        refused += [(int(i), int(j) + offset, str(why)) for i, j, why in cells]
        alone = set(found.only_a.tolist())
        first_alone = alone if first_alone is None else first_alone & alone
        only += [int(row) + offset for row in found.only_b]
    return pd.concat(parts, ignore_index=True), refused, [*sorted(first_alone or ()), *only]


def _within(pooled: pd.DataFrame) -> tuple[pd.DataFrame, list[tuple[int, int, str]], list[int]]:
    """The best of each group of comparable rows against each of the others."""
    order = ranked(pooled.assign(at=np.arange(len(pooled))))
    best = order[order["standing"] == "best"].set_index("group")["at"]
    others = order[order["rank"].notna() & (order["standing"] != "best")]
    pairs = pd.DataFrame({"i": best.reindex(others["group"]).to_numpy(dtype=np.int64), "j": others["at"].to_numpy()})
    alone = order[~order["group"].isin(others["group"]) | order["rank"].isna()]["at"]
    return pairs.assign(note=""), [], [int(row) for row in alone]


def _questions(pooled: pd.DataFrame, pairs: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """One row a pair and metric, with Welch's t where both have an interval over seeds."""
    of_paper = (pooled["trust"] == "printed").to_numpy(dtype=bool)
    printed = of_paper[pairs["i"]] | of_paper[pairs["j"]]
    protocols, thresholds = (pooled[name].to_numpy()[pairs["j"]] for name in ("protocol", "threshold"))
    decided = thresholds != ""
    ranking = np.array([ranks_by(*cell) for cell in zip(protocols, thresholds, strict=True)], dtype=object)
    parts = []
    for name in metrics or dict.fromkeys((*RANKING_METRICS, *PRINTED_METRICS, *DECISION_METRICS)):
        if metrics:
            wanted = np.ones(len(pairs), dtype=bool)
        elif name in PRINTED_METRICS and name not in RANKING_METRICS:
            wanted = printed
        else:
            wanted = np.where(decided, name in DECISION_METRICS, (ranking == name) | (name == "accuracy")) & ~printed
            wanted |= printed & (name in PRINTED_METRICS)
        if f"{name}_mean" in pooled and wanted.any():
            parts.append(_measured(pooled, pairs[wanted], name, printed[wanted], keep_undefined=bool(metrics)))
    if not parts:
        parts = [_measured(pooled, pairs.iloc[:0], RANKING_METRICS[0], printed[:0], keep_undefined=True)]
    rows = pd.concat(parts, ignore_index=True)
    return rows.sort_values(["i", "j"], kind="stable", ignore_index=True)


def _measured(
    pooled: pd.DataFrame, pairs: pd.DataFrame, name: str, printed: Any, *, keep_undefined: bool
) -> pd.DataFrame:
    i, j = pairs["i"].to_numpy(), pairs["j"].to_numpy()
    figures = {
        suffix: pooled[f"{name}_{suffix}"].to_numpy(dtype=np.float64, na_value=np.nan)
        for suffix in ("mean", "std", "n_seeds")
    }
    a, b = ({suffix: values[at] for suffix, values in figures.items()} for at in (i, j))
    shared = pooled["split"].map(shared_part).to_numpy(dtype=np.float64)[j]
    found = welch(a["mean"], a["std"], a["n_seeds"], b["mean"], b["std"], b["n_seeds"], shared)
    reasons = pooled[f"{name}_reason"].to_numpy(dtype=object)
    undefined = np.isnan(found.value)
    why = np.where(np.isnan(a["mean"]), reasons[i], reasons[j])
    rows = pd.DataFrame(
        {
            "i": i,
            "j": j,
            "a": pooled["board"].to_numpy()[i],
            "b": pooled["board"].to_numpy()[j],
            **{column: pooled[column].to_numpy()[j] for column in METHOD},
            "against": _against(pooled, i, j),
            "split": pooled["split"].to_numpy()[j],
            "checksum": pooled["stream_checksum"].to_numpy()[j],
            "metric": name,
            "a_mean": a["mean"],
            "b_mean": b["mean"],
            "difference": found.value,
            "lo": np.where(printed, np.nan, found.lo),
            "hi": np.where(printed, np.nan, found.hi),
            "p": np.where(printed, np.nan, found.p),
            "test": np.where(printed, PRINTED, WELCH),
            "seeds": np.fmin(a["n_seeds"], b["n_seeds"]),
            "years": 0,
            "years_p": np.nan,
            "note": np.where(undefined, why, pairs["note"].to_numpy(dtype=object)),
        }
    )
    # A printed table leaves most metrics out; they are listed only when asked for.
    return rows if keep_undefined else rows[~(undefined & printed)]


def _against(pooled: pd.DataFrame, i: Any, j: Any) -> list[str]:
    """What a row is set against, where it is not the same method of another board."""
    names = (pooled["backbone"] + " " + pooled["detector"] + " " + pooled["threshold"]).to_numpy(dtype=object)
    return ["" if names[one] == names[other] else names[one].strip() for one, other in zip(i, j, strict=True)]


def _ask(rows: pd.DataFrame, pooled: pd.DataFrame, runs: Sequence[Run | None], tester: Tester) -> None:
    """Replaces Welch's t by what the answers allow, where both sides have them."""
    questions, places = [], []
    if all(run is None for run in runs):
        return
    cells = pooled[list(ANSWERED)].astype(str)
    defined = rows["difference"].notna() & (rows["test"] == WELCH)
    for at in np.flatnonzero(defined.to_numpy()):
        row = rows.iloc[at]
        a, b = runs[int(row["a"])], runs[int(row["b"])]
        if a is not None and b is not None:
            one, other = (tuple(cells.iloc[int(row[side])]) for side in ("i", "j"))
            questions.append(Question((a, one), (b, other), row["metric"], row["split"], row["checksum"]))
            places.append(at)
    cells_of = {name: rows[name].to_numpy(dtype=object).copy() for name in (*FIGURES, *TOLD)}
    for at, outcome in zip(places, tester.ask(questions), strict=True):
        for name, value in zip(FIGURES, outcome.difference, strict=True):
            # Without a seed in common there is no paired difference; that of the means stays, untested.
            if name != "difference" or not np.isnan(value):
                cells_of[name][at] = float(value)
        told = (outcome.test, outcome.seeds, outcome.years, outcome.years_p)
        for name, value in zip(TOLD, told, strict=False):
            cells_of[name][at] = np.nan if value is None else value
        cells_of["note"][at] = "; ".join(part for part in (cells_of["note"][at], outcome.note) if part)
    for name, values in cells_of.items():
        rows[name] = values if name in ("test", "note") else values.astype(np.float64)


def _judge(rows: pd.DataFrame) -> None:
    """Holm within (boards, stream, metric), then the verdict on b."""
    rows["p_holm"] = np.nan
    p = rows["p"].to_numpy(dtype=np.float64)
    adjusted = np.full(len(rows), np.nan)
    for at in rows.groupby(["a", "b", "stream", "metric"], sort=False).indices.values():
        adjusted[at] = holm(p[at])
    rows["p_holm"] = adjusted
    difference = rows["difference"].to_numpy(dtype=np.float64)
    sign = rows["metric"].map({name: 1.0 if metric(name).higher_is_better else -1.0 for name in set(rows["metric"])})
    better = np.where(sign.to_numpy(dtype=np.float64) * difference > 0, "better", "worse")
    verdict = np.where(np.isnan(adjusted), "not tested", np.where(adjusted < ALPHA, better, "tie")).astype(object)
    verdict[(difference == 0) & (rows["test"] != PRINTED).to_numpy()] = "tie"
    verdict[np.isnan(difference)] = "undefined"
    rows["verdict"] = verdict
    for name in ("seeds", "years"):
        rows[name] = rows[name].astype("Int64")
