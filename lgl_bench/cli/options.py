"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click


def load_plugins(paths: tuple[Path, ...]) -> None:
    """Runs plugin files in this process."""
    from lgl_bench.core.registry import load_plugin

    for path in paths:
        load_plugin(path)


def _load(ctx: click.Context, parameter: click.Parameter, paths: tuple[Path, ...]) -> None:
    load_plugins(paths)


_HELP = "A Python file that registers plugins; may be repeated."
plugin_option = click.option(
    "--plugin", multiple=True, type=click.Path(path_type=Path), expose_value=False, callback=_load, help=_HELP
)
plugin_files = click.option("--plugin", "plugins", multiple=True, type=click.Path(path_type=Path), help=_HELP)
"""The same for a command that decides itself what is to be done with the files."""
