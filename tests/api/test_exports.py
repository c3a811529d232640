"""What `import lgl_bench` brings, and what it does not."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import lgl_bench

QUICK = """
import sys, lgl_bench
print([name for name in ("torch", "pandas", "numpy", "dgl") if name in sys.modules])
lgl_bench.load("dblp-easy-twin")
"""


def test_importing_the_package_imports_no_heavy_library():
    done = subprocess.run([sys.executable, "-c", QUICK], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_name_is_there_and_completion_and_type_checkers_see_the_same_names():
    for name in lgl_bench.__all__:
        assert getattr(lgl_bench, name) is not None and name in dir(lgl_bench)
    tree = ast.parse(Path(lgl_bench.__file__).read_text(encoding="utf-8"))
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.name for node in checked.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed | {"__version__"} == set(lgl_bench.__all__)
    assert (Path(lgl_bench.__file__).parent / "py.typed").is_file()


def test_a_name_that_is_not_there_is_an_attribute_error_that_lists_those_that_are():
    with pytest.raises(AttributeError, match=r"no attribute 'Bord'; it has .*Board"):
        lgl_bench.Bord  # noqa: B018
