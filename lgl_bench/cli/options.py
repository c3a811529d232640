"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click


def _load(ctx: click.Context, parameter: click.Parameter, paths: tuple[Path, ...]) -> None:
    from lgl_bench.core.registry import load_plugin

    for path in paths:
        load_plugin(path)


plugin_option = click.option(
    "--plugin",
    multiple=True,
    type=click.Path(path_type=Path),
    expose_value=False,
    callback=_load,
    help="A Python file that registers plugins; may be given again.",
)
