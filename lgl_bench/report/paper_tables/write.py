"""`lgl-bench report --paper-tables`: a folder with every table in LaTeX, all of them on one page, and their cells."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lgl_bench import __version__
from lgl_bench.report.data.tables import write_table
from lgl_bench.report.data.words import without_paths
from lgl_bench.report.paper_tables.inputs import PaperReport, paper_report
from lgl_bench.report.paper_tables.latex import latex_table
from lgl_bench.report.paper_tables.page import cells_table, page_values
from lgl_bench.report.paper_tables.words import SIGNS, counted
from lgl_bench.report.site import ASSETS, templates
from lgl_bench.report.site_folder import check_place, replacing

CELLS = "cells.csv"


def write_paper_tables(paths: Iterable[Path], place: Path, *, force: bool = False, command: str = "") -> dict[str, Any]:
    """Writes the folder, whole or not at all.

    Args:
        paths: Run folders, leaderboard CSVs, and files or folders of parity measurements.
        place: The folder.
        force: Whether one that is there is replaced.
        command: What the user typed, shown on the page.

    Returns:
        Its tables, how many cells are printed, what is said of them, and what was left out.
    """
    check_place(Path.cwd() / place, force)
    report = paper_report(paths)
    about = {
        "made_by": f"lgl-bench {__version__}",
        "command": without_paths(command),
        "inputs": [without_paths(name) for name in report.inputs],
    }
    with replacing(place, force, about) as folder:
        for table in report.tables:
            (folder / f"{table.name}.tex").write_text(latex_table(table), encoding="utf-8")
        (folder / "index.html").write_text(_page(report, command), encoding="utf-8", errors="replace")
        write_table(cells_table(report), folder / CELLS)
    return {
        "paper_tables": str(place),
        "tables": [f"{table.name}.tex" for table in report.tables],
        "cells": len(report.cells),
        "marks": {SIGNS[mark].word: count for mark, count in counted(report.cells).items()},
        "few_seeds": report.few_seeds,
        "other_budgets": report.left_out,
    }


def _page(report: PaperReport, command: str) -> str:
    from markupsafe import Markup

    made = templates()
    assets = {
        name: Markup((ASSETS / name).read_text(encoding="utf-8")) for name in ("site.css", "scheme.js", "site.js")
    }
    values = page_values(report, CELLS, tex=True)
    page = made.get_template("paper_alone.html").render(
        root="",
        here="index.html",
        command=command,
        has_paper=False,
        style=assets["site.css"],
        first_script=assets["scheme.js"],
        last_script=assets["site.js"],
        **values,
    )
    return str(page)
