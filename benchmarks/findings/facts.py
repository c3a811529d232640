"""What streams are like, as `lgl-bench data describe` says it, kept for the page in `streams.csv`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from lgl_bench.streams.catalogue import data_folder, imported, load
from lgl_bench.streams.describe import describe

from .tables import STREAMS_FILE

COLUMNS = ["vertices", "edges", "classes", "new_classes"]
HOMOPHILY = ["graph", "vertex", "class_insensitive"]


def described(names: Sequence[str], data_dir: Path | None = None) -> pd.DataFrame:
    """One line per stream; all imported ones if none is named."""
    lines = []
    for name in names or imported(data_folder(data_dir)):
        figures = describe(load(name, data_dir))
        about = {"stream": name, "stream_checksum": figures["stream_checksum"]}
        about |= {column: figures[column] for column in COLUMNS}
        lines.append(about | {column: figures["homophily"][column] for column in HOMOPHILY})
    return pd.DataFrame(lines, columns=["stream", "stream_checksum", *COLUMNS, *HOMOPHILY])


def keep(fresh: pd.DataFrame, folder: Path) -> Path:
    """Writes the lines; streams that were not described this time keep theirs."""
    path = folder / STREAMS_FILE
    folder.mkdir(parents=True, exist_ok=True)
    if path.is_file():
        old = pd.read_csv(path)
        fresh = pd.concat([old, fresh], ignore_index=True).drop_duplicates(["stream", "stream_checksum"], keep="last")
    fresh = fresh.sort_values(["stream", "stream_checksum"])
    fresh.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    return path
