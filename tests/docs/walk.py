"""Giving the commands a page shows, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.cli.plugins import registries
from lgl_bench.streams.importers import importers
from tests.docs.blocks import Block

SMALLER = ["--budget", "smoke", "--stream", "small", "--offline"]
"""What is added to a run, so that it takes a moment; the fixture `small_world` has the stream."""


@contextmanager
def forgetting() -> Iterator[None]:
    """As in a process of its own: a plugin that one command loads is unknown to the next."""
    found = [*registries().values(), importers]
    before = [dict(registry._plugins) for registry in found if registry.names()]
    try:
        yield
    finally:
        for registry, plugins in zip(found, before, strict=True):
            registry._plugins = plugins


def give(block: Block, arguments: list[str]) -> str:
    """Gives a command of a block, which must succeed, and returns what it prints."""
    with forgetting():
        done = CliRunner().invoke(main, arguments + (SMALLER if arguments[0] == "run" else []))
    shown = f"{block.where}: lgl-bench {' '.join(arguments)}"
    assert done.exit_code == 0, f"{shown}\n{done.output}\n{done.exception!r}"
    return done.stdout
