"""Listeners of a run that are built in: JSON lines, and TensorBoard.

A listener is any function of one `Event`; these are objects to be used in a `with` block, whose `listen` is one.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.runs.progress import Event, Listener


def all_of(*listeners: Listener) -> Listener:
    """One listener that tells several."""

    def listen(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return listen


class JsonLog:
    """Writes one JSON object per event.

    Args:
        path: The file, which is appended to; "-" for standard error.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        self._file = sys.stderr if str(self._path) == "-" else self._path.open("a", encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None and self._file is not sys.stderr:
            self._file.close()

    def listen(self, event: Event) -> None:
        """Writes an event."""
        assert self._file is not None, "a JsonLog is used in a with block"
        try:
            self._file.write(json.dumps({"at": round(time.time(), 3), **event.record()}) + "\n")
            self._file.flush()
        except OSError as error:
            with suppress(OSError):  # closing tries to write what is left, and fails again
                self._file.close()
            raise DataError(
                f"the log {self._path} cannot be written: {error.strerror}; the same command with another "
                "--json-log goes on where this one stopped"
            ) from error


class TensorBoardLog:
    """Writes a run for TensorBoard: how far it is, what fits take and which epoch they reach, the best method so far.

    Fits are named STREAM/BACKBONE/HEAD/seed N; their step is the year they answer for.

    Args:
        folder: Folder of the log; `tensorboard --logdir FOLDER` shows it.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._writer: Any = None

    def __enter__(self) -> Self:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise UsageError(
                "a log for TensorBoard needs the package tensorboard; install it with: "
                "pip install 'lgl-bench[tensorboard]'"
            ) from error
        try:
            self._writer = SummaryWriter(str(self._folder))
        except OSError as error:
            raise UsageError(
                f"the folder {self._folder} for TensorBoard cannot be written: {error.strerror}; choose another"
            ) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()

    def listen(self, event: Event) -> None:
        """Writes an event."""
        chain, writer = event.unit.chain, self._writer
        name = f"{chain.stream}/{chain.backbone}/{chain.head}/seed {chain.seed}"
        if event.kind in ("start", "epoch"):
            writer.add_scalar(f"epoch/{name}", event.epoch, event.unit.time)
            return
        writer.add_scalar("run/done", event.done, event.done)
        writer.add_scalar("run/failed", event.failed, event.done)
        writer.add_scalar(f"seconds/{name}", event.seconds, event.unit.time)
        if event.reason:
            writer.add_text(f"failed/{name}", event.reason, event.unit.time)
        if event.best:
            writer.add_text(f"best/{chain.stream}", event.best, event.done)
        writer.flush()
