"""`lgl-bench report`: a site, and figures for papers."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from lgl_bench.cli.output import print_json
from lgl_bench.core.errors import UsageError
from lgl_bench.report.parity.verdict import MIN_SEEDS


@click.command()
@click.argument("inputs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="OUT_OR_CSV...")
@click.option("--html", type=click.Path(path_type=Path), help="Folder of the site.")
@click.option("--open", "open_page", is_flag=True, help="Show the site in the browser.")
@click.option("--figures", type=click.Path(path_type=Path), help="Folder for figures as SVG, PDF and PNG.")
@click.option(
    "--paper-tables",
    "tables",
    type=click.Path(path_type=Path),
    help="Folder for the paper's tables with our numbers beside the printed ones: LaTeX, a page and a CSV.",
)
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the streams.")
@click.option("--force", is_flag=True, help="Replace a site, figures or tables that are there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def report(
    inputs: tuple[Path, ...],
    html: Path | None,
    open_page: bool,
    figures: Path | None,
    tables: Path | None,
    data_dir: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Make a site, figures, or the paper's tables from run folders and leaderboard CSVs.

    --paper-tables takes files and folders of parity measurements too; those in parity/ beside a CSV are found.
    """
    if html is None and figures is None and tables is None:
        raise UsageError("nothing to make; give --html SITE, --figures DIR or --paper-tables DIR")
    if html is not None and tables is not None and html.resolve() == tables.resolve():
        raise UsageError(f"--html and --paper-tables both name {html}; give each a folder of its own")
    if open_page and html is None:
        raise UsageError("--open shows a site, and none is made; give --html SITE as well")
    made: dict[str, Any] = {}
    if html is not None:
        from lgl_bench.report.site import build_site

        made |= build_site(inputs, html, force=force, data_dir=data_dir, command=_command())
    if figures is not None:
        from lgl_bench.report.paper_figures import paper_figures

        made |= paper_figures(inputs, figures, force=force, data_dir=data_dir)
    if tables is not None:
        from lgl_bench.report.paper_tables.write import write_paper_tables

        made |= write_paper_tables(inputs, tables, force=force, command=_command())
    if open_page and html is not None:
        _show(html / "index.html")
    if as_json:
        print_json(made)
        return
    if html is not None:
        click.echo(f"{html / 'index.html'}: {made['pages']} pages, {made['rows']} rows, {made['bytes'] / 1e6:.1f} MB")
    if figures is not None:
        click.echo(f"{figures}: {len(made['figures'])} files")
        for name, why in made["left_out"].items():
            click.echo(f"left out {name}: {why}")
    if tables is not None:
        _say_tables(tables, made)


def _say_tables(folder: Path, made: dict[str, Any]) -> None:
    said = ", ".join(f"{count} {word}" for word, count in made["marks"].items())
    click.echo(f"{folder / 'index.html'}: {made['cells']} printed cells in {len(made['tables'])} tables: {said}")
    if made["few_seeds"]:
        click.echo(f"fewer than {MIN_SEEDS} seeds: {made['few_seeds']} of the measured cells")
    for budget, count in made["other_budgets"].items():
        click.echo(f"left out {count} rows of printed cells: their budget is {budget}")


def _show(page: Path) -> None:
    import webbrowser

    address = page.resolve().as_uri()
    if not webbrowser.open(address):
        click.echo(f"lgl-bench: no browser was found; set BROWSER to one, or open {address} yourself", err=True)


def _command() -> str:
    return shlex.join(["lgl-bench", *sys.argv[1:]])
