from __future__ import annotations

import json
import subprocess
import sys

import numba
import numpy as np
import pytest
import torch

from lgl_bench import __version__
from lgl_bench.core.versions import versions


def test_a_version_is_what_the_module_says_of_itself_as_plain_text() -> None:
    found = versions("lgl_bench", "torch", "numpy", "python")
    python = ".".join(map(str, sys.version_info[:3]))
    assert found == {
        "lgl_bench": __version__,
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "python": python,
    }
    assert all(type(value) is str for value in found.values()) and json.loads(json.dumps(found)) == found


def test_a_module_that_is_not_installed_has_no_version() -> None:
    assert versions("no_such_module_here", "python")["no_such_module_here"] == ""


def test_what_is_blocked_counts_as_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dgl", None)
    assert versions("dgl") == {"dgl": ""}


def test_packages_that_may_be_missing_are_asked_without_an_import() -> None:
    script = "import sys; from lgl_bench.core.versions import versions; print(versions('numba', 'dgl')['numba']); "
    script += "print([name for name in ('numba', 'dgl') if sys.modules.get(name)])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [numba.__version__, "[]"]
