"""Tests pairs of rows: from answers, which a run folder keeps, and on a page as they lie beside its board.

p is adjusted by Holm over the pairs that a question asks on one stream in one metric.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from lgl_bench.leaderboard.boards import open_board, source_of
from lgl_bench.leaderboard.compare.questions import BOOTSTRAP, RESAMPLED, SEEDS, WELCH
from lgl_bench.leaderboard.compare.standing import Pairs, groups, pairs_tested
from lgl_bench.leaderboard.compare.testing import Tester

from .asked import METHOD, QUESTIONS, Asked
from .tables import Board, real_rows

PLACE = ["stream", "stream_checksum", "track", "budget"]
COLUMNS = [
    *(*PLACE, *METHOD, "a", "b", "metric", "a_mean", "b_mean", "difference", "lo", "hi", "p_holm", "verdict", "test"),
    *("seeds", "at_a", "at_b"),
]
WORDS = {BOOTSTRAP: "paired", RESAMPLED: "paired", SEEDS: "paired over seeds", WELCH: "Welch"}
"""How a test is called on the page."""


def ask(folder: Path, data_dir: Path | None = None, *, twins: bool = False) -> int:
    """Tests everything the page asks from the answers of a run folder, which keeps it; returns how many pairs."""
    board = open_board(folder)
    frame = board.frame.reset_index(drop=True) if twins else real_rows(board.frame)
    if not len(frame):
        raise SystemExit(f"{folder} has no row on a real stream; findings are about real streams")
    tester = Tester(data_dir)
    parts = zip(*(asked.pairs(frame) for asked in QUESTIONS), strict=True)
    pairs = Pairs(*(np.concatenate(part) for part in parts))
    # All at once: the answers of a method are drawn once.
    pairs_tested(frame.assign(board=0), pairs, [source_of(board)], tester)
    tester.keep()
    return len(pairs.b)


def judged(board: Board, asked: Asked) -> pd.DataFrame:
    """Every pair of a question with its difference b - a and its verdict, and the positions of its rows.

    From the tests beside the board; Welch's t decides on a pair that has none.
    """
    frame = board.frame.reset_index(drop=True).assign(board=0)
    pairs = asked.pairs(frame)
    if not len(pairs.b):
        return pd.DataFrame(columns=COLUMNS)
    found = pairs_tested(frame, pairs, [board.tests])
    value, lo, hi, _ = found.difference()
    family = [f"{group} {metric}" for group, metric in zip(groups(frame)[pairs.b], pairs.metrics, strict=True)]
    verdicts = found.judge(np.array(family, dtype=object))
    cells = frame.iloc[pairs.b].reset_index(drop=True)
    labels = frame[list(asked.by)].astype(str).agg(" ".join, axis="columns").to_numpy(dtype=object)
    columns = {
        **{name: cells[name] for name in PLACE},
        **{name: "" if name in asked.by else cells[name] for name in METHOD},
        "a": labels[pairs.a],
        "b": labels[pairs.b],
        "metric": pairs.metrics,
        "a_mean": found.tables.mean_a,
        "b_mean": found.tables.mean_b,
        "difference": value,
        "lo": lo,
        "hi": hi,
        "p_holm": verdicts.p_holm,
        "verdict": found.verdicts(verdicts),
        "test": found.names,
        "seeds": pd.array(found.seeds, dtype="Int64"),
        "at_a": pairs.a,
        "at_b": pairs.b,
    }
    return pd.DataFrame(columns)[COLUMNS]


def how_tested(pairs: pd.DataFrame) -> str:
    """How some pairs were tested, in words."""
    return ", ".join(sorted({WORDS.get(name, str(name)) for name in pairs["test"]}))
