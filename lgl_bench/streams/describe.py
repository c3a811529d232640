"""What a stream looks like: the figures behind `lgl-bench data describe`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Sparse
from lgl_bench.streams import homophily
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.drift import drift_over_time
from lgl_bench.streams.stream import Stream


def describe(stream: Stream) -> dict[str, Any]:
    """Every figure, under the names people script against."""
    births = stream.class_births()
    t0 = stream.info.t0
    known_at_t0 = len(births) if t0 is None else sum(year <= t0 for year in births.values())
    over_time = homophily.class_insensitive_over_time(stream.arcs, stream.labels, stream.vertex_ends, stream.edge_ends)
    defined = [value for value in over_time if value is not None]
    arcs, labels = stream.arcs, stream.labels
    return {
        "name": stream.name,
        "source": stream.info.source,
        "licence": stream.info.licence,
        "citation": stream.info.citation,
        "vertices": stream.num_vertices,
        "edges": stream.num_edges,
        "arcs": 2 * stream.num_edges,
        "features": stream.features.shape[1],
        "feature_kind": "sparse" if isinstance(stream.features, Sparse) else "dense",
        "classes": len(births),
        "known_at_t0": known_at_t0,
        "new_classes": len(births) - known_at_t0,
        "t0": t0,
        "homophily": {
            "graph": homophily.graph_level(arcs, labels),
            "vertex": homophily.vertex_level(arcs, labels),
            "class_insensitive": homophily.class_insensitive(arcs, labels),
            "index": homophily.index(arcs, labels),
        },
        "homophily_over_time": {
            "mean": float(np.mean(defined)) if defined else None,
            "std": float(np.std(defined)) if defined else None,
        },
        "stream_checksum": stream_checksum(stream),
        "imported": dict(stream.info.imported),
        "notes": list(stream.info.notes),
        "unit": stream.info.unit,
        "named": stream.names is not None,
        "unlabelled": int((labels < 0).sum()),
        "isolated": int((np.bincount(arcs[0], minlength=stream.num_vertices) == 0).sum()),
        "per_class": _per_class(stream, births),
        "years": _years(stream, births, over_time),
    }


def _years(stream: Stream, births: dict[int, int], over_time: list[float | None]) -> list[dict[str, Any]]:
    born_in = Counter(births.values())
    drift = drift_over_time(stream.labels, stream.vertex_ends)
    rows, known = [], 0
    for i, time in enumerate(stream.times):
        known += born_in[time]
        rows.append(
            {
                "time": time,
                "vertices": stream.vertex_ends[i],
                "edges": stream.edge_ends[i],
                "known": known,
                "new": born_in[time],
                "homophily": over_time[i],
                "drift": drift[i],
            }
        )
    return rows


def _per_class(stream: Stream, births: dict[int, int]) -> list[dict[str, Any]]:
    figures = homophily.per_class(stream.arcs, stream.labels)
    sizes = np.bincount(stream.labels[stream.labels >= 0], minlength=stream.num_classes)
    return [
        {
            "class": k,
            "name": stream.info.class_names[k],
            "born": year,
            "vertices": int(sizes[k]),
            **figures[k],
        }
        for k, year in births.items()
    ]


def plot(figures: dict[str, Any], path: Path) -> None:
    """Draws growth, classes and homophily over the years into an image file."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError("--plot needs matplotlib; install it with: pip install 'lgl-bench[report]'") from error
    years = [row["time"] for row in figures["years"]]
    panels = {
        "vertices and edges": {"vertices": "vertices", "edges": "edges"},
        "classes": {"known": "known", "new": "new that year"},
        "homophily and drift": {"homophily": "class-insensitive homophily", "drift": "class drift"},
    }
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    axes = figure.subplots(1, 3)
    for axis, (title, series) in zip(axes, panels.items(), strict=True):
        for (key, label), style in zip(series.items(), ("o-", "s--"), strict=True):
            values = [np.nan if row[key] is None else row[key] for row in figures["years"]]
            axis.plot(years, values, style, markersize=3, label=label)
        axis.set_title(title)
        axis.set_xlabel("year")
        axis.legend(frameon=False)
        axis.grid(alpha=0.3)
    if figures["years"][-1]["edges"] > 100 * max(figures["years"][0]["vertices"], 1):
        axes[0].set_yscale("symlog")
    figure.suptitle(figures["name"])
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"the plot cannot be written to {path}: {error}") from error
