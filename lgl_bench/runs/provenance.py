"""What made a row: versions, and the commit if the package runs from a checkout."""

from __future__ import annotations

import datetime
import subprocess
from functools import cache
from pathlib import Path

from lgl_bench.core.versions import versions


def provenance() -> dict[str, str]:
    """Time, versions and commit: columns of the leaderboard, and what else a key of plan.json rests on."""
    return {
        "created_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        **versions("lgl_bench", "torch", "dgl", "numba", "numpy", "python"),
        "git_commit": commit(),
    }


@cache
def commit() -> str:
    """Commit of the checkout this package runs from, "-dirty" if its code was changed; empty without one.

    A plugin of a user's own is known by its digest.
    """
    package = Path(__file__).resolve().parents[1]
    # A package installed into a folder under somebody else's repository is not tracked there.
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return ""
    head = _git(package, "rev-parse", "HEAD")
    # Beside the package lie the plugins of `lgl-bench parity`.
    changed = _git(package, "status", "--porcelain", "--", ".", "../benchmarks/parity")
    return f"{head}-dirty" if changed else head or ""


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
