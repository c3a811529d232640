"""Each test starts a small Python of its own in each sandbox that works here: nothing heavy is imported there."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.submissions.reproduce import isolate
from lgl_bench.submissions.reproduce.isolate import Sandbox, choose_sandbox, run_isolated
from lgl_bench.submissions.reproduce.limits import Limits, RunLimitError
from tests.support.bundles import sandboxes

CONNECT = "import socket; socket.create_connection(('127.0.0.1', {port}), timeout=5).close()"
KNOCK = "import socket; socket.socket(socket.AF_UNIX).connect({address!r})"
ABOUT = "import json, os; print(json.dumps([dict(os.environ), os.getcwd(), os.path.expanduser('~')]))"
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        time.sleep({seconds})
    os._exit(0)
os.wait()
"""


@pytest.fixture(params=["bubblewrap", "namespaces"])
def only(request, monkeypatch):
    """Only this sandbox is there."""
    if request.param not in sandboxes():
        pytest.skip(f"this machine has no {request.param}")
    kept = tuple(one for one in isolate._SANDBOXES if one[0] == request.param)
    monkeypatch.setattr(isolate, "_SANDBOXES", kept)
    return request.param


@pytest.fixture
def sandbox(only, tmp_path) -> Sandbox:
    (tmp_path / "own").mkdir()
    return choose_sandbox(tmp_path / "own")


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def outside(code: str) -> int:
    return subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode


def inside(sandbox: Sandbox, code: str) -> str:
    """What the code dies of in the sandbox; empty if it does not."""
    done = run_isolated(sandbox, ("-c", code))
    return done.stderr if done.returncode else ""


def marked(mark: str) -> list[int]:
    """Processes whose command line has a mark."""
    return [one.pid for one in psutil.process_iter(["cmdline"]) if mark in " ".join(one.info["cmdline"] or [])]


def left(mark: str) -> list[int]:
    """The same after a while: the system ends the processes of a namespace when its first one has ended."""
    end = time.monotonic() + 5
    while (found := marked(mark)) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def test_the_network_is_reached_outside_and_not_inside(sandbox, port):
    code = CONNECT.format(port=port)
    assert outside(code) == 0
    assert "Error" in inside(sandbox, code)


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_a_unix_socket_is_reached_outside_and_not_inside(sandbox, tmp_path, kind):
    address = str(tmp_path / "s") if kind == "path" else f"\0lgl-bench-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        assert outside(KNOCK.format(address=address)) == 0
        assert "Error" in inside(sandbox, KNOCK.format(address=address))


def test_only_its_own_folder_can_be_written_to(sandbox, tmp_path):
    for place in (Path.home(), Path(isolate.__file__).parent, Path(sys.prefix), Path("/usr"), Path("/")):
        path = place / f"lgl-bench-written-{os.getpid()}"
        assert "Error" in inside(sandbox, f"open({str(path)!r}, 'w')"), place
        assert not path.exists()
    assert inside(sandbox, f"open({str(tmp_path / 'own' / 'mine')!r}, 'w')") == ""
    assert (tmp_path / "own" / "mine").exists()


def test_the_temporary_folders_are_its_own(sandbox):
    name = f"lgl-bench-written-{os.getpid()}"
    places = ("/tmp", "/dev/shm")
    assert inside(sandbox, f"for place in {places}: open(place + '/{name}', 'w')") == ""
    assert not any(Path(place, name).exists() for place in places)
    assert (Path(sandbox.view.folder) / "tmp" / name).exists()


def test_files_of_the_reviewer_are_not_there(sandbox, tmp_path, monkeypatch):
    secret = tmp_path / "secret"
    secret.write_text("hush")
    assert outside(f"open({str(secret)!r})") == 0
    assert "FileNotFoundError" in inside(sandbox, f"open({str(secret)!r})")
    assert "FileNotFoundError" in inside(sandbox, "open('/etc/passwd')")
    assert "FileNotFoundError" in inside(sandbox, f"open('/proc/{os.getpid()}/environ')")


def test_what_is_shown_can_be_read_and_not_changed_and_what_is_hidden_in_it_is_empty(only, tmp_path):
    for name in ("own", "shown", "shown/bundle", "elsewhere"):
        (tmp_path / name).mkdir()
    for name in ("shown/data", "shown/bundle/answers", "shown/bundle.zip", "elsewhere/data"):
        (tmp_path / name).write_text("there")
    (tmp_path / "shown" / "link").symlink_to(tmp_path / "shown" / "bundle")
    (tmp_path / "way").symlink_to(tmp_path / "elsewhere")
    shown = [tmp_path / "shown", tmp_path / "way"]
    hidden = [tmp_path / "shown" / "link", tmp_path / "shown" / "bundle.zip"]
    sandbox = choose_sandbox(tmp_path / "own", visible=shown, hidden=hidden)
    there = str(tmp_path / "shown")
    assert inside(sandbox, f"assert open({there + '/data'!r}).read() == 'there'") == ""
    assert inside(sandbox, f"assert open({str(tmp_path / 'way' / 'data')!r}).read() == 'there'") == ""
    assert "Error" in inside(sandbox, f"open({there + '/data'!r}, 'w')")
    assert inside(sandbox, f"import os; assert os.listdir({there + '/bundle'!r}) == []") == ""
    assert "Error" in inside(sandbox, f"assert open({there + '/bundle.zip'!r}).read() == 'there'")


def test_processes_of_the_reviewer_cannot_be_ended(sandbox):
    victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        code = f"import os; os.kill({victim.pid}, {int(signal.SIGKILL)})"
        assert "ProcessLookupError" in inside(sandbox, code)
        assert inside(sandbox, "import os; assert len([n for n in os.listdir('/proc') if n.isdigit()]) < 5") == ""
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


