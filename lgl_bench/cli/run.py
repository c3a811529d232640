"""`lgl-bench run` and `lgl-bench status`."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lgl_bench.cli.output import print_board, print_json, print_table, print_text, rows_shown, screen_width
from lgl_bench.cli.plugins import SuiteOption, own_plugins
from lgl_bench.cli.progress import Progress
from lgl_bench.core.errors import LglBenchError

if TYPE_CHECKING:
    from lgl_bench.pipeline import RunResult
    from lgl_bench.plans.plan import Plan
    from lgl_bench.runs.costs import Cost, Costs
    from lgl_bench.runs.options import Settings
    from lgl_bench.streams.stream import Stream


@click.command()
@click.option("--suite", cls=SuiteOption, required=True, help="A suite by name, or a TOML file of your own.")
@click.option("--stream", "streams", multiple=True, help="Only these streams; may be repeated.")
@click.option("--backbone", "backbones", multiple=True, help="Only these backbones, as expressions: 'gat(heads=4)'.")
@click.option("--detector", "detectors", multiple=True, help="Only these detectors, as expressions.")
@click.option("--threshold", "thresholds", multiple=True, help="Only these thresholds, as expressions; none for none.")
@click.option("--thresholds", "thresholds_on", type=click.Choice(["best", "all"]), help="Where thresholds are applied.")
@click.option(
    "--select",
    type=click.Choice(["preset", "t1", "prequential", "nested"]),
    help="How ODIN's parameters and GOOD's base and alpha are chosen.",
)
@click.option("--split", multiple=True, help="Splits of a static protocol: 60-20-20, planetoid.")
@click.option(
    "--strategy", "strategies", multiple=True, help="What is kept of the past, as expressions: 'replay(size=200)'."
)
@click.option("--history", type=int, help="Years kept: short for --strategy 'window(years=N)'.")
@click.option(
    "--restart",
    type=click.Choice(["warm", "cold"]),
    help="Where a fit begins; cold is short for --strategy cold.",
)
@click.option("--label-delay", type=int, help="Years until labels arrive.")
@click.option("--seeds", type=int, help="Number of seeds; the budget's otherwise.")
@click.option("--budget", default="quick", show_default=True, help="smoke, quick or paper.")
@click.option("--preset", type=click.Path(path_type=Path), help="A file of tuned parameters, as tune writes it.")
@click.option("--out", type=click.Path(path_type=Path), help="Run folder; runs/SUITE otherwise.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the streams.")
@click.option("--engine", default="local", show_default=True, help="local, ray, in-process, or one of a plugin.")
@click.option("--address", help="Address of the Ray cluster; one is started here otherwise.")
@click.option("--jobs", type=int, help="Local processes; one per core otherwise.")
@click.option("--threads", type=int, default=1, show_default=True, help="Threads of a fit: they change its sums.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True)
@click.option("--checkpoints", type=click.Choice(["all", "last", "none"]), default="all", show_default=True)
@click.option("--matrix", is_flag=True, help="Let every year's model answer for every year: forgetting and transfer.")
@click.option("--real-only", is_flag=True, help="An absent stream is an error; no twin stands in.")
@click.option("--offline", is_flag=True, help="Do not try to download.")
@click.option("--force", is_flag=True, help="Do everything again; rows of other runs in the folder stay.")
@click.option("--fresh", is_flag=True, help="Start over in a new folder: runs/SUITE-2, ...; nothing is deleted.")
@click.option("--retry-failed", is_flag=True, help="Try again what failed.")
@click.option("--time-limit", type=float, help="Seconds a unit may take.")
@click.option("--memory-limit", type=float, help="MiB a worker may hold.")
@click.option("--plugin", "plugins", multiple=True, type=click.Path(path_type=Path), help="A file with plugins.")
@click.option(
    "--json-log", type=click.Path(path_type=Path, allow_dash=True), help="One JSON line per event; - for stderr."
)
@click.option("--tensorboard", type=click.Path(path_type=Path), help="Folder for a log that TensorBoard shows.")
@click.option("--dry-run", is_flag=True, help="Print the plan with what it will cost, and stop.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def run(
    suite: str,
    out: Path | None,
    dry_run: bool,
    as_json: bool,
    plugins: tuple[Path, ...],
    json_log: Path | None,
    tensorboard: Path | None,
    **given: Any,
) -> None:
    """Run a suite: train what is missing, score, grade, rank."""
    from lgl_bench.core.registry import load_plugin
    from lgl_bench.pipeline import plan_run, run_plan
    from lgl_bench.plans.suite import AXES
    from lgl_bench.runs.listeners import TensorBoardLog, all_of
    from lgl_bench.runs.options import Settings

    for path in plugins:
        load_plugin(path)
    axes = {key: given.pop(key) for key in AXES if key in given}
    seeds, budget = given.pop("seeds"), given.pop("budget")
    folder = out or Path("runs") / Path(suite).stem
    settings = Settings(folder, plugins=tuple(str(path.resolve()) for path in plugins), **given)
    plan, streams = plan_run(suite, settings, seeds=seeds, budget=budget, **axes)
    for name, reason in plan.stand_ins.items():
        click.echo(f"lgl-bench: THE REAL STREAM {name} IS NOT AVAILABLE ({reason}); its twin stands in", err=True)
    if dry_run:
        _print_plan(plan, streams, settings, as_json)
        return
    with ExitStack() as stack:
        listeners = [stack.enter_context(Progress(json_log)).listen]
        if tensorboard is not None:
            listeners.append(stack.enter_context(TensorBoardLog(tensorboard)).listen)
        result = run_plan(plan, streams, settings, all_of(*listeners))
    folder = result.folder
    if as_json:
        rows = result.frame.astype(object).where(result.frame.notna(), None).to_dict("records")
        print_json({"out": str(folder), "seconds": round(result.seconds, 1), "rows": rows})
    else:
        _print_result(result)
    if result.counts.failed:
        reasons = "; ".join(sorted(set(result.counts.failed.values()))[:5])
        click.echo(f"lgl-bench: {len(result.counts.failed)} answers failed: {reasons}", err=True)
        sys.exit(LglBenchError.exit_code)


def _print_result(result: RunResult) -> None:
    """The board, where it is kept, and what it says in a few sentences."""
    from lgl_bench.leaderboard.compare.answers import Run
    from lgl_bench.leaderboard.ranking import ranked
    from lgl_bench.leaderboard.table.names import BOARD_FILE
    from lgl_bench.leaderboard.text_tables import default_metrics
    from lgl_bench.report.terminal.board import View
    from lgl_bench.report.terminal.closing import closing

    folder = result.folder
    shown = ranked(result.frame.assign(board=0), runs=[Run(folder)])
    hint = f"'lgl-bench leaderboard show {folder} --all' shows them"
    print_board(
        shown, default_metrics(result.frame), result.years, View(screen_width(), rows_shown(None, False), hint=hint)
    )
    click.echo(f"\n{folder / BOARD_FILE}, after {result.seconds:.0f} s")
    for paragraph in closing(shown, own_plugins()):
        click.echo()
        print_text(paragraph)


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--costs", "with_costs", is_flag=True, help="Also the seconds of each detector, the dearest first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(out: Path, with_costs: bool, as_json: bool) -> None:
    """Show what is done, failed and missing in a run folder, and what it has cost."""
    from lgl_bench.plans.plan_file import read_plan
    from lgl_bench.runs.costs import costs
    from lgl_bench.runs.store import RunStore

    store = RunStore(out)
    records = [store.fit(key) for key in read_plan(out).fits]
    counts = {"done": 0, "skipped": 0, "failed": 0, "missing": 0}
    reasons: list[str] = []
    for record in records:
        state = "missing" if record is None else {"ok": "done", "skipped": "skipped"}.get(record.status, "failed")
        counts[state] += 1
        if record is not None:
            reasons += [record.reason] if state == "failed" else []
            reasons += record.failed.values()
    spent = costs(record for record in records if record is not None)
    dearest = sorted(spent.detectors.items(), key=lambda one: -one[1].scoring) if with_costs else []
    if as_json:
        shown = {"costs": spent.all.as_dict(), "shared_costs": spent.shared.as_dict()}
        by_name = {"detectors": {name: cost.as_dict() for name, cost in dearest}} if with_costs else {}
        print_json({**counts, "reasons": sorted(set(reasons)), **shown, **by_name})
        return
    print_table(["fits", "count"], list(counts.items()))
    for reason in sorted(set(reasons)):
        click.echo(f"failed: {reason}")
    _print_costs(spent, dearest)


def _print_costs(spent: Costs, dearest: list[tuple[str, Cost]]) -> None:
    """Seconds of training and of scoring, if they are recorded."""
    for cost, which in ((spent.all, ""), (spent.shared, " of the fits that several detectors share")):
        if cost.share is not None:
            took = f"{cost.training:.1f} s of training{which}, {cost.scoring:.1f} s of scoring"
            click.echo(f"{took}: {cost.share:.0%} of the training")
    if dearest:
        rows = [[name, cost.fits, cost.scoring, cost.training, cost.share] for name, cost in dearest]
        print_table(["detector", "fits", "scoring s", "training s", "share"], rows)


def _print_plan(plan: Plan, streams: dict[str, Stream], settings: Settings, as_json: bool) -> None:
    from lgl_bench.runs.estimate import estimate

    figures = {
        "suite": plan.suite.name,
        "budget": plan.budget.name,
        "seeds": plan.seeds,
        "streams": list(plan.checksums),
        "rows": len(plan.rows),
        **estimate(plan, streams, settings),
    }
    if as_json:
        print_json(figures)
        return
    for key, value in figures.items():
        shown = ", ".join(value) if isinstance(value, list) else f"{value:,}" if isinstance(value, int) else value
        click.echo(f"{key.replace('_', ' '):<22} {shown}")
