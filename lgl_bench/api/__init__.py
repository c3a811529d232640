"""What Python users import, gathered: `lgl_bench` imports this package once one of its names is asked for."""

from __future__ import annotations

from lgl_bench.api.running import Result, Settings, plan_run, run, run_plan
from lgl_bench.api.streams import load, tasks
from lgl_bench.evaluation.board import Board
from lgl_bench.evaluation.grading import grade
from lgl_bench.evaluation.loop import Evaluation
from lgl_bench.evaluation.result import EvaluationResult
from lgl_bench.pipeline import RunResult
from lgl_bench.streams.importers.objects import stream_from
from lgl_bench.streams.stream import Stream

__all__ = [
    "Board",
    "Evaluation",
    "EvaluationResult",
    "Result",
    "RunResult",
    "Settings",
    "Stream",
    "grade",
    "load",
    "plan_run",
    "run",
    "run_plan",
    "stream_from",
    "tasks",
]
