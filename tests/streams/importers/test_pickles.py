from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from lgl_bench.core.errors import DataError
from lgl_bench.streams.importers.pickles import read_pickle
from tests.support.importing import (
    HUGE,
    Touch,
    assert_nothing_left,
    assert_refused,
    from_planetoid,
    import_,
    importing,
    read,
)
from tests.support.stream_files import planetoid, python2_pickle


def test_a_pickle_that_names_something_forbidden_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    source, options = from_planetoid(allx=pickle.dumps(Touch(proof), protocol=2))(tmp_path / "source")
    result = import_(tmp_path, source, *options)
    assert_refused(result, tmp_path, "ind.toy.allx names", "system", "refused", "from a source you trust")
    assert not proof.exists()


OBJECTS = (
    b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n(I4\nI3\nt"
    b"cnumpy\ndtype\n(S'O8'\nI0\nI1\ntR(I3\nS'|'\nNNNI-1\nI-1\nI0\ntbI00\nT\x60\x00\x00\x00" + b"A" * 96 + b"tb."
)
"""An array of twelve objects whose addresses are in the file."""


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


class Command:
    """Pickled, it names a function and its arguments."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_that_names_a_foreign_function_is_refused_and_not_run(tmp_path: Path, protocol: int) -> None:
    import os

    proof = tmp_path / "proof"
    path = tmp_path / "bad"
    path.write_bytes(pickle.dumps(Command(os.system, f"touch {proof}"), protocol=protocol))
    with pytest.raises(DataError, match=r"bad (names (posix|os|nt)\.system|holds the operation).*refused"):
        read_pickle(path)
    assert not proof.exists()


@pytest.mark.parametrize(
    "name", ["builtins\neval", "__builtin__\neval", "numpy\nload", "collections\nnamedtuple", "os\npath.join"]
)
def test_names_outside_the_short_list_are_refused_even_in_known_modules(tmp_path: Path, name: str) -> None:
    path = tmp_path / "bad"
    path.write_bytes(b"\x80\x02c" + name.encode() + b"\n.")
    with pytest.raises(DataError, match="bad names .*refused"):
        read_pickle(path)


def test_a_planetoid_matrix_whose_indices_lie_outside_it_is_refused(tmp_path: Path) -> None:
    matrix = scipy.sparse.csr_matrix(np.eye(5, 12, dtype=np.float32))
    matrix.indices = np.array([0, 1, 2, 3, 10**6], dtype=np.int32)
    planetoid(tmp_path / "raw", allx=python2_pickle(matrix))
    with pytest.raises(DataError, match=r"ind\.toy\.allx holds no sparse matrix"):
        read("planetoid", tmp_path / "raw", prefix="toy")
