"""The parity report for reading: our cells, the published code's switches beside them, and what lacks seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from lgl_bench.runs.parity_jobs import BACKBONES, SWITCHES, Job, changes, jobs_of

_CELL = ("stream", "split", "backbone", "detector")


def markdown(rows: list[dict[str, Any]], wanted: int) -> str:
    """The three tables.

    Args:
        rows: Of `parity_table`.
        wanted: Seeds that every cell should have.
    """
    ours = [row for row in rows if not row["switch"]]
    switched = [row for row in rows if row["switch"]]
    parts = [_own_table(ours)]
    if switched:
        parts += ["## What the published code does differently", _switch_table(switched, ours)]
    lacking = _seed_table(rows, wanted)
    if lacking:
        parts += [f"## Cells with fewer than {wanted} seeds", lacking]
    return "\n\n".join([*parts, _made(rows)]) + "\n"


def _own_table(rows: list[dict[str, Any]]) -> str:
    header = [*_CELL, "seeds", "commit", "accuracy paper", "ours", "diff.", "AUROC paper", "ours", "diff."]
    lines = [
        [*_cell(row), str(row["seeds"]), row["commit"], *_figures(row, "accuracy"), *_figures(row, "auroc")]
        for row in rows
    ]
    return _table(header, lines, left=4)


def _switch_table(rows: list[dict[str, Any]], ours: list[dict[str, Any]]) -> str:
    """One row per cell and switch: ours, and with the switch; differences are to what the paper prints."""
    own = {_cell(row): row for row in ours}
    header = [*_CELL, "switch", "seeds", "commit", "accuracy paper", "ours", "with it", "diff."]
    header += ["AUROC paper", "ours", "with it", "diff."]
    lines = []
    for row in rows:
        line = [*_cell(row), row["switch"], str(row["seeds"]), row["commit"]]
        for metric in ("accuracy", "auroc"):
            paper, found, difference = _figures(row, metric)
            line += [paper, _figures(own[_cell(row)], metric)[1] if _cell(row) in own else "", found, difference]
        lines.append(line)
    return _table(header, lines, left=5)


def _seed_table(rows: list[dict[str, Any]], wanted: int) -> str:
    """Seeds that are there, per trained model and switch, where one of them has too few; empty if none has."""
    there: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        trained = (row["stream"], row["split"], row["backbone"], row["head"], row["switch"])
        there[trained] = max(there[trained], row["seeds"])
    lines = []
    for job in _models(rows):
        kind = (job.stream, "transductive" if job.transductive else job.split, job.backbone, job.head)
        counts = [str(there[(*kind, s)]) if not s or changes(job, s) else "" for s in ("", *SWITCHES)]
        if any(count and int(count) < wanted for count in counts):
            lines.append([*kind, *counts])
    return _table(["stream", "split", "backbone", "head", "ours", *SWITCHES], lines, left=4) if lines else ""


def _models(rows: list[dict[str, Any]]) -> Iterable[Job]:
    """A job per model that the streams and splits of a table ask for."""
    places = {(row["stream"], row["split"]) for row in rows if row["split"] != "transductive"}
    found = {job: None for stream, split in sorted(places) for job in jobs_of(stream, split, BACKBONES, 1)}
    return list(found)


def _made(rows: list[dict[str, Any]]) -> str:
    last = rows[0]
    made = f"lgl-bench {last['lgl_bench']}, torch {last['torch']}, dgl {last['dgl']}, Python {last['python']}"
    kinds = {(row["stream"], row["split"], row["backbone"], row["head"], row["switch"]): row for row in rows}
    hours = sum(row["fit_seconds"] for row in kinds.values()) / 3600
    return f"{made}; {hours:.1f} hours of training on one core."


def _cell(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in _CELL)


def _figures(row: dict[str, Any], metric: str) -> list[str]:
    """What the paper prints, what was measured with its deviation over seeds, the difference."""
    found, deviation, difference = (row[f"{metric}_{part}"] for part in ("ours", "std", "difference"))
    measured = "" if found is None else f"{found:.3f}" + ("" if deviation is None else f" ± {deviation:.3f}")
    paper = row[f"{metric}_paper"]
    return ["" if paper is None else f"{paper:.3f}", measured, "" if difference is None else f"{difference:+.3f}"]


def _table(header: list[str], lines: Iterable[Iterable[str]], left: int) -> str:
    rules = ["---"] * left + ["---:"] * (len(header) - left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [header, rules, *lines])
