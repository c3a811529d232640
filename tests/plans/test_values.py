"""Every value of every built-in detector, threshold and strategy, set to something absurd."""

from __future__ import annotations

import math

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import signature
from lgl_bench.detectors import detectors
from lgl_bench.pipeline import plan_run
from lgl_bench.runs.options import Settings
from lgl_bench.strategies import strategies
from lgl_bench.thresholds import thresholds

KINDS = {"detectors": detectors, "thresholds": thresholds, "strategies": strategies}
SHARES = ("alpha", "q", "delta", "delta_min", "dropout")
"""Values that are parts of a whole, wherever they stand."""
LARGER = {"percentile": 101.0, "steps": 0, "passes": 0, "k": 0, "m": 0, "size": 0, "hidden": 0, "epochs": 0}


def absurd() -> list[tuple[str, str, str, float]]:
    """Kind, name, parameter and value."""
    found: list[tuple[str, str, str, float]] = []
    for kind, registry in KINDS.items():
        for name in registry.names():
            for parameter, (type_, _) in signature(registry.get(name))[1].items():
                if type_ in (int, float) and registry.is_built_in(name):
                    values = [-1] if type_ is int else [-1.0, math.nan, math.inf]
                    values += [2.0] if parameter in SHARES and name != "grasp" else []
                    values += [LARGER[parameter]] if parameter in LARGER else []
                    found += [(kind, name, parameter, value) for value in values]
    return found


@pytest.mark.parametrize(("kind", "name", "parameter", "value"), absurd())
def test_an_absurd_value_is_refused_by_the_plugin_itself_with_its_name_and_what_was_given(kind, name, parameter, value):
    plugin = KINDS[kind].get(name)
    wrapped = [detectors.get("energy")() for _ in signature(plugin)[0]]
    with pytest.raises(UsageError, match=f"{parameter} = {value}"):
        plugin(*wrapped, **{parameter: value})


def plan(tmp_path, **axes):
    settings = Settings(tmp_path / "out", data_dir=tmp_path, offline=True)
    return plan_run("smoke", settings, budget="smoke", **{"detectors": ["msp"], "thresholds": ["none"], **axes})


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        (
            {"detectors": ["good(msp,alpha=3)"]},
            r"detector 'good\(msp,alpha=3.0\)': alpha = 3.0: it must lie in \[0, 1\]",
        ),
        ({"detectors": ["msp", "good(odin(eps=-1),alpha=0.5)"]}, "eps = -1.0"),
        ({"detectors": ["react(energy,percentile=200)"]}, "percentile = 200.0"),
        ({"thresholds": ["quantile(q=2)"]}, r"threshold 'quantile\(q=2.0\)': q = 2.0: it must lie in \(0, 1\)"),
        ({"thresholds": ["open-wrf(hidden=-3)"]}, "hidden = -3"),
        ({"strategies": ["replay(size=-1)"]}, "size = -1"),
        ({"detectors": ["energy(temperature=nan)"]}, "temperature = nan"),
    ],
)
def test_a_value_out_of_range_is_refused_when_the_run_is_planned(tmp_path, axes, said):
    with pytest.raises(UsageError, match=said):
        plan(tmp_path, **axes)
    assert not (tmp_path / "out").exists()


def test_every_absurd_value_that_can_be_written_is_refused_at_planning(tmp_path):
    """One plan per plugin: of several wrong values the first is named."""
    for kind, name, parameter, value in absurd():
        if not math.isfinite(value) or kind == "strategies":
            continue
        base = "energy," if signature(KINDS[kind].get(name))[0] else ""
        if name in ("gkde", "gpn", "openwgl", "oodgat") and kind == "detectors":
            continue  # they need a backbone of their own
        with pytest.raises(UsageError, match=parameter):
            plan(tmp_path, **{kind: [f"{name}({base}{parameter}={value})"]})
