"""How far a score should be carried along the edges: GOOD against several steps, on the suite made for it."""

from __future__ import annotations

import pandas as pd

from lgl_bench.core.expressions import parse
from lgl_bench.leaderboard.compare.standing import BETTER, WORSE

from .asked import WRAPPED, WRAPPERS
from .tables import Tables, made
from .tested import how_tested, judged
from .text import NO_BOARD, Section, between, counts, shell, signed, table

QUESTION = "How far should a score be carried along the edges?"
BOARD = "propagation"
ALONE, GOOD = "the base alone", "GOOD"
_ABOUT = """\
GOOD mixes the mapped score of a vertex with the mean of its neighbours once; GNNSafe carries the raw score on for
several steps. Here both have the same base, the same weight of 0.5 and the same fits, all inductive. Over MSP, which
is bounded, GOOD and one step are the same by definition; over the energy they differ in the mapping alone.
"""
_COUNTED = """\
Board `{board}`, {made}.
Each line counts pairs of rows over streams, backbones and bases; "smallest" and "largest" are the extremes of the
difference:
"""


def section(tables: Tables) -> Section:
    """The section."""
    board = tables.board(BOARD)
    if board is None:
        return Section(QUESTION, "Not known yet.", "no board", [NO_BOARD.format(BOARD), ""])
    commands = [f"python -m benchmarks.record run {BOARD}", f"lgl-bench compare leaderboard/{BOARD}.csv --within"]
    pairs = judged(board, WRAPPED)
    pairs = pairs.assign(base=[_base(text) for text in pairs["b"]])
    pairs = pairs.assign(source=[short(text) for text in pairs["a"]], target=[short(text) for text in pairs["b"]])
    lines = [_ABOUT, *shell(*commands), _COUNTED.format(board=BOARD, made=made([board])), *_counts(pairs)]
    apart = pairs[pairs["verdict"].isin([BETTER, WORSE])]
    if len(apart):
        lines += ["Pairs that are told apart:", "", *_each(apart)]
    else:
        lines += ["No pair is told apart.", ""]
    return Section(QUESTION, answer(pairs), sure(pairs), lines)


def short(text: str) -> str:
    """A row of the ablation as the tables name it."""
    found = parse(text)
    if found.name == "good":
        return GOOD
    steps = dict(found.parameters).get("steps")
    return ALONE if found.name not in WRAPPERS else f"{steps} step{'' if steps == 1 else 's'}"


def _base(text: str) -> str:
    return parse(text).arguments[0].name


def answer(pairs: pd.DataFrame) -> str:
    """Steps against the base alone and against GOOD, counted."""
    parts = []
    for source in (ALONE, GOOD):
        own = pairs[(pairs["source"] == source) & (pairs["target"] != GOOD)]
        n = counts(own["verdict"])
        parts.append(f"better than {source} in {n.better} and worse in {n.worse} of {n.total} pairs")
    return f"One step or more are {', '.join(parts)}."


def sure(pairs: pd.DataFrame) -> str:
    """How many pairs were not told apart, and what tested them."""
    n = counts(pairs["verdict"])
    return f"{n.open} of {n.total} pairs not told apart; tests: {how_tested(pairs)}"


def _counts(pairs: pd.DataFrame) -> list[str]:
    header = ["from", "to", "#better", "#worse", "#not told apart", "#smallest", "#largest", "how sure"]
    rows = []
    for (source, target), group in pairs.groupby(["source", "target"], sort=True):
        n, difference = counts(group["verdict"]), group["difference"]
        rows.append(
            [
                *(source, target, n.better, n.worse, n.open),
                *(signed(difference.min()), signed(difference.max()), how_tested(group)),
            ]
        )
    return table(header, rows)


def _each(pairs: pd.DataFrame) -> list[str]:
    cells = (
        [
            *(row.stream, row.backbone, row.base, row.source, row.target, f"{row.a_mean:.3f} to {row.b_mean:.3f}"),
            *(signed(row.difference), between(row.lo, row.hi), row.verdict),
        ]
        for row in pairs.itertuples()
    )
    header = ["stream", "backbone", "base", "from", "to", "AUROC", "#difference", "95 %", "how sure"]
    return table(header, cells)
