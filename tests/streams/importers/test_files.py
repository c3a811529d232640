"""What all layouts share: files that are missing, cut short, not to be read, or that say more than they hold."""

from __future__ import annotations

import builtins
import errno
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lgl_bench.core.errors import DataError, UnknownNameError
from tests.support.importing import (
    HUGE,
    assert_nothing_left,
    assert_refused,
    from_adjlist,
    from_ogb,
    from_planetoid,
    from_table,
    import_,
    importing,
    read,
)
from tests.support.stream_files import adjlist, ogb, table, zipped


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


def test_an_unknown_format_is_answered_with_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown format 'adjlits'; did you mean 'adjlist'?"):
        read("adjlits", tmp_path)


def test_files_in_a_sub_folder_are_found(tmp_path: Path) -> None:
    table(tmp_path / "deep", "csv")
    (tmp_path / "above").mkdir()
    shutil.move(tmp_path / "deep", tmp_path / "above")
    assert read("table", tmp_path / "above").num_vertices == 4
