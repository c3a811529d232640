"""What a command has made, as digests that two undisturbed commands agree on."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd

MEASURED = {"seconds", "scoring_seconds", "fit_seconds", "peak_memory_mb", "created_at", "years"}
"""Fields and columns that differ from run to run: times, memory, and the digest of a file that holds them."""


def digests(place: Path) -> dict[str, str]:
    """The digest of every file at a place, itself a file or a folder; of tables and records what was not measured."""
    found = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
    return {
        path.relative_to(place).as_posix(): _digest(path) for path in found if path.name not in (".lock", ".lock.pid")
    }


def leftovers(*folders: Path) -> list[str]:
    """Half-made files and folders, and temporary folders of ours."""
    patterns = (".*.partial", ".*.old", "lgl-bench-*-*-*")
    return [str(path) for folder in folders for pattern in patterns for path in folder.rglob(pattern)]


def fits(store: Path) -> dict[str, str]:
    """The digest of the weights of every fit of a run folder."""
    found = sorted(store.glob("fits/*/model.safetensors"))
    return {path.parent.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def _digest(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix in (".csv", ".parquet"):
        read = pd.read_csv if path.suffix == ".csv" else pd.read_parquet
        frame = read(io.BytesIO(data))
        data = frame.drop(columns=[name for name in MEASURED if name in frame]).to_csv(index=False).encode()
    elif path.suffix == ".json":
        data = json.dumps(_unmeasured(json.loads(data)), sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()


def _unmeasured(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unmeasured(one) for key, one in value.items() if key not in MEASURED}
    return [_unmeasured(one) for one in value] if isinstance(value, list) else value
