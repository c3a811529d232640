"""Running a command that may be hostile: what it can reach is a folder of its own and what it needs to run.

The strongest of several sandboxes that works here is taken: bubblewrap; else namespaces made by `namespaces.py`, which
cut the same; else what is left of that. What stays open is reported, and nothing is run unless the reviewer allows it.
"""

from __future__ import annotations

import json
import os
import site
import subprocess
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lgl_bench.core.errors import UsageError
from lgl_bench.submissions.reproduce.bubblewrap import bubblewrap
from lgl_bench.submissions.reproduce.limits import Limits, run_limited
from lgl_bench.submissions.reproduce.view import DEVICES, PRIVATE, View, import_paths, view_of

OPEN = {
    "network": "it can reach the network",
    "files": "it can read and change every file you can, this bundle's answers among them, and talk over sockets",
    "processes": "it can end and look into your other processes, and leave some behind",
}
"""What a sandbox may leave open, and what that means."""
KEPT = (
    *("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"),
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
)
"""Environment variables that go along: none of them says who the reviewer is or carries a secret."""
_SANDBOXES: tuple[tuple[str, frozenset[str]], ...] = (
    ("bubblewrap", frozenset()),
    ("namespaces", frozenset()),
    ("bubblewrap without cutting the network", frozenset({"network"})),
    ("a network namespace alone", frozenset({"files", "processes"})),
    ("no sandbox", frozenset(OPEN)),
)
"""From the strongest to none, with what each leaves open."""
_MODES = {"namespaces": "all", "a network namespace alone": "network", "no sandbox": "nothing"}


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A way to run commands that works here.

    Attributes:
        name: What makes it.
        open: Names in `OPEN` of what it does not cut.
        view: What can be seen inside.
        reasons: Why the stronger ones do not work.
    """

    name: str
    open: frozenset[str]
    view: View
    reasons: tuple[str, ...] = ()

    def warning(self) -> str:
        """What stays open and why, as a sentence; empty if nothing does."""
        if not self.open:
            return ""
        meaning = "; ".join(meaning for name, meaning in OPEN.items() if name in self.open)
        return f"the method runs with {self.name}: {meaning} ({'; '.join(self.reasons)})"


def choose_sandbox(
    folder: Path, *, visible: Iterable[Path] = (), hidden: Iterable[Path] = (), allowed: Collection[str] = ()
) -> Sandbox:
    """The strongest sandbox that works here.

    Args:
        folder: A temporary folder, the one place that can be written to.
        visible: What can be read, besides Python and the package.
        hidden: What cannot, wherever it is.
        allowed: Names in `OPEN` of what may stay open.

    Raises:
        UsageError: It leaves something open that is not allowed.
    """
    for name in (*PRIVATE.values(), "root", "home/tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    view = view_of(folder, visible, hidden)
    reasons: list[str] = []
    for name, left in _SANDBOXES:
        sandbox = Sandbox(name, left, view, tuple(reasons))
        reason = _skip_reason(sandbox)
        if not reason:
            break
        reasons.append(f"{name}: {reason}")
    if not sandbox.open <= set(allowed):
        raise UsageError(
            f"{sandbox.warning()}. So nothing was run. Install bubblewrap, or use a machine or container that allows "
            f"user namespaces; or, having read the plugin, give "
            f"{'--allow-network' if sandbox.open == {'network'} else '--unsafe'}"
        )
    return sandbox


def run_isolated(
    sandbox: Sandbox, command: Sequence[str], limits: Limits | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs Python with arguments in a sandbox, in an empty home, with next to no environment.

    Args:
        sandbox: Where.
        command: Arguments of Python: `("-m", "some.module", ...)` or `("-c", "...")`.
        limits: Of the whole run.
        variables: Further environment variables.
    """
    home = f"{sandbox.view.folder}/home"
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= {"HOME": home, "TMPDIR": f"{home}/tmp", "USER": "nobody", "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"DGLBACKEND": "pytorch", "PYTHONUSERBASE": site.getuserbase(), **variables}
    environment["PYTHONPATH"] = os.pathsep.join(import_paths())
    return run_limited(_wrapped(sandbox, command), limits or Limits(), cwd=home, env=environment)


def _wrapped(sandbox: Sandbox, command: Sequence[str]) -> list[str]:
    """The command line that makes the sandbox and runs Python in it; empty if the program is not installed."""
    view = sandbox.view
    if sandbox.name not in _MODES:
        before = bubblewrap(view, network="network" in sandbox.open)
        return [*before, sys.executable, *command] if before else []
    fields = {**asdict(view), "private": PRIVATE, "devices": [*DEVICES, *view.devices]}
    script = Path(__file__).with_name("namespaces.py")
    return [sys.executable, "-P", str(script), _MODES[sandbox.name], str(os.getpid()), json.dumps(fields), *command]


def _skip_reason(sandbox: Sandbox) -> str:
    """Why a sandbox does not work here; empty if it does. It is tried."""
    command = _wrapped(sandbox, ("-c", "pass"))
    if not command:
        return "it is not installed"
    home = f"{sandbox.view.folder}/home"
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return " ".join(done.stderr.split())[-300:] or "it failed" if done.returncode else ""
