"""Which detectors survive the change from static graphs to temporal streams: their places on both."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.references import FLOOR
from lgl_bench.leaderboard.floor import NO, YES
from lgl_bench.leaderboard.stats.evidence import ALPHA
from lgl_bench.leaderboard.stats.holm import holm
from lgl_bench.leaderboard.table.names import Fact
from lgl_bench.leaderboard.values import ranking_values

from .tables import STATIC, TEMPORAL, Board, Tables, detector_name, kinds, made
from .text import NO_BOARD, Section, chance, few, shell, signed, table, value

QUESTION = "Which detectors survive the change from static graphs to temporal streams?"
STATIC_BOARDS, TEMPORAL_BOARD = ("static", "static-quick"), "temporal"
CELL = ["kind", "stream", "backbone"]
_ABOUT = """\
On each stream and with each backbone that both boards have, the detectors that all of these have are ranked by AUROC; 1
is best. "Behind the best" is the mean distance to the best of the same stream and backbone. "How sure" is a rank-sum
test of a detector's places on static graphs against those on temporal streams, adjusted by Holm over detectors; places
of one stream with several backbones hang together, which makes it more sure than it should be.
"""


def section(tables: Tables) -> Section:
    """The section."""
    boards = comparable(tables)
    if boards is None:
        missing = f"There is no static board of the budget of `{TEMPORAL_BOARD}`."
        missing = NO_BOARD.format(TEMPORAL_BOARD) if tables.board(TEMPORAL_BOARD) is None else missing
        return Section(QUESTION, "Not known yet.", "no board", [missing, ""])
    commands = [f"lgl-bench leaderboard show leaderboard/{board.name}.csv --all" for board in boards]
    lines = [_ABOUT, *shell(*commands), f"Boards `{boards[0].name}` and `{boards[1].name}`, {made(boards)}:", ""]
    cells = values_of(boards)
    places = places_of(cells)
    if {STATIC, TEMPORAL} - set(places.index.get_level_values("kind")) or len(places.columns) < 2:
        reason = "The two boards have no backbone with two detectors in common."
        return Section(QUESTION, "Not known yet.", "", [reason, ""])
    found = changes(places).join(behind(cells, places.columns)).join(_above(boards, places))
    lines += _per_detector(found)
    lines += ["Kendall's tau between the orders of two streams with the same backbone:", "", *_agreement(places)]
    return Section(QUESTION, answer(found, places), sure(places), lines)


def comparable(tables: Tables) -> list[Board] | None:
    """A static and the temporal board of one budget."""
    temporal = tables.board(TEMPORAL_BOARD)
    static = [board for name in STATIC_BOARDS if (board := tables.board(name)) is not None]
    same = [board for board in static if temporal is not None and board.budget == temporal.budget]
    return [same[0], temporal] if same and temporal is not None else None


def values_of(boards: list[Board]) -> pd.DataFrame:
    """AUROC of each detector: one row per kind, stream and backbone, one column per detector, without the floor."""
    parts = []
    for board in boards:
        frame = board.frame.assign(value=ranking_values(board.frame), kind=kinds(board.frame))
        plain = frame[(frame["threshold"] == "") & ~frame["detector"].map(plugin_name).isin(FLOOR)]
        parts.append(plain.assign(detector=plain["detector"].map(detector_name)))
    rows = pd.concat(parts, ignore_index=True).drop_duplicates([*CELL, "detector"])
    on_both = set.intersection(*(set(part["backbone"]) for part in parts))
    return rows[rows["backbone"].isin(on_both)].pivot(index=CELL, columns="detector", values="value")


def places_of(cells: pd.DataFrame) -> pd.DataFrame:
    """The place of each detector that every row has, in its row; equal ones share their mean."""
    return cells.dropna(axis="columns").rank(axis="columns", ascending=False)


def changes(places: pd.DataFrame) -> pd.DataFrame:
    """Mean places of each detector on both kinds, their difference, and its adjusted p, best on static graphs first."""
    import scipy.stats

    static, temporal = places.loc[STATIC], places.loc[TEMPORAL]
    found = pd.DataFrame({"static": static.mean(), "temporal": temporal.mean()})
    enough = min(len(static), len(temporal)) >= 2
    raw = [
        scipy.stats.mannwhitneyu(static[name], temporal[name]).pvalue if enough else np.nan for name in places.columns
    ]
    found = found.assign(change=found["temporal"] - found["static"], p=holm(np.array(raw, dtype=float)))
    return found.sort_values("static", kind="stable")


def behind(cells: pd.DataFrame, detectors: pd.Index) -> pd.DataFrame:
    """Mean distance of each detector to the best of its row, per kind."""
    own = cells[detectors]
    distance = (-own).add(own.max(axis="columns"), axis="index")
    return pd.DataFrame(
        {"behind_static": distance.loc[STATIC].mean(), "behind_temporal": distance.loc[TEMPORAL].mean()}
    )


def tau(one: pd.Series, other: pd.Series) -> tuple[float, float]:
    """Kendall's tau-b of two orders, and its p."""
    import scipy.stats

    found = scipy.stats.kendalltau(one, other)
    return float(found.statistic), float(found.pvalue)


