"""The parity table: what the paper prints, what we measured, and the difference."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.runs.parity import HEADS, TRANSDUCTIVE
from lgl_bench.runs.presets import good_preset, table

LEAK = "the printed cell comes from a leak in the published code; not a target"


def parity_table(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row a cell: paper, ours, deviation over seeds, difference."""
    printed = {(row["dataset"], row["split"], row["backbone"], row["detector"]): row for row in table("results")}
    cells: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for result in results:
        job = result["job"]
        if job["transductive"]:
            cells.setdefault((job["stream"], "transductive", job["backbone"], "none", ""), []).append(result)
            continue
        names = {name for fold in result["folds"] for name in fold["auroc"]}
        for name in sorted(names):
            detector = "good" if name.startswith("good(") else HEADS[job["head"]]
            cells.setdefault((job["stream"], job["split"], job["backbone"], detector, name), []).append(result)
    rows = []
    for (stream, split, backbone, detector, expression), members in sorted(cells.items()):
        paper = printed.get((stream, split, backbone, detector), {})
        transductive = split == "transductive"
        accuracy = [_mean(fold["accuracy"] for fold in result["folds"]) for result in members]
        auroc = [_mean(fold["auroc"].get(expression) for fold in result["folds"]) for result in members]
        row: dict[str, Any] = {
            "stream": stream,
            "split": split,
            "backbone": backbone,
            "detector": detector,
            "head": members[0]["job"]["head"],
            "expression": expression,
            "seeds": len(members),
        }
        row |= _compared("accuracy", accuracy, TRANSDUCTIVE[stream] if transductive else paper.get("accuracy"))
        row |= _compared("auroc", auroc, paper.get("auroc"))
        row["note"] = LEAK if backbone == "graph-mlp" and split == "60-20-20" else ""
        if detector == "good":
            base = good_preset(stream, split, backbone)[0]
            row["note"] = "; ".join(filter(None, [f"over {base}", row["note"]]))
        row["skipped"] = sum(bool(fold["skipped"]) for result in members for fold in result["folds"])
        row["fit_seconds"] = round(sum(fold["seconds"] for result in members for fold in result["folds"]), 1)
        row |= {key: members[0]["versions"][key] for key in ("lgl_bench", "torch", "dgl", "python")}
        row["stream_checksum"] = members[0]["stream_checksum"]
        rows.append(row)
    return _checked(rows)


def _checked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not rows:
        raise UsageError("there is no cell to show: every task was skipped, or no job has ended")
    return rows


def write_table(rows: list[dict[str, Any]], path: Path) -> None:
    """The table as CSV, written whole."""
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    partial.replace(path)


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table for reading: paper, ours with its deviation over seeds, difference."""
    lines = [
        "| stream | split | backbone | detector | seeds | accuracy paper | ours | diff. | AUROC paper | ours | diff. |",
        "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        cells = [row["stream"], row["split"], row["backbone"], row["detector"], str(row["seeds"])]
        for metric in ("accuracy", "auroc"):
            ours, deviation = row[f"{metric}_ours"], row[f"{metric}_std"]
            told = "" if ours is None else f"{ours:.3f}" + ("" if deviation is None else f" ± {deviation:.3f}")
            difference = row[f"{metric}_difference"]
            cells += [_cell(row[f"{metric}_paper"]), told, "" if difference is None else f"{difference:+.3f}"]
        lines.append(f"| {' | '.join(cells)} |")
    last = rows[0]
    made = f"lgl-bench {last['lgl_bench']}, torch {last['torch']}, dgl {last['dgl']}, Python {last['python']}"
    seconds = {(row["stream"], row["split"], row["backbone"], row["head"]): row["fit_seconds"] for row in rows}
    return "\n".join([*lines, "", f"{made}; {sum(seconds.values()) / 3600:.1f} hours of training on one core."]) + "\n"


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _compared(metric: str, ours: list[float | None], paper: Any) -> dict[str, Any]:
    values = [value for value in ours if value is not None]
    mean = float(np.mean(values)) if values else None
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    printed = float(paper) if paper not in (None, "") else None
    difference = mean - printed if mean is not None and printed is not None else None
    return {
        f"{metric}_paper": printed,
        f"{metric}_ours": _rounded(mean),
        f"{metric}_std": _rounded(deviation),
        f"{metric}_difference": _rounded(difference),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _mean(values: Any) -> float | None:
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None
