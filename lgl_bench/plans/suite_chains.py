"""Whether a chain of plan.json is one that its suite asks for."""

from __future__ import annotations

from collections.abc import Sequence

from lgl_bench.core.expressions import fills, parse
from lgl_bench.core.grammar import plugin_name
from lgl_bench.plans.fits import UNCHAINED, ChainSpec, StrategySetting
from lgl_bench.plans.methods import MethodRow
from lgl_bench.plans.plan_file import PlanError, PluginFacts
from lgl_bench.plans.settings import ChainRequest, ChainSetting, chain_requests, resolve_strategy
from lgl_bench.plans.suite import Suite
from lgl_bench.strategies import strategies


class SuiteChains:
    """What a suite allows: its own settings and, for rows of somebody's own preset, those with other values.

    Args:
        suite: As it is in plan.json.
        facts: What is recorded of plugins that may not be available.
        rows: As they are in plan.json.
        absent: Whether the protocol is not available, so that its settings are as claimed.
    """

    def __init__(self, suite: Suite, facts: PluginFacts, rows: Sequence[MethodRow], *, absent: bool) -> None:
        self.absent = absent
        self._suite = suite
        self._facts = facts
        self._requests: dict[str, list[ChainRequest]] = {}
        self._tuned = {_place(row) for row in rows if row.tuned}
        self._own: set[tuple[StrategySetting, int | None]] = set()

    def allows(self, chain: ChainSpec) -> bool:
        """Whether protocol and strategy of a chain are the suite's.

        Raises:
            PlanError: What is claimed of the strategy is not what its own expression says.
        """
        self._check_facts(chain)
        if self.absent:
            return chain.protocol.name == self._suite.protocol and self._is_named(chain)
        if chain.stream not in self._requests:
            self._requests[chain.stream] = chain_requests(self._suite.on(chain.stream), self._facts)
        requests = self._requests[chain.stream]
        setting = ChainSetting(chain.protocol, chain.strategy)
        if any(setting == request.setting for request in requests):
            return True
        # Nobody knows the defaults of a strategy that is not available.
        free = _place(chain) in self._tuned or plugin_name(chain.strategy.name) not in strategies
        return free and any(request.allows(setting) for request in requests)

    def _is_named(self, chain: ChainSpec) -> bool:
        """Whether the suite names the strategy; with all its values, unless they come from somebody's own preset."""
        if not chain.strategy.name:
            return self._suite.strategies == ("full",)
        texts = [text for text in self._suite.strategies if fills(parse(chain.strategy.name), parse(text))]
        if _place(chain) in self._tuned:
            return bool(texts)
        return any(resolve_strategy(text, self._facts)[0] == chain.strategy for text in texts)

    def _check_facts(self, chain: ChainSpec) -> None:
        claimed = chain.strategy, chain.protocol.history
        if claimed in self._own:
            return
        own = resolve_strategy(chain.strategy.name, self._facts) if chain.strategy.name else (UNCHAINED, None)
        if claimed != own:
            raise PlanError(
                f"plan.json: a chain on {chain.stream} has the strategy {_shown(*claimed)}; by its expression it is "
                f"{_shown(*own)}"
            )
        self._own.add(claimed)


def _shown(strategy: StrategySetting, history: int | None) -> str:
    start = "warm" if strategy.warm else "cold"
    return f"'{strategy.name}', {start}, past: {strategy.past}, graph: {strategy.graph}, history: {history or 'all'}"


def _place(one: MethodRow | ChainSpec) -> tuple[str, str, ChainSetting]:
    return one.stream, one.backbone, ChainSetting(one.protocol, one.strategy)
