"""How a suite cuts streams and what is kept of the past: each protocol setting with a strategy."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Constant, build, complete, fills, parse
from lgl_bench.plans.fits import UNCHAINED, ProtocolSetting, StrategySetting
from lgl_bench.plans.plan_file import PluginFacts, StrategyFacts
from lgl_bench.plans.suite import Suite
from lgl_bench.protocols import protocols
from lgl_bench.strategies import strategies


class ChainSetting(NamedTuple):
    """What chains of a suite differ in, apart from stream, model and seed."""

    protocol: ProtocolSetting
    strategy: StrategySetting


class ChainRequest(NamedTuple):
    """A setting, and the strategy as the suite writes it."""

    asked: str
    setting: ChainSetting

    def allows(self, other: ChainSetting) -> bool:
        """Whether another setting is this one with values of its strategy that the suite does not give."""
        mine = self.setting
        if not mine.strategy.name or not other.strategy.name:
            return other == mine
        same_cut = replace(other.protocol, history=None) == replace(mine.protocol, history=None)
        return same_cut and fills(parse(other.strategy.name), parse(self.asked))


def chain_settings(suite: Suite, facts: PluginFacts | None = None) -> list[ChainSetting]:
    """The protocol of a suite, as it is on a stream, with the parameters it takes: once for each strategy and split.

    Args:
        suite: What is asked for.
        facts: What is recorded of plugins that may not be available.
    """
    return [request.setting for request in chain_requests(suite, facts)]


def chain_requests(suite: Suite, facts: PluginFacts | None = None) -> list[ChainRequest]:
    """The same, each with the strategy as it is written."""
    accepted = inspect.signature(protocols.get(suite.protocol)).parameters
    if suite.split and "split" not in accepted:
        raise UsageError(f"the protocol {suite.protocol} has no splits; leave --split out")
    nested = suite.select == "nested"
    if nested and "nested" not in accepted:
        raise UsageError(f"select = nested hides a second class; the protocol {suite.protocol} has none to hide")
    if suite.select in ("t1", "prequential") and suite.protocol != "temporal":
        raise UsageError(f"select = {suite.select} needs years; with {suite.protocol} use preset or nested")
    start = ProtocolSetting(
        suite.protocol,
        label_delay=suite.label_delay if "label_delay" in accepted else None,
        nested=True if nested else None,
    )
    found = []
    for text in suite.strategies:
        setting = _keeping(start, text, facts or PluginFacts())
        for split in suite.split or (None,):
            found.append(ChainRequest(text, setting._replace(protocol=replace(setting.protocol, split=split))))
    if not found[0].setting.protocol.build().chained:
        if suite.strategies != ("full",):
            raise UsageError(
                f"the tasks of the protocol {suite.protocol} do not build on each other, so there is no past to keep; "
                "leave --strategy out"
            )
        return [ChainRequest(one.asked, ChainSetting(one.setting.protocol, UNCHAINED)) for one in found]
    settings = [one.setting for one in found]
    twice = [one.strategy.name for one in settings if settings.count(one) > 1]
    if twice:
        raise UsageError(f"the strategy {twice[0]} is named twice; leave one out")
    return found


def check_members(members: int, strategy: StrategySetting) -> None:
    """Raises if an ensemble of so many members cannot be run with a strategy."""
    if members > 1 and strategy.graph == "kept":
        raise UsageError(
            f"an ensemble cannot be run with the strategy {strategy.name}: every member would keep vertices of its "
            "own, and graphs that differ have no mean; leave one of them out"
        )


def with_values(setting: ChainSetting, values: Mapping[str, Constant]) -> ChainSetting:
    """The setting with other values for parameters of its strategy.

    Raises:
        UsageError: The strategy does not take them.
    """
    whole = parse(setting.strategy.name)
    changed = replace(whole, parameters=tuple(sorted({**dict(whole.parameters), **values}.items())))
    return _keeping(setting.protocol, str(changed), PluginFacts())


def _keeping(protocol: ProtocolSetting, text: str, facts: PluginFacts) -> ChainSetting:
    """A protocol with a strategy, and the years that this keeps."""
    strategy, history = resolve_strategy(text, facts)
    if history is not None and "history" not in inspect.signature(protocols.get(protocol.name)).parameters:
        raise UsageError(f"the strategy {text} keeps the last years; the protocol {protocol.name} has no years")
    return ChainSetting(replace(protocol, history=history), strategy)


def resolve_strategy(text: str, facts: PluginFacts) -> tuple[StrategySetting, int | None]:
    """A strategy as a suite writes it, and the years it keeps; as a run recorded it if it is not available.

    Raises:
        UnknownNameError: It is not available, and nothing is recorded of it.
    """
    asked = parse(text)
    if asked.name not in strategies:
        recorded = [name for name in facts.strategies if fills(parse(name), asked)]
        if not recorded:
            strategies.get(asked.name)  # raises, with the names there are
        return _setting(recorded[0], facts.strategies[recorded[0]])
    whole = complete(asked, strategies)
    return _setting(str(whole), strategy_facts(str(whole)))


def strategy_facts(text: str) -> StrategyFacts:
    """What is recorded of a strategy that is available, by its canonical expression."""
    built = build(parse(text), strategies)
    return StrategyFacts(warm=built.warm, past=built.past, graph=built.graph, history=built.history)


def _setting(name: str, facts: StrategyFacts) -> tuple[StrategySetting, int | None]:
    return StrategySetting(name, facts.warm, facts.past, facts.graph), facts.history
