"""Do rivals beat the paper's methods: the best of each real stream and track beside the best of the paper's own."""

from __future__ import annotations

import pandas as pd

from lgl_bench.core.grammar import plugin_name
from lgl_bench.leaderboard.compare.standing import BEHIND, BEST, TIE, WORSE, word_of
from lgl_bench.leaderboard.floor import NO, YES
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.short_names import short_names
from lgl_bench.leaderboard.table.names import Fact

from .asked import BEST as AGAINST_BEST
from .tables import Board, Tables, figures, made, per_budget
from .tested import how_tested, judged
from .text import NO_BOARD, Section, few, shell, table, within

QUESTION = "Do rivals beat the paper's methods under one protocol?"
BOARDS = {"rivals-static": "one class left out after the other", "rivals": "year by year"}
PAPER = ("odin", "isomax+", "gdoc", "good")
"""Detectors of the paper whose suites these are."""
_ABOUT = """\
Every detector and training-time method on real streams; rows that look at the scored vertices together (track
transductive) are ranked apart. "How sure" is how the best of the paper's methods (ODIN, IsoMax+, gDOC, and GOOD over
any base) stands to the best of its track, adjusted by Holm over the track: paired if the answers were tested, by
Welch's t over seeds if only the table was available.
"""
_HEADER = ["stream", "track", "#rows", "best", "AUROC", "best of the paper's", "#rank", "AUROC", "how sure"]


def section(tables: Tables) -> Section:
    """The section."""
    lines = [_ABOUT]
    found = []
    for name, cut in BOARDS.items():
        board = tables.board(name)
        if board is None:
            lines += [NO_BOARD.format(name), ""]
            continue
        lines += shell(
            f"python -m benchmarks.record run {name}", f"lgl-bench leaderboard show leaderboard/{name}.csv --all"
        )
        places = beside_best(board)
        found.append(places)
        lines += [f"Suite `{name}`, {cut}; {made([board])}:", "", *_table(places)]
    if not found:
        return Section(QUESTION, "Not known yet.", "no board", lines)
    places = pd.concat(found, ignore_index=True)
    return Section(QUESTION, per_budget(places, answer), sure(places), lines)


def beside_best(board: Board) -> pd.DataFrame:
    """One row per stream and track: its best row, the best of the paper's, and how that stands to it."""
    pairs = judged(board, AGAINST_BEST).set_index("at_b")
    plain = board.frame[board.frame["threshold"] == ""]
    rows = ranked(plain.assign(at=plain.index)).reset_index(drop=True)
    rows = rows.join(short_names(rows)[["detector", "backbone"]].add_suffix("_short")).join(figures(rows))
    rows = rows[rows["rank"].notna()]
    found = []
    for (stream, track, _), group in rows.groupby(["stream", "track", "group"]):
        own = group[group["detector"].map(plugin_name).isin(PAPER)]
        tested = group[group[Fact.ABOVE_FLOOR].isin([YES, NO])]
        beat = f"{(tested[Fact.ABOVE_FLOOR] == YES).sum()} of {len(tested)}" if len(tested) else "untested"
        place = {
            "budget": board.budget,
            "stream": stream,
            "track": track,
            "rows": len(group),
            "best": _method(group.iloc[0]),
            "beat": beat,
        }
        place |= {"best_auroc": _auroc(group.iloc[0]), "own": "none", "rank": "", "own_auroc": "", "sure": "", "by": ""}
        if len(own):
            first = own.iloc[0]
            place |= {"own": _method(first), "rank": first["rank"], "own_auroc": _auroc(first), "sure": BEST}
            if first["at"] in pairs.index:
                pair = pairs.loc[[first["at"]]]
                verdict = str(pair["verdict"].iloc[0])
                place |= {"sure": BEHIND if verdict == WORSE else verdict, "by": how_tested(pair)}
        found.append(place)
    return pd.DataFrame(found)


def answer(places: pd.DataFrame) -> str:
    """Where a rival leads, and where that is beyond noise."""
    both = places[places["own"] != "none"]
    lead = both[both["sure"] != BEST]
    beaten = lead[lead["sure"] == BEHIND]
    return (
        f"A rival leads on {len(lead)} of {len(both)} streams that have both; the best of the paper's methods is "
        f"behind beyond noise on {few(sorted(beaten['stream']))}."
    )


def sure(places: pd.DataFrame) -> str:
    """What stays open."""
    words = [word_of(word) for word in places.loc[places["own"] != "none", "sure"]]
    open_ = len(words) - words.count(BEHIND) - words.count(BEST)
    tests = ", ".join(sorted({word for word in places["by"] if word}))
    return f"{open_} of {len(words)} not told apart (of these {words.count(TIE)} ties); tests: {tests or 'none'}"


def _table(places: pd.DataFrame) -> list[str]:
    cells = (
        [
            *(row.stream, row.track, row.rows, row.best, row.best_auroc, row.own, row.rank, row.own_auroc),
            *(f"{row.sure}, {row.by}" if row.by else row.sure, row.beat),
        ]
        for row in places.itertuples()
    )
    return table([*_HEADER, "#beat the floor"], cells)


def _method(row: pd.Series) -> str:
    return f"{row['detector_short']} on {row['backbone_short']}"


def _auroc(row: pd.Series) -> str:
    return within(row["mean"], row["lo"], row["hi"])
