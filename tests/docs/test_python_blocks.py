"""Every Python block of README and docs runs; those that are plugin files are tested with their pages."""

from __future__ import annotations

import pytest

from tests.docs.blocks import Block, blocks_of, every_block

# The block of CONTRIBUTING is a plugin file too; tests/test_docs.py checks it.
BLOCKS = [block for block in every_block("python", "py") if not block.file and block.page != "CONTRIBUTING.md"]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where)
def test_a_block_runs_in_an_empty_folder(block: Block, small_world, clean_registries):
    if block.needs:
        pytest.skip(f"{block.where} needs {block.needs}")
    exec(compile(block.text, block.where, "exec"), {"__name__": "block"})


def test_a_block_is_found_with_its_line_language_and_what_it_needs(tmp_path):
    page = tmp_path / "page.md"
    first = "# A\n\n<!-- needs a cluster -->\n```python\nx = 1\n```\n\n"
    page.write_text(first + "```python\n# a.py\n```\n```sh\nls\n```\n", encoding="utf-8")
    found = blocks_of(page, "python")
    assert [(block.line, block.text, block.needs, block.file) for block in found] == [
        (5, "x = 1\n", "a cluster", ""),
        (9, "# a.py\n", "", "a.py"),
    ]
