"""The paper's tables as a page: of the site, or one that needs no other file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lgl_bench import __version__
from lgl_bench.leaderboard.published import PAPER
from lgl_bench.report.data.tables import Table
from lgl_bench.report.paper_tables.inputs import PaperReport
from lgl_bench.report.paper_tables.tables import PaperCell, PaperTable, spelled
from lgl_bench.report.paper_tables.words import (
    CHOICE,
    FEW,
    SIGNS,
    counted,
    metrics,
    notes_of,
    printed,
    provenance,
    reason,
    seeds,
)
from lgl_bench.report.parity.measured import BUDGET
from lgl_bench.report.parity.switches import published_code
from lgl_bench.report.parity.verdict import Mark, means


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell in words.

    Attributes:
        paper: What is printed.
        ours: What was measured; "" if nothing was.
        deviation: Over seeds; "" for one seed.
        difference: Ours minus the printed.
        sign: The mark.
        word: What it says.
        warn: Whether something is left to do.
        seeds: How many, in words; "" if there are none.
        few: Whether these are too few.
        reason: What else there is to say.
    """

    paper: str
    ours: str
    deviation: str
    difference: str
    sign: str
    word: str
    warn: bool
    seeds: str
    few: bool
    reason: str


def shown(cell: PaperCell, digits: int) -> ShownCell:
    """A cell in words."""
    sign, ours = SIGNS[cell.verdict.mark], cell.ours
    figures = () if ours is None else ours.figures
    deviations = ["–" if one.std is None else f"{one.std:.3f}" for one in figures]
    return ShownCell(
        " / ".join(printed(value, digits) for value in cell.printed.figures.values()),
        "" if ours is None else means(ours),
        " / ".join(deviations) if any(one.std is not None for one in figures) else "",
        " / ".join("undefined" if one.difference is None else f"{one.difference:+.3f}" for one in figures),
        sign.page,
        sign.word,
        cell.verdict.mark == Mark.OPEN,
        "" if ours is None else seeds(ours),
        cell.verdict.few_seeds,
        reason(cell),
    )


def page_values(report: PaperReport, csv: str, tex: bool) -> dict[str, Any]:
    """What the template `paper.html` shows.

    Args:
        report: The tables.
        csv: Address of the file with every cell.
        tex: Whether the tables are beside the page in LaTeX.
    """
    cells = report.cells
    return {
        "title": "The paper's tables",
        "paper": PAPER,
        "total": len(cells),
        "measured": report.measured,
        "counts": [(SIGNS[mark].word, count) for mark, count in counted(cells).items()],
        "few": FEW,
        "few_count": report.few_seeds,
        "left_out": sorted(report.left_out.items()),
        "own_budget": BUDGET,
        "signs": [*SIGNS.values(), FEW],
        "choice": CHOICE,
        "tables": [_table(table, tex) for table in report.tables],
        "switches": [(name, one.changes) for name, one in published_code().switches.items()],
        "provenance": [("budget", [BUDGET]), *provenance(cells).items()],
        "inputs": report.inputs,
        "csv": csv,
        "version": __version__,
    }


def _table(table: PaperTable, tex: bool) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "about": table.about,
        "metrics": metrics(table.cells),
        "columns": table.columns,
        "notes": [f"{', '.join(map(spelled, on))}: {note}." for note, on in notes_of(table.cells).items()],
        "groups": [
            (title, [(name, [one and shown(one, table.digits) for one in cells]) for name, cells in rows])
            for title, rows in table.groups
        ],
        "tex": f"{table.name}.tex" if tex else "",
    }


def cells_table(report: PaperReport) -> Table:
    """Every printed figure with ours, as a table for download."""
    columns = ["table", "stream", "split", "backbone", "detector", "threshold", "metric"]
    columns += ["paper", "ours", "std", "difference", "seeds", "mark", "few_seeds", "explained_by", "tried", "untried"]
    columns += ["note", "budget", "source", "run_backbone", "run_detector", "commit", "versions", "stream_checksum"]
    rows: list[list[object]] = []
    for table in report.tables:
        for cell in table.cells:
            one, said, ours = cell.printed, cell.verdict, cell.ours
            about = [table.name, *one.place, one.threshold]
            marks = [said.mark.value, "yes" if said.few_seeds else "no"]
            measured = [found.switch for found in cell.switched]
            marks += [" ".join(names) for names in (said.switches, measured, cell.untried)] + [cell.note]
            made: list[object] = [None] * 7
            if ours is not None:
                made = [BUDGET, ours.source, ours.backbone, ours.expression]
                made += [ours.commit, ours.versions, ours.stream_checksum]
            found = {} if ours is None else {figure.metric: figure for figure in ours.figures}
            for metric, paper in one.figures.items():
                figure = found.get(metric)
                numbers = [None] * 3 if figure is None else [figure.ours, figure.std, figure.difference]
                rows.append([*about, metric, paper, *numbers, 0 if ours is None else ours.seeds, *marks, *made])
    return Table(columns, rows)
