"""What is left to run of the paper's cells: ours with too few seeds, and switches that may yet explain one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from lgl_bench.report.parity.cells import Cell
from lgl_bench.report.parity.switches import published_code
from lgl_bench.report.parity.table import ParityRow
from lgl_bench.report.parity.verdict import Mark, Verdict, verdict


def verdicts(rows: Iterable[ParityRow]) -> Iterator[tuple[ParityRow, list[ParityRow], Verdict]]:
    """Our rows, each with those of the same cell under a switch and what is said of it."""
    ours: list[ParityRow] = []
    switched: dict[tuple[str, ...], list[ParityRow]] = {}
    for row in rows:
        (switched.setdefault(row.place, []) if row.switch else ours).append(row)
    for row in ours:
        beside = switched.get(row.place, [])
        yield row, beside, verdict(row, beside)


class Left:
    """What more seeds could answer.

    Args:
        rows: What was measured, of `parity_table`.
        wanted: Seeds that a cell should have.
    """

    def __init__(self, rows: Sequence[ParityRow], wanted: int) -> None:
        self._wanted = wanted
        self._seeds: Counter[tuple[Cell, str]] = Counter()
        for row in rows:
            self._seeds[row.cell, row.switch] = max(self.seeds(row.cell, row.switch), row.seeds)
        self._asked: dict[Cell, set[str]] = {}
        for row, _, said in verdicts(rows):
            every = published_code().switches if said.mark == Mark.OPEN else said.switches
            self._asked.setdefault(row.cell, set()).update(every)

    def seeds(self, cell: Cell, switch: str = "") -> int:
        """How many were measured."""
        return self._seeds[cell, switch]

    def lacks(self, cell: Cell, switch: str = "") -> bool:
        """Whether a cell has too few seeds, of its own or with a switch that may explain it and changes it."""
        return self.seeds(cell, switch) < self._wanted and (not switch or switch in self._asked.get(cell, ()))
