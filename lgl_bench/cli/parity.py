"""`lgl-bench parity`: the paper's cells run again, side by side with what it prints."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from lgl_bench.cli.output import print_json, print_table
from lgl_bench.cli.progress import Progress
from lgl_bench.core.errors import LglBenchError, UsageError
from lgl_bench.report.parity.cells import BACKBONES, HEADS, Cell, cells_of
from lgl_bench.report.parity.switches import published_code
from lgl_bench.report.parity.verdict import MIN_SEEDS


@click.command()
@click.option("--stream", "streams", multiple=True, required=True, help="A stream of the paper; may be repeated.")
@click.option("--split", help="60-20-20 (default for static streams), planetoid, or temporal.")
@click.option("--backbone", "chosen", multiple=True, help="Only these backbones; may be repeated.")
@click.option(
    "--head", "heads", multiple=True, type=click.Choice(list(HEADS)), help="Only these heads; may be repeated."
)
@click.option(
    "--as-published", is_flag=True, help="Beside ours, run every cell with what the published code does differently."
)
@click.option(
    "--switch",
    "switches",
    multiple=True,
    type=click.Choice(list(published_code().switches)),
    help="Of what --as-published adds, only these; may be repeated.",
)
@click.option(
    "--only-left",
    is_flag=True,
    help="Only what parity.md lists as left: cells with too few seeds, and switches for cells nothing explains yet.",
)
@click.option("--seeds", type=int, default=MIN_SEEDS, show_default=True, help="Number of seeds.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Processes; each fits with one thread.")
@click.option("--dry-run", is_flag=True, help="Run nothing: write the tables from what is in OUT.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Run folder; what is done there is not done again."
)
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the streams.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def parity(
    streams: tuple[str, ...],
    split: str | None,
    chosen: tuple[str, ...],
    heads: tuple[str, ...],
    as_published: bool,
    switches: tuple[str, ...],
    only_left: bool,
    seeds: int,
    jobs: int,
    dry_run: bool,
    out: Path,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Run the paper's cells with its hyperparameters and print them beside the printed ones.

    OUT is a run folder, so the command can be stopped and given again. OUT/measured.csv holds what was measured there,
    by earlier commands too; OUT/parity.csv and OUT/parity.md are made from it, and parity.md lists the cells that have
    fewer seeds than --seeds.
    """
    if seeds < 1:
        raise UsageError(f"--seeds {seeds}: at least one is needed")
    if switches and not as_published:
        raise UsageError(f"--switch {switches[0]} chooses among the runs of --as-published; give that too")
    from lgl_bench.report.parity.run import run_cells, write_tables
    from lgl_bench.runs.options import IN_PROCESS, Settings

    declared = published_code().switches
    added = [declared[name] for name in declared if as_published and name in (switches or declared)]
    failed: dict[str, str] = {}
    cells = _cells(streams, split, chosen or BACKBONES, heads or tuple(HEADS), data_dir)
    if not dry_run:
        # One job is done in this process, as from Python.
        engine = IN_PROCESS if jobs == 1 else "local"
        settings = Settings(out, data_dir, engine, jobs=jobs, device="cpu", real_only=True, offline=True)
        with Progress() as progress:
            failed = run_cells(cells, added, settings, seeds, progress.listen, only_left=only_left)
    rows = [asdict(row) for row in write_tables(out, seeds)]
    if as_json:
        print_json(rows)
    else:
        columns = ["stream", "split", "backbone", "detector", "switch"]
        columns += ["accuracy_paper", "accuracy_ours", "accuracy_std", "accuracy_difference"]
        columns += ["auroc_paper", "auroc_ours", "auroc_std", "auroc_difference", "note"]
        header = [column.replace("accuracy", "acc").replace("difference", "diff") for column in columns]
        print_table(header, [[row[column] for column in columns] for row in rows])
    if failed:
        reasons = "; ".join(sorted(set(failed.values()))[:5])
        click.echo(f"lgl-bench: {len(failed)} answers failed: {reasons}", err=True)
        sys.exit(LglBenchError.exit_code)


def _cells(
    streams: tuple[str, ...],
    split: str | None,
    backbones: tuple[str, ...],
    heads: tuple[str, ...],
    data_dir: Path | None,
) -> list[Cell]:
    """The cells of all streams, each with a split that fits it."""
    from lgl_bench.streams.catalogue import load

    found: list[Cell] = []
    for stream in streams:
        static = load(stream, data_dir, features=False).static
        name = split or ("60-20-20" if static else "temporal")
        if (name == "temporal") == static:
            raise UsageError(f"--split {name} does not fit {stream}, which is {'static' if static else 'temporal'}")
        found += cells_of(stream, name, backbones, heads)
    return found
