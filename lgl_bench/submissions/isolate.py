"""Running a command without network, outside the reviewer's home, with next to no environment.

On Linux a process leaves the network by entering a network namespace of its own, in which not even the loopback is
up; an unprivileged one enters a user namespace first. Either may be forbidden: then this says so, and runs nothing
unless the reviewer allows the network.

This is no jail for hostile code: it may still read what the reviewer may read. Read a plugin before you run it.
"""

from __future__ import annotations

import ctypes
import os
import site
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lgl_bench.core.errors import UsageError

KEPT = (
    *("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"),
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
)
"""Environment variables that go along: none of them says who the reviewer is or carries a secret."""
NOT_CUT = 97
"""Exit code of a command that was not run, because the network could not be cut."""
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000


def run_isolated(
    command: Sequence[str], folder: Path, *, allow_network: bool = False, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs Python with arguments in a fresh home under `folder`, the network cut.

    Args:
        command: Arguments of Python: `("-m", "some.module", ...)` or `("-c", "...")`.
        folder: A temporary folder, which becomes home and working folder.
        allow_network: Whether to go on where the network cannot be cut.
        variables: Further environment variables.

    Raises:
        UsageError: The network could not be cut, and that is not allowed.
    """
    home = folder / "home"
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= {"HOME": str(home), "TMPDIR": str(home / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"DGLBACKEND": "pytorch", "PYTHONUSERBASE": site.getuserbase(), **variables}
    package = str(Path(__file__).resolve().parents[2])
    paths = [str(Path(path).resolve()) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([package, *paths]))
    mode = "try" if allow_network else "must"
    done = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).resolve()), mode, *command],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode == NOT_CUT:
        raise UsageError(
            f"the network could not be cut ({done.stderr.strip()[-300:]}), so nothing was run. Use a machine that "
            "allows network namespaces, or a container without network; or, having read the plugin, give "
            "--allow-network"
        )
    return done


def why_not_cut() -> str:
    """Why the network cannot be cut here; empty where it can. A process of its own tries it."""
    command = [sys.executable, "-P", str(Path(__file__).resolve()), "must", "-c", "pass"]
    package = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return done.stderr.strip()[-300:] or "it failed" if done.returncode else ""


def cut_network() -> str:
    """Leaves the network for good; empty where that worked, otherwise why not. Must come before any thread."""
    if not sys.platform.startswith("linux"):
        return f"{sys.platform} has no network namespaces"
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    # A user namespace first: without one, a privileged process could walk back into the network it left.
    if libc.unshare(_NEW_USER | _NEW_NET) == 0:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    elif libc.unshare(_NEW_NET) != 0:
        return f"unshare: {os.strerror(ctypes.get_errno())}"
    lines = Path("/proc/self/net/dev").read_text(encoding="ascii").splitlines()[2:]
    left = [line.partition(":")[0].strip() for line in lines]
    return "" if set(left) <= {"lo"} else f"{', '.join(left)} would still be there"


def _write(path: str, text: str) -> None:
    """Keeps the own user's number inside the namespace; where that is forbidden, files are nobody's, and readable."""
    try:
        Path(path).write_text(text, encoding="ascii")
    except OSError:
        return


def _main() -> None:
    """Cuts the network, then becomes the command: what is inherited cannot be undone by it."""
    mode, *command = sys.argv[1:]
    reason = cut_network()
    if reason and mode == "must":
        sys.stderr.write(reason)
        sys.exit(NOT_CUT)
    os.execv(sys.executable, [sys.executable, *command])


if __name__ == "__main__":
    _main()
