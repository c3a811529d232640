from __future__ import annotations

from lgl_bench.streams import catalogue
from lgl_bench.streams.sizes import StreamSize, imported_size, published_size, twin_size
from lgl_bench.streams.store import write_stream
from tests.support.boards import growing_stream


def test_the_size_of_a_stream_on_disk_is_that_of_the_stream(tmp_path):
    stream = growing_stream()
    write_stream(stream, tmp_path / "growing")
    found = imported_size(tmp_path / "growing")
    assert found[:4] == (stream.num_vertices, stream.num_edges, len(set(stream.labels.tolist())), len(stream.times))
    assert found.megabytes is not None and found.megabytes > 0


def test_a_damaged_stream_has_no_size(tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "stream.json").write_text("{")
    assert imported_size(tmp_path / "broken") == StreamSize()


def test_arcs_of_a_manifest_are_counted_as_pairs_and_lines_are_left_out():
    known = catalogue.manifests()
    assert published_size(known["cora"]).edges == 5278  # 10,556 arcs
    assert published_size(known["dblp-easy"]).edges == 112131  # pairs
    assert published_size(known["ogb-arxiv"]).edges is None  # lines of the source


def test_a_graph_that_does_not_grow_has_no_years():
    assert twin_size("cora-twin").years is None and twin_size("dblp-easy-twin").years == 26
