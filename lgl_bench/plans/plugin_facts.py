"""What grading needs to know of plugins: asked of the plugin, or as a run recorded it.

A run records what it knows of plugins that are not built in (`plan_file.PluginFacts`), so that its rows can be graded
without their code.
"""

from __future__ import annotations

from typing import Any

from lgl_bench.backbones import backbones
from lgl_bench.core.expressions import Expression, build, parse
from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.references import is_external
from lgl_bench.detectors import detectors, head_of
from lgl_bench.heads import heads
from lgl_bench.plans.fits import ProtocolSetting
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.plan_file import DetectorFacts, PluginFacts, ProtocolFacts, ThresholdFacts
from lgl_bench.plans.settings import strategy_facts
from lgl_bench.protocols import protocols
from lgl_bench.strategies import strategies
from lgl_bench.thresholds import thresholds


def note_plugins(plan: Plan) -> PluginFacts:
    """What is to be recorded of the plugins of a plan that are not built in."""
    settings = {chain.protocol for chain in plan.units}
    own_backbones = sorted({one.backbone for one in plan.units if not backbones.is_built_in(one.backbone)})
    own_heads = sorted({one.head for one in plan.units if not heads.is_built_in(one.head)})
    bases = {candidate.base for row in plan.rows for candidate in row.candidates}
    return PluginFacts(
        backbones=tuple(own_backbones),
        heads=tuple(own_heads),
        detectors={
            text: detector_facts(text, plan.plugins)
            for text in sorted(bases)
            if not all(detectors.is_built_in(name) for name in _names(parse(text)))
        },
        thresholds={
            text: threshold_facts(text, plan.plugins)
            for text in sorted(plan.thresholds)
            if not thresholds.is_built_in(parse(text).name)
        },
        protocols={
            protocol_name(one): _protocol(one)
            for one in sorted(settings, key=protocol_name)
            if not protocols.is_built_in(one.name)
        },
        strategies={
            name: strategy_facts(name)
            for name in sorted({chain.strategy.name for chain in plan.units if chain.strategy.name})
            if not strategies.is_built_in(plugin_name(name))
        },
        transductive_backbones=tuple(
            name for name in own_backbones if not is_external(name) and _is_transductive(backbones.get(name))
        ),
        transductive_heads=tuple(
            name for name in own_heads if not is_external(name) and _is_transductive(heads.get(name))
        ),
    )


def model_track(backbone: str, head: str, facts: PluginFacts) -> str:
    """The track of a model: transductive if its backbone or its head is.

    Raises:
        UnknownNameError: One of them is not available, and nothing is recorded of it.
    """
    named = (
        (backbones, backbone, facts.backbones, facts.transductive_backbones),
        (heads, head, facts.heads, facts.transductive_heads),
    )
    for registry, name, recorded, transductive in named:
        own = name in transductive if name not in registry and name in recorded else None
        if _is_transductive(registry.get(name)) if own is None else own:
            return "transductive"
    return "inductive"


def protocol_name(setting: ProtocolSetting) -> str:
    """The name under which the facts of a protocol are recorded."""
    return f"{setting.name} {setting.split}" if setting.split else setting.name


def protocol_facts(setting: ProtocolSetting, facts: PluginFacts) -> ProtocolFacts:
    """Split and track of a protocol.

    Raises:
        UnknownNameError: It is not available, and nothing is recorded of it.
    """
    if setting.name not in protocols and protocol_name(setting) in facts.protocols:
        return facts.protocols[protocol_name(setting)]
    return _protocol(setting)


def detector_facts(text: str, facts: PluginFacts) -> DetectorFacts:
    """Head, bounds and track of a detector.

    Raises:
        UnknownNameError: It is not available, and nothing is recorded of it.
    """
    if text in facts.detectors and not all(name in detectors for name in _names(parse(text))):
        return facts.detectors[text]
    return _detector(text)


def threshold_facts(text: str, facts: PluginFacts) -> ThresholdFacts:
    """Track of a threshold, and whether it may be ranked.

    Raises:
        UnknownNameError: It is not available, and nothing is recorded of it.
    """
    if parse(text).name not in thresholds and text in facts.thresholds:
        return facts.thresholds[text]
    return _threshold(text)


def _protocol(setting: ProtocolSetting) -> ProtocolFacts:
    built = setting.build()
    return ProtocolFacts(split=built.split, track=built.track, chained=built.chained)


def _detector(text: str) -> DetectorFacts:
    built = build(parse(text), detectors)
    return DetectorFacts(
        head=head_of(built),
        bounded=bool(built.bounded),
        track=built.track,
        backbones=tuple(detectors.get(parse(text).name).backbones),
    )


def _is_transductive(plugin: Any) -> bool:
    return bool(plugin.track == "transductive")


def _threshold(text: str) -> ThresholdFacts:
    built = build(parse(text), thresholds)
    return ThresholdFacts(track=built.track, ranked=bool(built.ranked))


def _names(expression: Expression) -> list[str]:
    return [expression.name, *(name for part in expression.arguments for name in _names(part))]
