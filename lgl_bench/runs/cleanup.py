"""What is removed from a store before a run, so that it is made again: what is damaged, and what failed."""

from __future__ import annotations

from collections.abc import Iterable

from lgl_bench.runs.records import DamagedError
from lgl_bench.runs.run_folder import RUN_AGAIN
from lgl_bench.runs.store import RunStore


def remove_damaged(store: RunStore, keys: Iterable[str]) -> list[str]:
    """Removes what is damaged of fits; returns a sentence for each of it."""
    found = []
    for key in keys:
        for read, discard in (
            (store.fit, lambda key: store.forget([key])),
            (store.memory, lambda key: store.forget([key])),
            (store.weights, store.drop_weights),
            (store.matrix_row, store.drop_matrix_row),
            (lambda key: store.columns(key) if store.has_answers(key) else None, store.drop_answers),
        ):
            try:
                read(key)
            except DamagedError as error:
                found.append(str(error).removesuffix(f"; {RUN_AGAIN}"))
                discard(key)
    return found


def remove_failures(store: RunStore, keys: Iterable[str], plugins: str | None = None) -> None:
    """Removes fits that failed, and what is recorded as failed of others, so that both are tried again.

    Args:
        store: Of the run.
        keys: Of which units.
        plugins: If given, only fits that failed with other plugin files than these.
    """
    for key in keys:
        record = store.fit(key)
        if record is None:
            continue
        tried_again = ("failed", "diverged") if plugins is None else ("failed",)
        if record.status in tried_again and (plugins is None or record.plugins != plugins):
            store.forget([key])
        elif record.failed and plugins is None:
            store.write_fit(key, record.but(failed={}, failed_sources={}))
