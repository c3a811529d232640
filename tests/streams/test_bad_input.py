"""Bad input, as a user meets it: one clear error, an exit code that is not 0, and no half-written stream."""

from __future__ import annotations

import builtins
import errno
import io
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from makers import EDGES, VERTICES, adjlist, ogb, onehot, planetoid, python2_pickle, table, zipped

from lgl_bench.cli import main
from lgl_bench.core import parquet
from lgl_bench.core.errors import DataError
from lgl_bench.streams import catalogue, store
from lgl_bench.streams.description import seal
from lgl_bench.streams.store import open_stream

NAN, INF = float("nan"), float("inf")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def import_(tmp_path: Path, source: Path, *options: str) -> Result:
    return run("data", "import", "mine", "--from", source, "--data-dir", tmp_path / "data", *options)


def left_behind(tmp_path: Path) -> list[str]:
    return sorted(str(path.relative_to(tmp_path / "data")) for path in (tmp_path / "data").rglob("*"))


def assert_refused(result: Result, tmp_path: Path, *phrases: str, code: int = 3) -> None:
    """One paragraph on stderr that holds every phrase, the right exit code, and nothing written."""
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.startswith("lgl-bench: ")
    assert "Traceback" not in result.stderr
    for phrase in phrases:
        assert phrase in result.stderr
    assert left_behind(tmp_path) == []


def from_table(vertices: dict[str, Any] = {}, edges: dict[str, Any] = {}, kind: str = "csv") -> Any:  # noqa: B006
    return lambda folder: (table(folder, kind, VERTICES | vertices, EDGES | edges), ("--format", "table"))


def from_adjlist(lines: str | None = None, **changes: Any) -> Any:
    text = {} if lines is None else {"lines": lines}
    return lambda folder: (adjlist(folder, **text, **changes), ("--format", "adjlist"))


def from_ogb(**changes: Any) -> Any:
    return lambda folder: (ogb(folder, **changes), ("--format", "ogb"))


def from_planetoid(**changes: bytes) -> Any:
    options = ("--format", "planetoid", "--option", "prefix=toy")
    return lambda folder: (planetoid(folder, **changes), options)


def sparse_x(value: float) -> np.ndarray[Any, Any]:
    features = np.zeros((5, 40))
    features[3, 7] = value
    return features


def dense_x(value: float) -> np.ndarray[Any, Any]:
    features = np.ones((5, 4))
    features[3, 2] = value
    return features


def lists(value: float) -> dict[str, Any]:
    return {"feature_index": [[0], [4], [1, 2], []], "feature_value": [[1.0], [1.0], [1.0, value], []]}


