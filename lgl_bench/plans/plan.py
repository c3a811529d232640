"""From a suite to the fits it needs: train once, score many.

Fits are shared by every detector, neighbourhood weight and threshold that uses the same head, so their number does
not grow when a post-hoc detector is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import parse
from lgl_bench.core.references import ORACLE, REFERENCE_THRESHOLDS
from lgl_bench.kernels import kernel_name
from lgl_bench.plans.backbone_parameters import check_buildable
from lgl_bench.plans.backbone_settings import BackboneSetting, backbone_settings
from lgl_bench.plans.budget import Budget
from lgl_bench.plans.fits import ChainSpec, Unit, backbone_text, unit_key
from lgl_bench.plans.methods import Candidate, FitKind, MethodRow, Methods, row_texts
from lgl_bench.plans.paper_presets import Preset, preset
from lgl_bench.plans.plan_file import PluginFacts
from lgl_bench.plans.preset_entries import StrategyEntry
from lgl_bench.plans.preset_file import PresetFile
from lgl_bench.plans.settings import ChainRequest, ChainSetting, chain_requests, check_members, with_values
from lgl_bench.plans.suite import Suite
from lgl_bench.plans.suited import check_suited
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.plans.values import check_values
from lgl_bench.streams.catalogue import published_t0
from lgl_bench.streams.checksum import prefix_checksums
from lgl_bench.streams.stream import Stream

MAX_SEEDS = 1_000
MAX_CHAINS = 100_000


@dataclass(slots=True)
class Plan:
    """All rows, chains and units of a run.

    Attributes:
        scored: Per chain, the expressions every task is scored with.
        tried: Per chain, further expressions that only tasks for choosing are scored with.
        units: Per chain, its units in order.
        checksums: Per stream.
        t0s: Per stream, its t0, which is no part of the checksum and decides which years are learned and which scored.
        stand_ins: Real stream to the reason why its twin was taken.
        plugins: What is recorded of plugins that may not be available.
        tasks: What was opened and cut for it; whoever carries it out lets go of that.
    """

    suite: Suite
    budget: Budget
    seeds: int
    rows: list[MethodRow] = field(default_factory=list)
    scored: dict[ChainSpec, list[str]] = field(default_factory=dict)
    tried: dict[ChainSpec, list[str]] = field(default_factory=dict)
    units: dict[ChainSpec, list[Unit]] = field(default_factory=dict)
    thresholds: tuple[str, ...] = ()
    checksums: dict[str, str] = field(default_factory=dict)
    t0s: dict[str, int | None] = field(default_factory=dict)
    stand_ins: dict[str, str] = field(default_factory=dict)
    plugins: PluginFacts = field(default_factory=PluginFacts)
    tasks: TaskCache = field(default_factory=TaskCache, repr=False, compare=False)
    _published_t0s: dict[str, int | None] = field(default_factory=dict, repr=False, compare=False)
    _index: dict[tuple[str, ChainSetting, str, FitKind], list[ChainSpec]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def all_units(self) -> list[Unit]:
        """Every unit, chain by chain."""
        return [unit for units in self.units.values() for unit in units]

    def shown_protocol(self, stream: str, protocol: str, split: str) -> str:
        """How rows name the protocol: with the t0 of the stream, unless it is the one that its manifest has.

        The same stream cut at another year is another question, and its rows are not comparable.
        """
        t0 = self.t0s.get(stream)
        if split != "temporal" or t0 is None:
            return protocol
        if stream not in self._published_t0s:  # every row asks, and all manifests are read for an answer
            self._published_t0s[stream] = published_t0(stream)
        if t0 == self._published_t0s[stream]:
            return protocol
        return f"{protocol}(t0={t0})"

    def shown_backbone(self, chain: ChainSpec) -> str:
        """How rows name the backbone of a chain: with what its expression gives and what is swept."""
        swept = tuple((name, chain.parameters[name]) for name in self.suite.sweep)
        return backbone_text(chain.backbone, BackboneSetting(chain.backbone, chain.given, swept).parameters)

    def chains_of(self, row: MethodRow, candidate: Candidate) -> list[ChainSpec]:
        """The chains that one of a row's candidates is scored on, one per seed, in the order of seeds."""
        if sum(map(len, self._index.values())) != len(self.units):
            self._index.clear()
            for chain in self.units:
                kind = FitKind(chain.head, chain.members)
                key = chain.stream, ChainSetting(chain.protocol, chain.strategy), chain.backbone, kind
                self._index.setdefault(key, []).append(chain)
        setting = ChainSetting(row.protocol, row.strategy)
        found = self._index.get((row.stream, setting, row.backbone, candidate.fit_kind), [])
        given = tuple(pair for pair in row.parameters if pair[0] not in self.suite.sweep)
        swept = [pair for pair in row.parameters if pair[0] in self.suite.sweep]
        return [
            chain
            for chain in found
            if chain.given == given and all(chain.parameters.get(name) == value for name, value in swept)
        ]


