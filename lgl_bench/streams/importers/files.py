"""What importers share: finding files, and reading arrays and option tables with clear errors."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse
from pydantic import BaseModel, ConfigDict, ValidationError

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.files import temporary_folder
from lgl_bench.core.types import Sparse
from lgl_bench.core.validation import first_problem
from lgl_bench.streams.download.archive import extract_zip

MAX_FEATURES = 2**31 - 1
"""Columns of features: their numbers are kept as int32."""
_LONGEST_HEADER = 1 << 16


class Options(BaseModel):
    """Base of an importer's options: an unknown one is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def read(cls, given: dict[str, Any], format_name: str) -> Self:
        """The options of a manifest or a command line, checked."""
        try:
            return cls(**given)
        except ValidationError as error:
            allowed = ", ".join(sorted(cls.model_fields)) or "none"
            raise UsageError(
                f"the options of the format {format_name}: {first_problem(error)}; its options are: {allowed}"
            ) from error


def find_file(folder: Path, *names: str) -> Path:
    """The first of `names` that lies in `folder` or one of its sub-folders."""
    if not folder.exists():
        raise DataError(f"{folder} does not exist; --from names the folder or archive with the data")
    if not folder.is_dir():
        raise DataError(f"{folder} is a file; --from needs the folder that holds {' or '.join(names)}")
    for name in names:
        # Only a plain file: reading a pipe or a device under that name would never end.
        for path in [folder / name, *sorted(folder.rglob(name))]:
            if path.is_file():
                return path
    raise DataError(f"{' or '.join(names)} is missing in {folder}; is this the right folder?")


@contextlib.contextmanager
def unpacked(source: Path) -> Iterator[Path]:
    """The folder with the data: the source itself, or a zip extracted for as long as it is read."""
    if not source.is_file():
        yield source
        return
    with temporary_folder("import") as folder:
        extract_zip(source, folder)
        try:
            yield folder
        except DataError as error:
            # The user knows the archive, not the folder it was extracted to.
            raise DataError(str(error).replace(str(folder), str(source))) from error


def read_npy(path: Path) -> npt.NDArray[Any]:
    """The numbers of a .npy file, as a map of it; other types, and headers that its bytes do not bear out, are refused.

    An archive under that name, which numpy's own reader would open, is refused too.
    """
    try:
        with path.open("rb") as file:
            # No more than a header can have: it says its own length, and numpy would allocate it.
            head = io.BytesIO(file.read(_LONGEST_HEADER))
        version = np.lib.format.read_magic(head)
        # The reader of 2.0 reads 3.0 as well, whose header differs in its encoding only.
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = header(head)
        start, size = head.tell(), path.stat().st_size
    except Exception as error:  # the header is a Python literal, and parsing one can fail in any way
        raise DataError(f"{path} cannot be read ({error}); is the file cut short? Get it again") from error
    if dtype.kind not in "fiub" or dtype.itemsize > 8:
        raise DataError(f"{path}: its values are of type {dtype}; every value must be a number")
    if any(type(length) is not int or length < 0 for length in shape):
        raise DataError(f"{path} cannot be read: its header has the shape {shape}; get it again")
    if math.prod(shape) * dtype.itemsize != size - start:
        raise DataError(
            f"{path} cannot be read: its header promises {math.prod(shape) * dtype.itemsize:,} bytes of numbers, it "
            f"has {size - start:,}; is the file cut short? Get it again"
        )
    if not math.prod(shape):
        return np.zeros(shape, dtype)
    return np.memmap(path, dtype, "r", start, shape, "F" if fortran else "C")


def to_sparse(matrix: Any) -> Sparse:
    """A scipy matrix, or a dense array, as sparse rows."""
    csr = scipy.sparse.csr_matrix(matrix)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    csr.sort_indices()
    return Sparse(csr.indptr.astype(np.int64), csr.indices.astype(np.int32), csr.data.astype(np.float32), csr.shape[1])


def maybe_sparse(dense: npt.NDArray[Any], file: str, most: float = 0.25) -> npt.NDArray[np.float32] | Sparse:
    """Dense features as they are, or sparse if fewer than the share `most` of the values are non-zero."""
    if dense.dtype.kind not in "fiub":
        raise DataError(f"{file}: the features are of type {dense.dtype}; every feature must be a number")
    step = max(1, 2**22 // max(dense.shape[1], 1))
    # Block by block, because a memory map of a large matrix need not fit in memory twice.
    parts = range(0, dense.shape[0], step)
    nonzero = sum(int(np.count_nonzero(dense[start : start + step])) for start in parts)
    if nonzero >= most * dense.size:
        return np.array(dense, dtype=np.float32)
    blocks = [to_sparse(np.asarray(dense[start : start + step])) for start in parts]
    lengths = np.concatenate([np.diff(block.indptr) for block in blocks])
    return Sparse(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([block.indices for block in blocks]),
        np.concatenate([block.values for block in blocks]),
        dense.shape[1],
    )
