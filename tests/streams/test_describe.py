from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.describe import describe, plot
from lgl_bench.streams.raw import RawGraph, build
from lgl_bench.streams.stream import Stream, StreamInfo


@pytest.fixture
def stream() -> Stream:
    raw = RawGraph(
        ids=np.array([10, 11, 12, 13, 14, 15]),
        born=np.array([2000, 2000, 2000, 2002, 2002, 2003]),
        labels=np.array([0, 0, 1, 2, -1, 0]),
        features=np.ones((6, 4), dtype=np.float32),
        edges=np.array([[10, 11, 13, 13, 14, 11, 12], [11, 12, 10, 10, 10, 11, 13]]),
        class_names=("a", "b", "c"),
    )
    return build(raw, StreamInfo("mine", source="here", licence="CC0", t0=2000))


def test_every_settled_key_is_there_and_in_its_place(stream: Stream) -> None:
    figures = describe(stream)
    settled = (
        "name source licence vertices edges arcs features feature_kind classes known_at_t0 new_classes t0 "
        "homophily homophily_over_time stream_checksum years"
    )
    assert set(settled.split()) <= set(figures)
    assert set(figures["homophily"]) == {"graph", "vertex", "class_insensitive", "index"}
    assert set(figures["homophily_over_time"]) == {"mean", "std"}
    for year in figures["years"]:
        assert {"time", "vertices", "edges", "known", "new", "homophily"} <= set(year)
    json.dumps(figures, allow_nan=False)


def test_the_figures_are_those_counted_by_hand(stream: Stream) -> None:
    figures = describe(stream)
    expected = {
        "name": "mine",
        "source": "here",
        "licence": "CC0",
        "citation": "",
        "vertices": 6,
        "edges": 5,
        "arcs": 10,
        "features": 4,
        "feature_kind": "dense",
        "classes": 3,
        "known_at_t0": 2,
        "new_classes": 1,
        "t0": 2000,
        "stream_checksum": stream_checksum(stream),
        "unlabelled": 1,
        "isolated": 1,
        "imported": {"edge_lines": 7, "self_loops": 1, "repeated_edges": 1},
    }
    assert {key: figures[key] for key in expected} == expected
    # edges that count: 10-11 (equal), 11-12, 13-10, 12-13
    assert figures["homophily"]["graph"] == pytest.approx(1 / 4)
    assert figures["homophily"]["index"] == pytest.approx(1 / 2)
    assert [(row["class"], row["name"], row["born"], row["vertices"]) for row in figures["per_class"]] == [
        (0, "a", 2000, 3),
        (1, "b", 2000, 1),
        (2, "c", 2002, 1),
    ]


def test_the_years_count_everything_up_to_them(stream: Stream) -> None:
    rows = describe(stream)["years"]
    assert [(y["time"], y["vertices"], y["edges"], y["known"], y["new"]) for y in rows] == [
        (2000, 3, 2, 2, 2),
        (2002, 5, 5, 3, 1),
        (2003, 6, 5, 3, 0),
    ]
    assert [y["drift"] for y in rows] == [None, pytest.approx(1.0), pytest.approx(1 / 2)]


def test_homophily_over_time_is_mean_and_deviation_of_the_years(stream: Stream) -> None:
    figures = describe(stream)
    values = [year["homophily"] for year in figures["years"]]
    assert figures["homophily_over_time"] == {
        "mean": pytest.approx(np.mean(values)),
        "std": pytest.approx(np.std(values)),
    }
    assert values[-1] == figures["homophily"]["class_insensitive"]


def test_a_static_graph_without_labels_and_edges_leaves_undefined_figures_empty() -> None:
    raw = RawGraph(
        ids=np.arange(2),
        born=np.zeros(2, dtype=np.int64),
        labels=np.array([-1, -1]),
        features=np.zeros((2, 0), dtype=np.float32),
        edges=np.empty((2, 0), dtype=np.int64),
    )
    figures = describe(build(raw, StreamInfo("bare")))
    assert figures["homophily"] == {"graph": None, "vertex": None, "class_insensitive": None, "index": None}
    assert figures["homophily_over_time"] == {"mean": None, "std": None}
    assert (figures["classes"], figures["known_at_t0"], figures["new_classes"]) == (0, 0, 0)
    json.dumps(figures, allow_nan=False)


def test_the_plot_is_an_image(stream: Stream, tmp_path: Path) -> None:
    plot(describe(stream), tmp_path / "years.png")
    content = (tmp_path / "years.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 5000


@pytest.mark.parametrize("name", ["years.nonsense", "no/such/folder/years.png"])
def test_a_plot_that_cannot_be_written_says_where(stream: Stream, tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=f"the plot cannot be written to .*{name}"):
        plot(describe(stream), tmp_path / name)


def test_without_matplotlib_the_plot_says_what_to_install(
    stream: Stream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match=r"pip install 'lgl-bench\[report\]'"):
        plot(describe(stream), tmp_path / "years.png")
