"""Figures for papers: one style, SVG, PDF and PNG, the same bytes every time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.files import clear_leftovers, writing
from lgl_bench.report.data.names import slug
from lgl_bench.report.data.rows import Place, ShownRow, report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.data.stream_facts import StreamFacts, stream_facts
from lgl_bench.report.panels.over_time import leaders
from lgl_bench.report.panels.sweeps import Sweep, alpha_sweeps, rate_sweeps
from lgl_bench.report.paper_axes import COLOURS, band, line, new_figure
from lgl_bench.report.paper_strategies import strategy_figures

FORMATS = ("svg", "pdf", "png")
_STYLE = {
    "font.size": 8,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "savefig.dpi": 200,
    "svg.hashsalt": "lgl-bench",
    "pdf.fonttype": 42,
    # A dollar sign in a name is a dollar sign.
    "text.parse_math": False,
}
# Without dates and program names, the same figure is the same file.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
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
    sources = read_sources(paths)
    rows = report_rows(sources, data_dir)
    places = list(dict.fromkeys(row.place for row in rows))
    facts = _facts(places, data_dir)
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError("--figures needs matplotlib; install it with: pip install 'lgl-bench[report]'") from error
    with matplotlib.rc_context(_STYLE):
        drawn: dict[str, Figure] = {}
        left_out: dict[str, str] = {}
        for name, sweeps, metric, x, y in (
            ("alpha-sweep", alpha_sweeps(rows), "auroc_weighted", "alpha", "AUROC"),
            ("threshold-sensitivity", rate_sweeps(rows), "macro_f1", "q, delta", "macro F1"),
        ):
            if sweeps:
                drawn[name] = _sweeps(sweeps, metric, x, y)
            else:
                left_out[name] = "no rows that differ in this alone"
        for one in facts:
            if len(one.years) > 1:
                drawn[f"growth-{slug(one.name)}"] = _growth(one)
                drawn[f"homophily-{slug(one.name)}"] = _homophily(one)
            else:
                left_out[f"growth-{slug(one.name)}"] = one.missing or "a single point in time"
        for place in places:
            figure = _curves([row for row in rows if row.place == place])
            if figure is None:
                left_out[f"curves-{place.slug}"] = "no AUROC over several years"
            else:
                drawn[f"curves-{place.slug}"] = figure
        drawn |= strategy_figures(rows, sources)
        return {"figures": _save(drawn, folder, force), "left_out": left_out}


def _facts(places: Sequence[Place], data_dir: Path | None) -> list[StreamFacts]:
    checksums: dict[str, set[str]] = {}
    for place in places:
        checksums.setdefault(place.stream, set()).add(place.checksum)
    return [
        stream_facts(name, next(iter(found)) if len(found) == 1 else "", data_dir) for name, found in checksums.items()
    ]


def _save(drawn: dict[str, Any], folder: Path, force: bool) -> list[str]:
    targets = {folder / f"{name}.{ending}": (figure, ending) for name, figure in drawn.items() for ending in FORMATS}
    there = [path for path in targets if path.exists()]
    if there and not force:
        raise UsageError(f"{there[0]} exists already; give --force to replace it, or another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, (figure, ending) in targets.items():
            clear_leftovers(path)
            with writing(path) as partial:
                figure.savefig(partial, format=ending, metadata=_METADATA[ending])
    except OSError as error:
        raise DataError(f"the figures cannot be written to {folder}: {error.strerror or error}") from error
    return [str(path) for path in targets]


def _sweeps(sweeps: Sequence[Sweep], metric: str, x: str, y: str) -> Any:
    places = list(dict.fromkeys(sweep.place for sweep in sweeps))
    figure, axes = new_figure(len(places))
    names = list(dict.fromkeys(sweep.name.removesuffix(", with test vertices") for sweep in sweeps))
    for axis, place in zip(axes, places, strict=True):
        for sweep in (one for one in sweeps if one.place == place):
            colour = names.index(sweep.name.removesuffix(", with test vertices"))
            points = [(at, row.figures[metric]) for at, row in sweep.points if row.figures[metric].mean is not None]
            line(
                axis, colour, [at for at, _ in points], [one.mean or 0.0 for _, one in points], sweep.name, sweep.dashed
            )
            banded = [(at, one.lo, one.hi) for at, one in points if one.lo is not None and one.hi is not None]
            if banded:
                ats, lows, highs = zip(*banded, strict=True)
                band(axis, colour, ats, lows, highs)
        axis.set(title=place, xlabel=x, ylabel=y)
        axis.legend()
    return figure


def _growth(facts: StreamFacts) -> Any:
    figure, axes = new_figure(2)
    years = [row["time"] for row in facts.years]
    line(axes[0], 0, years, [row["vertices"] for row in facts.years], "vertices")
    line(axes[0], 1, years, [row["edges"] for row in facts.years], "edges", dashed=True)
    axes[0].set_yscale("symlog")
    axes[0].set(xlabel="year", ylabel="count", title=facts.name)
    axes[1].bar(years, [row["new"] for row in facts.years], color=COLOURS[1], label="new that year")
    line(axes[1], 0, years, [row["known"] for row in facts.years], "known")
    axes[1].set(xlabel="year", ylabel="classes")
    for axis in axes:
        axis.legend()
    return figure


def _homophily(facts: StreamFacts) -> Any:
    figure, axes = new_figure(1)
    for at, (column, label) in enumerate((("homophily", "class-insensitive homophily"), ("drift", "class drift"))):
        found = [(row["time"], row[column]) for row in facts.years if row[column] is not None]
        line(axes[0], at, [x for x, _ in found], [y for _, y in found], label, dashed=at == 1)
    axes[0].set(xlabel="year", ylabel="share", title=facts.name, ylim=(0, 1))
    axes[0].legend()
    return figure


def _curves(rows: Sequence[ShownRow]) -> Any:
    best = [row for row in leaders(rows) if row.curve is not None and row.curve.over_years and len(row.curve.at) > 1]
    if not best:
        return None
    figure, axes = new_figure(1)
    figure.set_size_inches(5.2, 3.4)
    for at, row in enumerate(best):
        assert row.curve is not None
        points = [(x, p) for x, p in zip(row.curve.at, row.curve.values.get("auroc", ()), strict=False) if p]
        xs = [float(x) for x, _ in points]
        line(axes[0], at, xs, [p.mean for _, p in points], row.name)
        if any(p.seeds > 1 for _, p in points):
            band(axes[0], at, xs, [p.lo for _, p in points], [p.hi for _, p in points])
    assert best[0].curve is not None
    for time, new in zip(best[0].curve.at, best[0].curve.n_new, strict=True):
        if new > 0:
            axes[0].axvspan(float(time) - 0.3, float(time) + 0.3, color="#E69F00", alpha=0.12, linewidth=0)
    axes[0].set(xlabel="year", ylabel="AUROC", title=best[0].place.label)
    axes[0].legend()
    return figure
