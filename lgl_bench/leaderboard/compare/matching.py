"""Which rows of two boards may be set against each other, and why others may not.

Rows are of the same method if stream, strategy, backbone, head, detector and threshold agree. Their numbers are
comparable if suite, suite version, data checksum, protocol, split, label delay, track, budget and its version agree
too; if they are not, the columns that differ are named. Preset and selection may differ; a note says so.

Printed rows have no checksum, budget, restart or suite of ours. They match by stream, protocol, split, strategy, label
delay, track, backbone and the names in the expressions: `odin` whatever its parameters, the same ones preferred. Rows
of a twin are refused beside printed rows of the stream it stands in for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lgl_bench.core.grammar import plugin_name, without_values
from lgl_bench.core.types import IntArray
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.published import BEST
from lgl_bench.leaderboard.table.names import PRINTED, Fact
from lgl_bench.leaderboard.table.schema import COMPARABLE, METHOD
from lgl_bench.leaderboard.values import detector_metrics, oriented_means
from lgl_bench.streams.catalogue import TWIN

_NOTED = ("preset", "select")
_AUTO = "good(auto)"


@dataclass(frozen=True, slots=True)
class Matches:
    """Rows of a board A and a board B, by their positions.

    Attributes:
        pairs: Columns `a`, `b` and `note`, which says what differs and may.
        refused: Columns `a`, `b` and `why`.
        only_a: Rows of A without a counterpart.
        only_b: Rows of B without one.
    """

    pairs: pd.DataFrame
    refused: pd.DataFrame
    only_a: IntArray
    only_b: IntArray


def match(a: pd.DataFrame, b: pd.DataFrame) -> Matches:
    """Sets the rows of two boards against each other."""
    a, b = _needed(a), _needed(b)
    printed = {"a": _printed(a), "b": _printed(b)}
    ours_a, ours_b = a[~printed["a"]], b[~printed["b"]]
    pairs = _join(ours_a, ours_b, KEY)
    pairs = _and_rest(pairs, ours_a, ours_b, (*METHOD, *COMPARABLE))
    refused = _join(
        ours_a.drop(pairs["a"].to_numpy()), ours_b.drop(pairs["b"].to_numpy()).drop_duplicates(list(METHOD)), METHOD
    )
    refused["why"] = _why(a, b, refused)
    twins = pd.concat(
        [
            _named(_originals(ours_a), b[printed["b"]]),
            _named(_originals(ours_b), a[printed["a"]]).rename(columns={"a": "b", "b": "a"}),
        ]
    )
    twins["why"] = [f"a synthetic twin stands in: {text}" for text in _differing(a, b, twins, ("stream",))]
    refused = pd.concat([refused, twins], ignore_index=True)
    pairs["note"] = _differing(a, b, pairs, _NOTED)
    named = [
        _named(ours_a, b[printed["b"]]),
        _named(ours_b, a[printed["a"]]).rename(columns={"a": "b", "b": "a"}),
        _join(a[printed["a"]], b[printed["b"]], KEY),
    ]
    for found in named:
        found["note"] = _differing(a, b, found, ("detector", "threshold", "budget"))
    pairs = pd.concat([pairs, *named], ignore_index=True)[["a", "b", "note"]]
    seen_a, seen_b = {*pairs["a"], *refused["a"]}, {*pairs["b"], *refused["b"]}
    return Matches(
        pairs.sort_values(["a", "b"], kind="stable", ignore_index=True),
        refused,
        np.array([row for row in range(len(a)) if row not in seen_a], dtype=np.int64),
        np.array([row for row in range(len(b)) if row not in seen_b], dtype=np.int64),
    )


def original_of_twin(stream: str) -> str:
    """The stream that a synthetic twin stands in for, by its name; "" for any other stream.

    >>> original_of_twin("dblp-easy-twin"), original_of_twin("ogb-arxiv-twin(seed=3)"), original_of_twin("cora")
    ('dblp-easy', 'ogb-arxiv', '')
    """
    name = plugin_name(stream)
    return name.removesuffix(TWIN) if name.endswith(TWIN) else ""


def _needed(frame: pd.DataFrame) -> pd.DataFrame:
    """What matching looks at; `quality` is what ranks the row's detector, whatever its threshold."""
    quality = oriented_means(frame, detector_metrics(frame))
    return frame[[*KEY, Fact.TRUST]].assign(quality=quality).reset_index(drop=True)


