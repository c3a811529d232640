from __future__ import annotations

import pytest

from lgl_bench.checks import CHECKS, check_plugin
from lgl_bench.cli.plugins import registries
from lgl_bench.core.errors import UsageError

PLUGINS = [(kind, name) for kind, registry in registries().items() for name in registry.names()]

# Whoever is exempt from what; the reason must be told.
EXEMPT = {
    ("detectors", "random"): {"follows a renumbering of the vertices", "ranks planted novelty above chance"},
    ("detectors", "mc-dropout"): {"follows a renumbering of the vertices"},
    ("detectors", "openwgl"): {"follows a renumbering of the vertices"},
    ("detectors", "degree"): {"ranks planted novelty above chance"},
    ("detectors", "recency"): {"ranks planted novelty above chance"},
    ("thresholds", "open-wrf"): {"is monotone in its rate"},
    ("metrics", "prevalence"): {"prefers right answers"},
    ("metrics", "rejected_share"): {"prefers right answers"},
}
# What no plugin that learns nothing, or has no rate, can break.
NOT_APPLICABLE = {
    "raises when it is not fitted": "learns nothing",
    "is monotone in its rate": "no rate",
    "draws what it grades": "no resampling kernel",
    "trains without the test graph": "its track is transductive",
    "remembers no more labels than its size": "no size",
    "reads no more than the probabilities it declares": "declares that it reads more",
}
POOLED = "not task by task"


@pytest.mark.parametrize(("kind", "name"), PLUGINS, ids=[f"{kind}-{name}" for kind, name in PLUGINS])
def test_every_registered_plugin_keeps_its_contract_and_is_exempt_only_by_name(kind, name):
    results = check_plugin(kind, name)
    assert len(results) == len(CHECKS[kind])
    assert [(result.check, result.reason) for result in results if result.status == "failed"] == []
    by_name = set()
    for result in results:
        assert (result.kind, result.name) == (kind, name)
        if result.status != "exempt":
            continue
        assert result.reason
        if NOT_APPLICABLE.get(result.check, POOLED) not in result.reason and POOLED not in result.reason:
            by_name.add(result.check)
    assert by_name == EXEMPT.get((kind, name), set())


def test_every_kind_that_can_be_listed_has_checks():
    assert set(CHECKS) == set(registries())


def test_a_kind_without_checks_is_refused():
    with pytest.raises(UsageError, match="importers.*detectors"):
        check_plugin("importers", "adjlist")
