"""No function and no class of the package grows beyond what is read at a glance."""

from __future__ import annotations

import ast
from pathlib import Path

import lgl_bench

PACKAGE = Path(lgl_bench.__file__).parent
MAX_LINES = 60
MAX_METHODS = 12


def test_functions_have_at_most_sixty_lines_and_classes_twelve_methods():
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno + 1 > MAX_LINES:
                found.append(f"{path.relative_to(PACKAGE)}: {node.name} is too long")
            if isinstance(node, ast.ClassDef):
                methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
                if len(methods) > MAX_METHODS:
                    found.append(f"{path.relative_to(PACKAGE)}: {node.name} has {len(methods)} methods")
    assert found == []
