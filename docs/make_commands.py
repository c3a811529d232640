"""Writes docs/commands.md from the commands themselves: `python docs/make_commands.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from lgl_bench.cli import main

PAGE = Path(__file__).with_name("commands.md")
_HEADER = """\
# Commands

<!-- Written by `python docs/make_commands.py`; change the commands, not this page. -->

`lgl-bench COMMAND --help` says the same in the terminal. Every command that prints figures takes `--json`. Exit codes:
0 is success, 1 a failed run, check or comparison, 2 wrong usage, 3 data that is missing or damaged, 130 an end by
Ctrl-C.
"""


def page() -> str:
    """The whole page."""
    context = click.Context(main, info_name="lgl-bench")
    parts = [_HEADER, "## lgl-bench\n", *_described(main, context)]
    for command, inner in _leaves(main, context):
        parts += [f"## {inner.command_path}\n", *_described(command, inner)]
    return "\n".join(parts)


def _leaves(group: click.Group, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """Every command that is no group, in the order of its name."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, parent=context, info_name=name)
        if isinstance(command, click.Group):
            yield from _leaves(command, inner)
        else:
            yield command, inner


def _described(command: click.Command, context: click.Context) -> Iterator[str]:
    """What it does, how it is called, its options."""
    yield click.formatting.wrap_text(
        " ".join((command.help or "").replace("\n\n", "\0").split()).replace("\0", "\n\n"),
        width=120,
        preserve_paragraphs=True,
    )
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"\n```text\n{usage}\n```\n"
    options = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    if options:
        yield "| option | meaning |\n| --- | --- |"
        for option in options:
            yield f"| {_names(option)} | {_meaning(option)} |"
        yield ""


def _names(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    if option.is_flag or option.count or isinstance(option.type, click.Choice):
        return names
    return f"{names} `{option.metavar or option.type.name.upper()}`"


def _meaning(option: click.Option) -> str:
    """Help, choices, default; a required option and one that may be repeated say so."""
    parts = [(option.help or "").rstrip(".")]
    if isinstance(option.type, click.Choice):
        parts.append("one of " + ", ".join(f"`{choice}`" for choice in option.type.choices))
    if option.show_default and option.default is not None and not option.is_flag:
        parts.append(f"default `{option.default}`")
    if option.required:
        parts.append("required")
    if option.multiple and "repeated" not in parts[0]:
        parts.append("may be repeated")
    text = "; ".join(part for part in parts if part).replace("|", "\\|")
    return text[:1].upper() + text[1:]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
