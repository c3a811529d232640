"""Each test starts a small Python of its own: nothing heavy is imported there."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.submissions import isolate
from lgl_bench.submissions.isolate import run_isolated, why_not_cut
from tests.submissions.conftest import namespaces

CONNECT = "import socket; socket.create_connection(('127.0.0.1', {port}), timeout=5).close()"
PLUGIN = "from pathlib import Path; from lgl_bench.core.registry import load_plugin; load_plugin(Path({path!r}))"
ABOUT = "import json, os; print(json.dumps([dict(os.environ), os.getcwd(), os.path.expanduser('~')]))"

needs_namespaces = pytest.mark.skipif(not namespaces(), reason="this machine allows no network namespaces")


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@needs_namespaces
def test_a_plugin_that_connects_works_outside_and_fails_inside(port, tmp_path):
    plugin = tmp_path / "chatty.py"
    plugin.write_text(CONNECT.format(port=port))
    load = PLUGIN.format(path=str(plugin))
    package = str(Path(isolate.__file__).parents[2])
    outside = subprocess.run([sys.executable, "-c", load], env={**os.environ, "PYTHONPATH": package}, check=False)
    assert outside.returncode == 0
    inside = run_isolated(("-c", load), tmp_path)
    assert inside.returncode != 0
    assert "failed on import" in inside.stderr
    assert "Network is unreachable" in inside.stderr or "Errno" in inside.stderr


@needs_namespaces
def test_the_way_back_into_the_network_is_closed(tmp_path):
    walk_back = (
        "import ctypes, os; libc = ctypes.CDLL(None, use_errno=True); "
        f"f = os.open('/proc/{os.getpid()}/ns/net', os.O_RDONLY); raise SystemExit(libc.setns(f, 0) == 0)"
    )
    done = run_isolated(("-c", walk_back), tmp_path)
    assert done.returncode == 0 or "Permission" in done.stderr


@needs_namespaces
def test_home_and_environment_are_not_the_reviewers(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "hush")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:hush@proxy")
    done = run_isolated(("-c", ABOUT), tmp_path, LGL_BENCH_DATA="/data")
    assert done.returncode == 0, done.stderr
    variables, cwd, home = json.loads(done.stdout)
    assert home == cwd == str(tmp_path / "home")
    assert "hush" not in json.dumps(variables)
    assert variables["LGL_BENCH_DATA"] == "/data"
    assert str(Path.home() / "") not in (home, variables["TMPDIR"])


def test_where_the_network_cannot_be_cut_nothing_is_run_unless_it_is_allowed(tmp_path, monkeypatch):
    # A wrapper that cannot cut: the same file with the call replaced.
    source = Path(isolate.__file__).read_text().replace("reason = cut_network()", "reason = 'forbidden here'")
    wrapper = tmp_path / "wrapper.py"
    wrapper.write_text(source)
    monkeypatch.setattr(isolate, "__file__", str(wrapper))
    monkeypatch.setenv("PYTHONPATH", str(Path(isolate.__spec__.origin).parents[2]))
    target = tmp_path / "ran"
    command = ("-c", f"open({str(target)!r}, 'w').close()")
    with pytest.raises(UsageError, match=r"could not be cut \(forbidden here\).*--allow-network"):
        run_isolated(command, tmp_path)
    assert not target.exists()
    assert run_isolated(command, tmp_path, allow_network=True).returncode == 0
    assert target.exists()
    assert why_not_cut() == "forbidden here"
