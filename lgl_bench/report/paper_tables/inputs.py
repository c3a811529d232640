"""What the paper's tables are made from: boards, and the parity measurements that were named or lie beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lgl_bench.core.errors import DataError
from lgl_bench.leaderboard.table.names import BOARD_FILE
from lgl_bench.report.data.sources import ReportInput, read_sources
from lgl_bench.report.paper_tables.ours import OurNumbers
from lgl_bench.report.paper_tables.tables import PaperCell, PaperTable, paper_tables
from lgl_bench.report.parity.measured import BUDGET, FILE, Measurement, measured_in, merged, read_measured
from lgl_bench.report.parity.printed import printed_cells

BESIDE = Path("parity") / FILE
"""Where measurements lie beside a board."""


@dataclass(frozen=True, slots=True)
class PaperReport:
    """The paper's tables with our numbers.

    Attributes:
        tables: In the order of the paper.
        left_out: Rows of other budgets that would answer a printed cell: how many of each.
        inputs: What the numbers come from.
    """

    tables: tuple[PaperTable, ...]
    left_out: dict[str, int]
    inputs: tuple[str, ...]

    @property
    def cells(self) -> list[PaperCell]:
        """Every printed cell, table by table."""
        return [cell for table in self.tables for cell in table.cells]

    @property
    def measured(self) -> int:
        """Printed cells with a number of ours."""
        return sum(cell.ours is not None for cell in self.cells)

    @property
    def few_seeds(self) -> int:
        """Printed cells with a number of ours that has few seeds behind it."""
        return sum(cell.verdict.few_seeds for cell in self.cells)


def board_paths(paths: Iterable[Path]) -> list[Path]:
    """What of the inputs is a board or a run folder, and not a file or folder of measurements alone."""
    return [path for path in map(Path, paths) if path.name != FILE and not _only_measurements(path)]


def read_measurements(paths: Iterable[Path], sources: Iterable[ReportInput]) -> tuple[list[Measurement], list[str]]:
    """Parity measurements, and the files they were read from.

    They come from every `measured.csv` that is named, that lies in a folder that is named, or that lies in `parity/`
    beside a leaderboard CSV; and from the year rows of run folders. Of what several have, the last ones.
    """
    files: dict[Path, None] = {}
    for path in map(Path, paths):
        if path.name == FILE and not path.is_dir():
            if not path.is_file():
                raise DataError(f"{path} does not exist; name a run folder, a leaderboard CSV or a {FILE}")
            files[path] = None
        beside = path / FILE if path.is_dir() else path.parent / BESIDE
        if beside.is_file():
            files[beside] = None
    measured: list[Measurement] = []
    for file in files:
        measured = merged(measured, read_measured(file))
    for source in sources:
        if source.folder is not None and source.plan is not None:
            measured = merged(measured, measured_in(source.folder))
    return measured, [str(file) for file in files]


def paper_report(paths: Iterable[Path]) -> PaperReport:
    """The paper's tables with what the inputs have of them.

    Raises:
        DataError: They have no number for any printed cell.
    """
    paths = list(paths)
    boards = board_paths(paths)
    sources = read_sources(boards) if boards else []
    found = _report(sources, *read_measurements(paths, sources))
    if not found.measured:
        others = ", ".join(f"{count} rows with the budget {budget}" for budget, count in found.left_out.items())
        raise DataError(
            f"nothing that was named has a number for a cell the paper prints: that takes its streams, its "
            f"hyperparameters and the budget {BUDGET}{f' (there are {others})' if others else ''}; measure cells with "
            f"'lgl-bench parity --stream cora --out parity' and name that folder"
        )
    return found


def found_report(paths: Iterable[Path], sources: Sequence[ReportInput]) -> PaperReport | None:
    """The same for inputs that were read already; None if they have no number for any printed cell."""
    measured, files = read_measurements(paths, sources)
    if not measured and not any((source.board["budget"] == BUDGET).any() for source in sources):
        return None
    found = _report(sources, measured, files)
    return found if found.measured else None


def _report(sources: Sequence[ReportInput], measured: Sequence[Measurement], files: Sequence[str]) -> PaperReport:
    printed = printed_cells()
    numbers = OurNumbers(printed, sources, measured)
    names = (*files, *(source.name for source in sources))
    return PaperReport(tuple(paper_tables(printed, numbers)), dict(numbers.left_out), names)


def _only_measurements(path: Path) -> bool:
    run = (BOARD_FILE, "plan.json")
    return path.is_dir() and (path / FILE).is_file() and not any((path / name).is_file() for name in run)
