"""`lgl-bench leaderboard build` and `leaderboard show`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lgl_bench.cli.output import print_board, print_json, rows_shown, screen_width
from lgl_bench.core.errors import UnknownNameError, UsageError
from lgl_bench.leaderboard.table.names import BOARD_FILE

if TYPE_CHECKING:
    import pandas as pd


@click.group()
def leaderboard() -> None:
    """Make and show leaderboards."""


@leaderboard.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), default=BOARD_FILE, show_default=True, help="The CSV to write.")
@click.option("--suite", "suites", multiple=True, help="Only rows of these suites; may be repeated.")
@click.option("--budget", "budgets", multiple=True, help="Only rows of these budgets; may be repeated.")
@click.option("--stream", "streams", multiple=True, help="Only rows of these streams; may be repeated.")
@click.option("--force", is_flag=True, help="Replace the CSV if it is there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def build(
    sources: tuple[Path, ...],
    out: Path,
    suites: tuple[str, ...],
    budgets: tuple[str, ...],
    streams: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Make one leaderboard from run folders and leaderboard CSVs.

    Rows of a run folder are made anew from its years.parquet; nothing is trained or scored. What only a run folder can
    tell is written beside the CSV, if there is any: the year rows as NAME.years.parquet, every model on every year as
    NAME.matrix.parquet, delays of detection as NAME.delays.parquet, and the tests between rows, which are made from
    answers, as NAME.tests.parquet.
    """
    from lgl_bench.grading.beside import files_beside
    from lgl_bench.grading.board_delays import write_board_delays
    from lgl_bench.grading.board_matrix import write_board_matrix
    from lgl_bench.grading.board_years import write_board_years
    from lgl_bench.leaderboard.boards import delays_of, matrices_of, only_rows, open_board, pool, years_of
    from lgl_bench.leaderboard.compare.board_tests import write_board_tests
    from lgl_bench.leaderboard.table.write import refuse_existing, write_board

    for path in (out, *files_beside(out)):
        refuse_existing(path, force)
    boards = [open_board(path) for path in sources]
    for column, wanted in (("suite", suites), ("budget", budgets), ("stream", streams)):
        boards = only_rows(boards, column, wanted)
    pooled = pool(boards)
    frame = pooled.frame.drop(columns="board")
    years, matrices, delays, tests = years_of(boards), matrices_of(boards), delays_of(boards), pooled.tests()
    write_board(frame, out, force=force)
    beside = {
        "years": write_board_years(years, frame, out),
        "matrix": write_board_matrix(matrices, frame, out),
        "delays": write_board_delays(delays, frame, out),
        "tests": write_board_tests(tests, frame, out),
    }
    if as_json:
        made = {"out": str(out), "rows": len(frame), "streams": sorted(set(frame["stream"]))}
        print_json({**made, **{name: None if path is None else str(path) for name, path in beside.items()}})
        return
    tables = [f"{path}: their {name}" for name, path in beside.items() if path is not None]
    click.echo("; ".join([f"{out}: {len(frame):,} rows", *tables]))


@leaderboard.command()
@click.argument("boards", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "markdown", "latex", "json"]),
    default="table",
    show_default=True,
)
@click.option("--metric", "metrics", multiple=True, help="Show these metrics; may be repeated.")
@click.option("--stream", "streams", multiple=True, help="Only these streams; may be repeated.")
@click.option(
    "--rank-by", help="Rank by this metric; else auroc_weighted, auroc_mean in static suites, mcc of decisions."
)
@click.option(
    "--top", type=click.IntRange(min=1), help="Only the first N of each group; a table in a terminal shows 10."
)
@click.option("--all", "everything", is_flag=True, help="Every row, also in a terminal.")
@click.option("--full", is_flag=True, help="Names with all their parameters.")
@click.option("--pivot", is_flag=True, help="With --format latex: methods x streams, mean and deviation, for a paper.")
@click.option("--json", "as_json", is_flag=True, help="As --format json.")
def show(
    boards: tuple[Path, ...],
    style: str,
    metrics: tuple[str, ...],
    streams: tuple[str, ...],
    rank_by: str | None,
    top: int | None,
    everything: bool,
    full: bool,
    pivot: bool,
    as_json: bool,
) -> None:
    """Show leaderboards, best first, with intervals and ties.

    BOARDS are leaderboard CSVs or run folders; without any, every run in runs/. A table has the width of the terminal,
    or COLUMNS, and shows the first ten rows of each stream and the floor; in a pipe or file it has every row, and lines
    are as long as they are.
    """
    import pandas as pd

    from lgl_bench.grading.year_table import read_years
    from lgl_bench.leaderboard import text_tables as formats
    from lgl_bench.leaderboard.boards import open_board, pool, run_folders
    from lgl_bench.leaderboard.latex_pivot import latex_pivot
    from lgl_bench.leaderboard.ranking import ranked
    from lgl_bench.report.terminal.board import View

    if pivot and (style != "latex" or as_json):
        raise UsageError("--pivot makes a table for a paper; give --format latex with it")
    opened = [open_board(path) for path in boards or run_folders()]
    pooled = pool(opened)
    frame = pooled.frame
    _check_named(frame, [*metrics, *([rank_by] if rank_by else [])], streams)
    if streams:
        frame = frame[frame["stream"].isin(streams)]
    if everything and top is not None:
        raise UsageError("--top and --all exclude each other; give one of them")
    rows = ranked(frame, rank_by, pooled.runs, pooled.tester)
    table = style == "table" and not as_json
    if top is not None and not table:
        rows = rows[(rows["rank"] <= top).fillna(False).astype(bool)]
    if as_json or style == "json":
        print_json(formats.records(rows))
        return
    if pivot:
        click.echo(latex_pivot(rows, metrics[0] if metrics else rank_by), nl=False)
        return
    chosen = metrics or formats.default_metrics(rows)
    if style == "markdown":
        click.echo(formats.markdown(rows, chosen), nl=False)
    elif style == "latex":
        click.echo(formats.latex(rows, chosen), nl=False)
    else:
        folders = [board.folder for board in opened if board.folder is not None]
        years = pd.concat([read_years(folder) for folder in folders]) if folders else None
        print_board(rows, chosen, years, View(screen_width(), rows_shown(top, everything), full, rank_by))


def _check_named(frame: pd.DataFrame, metrics: Sequence[str], streams: Sequence[str]) -> None:
    """Raises if a metric or a stream that was asked for is not in the table."""
    from lgl_bench.leaderboard.table.columns import metrics_in

    known, there = metrics_in(frame), sorted(set(frame["stream"]))
    for name in metrics:
        if name not in known:
            raise UnknownNameError("metric", name, known, f"There are: {', '.join(known)}")
    for name in streams:
        if name not in there:
            raise UnknownNameError("stream", name, there, f"There are: {', '.join(there)}")
