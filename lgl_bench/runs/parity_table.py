"""The parity table: what the paper prints, what we measured, and the difference; one row per cell and switch."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.files import writing
from lgl_bench.runs.parity_jobs import HEADS, SWITCHES, TRANSDUCTIVE
from lgl_bench.runs.presets import good_preset, table

LEAK = "the printed cell comes from a leak in the published code; not a target"
_Result = dict[str, Any]
_Printed = dict[tuple[str, ...], dict[str, str]]


def parity_table(results: list[_Result]) -> list[dict[str, Any]]:
    """One row per cell and switch: paper, measured, deviation over seeds, difference."""
    printed: _Printed = {_printed_cell(row): row for row in table("results")}
    cells: dict[tuple[str, ...], list[tuple[_Result, str]]] = {}
    for result in results:
        for key, expression in _cells_of(result):
            cells.setdefault(key, []).append((result, expression))
    rows = [_row(key, members, printed) for key, members in sorted(cells.items(), key=_order)]
    if not rows:
        raise UsageError("there is no cell to show: every task was skipped, or no job has ended")
    return rows


def _cells_of(result: _Result) -> list[tuple[tuple[str, ...], str]]:
    """The cells a result belongs to, and the expression of each: its detector's, and GOOD's where it was scored."""
    job = result["job"]
    stream, backbone, switch = job["stream"], job["backbone"], job.get("switch", "")
    if job["transductive"]:
        return [((stream, "transductive", backbone, "none", switch), "")]
    names = sorted({name for fold in result["folds"] for name in fold["auroc"]})
    detectors = ["good" if name.startswith("good(") else HEADS[job["head"]] for name in names]
    return [
        ((stream, job["split"], backbone, detector, switch), name)
        for detector, name in zip(detectors, names, strict=True)
    ]


def _order(item: tuple[tuple[str, ...], Any]) -> tuple[Any, ...]:
    """Ours before its switches, these in the order they are listed in."""
    *cell, switch = item[0]
    return (*cell, SWITCHES.index(switch) + 1 if switch else 0)


def _printed_cell(row: dict[str, str]) -> tuple[str, ...]:
    return row["dataset"], row["split"], row["backbone"], row["detector"]


def _row(key: tuple[str, ...], members: list[tuple[_Result, str]], printed: _Printed) -> dict[str, Any]:
    stream, split, backbone, detector, switch = key
    paper: dict[str, Any] = dict(printed.get((stream, split, backbone, detector), {}))
    if split == "transductive":
        paper["accuracy"] = TRANSDUCTIVE[stream]
    results = [result for result, _ in members]
    accuracy = [_mean(fold["accuracy"] for fold in result["folds"]) for result in results]
    auroc = [_mean(fold["auroc"].get(name) for fold in result["folds"]) for result, name in members]
    row: dict[str, Any] = {
        "stream": stream,
        "split": split,
        "backbone": backbone,
        "detector": detector,
        "head": results[0]["job"]["head"],
        "switch": switch,
        "expression": members[0][1],
        "seeds": len(results),
    }
    row |= _compared("accuracy", accuracy, paper.get("accuracy"))
    row |= _compared("auroc", auroc, paper.get("auroc"))
    notes = [f"over {good_preset(stream, split, backbone)[0]}"] if detector == "good" else []
    notes += [LEAK] if backbone == "graph-mlp" and split == "60-20-20" else []
    row["note"] = "; ".join(notes)
    row["commit"] = " ".join(sorted({result.get("commit", "")[:7] for result in results} - {""}))
    row["skipped"] = sum(bool(fold["skipped"]) for result in results for fold in result["folds"])
    row["fit_seconds"] = round(sum(fold["seconds"] for result in results for fold in result["folds"]), 1)
    row |= {name: results[0]["versions"][name] for name in ("lgl_bench", "torch", "dgl", "python")}
    row["stream_checksum"] = results[0]["stream_checksum"]
    return row


def write_table(rows: list[dict[str, Any]], path: Path) -> None:
    """The table as CSV, written whole."""
    with writing(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


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
