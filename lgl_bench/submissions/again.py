"""The process that runs a method again: `python -m lgl_bench.submissions.again SPEC.json`, started by `reproduce`.

It knows the plan of a bundle and nothing else of it: no answer it could copy is within its reach.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from lgl_bench.api import Settings, run_plan
from lgl_bench.backbones import backbones
from lgl_bench.core.errors import LglBenchError, UnknownNameError, UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.core.registry import load_plugin
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.runs.description import describe
from lgl_bench.runs.plan import Plan
from lgl_bench.runs.rebuild import rebuild
from lgl_bench.streams.catalogue import load
from lgl_bench.submissions.pick import only
from lgl_bench.thresholds import thresholds


def run_again(spec: dict[str, Any]) -> None:
    """Carries the plan out in a folder of its own."""
    for path in spec["plugins"]:
        load_plugin(Path(path))
    description = describe(spec["plan"])
    folder = Path(spec["data_dir"])
    streams = {name: load(name, folder) for name in description.streams}
    whole, _ = rebuild(description, streams, str(folder))
    plan = only(whole, spec["detectors"])
    _check_at_hand(plan)
    settings = Settings(
        Path(spec["out"]),
        data_dir=folder,
        jobs=spec["jobs"],
        offline=True,
        checkpoints="last",
        time_limit=spec["time_limit"],
        memory_limit=spec["memory_limit"],
        plugins=tuple(spec["plugins"]),
    )
    run_plan(plan, streams, settings)


def _check_at_hand(plan: Plan) -> None:
    """Raises where a part of a method is missing, before anything is trained."""
    bases = sorted({candidate.base for row in plan.rows for candidate in row.candidates})
    try:
        for base in bases:
            build(parse(base), detectors)
        for text in plan.thresholds:
            build(parse(text), thresholds)
        for chain in plan.units:
            backbones.get(chain.backbone)
            heads.get(chain.head)
    except UnknownNameError as error:
        raise UsageError(f"{error}. A method that does not come with lgl-bench is given with --plugin FILE") from error


if __name__ == "__main__":
    try:
        run_again(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    except LglBenchError as error:
        sys.exit(str(error))
