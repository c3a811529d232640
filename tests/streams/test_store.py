"""Streams on disk: whole or not there at all, and every later change is noticed."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from lgl_bench.core.errors import DataError
from lgl_bench.streams import store
from lgl_bench.streams.checksum import prefix_checksums
from lgl_bench.streams.description import seal
from lgl_bench.streams.store import open_stream, write_stream
from lgl_bench.streams.stream import Stream, same
from tests.support.command_line import run
from tests.support.importing import assert_damaged, assert_refused, import_
from tests.support.plain_graphs import Plain, plains
from tests.support.stream_files import VERTICES, table


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


def test_arrays_that_do_not_give_the_checksum_are_caught_though_every_file_is_as_noted(
    imported: Path,
) -> None:
    path = imported / "stream.json"
    described = json.loads(path.read_text()) | {"stream_checksum": "0" * 64}
    path.write_text(json.dumps(described | {"sha256": seal(described)}))
    assert_damaged(imported, "the stream_checksum of the arrays is not")


@given(plains())
def test_writing_and_reading_gives_the_same_stream_and_checksum(plain: Plain) -> None:
    stream = plain.stream()
    with tempfile.TemporaryDirectory() as folder:
        written = open_stream(write_stream(stream, Path(folder) / "x"))
    assert same(stream, written)
    assert written.info == stream.info
    assert prefix_checksums(written) == prefix_checksums(stream)


def test_features_can_be_left_out_when_a_stream_is_opened(small: Stream, tmp_path: Path) -> None:
    without = open_stream(write_stream(small, tmp_path / "x"), features=False)
    assert without.features.shape == (4, 0)
    assert same(replace(small, features=np.zeros((4, 0), dtype=np.float32)), without)
