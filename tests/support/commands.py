"""Commands as a stranger gives them: in processes of their own, with an empty home, no data and no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_GRACE = 10.0
"""Seconds in which what a command started has to end after it."""
_NO_PROXY = "http://127.0.0.1:9"
"""Nobody listens there: a download fails at once, whatever network the machine has."""


def environment(folder: Path) -> dict[str, str]:
    """Variables of a new user whose home and temporary folder lie in `folder`."""
    home, temporary = folder / "home", folder / "tmp"
    for one in (home, temporary):
        one.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "http_proxy": _NO_PROXY,
        "https_proxy": _NO_PROXY,
        "PYTHONPATH": str(ROOT),  # this checkout, even if another one is installed
    }


def can_isolate() -> bool:
    """Whether this machine lets a process leave its network and files, as the system's own tools tell."""
    tries = (("unshare", "-rnmpif", "--mount-proc", "true"), ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"))
    found = [command for command in tries if shutil.which(command[0])]
    return any(subprocess.run(command, capture_output=True, check=False).returncode == 0 for command in found)


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended.

    Attributes:
        code: Its exit code.
        out: What it printed.
        err: What it said on stderr.
        left: Processes it started that were still there after it.
    """

    code: int
    out: str
    err: str
    left: list[str]


def run_command(command: Sequence[str], folder: Path, variables: dict[str, str], timeout: float = 900) -> Ended:
    """Runs a command to its end, in a session of its own, by which the processes it started are known."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            end_session(process.pid)
            raise
    return Ended(process.returncode, out, err, wait_for_session(process.pid))


def session_processes(session: int) -> dict[int, str]:
    """Processes of a session that run, with their command lines."""
    found: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, _, _, own = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue  # it has ended meanwhile
        if int(own) == session and state != "Z":
            found[int(entry.name)] = words
    return found


def wait_for_session(session: int, grace: float = _GRACE) -> list[str]:
    """Command lines of what is still there after a grace; what is left is ended."""
    until = time.monotonic() + grace
    while left := session_processes(session):
        if time.monotonic() > until:
            end_session(session)
            break
        time.sleep(0.05)
    return list(left.values())


def end_session(session: int) -> None:
    """Kills every process of a session."""
    for pid in session_processes(session):
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            continue
