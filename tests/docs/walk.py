"""Walking a page as a stranger does: files are written and lines given as they stand, to the last one.

Every shell block is a bash of its own that stops at the first line that fails, and every Python block that is no file
is a script. They start in an empty folder, with an empty home and without data. A block of `text` after a shell block
is what its commands print; `...` stands for anything within a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.support.blocks import Block, blocks_of
from tests.support.commands import Ended, can_isolate, environment, run_command


@dataclass(frozen=True, slots=True)
class StandIn:
    """Something a page shows that a test cannot do.

    Attributes:
        page: The page.
        shown: What stands there.
        given: What is done instead.
        reason: Why.
    """

    page: str
    shown: str
    given: str
    reason: str


_INSTALLED = "pip needs a network; the tests run in an environment that was made by such a command"
QUICKER = StandIn(
    "README.md",
    "lgl-bench run --suite temporal\n",
    "lgl-bench run --suite temporal --budget smoke --stream dblp-easy --backbone gcn --detector energy\n",
    "it takes minutes; 'pytest -m slow tests/docs' gives it as it stands",
)
STAND_INS = [
    StandIn("README.md", "pip install -c constraints.txt -e . ", "lgl-bench --version ", _INSTALLED),
    StandIn("README.md", "pip install -c constraints.txt -e '.[test]' ", "lgl-bench --version ", _INSTALLED),
    StandIn(
        "README.md", "pytest -n 2\n", "pytest --version\n", "it is the run of all tests, which this one is part of"
    ),
    StandIn("CONTRIBUTING.md", "pip install -c constraints.txt -e '.[test]' ", "lgl-bench --version ", _INSTALLED),
    StandIn("CONTRIBUTING.md", "pytest -n 2\n", "pytest --version\n", "it is the run of all tests"),
    StandIn(
        "CONTRIBUTING.md",
        "ruff check . && ruff format --check . && mypy && lint-imports\n",
        "ruff --version && mypy --version\n",
        "they look at a whole checkout; CI gives these lines after the tests",
    ),
    StandIn("docs/tutorial.md", "pip install -c constraints.txt -e '.[report]'\n", "lgl-bench --version\n", _INSTALLED),
]
"""All that is not done as it stands, with the reason."""


needs_isolation = pytest.mark.skipif(not can_isolate(), reason="reproduce needs namespaces, which this machine forbids")


@dataclass(frozen=True, slots=True)
class Step:
    """A block that was carried out."""

    block: Block
    ended: Ended


def walk(page: Path, folder: Path, stand_ins: list[StandIn]) -> Iterator[Step]:
    """Carries a page out in `folder`/here, block by block; what fails is an AssertionError with its page and line.

    Args:
        page: The page.
        folder: An empty folder; working folder, home and temporary folder are made in it, unless they are there.
        stand_ins: What is done instead of what the page shows. Those of other pages are passed over; one of this page
            that is not on it is an error.
    """
    here = folder / "here"
    blocks = blocks_of(page)
    pending = [one for one in stand_ins if one.page == blocks[0].page]
    last: Step | None = None
    for block in blocks:
        text = block.text
        for one in [one for one in pending if one.shown in text]:
            text = text.replace(one.shown, one.given)
            pending.remove(one)
        if block.needs:
            continue
        if block.file:
            place = here / block.file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        elif block.language in ("sh", "python"):
            last = carry_out(replace(block, text=text), folder)
            yield last
        elif block.language == "text" and last is not None:
            _check_output(block, last)
    assert not pending, f"{page.name} does not show {pending[0].shown!r} any more"


def carry_out(block: Block, folder: Path) -> Step:
    """Runs a block in `folder`/here: it must succeed, print no traceback, and leave no process or temporary file."""
    here = folder / "here"
    here.mkdir(exist_ok=True)
    if block.language == "python":
        (here / "script.py").write_text(block.text, encoding="utf-8")
    command = ["python", "script.py"] if block.language == "python" else ["bash", "-e", "-v", "-c", block.text]
    ended = run_command(command, here, environment(folder))
    shown = f"{block.where} ended with {ended.code}\n{ended.err[-4000:]}\n{ended.out[-2000:]}"
    assert ended.code == 0, shown
    assert "Traceback (most recent call last)" not in ended.err + ended.out, shown
    assert not ended.left, f"{block.where} leaves processes behind: {ended.left}"
    # torch makes a folder for its compiler, compiled or not
    temporary = [path for path in (folder / "tmp").iterdir() if not path.name.startswith("torchinductor_")]
    assert not temporary, f"{block.where} leaves {temporary[0]} behind"
    return Step(block, ended)


def _check_output(block: Block, step: Step) -> None:
    for line in block.text.splitlines():
        pattern = re.escape(line).replace(re.escape("..."), ".*")
        printed = step.ended.out
        assert re.search(f"^{pattern}$", printed, re.M), f"{block.where}: {line!r} is not printed, but\n{printed}"
