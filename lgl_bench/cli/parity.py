"""`lgl-bench parity`: the paper's cells run again, side by side with what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lgl_bench.cli.output import print_json, print_table
from lgl_bench.core.errors import UsageError
from lgl_bench.runs.parity_jobs import BACKBONES, HEADS, SWITCHES, jobs_of


@click.command()
@click.option("--stream", "streams", multiple=True, required=True, help="A stream of the paper; may be given again.")
@click.option("--split", help="60-20-20 (default for static streams), planetoid, or temporal.")
@click.option("--backbone", "chosen", multiple=True, help="Only these backbones; may be given again.")
@click.option(
    "--head", "heads", multiple=True, type=click.Choice(list(HEADS)), help="Only these heads; may be given again."
)
@click.option(
    "--as-published", is_flag=True, help="Beside ours, run every cell with what the published code does differently."
)
@click.option(
    "--switch",
    "switches",
    multiple=True,
    type=click.Choice(SWITCHES),
    help="Of what --as-published adds, only these; may be given again.",
)
@click.option("--seeds", type=int, default=3, show_default=True, help="Number of seeds.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Processes; each fits with one thread.")
@click.option("--dry-run", is_flag=True, help="Run nothing: write the tables from the jobs that are in OUT.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Folder of results; a finished job is kept."
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
    seeds: int,
    jobs: int,
    dry_run: bool,
    out: Path,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Run the paper's cells with its hyperparameters and print them beside the printed ones.

    Results are kept in OUT, so the command can be stopped and given again. OUT/parity.csv and OUT/parity.md hold
    every result of that folder, and say which cells have fewer seeds than --seeds.
    """
    from lgl_bench.runs import parity as runs
    from lgl_bench.runs.parity_table import parity_table, write_table
    from lgl_bench.runs.parity_text import markdown
    from lgl_bench.streams.catalogue import load

    if seeds < 1:
        raise UsageError(f"--seeds {seeds}: at least one is needed")
    if switches and not as_published:
        raise UsageError(f"--switch {switches[0]} chooses among the runs of --as-published; give that too")
    added = (switches or SWITCHES) if as_published else ()
    todo = []
    for stream in streams:
        static = load(stream, data_dir, features=False).static
        name = split or ("60-20-20" if static else "temporal")
        if (name == "temporal") == static:
            raise UsageError(f"--split {name} does not fit {stream}, which is {'static' if static else 'temporal'}")
        todo += list(jobs_of(stream, name, chosen or BACKBONES, seeds, added, heads or tuple(HEADS)))

    def report(job: Any, done: int, total: int) -> None:
        kind = " ".join(filter(None, [job.stream, job.backbone, job.head, job.switch]))
        click.echo(f"{done}/{total} {kind} seed {job.seed}", err=True)

    rows = parity_table(runs.stored_results(out) if dry_run else runs.run_parity(todo, out, data_dir, jobs, report))
    write_table(rows, out / "parity.csv")
    (out / "parity.md").write_text(markdown(rows, seeds), encoding="utf-8")
    if as_json:
        print_json(rows)
        return
    columns = ["stream", "split", "backbone", "detector", "switch", "accuracy_paper", "accuracy_ours", "accuracy_std"]
    columns += ["accuracy_difference", "auroc_paper", "auroc_ours", "auroc_std", "auroc_difference", "note"]
    header = [column.replace("accuracy", "acc").replace("difference", "diff") for column in columns]
    print_table(header, [[row[column] for column in columns] for row in rows])