def carried_over(places: pd.DataFrame) -> tuple[float, float]:
    """Tau between the mean places on static graphs and on temporal streams, and its p."""
    return tau(places.loc[STATIC].mean(), places.loc[TEMPORAL].mean())


def without_one(places: pd.DataFrame) -> list[float]:
    """The same tau, leaving out one stream after another."""
    found = []
    for kind, stream in dict.fromkeys((kind, stream) for kind, stream, _ in places.index):
        left = places[[(k, s) != (kind, stream) for k, s, _ in places.index]]
        if {STATIC, TEMPORAL} == set(left.index.get_level_values("kind")):
            found.append(carried_over(left)[0])
    return found


def taus(places: pd.DataFrame) -> pd.DataFrame:
    """Tau of any two streams with the same backbone, and which streams of which kind they are."""
    rows = []
    for one, other in combinations(places.index, 2):
        if one[2] == other[2] and one[1] != other[1]:
            rows.append([one[1], other[1], one[0], other[0], tau(places.loc[one], places.loc[other])[0]])
    return pd.DataFrame(rows, columns=["a", "b", "kind_a", "kind_b", "tau"]).dropna()


def apart(pairs: pd.DataFrame, kind: dict[str, str]) -> float:
    """How much better two streams of one kind agree than two of different kinds: a difference of mean taus."""
    same = pairs["a"].map(kind) == pairs["b"].map(kind)
    return float(pairs.loc[same, "tau"].mean() - pairs.loc[~same, "tau"].mean())


def permuted(pairs: pd.DataFrame) -> tuple[float, float]:
    """The share of all ways to call as many streams static that set the kinds apart as much, and the least possible."""
    kind = _kinds(pairs)
    streams = sorted(kind)
    static = sum(kind[stream] == STATIC for stream in streams)
    seen = apart(pairs, kind)
    ways = [
        apart(pairs, {stream: STATIC if stream in chosen else TEMPORAL for stream in streams})
        for chosen in combinations(streams, static)
    ]
    defined = [way for way in ways if not np.isnan(way)]
    if np.isnan(seen) or not defined:
        return float("nan"), float("nan")
    # With as many streams of either kind, calling the ones the others sets them apart as much.
    least = 2 if 2 * static == len(streams) else 1
    return float(np.mean(np.array(defined) >= seen - 1e-12)), least / len(defined)


