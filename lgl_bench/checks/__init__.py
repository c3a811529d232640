"""The checks battery: every registered plugin, by kind, against its contract.

Used by the tests and by `lgl-bench check NAME`. A check that does not apply to a plugin is exempt by name, with the
reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from lgl_bench.checks import backbones, detectors, heads, metrics, protocols, strategies, thresholds
from lgl_bench.checks.failure import CheckFailure, Exempt
from lgl_bench.core.errors import LglBenchError, UsageError, reason_of
from lgl_bench.core.guard import preserved_state

Check: TypeAlias = Callable[[str], None]

CHECKS: dict[str, tuple[Check, ...]] = {
    "backbones": backbones.CHECKS,
    "heads": heads.CHECKS,
    "strategies": strategies.CHECKS,
    "detectors": detectors.CHECKS,
    "thresholds": thresholds.CHECKS,
    "protocols": protocols.CHECKS,
    "metrics": metrics.CHECKS,
}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found."""

    kind: str
    name: str
    check: str
    status: Literal["passed", "failed", "exempt"]
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As JSON wants it."""
        return asdict(self)


def check_plugin(kind: str, name: str) -> list[CheckResult]:
    """Every check of a kind on the plugin of that name."""
    if kind not in CHECKS:
        raise UsageError(f"there are no checks for {kind}; there are some for {', '.join(CHECKS)}")
    return [_run(kind, name, check) for check in CHECKS[kind]]


def _run(kind: str, name: str, check: Check) -> CheckResult:
    title = check.__name__.replace("_", " ")
    try:
        with preserved_state():
            check(name)
    except Exempt as exempt:
        return CheckResult(kind, name, title, "exempt", str(exempt))
    except CheckFailure as failure:
        return CheckResult(kind, name, title, "failed", str(failure))
    except LglBenchError as error:
        return CheckResult(kind, name, title, "failed", reason_of(error))
    except (Exception, SystemExit) as error:  # a plugin may raise anything; it fails its own check, no other
        hint = "; copy what you change" if isinstance(error, ValueError) and "read-only" in reason_of(error) else ""
        return CheckResult(kind, name, title, "failed", f"it raised {reason_of(error)}{hint}")
    return CheckResult(kind, name, title, "passed")
