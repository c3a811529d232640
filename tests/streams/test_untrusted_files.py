"""Files that say more than they hold, or something else: refused before anything is allocated or followed."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from makers import EDGES, VERTICES, adjlist, ogb, planetoid, python2_pickle, table

from lgl_bench.core import parquet
from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.streams import catalogue
from lgl_bench.streams.description import seal
from lgl_bench.streams.generator import Recipe, generate
from lgl_bench.streams.importers import ogb as ogb_importer
from lgl_bench.streams.store import open_stream, verify_stream, write_stream
from lgl_bench.streams.stream import StreamInfo

HUGE = 2_000_000_000
OBJECTS = (
    b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n(I4\nI3\nt"
    b"cnumpy\ndtype\n(S'O8'\nI0\nI1\ntR(I3\nS'|'\nNNNI-1\nI-1\nI0\ntbI00\nT\x60\x00\x00\x00" + b"A" * 96 + b"tb."
)
"""An array of twelve objects whose addresses are in the file."""


def importing(tmp_path: Path, source: Path, format_name: str, **options: str) -> Any:
    return catalogue.import_stream("mine", source, tmp_path / "data", format_name=format_name, options=options)


def assert_nothing_left(tmp_path: Path) -> None:
    assert not list((tmp_path / "data").rglob("*"))


def test_an_array_of_objects_in_a_planetoid_file_does_not_end_the_process(tmp_path: Path) -> None:
    source = planetoid(tmp_path / "source", ty=OBJECTS)
    command = [sys.executable, "-m", "lgl_bench.cli", "data", "import", "mine", "--from", str(source)]
    options = ["--format", "planetoid", "--option", "prefix=toy", "--data-dir", str(tmp_path / "data")]
    done = subprocess.run([*command, *options], capture_output=True, text=True, env=os.environ, timeout=120)
    assert (done.returncode, done.stdout) == (3, "")
    assert "ind.toy.ty holds an array of type 'O8'" in done.stderr


def array_pickle(shape: str, kind: str, content: bytes) -> bytes:
    """An array as Python 2 pickled it, whatever its parts."""
    return (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n(" + shape.encode() + b"t"
        b"cnumpy\ndtype\n(S'" + kind.encode() + b"'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntbI00\n"
        b"T" + len(content).to_bytes(4, "little") + content + b"tb."
    )


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (array_pickle(f"I{HUGE}\nI{HUGE}\n", "f8", b"A" * 48), "has 48"),
        (array_pickle("I-2\nI-3\n", "f8", b"A" * 48), "of the shape (-2, -3)"),
        (array_pickle("I2\nI3\n", "M8", b"A" * 48), "'M8', which is no type of numbers"),
        (array_pickle("I2\nI3\n", "V8", b"A" * 48), "'V8', which is no type of numbers"),
        (b"\x80\x02]r\xff\xff\xff\x7f.", "no array of numbers"),
        (b"\x80\x02c__builtin__\nlist\n)R.", "a call of what is not to be called"),
        (b"\x80\x02c__builtin__\nlist\n}b.", "a state of what has none"),
        (b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x40.", "holds the operation"),
        (python2_pickle(np.array([[0.5, 0.5, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0]])), "no class or several"),
    ],
    ids=["shape", "negative", "date", "void", "memo", "call", "state", "frame", "not one-hot"],
)
def test_a_pickle_that_holds_no_array_of_numbers_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    source = planetoid(tmp_path / "source", ty=content)
    with pytest.raises(DataError, match=r"ind\.toy\.ty") as raised:
        importing(tmp_path, source, "planetoid", prefix="toy")
    assert told in str(raised.value)
    assert_nothing_left(tmp_path)


def test_a_list_of_neighbours_that_stands_for_many_vertices_is_refused(tmp_path: Path) -> None:
    shared = list(range(10)) * 100
    source = planetoid(tmp_path / "source", graph=python2_pickle({vertex: shared for vertex in range(1000)}))
    with pytest.raises(DataError, match=r"1,000,000 neighbours, more than it has bytes"):
        importing(tmp_path, source, "planetoid", prefix="toy")


def test_a_test_index_far_beyond_the_rows_is_refused(tmp_path: Path) -> None:
    source = planetoid(tmp_path / "source", **{"test.index": f"9\n5\n8\n{HUGE}".encode()})
    with pytest.raises(DataError, match=f"names the vertex {HUGE}, but there are 9 rows"):
        importing(tmp_path, source, "planetoid", prefix="toy")


def with_label(kind: str, label: int) -> Callable[[Path], Path]:
    sources: dict[str, Callable[[Path], Path]] = {
        "adjlist": lambda folder: adjlist(folder, y=np.array([0, 1, label, 0, 1])),
        "ogb": lambda folder: ogb(folder, **{"node-label": [0, 1, label, 0, 1]}),
        "table": lambda folder: table(folder, "parquet", VERTICES | {"label": [0, 1, label, 0]}),
    }
    return sources[kind]


@pytest.mark.parametrize("kind", ["adjlist", "ogb", "table"])
def test_a_label_of_two_thousand_millions_is_refused_and_not_allocated(tmp_path: Path, kind: str) -> None:
    with pytest.raises(DataError, match=r"row 2: the label 2000000000 would be one of 2,000,000,001 classes"):
        importing(tmp_path, with_label(kind, HUGE)(tmp_path / "source"), kind)
    assert_nothing_left(tmp_path)


WRAPS = np.array([1, 2, 2**64 - 5, 1, 0], dtype=np.uint64)


@pytest.mark.parametrize(("name", "what"), [("t", "time"), ("y", "label")])
def test_an_unsigned_number_that_would_wrap_is_refused(tmp_path: Path, name: str, what: str) -> None:
    source = adjlist(tmp_path / "source", **{name: WRAPS})
    with pytest.raises(DataError, match=rf"{name}\.npy, row 2: the {what} 18446744073709551611 is too large"):
        importing(tmp_path, source, "adjlist")


@pytest.mark.parametrize("column", ["id", "time", "label"])
def test_an_unsigned_column_that_would_wrap_is_refused(tmp_path: Path, column: str) -> None:
    vertices = VERTICES | {column: pa.array([1, 2, 2**64 - 5, 4], pa.uint64())}
    with pytest.raises(DataError, match=r"vertices\.parquet, row 2: the .* 18446744073709551611 is too large"):
        importing(tmp_path, table(tmp_path / "source", "parquet", vertices), "table")


def test_moments_in_the_place_of_years_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lgl_bench.streams.raw.MOST_TIMES", 2)
    with pytest.raises(DataError, match=r"t\.npy has 4 different times.*round them"):
        importing(tmp_path, adjlist(tmp_path / "source"), "adjlist")


@pytest.mark.parametrize("index", [3_000_000_000, -1, 2**63 - 1])
def test_a_feature_index_that_no_int32_holds_is_refused(tmp_path: Path, index: int) -> None:
    lists = {"feature_index": [[0], [index], [1, 2], []], "feature_value": [[1.0], [1.0], [1.0, 2.0], []]}
    with pytest.raises(DataError, match=f"a feature index lies outside 0 to 2147483646: {index}"):
        importing(tmp_path, table(tmp_path / "source", "parquet", VERTICES | lists), "table")


def npy(header: str, content: bytes) -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


def archive() -> bytes:
    sink = io.BytesIO()
    np.savez(sink, np.arange(5))
    return sink.getvalue()


HEADER = "{'descr': '<i8', 'fortran_order': False, 'shape': (5,), }"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (npy(HEADER.replace("(5,)", f"({HUGE}, {HUGE})"), bytes(40)), "its header promises 32,000,000,000,000,000,000"),
        (npy(HEADER, bytes(32)), "its header promises 40 bytes of numbers, it has 32"),
        (npy(HEADER, bytes(48)), "its header promises 40 bytes of numbers, it has 48"),
        (npy(HEADER.replace("(5,)", "(-5,)"), bytes(40)), "the shape"),
        (npy(HEADER.replace("<i8", "|O"), bytes(40)), "of type object; every value must be a number"),
        (npy(HEADER.replace("<i8", "|V8"), bytes(40)), "every value must be a number"),
        (npy(HEADER.replace("<i8", "<M8[D]"), bytes(40)), "every value must be a number"),
        (npy("(" * 500, bytes(40)), "cannot be read"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + bytes(40), "cannot be read"),
        (archive(), "cannot be read"),
        (b"", "cannot be read"),
    ],
    ids=["shape", "short", "long", "negative", "object", "void", "date", "nested", "header", "npz", "empty"],
)
def test_an_npy_whose_header_its_bytes_do_not_bear_out_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    source = adjlist(tmp_path / "source")
    (source / "y.npy").write_bytes(content)
    with pytest.raises(DataError, match=r"y\.npy") as raised:
        importing(tmp_path, source, "adjlist")
    assert told in str(raised.value)
    assert_nothing_left(tmp_path)


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


@pytest.mark.parametrize("value", [0, "x"])
def test_a_parquet_file_whose_few_bytes_stand_for_many_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    monkeypatch.setattr(parquet, "_FLOOR", 2**20)
    source = table(tmp_path / "source", "parquet")
    pq.write_table(pa.table({"source": [value] * 10**6, "target": [value] * 10**6}), source / "edges.parquet")
    with pytest.raises(DataError, match=r"edges\.parquet has .* bytes, but its columns would take [\d,]+ bytes"):
        importing(tmp_path, source, "table")


def test_long_names_of_classes_stay_coded_as_they_are_in_the_file(tmp_path: Path) -> None:
    rows = 10_000
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * 500_000]))
    source = table(tmp_path / "source", "parquet", {"id": list(range(rows)), "label": names}, {k: [0] for k in EDGES})
    stream = importing(tmp_path, source, "table")  # spelled out, the labels are 5 GB
    assert stream.info.class_names == ("x" * 500_000,) and stream.labels.max() == 0


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"id": pa.array([[1], [2], [3], [4]])}, "'id' of type list<"),
        ({"label": pa.array([{"a": 1}] * 4)}, "'label' of type struct<"),
        ({"label": pa.array([date(2001, 1, 1)] * 4)}, "'label' of type"),
        ({"split": [1, 2, 3, 4]}, "'split' of type int64, where a word per row must be"),
        ({"features": pa.array([["a"], ["b"], ["c"], ["d"]])}, "'features' of type list<"),
        ({"feature_index": [[0.5]] * 4, "feature_value": [[1.0]] * 4}, "'feature_index' of type list<"),
    ],
    ids=["list", "struct", "date", "number", "words", "fractions"],
)
def test_a_column_of_another_type_is_named_with_both(tmp_path: Path, columns: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError, match=r"vertices\.parquet has a column") as raised:
        importing(tmp_path, table(tmp_path / "source", "parquet", VERTICES | columns), "table")
    assert told in str(raised.value)


def test_a_pattern_that_fits_every_column_makes_no_feature_of_label_or_time(tmp_path: Path) -> None:
    numbers = {"id": [1, 2, 3, 4], "time": [1, 2, 3, 4], "label": [0, 1, 0, 1], "x": [0.5, 1, 2, 3]}
    source = table(tmp_path / "source", "parquet", numbers, {"source": [1], "target": [2]})
    assert importing(tmp_path, source, "table", features="*").features[:, 0].tolist() == [0.5, 1, 2, 3]


@pytest.mark.parametrize("odd", ["pipe", "device", "loop", "folder"])
def test_what_is_no_plain_file_is_not_read(tmp_path: Path, odd: str) -> None:
    source = adjlist(tmp_path / "source")
    path = source / "adjlist.txt"
    path.unlink()
    make: dict[str, Callable[[], object]] = {
        "pipe": lambda: os.mkfifo(path),
        "device": lambda: path.symlink_to("/dev/zero"),
        "loop": lambda: path.symlink_to(path.name),
        "folder": path.mkdir,
    }
    make[odd]()
    with pytest.raises(DataError, match=r"adjlist\.txt is missing"):
        importing(tmp_path, source, "adjlist")


# streams on disk, by somebody who makes the checksums right


def stored(tmp_path: Path, kind: str = "sparse") -> Path:
    recipe = Recipe(
        times=(2000, 2001), growth=(6, 4), births=(2, 1), birth_size=2, features=5, words=3, feature_kind=kind,
        split=True,
    )  # fmt: skip
    return write_stream(generate(recipe, StreamInfo("mine", t0=2000)), tmp_path / "mine")


def reseal(folder: Path, **changes: Any) -> None:
    path = folder / "stream.json"
    described = json.loads(path.read_text()) | changes
    described["files"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in described["files"]}
    path.write_text(json.dumps(described | {"sha256": seal(described)}))


def change(folder: Path, file: str, how: Callable[[pa.Table], pa.Table]) -> None:
    path = folder / "snapshots" / "time=2001" / f"{file}.parquet"
    pq.write_table(how(pq.read_table(path, partitioning=None)), path)
    reseal(folder)


def replaced(name: str, values: Any) -> Callable[[pa.Table], pa.Table]:
    def how(found: pa.Table) -> pa.Table:
        column = values(found) if callable(values) else pa.array([values] * found.num_rows)
        return found.set_column(found.column_names.index(name), name, column)

    return how


DAMAGE: dict[str, tuple[str, Callable[[pa.Table], pa.Table], str]] = {
    "another type": ("vertices", replaced("id", "seven"), "has a column 'id' of type text, where int64 must be"),
    "a smaller type": ("edges", replaced("source", lambda t: t["source"].cast(pa.int32())), "'source' of type int32"),
    "a list": ("vertices", replaced("label", [1]), "has a column 'label' of type list<"),
    "a column twice": ("vertices", lambda t: t.append_column("id", t["id"]), "has the column 'id' 2 times"),
    "a column missing": ("edges", lambda t: t.drop_columns(["target"]), "has no column 'target'"),
    "other features": ("vertices", replaced("feature_index", lambda t: t["feature_value"]), "'feature_index' of type"),
    "empty places": ("vertices", replaced("label", lambda t: pa.nulls(t.num_rows, pa.int64())), "an empty place"),
    "an unknown label": ("vertices", replaced("label", HUGE), f"has the label {HUGE}; there are 3 classes"),
    "a negative label": ("vertices", replaced("label", -2), "has the label -2"),
    "ids that fall": ("vertices", replaced("id", lambda t: pa.array(t["id"].to_pylist()[::-1])), "do not ascend"),
    "ids of another year": ("vertices", replaced("id", lambda t: pa.array(range(t.num_rows))), "id in two years"),
    "an unknown split": ("vertices", replaced("split", lambda t: pa.array([9] * t.num_rows, pa.int8())), "a split"),
    "an unknown end": ("edges", replaced("target", HUGE), "an edge to a vertex that is not in the stream"),
    "an edge of another year": ("edges", replaced("source", 0), "does not go from a vertex of its year"),
    "edges out of order": ("edges", lambda t: t.take(list(range(t.num_rows))[::-1]), "edges twice or out of order"),
    "rows missing": ("vertices", lambda t: t.slice(1), "have 15 vertices, stream.json says 16"),
    "no rows": ("edges", lambda t: t.slice(0, 0), "edges, stream.json says"),
}


@pytest.mark.parametrize(("file", "how", "told"), DAMAGE.values(), ids=DAMAGE.keys())
def test_a_stream_whose_checksums_are_right_and_whose_arrays_are_wrong_is_refused(
    tmp_path: Path, file: str, how: Callable[[pa.Table], pa.Table], told: str
) -> None:
    folder = stored(tmp_path)
    change(folder, file, how)
    with pytest.raises(DataError, match="import the stream again") as raised:
        open_stream(folder)
    assert told in str(raised.value)
    assert verify_stream(folder) == [str(raised.value)]


@pytest.mark.parametrize(
    ("index", "value"),
    [([9], [1.0]), ([-1], [1.0]), ([2, 1], [1.0, 1.0]), ([1], [0.0]), ([1], [float("nan")]), ([1], [1.0, 2.0])],
    ids=["outside", "negative", "falling", "zero", "nan", "lengths"],
)
def test_sparse_features_that_are_not_as_they_should_be_are_refused(
    tmp_path: Path, index: list[int], value: list[float]
) -> None:
    folder = stored(tmp_path)
    rows = pa.list_(pa.int32()), pa.list_(pa.float32())
    change(folder, "vertices", replaced("feature_index", lambda t: pa.array([index] * t.num_rows, rows[0])))
    change(folder, "vertices", replaced("feature_value", lambda t: pa.array([value] * t.num_rows, rows[1])))
    with pytest.raises(DataError, match=r"time=2001/vertices\.parquet has .*feature"):
        open_stream(folder)


def test_dense_features_of_another_width_are_refused(tmp_path: Path) -> None:
    folder = stored(tmp_path, "dense")
    wide = pa.list_(pa.float32(), 6)
    change(folder, "vertices", replaced("features", lambda t: pa.array([[1.0] * 6] * t.num_rows, wide)))
    with pytest.raises(DataError, match=r"a column 'features' of type .*, where a list of 5 float32 must be"):
        open_stream(folder)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("vertices", 2**60), ("vertices", "sixteen"), ("vertices", -1), ("edges", 1.5), ("features", 2**40),
        ("feature_kind", "odd"), ("times", [2001, 2000]), ("times", ["2000", "2001"]), ("times", []), ("t0", "2000"),
        ("class_names", [1, 2, 3]), ("class_names", None), ("has_split", "yes"), ("files", {}), ("name", None),
    ],
)  # fmt: skip
def test_a_description_with_another_value_is_refused_with_its_field(tmp_path: Path, field: str, value: object) -> None:
    folder = stored(tmp_path)
    described = json.loads((folder / "stream.json").read_text()) | {field: value}
    (folder / "stream.json").write_text(json.dumps(described | {"sha256": seal(described)}))
    with pytest.raises(DataError, match=r"stream\.json: .*; import the stream again"):
        open_stream(folder)
    assert len(verify_stream(folder)) == 1


def test_a_description_that_nests_without_end_is_refused(tmp_path: Path) -> None:
    folder = stored(tmp_path)
    (folder / "stream.json").write_text("[" * 100_000)
    with pytest.raises(DataError, match=r"stream\.json cannot be read"):
        open_stream(folder)


# names and recipes


@pytest.mark.parametrize(
    "name",
    ["my stream", "two\nlines", "end\n", "tab\t", "bell\a", "../up", "a/b", "a\\b", ".", "-x", "", "x" * 101, "a(b"],
)
def test_a_name_that_is_not_one_word_is_refused(tmp_path: Path, name: str) -> None:
    source = table(tmp_path / "source", "csv")
    with pytest.raises(UsageError, match="cannot be a stream's name; use letters, digits"):
        catalogue.import_stream(name, source, tmp_path / "data")
    assert_nothing_left(tmp_path)


@pytest.mark.parametrize("name", ["../mine", "x" * 5000, "a\0b", "/etc"])
def test_a_stream_is_not_looked_for_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    stored(tmp_path)
    (tmp_path / "data").mkdir()
    with pytest.raises(UsageError, match="unknown stream"):
        catalogue.load(name, tmp_path / "data")


@pytest.mark.parametrize(
    "change", ["features=2000000000", "links=1e9", "skew=1000000000", "birth_size=100000000", "words=1000000000"]
)
def test_a_recipe_that_would_fill_the_memory_is_refused(change: str) -> None:
    name = "ogb-arxiv-twin" if "features" in change else "cora-twin"
    with pytest.raises(UsageError, match="it would have .*; at most .* are generated"):
        catalogue.load(f"{name}({change})")
