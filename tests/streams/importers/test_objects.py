"""One graph in every library people have it in: it becomes the same stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lgl_bench
from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.streams import catalogue
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.stream import same

N = 6
YEARS = np.array([2000, 2000, 2001, 2001, 2002, 2002])
LABELS = np.array([0, 1, 0, 1, 2, -1])
FEATURES = np.arange(2 * N, dtype=np.float32).reshape(N, 2) + 1
EDGES = np.array([[2, 3, 4, 5, 4], [0, 1, 2, 3, 4]])


def frames(**columns: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    vertices = {"id": np.arange(N), "year": YEARS, "label": LABELS, "f_0": FEATURES[:, 0], "f_1": FEATURES[:, 1]}
    return pd.DataFrame(vertices | columns), pd.DataFrame({"source": EDGES[0], "target": EDGES[1]})


def networkx_graph() -> Any:
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    graph = networkx.DiGraph()
    for v in range(N):
        graph.add_node(v, year=int(YEARS[v]), label=int(LABELS[v]), features=FEATURES[v])
    graph.add_edges_from(EDGES.T.tolist())
    return graph


def pyg_graph(**more: Any) -> Any:
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data", reason="torch_geometric is not installed")
    return data.Data(
        x=torch.tensor(FEATURES),
        y=torch.tensor(LABELS).reshape(-1, 1),
        node_year=torch.tensor(YEARS).reshape(-1, 1),
        edge_index=torch.tensor(EDGES),
        **more,
    )


def dgl_graph() -> Any:
    torch, dgl = pytest.importorskip("torch"), pytest.importorskip("dgl", reason="dgl is not installed")
    graph = dgl.graph((torch.tensor(EDGES[0]), torch.tensor(EDGES[1])), num_nodes=N)
    graph.ndata["feat"], graph.ndata["label"] = torch.tensor(FEATURES), torch.tensor(LABELS)
    graph.ndata["year"] = torch.tensor(YEARS)
    return graph


@pytest.mark.parametrize("make", [networkx_graph, pyg_graph, dgl_graph])
def test_a_graph_of_any_library_is_the_stream_of_its_tables(make: Any) -> None:
    expected = lgl_bench.stream_from(frames(), t0=2000)
    found = lgl_bench.stream_from(make(), t0=2000)
    assert same(found, expected)
    assert (found.num_edges, found.info.imported["self_loops"], found.info.t0) == (4, 1, 2000)
    assert np.array_equal(found.features, FEATURES) and found.labels.tolist() == LABELS.tolist()


def test_a_saved_stream_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LGL_BENCH_DATA", str(tmp_path))
    stream = lgl_bench.stream_from(frames(), "own", t0="auto", save=True)
    found = catalogue.load("own")
    assert stream_checksum(found) == stream_checksum(stream) and found.info.t0 == 2000
    with pytest.raises(UsageError, match="exists already; give --force"):
        lgl_bench.stream_from(frames(), "own", save=True)
    assert lgl_bench.stream_from(frames(), "own", save=True, force=True).info.t0 is None


def test_frames_may_have_names_dates_and_lists() -> None:
    vertices, edges = frames(
        doi=[f"10.1/{v}" for v in range(N)], date=pd.to_datetime([f"{year}-06-01" for year in YEARS])
    )
    vertices = vertices.drop(columns=["id", "year", "f_0", "f_1"]).assign(embedding=list(FEATURES))
    named = edges.map(lambda v: f"10.1/{v}")
    stream = lgl_bench.stream_from((vertices, named))
    assert stream.names.tolist() == [f"10.1/{v}" for v in range(N)]
    assert stream.born.tolist() == YEARS.tolist() and np.array_equal(stream.features, FEATURES)
    assert stream.num_edges == 4


def test_nodes_of_networkx_may_be_anything_with_a_name() -> None:
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    graph = networkx.relabel_nodes(networkx_graph(), {v: f"10.1/{v}" for v in range(N)})
    stream = lgl_bench.stream_from(graph)
    assert stream.names.tolist() == [f"10.1/{v}" for v in range(N)] and stream.num_edges == 4


def test_masks_of_pyg_are_a_split_and_an_attribute_of_names_is_kept() -> None:
    torch = pytest.importorskip("torch")
    mask = torch.tensor([True, False, False, False, False, False])
    stream = lgl_bench.stream_from(pyg_graph(train_mask=mask, test_mask=~mask, doi=[f"10.1/{v}" for v in range(N)]))
    assert stream.split.tolist() == [1, 3, 3, 3, 3, 3]
    assert stream.names[0] == "10.1/0" and stream.num_edges == 4


def test_what_is_missing_is_named_with_the_keyword_that_helps() -> None:
    vertices, edges = frames()
    with pytest.raises(DataError, match=r"the vertices has no column with years.*time='COLUMN', or give time='none'"):
        lgl_bench.stream_from((vertices.drop(columns="year"), edges))
    stream = lgl_bench.stream_from((vertices.drop(columns="year"), edges), time="none")
    assert stream.static
    structural = lgl_bench.stream_from((vertices[["id", "year", "label"]], edges), features="structure", dimensions=4)
    assert structural.features.shape == (N, 4)


@pytest.mark.parametrize("wrong", [None, "graph.csv", (1, 2), np.zeros((2, 2))])
def test_what_is_no_graph_is_refused_by_its_type(wrong: Any) -> None:
    with pytest.raises(UsageError, match="is no graph; give two DataFrames"):
        lgl_bench.stream_from(wrong)


@pytest.mark.parametrize(("name", "told"), [("cora", "published data set"), ("my stream", "cannot be a stream's name")])
def test_a_name_that_is_taken_or_none_is_refused(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        lgl_bench.stream_from(frames(), name)
