r"""A table of the paper in LaTeX, with our numbers beneath the printed ones. Needs `\usepackage{booktabs}`."""

from __future__ import annotations

from collections.abc import Iterator

from lgl_bench import __version__
from lgl_bench.leaderboard.text_tables import escape
from lgl_bench.report.paper_tables.tables import PaperCell, PaperTable, spelled
from lgl_bench.report.paper_tables.words import FEW, SIGNS, notes_of, printed, provenance, switches_of
from lgl_bench.report.parity.measured import BUDGET
from lgl_bench.report.parity.verdict import Compared, Mark


def latex_table(table: PaperTable) -> str:
    """The table as a float of the width of the page."""
    made = provenance(table.cells)
    width = 2 + len(table.columns)
    lines = [
        rf"% Made by lgl-bench {__version__}; needs \usepackage{{booktabs}}. Budget of our numbers: {BUDGET}.",
        *(_comment(f"{name}: {'; '.join(found)}") for name, found in made.items() if found),
        r"\begin{table*}",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{_caption(table)}}}",
        rf"\label{{tab:paper-{table.name}}}",
        rf"\begin{{tabular}}{{ll{'c' * len(table.columns)}}}",
        r"\toprule",
        " & ".join(["", "", *map(escape, table.columns)]) + r" \\",
    ]
    for title, rows in table.groups:
        lines.append(r"\midrule")
        if title:
            lines += [rf"\multicolumn{{{width}}}{{l}}{{\textbf{{{escape(title)}}}}} \\", r"\midrule"]
        for name, cells in rows:
            lines += _row(name, cells, table)
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table*}"]) + "\n"


def _comment(text: str) -> str:
    return "% " + " ".join(text.split())


def _caption(table: PaperTable) -> str:
    parts = [
        f"{escape(table.title)}: printed, ours (mean $\\pm$ standard deviation over seeds, their number in brackets)",
        f"and the difference. {escape(table.about)}",
    ]
    numbered = _numbered(table)
    for mark, sign in SIGNS.items():
        if any(cell.verdict.mark == mark for cell in table.cells):
            parts.append(f"{sign.latex}~{escape(sign.meaning)}{_named(numbered) if mark == Mark.EXPLAINED else ''}.")
    if any(cell.verdict.few_seeds for cell in table.cells):
        parts.append(f"{FEW.latex}~{escape(FEW.meaning)}.")
    for note, backbones in notes_of(table.cells).items():
        parts.append(escape(f"{', '.join(map(spelled, backbones))}: {note}."))
    return " ".join(parts)


def _numbered(table: PaperTable) -> dict[str, int]:
    return {name: number for number, name in enumerate(switches_of(table.cells), 1)}


def _named(numbered: dict[str, int]) -> str:
    return " (" + ", ".join(f"$^{{{number}}}$~{escape(name)}" for name, number in numbered.items()) + ")"


def _row(name: str, cells: tuple[PaperCell | None, ...], table: PaperTable) -> Iterator[str]:
    """Three lines: printed, ours, difference with the mark."""
    numbered = _numbered(table)
    for at, (label, shown) in enumerate(
        (
            ("paper", [_paper(cell, table.digits) for cell in cells]),
            ("ours", [_ours(cell) for cell in cells]),
            ("diff.", [_difference(cell, numbered) for cell in cells]),
        )
    ):
        end = r" \\[2pt]" if label == "diff." else r" \\"
        yield " & ".join(["" if at else escape(name), label, *shown]) + end


def _paper(cell: PaperCell | None, digits: int) -> str:
    return "" if cell is None else "/".join(f"${printed(value, digits)}$" for value in cell.printed.figures.values())


def _ours(cell: PaperCell | None) -> str:
    if cell is None or cell.ours is None:
        return "" if cell is None else SIGNS[Mark.UNMEASURED].latex
    return "/".join(map(_figure, cell.ours.figures)) + f" ({cell.ours.seeds})"


def _figure(one: Compared) -> str:
    if one.ours is None:
        return "--"
    return f"${one.ours:.3f}$" if one.std is None else rf"${one.ours:.3f}_{{\pm {f'{one.std:.3f}'.removeprefix('0')}}}$"


def _difference(cell: PaperCell | None, numbered: dict[str, int]) -> str:
    if cell is None or cell.ours is None:
        return ""
    shown = "/".join("--" if one.difference is None else f"${one.difference:+.3f}$" for one in cell.ours.figures)
    numbers = ",".join(str(numbered[name]) for name in cell.verdict.switches)
    few = f"\\,{FEW.latex}" if cell.verdict.few_seeds else ""
    return rf"{shown}\,{SIGNS[cell.verdict.mark].latex}{f'$^{{{numbers}}}$' if numbers else ''}{few}"