def answer(found: pd.DataFrame, places: pd.DataFrame) -> str:
    """Whether the order carries over, what falls and rises, and where the leader of static graphs ends."""
    value_, _ = carried_over(places)
    sure_ = found[found["p"] < ALPHA]
    fall, rise = list(sure_.index[sure_["change"] > 0]), list(sure_.index[sure_["change"] < 0])
    leader = found.index[0]
    place = int((found["temporal"] < found.loc[leader, "temporal"]).sum()) + 1
    return (
        f"Kendall's tau between the two orders is {value_:.2f} (1: the same order). The best on static graphs, "
        f"{leader}, is number {place} of {len(found)} on temporal streams. Beyond noise fall: {few(fall)}; "
        f"rise: {few(rise)}."
    )


def sure(places: pd.DataFrame) -> str:
    """How firm the tau is."""
    around = without_one(places)
    spread = f"; {min(around):.2f} to {max(around):.2f} leaving out one stream" if around else ""
    return f"tau: {chance(carried_over(places)[1])}{spread}"


def _above(boards: list[Board], places: pd.DataFrame) -> pd.DataFrame:
    """On how many rows each detector beats the floor, per kind, as text."""
    found = {}
    for board, name in zip(boards, ("above_static", "above_temporal"), strict=True):
        frame = board.frame[(board.frame["threshold"] == "") & board.frame[Fact.ABOVE_FLOOR].isin([YES, NO])]
        frame = frame[frame["backbone"].isin(places.index.get_level_values("backbone"))]
        words = frame.groupby(frame["detector"].map(detector_name))[Fact.ABOVE_FLOOR]
        found[name] = words.agg(lambda column: f"{(column == YES).sum()} of {len(column)}")
    return pd.DataFrame(found).reindex(places.columns).fillna("untested")


def _verdict(row: pd.Series) -> str:
    if np.isnan(row["p"]):
        return "untested"
    word = "not told apart" if row["p"] >= ALPHA else "falls" if row["change"] > 0 else "rises"
    return f"{word} ({chance(row['p'])})"


def _per_detector(found: pd.DataFrame) -> list[str]:
    header = ["detector", "#place, static", "#place, temporal", "#change", "#behind the best, static", "#temporal"]
    cells = (
        [
            *(name, f"{row['static']:.1f}", f"{row['temporal']:.1f}", f"{row['change']:+.1f}"),
            *(value(row["behind_static"]), value(row["behind_temporal"])),
            *(row["above_static"], row["above_temporal"], _verdict(row)),
        ]
        for name, row in found.iterrows()
    )
    return table([*header, "#beats the floor, static", "#temporal", "how sure"], cells)


def _agreement(places: pd.DataFrame) -> list[str]:
    pairs = taus(places)
    if not len(pairs):
        return ["There are too few streams.", ""]
    p, least = permuted(pairs)

    def cells() -> Iterator[list[object]]:
        kinds_ = [tuple(sorted(cells)) for cells in zip(pairs["kind_a"], pairs["kind_b"], strict=True)]
        for kind, group in pairs.groupby(pd.Series(kinds_, index=pairs.index), sort=True):
            words = f"both {kind[0]}" if kind[0] == kind[1] else "one of each"
            own = group["tau"]
            yield [words, len(own), *(f"{number + 0.0:z.2f}" for number in (own.mean(), own.min(), own.max()))]

    lines = table(["streams", "#pairs", "#mean tau", "#smallest", "#largest"], cells())
    if np.isnan(p):
        return [*lines, "How sure: there are too few streams of a kind to test whether the kinds differ.", ""]
    return [
        *lines,
        f"How sure: of all ways to call as many of these streams static, a share of {p:.2f} sets the two kinds apart "
        f"as much (the least possible is {least:.2f}); the difference of mean taus is "
        f"{signed(apart(pairs, _kinds(pairs)))}.",
        "",
    ]


def _kinds(pairs: pd.DataFrame) -> dict[str, str]:
    return dict(zip(pairs["a"], pairs["kind_a"], strict=True)) | dict(zip(pairs["b"], pairs["kind_b"], strict=True))
