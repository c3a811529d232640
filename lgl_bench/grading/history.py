"""Everything that was ever asked for in a run folder, and all of it that the store can grade.

A store only grows. Each distinct plan is kept as `DIR/plans/DIGEST.json`; plan.json is the last one. The rows of all of
them are made from the answers, each once: fits and answers of code that has changed since do not count, those of a
plugin that is not available do, because nobody can check.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.core.errors import DataError, LglBenchError, PluginError, UnknownNameError, UsageError
from lgl_bench.grading.answers import Reader
from lgl_bench.grading.choices import Choices
from lgl_bench.grading.emerging import class_rows
from lgl_bench.grading.forgetting import matrix_rows
from lgl_bench.grading.row_key import KEY, Key
from lgl_bench.grading.row_keys import RowKeys
from lgl_bench.grading.year_table import YEAR_KEY, YEARS_FILE, read_years
from lgl_bench.grading.years import year_rows
from lgl_bench.plans.fits import backbone_text, keys_today
from lgl_bench.plans.methods import MethodRow
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.plan_file import Description, PlanError, PluginFacts, read_description, read_plan
from lgl_bench.plans.rebuild import rebuild_plan
from lgl_bench.runs.answer_digests import named_digest
from lgl_bench.runs.records import StoreWarning
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.catalogue import load
from lgl_bench.streams.checksum import prefix_checksums, stream_checksum
from lgl_bench.streams.stream import Stream


def keep_plan(store: RunStore, description: Description) -> None:
    """Makes a plan the last one of the folder, beside all that are kept."""
    store.write_text(f"plans/{description.digest()}.json", description.text())
    store.write_text("plan.json", description.text())


def kept_plans(store: RunStore) -> list[Description]:
    """Every plan of the folder, the last first; a file that cannot be read is left out, with a warning."""
    found: list[tuple[str, int, Description]] = []
    for path in (store.folder / "plans").glob("*.json"):
        try:
            read = read_description(path)
            # Two runs within a second have the same created_at.
            found.append((read.provenance.get("created_at", ""), path.stat().st_mtime_ns, read))
        except PlanError as error:
            warnings.warn(f"{error}; its rows are left out", StoreWarning, stacklevel=2)
    return [read for *_, read in sorted(found, key=lambda one: one[:2], reverse=True)]


def beyond_last(folder: Path) -> list[str]:
    """What a run folder holds beside its last plan: a line per row that other plans asked for."""
    last = read_plan(folder)
    known = {_asked(last, row) for row in last.rows}
    found: dict[str, None] = {}
    for description in kept_plans(RunStore(folder)):
        for row in description.rows:
            if _asked(description, row) not in known:
                kept = f", {row.strategy.name}" if row.strategy.name not in ("", "full") else ""
                backbone = backbone_text(row.backbone, row.parameters)
                found[f"{row.detector} on {row.stream}, {backbone}{kept}, budget {description.budget}"] = None
    return list(found)


def _asked(description: Description, row: Any) -> tuple[Any, ...]:
    suite = description.suite
    return suite.get("name"), suite.get("version"), suite.get("select"), description.budget, row


@dataclass(slots=True)
class History:
    """The plans of a folder that can be graded.

    Attributes:
        plans: The last first.
        streams: All that they are on.
        stale: Keys of fits that other code made.
        absent: Streams, with their checksums, whose rows can only stay as they are.
    """

    plans: list[Plan]
    streams: dict[str, Stream]
    stale: set[str] = field(default_factory=set)
    absent: set[tuple[str, str]] = field(default_factory=set)
    _prefixes: dict[str, dict[int, str]] = field(default_factory=dict)

    def add(self, description: Description, folder: Path, data_dir: Path | None) -> None:
        """Takes an earlier plan of a folder in, or warns why it cannot be graded."""
        missing = [name for name in description.streams if not self._open(name, description.streams[name], data_dir)]
        if missing:
            self.absent |= {(name, description.streams[name]) for name in missing}
            message = f"{', '.join(missing)} of an earlier run in {folder} is not available as it was; its rows stay"
            warnings.warn(f"{message} as they are", StoreWarning, stacklevel=3)
            return
        try:
            plan = rebuild_plan(description, self.streams, self.plans[0].tasks)
        except PlanError as error:
            warnings.warn(f"an earlier plan of {folder} is left out: {error}", StoreWarning, stacklevel=3)
            return
        self.plans.append(plan)
        for chain, units in plan.units.items():
            with contextlib.suppress(UnknownNameError, PluginError):  # without its code nobody can check
                today = keys_today(units, self._checksums(chain.stream))
                self.stale |= {key for key, right in today.items() if key != right}

    def _open(self, name: str, checksum: str, data_dir: Path | None) -> bool:
        """Whether a stream is available with its checksum; it is opened if it was not."""
        if name not in self.streams:
            try:
                stream = load(name, data_dir)
            except LglBenchError:
                return False
            if stream_checksum(stream) != checksum:
                return False
            self.streams[name] = stream
        return self._checksums(name)[self.streams[name].times[-1]] == checksum

    def _checksums(self, name: str) -> dict[int, str]:
        if name not in self._prefixes:
            self._prefixes[name] = prefix_checksums(self.streams[name])
        return self._prefixes[name]

    def reader(self, store: RunStore) -> Reader:
        """Reads what counts."""
        return Reader(store, self.streams, is_current, self.stale)

    @property
    def by_checksum(self) -> dict[tuple[str, str], Stream]:
        """The streams by name and checksum."""
        named = {name: checksum for plan in self.plans for name, checksum in plan.checksums.items()}
        return {(name, checksum): self.streams[name] for name, checksum in named.items()}

    def years(self, store: RunStore) -> pd.DataFrame:
        """The year rows of every plan, each once."""
        reader = self.reader(store)
        parts = [year_rows(plan, reader, Choices(plan, reader)) for plan in self._merged()]
        parts.append(self._as_they_are(store))
        return _once(parts, list(YEAR_KEY))

    def classes(self, store: RunStore) -> pd.DataFrame:
        """What `class_rows` makes of every plan, each row once."""
        reader = self.reader(store)
        parts = [class_rows(plan, reader, Choices(plan, reader)) for plan in self._merged()]
        return _once(parts, [*KEY, "seed", "class"])

    def matrix(self, store: RunStore) -> pd.DataFrame:
        """What `matrix_rows` makes of every plan, each row once."""
        parts = [matrix_rows(plan, self.reader(store)) for plan in self.plans]
        found = pd.concat(parts, ignore_index=True)
        return found.drop_duplicates([name for name in found if name != "accuracy"], ignore_index=True)

    def _merged(self) -> list[Plan]:
        """The plans, with each row where it is graded best, and the thresholds of all that are comparable.

        A row of an older plan that stands for something else today is left out. A choice is made over all seeds, so a
        row with one comes from the plan with the most; of other rows every plan adds its seeds.
        """
        newest: dict[Key, MethodRow] = {}
        widest: dict[Key, int] = {}
        keyed = [[(keys.of(row, ""), row) for row in keys.plan.rows] for keys in map(RowKeys, self.plans)]
        for number, rows in enumerate(keyed):
            for key, row in rows:
                newest.setdefault(key, row)
                best = widest.setdefault(key, number)
                if newest[key] == row and self.plans[number].seeds > self.plans[best].seeds:
                    widest[key] = number
        merged = []
        for number, (plan, rows) in enumerate(zip(self.plans, keyed, strict=True)):
            kept = [row for key, row in rows if newest[key] == row and (widest[key] == number or not row.chosen)]
            beside = [other for other in self.plans if _comparable(other) == _comparable(plan)]
            thresholds = dict.fromkeys(text for other in beside for text in other.thresholds)
            merged.append(
                replace(
                    plan, rows=kept, thresholds=tuple(thresholds), plugins=_together([one.plugins for one in beside])
                )
            )
        return merged

    def _as_they_are(self, store: RunStore) -> pd.DataFrame:
        """Year rows of streams that are not available: what was graded before stays."""
        if not self.absent or not (store.folder / YEARS_FILE).is_file():
            return pd.DataFrame()
        try:
            years = read_years(store.folder)
        except DataError:
            return pd.DataFrame()
        pairs = list(zip(years["stream"], years["stream_checksum"], strict=True)) if len(years) else []
        return years[[pair in self.absent for pair in pairs]]


def open_history(
    store: RunStore, plan: Plan, description: Description, streams: Mapping[str, Stream], data_dir: Path | None
) -> History:
    """The plan of a run, and every earlier one of its folder.

    Args:
        store: Of the run.
        plan: Of the run.
        description: The same as it is kept.
        streams: Those of the plan.
        data_dir: Where others are looked for.
    """
    found = History([plan], dict(streams))
    for other in kept_plans(store):
        if other.digest() != description.digest():
            found.add(other, store.folder, data_dir)
    found.stale -= {unit.key for unit in plan.all_units}
    return found


def is_current(name: str, source: str) -> bool:
    """Whether answers of `EXPR` or `EXPR|THRESHOLD` with this digest are those of the current code."""
    try:
        return named_digest(name) == source
    except (UnknownNameError, PluginError):
        return True
    except UsageError:
        return False


def _comparable(plan: Plan) -> tuple[Any, ...]:
    return plan.suite.name, plan.suite.version, plan.suite.select, plan.budget.name, plan.budget.version


def _together(facts_of_plans: Sequence[PluginFacts]) -> PluginFacts:
    """What several plans record of plugins; the first plan that has an entry decides."""
    found: dict[str, Any] = {}
    for kind in PluginFacts.model_fields:
        values = [getattr(one, kind) for one in facts_of_plans]
        if isinstance(values[0], dict):
            found[kind] = {name: facts for one in reversed(values) for name, facts in one.items()}
        else:
            found[kind] = tuple(dict.fromkeys(name for one in values for name in one))
    return PluginFacts(**found)


def _once(parts: Sequence[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """Several tables as one, the first of rows that agree in the columns."""
    filled = [part for part in parts if len(part)]
    if not filled:
        return parts[0]
    return pd.concat(filled, ignore_index=True).drop_duplicates(columns, ignore_index=True)
