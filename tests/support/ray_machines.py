"""Ray clusters on the loopback interface, made of machines that can be killed."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install 'lgl-bench[ray]'"
)


class Machine:
    """A node of a cluster, started by the command that people start one with."""

    def __init__(self, log: Path, *arguments: str) -> None:
        self.log = log
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1"]
        command += ["--node-ip-address=127.0.0.1", "--object-store-memory=100000000", "--disable-usage-stats"]
        command += ["--min-worker-port=0", "--max-worker-port=0", f"--dashboard-agent-listen-port={free_port()}"]
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [*command, *arguments], stdout=out, stderr=subprocess.STDOUT, start_new_session=True
            )

    @property
    def ready(self) -> bool:
        said = self.log.read_text(encoding="utf-8")
        assert self.process.poll() is None, said
        return "Ray runtime started" in said

    @property
    def tree(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.Error):
            root = psutil.Process(self.process.pid)
            return [root, *root.children(recursive=True)]
        return []

    def kill(self) -> None:
        """All at once, as when the power goes."""
        tree = self.tree
        for process in tree:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(tree, timeout=10)
        self.process.wait()


class Cluster:
    """A head node, and machines added to it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="lgl", dir="/tmp"))  # sockets need a short path
        self.address = f"127.0.0.1:{free_port()}"
        self.machines = [
            Machine(
                self.folder / "head.log",
                "--head",
                f"--port={self.address.split(':')[1]}",
                f"--temp-dir={self.folder}",
                "--include-dashboard=false",
                # One head a machine is what Ray's client server expects; it is there only where grpc is.
                *([f"--ray-client-server-port={free_port()}"] if importlib.util.find_spec("grpc") else []),
            )
        ]
        try:
            wait_until(lambda: self.machines[0].ready)
        except BaseException:
            self.close()
            raise

    def add(self) -> Machine:
        self.machines.append(Machine(self.folder / "node.log", f"--address={self.address}"))
        return self.machines[-1]

    def close(self) -> None:
        for machine in reversed(self.machines):
            machine.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("", 0))  # Ray listens on every interface
        return int(one.getsockname()[1])


def wait_until(holds: Callable[[], object], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)
