"""Every notebook of the docs runs from its first cell to its last, in a new process, and shows what it ends with."""

from __future__ import annotations

import json

import pytest

from tests.docs.walk import carry_out
from tests.support.blocks import ROOT, Block

NOTEBOOKS = sorted((ROOT / "docs").glob("*.ipynb"))
# As a notebook does it: the value of a cell's last line is shown, as a table if it has one.
RUN = """
import ast
cells = {cells!r}
names = {{"__name__": "__main__"}}
for cell in cells:
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        if value is not None:
            print(value._repr_html_() if hasattr(value, "_repr_html_") else value)
"""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_to_its_last_cell(path, tmp_path):
    book = json.loads(path.read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    block = Block(f"docs/{path.name}", 1, "python", RUN.format(cells=cells), "", "")
    assert carry_out(block, tmp_path).ended.out.count("<table") == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_of_the_current_format_and_holds_no_output(path):
    book = json.loads(path.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert all(not cell.get("outputs") and cell["id"] for cell in book["cells"])
    text = path.read_text(encoding="utf-8")
    assert text == json.dumps(book, indent=1) + "\n"


def test_there_is_a_notebook():
    assert NOTEBOOKS
