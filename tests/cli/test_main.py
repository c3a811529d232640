"""The command line itself: help, version, plugin files, errors and warnings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lgl_bench import __version__
from tests.support.command_line import assert_error, run

pytestmark = pytest.mark.usefixtures("empty_data")  # the user's own stays out of it


def python(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


# the command line itself
def test_help_names_the_commands_and_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from lgl_bench.cli import main\n"
        "try: main(sys.argv[1:], prog_name='lgl-bench')\n"
        "except SystemExit as done: code = done.code\n"
        "print([m for m in ('torch', 'dgl', 'pandas', 'pyarrow', 'scipy') if m in sys.modules], code)\n"
    )
    for arguments in (["--help"], ["data", "--help"]):
        done = python(code, *arguments)
        assert done.stdout.splitlines()[-1] == "[] 0", done.stderr
        assert "data" in done.stdout


def test_describing_a_stream_does_without_torch() -> None:
    code = (
        "import sys\n"
        "from lgl_bench.cli import main\n"
        "try: main(['data', 'describe', 'cora-twin'])\n"
        "except SystemExit as done: code = done.code\n"
        "print('torch' in sys.modules, code)\n"
    )
    assert python(code).stdout.splitlines()[-1] == "False 0"


def test_the_version_is_told() -> None:
    assert __version__ in run("--version").stdout


def test_a_traceback_is_shown_only_when_asked_for() -> None:
    plain, debug = run("data", "describe", "crora"), run("--debug", "data", "describe", "crora")
    assert "Traceback" not in plain.stderr
    assert "Traceback (most recent call last)" in debug.stderr
    assert "UnknownNameError" in debug.stderr
    assert debug.stderr.splitlines()[-1] == plain.stderr.strip()
    assert plain.exit_code == debug.exit_code == 2


def test_a_plugin_file_adds_a_format(tmp_path: Path, source: Path) -> None:
    from lgl_bench.streams.importers import importers

    (tmp_path / "plugin.py").write_text(
        "from lgl_bench.streams.importers import importers\n"
        "@importers.register('mine')\n"
        "def read_mine(source, options):\n"
        "    return importers.get('table')(source, options)\n"
    )
    command = ("data", "import", "mine", "--from", source, "--format", "mine")
    assert_error(run(*command), 2, "unknown format 'mine'")
    with importers.temporarily():
        assert run("--plugin", tmp_path / "plugin.py", *command).exit_code == 0


def test_a_plugin_file_that_is_missing_is_wrong_usage(tmp_path: Path) -> None:
    assert_error(run("--plugin", tmp_path / "none.py", "data", "list"), 2, "none.py does not exist")


def test_a_warning_is_one_line_on_stderr_and_json_stays_json(source: Path, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from lgl_bench.cli import main\n"
        "from lgl_bench.streams import catalogue\n"
        "from lgl_bench.streams.manifest import Manifest, Statistic\n"
        "texts = dict.fromkeys(('title', 'description', 'licence', 'citation'), '')\n"
        "figure = Statistic(figure='vertices', value=4, verified=False, source='a table')\n"
        "toy = Manifest(name='toy', format='table', statistics=(figure,), **texts)\n"
        "catalogue.manifests = lambda: {'toy': toy}\n"
        "main(sys.argv[1:])\n"
    )
    done = python(code, "data", "import", "toy", "--from", str(source), "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["vertices"] == 3
    assert done.stderr == (
        "lgl-bench: warning: toy: vertices: expected 4 (a table), found 3; "
        "the published figure could never be checked\n"
    )
