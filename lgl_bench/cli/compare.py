"""`lgl-bench compare`: boards set against each other."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from lgl_bench.cli.output import print_json, rows_shown, screen_width
from lgl_bench.cli.progress import PLAIN_EVERY
from lgl_bench.core.errors import LglBenchError, UsageError

if TYPE_CHECKING:
    import pandas as pd

    from lgl_bench.leaderboard.compare.boards import Comparison

_QUIET = 2.0
"""Seconds before a comparison says how far it is."""


@click.command()
@click.argument("boards", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--metric", "metrics", multiple=True, help="Compare these metrics; may be repeated.")
@click.option("--stream", "streams", multiple=True, help="Only these streams; may be repeated.")
@click.option("--within", is_flag=True, help="Set every method against the best of its stream instead.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the streams, for their labels.")
@click.option("--draws", type=int, default=2000, show_default=True, help="Draws of the bootstrap.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draws.")
@click.option("--top", type=click.IntRange(min=1), help="Only the first N rows of each table; 10 in a terminal.")
@click.option("--all", "everything", is_flag=True, help="Every row, also in a terminal and those that cannot differ.")
@click.option("--full", is_flag=True, help="Names with all their parameters.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(
    boards: tuple[Path, ...], as_json: bool, top: int | None, everything: bool, full: bool, **given: Any
) -> None:
    """Compare leaderboards: every further board against the first.

    BOARDS are leaderboard CSVs or run folders. From run folders the stored answers are tested; for rows of one
    CSV the tests beside it count; otherwise only the intervals over seeds can be. The verdict comes first. Rows that
    are not comparable are named with the reason. The exit code is 1 if nothing could be compared.
    """
    from lgl_bench.leaderboard.boards import open_board
    from lgl_bench.leaderboard.compare.boards import compare as compare_boards
    from lgl_bench.report.terminal.board import View
    from lgl_bench.report.terminal.comparison import comparison_text

    if everything and top is not None:
        raise UsageError("--top and --all exclude each other; give one of them")
    with _DrawProgress() as progress:
        found = compare_boards([open_board(path) for path in boards], listener=progress.listen, **given)
    if as_json:
        print_json(_document(found))
    else:
        view = View(screen_width(), rows_shown(top, everything), full)
        click.echo(comparison_text(found, view, everything=everything))
    if found.rows.empty:
        sys.exit(LglBenchError.exit_code)


def _document(found: Comparison) -> dict[str, Any]:
    from lgl_bench.leaderboard.compare.questions import EXPLAINED
    from lgl_bench.leaderboard.stats.signflip import LABEL

    return {
        "boards": found.boards,
        "comparisons": _records(found.rows),
        "tests": {name: EXPLAINED[name] for name in dict.fromkeys(found.rows["test"])},
        "years_p": LABEL,
        "refused": _records(found.refused),
        "only": _records(found.only),
        "across": found.across,
    }


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]


class _DrawProgress:
    """How far the draws of a comparison are, on standard error, if they take longer than a moment."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._stream = ""
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def listen(self, stream: str, done: int, total: int) -> None:
        """Shows that so many tasks of a stream were drawn from: a bar in a terminal, a line now and then elsewhere."""
        if sys.stderr.isatty():
            self._draw(stream, done, total)
        elif time.monotonic() - self._last > PLAIN_EVERY:
            self._last = time.monotonic()
            click.echo(f"lgl-bench: {stream}: {done} of {total} tasks drawn from", err=True)

    def _draw(self, stream: str, done: int, total: int) -> None:
        from tqdm import tqdm

        if self._bar is None or stream != self._stream:
            if self._bar is not None:
                self._bar.close()
            self._stream = stream
            self._bar = tqdm(total=total, desc=stream, unit="task", delay=_QUIET, leave=False, dynamic_ncols=True)
        self._bar.update(done - self._bar.n)
