"""Real streams first, twins otherwise."""

from __future__ import annotations

from pathlib import Path

from lgl_bench.core.errors import DataError
from lgl_bench.streams.catalogue import TWIN, data_folder, fetch_stream, imported, is_twin, load, manifests, twins
from lgl_bench.streams.stream import Stream

_LINE = 80


def open_streams(
    names: tuple[str, ...], data_dir: Path | None, *, real_only: bool = False, offline: bool = False
) -> tuple[dict[str, Stream], dict[str, str]]:
    """Opens the streams of a suite; one that cannot be had is replaced by its twin, under the twin's own name.

    Returns:
        The streams by their own names, and which twin stands in for which, with the reason.
    """
    streams: dict[str, Stream] = {}
    stand_ins: dict[str, str] = {}
    for name in names:
        reason = "" if _present(name, data_dir) else _try_fetch(name, data_dir, offline)
        if not reason:
            stream = load(name, data_dir)
            # A twin with a changed recipe goes by its canonical name.
            streams[stream.name if is_twin(name) else name] = stream
            continue
        twin = name + TWIN
        if real_only or twin not in twins():
            why = "--real-only is given" if real_only else "it has no twin"
            raise DataError(f"the stream {name} is not available ({reason}), and {why}")
        streams[twin] = load(twin, data_dir)
        # One line, not the story of every address that was tried.
        stand_ins[name] = reason if len(reason) < _LINE else f"'lgl-bench data fetch {name}' says why"
    return streams, stand_ins


def _present(name: str, data_dir: Path | None) -> bool:
    return is_twin(name) or name in imported(data_folder(data_dir))


def _try_fetch(name: str, data_dir: Path | None, offline: bool) -> str:
    """Why it did not work; empty if it did."""
    manifest = manifests().get(name)
    if manifest is None:
        load(name, data_dir)  # raises, naming the nearest
    if manifest is None or not manifest.files:
        return "it has no public download"
    if offline:
        return "offline"
    try:
        fetch_stream(name, data_dir, progress=False, patient=False)
    except DataError as error:
        return str(error)
    return ""
