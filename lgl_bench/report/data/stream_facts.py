"""What is known of a stream: its figures if it can be loaded, otherwise why not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lgl_bench.core.errors import LglBenchError


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """Figures of a stream, named as in `data describe`; empty if it is not available, for the reason in `missing`."""

    name: str
    figures: dict[str, Any]
    missing: str = ""

    @property
    def years(self) -> list[dict[str, Any]]:
        """One record per year."""
        return list(self.figures.get("years", ()))


def stream_facts(name: str, checksum: str, data_dir: Path | None) -> StreamFacts:
    """Describes a stream, if the one that is available is the one the rows were made on."""
    from lgl_bench.streams.catalogue import load
    from lgl_bench.streams.describe import describe

    try:
        figures = describe(load(name, data_dir))
    except LglBenchError as error:
        return StreamFacts(name, {}, f"The stream is not available, so its growth cannot be drawn: {error}")
    if checksum and figures["stream_checksum"] != checksum:
        return StreamFacts(
            name, {}, "The stream that is available is not the one the rows were made on: their checksums differ."
        )
    return StreamFacts(name, figures)
