"""The command line: it parses, calls and prints. No layer below it knows click, prints, or exits."""

from __future__ import annotations

import sys
import traceback
import warnings
from pathlib import Path
from typing import TextIO

import click

from lgl_bench import __version__
from lgl_bench.core.errors import LglBenchError, LglBenchWarning


class _Group(click.Group):
    """Turns errors into one paragraph on stderr and the exit code that belongs to them."""

    def invoke(self, ctx: click.Context) -> object:
        warnings.showwarning = _show_warning
        try:
            return super().invoke(ctx)
        except LglBenchError as error:
            if ctx.params.get("debug"):
                traceback.print_exc()
            click.echo(f"lgl-bench: {error}", err=True)
            sys.exit(error.exit_code)
        except BrokenPipeError:
            sys.exit(1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lgl-bench")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option(
    "--plugin",
    "plugins",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A Python file that registers plugins; may be given again.",
)
def main(debug: bool, plugins: tuple[Path, ...]) -> None:
    """A benchmark harness for open-world lifelong graph learning."""
    from lgl_bench.core.registry import load_plugin

    for path in plugins:
        load_plugin(path)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as one line; where it was raised matters only for those of other libraries."""
    where = "" if issubclass(category, LglBenchWarning) else f"{category.__name__} ({filename}:{lineno}): "
    click.echo(f"lgl-bench: warning: {where}{message}", err=True)


from lgl_bench.cli.data import data  # noqa: E402  the group above must exist first
from lgl_bench.cli.parity import parity  # noqa: E402
from lgl_bench.cli.plugins import check, list_  # noqa: E402

for command in (data, list_, check, parity):
    main.add_command(command)
