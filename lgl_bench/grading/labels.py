"""True classes of vertices by their ids: the one place where answers meet labels."""

from __future__ import annotations

from pathlib import Path

from lgl_bench.core.errors import DataError
from lgl_bench.core.types import IntArray
from lgl_bench.streams.lookup import positions
from lgl_bench.streams.stream import Stream


class Labels:
    """The classes of the vertices of a stream."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._place = positions(stream.ids)

    def of(self, vertices: IntArray) -> IntArray:
        """Classes of vertices, by their ids."""
        at = self._place(vertices)
        if (at < 0).any():
            raise DataError(
                f"vertex {int(vertices[at < 0][0])} of the answers is not in the stream {self._stream.name}"
            )
        return self._stream.labels[at]


def stream_labels(name: str, checksum: str, data_dir: Path | None) -> Labels:
    """The labels of a stream, if it is the one with that checksum."""
    from lgl_bench.streams.catalogue import load
    from lgl_bench.streams.checksum import stream_checksum

    stream = load(name, data_dir)
    found = stream_checksum(stream)
    if found != checksum:
        raise DataError(
            f"the available stream {name} has the checksum {found[:12]}, the rows were made on {checksum[:12]}"
        )
    return Labels(stream)
