"""Boards set against each other: differences with intervals, ties as ties, and what may not be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lgl_bench.core.errors import UnknownNameError, UsageError
from lgl_bench.core.types import BoolArray, FloatArray, IntArray
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.boards import OpenedBoard, source_of
from lgl_bench.leaderboard.compare.across import across_streams
from lgl_bench.leaderboard.compare.board_tests import Source
from lgl_bench.leaderboard.compare.matching import match
from lgl_bench.leaderboard.compare.questions import NOT_TESTED
from lgl_bench.leaderboard.compare.standing import BEST, Pairs, pairs_tested
from lgl_bench.leaderboard.compare.testing import DrawListener, Tester
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.strategy_names import differ_in_strategy, shown_strategy
from lgl_bench.leaderboard.table.columns import metrics_in
from lgl_bench.leaderboard.table.names import PRINTED, Fact, metric_column
from lgl_bench.leaderboard.table.schema import METHOD
from lgl_bench.leaderboard.values import Texts, ranking_metrics
from lgl_bench.metrics import metrics as registry

RANKING_METRICS = ("auroc_weighted", "auroc_mean", "accuracy")
DECISION_METRICS = ("mcc", "recall_new", "false_alarm_rate")
PRINTED_METRICS = ("accuracy", "auroc_paper", "micro_f1")


@dataclass(slots=True)
class Comparison:
    """What came of comparing.

    Attributes:
        boards: Names, the first of which the others are set against.
        rows: One row per pair and metric: `a`, `b` (positions of boards), method columns, `metric`, `a_mean`, `b_mean`,
            `difference` (b - a), `lo`, `hi`, `p`, the same adjusted as `lo_holm`, `hi_holm`, `p_holm`, `verdict`
            (better, worse, tie, inconclusive (n more seeds), untested, undefined), `test`, `seeds`, `years`,
            `years_p`, `note`, and `same`: the two cannot differ, because they are one model or gave the same answers.
        refused: Rows of the same method that are not comparable, with the reason in `why`.
        only: Rows that one board alone has.
        across: Ranks over streams.
    """

    boards: list[str]
    rows: pd.DataFrame
    refused: pd.DataFrame
    only: pd.DataFrame
    across: list[dict[str, Any]] = field(default_factory=list)


def compare(
    boards: Sequence[OpenedBoard],
    *,
    metrics: Sequence[str] = (),
    streams: Sequence[str] = (),
    within: bool = False,
    data_dir: Path | None = None,
    draws: int = 2000,
    seed: int = 0,
    listener: DrawListener | None = None,
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
        listener: Told how far the draws of a stream are.
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
    asked = _asked(pooled, pairs, metrics)
    runs = [source_of(board) for board in boards]
    rows = _rows(pooled, asked, runs, Tester(data_dir, draws, seed, listener=listener))
    if not metrics:
        # A printed table leaves most metrics out; they are listed only when asked for.
        rows = rows[rows["difference"].notna() | (rows["test"] != NOT_TESTED)].reset_index(drop=True)
    return Comparison(
        [board.name for board in boards],
        rows,
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
    known = list(dict.fromkeys(name for frame in frames for name in metrics_in(frame)))
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
    """The best of each group of comparable rows against each of the others, as `leaderboard show` ranks them."""
    order = ranked(pooled.assign(at=np.arange(len(pooled))))
    best = order[order["standing"] == BEST].set_index("group")["at"]
    others = order[order["rank"].notna() & (order["standing"] != BEST)]
    pairs = pd.DataFrame({"i": best.reindex(others["group"]).to_numpy(dtype=np.int64), "j": others["at"].to_numpy()})
    alone = order[~order["group"].isin(others["group"]) | order["rank"].isna()]["at"]
    return pairs.assign(note="", family=others["group"].to_numpy()), [], [int(row) for row in alone]


def _asked(pooled: pd.DataFrame, pairs: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """One row per pair and metric: what is asked for, else what ranks, what is printed beside a printed row."""
    of_paper = (pooled[Fact.TRUST] == PRINTED).to_numpy(dtype=bool)
    printed = of_paper[pairs["i"]] | of_paper[pairs["j"]]
    decided = (pooled["threshold"] != "").to_numpy(dtype=bool)[pairs["j"]]
    ranking = ranking_metrics(pooled)[pairs["j"]]
    parts = []
    for name in metrics or dict.fromkeys((*RANKING_METRICS, *PRINTED_METRICS, *DECISION_METRICS)):
        if metrics:
            wanted = np.ones(len(pairs), dtype=bool)
        elif name in PRINTED_METRICS and name not in RANKING_METRICS:
            wanted = printed
        else:
            wanted = np.where(decided, name in DECISION_METRICS, (ranking == name) | (name == "accuracy")) & ~printed
            wanted |= printed & (name in PRINTED_METRICS)
        if metric_column(name, "mean") in pooled:
            parts.append(pairs[wanted].assign(metric=name))
    return pd.concat(parts).sort_values(["i", "j"], kind="stable", ignore_index=True)


def _rows(pooled: pd.DataFrame, asked: pd.DataFrame, runs: Sequence[Source], tester: Tester) -> pd.DataFrame:
    """Every question with its answer and the verdict; Holm within boards, stream or group, and metric."""
    i, j = (asked[side].to_numpy(dtype=np.int64) for side in ("i", "j"))
    names = asked["metric"].to_numpy(dtype=object)
    found = pairs_tested(pooled, Pairs(i, j, names), runs, tester)
    value, lo, hi, p = found.difference()
    board, stream = pooled["board"].to_numpy(), pooled["stream"].to_numpy(dtype=object)
    # Rows of several boards are one group within; between boards a comparison is a pair of boards on a stream.
    keys = {"family": asked["family"]} if "family" in asked else {"a": board[i], "b": board[j], "stream": stream[j]}
    family = pd.DataFrame({**keys, "metric": names}).groupby([*keys, "metric"], sort=False).ngroup()
    judged = found.judge(family.to_numpy())
    results = found.results
    notes = [
        "; ".join(filter(None, (note, results[at].note if at in results else "")))
        for at, note in enumerate(_reasons(pooled, asked, value))
    ]
    years = [results[at].years if at in results else 0 for at in range(len(asked))]
    years_p = [results[at].years_p if at in results else None for at in range(len(asked))]
    return pd.DataFrame(
        {
            "a": board[i],
            "b": board[j],
            **{column: pooled[column].to_numpy()[j] for column in METHOD},
            "against": _against(pooled, i, j),
            "metric": names,
            "a_mean": found.tables.mean_a,
            "b_mean": found.tables.mean_b,
            "difference": value,
            "lo": lo,
            "hi": hi,
            "p": p,
            "test": found.names,
            "seeds": pd.Series(found.seeds).astype("Int64"),
            "years": pd.Series(years, dtype="Int64"),
            "years_p": np.array(years_p, dtype=np.float64),
            "note": notes,
            "lo_holm": judged.lo,
            "hi_holm": judged.hi,
            "p_holm": judged.p_holm,
            "verdict": found.verdicts(judged),
            "same": (value == 0) & (_same_model(pooled, i, j, names) | (lo == 0) & (hi == 0)),
        }
    )


def _same_model(pooled: pd.DataFrame, i: IntArray, j: IntArray, names: Texts) -> BoolArray:
    """Which pairs are rows of one model in a metric that looks at nothing but its classes."""
    columns = ["board", *(name for name in KEY if name not in ("detector", "threshold", "select", "track"))]
    model = pooled.groupby(columns, sort=False, dropna=False).ngroup().to_numpy()
    of_classes = {name: registry.described(name).needs == ("labels",) for name in set(names)}
    found: BoolArray = (model[i] == model[j]) & np.array([of_classes[name] for name in names], dtype=bool)
    return found


def _reasons(pooled: pd.DataFrame, asked: pd.DataFrame, value: FloatArray) -> list[str]:
    """The note of each pair, or why there is nothing to compare."""
    notes: list[str] = asked["note"].tolist()
    cells = list(asked[["i", "j", "metric"]].itertuples(index=False, name=None))
    for at in np.flatnonzero(np.isnan(value)).tolist():
        i, j, name = cells[at]
        lacking = i if np.isnan(pooled[metric_column(name, "mean")].to_numpy(dtype=np.float64)[i]) else j
        notes[at] = str(pooled[metric_column(name, "reason")].to_numpy(dtype=object)[lacking])
    return notes


def _against(pooled: pd.DataFrame, i: Any, j: Any) -> list[str]:
    """What a row is set against; "" if it is the same method of another board."""
    parts = [pooled["backbone"], pooled["detector"], pooled["threshold"]]
    if differ_in_strategy(pooled):
        parts.insert(0, pooled["strategy"].map(shown_strategy))
    names = [" ".join(cells) for cells in zip(*parts, strict=True)]
    return ["" if names[one] == names[other] else names[one].strip() for one, other in zip(i, j, strict=True)]
