"""Figures for papers: the drawings of the page as SVG, PDF and PNG, the same bytes every time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.files import clear_leftovers, writing
from lgl_bench.report.data.rows import ShownRow, report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.data.stream_facts import StreamFacts, stream_facts
from lgl_bench.report.data.words import file_name
from lgl_bench.report.panels.gallery import gallery
from lgl_bench.report.panels.panel import Panel
from lgl_bench.report.panels.stream import stream_panels
from lgl_bench.report.paper_drawing import figure_of
from lgl_bench.report.paper_tables.inputs import board_paths
from lgl_bench.report.svg.charts import Chart
from lgl_bench.report.svg.style import standalone

FORMATS = ("svg", "pdf", "png")
_STYLE = {
    "font.family": "DejaVu Sans",
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    # A dollar sign in a name is a dollar sign.
    "text.parse_math": False,
}
# Without dates and program names, the same figure is the same file.
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def paper_figures(
    paths: Iterable[Path], folder: Path, *, force: bool = False, data_dir: Path | None = None
) -> dict[str, Any]:
    """Draws every figure there are rows for.

    Returns:
        The files that were written, and for each figure that was left out, why.
    """
    sources = read_sources(board_paths(paths))
    rows = report_rows(sources, data_dir)
    try:
        import matplotlib
    except ImportError as error:
        raise UsageError("--figures needs matplotlib; install it with: pip install 'lgl-bench[report]'") from error
    panels = gallery(rows, sources)
    left_out = {panel.kind: panel.empty for panel in panels if panel.empty}
    for facts in _facts(rows, data_dir):
        found = stream_panels(facts, facts.name)
        panels += found
        if not found:
            left_out[file_name("growth", facts.name)] = facts.missing or "a single point in time"
    with matplotlib.rc_context(_STYLE):
        return {"figures": _save(_named(panels), folder, force), "left_out": left_out}


def _facts(rows: Sequence[ShownRow], data_dir: Path | None) -> list[StreamFacts]:
    checksums: dict[str, set[str]] = {}
    for row in rows:
        checksums.setdefault(row.place.stream, set()).add(row.place.checksum)
    return [
        stream_facts(name, next(iter(found)) if len(found) == 1 else "", data_dir) for name, found in checksums.items()
    ]


def _named(panels: Sequence[Panel]) -> dict[str, Chart]:
    """Every drawing under a name of its own: what it shows, and of which stream."""
    found: dict[str, Chart] = {}
    for panel in panels:
        for chart in panel.charts:
            name = plain = file_name(panel.kind, chart.title)
            number = 2
            while name in found:
                name, number = f"{plain}-{number}", number + 1
            found[name] = chart
    return found


def _save(drawn: dict[str, Chart], folder: Path, force: bool) -> list[str]:
    targets = {folder / f"{name}.{ending}": (chart, ending) for name, chart in drawn.items() for ending in FORMATS}
    there = [path for path in targets if path.exists()]
    if there and not force:
        raise UsageError(f"{there[0]} exists already; give --force to replace it, or another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, (chart, ending) in targets.items():
            clear_leftovers(path)
            with writing(path) as partial:
                if ending == "svg":
                    partial.write_text(standalone(chart.svg), encoding="utf-8", errors="replace")
                else:
                    figure_of(chart.svg).savefig(partial, format=ending, metadata=_METADATA[ending])
    except OSError as error:
        raise DataError(f"the figures cannot be written to {folder}: {error.strerror or error}") from error
    return [str(path) for path in targets]