def _printed(frame: pd.DataFrame) -> pd.Series[bool]:
    return frame[Fact.TRUST] == PRINTED


def _join(a: pd.DataFrame, b: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """Positions of rows that agree in all columns."""
    names = list(columns)
    left = a[names].assign(a=a.index)
    right = b[names].assign(b=b.index)
    found = left.merge(right, on=names, how="inner")[["a", "b"]]
    return found.astype("int64")


def _and_rest(pairs: pd.DataFrame, a: pd.DataFrame, b: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    more = _join(a.drop(pairs["a"].to_numpy()), b.drop(pairs["b"].to_numpy()), columns)
    return pd.concat([pairs, more], ignore_index=True)


def _why(a: pd.DataFrame, b: pd.DataFrame, pairs: pd.DataFrame) -> list[str]:
    return [text.replace("stream_checksum", "data checksum") for text in _differing(a, b, pairs, COMPARABLE)]


def _differing(a: pd.DataFrame, b: pd.DataFrame, pairs: pd.DataFrame, columns: tuple[str, ...]) -> list[str]:
    """Of each pair, the columns that differ, with both values."""
    found = [""] * len(pairs)
    for name in columns:
        left = a[name].astype(str).to_numpy()[pairs["a"]]
        right = b[name].astype(str).to_numpy()[pairs["b"]]
        for i in np.flatnonzero(left != right):
            one, other = (_short(value, name) for value in (left[i], right[i]))
            found[i] += f"{'; ' if found[i] else ''}{name} {one} against {other}"
    return found


def _short(value: str, name: str) -> str:
    if name == "stream_checksum":
        value = value[:12]
    return value or "none"


def _originals(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of twins, under the name of the stream each stands in for."""
    original = frame["stream"].map(original_of_twin)
    return frame.assign(stream=original)[original != ""]


def _named(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Our rows (`a`) beside printed ones (`b`), by the names in their expressions."""
    if not len(ours) or not len(theirs):
        return pd.DataFrame({"a": [], "b": []}, dtype=np.int64)
    place = ("stream", "protocol", "split", "strategy", "label_delay", "track", "threshold_names")
    left, right = (
        frame.assign(
            detector_names=frame["detector"].map(without_values), threshold_names=frame["threshold"].map(without_values)
        )
        for frame in (ours, theirs)
    )
    parts = []
    by_name = right[right["backbone"] != BEST]
    parts.append(_join(left, by_name, (*place, "backbone", "detector_names")))
    auto = left[left["detector_names"] == _AUTO].assign(detector_names="good")
    any_good = by_name[by_name["detector_names"].str.startswith("good(")].assign(detector_names="good")
    parts.append(_join(auto, any_good, (*place, "backbone", "detector_names")))
    # A threshold printed for "the best model": ours is the best of the rows with that threshold.
    of_best = right[right["backbone"] == BEST]
    left = left.assign(as_printed=left["threshold"].isin(of_best["threshold"]))
    best = left[left["quality"].notna()].sort_values(["as_printed", "quality"], ascending=False, kind="stable")
    parts.append(_join(best.drop_duplicates(list(place)), of_best, place))
    found = pd.concat(parts, ignore_index=True)
    same = (ours["detector"].reindex(found["a"]).to_numpy() == theirs["detector"].reindex(found["b"]).to_numpy()) & (
        ours["threshold"].reindex(found["a"]).to_numpy() == theirs["threshold"].reindex(found["b"]).to_numpy()
    )
    # Of several rows under one name, those with the printed parameters stand for it.
    has_same = found.assign(same=same).groupby("b")["same"].transform("any")
    kept: pd.DataFrame = found[same | ~has_same.to_numpy(dtype=bool)]
    return kept.reset_index(drop=True)
