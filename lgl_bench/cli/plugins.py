"""`lgl-bench list` and `lgl-bench check`: what is registered, and whether it keeps its contract."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import click

from lgl_bench.cli.options import plugin_option
from lgl_bench.cli.output import print_json, print_table
from lgl_bench.core.errors import LglBenchError, UnknownNameError, UsageError

KINDS = ("backbones", "heads", "strategies", "detectors", "thresholds", "protocols", "metrics")


def registries() -> dict[str, Any]:
    """Every registry by the plural of its kind."""
    from lgl_bench.backbones import backbones
    from lgl_bench.detectors import detectors
    from lgl_bench.heads import heads
    from lgl_bench.metrics import metrics
    from lgl_bench.protocols import protocols
    from lgl_bench.strategies import strategies
    from lgl_bench.thresholds import thresholds

    found = (backbones, heads, strategies, detectors, thresholds, protocols, metrics)
    return dict(zip(KINDS, found, strict=True))


def own_plugins() -> dict[str, list[str]]:
    """Names of the plugins that came from files of the user, by the column of a board they stand in."""
    return {registry.kind: list(registry.files()) for registry in registries().values()}


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS))
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(kind: str, as_json: bool) -> None:
    """List what is registered: backbones, heads, strategies, detectors, thresholds, protocols or metrics."""
    registry = registries()[kind]
    rows = [{"name": name, **_about(registry.get(name))} for name in registry.names()]
    rows += [
        {"name": name, "parameters": {}, "about": f"broken: {reason}"} for name, reason in registry.broken().items()
    ]
    if as_json:
        print_json(rows)
        return
    print_table(
        ["name", "parameters", "about"],
        [[r["name"], ", ".join(f"{k}={v}" for k, v in r["parameters"].items()), r["about"]] for r in rows],
    )


@click.command()
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Check every registered plugin.")
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(names: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Run the checks battery on plugins, by name: `lgl-bench check odin gcn` or `lgl-bench check --all`."""
    import torch

    from lgl_bench.checks import check_plugin

    torch.set_num_threads(1)  # the models are small: threads would only wait for each other
    found = registries()
    wanted = [(kind, name) for kind, registry in found.items() for name in registry.names() if everything]
    for name in names:
        kinds = [kind for kind, registry in found.items() if name in registry]
        if not kinds:
            known = [other for registry in found.values() for other in registry.names()]
            raise UnknownNameError("plugin", name, known, "'lgl-bench list detectors' and the like show them all")
        wanted += [(kind, name) for kind in kinds]
    if not wanted:
        raise UsageError("name a plugin to check, or give --all")
    results = [result for kind, name in wanted for result in check_plugin(kind, name)]
    broken = [result for result in results if result.status == "failed"]
    if as_json:
        print_json([result.as_dict() for result in results])
    else:
        print_table(
            ["kind", "name", "check", "status", "why"],
            [[r.kind, r.name, r.check, r.status, r.reason] for r in results],
        )
    if broken:
        problems = "; ".join(f"{r.kind} {r.name}: {r.check}: {r.reason}" for r in broken[:5])
        click.echo(f"lgl-bench: {len(broken)} checks failed: {problems}", err=True)
        sys.exit(LglBenchError.exit_code)


def _about(plugin: Any) -> dict[str, Any]:
    parameters = {
        name: str(parameter.default)
        for name, parameter in inspect.signature(plugin).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    return {"parameters": parameters, "about": (inspect.getdoc(plugin) or "").split("\n")[0]}
