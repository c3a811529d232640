"""`lgl-bench grade`: answers made elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from lgl_bench.cli.output import print_json
from lgl_bench.core.errors import LglBenchError


@click.command()
@click.argument("answers", type=click.Path(path_type=Path))
@click.option("--stream", required=True, help="The stream that was answered for, by name.")
@click.option("--protocol", default="temporal", show_default=True, help="temporal, leave-class-out, or a plugin's.")
@click.option("--split", default="", help="Of a static protocol: 60-20-20, planetoid.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the answers, if the file has no column seed.")
@click.option("--method", default="", help="Name of the method, lower case; that of the file otherwise.")
@click.option("--history", type=int, help="Years of the past that the method saw; all otherwise.")
@click.option("--label-delay", type=int, default=0, show_default=True, help="Years until labels arrived.")
@click.option("--budget", default="paper", show_default=True, help="Whose rows it may be compared with.")
@click.option("--out", type=click.Path(path_type=Path), help="Save the answers as a run folder.")
@click.option("--force", is_flag=True, help="Replace other answers of the method in the run folder.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the streams.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def grade(answers: Path, stream: str, out: Path | None, force: bool, as_json: bool, **given: Any) -> None:
    """Grade answers that were made outside lgl-bench.

    ANSWERS is a Parquet or CSV file with the columns vertex, time, class_pred and novelty, and if you have them
    rejected, confidence, seed and fold. What is wrong is named by row and column. Saved with --out, the rows can be
    compared, reported, submitted and verified. The exit code is 1 if a task has no answer.
    """
    from lgl_bench.evaluation.grading import grade as grade_file
    from lgl_bench.leaderboard.text_tables import records

    found = grade_file(answers, stream, **given)
    if out is not None:
        found.save(out, force=force)
    if as_json:
        print_json(
            {"out": None if out is None else str(out), "rows": records(found.all), "unanswered": found.unanswered}
        )
    else:
        click.echo(repr(found))
        if out is not None:
            click.echo(f"saved in {out}")
    if found.unanswered:
        sys.exit(LglBenchError.exit_code)
