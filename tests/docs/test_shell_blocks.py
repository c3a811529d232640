"""Every command the docs show is one that exists, with options and values it takes."""

from __future__ import annotations

import click
import pytest

from lgl_bench.plans.budget import BUDGETS
from lgl_bench.plans.suite import suites
from tests.support.blocks import Block, every_block
from tests.support.shell import commands_in, parse

BLOCKS = [block for block in every_block("sh", "bash", "shell") if commands_in(block.text)]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where)
def test_the_commands_of_a_block_are_taken_by_the_command_line(block: Block):
    for arguments in commands_in(block.text):
        shown = f"{block.where}: lgl-bench {' '.join(arguments)}"
        try:
            given = parse(arguments)
        except click.ClickException as error:
            pytest.fail(f"{shown}\n{error.format_message()}")
        suite = given.get("suite", "smoke")
        assert suite in suites() or suite.endswith(".toml"), f"{shown}: there is no suite {suite}"
        assert given.get("budget", "smoke") in BUDGETS, f"{shown}: there is no such budget"


def test_the_docs_show_most_commands():
    shown = {word for block in BLOCKS for arguments in commands_in(block.text) for word in arguments}
    assert {"run", "status", "tune", "list", "check", "data", "parity"} <= shown


def test_chained_continued_and_commented_commands_are_found():
    text = "pip install x && lgl-bench run --suite 'a b' \\\n  --seeds 3   # lgl-bench no\n"
    text += "A=1 lgl-bench list detectors | head\n"
    assert commands_in(text) == [["run", "--suite", "a b", "--seeds", "3"], ["list", "detectors"]]


@pytest.mark.parametrize(
    "wrong",
    [
        "run --suite smoke --no-such-option",
        "no-such-command",
        "run --suite smoke --select never",
        "run --suite smoke --seeds many",
        "run",
        "data no-such-command",
        "list nothing",
    ],
)
def test_a_command_that_would_be_refused_is_refused_here_too(wrong: str):
    with pytest.raises(click.UsageError):
        parse(wrong.split())


def test_parsing_a_command_runs_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = parse(["run", "--suite", "smoke", "--plugin", "absent.py", "--out", "here"])
    assert given["out"] == "here"
    assert not list(tmp_path.iterdir())
