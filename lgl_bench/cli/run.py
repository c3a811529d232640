"""`lgl-bench run` and `lgl-bench status`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from lgl_bench.cli.output import print_json, print_table
from lgl_bench.core.errors import LglBenchError


@click.command()
@click.option("--suite", required=True, help="A suite by name, or a TOML file of your own.")
@click.option("--stream", "streams", multiple=True, help="Only these streams; may be given again.")
@click.option("--backbone", "backbones", multiple=True, help="Only these backbones.")
@click.option("--detector", "detectors", multiple=True, help="Only these detectors, as expressions.")
@click.option("--threshold", "thresholds", multiple=True, help="Only these thresholds, as expressions; none for none.")
@click.option("--thresholds", "thresholds_on", type=click.Choice(["best", "all"]), help="Where thresholds are applied.")
@click.option("--seeds", type=int, help="Number of seeds; the budget's otherwise.")
@click.option("--budget", default="quick", show_default=True, help="smoke, quick or paper.")
@click.option("--out", type=click.Path(path_type=Path), help="Run folder; runs/SUITE otherwise.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the streams.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Processes; each fits with one thread.")
@click.option("--checkpoints", type=click.Choice(["all", "last", "none"]), default="all", show_default=True)
@click.option("--real-only", is_flag=True, help="An absent stream is an error; no twin stands in.")
@click.option("--offline", is_flag=True, help="Do not try to download.")
@click.option("--force", is_flag=True, help="Do everything again.")
@click.option("--retry-failed", is_flag=True, help="Take up what failed.")
@click.option("--time-limit", type=float, help="Seconds a unit may take.")
@click.option("--memory-limit", type=float, help="MiB a worker may hold.")
@click.option("--plugin", "plugins", multiple=True, type=click.Path(path_type=Path), help="A file with plugins.")
@click.option("--dry-run", is_flag=True, help="Print the plan and stop.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def run(suite: str, out: Path | None, dry_run: bool, as_json: bool, plugins: tuple[Path, ...], **given: Any) -> None:
    """Run a suite: train what is missing, score, grade, rank."""
    from lgl_bench.core.registry import load_plugin
    from lgl_bench.runs.api import Settings, plan_run, run_plan

    for path in plugins:
        load_plugin(path)
    axes = {key: given.pop(key) for key in ("streams", "backbones", "detectors", "thresholds", "thresholds_on")}
    seeds, budget = given.pop("seeds"), given.pop("budget")
    folder = out or Path("runs") / Path(suite).stem
    settings = Settings(folder, plugins=tuple(str(path.resolve()) for path in plugins), **given)
    plan, streams = plan_run(suite, settings, seeds=seeds, budget=budget, **axes)
    for name, reason in plan.stand_ins.items():
        click.echo(f"lgl-bench: THE REAL STREAM {name} IS NOT AT HAND ({reason}); its twin stands in", err=True)
    if dry_run:
        _print_plan(plan, as_json)
        return
    result = run_plan(plan, streams, settings, _progress(len(plan.all_units)))
    if as_json:
        print_json(
            {
                "out": str(folder),
                "rows": result.frame.astype(object).where(result.frame.notna(), None).to_dict("records"),
            }
        )
    else:
        _print_board(result.frame)
        click.echo(f"\n{folder / 'leaderboard.csv'}")
    if result.counts.failed:
        reasons = "; ".join(sorted(set(result.counts.failed.values()))[:5])
        click.echo(f"lgl-bench: {len(result.counts.failed)} rows failed: {reasons}", err=True)
        sys.exit(LglBenchError.exit_code)


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(out: Path, as_json: bool) -> None:
    """Show what is done, failed and missing in a run folder."""
    from lgl_bench.runs.store import RunStore

    store = RunStore(out)
    counts = {"done": 0, "skipped": 0, "failed": 0, "missing": 0}
    reasons: list[str] = []
    for key in store.plan()["fits"]:
        noted = store.fit(key)
        state = "missing" if noted is None else {"ok": "done", "skipped": "skipped"}.get(noted["status"], "failed")
        counts[state] += 1
        if noted is not None and state == "failed":
            reasons.append(noted["reason"])
        reasons += list((noted or {}).get("failed", {}).values())
    if as_json:
        print_json({**counts, "reasons": sorted(set(reasons))})
        return
    print_table(["fits", "count"], list(counts.items()))
    for reason in sorted(set(reasons)):
        click.echo(f"failed: {reason}")


def _progress(total: int) -> Any:
    from tqdm import tqdm

    bar = tqdm(total=total, unit="fit", disable=not sys.stderr.isatty())

    def report(unit: Any, counts: Any) -> None:
        chain = unit.chain
        bar.set_postfix_str(f"{chain.stream} {chain.backbone} {chain.head} {unit.time}", refresh=False)
        bar.update(1)

    return report


def _print_plan(plan: Any, as_json: bool) -> None:
    units = plan.all_units
    figures = {"suite": plan.suite.name, "budget": plan.budget.name, "seeds": plan.seeds, "chains": len(plan.units)}
    figures |= {"fits": len(units), "rows": len(plan.rows), "streams": list(plan.checksums)}
    if as_json:
        print_json(figures)
        return
    for key, value in figures.items():
        click.echo(f"{key:<8} {value}")


def _print_board(frame: Any) -> None:
    columns = ["stream", "backbone", "detector", "threshold", "accuracy", "auroc_weighted", "macro_f1"]
    rows = []
    for row in frame.to_dict("records"):
        cells: list[Any] = [row[name] for name in columns[:4]]
        for name in columns[4:]:
            value = row[f"{name}_mean"]
            cells.append(None if value is None or value != value else float(value))
        rows.append(cells)
    print_table(columns, rows)
