"""From a suite to the fits it needs: train once, score many.

Fits are shared by every detector, neighbourhood weight and threshold that uses the same head, so their number does
not grow when a post-hoc detector is added.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Expression, build, complete, parse
from lgl_bench.detectors import detectors
from lgl_bench.protocols import protocols
from lgl_bench.runs.budget import Budget
from lgl_bench.runs.presets import Preset, detector_preset, preset, resolve_good
from lgl_bench.runs.suite import Suite
from lgl_bench.runs.units import ChainSpec, ProtocolSetting, Unit, unit_key
from lgl_bench.streams.checksum import prefix_checksums
from lgl_bench.streams.stream import Stream
from lgl_bench.thresholds import thresholds

AUTO = "good(auto)"


@dataclass(frozen=True, slots=True)
class Row:
    """A method on a stream: what becomes one row of the leaderboard, or several with thresholds.

    Attributes:
        detector: Canonical expression, or `good(auto)`.
        base: What has to be scored for it; empty for `good(auto)`, which chooses among the others.
        alpha: Weight of the neighbours where the row is GOOD over a scored base.
    """

    stream: str
    backbone: str
    parameters: tuple[tuple[str, Any], ...]
    head: str
    detector: str
    base: str
    alpha: float | None
    preset: str


@dataclass(slots=True)
class Plan:
    """All rows, chains and units of a run.

    Attributes:
        scored: Per chain, the expressions to score.
        units: Per chain, its units in order.
        checksums: Per stream.
        stand_ins: Real stream to the twin that was taken for it.
    """

    suite: Suite
    budget: Budget
    seeds: int
    protocol: ProtocolSetting
    rows: list[Row] = field(default_factory=list)
    scored: dict[ChainSpec, list[str]] = field(default_factory=dict)
    units: dict[ChainSpec, list[Unit]] = field(default_factory=dict)
    thresholds: tuple[str, ...] = ()
    checksums: dict[str, str] = field(default_factory=dict)
    stand_ins: dict[str, str] = field(default_factory=dict)

    @property
    def all_units(self) -> list[Unit]:
        """Every unit, chain by chain."""
        return [unit for units in self.units.values() for unit in units]


def protocol_setting(suite: Suite) -> ProtocolSetting:
    """The protocol of a suite, with the parameters it takes."""
    accepted = inspect.signature(protocols.get(suite.protocol)).parameters
    given = {"split": suite.split, "history": suite.history, "restart": suite.restart, "label_delay": suite.label_delay}
    taken: dict[str, Any] = {key: value for key, value in given.items() if key in accepted}
    return ProtocolSetting(suite.protocol, **taken)


def make_plan(
    suite: Suite,
    budget: Budget,
    streams: dict[str, Stream],
    *,
    seeds: int | None = None,
    data_dir: Path | None = None,
    threads: int = 1,
    device: str = "cpu",
) -> Plan:
    """The plan of a suite on opened streams."""
    count = seeds or budget.seeds
    if count < 1:
        raise UsageError(f"--seeds {count}: at least one is needed")
    plan = Plan(suite, budget, count, protocol_setting(suite))
    plan.thresholds = tuple(str(complete(parse(text), thresholds)) for text in suite.thresholds)
    for name, stream in streams.items():
        prefixes = prefix_checksums(stream)
        plan.checksums[name] = prefixes[stream.times[-1]]
        split = plan.protocol.build().split
        for backbone in suite.backbones:
            for swept in _sweeps(suite):
                _add(plan, stream, prefixes, split, backbone, swept, data_dir, threads, device)
    return plan


def _add(
    plan: Plan,
    stream: Stream,
    prefixes: dict[int, str],
    split: str,
    backbone: str,
    swept: dict[str, float],
    data_dir: Path | None,
    threads: int,
    device: str,
) -> None:
    by_head: dict[str, list[Row]] = {}
    for text in plan.suite.detectors:
        row = _row(plan, stream.name, split, backbone, swept, text)
        by_head.setdefault(row.head, []).append(row)
        plan.rows.append(row)
    for head, rows in by_head.items():
        if not head:
            continue
        chosen = _preset(plan, stream.name, split, backbone, head, swept)
        for seed in range(plan.seeds):
            chain = ChainSpec(
                stream.name,
                str(data_dir) if data_dir else None,
                plan.protocol,
                backbone,
                head,
                tuple(sorted(chosen.backbone.items())),
                chosen.training.epochs,
                chosen.training.lr,
                seed,
                threads,
                device,
            )
            plan.scored[chain] = sorted({row.base for row in rows})
            plan.units[chain] = _units(chain, stream, prefixes)


def _row(plan: Plan, stream: str, split: str, backbone: str, swept: dict[str, float], text: str) -> Row:
    given = tuple(sorted(swept.items()))
    if text.replace(" ", "").lower() == AUTO:
        return Row(stream, backbone, given, "", AUTO, "", None, "chosen")
    expression = resolve_good(parse(text), stream, split, backbone)
    expression = complete(expression, detectors, lambda name: detector_preset(stream, split, backbone, name))
    head = build(expression, detectors).heads[0]
    base, alpha = expression, None
    if _derivable(expression):
        base, alpha = expression.arguments[0], float(dict(expression.parameters)["alpha"])
    name = preset(stream, split, backbone, head).name
    return Row(stream, backbone, given, head, str(expression), str(base), alpha, name)


def _derivable(expression: Expression) -> bool:
    """Whether the row is GOOD over a detector whose scores and neighbour means are stored."""
    return expression.name == "good" and expression.arguments[0].name != "good"


def _preset(plan: Plan, stream: str, split: str, backbone: str, head: str, swept: dict[str, float]) -> Preset:
    chosen = plan.budget.cap(preset(stream, split, backbone, head))
    return replace(chosen, backbone={**chosen.backbone, **swept}) if swept else chosen


def _sweeps(suite: Suite) -> list[dict[str, float]]:
    names = list(suite.sweep)
    return [dict(zip(names, values, strict=True)) for values in product(*suite.sweep.values())]


def _units(chain: ChainSpec, stream: Stream, prefixes: dict[int, str]) -> list[Unit]:
    units: list[Unit] = []
    parent = ""
    builds_on = not stream.static
    for index, (task, _) in enumerate(chain.protocol.build().tasks(stream, chain.seed)):
        key = unit_key(chain, prefixes[task.time], task.time, task.fold, parent)
        units.append(Unit(key, parent, index, task.time, task.role, task.fold, chain))
        parent = key if builds_on else ""
    return units
