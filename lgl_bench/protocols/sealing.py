"""Tasks as they are handed to code of somebody else."""

from __future__ import annotations

from dataclasses import replace

from lgl_bench.core.types import Task


def sealed(task: Task) -> Task:
    """The task with labels in memory of their own.

    Labels up to a year are a slice of all labels, and numpy leads from a slice to the whole array (`.base`).
    """
    return replace(task, train=replace(task.train, labels=task.train.labels.copy()))
