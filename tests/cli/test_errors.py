"""What a command says of what nobody raised on purpose, and what it prints of texts that are none."""

from __future__ import annotations

import errno
import io
import json
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.cli.errors import explained
from lgl_bench.cli.output import print_json
from lgl_bench.core.errors import DataError, UsageError


@pytest.fixture
def failing(monkeypatch):
    """A command that raises what it is told to."""

    def give(error: BaseException, *before: str):
        @click.command("fail")
        def fail() -> None:
            raise error

        monkeypatch.setitem(main.commands, "fail", fail)
        return CliRunner().invoke(main, [*before, "fail"])

    return give


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (UsageError("wrong"), 2, "lgl-bench: wrong\n"),
        (DataError("damaged"), 3, "lgl-bench: damaged\n"),
        (
            OSError(errno.ENOSPC, "No space left on device", "a/b"),
            3,
            "lgl-bench: 'a/b' cannot be written or read: No space left on device; free some space and run the same "
            "command again\n",
        ),
        (
            OSError(errno.EROFS, "Read-only file system", b"a/\xff"),
            3,
            "lgl-bench: 'a/\\udcff' cannot be written or read: Read-only file system; choose another place, or get the "
            "right to use this one\n",
        ),
        (
            OSError(errno.ENAMETOOLONG, "File name too long", "x" * 5000),
            3,
            f"lgl-bench: '{'x' * 300}...' (5,000 characters) cannot be written or read: File name too long; choose "
            "another place\n",
        ),
        (
            OSError(errno.ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space left on device"),
            3,
            "lgl-bench: a file cannot be written or read: No space left on device; free some space and run the same "
            "command again\n",
        ),
        (
            OSError("a library's\nown text"),
            3,
            "lgl-bench: a file cannot be written or read: a library's own text; choose another place\n",
        ),
        (
            UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
            3,
            "lgl-bench: a text cannot be read or written: 'utf-8' codec can't decode byte 0xff in position 0: invalid "
            "start byte; give it in UTF-8\n",
        ),
        (RecursionError(), 3, "lgl-bench: what was given nests too deeply to be read\n"),
        (
            MemoryError(),
            1,
            "lgl-bench: the memory does not suffice; take fewer --jobs, a smaller --budget or less data\n",
        ),
        (KeyboardInterrupt(), 130, "lgl-bench: interrupted\n"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_what_can_happen_anywhere_is_one_sentence_with_its_exit_code(failing, error, code, told):
    result = failing(error)
    assert (result.exit_code, result.stderr, result.stdout) == (code, told, "")


def test_debug_shows_the_traceback_above_the_sentence(failing):
    result = failing(OSError(errno.EACCES, "Permission denied", "x"), "--debug")
    assert result.exit_code == 3 and result.stderr.startswith("Traceback")
    assert "raise error" in result.stderr and "\nlgl-bench: 'x' cannot be written" in result.stderr


def test_what_nobody_foresaw_keeps_its_traceback(failing):
    assert explained(KeyError("auroc")) is None
    assert isinstance(failing(KeyError("auroc")).exception, KeyError)


def test_output_that_cannot_be_written_is_one_sentence_and_nothing_more():
    with open("/dev/full", "w") as full:  # noqa: PTH123
        result = subprocess.run(
            [sys.executable, "-m", "lgl_bench.cli", "data", "list"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert result.returncode == 3
    assert result.stderr == (
        "lgl-bench: a file cannot be written or read: No space left on device; free some space and run the same "
        "command again\n"
    )


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
@pytest.mark.parametrize("text", ["caf\u00e9", "\udcff", "a \ud800 b", "\u2028", "\U0001f600"])
def test_json_is_read_back_as_it_was_whatever_the_text_and_the_terminal(monkeypatch, encoding, text):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    print_json({"text": text})
    sys.stdout.flush()
    assert json.loads(raw.getvalue().decode(encoding)) == {"text": text}


def test_a_name_that_is_no_text_is_printed_by_its_bytes(tmp_path):
    result = CliRunner().invoke(main, ["data", "list", "--data-dir", str(tmp_path / "a\udcff")])
    assert result.exit_code == 0 and "a\\udcff" in result.stdout
