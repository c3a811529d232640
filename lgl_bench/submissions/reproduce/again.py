"""The process that runs a method again, started by `reproduce` as a module with the path of its ORDER.json.

It knows the plan of a bundle and nothing else of it: no answer it could copy is within its reach.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lgl_bench.backbones import backbones
from lgl_bench.core.errors import LglBenchError, UnknownNameError, UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.core.registry import load_plugin
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.pipeline import answer_plan, run_plan
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.plan_file import describe
from lgl_bench.plans.rebuild import rebuild
from lgl_bench.runs.options import Settings
from lgl_bench.strategies import strategies
from lgl_bench.streams.catalogue import load
from lgl_bench.submissions.reproduce.pick import part_of
from lgl_bench.thresholds import thresholds


@dataclass(frozen=True, slots=True)
class RunAgainOrder:
    """What is to be run again, and where.

    Attributes:
        plan: plan.json of the bundle.
        plugins: Files with the method.
        detectors: Only rows of these; all if there is none.
        data_dir: Folder of the streams.
        out: The run folder to make.
        jobs: Processes; None for one per core.
        time_limit: Seconds a unit may take.
        memory_limit: MiB a worker may hold.
        matrix: Whether models answer for every year, as those of the bundle did.
        fold: Only this one, which is answered for but not graded; all if it is empty.
    """

    plan: dict[str, Any]
    plugins: list[str]
    detectors: list[str]
    data_dir: str
    out: str
    jobs: int | None = None
    time_limit: float | None = None
    memory_limit: float | None = None
    matrix: bool = False
    fold: str = ""

    def write(self, path: Path) -> None:
        """Writes the order for the other process."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> RunAgainOrder:
        """The order that was written to a file."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))


def run_again(order: RunAgainOrder) -> None:
    """Carries the plan out in a folder of its own."""
    for path in order.plugins:
        load_plugin(Path(path))
    description = describe(order.plan)
    folder = Path(order.data_dir)
    streams = {name: load(name, folder) for name in description.streams}
    whole, _ = rebuild(description, streams, str(folder))
    plan = part_of(whole, order.detectors, order.fold)
    _check_available(plan)
    settings = Settings(
        Path(order.out),
        data_dir=folder,
        jobs=order.jobs,
        offline=True,
        checkpoints="all" if order.matrix else "last",
        matrix=order.matrix,
        time_limit=order.time_limit,
        memory_limit=order.memory_limit,
        plugins=tuple(order.plugins),
    )
    if order.fold:
        answer_plan(plan, streams, settings)
    else:
        run_plan(plan, streams, settings)


def _check_available(plan: Plan) -> None:
    """Raises if a part of a method is missing, before anything is trained."""
    bases = sorted({candidate.base for row in plan.rows for candidate in row.candidates})
    try:
        for base in bases:
            build(parse(base), detectors)
        for text in plan.thresholds:
            build(parse(text), thresholds)
        for chain in plan.units:
            backbones.get(chain.backbone)
            heads.get(chain.head)
            if chain.strategy.name:
                build(parse(chain.strategy.name), strategies)
    except UnknownNameError as error:
        raise UsageError(f"{error}. A method that does not come with lgl-bench is given with --plugin FILE") from error


if __name__ == "__main__":
    try:
        run_again(RunAgainOrder.read(Path(sys.argv[1])))
    except LglBenchError as error:
        sys.exit(str(error))
