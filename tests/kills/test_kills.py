"""A short pass over kills at random moments; `python -m tests.kills` is the long one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.kills.killing import COMMANDS, Killing
from tests.kills.outputs import digests, leftovers


def test_killed_commands_lose_nothing_double_nothing_and_leave_nothing(tmp_path):
    commands = [command for command in COMMANDS if command.name != "submit a folder"]
    killing = Killing(tmp_path, 1, commands)
    for number in range(len(commands)):
        killing.kill(number)
    killing.end()
    assert killing.counts.total() == len(commands)


def write(folder: Path, text: str, seconds: float) -> None:
    folder.mkdir()
    (folder / "fit.json").write_text(json.dumps({"seconds": seconds, "of": [{"text": text}]}))
    (folder / "board.csv").write_text(f"text,fit_seconds\n{text},{seconds}\n")


def test_two_outputs_are_the_same_if_they_differ_in_what_was_measured_only(tmp_path):
    for name, text, seconds in (("a", "x", 1.0), ("b", "x", 2.0), ("c", "y", 1.0)):
        write(tmp_path / name, text, seconds)
    assert digests(tmp_path / "a") == digests(tmp_path / "b")
    other = digests(tmp_path / "c")
    assert all(other[name] != digest for name, digest in digests(tmp_path / "a").items())


@pytest.mark.parametrize("name", [".site.12.partial", ".site.12.old", "lgl-bench-bundle-12-x"])
def test_a_leftover_is_found_wherever_it_lies(tmp_path, name):
    (tmp_path / "deep" / name).mkdir(parents=True)
    assert leftovers(tmp_path) == [str(tmp_path / "deep" / name)]