CASES: dict[str, tuple[Any, tuple[str, ...]]] = {
    # an edge to a vertex that does not exist
    "missing vertex, csv": (
        from_table(edges={"target": [10, 30, 31, 10, 5]}),
        ("edges.csv, line 4: the edge 10 - 31 names 31", "not a vertex of vertices.csv", "add the vertex or"),
    ),
    "missing vertex, parquet": (
        from_table(edges={"source": [30, 6, 10, 10, 20]}, kind="parquet"),
        ("edges.parquet, line 2: the edge 6 - 30 names 6", "add the vertex or remove the edge"),
    ),
    "missing vertex, adjlist": (
        from_adjlist("4 0 2\n\n1 5\n"),
        ("adjlist.txt, line 3: the edge 1 - 5 names 5", "add the vertex or remove the edge"),
    ),
    "missing vertex, ogb": (
        from_ogb(edge=[[0, 1], [1, 0], [4, 2], [5, 3], [0, 4]]),
        ("edge.csv.gz, line 4: the edge 5 - 3 names 5", "add the vertex or remove the edge"),
    ),
    "missing vertex, planetoid": (
        from_planetoid(graph=python2_pickle({0: [1], 1: [10]})),
        ("ind.toy.graph, line 2: the edge 1 - 10 names 10", "add the vertex or remove the edge"),
    ),
    # negative ids
    "negative id": (
        from_table({"id": [30, 10, -20, 5]}),
        ("vertices.csv, row 2: vertex id -20 is negative; ids start at 0",),
    ),
    "negative end": (
        from_table(edges={"source": [30, 5, -1, 10, 20]}),
        ("edges.csv, line 4: the edge -1 - 30 names -1, which is negative", "remove the edge"),
    ),
    "negative neighbour": (
        from_adjlist("4 0 2\n1 -3\n"),
        ("adjlist.txt, line 2: the edge 1 - -3 names -3, which is negative", "remove the edge"),
    ),
    # ids that are not ids
    "repeated id": (
        from_table({"id": [30, 10, 20, 10]}),
        ("vertices.csv, row 3: vertex id 10 stands there a second time", "must be distinct"),
    ),
    "id without a value": (
        from_table({"id": [30, None, 20, 5]}),
        ("vertices.csv, row 1: 'id' is empty", "every row needs one"),
    ),
    "id that is a word": (
        from_table({"id": ["a", "b", "c", "d"]}),
        ("vertices.csv, row 0: the vertex id 'a' is no number", "use whole numbers"),
    ),
    "word among neighbours": (
        from_adjlist("4 0 2\n1 three\n"),
        ("adjlist.txt, line 2:", "three", "a vertex id and the ids of its neighbours"),
    ),
    # lengths of X, y, t that differ
    "X too short": (
        from_adjlist(X=np.ones((4, 3))),
        ("X.npy, y.npy and t.npy in", "have 4, 5 and 5 rows", "must be equally long"),
    ),
    "y too long": (from_adjlist(y=np.zeros(6)), ("have 5, 6 and 5 rows", "must be equally long")),
    "t too short": (from_adjlist(t=np.zeros(2)), ("have 5, 5 and 2 rows", "must be equally long")),
    "X of one dimension": (from_adjlist(X=np.ones(5)), ("X with a row of features each",)),
    "years too few": (
        from_ogb(node_year=[2005, 1999, 2020, 1999]),
        ("node-label.csv.gz has 5 vertices, but there are 4 times in node_year.csv.gz", "exactly one"),
    ),
    "rows of features too few": (
        from_ogb(**{"node-feat": [[1.0, 2.0]] * 4}),
        ("node-label.csv.gz has 5 vertices, but there are 4 features in node-feat.csv.gz", "exactly one"),
    ),
    "planetoid labels too few": (
        from_planetoid(ally=python2_pickle(onehot(0, 1, 2))),
        ("ind.toy.allx has 5 rows, ind.toy.ally the shape (3, 3)", "Get the files again"),
    ),
    # NaN or infinite features
    "nan in dense X": (
        from_adjlist(X=dense_x(NAN)),
        ("X.npy, row 3, feature 2: the value is nan", "must be finite"),
    ),
    "inf in dense X": (
        from_adjlist(X=dense_x(-INF)),
        ("X.npy, row 3, feature 2: the value is -inf", "must be finite"),
    ),
    "too large for a float": (
        from_adjlist(X=dense_x(1e300)),
        ("X.npy, row 3, feature 2: the value is inf", "must be finite"),
    ),
    "nan in sparse X": (
        from_adjlist(X=sparse_x(NAN)),
        ("X.npy, row 3, feature 7: the value is nan", "must be finite"),
    ),
    "inf in sparse X": (
        from_adjlist(X=sparse_x(INF)),
        ("X.npy, row 3, feature 7: the value is inf", "must be finite"),
    ),
    "nan in sparse lists": (
        from_table(lists(NAN), kind="parquet"),
        ("vertices.parquet, row 2, feature 2: the value is nan", "must be finite"),
    ),
    "inf in a list": (
        from_table({"features": [[1.0, 2.0], [1.0, INF], [1.0, 2.0], [1.0, 2.0]]}, kind="parquet"),
        ("vertices.parquet, row 1, feature 1: the value is inf", "must be finite"),
    ),
    "nan in an ogb feature": (
        from_ogb(**{"node-feat": [[1, 2], [1, 2], [1, "nan"], [1, 2], [1, 2]]}),
        ("node-feat.csv.gz, row 2, feature 1: the value is nan", "must be finite"),
    ),
    "features that are words": (
        from_adjlist(X=np.array([["a", "b"]] * 5)),
        ("X.npy: its values are of type", "must be a number"),
    ),
    # times that are not whole numbers
    "half a year": (
        from_table({"time": [2001, 2000, 2001.5, 1999]}),
        ("vertices.csv, row 2: the time 2001.5 is not a whole number", "mend the row"),
    ),
    "a year without end": (
        from_table({"time": [2001.0, INF, 2001.0, 1999.0]}, kind="parquet"),
        ("vertices.parquet, row 1: the time inf is not a whole number", "mend the row"),
    ),
    "no year": (
        from_table({"time": [2001, 2000, None, 1999]}),
        ("vertices.csv, row 2: 'time' is empty", "every row needs one"),
    ),
    "a word for a year": (
        from_table({"time": ["soon", "2000", "2001", "1999"]}),
        ("vertices.csv, row 0: the time 'soon' is no number", "use whole numbers"),
    ),
    "a date for a year": (
        from_table({"time": ["2001-05-06", "2000-01-01", "2001-01-01", "1999-12-31"]}),
        ("vertices.csv, row 0: the time 2001-05-06 is a date", "use whole numbers"),
    ),
    "half a year in t": (
        from_adjlist(t=np.array([2003, 2001, 2002, 2001.25, 2000])),
        ("t.npy, row 3: the time 2001.25 is not a whole number", "mend the row"),
    ),
    "half a year in ogb": (
        from_ogb(node_year=[2005, 1999.5, 2020, 1999, 2004]),
        ("node_year.csv.gz, row 1: the time 1999.5 is not a whole number", "mend the row"),
    ),
    "half a label": (
        from_adjlist(y=np.array([2, 0, 1, 0.5, 2])),
        ("y.npy, row 3: the label 0.5 is not a whole number", "mend the row"),
    ),
    # an empty vertex table
    "no rows, csv": (
        from_table({key: [] for key in VERTICES}),
        ("vertices.csv has no vertices", "needs at least one"),
    ),
    "no rows, parquet": (
        from_table({key: pa.array([], pa.string()) for key in VERTICES}, kind="parquet"),
        ("vertices.parquet has no vertices", "needs at least one"),
    ),
    "no rows, adjlist": (
        from_adjlist("", X=np.ones((0, 3)), y=np.zeros(0), t=np.zeros(0)),
        ("y.npy has no vertices", "needs at least one"),
    ),
    "no rows, ogb": (from_ogb(**{"node-label": []}), ("node-label.csv.gz cannot be read (Empty CSV file)",)),
}


