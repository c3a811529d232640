"""What README and CONTRIBUTING say of other files is so; that their commands work is tested in tests/docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.scripts import load_script

ROOT = Path(__file__).resolve().parents[2]
STREAMS = ("cora", "citeseer", "pubmed", "acl-anthology", "arxiv-structure", "pubmed-temporal")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/differences.md", "docs/parity.md"])
def test_every_link_to_a_file_of_the_repository_leads_somewhere(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (ROOT / name).parent.joinpath(target).exists(), target


def test_the_test_command_of_the_readme_is_the_one_ci_runs():
    command = "pip install -c constraints.txt -e '.[test]' && pytest -n 2"
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pip install -q -c constraints.txt -e '.[test]' && pytest -n 2" in (ROOT / ".ci/run").read_text("utf-8")


def test_the_board_of_the_readme_is_made_from_the_shipped_boards():
    made = load_script("docs/make_board.py")
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "run: python docs/make_board.py"
    table = "\n".join(made.table())
    assert all(f"| {name} |" in table for name in STREAMS) and "twin" not in table
