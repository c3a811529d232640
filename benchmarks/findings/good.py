"""Does GOOD help: every row of GOOD against the row of its base, with alpha and the homophily of the stream beside."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from lgl_bench.leaderboard.over_base import base_of
from lgl_bench.leaderboard.table.names import Fact

from .asked import WRAPPED, is_good
from .tables import GOOD_FILE, STATIC, TEMPORAL, Board, Tables, by_budget, detector_name, kinds, made, per_budget
from .tested import how_tested, judged
from .text import Section, between, chance, counts, few, shell, signed, table, untested_words, value

QUESTION = "Does GOOD help, by how much, and where?"
MIN_STREAMS = 5
"""With fewer streams a rank correlation with homophily says nothing."""
LISTED = ["board", "budget", "stream", "homophily", "strategy", "backbone", "base", "alpha"]
RESULT = ["a_mean", "b_mean", "difference", "lo", "hi", "verdict", "test", "seeds"]
_ABOUT = f"""\
Each row of GOOD against the row of the detector it wraps, same fits. Alpha is the weight of the neighbours: of the
paper's presets, or chosen on a validation year; with 0 GOOD is its base. Homophily is the class-insensitive one of the
whole graph. "How sure" is the test behind the counts: paired if the answers were tested, Welch's t if only the table
was available; p is adjusted by Holm over the pairs of a stream. All pairs are in
[`{GOOD_FILE}`](../leaderboard/findings/{GOOD_FILE}).
"""
_ALPHA = re.compile(r"alpha=([0-9.]+)")


def section(tables: Tables) -> Section:
    """The section."""
    lines = [_ABOUT, *shell("lgl-bench leaderboard show leaderboard/BOARD.csv --all")]
    found = over_bases(tables)
    if not len(found):
        return Section(QUESTION, "No board has GOOD and its base.", "", lines)
    for budget, boards in by_budget(tables.boards()).items():
        own = found[found["budget"] == budget]
        with_good = [board for board in boards if board.name in set(own["board"])]
        if not len(own):
            continue
        lines += [f"Boards of {made(with_good)}:", "", *_per_stream(own), *_homophily(own)]
        lines += ["The same pairs by base:", "", *_per_base(own), "The largest gains and losses:", "", *_extremes(own)]
    return Section(QUESTION, per_budget(found, answer), sure(found), lines)


def over_bases(tables: Tables) -> pd.DataFrame:
    """Every pair of a base and GOOD over it, of all boards."""
    homophily = tables.homophily()
    found = [part for board in tables.boards() if len(part := _of_board(board, homophily))]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=[*LISTED, *RESULT, "kind"])


def _of_board(board: Board, homophily: dict[tuple[str, str], float]) -> pd.DataFrame:
    pairs = judged(board, WRAPPED)
    ours = [is_good(b) and base_of(b) == a for a, b in zip(pairs["a"], pairs["b"], strict=True)]
    pairs = pairs[np.array(ours, dtype=bool)]
    rows = board.frame.iloc[pairs["at_b"].to_numpy(dtype=int)]
    places = zip(pairs["stream"], pairs["stream_checksum"], strict=True)
    alphas = [alpha(*cells) for cells in zip(rows["detector"], rows[Fact.CHOSEN], strict=True)]
    return pairs.assign(
        board=board.name,
        kind=kinds(rows).to_numpy(),
        base=[detector_name(text) for text in pairs["a"]],
        alpha=alphas,
        homophily=[homophily.get(place, float("nan")) for place in places],
    )


def alpha(detector: str, chosen: str) -> str:
    """GOOD's weight: that of the expression, or what was chosen, all of it if choices differ.

    >>> alpha("good(msp,alpha=0.5)", "")
    '0.5'
    >>> alpha("good(msp,alpha=auto)", "0: good(msp,alpha=0.1); 1: good(msp,alpha=0.0)")
    '0.0 to 0.1'
    """
    given = _ALPHA.findall(detector) or sorted(set(_ALPHA.findall(chosen)), key=float)
    return " to ".join(dict.fromkeys([given[0], given[-1]])) if given else "unknown"


def listed(tables: Tables) -> str:
    """All pairs as the text of a CSV."""
    rows = over_bases(tables)[[*LISTED, *RESULT]]
    return rows.to_csv(index=False, float_format="%.6g", lineterminator="\n")


def answer(found: pd.DataFrame) -> str:
    """Counts and the median per kind of stream, and how often the weight that was chosen is 0."""
    parts = []
    for kind in (STATIC, TEMPORAL):
        own = found[found["kind"] == kind]
        if len(own):
            n = counts(own["verdict"])
            parts.append(
                f"on {kind} better in {n.better}, worse in {n.worse} of {n.total} pairs, median "
                f"{signed(own['difference'].median())}"
            )
    zero = (pd.to_numeric(found["alpha"], errors="coerce") == 0).sum()
    none = f"; pairs whose alpha was chosen as 0, which is the base: {zero}" if zero else ""
    return f"GOOD is {'; '.join(parts)}{none}."


def sure(found: pd.DataFrame) -> str:
    """How many pairs were not told apart, and what tested them."""
    n = counts(found["verdict"])
    return f"{n.open} of {n.total} pairs not told apart{untested_words(n.untested)}; tests: {how_tested(found)}"


def _counted(rows: pd.DataFrame) -> list[object]:
    n = counts(rows["verdict"])
    differences = rows["difference"].astype(float)
    return [
        *(n.total, n.better, n.worse, n.open, n.untested),
        *(signed(differences.median()), signed(differences.min()), signed(differences.max()), how_tested(rows)),
    ]


_COUNTED = ["#pairs", "#better", "#worse", "#not told apart", "#untested", "#median", "#smallest", "#largest"]
_COUNTED += ["how sure"]


def _per_stream(rows: pd.DataFrame) -> list[str]:
    def cells() -> Iterator[list[object]]:
        for (board, stream), group in rows.groupby(["board", "stream"], sort=True):
            alphas = sorted({float(text) for cell in group["alpha"] for text in re.findall(r"[0-9.]+", cell)})
            weights = f"{alphas[0]:g} to {alphas[-1]:g}" if len(alphas) > 1 else few([f"{a:g}" for a in alphas])
            yield [board, stream, value(group["homophily"].iloc[0]) or "unknown", weights, *_counted(group)]

    return table(["board", "stream", "#homophily", "alpha", *_COUNTED], cells())


def _homophily(rows: pd.DataFrame) -> list[str]:
    """Whether GOOD gains more where neighbours share classes: Spearman's rank correlation over streams."""
    by_stream = rows.dropna(subset=["homophily"]).groupby(["stream", "stream_checksum"])
    medians = by_stream.agg(homophily=("homophily", "first"), gain=("difference", "median"))
    if len(medians) < MIN_STREAMS:
        return [f"Homophily is known of {len(medians)} streams, too few to say whether the gain goes with it.", ""]
    import scipy.stats

    found = scipy.stats.spearmanr(medians["homophily"], medians["gain"])
    return [
        f"Over {len(medians)} streams, Spearman's rank correlation of homophily and the median gain is "
        f"{found.statistic:.2f} ({chance(found.pvalue)}).",
        "",
    ]


def _per_base(rows: pd.DataFrame) -> list[str]:
    groups = rows.groupby(["kind", "base"], sort=True)
    return table(["streams", "base", *_COUNTED], ([kind, base, *_counted(group)] for (kind, base), group in groups))


def _extremes(rows: pd.DataFrame, most: int = 5) -> list[str]:
    ordered = rows.sort_values("difference", ascending=False, kind="stable")
    gains, losses = ordered[ordered["difference"] > 0].head(most), ordered[ordered["difference"] < 0].tail(most)
    header = ["board", "stream", "strategy", "backbone", "base", "alpha", "AUROC", "#difference", "95 %", "how sure"]
    cells = (
        [
            *(row.board, row.stream, row.strategy, row.backbone, row.base, row.alpha),
            *(f"{row.a_mean:.3f} to {row.b_mean:.3f}", signed(row.difference), between(row.lo, row.hi), row.verdict),
        ]
        for row in pd.concat([gains, losses]).itertuples()
    )
    return table(header, cells)
