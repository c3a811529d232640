"""The key of a row of the leaderboard, from the plan it belongs to."""

from __future__ import annotations

from functools import cache

from lgl_bench.grading.row_key import Key
from lgl_bench.plans.methods import MethodRow
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.plugin_facts import protocol_facts, threshold_facts


class RowKeys:
    """The keys of the rows of a plan; each is made once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.of = cache(self._of)
        self._protocol = cache(lambda setting: protocol_facts(setting, plan.plugins))

    def _of(self, row: MethodRow, threshold: str = "") -> Key:
        """The key of a row with a threshold, or without one."""
        plan, protocol, facts = self.plan, row.protocol, self._protocol(row.protocol)
        return Key(
            suite=plan.suite.name,
            suite_version=plan.suite.version,
            stream=row.stream,
            stream_checksum=plan.checksums[row.stream],
            protocol=plan.shown_protocol(row.stream, protocol.name, facts.split),
            split=facts.split,
            strategy=row.strategy.name,
            history=protocol.shown_history,
            restart=row.strategy.restart,
            label_delay=protocol.label_delay or 0,
            track=self._track(facts.track, threshold) if threshold else facts.track,
            backbone=row.shown_backbone,
            head=row.head,
            detector=row.detector,
            threshold=threshold,
            preset=row.preset,
            budget=plan.budget.name,
            budget_version=plan.budget.version,
            select=plan.suite.select,
        )

    def _track(self, protocol: str, threshold: str) -> str:
        """The track of a row with a threshold: one that learns from the test graph, or sees the truth, has its own."""
        facts = threshold_facts(threshold, self.plan.plugins)
        if not facts.ranked:
            return "upper bound"
        return "transductive" if "transductive" in (protocol, facts.track) else protocol