def make_plan(
    suite: Suite,
    budget: Budget,
    streams: dict[str, Stream],
    *,
    seeds: int | None = None,
    data_dir: Path | None = None,
    presets: PresetFile | None = None,
    threads: int = 1,
    device: str = "cpu",
    tasks: TaskCache | None = None,
) -> Plan:
    """The plan of a suite on opened streams.

    Args:
        suite: What is asked for.
        budget: How much of it.
        streams: By name.
        seeds: How many; the budget's otherwise.
        data_dir: Where workers find the streams.
        presets: Tuned parameters.
        threads: Of every fit.
        device: Of every fit.
        tasks: Keeps what is cut on the way, if it is needed again in this process.
    """
    count = budget.seeds if seeds is None else seeds
    _check_size(suite, streams, count)
    if threads < 1:
        raise UsageError(f"--threads {threads}: at least one is needed")
    plan = Plan(suite, budget, count, tasks=TaskCache(streams, kept=0) if tasks is None else tasks)
    plan.thresholds = tuple(str(budget.cap_threshold(parse(text))) for text in threshold_texts(suite))
    _check_thresholds(suite)
    check_suited(suite)
    networks = backbone_settings(suite)
    for name, stream in streams.items():
        requests = chain_requests(suite.on(name))
        prefixes = prefix_checksums(stream)
        plan.checksums[name] = prefixes[stream.times[-1]]
        plan.t0s[name] = stream.info.t0
        tuned = {one.name: _tuned_settings(requests, name, one.name, presets) for one in networks}
        for i, network in product(range(len(requests)), networks):
            setting, entry = tuned[network.name][i]
            start = ChainSpec(
                name,
                str(data_dir) if data_dir else None,
                setting.protocol,
                network.name,
                "",
                (),
                1,
                1.0,
                0,
                threads,
                device,
            )
            start = replace(start, kernels=kernel_name(), strategy=setting.strategy, given=network.given)
            floor = requests[i].setting.strategy == requests[0].setting.strategy and network == networks[0]
            _add(plan, prefixes, start, network, presets, entry, floor=floor)
    check_values(plan.rows, plan.thresholds)
    return plan


def _tuned_settings(
    requests: Sequence[ChainRequest], stream: str, backbone: str, presets: PresetFile | None
) -> list[tuple[ChainSetting, StrategyEntry | None]]:
    """Every setting with what the file says of its strategy, and the entry that says so."""
    found: list[tuple[ChainSetting, StrategyEntry | None]] = []
    for asked, setting in requests:
        entry = None
        if presets is not None and setting.strategy.name:
            split, whole = setting.protocol.build().split, parse(setting.strategy.name)
            entry = presets.strategy(stream, split, backbone, parse(asked), whole)
        tuned = setting if entry is None else with_values(setting, entry.parameters)
        if tuned in [before for before, _ in found]:
            raise UsageError(
                f"'{asked}' on {stream} with {backbone}: with what the preset file says, the strategy "
                f"{tuned.strategy.name} is named twice; leave one out"
            )
        found.append((tuned, entry))
    return found


