"""One plugin that tries every way out while the real `reproduce` runs it, in every process that loads it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys

import psutil
import pytest

from lgl_bench.submissions.reproduce.reproduce import reproduce
from tests.support.bundles import PLUGIN, sandboxes

ATTEMPTS = """
import os, signal, socket, subprocess, sys, tempfile
from pathlib import Path

def read_the_home(): Path({home!r}, "secret").read_text()
def write_outside(): os.link(Path({home!r}, "secret"), Path({home!r}, "written"))
def end_the_reviewer(): os.kill({victim}, 0)
def look_into_the_parent(): Path("/proc/{parent}/environ").read_bytes()
def use_the_network(): socket.create_connection(("127.0.0.1", {port}), timeout=5).close()
def talk_over_a_socket(): socket.socket(socket.AF_UNIX).connect({address!r})
def read_the_bundle(): next(Path({bundle!r}).glob("answers/*.parquet")).read_bytes()
def find_an_opened_bundle(): next(Path({temporary!r}).glob("lgl-bench-bundle-*/bundle/answers/*.parquet"))

def daemon():
    code = "import time; time.sleep({seconds})"
    subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdin=-3, stdout=-3, stderr=-3)

worked = []
for attempt in ({names}):
    try:
        attempt()
    except Exception:
        continue
    worked.append(attempt.__name__)
daemon()
"""
CONTROL = "print(' '.join(worked))"
INSIDE = "if worked:\n    raise RuntimeError('these worked: ' + ' '.join(worked))\n"


@pytest.mark.skipif(not sandboxes(), reason="this machine allows no sandbox")
def test_no_way_out_works_under_reproduce_and_the_method_is_still_reproduced(base, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    (home / "secret").write_text("hush")
    monkeypatch.setenv("HOME", str(home))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    opened = tmp_path / "temporary" / "lgl-bench-bundle-x" / "bundle" / "answers"
    opened.mkdir(parents=True)
    (opened / "0.parquet").write_bytes(b"")
    seconds = 900_000 + os.getpid()
    victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    address = str(tmp_path / "socket")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(address)
        local.listen()
        names = re.findall(r"^def (\w+)\(\): ", ATTEMPTS, re.MULTILINE)
        attempts = ATTEMPTS.format(
            home=str(home),
            victim=victim.pid,
            parent=os.getpid(),
            port=server.getsockname()[1],
            address=address,
            bundle=str(base.bundle),
            temporary=str(tmp_path / "temporary"),
            seconds=seconds,
            names=", ".join(names),
        )
        try:
            # Outside they all work: an attempt that cannot work would prove nothing.
            outside = subprocess.run(
                [sys.executable, "-c", attempts + CONTROL], capture_output=True, text=True, check=True
            )
            assert outside.stdout.split() == names
            (home / "written").unlink()
            end_marked(seconds)
            plugin = tmp_path / "escape.py"
            plugin.write_text(attempts + INSIDE + PLUGIN)
            result = reproduce(base.bundle, [plugin], detectors=["margin-of-mine"], data_dir=base.data, jobs=1)
            assert result.differences == [] and result.trust == "reproduced"
            assert not (home / "written").exists()
            assert victim.poll() is None
            assert end_marked(seconds) == 0
        finally:
            victim.kill()
            victim.wait()
            end_marked(seconds)


def end_marked(seconds: int) -> int:
    """Ends the daemons of this test; how many there were."""
    found = [
        one
        for one in psutil.process_iter(["cmdline"])
        if (one.info["cmdline"] or [])[-1:] == [f"import time; time.sleep({seconds})"]
    ]
    for one in found:
        one.kill()
    psutil.wait_procs(found, timeout=5)
    return len(found)
