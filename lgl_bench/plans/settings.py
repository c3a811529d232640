"""How a suite cuts streams and what is kept of the past: each protocol setting with a strategy."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import NamedTuple

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import build, complete, fills, parse
from lgl_bench.plans.fits import UNCHAINED, ProtocolSetting, StrategySetting
from lgl_bench.plans.plan_file import PluginFacts, StrategyFacts
from lgl_bench.plans.suite import Suite
from lgl_bench.protocols import protocols
from lgl_bench.strategies import strategies


class ChainSetting(NamedTuple):
    """What chains of a suite differ in, apart from stream, model and seed."""

    protocol: ProtocolSetting
    strategy: StrategySetting


def chain_settings(suite: Suite, facts: PluginFacts | None = None) -> list[ChainSetting]:
    """The protocol of a suite with the parameters it takes, once for each strategy and split.

    Args:
        suite: What is asked for.
        facts: What is recorded of plugins that may not be available.
    """
    accepted = inspect.signature(protocols.get(suite.protocol)).parameters
    if suite.split and "split" not in accepted:
        raise UsageError(f"the protocol {suite.protocol} has no splits; leave --split out")
    nested = suite.select == "nested"
    if nested and "nested" not in accepted:
        raise UsageError(f"select = nested hides a second class; the protocol {suite.protocol} has none to hide")
    if suite.select in ("t1", "prequential") and suite.protocol != "temporal":
        raise UsageError(f"select = {suite.select} needs years; with {suite.protocol} use preset or nested")
    found = []
    for text in suite.strategies:
        strategy, history = resolve_strategy(text, facts or PluginFacts())
        setting = ProtocolSetting(
            suite.protocol,
            label_delay=suite.label_delay if "label_delay" in accepted else None,
            nested=True if nested else None,
        )
        if history is not None and "history" not in accepted:
            raise UsageError(f"the strategy {text} keeps the last years; the protocol {suite.protocol} has no years")
        setting = replace(setting, history=history)
        for split in suite.split or (None,):
            found.append(ChainSetting(replace(setting, split=split), strategy))
    if not found[0].protocol.build().chained:
        if suite.strategies != ("full",):
            raise UsageError(
                f"the tasks of the protocol {suite.protocol} do not build on each other, so there is no past to keep; "
                "leave --strategy out"
            )
        return [ChainSetting(one.protocol, UNCHAINED) for one in found]
    twice = [one.strategy.name for one in found if found.count(one) > 1]
    if twice:
        raise UsageError(f"the strategy {twice[0]} is named twice; leave one out")
    return found


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