def _check_size(suite: Suite, streams: dict[str, Stream], seeds: int) -> None:
    """A plan is made of every chain before anything runs: one that nobody could finish is refused before it is made."""
    if not 1 <= seeds <= MAX_SEEDS:
        raise UsageError(f"--seeds {seeds}: at least one is needed, and at most {MAX_SEEDS:,} are taken")
    swept = prod(map(len, suite.sweep.values()))
    chains = len(streams) * len(suite.strategies) * max(1, len(suite.split)) * len(suite.backbones) * swept * seeds
    if chains > MAX_CHAINS:
        raise UsageError(
            f"the suite {suite.name} asks for {chains:,} chains of fits, one for each stream, strategy, split, "
            f"backbone, swept value and seed; at most {MAX_CHAINS:,} are run at once: take fewer seeds or make several "
            "suites of it"
        )


def threshold_texts(suite: Suite) -> list[str]:
    """The thresholds of a suite; if there are any, those that look at nothing and the oracle join them."""
    beside = (*REFERENCE_THRESHOLDS, ORACLE) if suite.thresholds else ()
    return list(dict.fromkeys((*suite.thresholds, *beside)))


def _check_thresholds(suite: Suite) -> None:
    chooses = suite.protocol == "temporal" or suite.select == "nested"
    if suite.thresholds and suite.thresholds_on == "best" and not chooses:
        raise UsageError(
            f"the suite {suite.name} has no validation task that shows which combination is best; "
            "put thresholds on every one with --thresholds all"
        )


def _add(
    plan: Plan,
    prefixes: dict[int, str],
    start: ChainSpec,
    network: BackboneSetting,
    presets: PresetFile | None,
    entry: StrategyEntry | None,
    *,
    floor: bool,
) -> None:
    """The rows of one stream, protocol, strategy and backbone with its parameters, and the chains they need."""
    split = start.protocol.build().split
    where = (plan.suite, start.stream, start.protocol, start.strategy, split, start.backbone)
    methods = Methods(*where, network.parameters, presets, entry)
    rows = methods.rows(row_texts(plan.suite, start.backbone, floor=floor))
    plan.rows += rows
    always: dict[FitKind, set[str]] = {}
    sometimes: dict[FitKind, set[str]] = {}
    for row in rows:
        everywhere = len(row.candidates) == 1 or plan.suite.select == "prequential"
        for candidate in row.candidates:
            (always if everywhere else sometimes).setdefault(candidate.fit_kind, set()).add(candidate.base)
    for kind in sorted({*always, *sometimes}):
        head, members = kind
        check_members(members, start.strategy)
        chosen = _preset(plan, start.stream, split, network, head, presets)
        for seed in range(plan.seeds):
            chain = replace(
                start,
                head=head,
                backbone_parameters=tuple(sorted(chosen.backbone.items())),
                epochs=chosen.training.epochs,
                lr=chosen.training.lr,
                steps=chosen.training.steps,
                warm_steps=chosen.training.warm_steps,
                seed=seed,
                members=members,
            )
            plan.scored[chain] = sorted(always.get(kind, set()))
            plan.tried[chain] = sorted(sometimes.get(kind, set()) - always.get(kind, set()))
            plan.units[chain] = _units(plan.tasks, chain, prefixes)


def _preset(
    plan: Plan, stream: str, split: str, network: BackboneSetting, head: str, presets: PresetFile | None
) -> Preset:
    tuned = presets.fit(stream, split, network.name, head) if presets else None
    found, values = tuned or preset(stream, split, network.name, head), network.values
    if values:
        check_buildable(network.name, {**found.backbone, **values})
    return plan.budget.cap_given(found, values)


def _units(tasks: TaskCache, chain: ChainSpec, prefixes: dict[int, str]) -> list[Unit]:
    units: list[Unit] = []
    last = ""
    static = tasks.stream(chain).static
    for task in tasks.outlines(chain):
        # What is skipped trains nothing: it goes on from no fit, and no fit goes on from it.
        parent = "" if task.skipped else last
        key = unit_key(chain, prefixes[task.time], task.time, task.fold, parent)
        units.append(Unit(key, parent, task.index, task.time, task.role, task.fold, chain))
        if not task.skipped and not static:
            last = key
    return units
