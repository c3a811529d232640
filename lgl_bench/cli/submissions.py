"""`lgl-bench new`, `submit`, `verify` and `reproduce`: from an idea to the leaderboard."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from lgl_bench.cli.output import print_json
from lgl_bench.core.errors import LglBenchError, UsageError

_MAX_SHOWN = 20
_tolerance = click.option(
    "--tolerance", type=float, default=1e-9, show_default=True, help="How far answers may lie apart."
)


@click.command()
@click.argument("kind", type=click.Choice(["detector", "backbone", "threshold", "strategy"]))
@click.argument("name")
@click.option("--to", type=click.Path(path_type=Path), help="Folder of the package; NAME otherwise.")
@click.option("--force", is_flag=True, help="Replace files that are there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def new(kind: str, name: str, to: Path | None, force: bool, as_json: bool) -> None:
    """Write a plugin package that works: a class to change, its test, and how to go on."""
    from lgl_bench.submissions.scaffold import scaffold

    folder = to or Path(name)
    written = scaffold(kind, name, folder, force=force)
    if as_json:
        print_json({"folder": str(folder), "files": written})
        return
    for file in written:
        click.echo(str(folder / file))


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path), help="A folder to make, or a .zip.")
@click.option("--submitter", default="", help="Who sends it.")
@click.option("--plugin", "plugins", multiple=True, type=click.Path(path_type=Path), help="Source that goes with it.")
@click.option("--plan", default="", help="Another run of the folder, by its file in OUT/plans; the last otherwise.")
@click.option("--partial", is_flag=True, help="Pack a run that is not finished.")
@click.option("--weights/--no-weights", default=True, show_default=True, help="Pack weights, for verify --rescore.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the streams.")
@click.option("--force", is_flag=True, help="Replace an older bundle.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def submit(out: Path, to: Path, as_json: bool, **given: Any) -> None:
    """Pack a run folder: rows, answers, configuration and environment."""
    from lgl_bench.submissions.bundle.pack import submit as pack

    packed = pack(out, to, **given)
    if as_json:
        about = {"bundle": str(to), "files": packed.files, "bytes": packed.size, "notes": packed.notes}
        print_json(about)
        return
    _print_notes(packed.notes)
    click.echo(f"{to}: {packed.files} files, {packed.size:,} bytes")


@click.command()
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the streams.")
@click.option("--rescore", is_flag=True, help="Let built-in methods answer again from the bundle's weights.")
@_tolerance
@click.option("--out", type=click.Path(path_type=Path), help="Write the rows here, with their trust.")
@click.option("--force", is_flag=True, help="Replace the file at --out.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def verify(
    files: tuple[Path, ...],
    /,
    bundle: Path,
    data_dir: Path | None,
    rescore: bool,
    tolerance: float,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Recompute every metric of a bundle from its answers and your own data; no code of it is run."""
    from lgl_bench.leaderboard.table.write import refuse_existing, write_board
    from lgl_bench.submissions.verify.verify import verify as check

    if files:
        note = (
            "verify runs no plugin, so --plugin was left alone; 'lgl-bench reproduce --plugin FILE' runs a method again"
        )
        _print_notes([note])
    if out is not None:
        refuse_existing(out, force)
    result = check(bundle, data_dir, rescore=rescore, tolerance=tolerance)
    if out is not None and not result.differences:
        write_board(result.frame, out, force=force)
    _report(result, result.frame, len(result.frame), "verified", as_json)


@click.command()
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--plugin", "plugins", multiple=True, type=click.Path(path_type=Path), help="The method, read by you.")
@click.option("--detector", "detectors", multiple=True, help="Only rows of these.")
@click.option(
    "--fold", default="", help="Only the first seed, with this class left out or the years up to this one; a sample."
)
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the streams.")
@_tolerance
@click.option("--allow-network", is_flag=True, help="Go on if the network cannot be cut.")
@click.option("--unsafe", is_flag=True, help="Go on if your files and processes cannot be kept out of reach either.")
@click.option("--jobs", type=int, help="Processes; one per core otherwise.")
@click.option("--time-limit", type=float, help="Seconds a unit may take.")
@click.option("--memory-limit", type=float, help="MiB a worker may hold.")
@click.option("--total-time-limit", type=float, help="Seconds the whole run may take; 72 hours otherwise.")
@click.option("--total-memory-limit", type=float, help="MiB the whole run may hold; 80 % of the machine's otherwise.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the rows here, with trust = reproduced.")
@click.option("--force", is_flag=True, help="Replace the file at --out.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def reproduce(
    files: tuple[Path, ...], /, bundle: Path, out: Path | None, force: bool, as_json: bool, **given: Any
) -> None:
    """Run the methods of a bundle again in a sandbox, and compare every answer."""
    from lgl_bench.leaderboard.table.names import Fact
    from lgl_bench.leaderboard.table.write import refuse_existing, write_board
    from lgl_bench.submissions.reproduce.reproduce import reproduce as again

    if out is not None:
        if given["fold"]:
            raise UsageError("--fold is part of every row, so there is none to write; leave --out out")
        refuse_existing(out, force)
    given["plugins"] = (*files, *given["plugins"])
    result = again(bundle, **given)
    if out is not None and not result.differences:
        write_board(result.frame, out, force=force)
    if given["fold"]:
        _report_sample(result, as_json)
        return
    # What could have been copied agrees, but that says nothing.
    copied = not result.differences and result.trust != "reproduced"
    rows = result.frame[result.frame[Fact.TRUST] == result.trust]
    _report(result, rows, result.rows, "run again" if copied else "reproduced", as_json)


def _report(result: Any, frame: Any, rows: int, verb: str, as_json: bool) -> None:
    """What was found, and how far the rows of a table have come; the command fails if anything differs."""
    from lgl_bench.leaderboard.table.names import CLAIMED, Fact
    from lgl_bench.leaderboard.table.schema import TRUST

    well = not result.differences
    levels = [level for level in TRUST if well and (frame[Fact.TRUST] == level).any()]
    counts = {level: int((frame[Fact.TRUST] == level).sum()) for level in levels}
    if as_json:
        about: dict[str, Any] = {"rows": rows, "trust": levels[0] if levels else None, "rows_by_trust": counts}
        about |= {"claimed": list(CLAIMED), "differences": result.differences, "notes": result.notes}
        print_json(about)
    else:
        _print_notes(result.notes)
        if well:
            each = "".join(f"; trust = {level}: {count} rows" for level, count in counts.items())
            click.echo(f"{rows} rows {verb}" + (f": trust = {levels[0]}" if len(levels) == 1 else each))
    _fail_if_different(result, verb)


def _report_sample(result: Any, as_json: bool) -> None:
    """What came of running part of every row again."""
    if as_json:
        print_json({"fits": result.fits, "differences": result.differences, "notes": result.notes})
    else:
        _print_notes(result.notes)
        if not result.differences:
            click.echo(f"{result.fits} fits run again: their answers are the same; no row is whole, so trust stays")
    _fail_if_different(result, "the same")


def _fail_if_different(result: Any, verb: str) -> None:
    if not result.differences:
        return
    shown = "\n".join(f"  {text}" for text in result.differences[:_MAX_SHOWN])
    click.echo(f"lgl-bench: not {verb}: {len(result.differences)} differences\n{shown}", err=True)
    sys.exit(LglBenchError.exit_code)


def _print_notes(notes: list[str]) -> None:
    for note in notes:
        click.echo(f"lgl-bench: note: {note}", err=True)
