"""Graphs that are in memory already: two DataFrames, a NetworkX graph, a PyG `Data`, a DGL graph.

Each becomes the two tables of `lgl_bench.streams.importers.table`, so that the same names are recognised, the same is
checked, and the same is said. None of the libraries is imported here: who has such a graph has its library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from lgl_bench.core.errors import DataError, UsageError, quoted
from lgl_bench.core.parquet import ColumnError
from lgl_bench.streams.catalogue import check_name, data_folder, manifests
from lgl_bench.streams.importers.table import tables_to_graph
from lgl_bench.streams.importers.table_columns import (
    TableOptions,
    choose_edges,
    choose_vertices,
    column_problem,
    select,
    usual_name,
)
from lgl_bench.streams.raw import RawGraph, build
from lgl_bench.streams.start import with_t0
from lgl_bench.streams.store import write_stream
from lgl_bench.streams.stream import Stream, StreamInfo

Tables: TypeAlias = tuple[pa.Table, pa.Table]
_FILES = "the vertices", "the edges"
_MASKS = {"train_mask": "train", "val_mask": "validation", "test_mask": "test"}


def stream_from(
    graph: Any,
    name: str = "mine",
    *,
    t0: int | str | None = None,
    save: bool = False,
    data_dir: str | Path | None = None,
    force: bool = False,
    **options: Any,
) -> Stream:
    """A stream from a graph in memory.

    Args:
        graph: A pair of DataFrames (vertices, edges), a NetworkX graph with attributes on its nodes, a PyG `Data`, or
            a homogeneous DGL graph.
        name: What the stream is called.
        t0: Last time of the first training task; "auto" for the one that is proposed.
        save: Whether it is written to the data folder, where `lgl-bench run --stream NAME` finds it.
        data_dir: The data folder, if it is not the usual one.
        force: Whether a stream of that name is replaced.
        options: Those of the format `table`: which column or attribute is the `id`, `time`, `label`, `features`, if it
            has no usual name; `unit="month"`; `features="structure"`.

    Raises:
        UsageError: The object is no such graph, or an option is wrong.
        DataError: Something is missing or wrong in the graph; the message says how to go on.
    """
    check_name(name)
    if name in manifests():
        raise UsageError(f"'{name}' is the name of a published data set; choose another for a graph of your own")
    chosen = TableOptions.read(options, "table")
    try:
        stream = build(_graph(_tables(graph, chosen), chosen), StreamInfo(name, _kind(graph), "not stated"))
    except DataError as error:
        # Options are keywords here.
        raise DataError(re.sub(r"--option (\w+)=(\w+)", r"\1='\2'", str(error))) from error
    stream = with_t0(stream, t0)
    if save:
        write_stream(stream, data_folder(None if data_dir is None else Path(data_dir)) / name, force=force)
    return stream


def _graph(tables: Tables, options: TableOptions) -> RawGraph:
    pairs = []
    for table, choose, file in zip(tables, (choose_vertices(options), choose_edges(options)), _FILES, strict=True):
        try:
            chosen = choose(table.schema)
            pairs.append((select(table, chosen), chosen))
        except ColumnError as error:
            raise column_problem(file, error) from error
    return tables_to_graph(pairs[0], pairs[1], options, _FILES)


def _kind(graph: Any) -> str:
    """The library an object is of; its classes may have subclasses elsewhere."""
    if isinstance(graph, (tuple, list)) and len(graph) == 2 and all(isinstance(one, pd.DataFrame) for one in graph):
        return "pandas"
    packages = {one.__module__.partition(".")[0] for one in type(graph).__mro__}
    return next((one for one in ("networkx", "torch_geometric", "dgl") if one in packages), "")


def _tables(graph: Any, options: TableOptions) -> Tables:
    kind = _kind(graph)
    if kind == "pandas":
        vertices, edges = graph
        return _from_pandas(vertices), _from_pandas(edges)
    if kind == "networkx":
        return _from_networkx(graph)
    if kind == "torch_geometric":
        if not hasattr(graph, "edge_index"):
            raise UsageError("a PyG graph must be a Data with one edge_index; make one of it with to_homogeneous()")
        columns = {key: graph[key] for key in graph.keys() if not key.startswith(("edge_", "adj"))}  # noqa: SIM118
        return _from_arrays(columns, graph.edge_index, int(graph.num_nodes), options)
    if kind == "dgl":
        if not graph.is_homogeneous:
            raise UsageError(
                "a DGL graph must have one type of nodes and edges; make one of it with dgl.to_homogeneous"
            )
        return _from_arrays(dict(graph.ndata), graph.edges(), int(graph.num_nodes()), options)
    raise UsageError(
        f"an object of type {quoted(type(graph).__name__)} is no graph; give two DataFrames (vertices, edges), a "
        "NetworkX graph, a PyG Data or a DGL graph"
    )


def _from_pandas(frame: pd.DataFrame) -> pa.Table:
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(f"a DataFrame cannot be read: {error}; give every column values of one type") from error


def _from_networkx(graph: Any) -> Tables:
    """Nodes that are not all whole numbers are known by their text."""
    nodes = list(graph.nodes)
    numbers = all(isinstance(node, (int, np.integer)) and not isinstance(node, bool) for node in nodes)
    known_as = (lambda node: node) if numbers else str
    rows = [{**attributes, "id": known_as(node)} for node, attributes in graph.nodes(data=True)]
    pairs = [(known_as(source), known_as(target)) for source, target, *_ in graph.edges]
    edges = pd.DataFrame(pairs, columns=["source", "target"], dtype="int64" if numbers else "object")
    return _from_pandas(pd.DataFrame(rows)), _from_pandas(edges)


def _from_arrays(columns: Mapping[str, Any], edges: Any, vertices: int, options: TableOptions) -> Tables:
    """Tensors with a row per vertex; edges are positions."""
    arrays = {key: _array(value) for key, value in columns.items() if _rows(value) == vertices}
    masks = {word: arrays.pop(key) for key, word in _MASKS.items() if key in arrays and arrays[key].ndim == 1}
    if masks and "split" not in arrays:
        words = np.full(vertices, "none", dtype=object)
        for word, mask in masks.items():
            words[mask.astype(bool)] = word
        arrays["split"] = words
    own = options.id or usual_name(list(arrays), "id")
    ids = arrays.setdefault(own or "id", np.arange(vertices))
    source, target = (ids[_array(end).reshape(-1)] for end in edges)
    return pa.table({key: _column(array) for key, array in arrays.items()}), pa.table(
        {options.source or "source": _column(source), options.target or "target": _column(target)}
    )


def _rows(value: Any) -> int:
    try:
        return len(value)
    except TypeError:  # a number, a tensor without dimensions
        return -1


def _array(value: Any) -> npt.NDArray[Any]:
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value if str(value.layout) == "torch.strided" else value.to_dense()).numpy()
    array = np.asarray(value)
    array = array.astype(object) if array.dtype.kind in "US" else array
    return array.reshape(-1) if array.ndim == 2 and array.shape[1] == 1 else array


def _column(array: npt.NDArray[Any]) -> pa.Array:
    if array.ndim == 1:
        return pa.array(array)
    flat = np.ascontiguousarray(array).reshape(len(array), -1)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat.reshape(-1)), flat.shape[1])
