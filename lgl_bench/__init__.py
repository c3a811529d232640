"""lgl-bench: a benchmark harness for open-world lifelong graph learning.

`load`, `tasks`, `run`, `Evaluation`, `Board` and the rest of `__all__` are imported when they are asked for: `import
lgl_bench` alone is quick, and imports neither torch nor pandas.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lgl_bench.api import Board, Evaluation, EvaluationResult, Result, Stream, grade, load, run, stream_from, tasks

__all__ = [
    "Board",
    "Evaluation",
    "EvaluationResult",
    "Result",
    "Stream",
    "__version__",
    "grade",
    "load",
    "run",
    "stream_from",
    "tasks",
]

# DGL asks for its back end, and writes to the home folder, unless this is set before its first import.
os.environ.setdefault("DGLBACKEND", "pytorch")

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("lgl_bench.api"), name)
    raise AttributeError(f"module 'lgl_bench' has no attribute '{name}'; it has {', '.join(sorted(__all__))}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
