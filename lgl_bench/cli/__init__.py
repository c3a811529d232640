"""The command line: it parses, calls and prints. No layer below it knows click, prints, or exits."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
import threading
import traceback
import warnings
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import click

from lgl_bench import __version__
from lgl_bench.cli.errors import drop_unwritable_output, explained
from lgl_bench.cli.options import load_plugins, plugin_files
from lgl_bench.core.errors import LglBenchError, LglBenchWarning

_INTERRUPTED = 128 + signal.SIGINT
_KEPT = "; what was finished is kept, and the same command goes on where it stopped"
_GOES_ON = {
    **dict.fromkeys(("run", "tune", "parity"), _KEPT),
    "compare": "; nothing was changed, and the same command begins again",
}
"""What becomes of a command that Ctrl-C has ended."""


class _CommandGroup(click.Group):
    """Turns errors into one paragraph on stderr and the exit code that belongs to them."""

    def main(self, *args: Any, **settings: Any) -> Any:
        warnings.showwarning = _show_warning
        if isinstance(sys.stdout, io.TextIOWrapper):
            # A file may have any name; one that is no text is shown by its bytes.
            sys.stdout.reconfigure(errors="backslashreplace")
        debug = "--debug" in (settings.get("args") or (args[0] if args else None) or sys.argv[1:])
        for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):  # Windows has no SIGHUP
            # What nohup or a program around us has chosen stands.
            if threading.current_thread() is threading.main_thread() and signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, _end)
        try:
            return super().main(*args, **settings)
        except _Ended as told:
            sys.exit(128 + told.args[0])
        except BrokenPipeError:
            sys.exit(LglBenchError.exit_code)
        except Exception as error:
            found = explained(error)
            if found is None:
                raise
            message, code = found
            _explain(message, debug)
            drop_unwritable_output()
            sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        """Reports that a command was interrupted and how to go on; click would report that it was aborted."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _explain("interrupted" + _GOES_ON.get(ctx.invoked_subcommand or "", ""), ctx.params["debug"])
            ctx.exit(_INTERRUPTED)


@click.group(cls=_CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lgl-bench")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@plugin_files
@click.pass_context
def main(ctx: click.Context, debug: bool, plugins: tuple[Path, ...]) -> None:
    """A benchmark harness for open-world lifelong graph learning."""
    ctx.obj = plugins
    # A reviewer's process runs no method of a stranger: `verify` needs none, `reproduce` has a process for it.
    if ctx.invoked_subcommand not in ("verify", "reproduce"):
        load_plugins(plugins)


def _explain(message: str, debug: bool) -> None:
    """One paragraph on stderr, under the traceback of the current error if that is asked for."""
    with contextlib.suppress(OSError):  # nobody is left to read it
        if debug:
            traceback.print_exc()
        click.echo(f"lgl-bench: {message}", err=True)


class _Ended(BaseException):
    """The command was told to end: not `SystemExit`, which a plugin may raise and the engines take for its failure."""


def _end(number: int, frame: FrameType | None) -> None:
    """Ends the command as an exception does: workers are ended and half-made files removed on the way."""
    raise _Ended(number)


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


from lgl_bench.cli.compare import compare  # noqa: E402  the group above must exist first
from lgl_bench.cli.data import data  # noqa: E402
from lgl_bench.cli.grade import grade  # noqa: E402
from lgl_bench.cli.leaderboard import leaderboard  # noqa: E402
from lgl_bench.cli.parity import parity  # noqa: E402
from lgl_bench.cli.plugins import check, list_  # noqa: E402
from lgl_bench.cli.report import report  # noqa: E402
from lgl_bench.cli.run import run, status  # noqa: E402
from lgl_bench.cli.submissions import new, reproduce, submit, verify  # noqa: E402
from lgl_bench.cli.tune import tune  # noqa: E402

for command in (
    run,
    status,
    tune,
    leaderboard,
    compare,
    grade,
    report,
    submit,
    verify,
    reproduce,
    new,
    data,
    list_,
    check,
    parity,
):
    main.add_command(command)
