"""`lgl-bench list` and `lgl-bench check`: what is registered, and whether it keeps its contract."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import click

from lgl_bench.cli.data import print_streams, stream_rows
from lgl_bench.cli.options import plugin_option
from lgl_bench.cli.output import print_json, print_table
from lgl_bench.core.errors import LglBenchError, UnknownNameError, UsageError
from lgl_bench.core.grammar import plugin_name

KINDS = ("backbones", "heads", "strategies", "detectors", "thresholds", "protocols", "metrics")
"""What can be registered."""
OTHERS = ("suites", "budgets", "streams")
"""What can be listed too."""


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
@click.argument("kind", type=click.Choice([*KINDS, *OTHERS]))
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(kind: str, as_json: bool) -> None:
    """List what there is of a kind, each with a sentence: plugins that are registered, suites, budgets or streams."""
    if kind == "streams":
        streams = stream_rows()
        print_json(streams) if as_json else print_streams(streams)
        return
    if kind in OTHERS:
        about = suite_rows() if kind == "suites" else budget_rows()
        print_json(about) if as_json else print_table(list(about[0]), [list(row.values()) for row in about])
        return
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
        if not kinds and any(plugin_name(name) in registry for registry in found.values()):
            raise UsageError(f"'{name}': plugins are checked by name, without parameters; give {plugin_name(name)}")
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


class SuiteOption(click.Option):
    """An option that must be given; without it, the suites there are and how to go on."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """The suite that was given."""
        try:
            return super().process_value(ctx, value)
        except click.MissingParameter:
            for row in suite_rows():
                click.echo(f"{row['name']:<12} {row['about']}", err=True)
            click.echo(err=True)
            raise click.UsageError(
                "--suite is missing; the suites are listed above, and a TOML file of your own is one too: "
                f"'lgl-bench {ctx.info_name} --suite smoke' is the quickest to try",
                ctx,
            ) from None


def suite_rows() -> list[dict[str, Any]]:
    """The suites that come with the package."""
    from lgl_bench.plans.suite import load_suite, suites

    return [{"name": name, "about": load_suite(name).title} for name in suites()]


def budget_rows() -> list[dict[str, Any]]:
    """The budgets, and what they allow."""
    from lgl_bench.plans.budget import BUDGETS

    rows = []
    for one in BUDGETS.values():
        caps = one.caps
        spent = "the hyperparameters of the paper, uncapped"
        if caps is not None:
            spent = (
                f"layers of at most {caps.hidden} units, {caps.steps} steps of a fit, {caps.warm_steps} if it goes on"
            )
        rows.append({"name": one.name, "version": one.version, "seeds": one.seeds, "about": spent})
    return rows


def _about(plugin: Any) -> dict[str, Any]:
    parameters = {
        name: str(parameter.default)
        for name, parameter in inspect.signature(plugin).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    return {"parameters": parameters, "about": (inspect.getdoc(plugin) or "").split("\n")[0]}