def test_nothing_it_started_is_left(sandbox):
    seconds = 500_000 + os.getpid()
    assert inside(sandbox, DAEMON.format(seconds=seconds)) == ""
    assert left(f"time.sleep({seconds})") == []


def test_the_way_back_is_closed(sandbox):
    mount = "import ctypes; raise SystemExit(ctypes.CDLL(None).mount(None, b'/usr', None, 32 | 4096, None) == 0)"
    assert inside(sandbox, mount) == ""
    raised = "print([line for line in open('/proc/self/status') if line.startswith(('CapEff', 'NoNewPrivs'))])"
    told = run_isolated(sandbox, ("-c", raised)).stdout
    assert "CapEff:\\t0000000000000000" in told and "NoNewPrivs:\\t1" in told


def test_home_and_environment_are_not_the_reviewers(sandbox, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "hush")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:hush@proxy")
    done = run_isolated(sandbox, ("-c", ABOUT), LGL_BENCH_DATA="/data")
    assert done.returncode == 0, done.stderr
    variables, cwd, home = json.loads(done.stdout)
    assert home == cwd == str(Path(sandbox.view.folder) / "home")
    assert "hush" not in json.dumps(variables)
    assert variables["LGL_BENCH_DATA"] == "/data"


def test_a_run_that_takes_too_long_or_too_much_memory_is_ended_with_all_it_started(sandbox):
    seconds = 600_000 + os.getpid()
    start = time.monotonic()
    with pytest.raises(RunLimitError, match=r"longer than 1 s.*--total-time-limit"):
        run_isolated(sandbox, ("-c", DAEMON.format(seconds=seconds) + "time.sleep(60)"), Limits(seconds=1))
    grow = "import os, time\nos.fork()\nkept = bytearray(os.urandom(1 << 20) * 100)\ntime.sleep(60)"
    with pytest.raises(RunLimitError, match=r"more than 150,? and was ended; --total-memory-limit"):
        run_isolated(sandbox, ("-c", grow), Limits(memory=150))
    assert time.monotonic() - start < 20
    assert left(f"time.sleep({seconds})") == []


def test_a_run_that_prints_without_end_is_read_and_its_last_words_kept(sandbox):
    done = run_isolated(sandbox, ("-c", "for _ in range(3000): print('x' * 1000)\nprint('the end')"))
    assert done.stdout.endswith("the end\n") and len(done.stdout) <= 1 << 20


@pytest.mark.parametrize("running", [True, False])
def test_a_sandbox_ends_with_the_process_that_waits_for_it(only, tmp_path, running):
    if only == "bubblewrap" and not running:
        pytest.skip("bubblewrap's inner process asks to end with the outer one a moment after it was started")
    keep = f"import time; time.sleep({700_000 + os.getpid()})"
    code = (
        "from pathlib import Path; from lgl_bench.submissions.reproduce import isolate; "
        f"isolate._SANDBOXES = tuple(one for one in isolate._SANDBOXES if one[0] == {only!r}); "
        f"box = isolate.choose_sandbox(Path({str(tmp_path)!r})); isolate.run_isolated(box, ('-c', {keep!r}))"
    )
    waiting = subprocess.Popen([sys.executable, "-c", code])
    try:
        # Either the command runs, or what makes its sandbox has just been started.
        wait_until(lambda: in_sandbox(keep) if running else len(marked(keep)) > 1)
    finally:
        waiting.kill()
        waiting.wait()
    wait_until(lambda: not marked(keep))


def in_sandbox(code: str) -> bool:
    """Whether a process runs this code and nothing else."""
    return any((one.info["cmdline"] or [])[1:] == ["-c", code] for one in psutil.process_iter(["cmdline"]))


def wait_until(happened) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def test_where_something_cannot_be_cut_nothing_is_run_unless_it_is_allowed(tmp_path, monkeypatch):
    monkeypatch.setattr(isolate, "_skip_reason", lambda box: "forbidden here" if box.name != "no sandbox" else "")
    for allowed in ((), ("network",)):
        with pytest.raises(UsageError, match=r"network; .*file.*processes.*bubblewrap: forbidden here.*--unsafe"):
            choose_sandbox(tmp_path, allowed=allowed)
    sandbox = choose_sandbox(tmp_path, allowed=tuple(isolate.OPEN))
    assert sandbox.open == set(isolate.OPEN)
    assert run_isolated(sandbox, ("-c", "print('ran')")).stdout == "ran\n"


def test_a_network_that_alone_cannot_be_cut_takes_its_own_permission(tmp_path, monkeypatch):
    monkeypatch.setattr(isolate, "_skip_reason", lambda box: "forbidden here" if "network" not in box.open else "")
    with pytest.raises(UsageError, match="--allow-network"):
        choose_sandbox(tmp_path)
    assert choose_sandbox(tmp_path, allowed=("network",)).open == {"network"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux gives orphans to a chosen process")
def test_without_a_sandbox_what_it_started_is_ended_too(tmp_path, monkeypatch):
    monkeypatch.setattr(isolate, "_SANDBOXES", isolate._SANDBOXES[-1:])
    sandbox = choose_sandbox(tmp_path, allowed=tuple(isolate.OPEN))
    seconds = 800_000 + os.getpid()
    assert inside(sandbox, DAEMON.format(seconds=seconds)) == ""
    assert left(f"time.sleep({seconds})") == []
    with pytest.raises(RunLimitError):
        run_isolated(sandbox, ("-c", DAEMON.format(seconds=seconds) + "time.sleep(60)"), Limits(seconds=1))
    assert left(f"time.sleep({seconds})") == []
