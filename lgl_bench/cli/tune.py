"""`lgl-bench tune`: search parameters on validation tasks, write a preset that `run --preset` takes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from lgl_bench.cli.options import plugin_option
from lgl_bench.cli.output import print_json, print_table
from lgl_bench.cli.plugins import SuiteOption
from lgl_bench.core.errors import LglBenchError


@click.command()
@click.option("--suite", cls=SuiteOption, required=True, help="A suite by name, or a TOML file of your own.")
@click.option("--stream", "streams", multiple=True, help="Only these streams; may be repeated.")
@click.option("--backbone", "backbones", multiple=True, help="Only these backbones, by name.")
@click.option("--detector", "detectors", multiple=True, help="Only these detectors, as expressions.")
@click.option("--strategy", "strategies", multiple=True, help="Only these strategies: their sizes and strengths.")
@click.option("--search", type=click.Choice(["grid", "tpe"]), default="tpe", show_default=True)
@click.option("--trials", type=int, help="Trials of each study in all; the whole grid, or 50 with tpe.")
@click.option("--seeds", type=int, help="Seeds a setting is averaged over; the budget's otherwise.")
@click.option("--budget", default="quick", show_default=True, help="smoke, quick or paper.")
@click.option("--metric", type=click.Choice(["accuracy", "auroc"]), help="What counts; see docs/tuning.md.")
@click.option("--no-prune", is_flag=True, help="Run every trial to its end.")
@click.option("--storage", help="An Optuna storage URL; a SQLite file beside OUT otherwise.")
@click.option("--out", type=click.Path(path_type=Path), help="Preset file; runs/tune/SUITE.toml otherwise.")
@click.option("--name", help="Name of the preset; that of the file otherwise.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the streams.")
@click.option("--real-only", is_flag=True, help="An absent stream is an error; no twin stands in.")
@click.option("--offline", is_flag=True, help="Do not try to download.")
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def tune(suite: str, out: Path | None, no_prune: bool, as_json: bool, **given: Any) -> None:
    """Search the paper's grids, one study for each stream, backbone and head; with --strategy, those of strategies.

    The same command continues where it stopped. Only the validation task is scored: on a temporal stream nothing
    after the year that follows t0 is looked at.
    """
    from lgl_bench.tuning.plan import plan_tuning
    from lgl_bench.tuning.study import require_optuna
    from lgl_bench.tuning.tune import run_tuning

    require_optuna()
    target = out or Path("runs") / "tune" / f"{Path(suite).stem}.toml"
    tuning = plan_tuning(suite, target, prune=not no_prune, **given)
    for name, reason in tuning.stand_ins.items():
        click.echo(f"lgl-bench: THE REAL STREAM {name} IS NOT AVAILABLE ({reason}); its twin stands in", err=True)
    for spec in tuning.specs:
        click.echo(_announce(spec), err=True)
    results = run_tuning(tuning, _progress(sum(spec.trials for spec in tuning.specs)))
    if as_json:
        print_json({"out": str(target), "studies": [_described(result) for result in results]})
    else:
        _print_results(results)
        click.echo(f"\n{target}")
    lost = [result for result in results if result.entry is None]
    for result in lost:
        reasons = "; ".join(result.failed) or "no trial has finished yet"
        click.echo(f"lgl-bench: {result.spec.title}: no trial succeeded: {reasons}", err=True)
    if lost:
        sys.exit(LglBenchError.exit_code)


def _announce(spec: Any) -> str:
    return (
        f"{spec.title}: {spec.search}, {spec.trials} trials of {spec.seeds} seeds, scored by {spec.metric}; "
        f"the full grid has {spec.points} points"
    )


def _progress(total: int) -> Any:
    from tqdm import tqdm

    bar = tqdm(total=total, unit="trial", disable=not sys.stderr.isatty())
    counts: dict[str, int] = {}

    def report(spec: Any, trials: int, best: float | None) -> None:
        shown = "" if best is None else f", best {spec.metric} {best:.3f}"
        bar.set_postfix_str(spec.title + shown, refresh=False)
        bar.update(min(trials, spec.trials) - counts.get(spec.name, 0))
        counts[spec.name] = min(trials, spec.trials)

    return report


def _described(result: Any) -> dict[str, Any]:
    spec = result.spec
    facts = {
        "study": spec.name,
        "stream": spec.stream,
        "split": spec.split,
        "backbone": spec.backbone,
        "head": spec.head,
        "strategy": getattr(spec, "strategy", ""),
        "metric": spec.metric,
        "search": spec.search,
        "points": spec.points,
        "seeds": spec.seeds,
        "completed": result.completed,
        "pruned": result.pruned,
        "failed": result.failed,
    }
    return facts | {"entry": None if result.entry is None else result.entry.model_dump(mode="json")}


def _print_results(results: list[Any]) -> None:
    rows = []
    for result in results:
        spec, entry = result.spec, result.entry
        found = {} if entry is None else {**entry.parameters, **entry.model_dump(include={"epochs", "lr"})}
        detectors = getattr(entry, "detectors", ())
        rows.append(
            [
                spec.stream,
                spec.backbone,
                spec.head,
                getattr(spec, "strategy", ""),
                spec.metric,
                entry.tuned.value if entry else None,
                result.completed,
                result.pruned,
                sum(result.failed.values()),
                " ".join(f"{name}={_shown(found[name])}" for name in spec.space if name in found),
                " ".join(detector.expression for detector in detectors),
            ]
        )
    names = ["stream", "backbone", "head", "strategy", "metric", "value", "completed", "pruned", "failed", "found"]
    print_table([*names, "detectors"], rows)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
