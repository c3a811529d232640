"""The sandbox made by bubblewrap, if it is installed: namespaces of its own for everything it can have one for."""

from __future__ import annotations

import shutil
from pathlib import Path

from lgl_bench.submissions.reproduce.view import PRIVATE, View


def bubblewrap(view: View, *, network: bool = False) -> list[str] | None:
    """The command to put before another, so that it runs in a sandbox; None if bubblewrap is not installed.

    Args:
        view: What can be seen.
        network: Whether the network stays.
    """
    program = shutil.which("bwrap")
    if program is None:
        return None
    # Root keeps its capabilities inside unless told otherwise, and could then mount what it likes.
    command = [program, "--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--die-with-parent", "--new-session"]
    command += ["--share-net"] if network else []
    command += ["--proc", "/proc", "--dev", "/dev"]
    for path, name in PRIVATE.items():
        command += ["--bind", f"{view.folder}/{name}", path]
    for path, target in view.links.items():
        command += ["--symlink", target, path]
    for path, source in view.read_only.items():
        command += ["--ro-bind", source, path]
    for path in view.devices:
        command += ["--dev-bind", path, path]
    command += ["--bind", view.folder, view.folder]
    for path in view.hidden:
        command += ["--tmpfs", path, "--remount-ro", path] if Path(path).is_dir() else ["--ro-bind", "/dev/null", path]
    return [*command, "--remount-ro", "/dev", "--remount-ro", "/", "--"]