@pytest.mark.parametrize(("make", "phrases"), CASES.values(), ids=CASES.keys())
def test_bad_rows_are_refused_with_file_row_and_remedy(
    tmp_path: Path, make: Callable[[Path], tuple[Path, tuple[str, ...]]], phrases: tuple[str, ...]
) -> None:
    source, options = make(tmp_path / "source")
    assert_refused(import_(tmp_path, source, *options), tmp_path, *phrases)


@pytest.mark.parametrize(
    ("make", "file"),
    [
        (from_ogb(), "raw/edge.csv.gz"),
        (from_ogb(), "raw/node-label.csv.gz"),
        (from_ogb(), "raw/node-feat.csv.gz"),
        (from_adjlist(), "X.npy"),
        (from_adjlist(), "t.npy"),
        (from_table(kind="parquet"), "vertices.parquet"),
        (from_table(kind="parquet"), "edges.parquet"),
        (from_planetoid(), "ind.toy.allx"),
        (from_planetoid(), "ind.toy.graph"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("keep", [0.0, 0.5, 0.95])
def test_a_file_cut_short_is_named_with_the_advice_to_get_it_again(
    tmp_path: Path, make: Any, file: str, keep: float
) -> None:
    source, options = make(tmp_path / "source")
    whole = (source / file).read_bytes()
    (source / file).write_bytes(whole[: int(keep * len(whole))])
    result = import_(tmp_path, source, *options)
    assert_refused(result, tmp_path, f"{source / file} cannot be read", "cut short")
    assert "again" in result.stderr


@pytest.mark.parametrize("format_name", ["ogb", "adjlist"])
@pytest.mark.parametrize("keep", [0.0, 0.5, 0.95])
def test_a_zip_cut_short_is_named_with_the_advice_to_get_it_again(
    tmp_path: Path, format_name: str, keep: float
) -> None:
    folder = (ogb if format_name == "ogb" else adjlist)(tmp_path / "source")
    archive = zipped(folder, tmp_path / "set.zip")
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(keep * len(whole))])
    result = import_(tmp_path, archive, "--format", format_name)
    assert_refused(result, tmp_path, f"the archive {archive} is damaged or cut short", "fetch it again")


class Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (os.system, (f"touch {self.path}",))


def test_a_pickle_that_names_something_forbidden_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    source, options = from_planetoid(allx=pickle.dumps(Touch(proof), protocol=2))(tmp_path / "source")
    result = import_(tmp_path, source, *options)
    assert_refused(result, tmp_path, "ind.toy.allx names", "system", "refused", "from a source you trust")
    assert not proof.exists()


def test_an_array_of_pickled_objects_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    source = adjlist(tmp_path / "source")
    np.save(source / "y.npy", np.array([Touch(proof)] * 5, dtype=object), allow_pickle=True)
    assert_refused(import_(tmp_path, source, "--format", "adjlist"), tmp_path, "y.npy: its values are of type object")
    assert not proof.exists()


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('name = "toy"\ncolour = "red"\n', ("field 'colour'", "Extra inputs are not permitted", "mend or")),
        ('name = "toy"\n[twin]\ntimes = [1]\ncolour = 1\n', ("field 'twin.", "mend or remove it")),
        ('name = "toy\n', ("is no TOML", "line 6")),
        ('name = "To Y"\n', ("field 'name'", "mend or remove it")),
    ],
)
def test_a_manifest_with_an_unknown_field_is_named_with_the_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, phrases: tuple[str, ...]
) -> None:
    rest = 'title = "Toy"\ndescription = ""\nformat = "table"\nlicence = ""\ncitation = ""\n'
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "toy.toml").write_text(rest + text)
    monkeypatch.setattr(catalogue, "shipped", lambda folder: tmp_path / "manifests")
    source = table(tmp_path / "source", "csv")
    phrases = (f"the manifest '{tmp_path / 'manifests' / 'toy.toml'}'", *phrases)
    assert_refused(import_(tmp_path, source), tmp_path, *phrases)


