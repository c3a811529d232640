"""Every module can be imported without what only POSIX systems have."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import lgl_bench

POSIX = ("fcntl", "resource", "pwd", "grp", "termios")
ROOT = Path(lgl_bench.__file__).parent
SCRIPTS = {"lgl_bench.cli.__main__"}  # runs when it is imported
BLOCK = """
import builtins, importlib, json, sys

plain = builtins.__import__

def blocked(name, globals=None, locals=None, fromlist=(), level=0):
    importer = str((globals or {}).get("__name__", ""))
    if name in %r and importer.partition(".")[0] == "lgl_bench":
        raise ImportError(f"{importer} imports {name}")
    return plain(name, globals, locals, fromlist, level)

builtins.__import__ = blocked
try:
    exec("import resource", {"__name__": "lgl_bench.somewhere"})
except ImportError:
    found = {}  # the block works
for name in json.loads(sys.argv[1]):
    try:
        importlib.import_module(name)
    except ImportError as error:
        found[name] = str(error)
print(json.dumps(found))
"""


def modules() -> list[str]:
    paths = (path.relative_to(ROOT.parent).with_suffix("") for path in sorted(ROOT.rglob("*.py")))
    names = (".".join(path.parts).removesuffix(".__init__") for path in paths)
    return [name for name in names if name not in SCRIPTS and ".shipped." not in name]


def failures(names: list[str]) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", BLOCK % (POSIX,), json.dumps(names)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_every_module_is_imported_without_what_only_posix_has() -> None:
    names = modules()
    assert len(names) > 200 and "lgl_bench.cli" in names
    assert failures(names) == {}
