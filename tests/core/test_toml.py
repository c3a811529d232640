from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.toml import LARGEST, read_toml


def refused(path: Path) -> str:
    start = time.monotonic()
    with pytest.raises(UsageError) as caught:
        read_toml(path, "the suite")
    assert time.monotonic() - start < 5, "a file is refused in a moment"
    told = str(caught.value)
    assert told.isprintable() and len(told) < 800
    return told


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'name = "\xff"', "it is no TOML: byte 9 is not UTF-8"),
        (b"name =", "it is no TOML: Invalid value"),
        (b"a = 1\na = 2\n", "it is no TOML: Cannot overwrite a value"),
        (b"a = " + b"1" * 5000, "it is no TOML: Exceeds the limit"),
        (b"a = " + b"[" * 100_000, "it nests more than 16 deep"),
        (b"a = " + b"[" * 50 + b"]" * 50, "it nests more than 16 deep"),
        (b"a = " + b"{b=" * 10_000, "it nests more than 16 deep"),
        (b"a." * 400_000 + b"a = 1", "it nests more than 16 deep"),
        (b"[" + b"'a' . " * 100_000 + b"a]", "it nests more than 16 deep"),
        (b'"\\"".' * 100_000 + b"a = 1", "it nests more than 16 deep"),
        (b"#" * (LARGEST + 1), "it is larger than 1,048,576 bytes"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_one_sentence(tmp_path, data, expected):
    (tmp_path / "a.toml").write_bytes(data)
    told = refused(tmp_path / "a.toml")
    assert "the suite '" in told and "a.toml' cannot be read" in told and expected in told


def test_what_is_no_regular_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    for path in (tmp_path, tmp_path / "pipe.toml", Path("/dev/zero")):
        assert "it is no file" in refused(path)


@pytest.mark.parametrize("name", ["a" * 300 + ".toml", "a\0.toml", "a.toml/b.toml"])
def test_a_path_that_cannot_exist_is_refused_like_one_that_does_not(tmp_path, name):
    (tmp_path / "a.toml").touch()
    assert "cannot be read" in refused(tmp_path / name) or "does not exist" in refused(tmp_path / name)


def test_a_missing_file_is_told_with_what_to_do(tmp_path):
    with pytest.raises(DataError, match="does not exist; make one"):
        read_toml(tmp_path / "a.toml", "the manifest", DataError, missing="make one")


def test_dots_in_texts_and_keys_of_a_few_parts_are_read(tmp_path):
    (tmp_path / "a.toml").write_text('a.b."c.d" = "1.2.3.4, e.g. J. R. R. Tolkien"\n')
    assert read_toml(tmp_path / "a.toml", "the suite") == {"a": {"b": {"c.d": "1.2.3.4, e.g. J. R. R. Tolkien"}}}
