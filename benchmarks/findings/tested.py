"""Tests pairs of rows from answers, and looks up on a page what was tested.

p is adjusted by Holm over the pairs that a question asks on one stream in one metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from lgl_bench.leaderboard.boards import merge, open_board
from lgl_bench.leaderboard.compare.answers import Run
from lgl_bench.leaderboard.compare.questions import BOOTSTRAP, RESAMPLED, SEEDS, WELCH
from lgl_bench.leaderboard.compare.standing import Pairs, groups, pairs_tested
from lgl_bench.leaderboard.compare.testing import Tester
from lgl_bench.leaderboard.table.names import Fact

from .asked import METHOD, QUESTIONS, Asked
from .tables import Board, read_csv, real_rows

PLACE = ["suite", "stream", "stream_checksum", "label_delay", "track", "budget", "budget_version"]
PAIR = ["question", *PLACE, *METHOD, "a", "b", "metric"]
"""What names a tested pair; a column in which its rows differ is empty, and they are named by `a` and `b`."""
RESULT = ["difference", "lo", "hi", "p_holm", "verdict", "test", "seeds"]
COLUMNS = [*PAIR, Fact.GIT_COMMIT, "a_mean", "b_mean", *RESULT]
WORDS = {BOOTSTRAP: "paired", RESAMPLED: "paired", SEEDS: "paired over seeds", WELCH: "Welch"}
"""How a test is called on the page."""
_SAME = 1e-5
"""How far, relatively, a mean that was written with six digits may lie from that of a board."""


def tested_pairs(runs: Sequence[Path], data_dir: Path | None = None, *, twins: bool = False) -> pd.DataFrame:
    """Everything the page asks, tested from the answers of run folders, whatever suites they hold."""
    boards = [open_board(path) for path in runs]
    owner = [at for at, board in enumerate(boards) for _ in range(len(board.frame))]
    frame = merge(boards).assign(board=owner)
    frame = frame if twins else real_rows(frame)
    if not len(frame):
        raise SystemExit("the run folders have no row on a real stream; findings are about real streams")
    folders = [Run(board.folder) if board.folder is not None else None for board in boards]
    tester = Tester(data_dir)
    # All at once: the answers of a method are drawn once, and what its folder keeps is looked up below.
    parts = zip(*(asked.pairs(frame) for asked in QUESTIONS), strict=True)
    pairs_tested(frame, Pairs(*(np.concatenate(part) for part in parts)), folders, tester)
    tester.keep()
    found = [rows for asked in QUESTIONS if len(rows := judged(frame, asked, folders, tester))]
    if not found:
        raise SystemExit("the run folders have no two rows that are set against each other")
    return pd.concat(found, ignore_index=True)


def judged(
    frame: pd.DataFrame, asked: Asked, runs: Sequence[Run | None] = (), tester: Tester | None = None
) -> pd.DataFrame:
    """Every pair of a question with its difference b - a and its verdict, and the positions of its rows.

    Args:
        frame: Leaderboard rows, with a column `board` if there are `runs`.
        asked: The question.
        runs: The run of each board, whose answers are asked; without them Welch's t decides.
        tester: What asks them.
    """
    frame = frame.reset_index(drop=True)
    pairs = asked.pairs(frame)
    if not len(pairs.b):
        return pd.DataFrame(columns=[*COLUMNS, "at_a", "at_b"])
    found = pairs_tested(frame, pairs, runs, tester)
    value, lo, hi, _ = found.difference()
    family = [f"{group} {metric}" for group, metric in zip(groups(frame)[pairs.b], pairs.metrics, strict=True)]
    verdicts = found.judge(np.array(family, dtype=object))
    cells = frame.iloc[pairs.b].reset_index(drop=True)
    named = {name: "" if name in asked.by else cells[name] for name in METHOD}
    labels = frame[list(asked.by)].astype(str).agg(" ".join, axis="columns").to_numpy(dtype=object)
    columns = {
        "question": asked.name,
        **{name: cells[name] for name in (*PLACE, Fact.GIT_COMMIT)},
        **named,
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
    return pd.DataFrame(columns)[[*COLUMNS, "at_a", "at_b"]]


def looked_up(board: Board, asked: Asked, stored: pd.DataFrame) -> pd.DataFrame:
    """The pairs of a board: as they were tested from answers, and by Welch's t if they were not.

    What was tested counts only if both means are those of the board: a table of other runs says nothing about it.
    """
    found = judged(board.frame, asked)
    if not len(stored) or not len(found):
        return found
    known = stored.drop_duplicates(PAIR).set_index(PAIR)
    keys = pd.MultiIndex.from_frame(found[PAIR])
    at = known.index.get_indexer(keys)
    kept = known.iloc[at].reset_index()
    same = at >= 0
    for name in ("a_mean", "b_mean"):
        same &= np.isclose(kept[name].to_numpy(float), found[name].to_numpy(float), rtol=_SAME, atol=_SAME)
    for name in RESULT:
        found[name] = found[name].astype(object).where(~same, kept[name].astype(object))
    return found.astype({"difference": float, "lo": float, "hi": float, "p_holm": float})


def how_tested(pairs: pd.DataFrame) -> str:
    """How some pairs were tested, in words."""
    return ", ".join(sorted({WORDS.get(name, str(name)) for name in pairs["test"]}))


def keep(fresh: pd.DataFrame, folder: Path) -> list[Path]:
    """Writes one table per suite; streams and budgets that were not tested this time keep their lines."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for suite, rows in fresh[COLUMNS].groupby("suite", sort=True):
        path = folder / f"{suite}.csv"
        if path.is_file():
            old = read_csv(path)
            tested = set(zip(rows["stream"], rows["budget"], strict=True))
            stays = [place not in tested for place in zip(old["stream"], old["budget"], strict=True)]
            rows = pd.concat([old[stays], rows], ignore_index=True) if any(stays) else rows
        rows = rows.sort_values(["budget", "stream", "question"], kind="stable")
        rows.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
        written.append(path)
    return written
