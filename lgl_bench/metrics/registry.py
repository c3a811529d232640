"""The registry of metrics: what a metric must declare before its columns may stand in a table."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import get_args

from lgl_bench.core.errors import PluginError, quoted
from lgl_bench.core.registry import Registry
from lgl_bench.metrics.contract import Aggregate, BoardMetric, ChainMetric, Metric, Need, PooledMetric

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class MetricRegistry(Registry[type[BoardMetric]]):
    """Metrics by the name their columns begin with.

    Args:
        modules: Modules of the built-in metrics, in the order of the columns of year rows.
    """

    def __init__(self, modules: tuple[str, ...]) -> None:
        super().__init__("metric", "lgl_bench.metrics", modules)

    def described(self, name: str) -> type[BoardMetric]:
        """What is known of a metric; nothing is assumed of one that is not available."""
        return self.get(name) if name in self else BoardMetric

    def in_order(self) -> list[type[BoardMetric]]:
        """Every metric: the built-in ones in their order, then others by name."""
        names = set(self.names())
        available = [plugin for name, plugin in self._plugins.items() if name in names]
        place = {module: at for at, module in enumerate(self._modules)}
        built_in = [plugin for plugin in available if self.is_built_in(plugin.name)]
        others = [plugin for plugin in available if plugin not in built_in]
        return [
            *sorted(built_in, key=lambda plugin: place[plugin.__module__]),
            *sorted(others, key=lambda plugin: plugin.name),
        ]

    def per_year(self) -> dict[str, type[Metric]]:
        """What grades a task, by the column of year rows its grade goes to."""
        found: dict[str, type[Metric]] = {}
        for plugin in self.in_order():
            if issubclass(plugin, Metric):
                found.setdefault(plugin.year_column or plugin.name, plugin)
        return found

    def year_column(self, name: str) -> str:
        """The column of year rows that a metric is made from; "" for one that is made from counts of decisions."""
        described = self.described(name)
        if described.over_years in (Aggregate.POOLED, Aggregate.AGAINST_ORACLE):
            return ""
        return (described.year_column or name) if issubclass(described, Metric) else name

    def pooled(self) -> dict[str, type[PooledMetric]]:
        """What is graded from the decisions of all test years, by name."""
        return {plugin.name: plugin for plugin in self.in_order() if issubclass(plugin, PooledMetric)}

    def chained(self) -> dict[str, type[ChainMetric]]:
        """What is graded from the models of all years so far, by name, which is its column of year rows too."""
        return {plugin.name: plugin for plugin in self.in_order() if issubclass(plugin, ChainMetric)}

    def register(self, name: str) -> Callable[[type[BoardMetric]], type[BoardMetric]]:
        """Registers a metric, if it declares what its columns need."""
        add = super().register(name)

        def decorate(plugin: type[BoardMetric]) -> type[BoardMetric]:
            problem = _problem(name, plugin)
            if problem:
                raise PluginError(f"the metric {quoted(name)} cannot be used: {problem}")
            add(plugin)
            plugin.name = name
            plugin.label = plugin.label or name
            plugin.about = plugin.about or (plugin.__doc__ or "").strip().split("\n")[0]
            return plugin

        return decorate


def _problem(name: str, plugin: type[BoardMetric]) -> str:
    """What a metric lacks; empty if it keeps the contract."""
    if not _NAME.fullmatch(name):
        return "its columns begin with its name; use lower-case letters, digits and _, a letter first, such as my_rate"
    if not (isinstance(plugin, type) and issubclass(plugin, BoardMetric)):
        return "it is no class that extends lgl_bench.metrics.Metric"
    if not plugin.needs or set(plugin.needs) - set(get_args(Need)):
        return f"needs = {plugin.needs!r}; name at least one of {', '.join(get_args(Need))}"
    low, high = plugin.range
    if low is not None and high is not None and not low < high:
        return f"range = ({low}, {high}); the least value comes first, and None stands for none"
    if plugin.__module__.startswith("lgl_bench."):
        return ""
    if not issubclass(plugin, Metric) or plugin.over_years is not Aggregate.MEAN or plugin.year_column:
        return (
            "a metric of your own is the mean over test years of what its __call__ returns; leave over_years as it is"
        )
    return ""
