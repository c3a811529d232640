"""The grades of answers made outside lgl-bench, and the run folder that keeps them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

import pandas as pd

from lgl_bench.core.errors import UsageError
from lgl_bench.core.files import remove, temporary_folder
from lgl_bench.core.references import FLOOR
from lgl_bench.evaluation.answered import Answered
from lgl_bench.evaluation.board import Board
from lgl_bench.grading.history import keep_plan, kept_plans
from lgl_bench.leaderboard.recompute import recompute
from lgl_bench.pipeline import write_graded
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.plan_file import Description
from lgl_bench.plans.rebuild import description_of, rebuild_plan
from lgl_bench.runs.provenance import provenance
from lgl_bench.runs.store import RunStore


@dataclass(repr=False)
class EvaluationResult:
    """Grades of the answers, made by the code that grades every row.

    Attributes:
        answered: What was asked and answered.
        data_dir: Folder of the streams.
        left_out: Detectors that could not be run on the logits, each with the reason.
    """

    answered: Answered
    data_dir: Path | None = None
    left_out: dict[str, str] = field(default_factory=dict)

    @cached_property
    def _graded(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Year rows and board rows."""
        plan = self.answered.plan()
        with temporary_folder("evaluation") as folder:
            store = RunStore(folder)
            store.prepare()
            self.answered.write(store, plan)
            return recompute(plan, store, {self.answered.name: self.answered.stream}, provenance())

    @cached_property
    def board(self) -> Board:
        """The rows: the method's, and the floor it is held against."""
        return Board(self._graded[1], name=self.answered.request.method)

    @property
    def frame(self) -> pd.DataFrame:
        """The columns of the rows that are looked at first; `all` has the others."""
        return self.board.frame

    @property
    def all(self) -> pd.DataFrame:
        """Every column of the rows."""
        return self.board.all

    @property
    def years(self) -> pd.DataFrame:
        """A row per year or fold, row of the board and seed, with its reason if it failed."""
        return self._graded[0]

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Writes a run folder, which `compare`, `report`, `submit`, `verify` and `leaderboard show` read.

        A folder may hold several methods, and the seeds of a method one after the other. There are no weights, so
        `verify` recomputes every number from the answers, but nobody can let the method answer again.

        Args:
            folder: Is made if it is not there; what else it holds stays.
            force: Whether other answers of the method that are there are replaced.

        Raises:
            UsageError: The folder holds other answers of the method.
        """
        place, answered = Path(folder).absolute(), self.answered
        store = RunStore(place)
        store.prepare()
        with store.alone():
            earlier = _earlier(store, answered)
            if force:
                for description in earlier:
                    store.forget(description.fits)
                    remove(place / "plans" / f"{description.digest()}.json")
                earlier = []
            plan, kept = self._joined(store, earlier)
            answered.write(store, plan, tuple(chain.seed for chain in plan.units if chain.seed not in kept))
            description = description_of(plan, provenance())
            keep_plan(store, description)
            write_graded(plan, description, store, {answered.name: answered.stream}, self.data_dir)
        return Path(folder)

    def _joined(self, store: RunStore, earlier: list[Description]) -> tuple[Plan, set[int]]:
        """The plan with the seeds that the folder has of the method already, and these seeds."""
        answered = self.answered
        streams = {answered.name: answered.stream}
        others = [rebuild_plan(description, streams, answered.tasks) for description in earlier]
        plan = answered.plan(max((other.seeds for other in others), default=None))
        kept: set[int] = set()
        for other in others:
            for chain, units in other.units.items():
                there = [unit.key for unit in units if _is_answered(store, unit.key)]
                if not there:
                    continue
                same = other.rows == plan.rows and other.thresholds == plan.thresholds and chain in plan.units
                if not same or (chain.seed in answered.seeds and [u.key for u in units] != _keys(plan, chain.seed)):
                    raise UsageError(
                        f"{store.folder} holds other answers of {answered.request.method} on {answered.name}, seed "
                        f"{chain.seed}: save into another folder, give the method another name, or replace them with "
                        "force=True"
                    )
                if chain.seed not in answered.seeds:
                    plan.units[chain] = units
                    kept.add(chain.seed)
        return plan, kept

    def __repr__(self) -> str:
        return f"{self.board!r}{self._missing()}{self._without()}"

    def _repr_html_(self) -> str:
        notes = f"{self._missing()}{self._without()}".strip().replace("\n", "<br>")
        return f"{self.board._repr_html_()}<p>{notes}</p>"

    @property
    def unanswered(self) -> list[str]:
        """A line per task that has no answer, with the reason."""
        # The floor has an answer wherever the method has one.
        floor = self.years[(self.years["detector"] == FLOOR[0]) & (self.years["threshold"] == "")]
        failed = floor[floor["status"] == "failed"]
        cells = zip(failed["time"], failed["fold"], failed["seed"], failed["reason"], strict=True)
        return [f"{fold or time}, seed {seed}: {reason}" for time, fold, seed, reason in cells]

    def _missing(self) -> str:
        lines = self.unanswered
        return f"\n{len(lines)} tasks have no answer, so the row has no rank: {lines[0]}" if lines else ""

    def _without(self) -> str:
        return f"\n{len(self.left_out)} detectors were left out; .left_out says why" if self.left_out else ""


def _earlier(store: RunStore, answered: Answered) -> list[Description]:
    """Plans of the folder that are about the same method on the same stream, cut the same way."""
    row = answered.plan().rows[0]
    wanted = row.stream, row.backbone, row.protocol, row.strategy
    found = []
    for description in kept_plans(store):
        first = description.rows[0] if description.rows else None
        if first is None or description.budget != answered.request.budget:
            continue
        cut = first.protocol.model_dump(), first.strategy.model_dump()
        if (first.stream, first.backbone) == wanted[:2] and cut == (asdict(row.protocol), asdict(row.strategy)):
            found.append(description)
    return found


def _is_answered(store: RunStore, key: str) -> bool:
    record = store.fit(key)
    return record is not None and record.status == "ok"


def _keys(plan: Plan, seed: int) -> list[str]:
    return [unit.key for chain, units in plan.units.items() if chain.seed == seed for unit in units]
