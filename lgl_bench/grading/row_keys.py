"""The key of a row of the leaderboard, from the plan it belongs to."""

from __future__ import annotations

from functools import cache

from lgl_bench.grading.row_key import Key
from lgl_bench.plans.methods import MethodRow
from lgl_bench.plans.plan import Plan
from lgl_bench.plans.plugin_facts import detector_facts, model_track, protocol_facts, threshold_facts


class RowKeys:
    """The keys of the rows of a plan; each is made once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.of = cache(self._of)
        self._protocol = cache(lambda setting: protocol_facts(setting, plan.plugins))
        self._detector = cache(lambda text: detector_facts(text, plan.plugins))
        self._model = cache(lambda backbone, head: model_track(backbone, head, plan.plugins))

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
            track=self._track(row, facts.track, threshold),
            backbone=row.shown_backbone,
            head=row.head,
            detector=row.detector,
            threshold=threshold,
            preset=row.preset,
            budget=plan.budget.name,
            budget_version=plan.budget.version,
            select=plan.suite.select,
        )

    def _track(self, row: MethodRow, protocol: str, threshold: str) -> str:
        """The protocol's track, unless a part of the row looks at the test vertices together, or sees the truth."""
        tracks = {protocol, *(self._detector(candidate.base).track for candidate in row.candidates)}
        tracks |= {self._model(row.backbone, candidate.head) for candidate in row.candidates}
        if threshold:
            facts = threshold_facts(threshold, self.plan.plugins)
            if not facts.ranked:
                return "upper bound"
            tracks.add(facts.track)
        return "transductive" if "transductive" in tracks else protocol