# no permission, a full disk


@pytest.mark.parametrize(
    ("make", "file"),
    [
        (from_ogb(), "edge.csv.gz"),
        (from_adjlist(), "X.npy"),
        (from_adjlist(), "adjlist.txt"),
        (from_planetoid(), "ind.toy.allx"),
        (from_planetoid(), "ind.toy.test.index"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_that_may_not_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Any, file: str
) -> None:
    source, options = make(tmp_path / "source")
    really = builtins.open

    def deny(path: Any, *arguments: Any, **keywords: Any) -> Any:
        if not isinstance(path, int) and Path(os.fsdecode(path)).name == file:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return really(path, *arguments, **keywords)

    monkeypatch.setattr(builtins, "open", deny)
    monkeypatch.setattr(io, "open", deny)
    result = import_(tmp_path, source, *options)
    monkeypatch.undo()
    assert_refused(result, tmp_path, file, "Permission denied")


def test_a_table_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(parquet.pq, "ParquetFile", deny)
    result = import_(tmp_path, table(tmp_path / "source", "parquet"))
    assert_refused(result, tmp_path, "vertices.parquet cannot be read", "Permission denied")


@pytest.mark.parametrize(
    ("code", "phrases"),
    [
        (errno.EACCES, ("Permission denied", "choose another --data-dir")),
        (errno.ENOSPC, ("No space left on device", "free some space")),
    ],
    ids=["no permission", "full disk"],
)
@pytest.mark.parametrize("at", ["the first file", "a later file", "stream.json", "the move", "the folder"])
def test_a_stream_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, phrases: tuple[str, ...], at: str
) -> None:
    source = table(tmp_path / "source", "csv")
    calls: list[Path] = []
    write, write_text, rename, mkdir = store.pq.write_table, Path.write_text, Path.rename, Path.mkdir

    def fail(path: Path) -> None:
        raise OSError(code, os.strerror(code), str(path))

    def write_table(content: Any, path: Path, **options: Any) -> None:
        calls.append(path)
        write(content, path, **options)
        if at == "the first file" or (at == "a later file" and len(calls) == 3):
            fail(path)

    def json_too(self: Path, *arguments: Any, **options: Any) -> Any:
        if at == "stream.json" and self.name == "stream.json":
            fail(self)
        return write_text(self, *arguments, **options)

    def moving(self: Path, target: Any) -> Any:
        if at == "the move" and self.suffix == ".partial":
            fail(self)
        return rename(self, target)

    def making(self: Path, *arguments: Any, **options: Any) -> Any:
        if at == "the folder" and self == tmp_path / "data":
            fail(self)
        return mkdir(self, *arguments, **options)

    monkeypatch.setattr(store.pq, "write_table", write_table)
    monkeypatch.setattr(Path, "write_text", json_too)
    monkeypatch.setattr(Path, "rename", moving)
    monkeypatch.setattr(Path, "mkdir", making)
    result = import_(tmp_path, source)
    monkeypatch.undo()
    assert_refused(result, tmp_path, f"mine could not be written to {tmp_path / 'data' / 'mine'}", *phrases)


def test_a_replacement_that_cannot_be_moved_into_place_leaves_the_stream_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_(tmp_path, table(tmp_path / "before", "csv"))
    rename = Path.rename

    def moving(self: Path, target: Any) -> Any:
        if self.suffix == ".partial":
            raise OSError(errno.EACCES, "Permission denied", str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", moving)
    monkeypatch.setattr("lgl_bench.core.files._exchange", lambda one, other: False)
    result = import_(tmp_path, table(tmp_path / "after", "csv", VERTICES | {"time": [1, 2, 3, 4]}), "--force")
    assert result.exit_code == 3
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["mine"]
    assert open_stream(tmp_path / "data" / "mine").times == (1999, 2000, 2001)


def test_a_data_folder_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    source = table(tmp_path / "source", "csv")
    result = run("data", "import", "mine", "--from", source, "--data-dir", tmp_path / "file")
    assert_refused(result, tmp_path, str(tmp_path / "file"), "choose another --data-dir")


# a killed import

KILLED = """
import os, signal, sys
from pathlib import Path
from lgl_bench.streams import store
from lgl_bench.streams.catalogue import import_stream

moment, source, folder, force = sys.argv[1:]
calls = []
write, rename = store.pq.write_table, Path.rename

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def write_table(table, path, **options):
    calls.append(path)
    if moment == "between" and len(calls) == 4:
        die()
    write(table, path, **options)
    if moment == "early":
        with open(path, "r+b") as file:
            file.truncate(20)
        die()

def moving(self, target):
    if moment == "before the move" and self.suffix == ".partial":
        die()
    rename(self, target)

store.pq.write_table, Path.rename = write_table, moving
import_stream("mine", Path(source), Path(folder), format_name="table", force=force == "force")
"""


def killed(tmp_path: Path, source: Path, moment: str, force: str = "") -> None:
    command = [sys.executable, "-c", KILLED, moment, str(source), str(tmp_path / "data"), force]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL


@pytest.mark.parametrize("moment", ["early", "between", "before the move"])
def test_a_killed_import_leaves_no_stream_and_the_next_one_clears_up(tmp_path: Path, moment: str) -> None:
    source = table(tmp_path / "source", "csv")
    killed(tmp_path, source, moment)
    assert not (tmp_path / "data" / "mine").exists()
    assert list((tmp_path / "data").glob(".mine.*.partial"))
    assert run("data", "describe", "mine", "--data-dir", tmp_path / "data").exit_code == 2
    listed = json.loads(run("data", "list", "--json", "--data-dir", tmp_path / "data").stdout)
    assert "mine" not in {stream["name"] for stream in listed["streams"]}
    assert import_(tmp_path, source).exit_code == 0
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["mine"]
    assert run("data", "verify", "mine", "--data-dir", tmp_path / "data").exit_code == 0


def test_a_killed_replacement_leaves_the_stream_that_was_there(tmp_path: Path) -> None:
    before = table(tmp_path / "before", "csv")
    after = table(tmp_path / "after", "csv", VERTICES | {"time": [1, 2, 3, 4]})
    import_(tmp_path, before)
    killed(tmp_path, after, "between", "force")
    assert open_stream(tmp_path / "data" / "mine").times == (1999, 2000, 2001)
    assert run("data", "verify", "mine", "--data-dir", tmp_path / "data").exit_code == 0


def test_the_files_of_an_import_that_still_runs_are_left_alone(tmp_path: Path) -> None:
    running = tmp_path / "data" / f".mine.{os.getppid()}.partial"
    running.mkdir(parents=True)
    assert import_(tmp_path, table(tmp_path / "source", "csv")).exit_code == 0
    assert running.is_dir()


# what is dropped, and what is changed afterwards


def test_self_loops_and_repeated_edges_are_dropped_and_counted_in_the_summary(tmp_path: Path) -> None:
    result = import_(tmp_path, table(tmp_path / "source", "csv"))
    assert result.exit_code == 0
    assert "3 edges from 5 lines (dropped: 1 self-loops, 1 repeats)" in result.stdout
    result = import_(tmp_path, tmp_path / "source", "--force", "--json")
    summary = json.loads(result.stdout)
    assert (summary["edges"], summary["edge_lines"]) == (3, 5)
    assert (summary["self_loops"], summary["repeated_edges"]) == (1, 1)


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    """A stream with a sparse feature matrix, imported."""
    assert import_(tmp_path, table(tmp_path / "source", "parquet", VERTICES | lists(2.0))).exit_code == 0
    return tmp_path / "data" / "mine"


def assert_damaged(folder: Path, phrase: str) -> None:
    result = run("data", "verify", "mine", "--data-dir", folder.parent)
    assert result.exit_code == 3
    assert phrase in result.stderr
    assert "mine is damaged" in result.stderr
    as_json = run("data", "verify", "mine", "--json", "--data-dir", folder.parent)
    assert as_json.exit_code == 3
    found = json.loads(as_json.stdout)
    assert found["ok"] is False
    assert any(phrase in damage for damage in found["damage"])


@pytest.mark.parametrize("file", ["vertices", "edges"])
@pytest.mark.parametrize("where", [5, 0.4, -6])
def test_a_changed_byte_is_caught_by_verify_and_by_open(imported: Path, file: str, where: float) -> None:
    path = imported / "snapshots" / "time=2001" / f"{file}.parquet"
    content = bytearray(path.read_bytes())
    at = int(where * len(content)) if isinstance(where, float) else where
    content[at] ^= 1
    path.write_bytes(content)
    assert_damaged(imported, f"snapshots/time=2001/{file}.parquet was changed")
    with pytest.raises(DataError, match=f"time=2001/{file}.parquet was changed .*data verify mine"):
        open_stream(imported)


@pytest.mark.parametrize("content", [b"", b"PAR1"])
def test_a_file_cut_short_afterwards_is_caught_by_verify_and_by_open(imported: Path, content: bytes) -> None:
    path = imported / "snapshots" / "time=1999" / "edges.parquet"
    path.write_bytes(content)
    assert_damaged(imported, "snapshots/time=1999/edges.parquet was changed")
    with pytest.raises(DataError, match=r"time=1999/edges\.parquet"):
        open_stream(imported)


def test_a_missing_file_is_caught_by_verify_and_by_open(imported: Path) -> None:
    (imported / "snapshots" / "time=2000" / "edges.parquet").unlink()
    assert_damaged(imported, "snapshots/time=2000/edges.parquet is missing")
    with pytest.raises(DataError, match=r"time=2000/edges\.parquet cannot be read"):
        open_stream(imported)


def test_a_file_too_many_is_caught_by_verify(imported: Path) -> None:
    (imported / "snapshots" / "time=2002").mkdir()
    (imported / "snapshots" / "time=2002" / "edges.parquet").touch()
    assert_damaged(imported, "snapshots/time=2002/edges.parquet does not belong to the stream")


@pytest.mark.parametrize(
    "change",
    [
        {"t0": 2000},
        {"name": "cora"},
        {"vertices": 3},
        {"class_names": ["fish", "bird"]},
        {"times": [1999, 2000]},
        {"files": {}},
        {"stream_checksum": "0" * 64},
        {"feature_kind": "dense"},
        {"sha256": None},
        {"format_version": 99},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_edited_description_is_caught_by_verify_and_by_open(imported: Path, change: dict[str, object]) -> None:
    path = imported / "stream.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert_damaged(imported, "stream.json")
    with pytest.raises(DataError, match=r"stream\.json .*import"):
        open_stream(imported)


@pytest.mark.parametrize("content", ["", "{", "[]", "3", '{"format_version": 1}', "\0"])
def test_a_damaged_description_is_caught_by_verify_and_by_open(imported: Path, content: str) -> None:
    (imported / "stream.json").write_text(content)
    assert_damaged(imported, "stream.json")
    with pytest.raises(DataError, match=r"stream\.json"):
        open_stream(imported)


def test_a_description_laid_out_differently_is_the_same(imported: Path) -> None:
    path = imported / "stream.json"
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True, indent=4))
    assert run("data", "verify", "mine", "--data-dir", imported.parent).exit_code == 0


def test_arrays_that_do_not_give_the_checksum_are_caught_though_every_file_is_as_noted(
    imported: Path,
) -> None:
    path = imported / "stream.json"
    described = json.loads(path.read_text()) | {"stream_checksum": "0" * 64}
    path.write_text(json.dumps(described | {"sha256": seal(described)}))
    assert_damaged(imported, "do not give the stream_checksum")
