"""How `quick` and `paper` differ in order: rows that both budgets have, on a pair of boards and as measured apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.references import FLOOR
from lgl_bench.leaderboard.compare.standing import BEHIND, WORSE
from lgl_bench.leaderboard.values import ranking_values
from lgl_bench.streams.catalogue import is_twin

from .asked import BEST as AGAINST_BEST
from .survival import tau
from .tables import Board, Tables, detector_name, made
from .tested import how_tested, judged
from .text import NO_BOARD, Section, chance, few, shell, signed, table

QUESTION = "How do the budgets `quick` and `paper` differ in order?"
PAIRS = (("static-quick", "static"), ("temporal", "temporal-paper"))
"""Boards of one suite under `quick` and under `paper`; no stream is in two pairs."""
SAME = "the same leader"
ROW = ["stream", "stream_checksum", "protocol", "split", "strategy", "label_delay", "track", "backbone", "name"]
_ABOUT = """\
A cheap budget is good for ranking if it puts methods in the same order. Spearman's rank correlation of the AUROC of all
(backbone, detector) cells of a stream, as `benchmarks/budgets.py` measured it with few seeds; its interval is that of
cells as if they were independent (Bonett and Wright 2000):
"""
_BOARDS = """\
Rows that a board under `quick` and one under `paper` both have. "How sure" is how the leader of `quick` stands to the
leader of `paper` on the board of `paper`, adjusted by Holm over the stream:
"""


def section(tables: Tables) -> Section:
    """The section."""
    measured = _measured(tables)
    lines = [_ABOUT, *shell("python benchmarks/budgets.py --data-dir DATA --write"), *_correlations(measured)]
    pairs = [(tables.board(quick), tables.board(paper)) for quick, paper in PAIRS]
    there = [(quick, paper) for quick, paper in pairs if quick and paper and quick.budget != paper.budget]
    if not there:
        lines += [_absent(*PAIRS[0], *pairs[0]), ""]
        return Section(QUESTION, answer(measured, None), _sure(measured, None), lines)
    rows = [both(quick, paper) for quick, paper in there]
    streams = pd.concat([orders(own, paper) for own, (_, paper) in zip(rows, there, strict=True)], ignore_index=True)
    lines += [_BOARDS, *_made(there), *_orders(streams)]
    lines += ["Rows whose place changes most:", "", *_movers(pd.concat(rows, ignore_index=True))]
    return Section(QUESTION, answer(measured, streams), _sure(measured, streams), lines)


def _absent(name: str, other: str, quick: Board | None, paper: Board | None) -> str:
    if quick is None or paper is None:
        return NO_BOARD.format(name if quick is None else other)
    return f"`{other}` and `{name}` are of one budget."


def _measured(tables: Tables) -> pd.DataFrame:
    if not tables.budgets.is_file():
        return pd.DataFrame(columns=["stream", "rank_correlation", "cells", "backbones", "seeds", "lo", "hi"])
    rows = pd.read_csv(tables.budgets)
    rows = rows[~rows["stream"].map(is_twin)]
    ends = [interval(r, n) for r, n in zip(rows["rank_correlation"], rows["cells"], strict=True)]
    return rows.assign(lo=[lo for lo, _ in ends], hi=[hi for _, hi in ends])


def interval(correlation: float, cells: int) -> tuple[float, float]:
    """95 % of Spearman's rank correlation: tanh(atanh(r) -+ 1.96 sqrt((1 + r^2 / 2) / (n - 3))).

    >>> tuple(round(end, 3) for end in interval(0.0, 19))  # 1.96 / 4
    (-0.454, 0.454)
    """
    if cells <= 3 or abs(correlation) >= 1:
        return float("nan"), float("nan")
    half = 1.959964 * np.sqrt((1 + correlation**2 / 2) / (cells - 3))
    return float(np.tanh(np.arctanh(correlation) - half)), float(np.tanh(np.arctanh(correlation) + half))


def both(quick: Board, paper: Board) -> pd.DataFrame:
    """Rows of detectors that both boards have: the value and the place among them on either."""
    parts = []
    for board in (quick, paper):
        frame = board.frame
        frame = frame.assign(value=ranking_values(frame), name=frame["detector"].map(detector_name), at=frame.index)
        plain = (frame["threshold"] == "") & ~frame["detector"].map(plugin_name).isin(FLOOR) & frame["value"].notna()
        parts.append(frame[plain].drop_duplicates(ROW)[[*ROW, "value", "at"]])
    rows = parts[0].merge(parts[1], on=ROW, suffixes=("_quick", "_paper"))
    for budget in ("quick", "paper"):
        rows[f"place_{budget}"] = rows.groupby("stream")[f"value_{budget}"].rank(ascending=False, method="min")
    return rows.assign(method=rows["name"] + " on " + rows["backbone"])


def orders(rows: pd.DataFrame, paper: Board) -> pd.DataFrame:
    """Per stream: how alike the two orders are, their leaders, and how sure they differ."""
    pairs = judged(paper, AGAINST_BEST).set_index("at_b")
    found = []
    for stream, group in rows.groupby("stream", sort=True):
        leaders = {name: group.loc[group[f"value_{name}"].idxmax()] for name in ("quick", "paper")}
        alike, p = tau(group["value_quick"], group["value_paper"])
        verdict, test = SAME, ""
        at = leaders["quick"]["at_paper"]
        if leaders["quick"]["method"] != leaders["paper"]["method"] and at in pairs.index:
            pair = pairs.loc[[at]]
            verdict = BEHIND if pair["verdict"].iloc[0] == WORSE else str(pair["verdict"].iloc[0])
            test = how_tested(pair)
        place = {"stream": stream, "rows": len(group), "tau": alike, "p": p, "verdict": verdict, "test": test}
        place |= {f"leader_{name}": str(row["method"]) for name, row in leaders.items()}
        change = group["value_paper"] - group["value_quick"]
        found.append(place | {"change": change.mean(), "least": change.min(), "most": change.max()})
    return pd.DataFrame(found)


def answer(measured: pd.DataFrame, streams: pd.DataFrame | None) -> str:
    """The smallest agreement that was seen, and where leaders differ."""
    parts = []
    if len(measured):
        worst = measured.loc[measured["rank_correlation"].idxmin()]
        parts.append(f"The smallest rank correlation is {worst['rank_correlation']:.2f} ({worst['stream']}).")
    if streams is None:
        parts.append("There are no boards of both budgets to compare yet.")
    elif len(streams):
        other = streams[streams["leader_quick"] != streams["leader_paper"]]
        parts.append(
            f"Between the boards Kendall's tau is {streams['tau'].min():.2f} to {streams['tau'].max():.2f}, and the "
            f"leader differs on {len(other)} of {len(streams)} streams, beyond noise on "
            f"{few(list(other.loc[other['verdict'] == BEHIND, 'stream']))}."
        )
    return " ".join(parts) or "Not known yet."


def _sure(measured: pd.DataFrame, streams: pd.DataFrame | None) -> str:
    parts = [f"{int(measured['seeds'].min())} seed behind the correlations"] if len(measured) else []
    if streams is not None and len(streams):
        parts.append(f"tau: at worst {chance(streams['p'].max())}")
    return "; ".join(parts)


def _made(pairs: list[tuple[Board, Board]]) -> Iterator[str]:
    for quick, paper in pairs:
        yield f"- `{quick.name}`: {made([quick])}; `{paper.name}`: {made([paper])}."
    yield ""


def _correlations(measured: pd.DataFrame) -> list[str]:
    cells = (
        [
            row.stream,
            row.backbones,
            row.cells,
            row.seeds,
            f"{row.rank_correlation:.3f}",
            "" if pd.isna(row.lo) else f"[{row.lo:.2f}, {row.hi:.2f}]",
        ]
        for row in measured.itertuples()
    )
    return table(["stream", "backbones", "#cells", "#seeds", "#rank correlation", "how sure (95 %)"], cells)


def _orders(streams: pd.DataFrame) -> list[str]:
    header = ["stream", "#rows", "#tau", "leader with `quick`", "leader with `paper`", "#mean change of AUROC"]
    cells = (
        [
            *(row.stream, row.rows, f"{row.tau:.2f}", row.leader_quick, row.leader_paper),
            *(signed(row.change), signed(row.least), signed(row.most)),
            f"{row.verdict}, {row.test}" if row.test else row.verdict,
        ]
        for row in streams.itertuples()
    )
    return table([*header, "#smallest", "#largest", "how sure"], cells)


def _movers(rows: pd.DataFrame, most: int = 8) -> list[str]:
    moved = rows.assign(moved=rows["place_paper"] - rows["place_quick"], size=lambda r: r["moved"].abs())
    moved = moved[moved["size"] > 0].sort_values(["size", "stream"], ascending=[False, True], kind="stable").head(most)
    header = ["stream", "row", "#place with `quick`", "#with `paper`", "#AUROC with `quick`", "#with `paper`"]
    cells = (
        [
            *(row.stream, row.method, int(row.place_quick), int(row.place_paper)),
            *(f"{row.value_quick:.3f}", f"{row.value_paper:.3f}"),
        ]
        for row in moved.itertuples()
    )
    return [*table(header, cells), "How sure: places are those of means over seeds, and are not tested one by one.", ""]
