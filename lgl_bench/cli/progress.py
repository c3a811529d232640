"""Progress of a run: bars in a terminal, a few plain lines elsewhere, JSON lines for machines."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self

import click

if TYPE_CHECKING:
    from tqdm import tqdm

    from lgl_bench.runs.listeners import JsonLog
    from lgl_bench.runs.progress import Event

PLAIN_EVERY = 30.0
"""Seconds between plain lines."""


class Progress:
    """Listens to a run.

    Args:
        log: File for one JSON object per event; "-" for standard error; None for none.
    """

    def __init__(self, log: Path | None = None) -> None:
        self._log_path = log
        self._log: JsonLog | None = None
        self._bars: tuple[tqdm[NoReturn], tqdm[NoReturn]] | None = None
        self._stack = ExitStack()
        self._last = self._start = time.monotonic()
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> Self:
        if self._log_path is not None:
            from lgl_bench.runs.listeners import JsonLog

            self._log = self._stack.enter_context(JsonLog(self._log_path))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for bar in reversed(self._bars or ()):
            bar.close()
        self._stack.close()

    def listen(self, event: Event) -> None:
        """Shows and logs an event."""
        if self._log is not None:
            self._log.listen(event)
        if self._terminal:
            self._draw(event)
        elif str(self._log_path) != "-":
            self._say(event)

    def _draw(self, event: Event) -> None:
        from tqdm import tqdm

        if self._bars is None:
            whole = tqdm(total=event.total, unit="fit", position=0, dynamic_ncols=True)
            self._bars = whole, tqdm(total=1, unit="epoch", position=1, leave=False, dynamic_ncols=True)
        whole, fit = self._bars
        whole.total = event.total
        if event.best:
            whole.set_postfix_str(f"best so far on {event.unit.chain.stream}: {event.best}", refresh=False)
        whole.update(event.done - whole.n)
        if event.kind in ("start", "epoch"):
            chain = event.unit.chain
            fit.total = chain.epochs
            fit.n = event.epoch
            fit.set_description_str(
                f"{chain.stream} {chain.shown_backbone} {chain.head} seed {chain.seed} {event.unit.time}"
            )
            fit.refresh()

    def _say(self, event: Event) -> None:
        """One line now and then, and at the end."""
        now = time.monotonic()
        if event.kind in ("done", "failed") and (now - self._last > PLAIN_EVERY or event.done == event.total):
            self._last = now
            left = (now - self._start) / max(event.done, 1) * (event.total - event.done)
            best = f", best so far on {event.unit.chain.stream}: {event.best}" if event.best else ""
            click.echo(f"lgl-bench: {event.done} of {event.total} fits, about {left:.0f} s left{best}", err=True)
