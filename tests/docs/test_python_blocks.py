"""Every Python block of README and docs that is no file runs as a plain script, in an empty folder."""

from __future__ import annotations

import re

import pytest

from tests.docs.walk import carry_out
from tests.support.blocks import Block, blocks_of, every_block

WALKED = ("docs/api.md", "docs/own-graph.md")
"""Pages that `test_walks` carries out as a whole: their blocks build on each other."""
BLOCKS = [
    block for block in every_block("python", "py") if not block.file and not block.needs and block.page not in WALKED
]
PRINTED = {
    ("docs/running.md", "listener="): r"(\d+ of \d+: gcn \d{4}, [\d.]+ s\n)+",
    ("docs/running.md", ""): r"(?s).*\bmsp\b.*\bgood\(msp.*",
    ("docs/streams.md", ""): r"\d+ \(2, \d+\)\n",
}
"""What a block prints, as a pattern, by its page and something that stands in it."""


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.page)
def test_a_block_runs_as_a_script_and_prints_what_it_should(block: Block, tmp_path):
    step = carry_out(block, tmp_path)
    pattern = next(printed for (page, part), printed in PRINTED.items() if page == block.page and part in block.text)
    assert re.fullmatch(pattern, step.ended.out), step.ended.out


def test_a_block_is_found_with_its_line_language_file_and_what_it_needs(tmp_path):
    page = tmp_path / "page.md"
    first = "# A\n\n<!-- needs a cluster -->\n```python\nx = 1\n```\n\n"
    page.write_text(
        first + "```python\n# a.py\n```\n```sh\nls\n```\nSave it as `b/c.py`:\n\n```python\ny = 1\n```\n",
        encoding="utf-8",
    )
    found = blocks_of(page, "python")
    assert [(block.line, block.text, block.needs, block.file) for block in found] == [
        (5, "x = 1\n", "a cluster", ""),
        (9, "# a.py\n", "", "a.py"),
        (17, "y = 1\n", "", "b/c.py"),
    ]
