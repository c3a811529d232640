"""Marks and figures of the tables as they are read: on the page and in LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from lgl_bench.report.paper_tables.ours import PARITY, OurCell
from lgl_bench.report.paper_tables.tables import PaperCell
from lgl_bench.report.parity.switches import published_code
from lgl_bench.report.parity.verdict import FAR, MIN_SEEDS, Mark, means


@dataclass(frozen=True, slots=True)
class Sign:
    """A mark as it is seen.

    Attributes:
        page: On the page.
        latex: In LaTeX, without packages.
        word: What it says of a cell.
        meaning: The same in a sentence.
    """

    page: str
    latex: str
    word: str
    meaning: str


SIGNS = {
    Mark.WITHIN: Sign("✓", r"$\bullet$", f"within {FAR}", f"every printed figure is within {FAR} of ours"),
    Mark.EXPLAINED: Sign(
        "†", r"$\dagger$", "explained", f"not within {FAR}, but with a switch to what the published code does"
    ),
    Mark.OPEN: Sign(
        "✗", r"$\times$", "not explained", f"not within {FAR}, and no switch that was measured brings it there"
    ),
    Mark.UNMEASURED: Sign("–", "--", "not measured", "there is no number of ours yet"),
}
FEW = Sign(
    "?", "$?$", f"fewer than {MIN_SEEDS} seeds", f"fewer than {MIN_SEEDS} seeds behind ours, or behind the switch"
)
METRIC_NAMES = {"accuracy": "accuracy", "auroc": "AUROC", "micro_f1": "micro F1"}
CHOICE = (
    "A number of ours is a parity measurement, or a row of a board with the budget paper, the paper's hyperparameters "
    "and the paper's streams: the same computation. The one with more seeds stands; with equally many, the "
    "measurement. Rows of other budgets, of synthetic twins and of other streams never stand in a cell."
)
"""Which of several numbers stands."""


def printed(value: float, digits: int) -> str:
    """A figure as the paper prints it: so many digits, or more if it has them.

    >>> printed(0.9, 2), printed(0.879, 2), printed(0.82, 3)
    ('0.90', '0.879', '0.820')
    """
    return max(f"{value:.{digits}f}", f"{value:g}", key=len)


def metrics(cells: Iterable[PaperCell]) -> str:
    """What the figures of cells are, in their order."""
    return " / ".join(METRIC_NAMES[metric] for metric in next(iter(cells)).printed.figures)


def reason(cell: PaperCell) -> str:
    """What there is to say of a cell beside its mark; "" if nothing."""
    parts = [_with(one) for one in cell.switched if one.switch in cell.verdict.switches]
    if cell.verdict.mark == Mark.OPEN:
        parts += [f"not {_with(one)}" for one in cell.switched]
        parts += [f"{', '.join(cell.untried)} not run"] if cell.untried else []
    if cell.ours is not None and cell.printed.threshold:
        parts.append(f"on {cell.ours.backbone}, {cell.ours.expression}")
    if cell.ours is not None and cell.ours.skipped:
        parts.append(f"{cell.ours.skipped} tasks without a value")
    if cell.ours is not None and cell.ours.source != PARITY:
        parts.append(f"from {cell.ours.source}")
    return "; ".join(parts)


def _with(one: OurCell) -> str:
    return f"with {one.switch} {means(one)} ({seeds(one)})"


def seeds(ours: OurCell) -> str:
    """How many there are, in words."""
    return f"{ours.seeds} seed{'' if ours.seeds == 1 else 's'}"


def counted(cells: Iterable[PaperCell]) -> dict[Mark, int]:
    """Cells by mark, every mark included."""
    found = Counter(cell.verdict.mark for cell in cells)
    return {mark: found[mark] for mark in Mark}


def switches_of(cells: Iterable[PaperCell]) -> dict[str, str]:
    """The switches that explain some of the cells, in the order of their declaration, with what each changes."""
    named = {name for cell in cells for name in cell.verdict.switches}
    return {name: switch.changes for name, switch in published_code().switches.items() if name in named}


def notes_of(cells: Iterable[PaperCell]) -> dict[str, list[str]]:
    """Notes on printed cells, each with the backbones it is on."""
    found: dict[str, list[str]] = {}
    for cell in cells:
        backbone = cell.printed.cell.backbone
        if cell.note and backbone not in found.setdefault(cell.note, []):
            found[cell.note].append(backbone)
    return found


def provenance(cells: Iterable[PaperCell]) -> dict[str, list[str]]:
    """Commits, versions and sources of our numbers, each once."""
    ours = [cell.ours for cell in cells if cell.ours is not None]
    return {
        "commits": sorted({commit or "not recorded" for one in ours for commit in one.commit.split() or [""]}),
        "versions": sorted({one.versions for one in ours}),
        "sources": sorted({one.source for one in ours}),
    }
