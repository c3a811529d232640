"""Shell blocks: the `lgl-bench` commands in them, and a command line that parses but does nothing."""

from __future__ import annotations

import copy
import shlex
from typing import Any

import click
from click.testing import CliRunner

from lgl_bench.cli import main

_ENDS = {"&&", "||", "|", ";", "&"}


def commands_in(text: str) -> list[list[str]]:
    """Arguments of every `lgl-bench` command of a block; lines are joined at a backslash, comments dropped."""
    found: list[list[str]] = []
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;")
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if word not in _ENDS:
                words.append(word)
                continue
            while words and "=" in words[0] and not words[0].startswith("-"):
                words = words[1:]  # a variable set for this command alone
            if words and words[0] == "lgl-bench":
                found.append(words[1:])
            words = []
    return found


def parse(arguments: list[str]) -> dict[str, Any]:
    """What the command would be called with; UsageError of click where it does not take the arguments."""
    seen: dict[str, Any] = {}
    result = CliRunner().invoke(_hollow(main, seen), arguments, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return seen


def _hollow(command: click.Command, seen: dict[str, Any]) -> click.Command:
    """The same commands with the same options; they load nothing, look for no file, and note what they were given."""
    empty = copy.copy(command)
    empty.params = [_harmless(parameter) for parameter in command.params]
    if isinstance(command, click.Group):
        assert isinstance(empty, click.Group)
        # The type too, because the project's own turns usage errors into an exit.
        empty.__class__ = click.Group
        empty.callback = None
        empty.commands = {name: _hollow(inner, seen) for name, inner in command.commands.items()}
    else:
        empty.callback = lambda **given: seen.update(given)
    return empty


def _harmless(parameter: click.Parameter) -> click.Parameter:
    harmless = copy.copy(parameter)
    harmless.callback = None
    if isinstance(parameter.type, click.Path | click.File):
        harmless.type = click.Path(allow_dash=True)
    return harmless
