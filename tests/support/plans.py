"""plan.json of runs that are made up."""

from __future__ import annotations

import json
from typing import Any


def plan_text(suite: dict[str, Any], **changes: Any) -> str:
    """A whole plan.json of a suite without rows."""
    plan = {"suite": suite, "budget": "quick", "budget_version": 2, "seeds": 3, "streams": {}, "stand_ins": {}}
    plan |= {"fits": [], "chains": [], "rows": [], "thresholds": [], "provenance": {}, "lgl_bench": "1"}
    return json.dumps({**plan, **changes})
