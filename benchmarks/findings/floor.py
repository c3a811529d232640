"""What beats the floor: rows against the best of `random`, `degree` and `recency` on their stream."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from lgl_bench.leaderboard.compare.questions import WELCH
from lgl_bench.leaderboard.compare.standing import UNTESTED, WORSE
from lgl_bench.leaderboard.floor import NO, YES
from lgl_bench.leaderboard.table.names import Fact

from .asked import FLOOR
from .tables import STATIC, TEMPORAL, Board, Tables, detector_name, kinds, made, per_budget, shown
from .tested import WORDS, judged
from .text import Section, between, few, shell, signed, table, untested_words, value

QUESTION = "What beats the floor on real streams?"
OF_PAPER = ("static", "static-quick", "temporal", "temporal-paper")
"""Boards whose detectors are counted one by one."""
_ABOUT = """\
The floor is the best of `random`, `degree` and `recency`, which know nothing of classes. A row beats it if its AUROC is
higher beyond noise, as the board's column `above_floor` says; "below it" are rows that are worse beyond noise, and a
row that is neither is no better than the floor as far as anybody can tell. "Lead" is that of the best row, and "how
sure" the verdict on it, adjusted by Holm over all rows of the stream. If there is no test beside the board, it is the
word of the board, which was made from answers, and "below it" and the interval are by Welch's t over seeds.
"""
_BOARD_WORDS = {YES: "better", NO: "not better"}


def section(tables: Tables) -> Section:
    """The section."""
    lines = [_ABOUT, *shell("lgl-bench leaderboard show leaderboard/BOARD.csv --all")]
    everything = []
    for found in shown(tables.boards(), against_floor):
        everything += [rows for _, rows in found]
        lines += [f"Boards of {made(board for board, _ in found)}:", ""]
        lines += _per_stream(found)
        own = [rows for board, rows in found if board.name in OF_PAPER]
        if own:
            lines += ["Rows of each detector of the paper's suites that beat it, over streams and backbones:", ""]
            lines += _per_detector(pd.concat(own))
        lines += ["Rows that do not beat it:", ""]
        lines += [*(_left(board, rows) for board, rows in found), ""]
    if not everything:
        return Section(QUESTION, "No board has a floor yet.", "", lines)
    rows = pd.concat(everything)
    return Section(QUESTION, per_budget(rows, answer), sure(rows), lines)


def against_floor(board: Board) -> pd.DataFrame:
    """Every row without a threshold beside the best floor row of its stream and track."""
    frame = board.frame
    pairs = judged(board, FLOOR)
    if not len(pairs):
        return pairs
    rows = frame.iloc[pairs["at_b"].to_numpy(dtype=int)]
    floor = frame.iloc[pairs["at_a"].to_numpy(dtype=int)]
    return pairs.assign(
        board=board.name,
        kind=kinds(rows).to_numpy(),
        above=rows[Fact.ABOVE_FLOOR].to_numpy(),
        name=rows["detector"].map(detector_name).to_numpy(),
        on=rows["backbone"].to_numpy(),
        floor=floor["detector"].to_numpy(),
    )


def answer(rows: pd.DataFrame) -> str:
    """Counts per kind of stream, and where nothing beats the floor."""
    parts = []
    for kind in (STATIC, TEMPORAL):
        own = rows[rows["kind"] == kind]
        if len(own):
            beat, tested = (own["above"] == YES).sum(), own["above"].isin([YES, NO]).sum()
            parts.append(f"{beat} of {tested} rows on {kind}")
    places = rows[rows["above"].isin([YES, NO])].groupby(["board", "stream"], sort=True)["above"]
    nothing = [f"{stream} ({board})" for (board, stream), words in places if not (words == YES).any()]
    where = f"Nothing does on {few(nothing)}" if nothing else "On every stream some row does"
    return f"{' and '.join(parts)} beat it. {where}."


def sure(rows: pd.DataFrame) -> str:
    """What was decided and how."""
    tested = rows["above"].isin([YES, NO]).sum()
    return f"each row at 5 % after Holm{untested_words(len(rows) - tested)}"


def _per_stream(found: list[tuple[Board, pd.DataFrame]]) -> list[str]:
    header = ["board", "stream", "track", "best floor", "#AUROC", "#rows", "#beat it", "#below it", "best row"]
    return table([*header, "#lead", "95 %", "how sure"], _stream_rows(found))


def _stream_rows(found: list[tuple[Board, pd.DataFrame]]) -> Iterator[list[object]]:
    for board, rows in found:
        for (stream, track), group in rows.groupby(["stream", "track"], sort=True):
            best = group.loc[group["b_mean"].idxmax()]
            below = (group["verdict"] == WORSE) & (group["above"] != YES)
            yield [
                *(board.name, stream, track, best["floor"], value(best["a_mean"]), len(group)),
                *((group["above"] == YES).sum(), below.sum(), f"{best['name']} on {best['on']}"),
                *(signed(best["difference"]), between(best["lo"], best["hi"])),
                verdict(best),
            ]


def verdict(row: pd.Series) -> str:
    """The verdict on a row from its answers, or what its board says."""
    if row["test"] != WELCH:
        return f"{row['verdict']}, {WORDS[row['test']]}"
    return f"{_BOARD_WORDS.get(row['above'], UNTESTED)}, board"


def _per_detector(rows: pd.DataFrame) -> list[str]:
    there = [kind for kind in (STATIC, TEMPORAL) if (rows["kind"] == kind).any()]
    header = ["detector", *(part for kind in there for part in (f"#{kind}", "#median lead"))]
    lines = []
    for name, own in rows.groupby("name", sort=True):
        cells: list[object] = [name]
        for kind in there:
            part = own[own["kind"] == kind]
            beat = f"{(part['above'] == YES).sum()} of {len(part)}" if len(part) else ""
            cells += [beat, signed(part["difference"].median())]
        lines.append(((own["above"] == YES).mean(), cells))
    ordered = sorted(lines, key=lambda line: -line[0])
    note = "How sure: each row counted is one that the test above tells from the floor."
    return [*table(header, [cells for _, cells in ordered]), note, ""]


def _left(board: Board, rows: pd.DataFrame) -> str:
    parts = []
    for stream, group in rows.groupby("stream", sort=True):
        lost = group[group["above"] == NO]
        everywhere = set(group["name"]) - set(group.loc[group["above"] != NO, "name"])
        names = [
            name if name in everywhere else f"{name} ({', '.join(sorted(set(part)))})"
            for name, part in lost.groupby("name")["on"]
        ]
        untested = int((~group["above"].isin([YES, NO])).sum())
        if len(lost) or untested:
            listed = "every row" if len(lost) == len(group) else few(names)
            parts.append(f"{stream}: {listed}{untested_words(untested)}")
    return f"- {board.name}: {'. '.join(parts) or 'none'}."
