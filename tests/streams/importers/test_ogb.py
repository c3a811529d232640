from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.streams.importers import ogb as ogb_importer
from tests.support.importing import assert_refused, by_id, edges_of, from_ogb, import_, importing, pairs, read
from tests.support.stream_files import ogb, zipped

OGB_CASES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "missing vertex, ogb": (
        from_ogb(edge=[[0, 1], [1, 0], [4, 2], [5, 3], [0, 4]]),
        ("edge.csv.gz, line 4: the edge 5 - 3 names 5", "add the vertex or remove the edge"),
    ),
    "years too few": (
        from_ogb(node_year=[2005, 1999, 2020, 1999]),
        ("node-label.csv.gz has 5 vertices, but there are 4 times in node_year.csv.gz", "exactly one"),
    ),
    "rows of features too few": (
        from_ogb(**{"node-feat": [[1.0, 2.0]] * 4}),
        ("node-label.csv.gz has 5 vertices, but there are 4 features in node-feat.csv.gz", "exactly one"),
    ),
    "nan in an ogb feature": (
        from_ogb(**{"node-feat": [[1, 2], [1, 2], [1, "nan"], [1, 2], [1, 2]]}),
        ("node-feat.csv.gz, row 2, feature 1: the value is nan", "must be finite"),
    ),
    "half a year in ogb": (
        from_ogb(node_year=[2005, 1999.5, 2020, 1999, 2004]),
        ("node_year.csv.gz, row 1: the time 1999.5 is not a whole number", "correct the row"),
    ),
    "no rows, ogb": (from_ogb(**{"node-label": []}), ("node-label.csv.gz cannot be read (Empty CSV file)",)),
}


@pytest.mark.parametrize(("make", "phrases"), OGB_CASES.values(), ids=OGB_CASES.keys())
def test_bad_rows_of_an_ogb_set_are_refused_with_file_row_and_remedy(
    tmp_path: Path, make: Callable[[Path], tuple[Path, tuple[str, ...]]], phrases: tuple[str, ...]
) -> None:
    source, options = make(tmp_path / "source")
    assert_refused(import_(tmp_path, source, *options), tmp_path, *phrases)


def test_a_gz_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ogb_importer, "_FLOOR", 2**20)
    source = ogb(tmp_path / "source")
    (source / "raw" / "node-label.csv.gz").write_bytes(gzip.compress(b"0\n" * 2**22))
    with pytest.raises(DataError, match=r"node-label\.csv\.gz has .* bytes and unpacks to more than 1,048,576"):
        importing(tmp_path, source, "ogb")


def test_a_gz_with_one_endless_line_is_refused(tmp_path: Path) -> None:
    source = ogb(tmp_path / "source")
    (source / "raw" / "edge.csv.gz").write_bytes(gzip.compress(b"1," * 2**20))
    with pytest.raises(DataError, match=r"edge\.csv\.gz, line 1 is longer than"):
        importing(tmp_path, source, "ogb")


# ogb
@pytest.mark.parametrize("packed", [False, True])
def test_ogb_rows_belong_to_their_vertex_in_a_folder_and_in_a_zip(tmp_path: Path, packed: bool) -> None:
    source = ogb(tmp_path / "arxiv")
    stream = read("ogb", zipped(source, tmp_path / "arxiv.zip") if packed else source)
    labels, years = [3, 0, -1, 1, 0], [2005, 1999, 2020, 1999, 2004]
    assert by_id(stream) == {
        v: {"time": years[v], "label": labels[v], "features": [v + 0.5, -v, 1.0]} for v in range(5)
    }
    assert stream.ids.tolist() == [1, 3, 4, 0, 2]
    assert edges_of(stream) == pairs((0, 1), (2, 4), (0, 4))
    assert stream.info.imported == {"edge_lines": 5, "self_loops": 1, "repeated_edges": 1}


def test_ogb_without_official_features_says_which_file_is_missing(tmp_path: Path) -> None:
    (ogb(tmp_path / "arxiv") / "raw" / "node-feat.csv.gz").unlink()
    with pytest.raises(DataError, match=r"node-feat\.csv\.gz is missing"):
        read("ogb", tmp_path / "arxiv")
    assert read("ogb", tmp_path / "arxiv", features="none").features.shape == (5, 0)
    assert read("ogb", tmp_path / "arxiv", features="structure", dimensions="7").features.shape == (5, 7)


@pytest.mark.parametrize("name", ["num-node-list", "num-edge-list"])
def test_ogb_counts_that_do_not_hold_are_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=rf"has 5 rows, {name}\.csv\.gz says 6"):
        read("ogb", ogb(tmp_path / "arxiv", **{name: [6]}))
