"""Parity with the paper: its cells run again with its hyperparameters, side by side with what it prints.

Cells are run as every suite is: a plan, the paper budget, and a run folder that goes on where it was interrupted. What
is graded there becomes `measured.csv`, beside what was measured earlier, and the tables are made from that file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lgl_bench.core.files import clear_leftovers, write_text
from lgl_bench.core.registry import load_plugin
from lgl_bench.pipeline import answer_plan, grade_years, plan_run, run_plan
from lgl_bench.plans.plan import Plan
from lgl_bench.report.parity.arms import arms_of
from lgl_bench.report.parity.cells import Cell
from lgl_bench.report.parity.left import Left
from lgl_bench.report.parity.measured import (
    BUDGET,
    FILE,
    Measurement,
    measured_in,
    merged,
    read_measured,
    write_measured,
)
from lgl_bench.report.parity.switches import Switch, published_code
from lgl_bench.report.parity.table import ParityRow, parity_table, write_table
from lgl_bench.report.parity.text import markdown
from lgl_bench.runs.options import Settings
from lgl_bench.runs.progress import Listener
from lgl_bench.streams.stream import Stream


def run_cells(
    cells: Sequence[Cell],
    switches: Sequence[Switch],
    settings: Settings,
    seeds: int,
    listener: Listener | None = None,
    *,
    only_left: bool = False,
) -> dict[str, str]:
    """Runs cells as the paper says, then with each switch that changes them; what the folder holds is not run again.

    Args:
        cells: Of streams that are available.
        switches: What the published code does differently; their plugins are loaded.
        settings: Where and how; preset files are written below its folder.
        seeds: How many.
        listener: Called with every event.
        only_left: Leave out cells that the folder's `measured.csv` has with enough seeds, and switches for cells that
            are near the printed ones or explained by then.

    Returns:
        What failed, with its reason.
    """
    if switches:
        load_plugin(published_code().plugin)
        settings = replace(settings, plugins=(*settings.plugins, str(published_code().plugin)))
    failed: dict[str, str] = {}
    last: tuple[Plan, dict[str, Stream], Settings] | None = None
    for switch in (None, *switches):
        name = switch.name if switch else ""
        if only_left and last:
            grade_years(*last)
        left = Left(_table_of(_measured(settings.out)), seeds) if only_left else None
        for arm in arms_of([cell for cell in cells if left is None or left.lacks(cell, name)], switch):
            chosen = replace(settings, preset=arm.write_presets(settings.out / "presets"))
            plan, streams = plan_run(arm.suite, chosen, seeds=seeds, budget=BUDGET, **arm.axes)
            failed |= answer_plan(plan, streams, chosen, listener).failed
            last = plan, streams, chosen
    if last:
        run_plan(*last)  # nothing is left to answer: the board of the whole folder, once
    return failed


def _measured(out: Path) -> list[Measurement]:
    """What a folder holds: by earlier commands, and of its own runs."""
    return merged(read_measured(out / FILE), measured_in(out))


def _table_of(measured: list[Measurement]) -> list[ParityRow]:
    return parity_table(measured) if measured else []


def write_tables(out: Path, seeds: int) -> list[ParityRow]:
    """Writes what a folder holds, of earlier commands too: measured.csv, parity.csv and parity.md.

    Args:
        out: The folder.
        seeds: That every cell should have.
    """
    measured = _measured(out)
    rows = parity_table(measured)
    write_measured(measured, out / FILE)
    write_table(rows, out / "parity.csv")
    clear_leftovers(out / "parity.md")
    write_text(out / "parity.md", markdown(rows, seeds))
    return rows
