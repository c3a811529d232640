"""The sandbox if bubblewrap is not installed: `python -P namespaces.py MODE PARENT VIEW COMMAND...`.

On Linux a process may enter namespaces of its own: of users, in which it may do the rest; of the network, in which not
even the loopback is up; of processes, which all end with the first of them; of mounts, in which a new root holds what
the view names and nothing else. Any of these may be forbidden: then this says so and runs nothing.

Modes: `all` of that; `network` alone; `nothing`. PARENT is the process that waits for this one: when it is gone, so is
this, and all that it started. In the last two modes this process ends what the command leaves behind. In the first it
needs only the standard library: it must have no thread when it starts.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

NOT_CUT = 97
"""Exit code of a command that was not run, because something could not be cut; stderr says why."""
_USER, _NET, _PID, _MOUNT, _IPC, _UTS = 0x10000000, 0x40000000, 0x20000000, 0x00020000, 0x08000000, 0x04000000
_BIND, _RECURSIVE, _PRIVATE, _NO_SETUID, _NO_DEVICES, _NO_PROGRAMS = 4096, 16384, 1 << 18, 2, 4, 8
_DETACH = 2
_DIE_WITH_PARENT, _REAPER, _NO_NEW_PRIVILEGES, _DROP_BOUND = 1, 36, 38, 24
_MOUNT_SETATTR, _HERE, _AT_RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1


class NotCutError(Exception):
    """Something could not be cut, and why."""


def _main() -> None:
    mode, parent, view, *command = sys.argv[1:]
    try:
        if mode == "all":
            _enter(_NET | _PID | _MOUNT | _IPC | _UTS)
        elif mode == "network":
            _enter(_NET)
            _check_network()
    except (NotCutError, OSError) as error:
        _refuse(error)
    if mode == "all":
        _first_of_namespace(json.loads(view), command, int(parent))
    else:
        _keeper(command, int(parent))


def _enter(kinds: int) -> None:
    """Enters new namespaces; a user namespace first, without which a privileged process could walk back out."""
    if not sys.platform.startswith("linux"):
        raise NotCutError(f"{sys.platform} has no namespaces")
    user, group = os.getuid(), os.getgid()
    try:
        _call("unshare", _USER | kinds)
    except NotCutError:
        _call("unshare", kinds)
        return
    # Keeps the own numbers inside; if that is forbidden, files are nobody's, and readable.
    for path, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with contextlib.suppress(OSError):
            Path("/proc/self", path).write_text(text, encoding="ascii")


def _check_network() -> None:
    lines = Path("/proc/self/net/dev").read_text(encoding="ascii").splitlines()[2:]
    left = {line.partition(":")[0].strip() for line in lines} - {"lo"}
    if left:
        raise NotCutError(f"{', '.join(sorted(left))} would still be there")


def _first_of_namespace(view: dict[str, Any], command: list[str], parent: int) -> NoReturn:
    """The first process of a new namespace sets up the root, starts the command, and ends all others by ending."""
    _prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before that was asked for
        os._exit(1)
    alive, held = os.pipe()
    child = os.fork()
    if child:
        _exit_like(os.waitpid(child, 0)[1])
    _prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    os.close(held)
    if select.select([alive], [], [], 0)[0]:  # the end of the pipe: nobody above holds it any more
        os._exit(1)
    place = Path.cwd()
    try:
        _build_root(view)
        _check_network()
        os.chdir(place)
        _drop_privileges()
    except (NotCutError, OSError) as error:
        _refuse(error)
    main = _start(command)
    while True:
        ended, status = os.wait()
        if ended == main:
            _exit_like(status)


def _keeper(command: list[str], parent: int) -> NoReturn:
    """Waits for the command, and ends what it started; also if the process that waits for this one is gone."""
    import psutil

    if sys.platform.startswith("linux"):
        _prctl(_REAPER, 1)
        _prctl(_DIE_WITH_PARENT, signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if os.getppid() != parent:
        sys.exit(1)
    status = 1 << 8
    try:
        status = os.waitpid(_start(command), 0)[1]
    finally:
        while children := psutil.Process().children(recursive=True):
            for child in children:
                with contextlib.suppress(psutil.Error):
                    child.kill()
            psutil.wait_procs(children, timeout=1)
    _exit_like(status)


def _start(command: list[str]) -> int:
    child = os.fork()
    if not child:
        os.setsid()
        os.execv(sys.executable, [sys.executable, *command])
    return child


def _build_root(view: dict[str, Any]) -> None:
    """A new root that holds what the view names; the old one is let go."""
    _call("mount", None, b"/", None, _RECURSIVE | _PRIVATE, None)
    folder, root = Path(view["folder"]), Path(view["folder"], "root")
    _call("mount", b"tmpfs", bytes(root), b"tmpfs", _NO_SETUID | _NO_DEVICES, b"mode=0755,size=16m")
    (root / "proc").mkdir()
    _call("mount", b"proc", bytes(root / "proc"), b"proc", _NO_SETUID | _NO_DEVICES | _NO_PROGRAMS, None)
    for path in view["devices"]:
        _bind(Path(path), root, path)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        (root / "dev" / name).symlink_to(f"/proc/self/fd/{number}")
    (root / "dev/fd").symlink_to("/proc/self/fd")
    for path, name in view["private"].items():
        _bind(folder / name, root, path)
    for path, target in view["links"].items():
        (root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        (root / path[1:]).symlink_to(target)
    for path, source in view["read_only"].items():
        _read_only(_bind(Path(source), root, path), _AT_RECURSIVE)
    _bind(folder, root, str(folder))
    for path in view["hidden"]:
        place = root / path[1:]
        if place.is_dir():
            _call("mount", b"tmpfs", bytes(place), b"tmpfs", _NO_SETUID | _NO_DEVICES, b"mode=0755,size=4k")
            _read_only(place)
        else:
            _bind(Path("/dev/null"), root, path)
    _read_only(root)
    os.chdir(root)
    _call("pivot_root", b".", b".")
    _call("umount2", b".", _DETACH)
    os.chdir("/")


def _bind(source: Path, root: Path, path: str) -> Path:
    place = root / path[1:]
    if source.is_dir():
        place.mkdir(parents=True, exist_ok=True)
    elif not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    _call("mount", bytes(source), bytes(place), None, _BIND | _RECURSIVE, None)
    return place


def _read_only(place: Path, flags: int = 0) -> None:
    """Nothing can be written there; with `_AT_RECURSIVE`, nor in what is mounted below."""
    attributes = (ctypes.c_uint64 * 4)(_READ_ONLY, 0, 0, 0)
    _call("syscall", _MOUNT_SETATTR, _HERE, bytes(place), flags, ctypes.byref(attributes), ctypes.sizeof(attributes))


def _drop_privileges() -> None:
    """Gives up what root may do, in this namespace too: it could undo the rest."""
    for capability in range(int(Path("/proc/sys/kernel/cap_last_cap").read_text(encoding="ascii")) + 1):
        _prctl(_DROP_BOUND, capability)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _call("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))
    _prctl(_NO_NEW_PRIVILEGES, 1)


def _prctl(option: int, value: int) -> None:
    _call("prctl", option, *(ctypes.c_ulong(one) for one in (value, 0, 0, 0)))


def _call(name: str, *arguments: Any) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        paths = [os.fsdecode(one) for one in arguments if isinstance(one, bytes)]
        raise NotCutError(f"{' '.join([name, *paths])}: {os.strerror(ctypes.get_errno())}")


def _refuse(error: Exception) -> NoReturn:
    sys.stderr.write(str(error))
    sys.stderr.flush()
    os._exit(NOT_CUT)


def _exit_like(status: int) -> NoReturn:
    """Ends with the code of another process; one that a signal ended has 128 more, as in a shell."""
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    _main()
