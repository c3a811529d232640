"""The parity report for reading: our cells, those far from the printed ones, every switch, and what is left to run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from lgl_bench.report.parity.cells import TRANSDUCTIVE, cells_of
from lgl_bench.report.parity.left import Left, verdicts
from lgl_bench.report.parity.printed import printed_cells
from lgl_bench.report.parity.switches import published_code
from lgl_bench.report.parity.table import ParityRow
from lgl_bench.report.parity.verdict import FAR, MIN_SEEDS, Mark, Verdict, means

_CELL = ("stream", "split", "backbone", "detector")


def markdown(rows: Sequence[ParityRow], wanted: int) -> str:
    """A sentence that counts the cells, and the four tables, each if it has a row.

    Args:
        rows: Of `parity_table`.
        wanted: Seeds that every cell should have.
    """
    ours = [row for row in rows if not row.switch]
    switched = [row for row in rows if row.switch]
    parts = [_summary(rows), _own_table(ours)]
    if far := _far_table(rows):
        parts += [f"## Cells further than {FAR} from the printed ones, and what explains them", far]
    if switched:
        parts += ["## What the published code does differently", _switch_table(switched, ours)]
    if left := _left_table(rows, wanted):
        about = f"Seeds that were measured, of cells with fewer than {wanted}, or of switches that may yet explain one."
        parts += ["## What is left to run", about, left]
    return "\n\n".join([*parts, _provenance(rows)]) + "\n"


def _summary(rows: Sequence[ParityRow]) -> str:
    """How many of the cells that the paper prints for these streams are answered, and how."""
    streams = {row.stream for row in rows}
    said = {row.place: answer for row, _, answer in verdicts(rows)}
    printed = [one for one in printed_cells() if not one.threshold and one.cell.stream in streams]
    answers = [said.get(one.place, Verdict(Mark.UNMEASURED)) for one in printed]
    marks = Counter(answer.mark for answer in answers)
    few = sum(answer.few_seeds for answer in answers)
    return (
        f"Of {len(printed)} printed cells {marks[Mark.WITHIN]} are within {FAR}, {marks[Mark.EXPLAINED]} are explained "
        f"by a switch, {marks[Mark.OPEN]} are not explained, and {marks[Mark.UNMEASURED]} are not measured; "
        f"{few} of these answers rest on fewer than {MIN_SEEDS} seeds."
    )


def _own_table(rows: Sequence[ParityRow]) -> str:
    header = [*_CELL, "seeds", "commit", "accuracy paper", "ours", "diff.", "AUROC paper", "ours", "diff."]
    lines = [[*row.place, str(row.seeds), row.commit, *_accuracy(row), *_auroc(row)] for row in rows]
    return _table(header, lines, left=4)


def _switch_table(rows: Sequence[ParityRow], ours: Sequence[ParityRow]) -> str:
    """One row per cell and switch: ours, and with the switch; differences are to what the paper prints."""
    own = {row.place: row for row in ours}
    header = [*_CELL, "switch", "seeds", "commit", "accuracy paper", "ours", "with it", "diff."]
    header += ["AUROC paper", "ours", "with it", "diff."]
    lines = []
    for row in rows:
        line = [*row.place, row.switch, str(row.seeds), row.commit]
        beside = own.get(row.place)
        for figures in (_accuracy, _auroc):
            paper, found, difference = figures(row)
            line += [paper, figures(beside)[1] if beside else "", found, difference]
        lines.append(line)
    return _table(header, lines, left=5)


def _far_table(rows: Sequence[ParityRow]) -> str:
    """One row per cell that is far from the printed one: what explains it, or what does not; "" if there is none."""
    header = [*_CELL, "printed", "ours", "verdict", "with the switch that explains it", "without success", "not run"]
    lines = []
    for ours, switched, said in verdicts(rows):
        if said.mark not in (Mark.EXPLAINED, Mark.OPEN):
            continue
        helps = [row for row in switched if row.switch in said.switches]
        others = [row for row in switched if row.switch not in said.switches] if said.mark == Mark.OPEN else []
        untried = published_code().untried(ours.cell, {row.switch for row in switched})
        lines.append(
            [
                *ours.place,
                " / ".join(f"{one.paper:.3f}" for one in ours.figures),
                means(ours),
                said.mark + (" (few seeds)" if said.few_seeds else ""),
                "; ".join(f"{row.switch} {means(row)}" for row in helps),
                "; ".join(f"{row.switch} {means(row)}" for row in others),
                ", ".join(untried) if said.mark == Mark.OPEN else "",
            ]
        )
    return _table(header, lines, left=len(header)) if lines else ""


def _left_table(rows: Sequence[ParityRow], wanted: int) -> str:
    """Seeds that were measured, per trained model and switch, if more of them could answer something; "" if none."""
    left, switches = Left(rows, wanted), published_code().switches
    places = sorted({(row.stream, row.split) for row in rows if row.split != TRANSDUCTIVE})
    lines = []
    for cell in dict.fromkeys(cell for stream, split in places for cell in cells_of(stream, split)):
        applied = ["", *(name for name, switch in switches.items() if switch.applies(cell))]
        if any(left.lacks(cell, name) for name in applied):
            counts = [str(left.seeds(cell, name)) if name in applied else "" for name in ("", *switches)]
            lines.append([cell.stream, cell.split, cell.backbone, cell.head, *counts])
    return _table(["stream", "split", "backbone", "head", "ours", *switches], lines, left=4) if lines else ""


def _provenance(rows: Sequence[ParityRow]) -> str:
    first = rows[0]
    versions = f"lgl-bench {first.lgl_bench}, torch {first.torch}, dgl {first.dgl}, Python {first.python}"
    hours = sum({_trained(row): row.fit_seconds for row in rows}.values()) / 3600
    return f"{versions}; {hours:.1f} hours of training on one core."


def _trained(row: ParityRow) -> tuple[str, ...]:
    """What distinguishes trained models: the rows of a detector and of GOOD over it share them."""
    return row.stream, row.split, row.backbone, row.head, row.switch


def _accuracy(row: ParityRow) -> list[str]:
    return _figures(row.accuracy_paper, row.accuracy_ours, row.accuracy_std, row.accuracy_difference)


def _auroc(row: ParityRow) -> list[str]:
    return _figures(row.auroc_paper, row.auroc_ours, row.auroc_std, row.auroc_difference)


def _figures(
    paper: float | None, measured: float | None, deviation: float | None, difference: float | None
) -> list[str]:
    """What the paper prints, what was measured with its deviation over seeds, the difference."""
    shown = "" if measured is None else f"{measured:.3f}" + ("" if deviation is None else f" ± {deviation:.3f}")
    return ["" if paper is None else f"{paper:.3f}", shown, "" if difference is None else f"{difference:+.3f}"]


def _table(header: Sequence[str], lines: Iterable[Sequence[str]], left: int) -> str:
    rules = ["---"] * left + ["---:"] * (len(header) - left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [header, rules, *lines])
